from __future__ import annotations

import numpy as np
import pytest
from trace_readers import reader_of

from whence.findings import Statement
from whence.probe.layout import Kind

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum colour { RED, GREEN };
struct point { int x; double y; char mark; unsigned low : 3; struct point *next; };
static int negate(int value) { return -value; }
static struct point *last(struct point *p)
{
    while (p->next)
        p = p->next;
    return p;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    int m = negate(n + 1);
    struct point b = {1, 2.5, 'b', 5, NULL}, a = {n, -0.25, '\\n', 1, &b};
    enum colour c = n > 3 ? GREEN : RED;
    int (*turn)(int) = negate;
    m = turn(m);
    switch (a.mark) {
    case 'x':
        m++;
        break;
    case '\\n':
        m--;
    }
    switch (c) {
    case GREEN:
        last(&a)->mark = 'z';
    }
    a.low = m;
    printf("%d %d %c\\n", m, c, b.mark);
    return m == 0;
}
"""


@pytest.fixture(scope="module")
def reader():
    return reader_of(PROGRAM, "4")


def line(text):
    return next(n for n, source in enumerate(PROGRAM.splitlines(), 1) if text in source)


def events(reader, text, *kinds):
    found = reader.events_of(Statement("p.c", line(text))).tolist()
    return [e for e in found if not kinds or reader.trace.kind(e) in kinds]


def seen(reader, text, *kinds):
    observed = [reader.observation(e) for e in events(reader, text, *kinds)]
    return [(o.name, o.value) for o in observed if o is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int n = atoi", ("n", "4")),
        ("int m = negate", ("m", "-5")),
        ("int m = negate", ("n + 1", "5")),
        ("int m = negate", ("negate(n + 1)", "-5")),
        ("static int negate", ("return value", "-5")),
        ("m = turn(m)", ("turn(m)", "5")),
        ("enum colour c =", ("c", "GREEN")),
        ("while (p->next)", ("p->next", "NULL")),
        ("while (p->next)", ("p->next != NULL", "true")),
        ("= 'z'", ("last(&a)->mark", "'z' (122)")),
        ("switch (a.mark)", ("switch (a.mark)", "case '\\n'")),
        ("switch (c)", ("switch (c)", "case GREEN")),
        ("a.low = m", ("a.low", "4")),
        ("printf(", ("b.mark", "'z' (122)")),
    ],
)
def test_values_as_c_prints_them(reader, text, expected):
    assert expected in seen(reader, text)


def test_no_words_of_llvm(reader):
    names = {o.name for e in range(reader.trace.events) if (o := reader.observation(e)) is not None}
    assert not [name for name in names if any(part in name for part in ("%0", "%call", ".addr", "retval", "alloca"))]


def test_unused_results_and_addresses_are_no_news(reader):
    assert not [name for name, _ in seen(reader, "printf(") if name.startswith("printf")]
    assert not [name for name, _ in seen(reader, "= 'z'", Kind.ARG) if name == "&a"]


@pytest.mark.parametrize(
    ("text", "kind", "deed"),
    [
        ("int n = atoi", Kind.STORE, "gave `n` the value 4"),
        ("int n = atoi", Kind.RESULT, "got 4 from `atoi(argv[1])`"),
        ("static int negate", Kind.RET, "returned 5"),
        ("int m = negate", Kind.ARG, "passed `n + 1`, which was 5"),
        ("while (p->next)", Kind.BRANCH, "found `p->next != NULL` false"),
        ("switch (a.mark)", Kind.BRANCH, "went to `case '\\n'`"),
        ("m--", Kind.LOAD, "read `m`, which was 5"),
    ],
)
def test_actions(reader, text, kind, deed):
    assert reader.action(events(reader, text, kind)[-1]) == deed


@pytest.mark.parametrize(
    ("text", "kind", "use"),
    [
        ("int m = negate", Kind.STORE, "the assignment to `m` on there"),
        ("int m = negate", Kind.ARG, "the call of `negate` on there"),
        ("m = turn(m)", Kind.ARG, "the call of `turn` on there"),
        ("while (p->next)", Kind.BRANCH, "the test `p->next != NULL` on there"),
        ("static int negate", Kind.RET, "the return on there"),
        ("m--", Kind.LOAD, "there"),
    ],
)
def test_uses(reader, text, kind, use):
    assert reader.use(events(reader, text, kind)[-1], "there").replace("loop test", "test") == use


def test_events_of_are_those_of_the_line(reader):
    every = np.arange(reader.trace.events, dtype=np.int64)
    assert reader.sites(every).tolist() == [reader.trace.site(e) for e in every.tolist()]
    for statement in reader.statements:
        expected = [e for e in every.tolist() if reader.statement(e) == statement]
        assert reader.events_of(statement).tolist() == expected
        assert reader.events_of(statement, last=3).tolist() == expected[-3:]
    assert reader.events_of(Statement("p.c", 999)).tolist() == []


def test_executed_sites(reader):
    every = np.arange(reader.trace.events, dtype=np.int64)
    assert reader.executed_sites.tolist() == np.unique(reader.sites(every)).tolist()


CRASH = """\
struct item { int value; struct item *next; };
int main(int argc, char **argv)
{
    struct item item = {1, 0}, *p = &item;
    for (int i = 0; i < 3; i++)
        p = p->next;
    return 0;
}
"""


def test_what_crashed_has_no_value():
    reader = reader_of(CRASH)
    assert reader.trace.header.end == "signal"
    crashing = reader.events_of(Statement("p.c", 6))[-2:].tolist()
    assert [reader.broke_off(e) for e in crashing] == [True, True]
    assert [reader.observation(e) for e in crashing] == [None, None]
    assert reader.action(crashing[0]) == "crashed reading `p->next`"


def test_what_came_before_a_crash_has_its_value():
    reader = reader_of(CRASH)
    assert not reader.broke_off(int(reader.events_of(Statement("p.c", 5))[-1]))


COMPUTED = """\
int main(int argc, char **argv)
{
    static void *places[] = {&&first, &&second, &&end};
    int n = 0;
    goto *places[argc];
first:
    n = 1;
    goto *places[n];
second:
    n = 2;
    goto *places[n];
end:
    return n;
}
"""


def test_a_computed_jump_went_to_a_label():
    reader = reader_of(COMPUTED)
    found = [e for e in range(reader.trace.events) if reader.trace.instruction(e).opcode == "indirectbr"]
    assert [reader.side_taken(e) for e in found] == ["second", "end"]
    assert [reader.observation(e).value for e in found] == ["second", "end"]
    assert reader.action(found[0]) == "went to `second`"
