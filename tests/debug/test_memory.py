"""What lies in memory at an instant, against what the program itself printed there."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import pytest
from cli_programs import line_of
from debugged import evaluated, parts, run_of, shown, steps, value

from whence.debug.expressions import NotKnown
from whence.subject.recorded_memory import RecordedMemory

# SHOW prints its line, an expression, and the expression's value.
PRINTING = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SHOW(e) printf("%d\\t%s\\t%lld\\n", __LINE__, #e, (long long)(e))
#define SHOWF(e) printf("%d\\t%s\\t%.17g\\n", __LINE__, #e, (double)(e))

enum colour { RED = 3, GREEN };
struct point { short x; unsigned flags : 3; int sign : 2; enum colour colour; double weight; };
struct list { struct point at; char name[12]; struct list *next; union { int whole; unsigned char bytes[4]; }; };

static struct list kept = {{-7, 5, -1, GREEN, 0.25}, "kept", NULL, {258}};
static struct list *first = &kept;
static int table[3][4] = {{1, 2}, {3}};
unsigned long total = 1UL << 40;
static const char *words[] = {"one", "two"};
static jmp_buf place;

static int recursive(int n)
{
    static int calls = 10;
    int own = n * n;
    calls++;
    int below = n > 0 ? recursive(n - 1) : 0;
    SHOW(own), SHOW(calls), SHOW(below), SHOW(n);
    return own + below;
}

static void filled(struct list *list, struct point by_value)
{
    by_value.weight *= 2;
    list->at = by_value;
    strcpy(list->name, "filled");
    list->next = first;
    list->bytes[1] = 7;
    SHOW(list->at.x), SHOW(list->at.flags), SHOW(list->at.sign), SHOW(list->at.colour), SHOWF(by_value.weight);
    SHOW(list->name[2]), SHOW(list->next == &kept), SHOW(list->next->at.x), SHOW(list->bytes[1]), SHOW(*&list->at.x);
    first = list;
}

int main(int argc, char **argv)
{
    char line[32], copy[32] = "";
    int numbers[5] = {1, 2, 3};
    float ratio = 1.5f;
    volatile int jumped = 0;
    unsigned char small = 200;
    for (int i = 0; i < 3; i++) {
        numbers[i + 1] += numbers[i];
        total += (unsigned)numbers[i];
        SHOW(i), SHOW(numbers[i + 1]), SHOW(total), SHOW(table[0][1] + table[1][0]), SHOW(-numbers[0] % 3);
        SHOW(small << 4);
        SHOW(numbers[i] > 2 && i), SHOW(i ? numbers[i] : -1), SHOW(~i), SHOW('a' + i), SHOW((small - 250) / 7);
        SHOW(0x1Fu - 32);
    }
    SHOWF(ratio * 2), SHOWF(kept.at.weight), SHOW(kept.whole), SHOW(first->at.colour == GREEN), SHOW(words[1][0]);
    struct list *made = calloc(2, sizeof *made);
    SHOW(made[1].whole), SHOW(made->next == 0);
    filled(made, kept.at);
    SHOW(made->at.x), SHOW(first->next->name[0]), SHOW(first->name[5]);
    memcpy(&made[1], made, sizeof *made);
    made->at.x = 99;
    memset(made->name, 'z', 3);
    made = realloc(made, 100 * sizeof *made);
    SHOW(made[1].at.x), SHOW(made[1].name[4]), SHOW(made->at.x), SHOW(made->name[2]), SHOW(made->name[3]);
    SHOW((made + 1)->bytes[1]);
    while (fgets(line, sizeof line, stdin)) {
        strcpy(copy, line);
        SHOW(line[0]), SHOW(copy[1]), SHOW(line[2]);
    }
    if (setjmp(place) < 3) {
        jumped++;
        SHOW(jumped);
        longjmp(place, jumped);
    }
    SHOW(recursive(3)), SHOW(argc), SHOW(jumped);
    return 0;
}
"""
INPUT = b"4,5\nab\n"


@pytest.mark.parametrize("looks_ahead", [True, False])
def test_values_are_those_that_the_program_printed(looks_ahead: bool) -> None:
    """Without a look at later accesses everything comes from what was written before; little is not known then."""
    run = run_of(PRINTING, "argument", stdin=INPUT)
    rows = [row.split("\t") for row in run.recording.result.stdout.decode().splitlines()]
    rows = [(int(number), text, float(printed)) for number, text, printed in rows if not text.startswith("recursive")]
    assert len(rows) > 80
    seen: Counter[tuple[int, str]] = Counter()
    unknown: list[str] = []
    with mock.patch.object(RecordedMemory, "_next", RecordedMemory._next if looks_ahead else lambda *_: None):
        for number, text, printed in rows:
            event = steps(run, number)[seen[number, text]]
            seen[number, text] += 1
            try:
                assert value(run, event, text) == printed, (number, text)
            except NotKnown as error:
                unknown.append(f"{text}: {error}")
    assert unknown == [] if looks_ahead else len(unknown) <= 4, unknown


UNKNOWN = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int one, two; };
int main(int argc, char **argv)
{
    struct pair pair, *gone = malloc(sizeof *gone);
    char text[16];
    int number;
    pair.two = 4;
    gone->one = 5;
    sprintf(text, "%d!", argc);
    free(gone);
    puts(text); /* HERE */
    number = 6;
    return pair.two - 4 + (number - 6);
}
"""


def test_what_is_not_known_is_said_and_not_guessed() -> None:
    run = run_of(UNKNOWN)
    (here,) = steps(run, line_of(UNKNOWN, "HERE"))
    assert shown(run, here, "number") == "not known: never given a value"
    assert shown(run, here, "pair") == "{one = ?, two = 4}"
    assert shown(run, here, "pair.one") == "not known: never given a value"
    assert shown(run, here, "text") == "not known: written by a library call, which tells no value"
    assert "given back on p.c:13" in shown(run, here, "gone")
    for text, why in {
        "gone->one": "given back",
        "number + 1": "never given a value",
        "nothing": "there is no `nothing` here",
        "pair.three": "has no member `three`",
        "pair->one": "is no structure|is no number",
        "text[": "is no C expression",
        "puts(text)": "only what can be read off",
        "number = 3": "only what can be read off",
        "1 / 0": "division by zero",
        "*0": "points|NULL|no pointer",
        "x" * 2000: "1000 characters",
        "1; abort()": "is no C expression",
    }.items():
        with pytest.raises(NotKnown, match=why):
            value(run, here, text)


TEXTS = """\
#include <stdlib.h>
#include <string.h>
struct flexible { int size; long double exact; char text[]; };
int main(int argc, char **argv)
{
    char *text = strdup("hello");
    for (char *at = text; *at; at++)
        *at -= 'a' - 'A';
    text[1] = 'u';
    struct flexible *all = malloc(sizeof *all + 8);
    all->exact = 0.5L;
    memset(all->text, 'x', 7);
    all->text[7] = 0;
    char *first = argc > 1 ? argv[1] : "";
    return text[0] == 'H'; /* HERE */
}
"""


def test_texts_are_put_together_from_all_that_wrote_them() -> None:
    run = run_of(TEXTS, "given to it")
    (here,) = steps(run, line_of(TEXTS, "HERE"))
    assert shown(run, here, "text").endswith(' "HuLLO"')
    assert shown(run, here, "*all") == '{size = ?, exact = 0.5, text = "xxxxxxx"}'
    assert [row.name for row in parts(run, here, "all")] == ["size", "exact", "text"]
    assert shown(run, here, "first").endswith(' "given to it"')
    assert value(run, here, "argv[1][3]") == ord("e")


def test_places_are_shown_as_c_has_them() -> None:
    run = run_of(PRINTING, "argument", stdin=INPUT)
    (here,) = steps(run, line_of(PRINTING, "SHOW(made[1].whole)"))
    assert shown(run, here, "kept.name") == '"kept"'
    assert shown(run, here, "kept.at") == "{x = -7, flags = 5, sign = -1, colour = GREEN, weight = 0.25}"
    assert shown(run, here, "first").endswith(" &kept")
    assert shown(run, here, "made").endswith(" the block of 96 bytes that p.c:57 allocated")
    assert shown(run, here, "words[1]").endswith(' "two"')
    assert shown(run, here, "line") == "not known: never given a value"
    assert evaluated(run, here, "kept").path.type.spelling == "struct list"  # type: ignore[union-attr]


DOUBTED = """\
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
static char large[300000], copy[300000];
int main(void)
{
    double loads[3] = {-1, -1, -1}, other = 2;
    for (int i = 0; i < 300000; i += 100)
        large[i] = i / 100 % 100;
    memcpy(copy, large, sizeof copy);
    memset(large, 3, 70000);
    getloadavg(loads, 2);
    int here = 1; /* HERE */
    return loads[1] < 0;
}
"""


def test_what_a_function_that_is_not_known_was_given_is_doubted() -> None:
    run = run_of(DOUBTED)
    (here,) = steps(run, line_of(DOUBTED, "HERE"))
    assert shown(run, here, "loads[0]") == "not known: perhaps changed by a function that was not recorded"
    assert value(run, here, "loads[1]") >= 0  # which is read later
    assert value(run, here, "other") == 2
    assert [value(run, here, f"copy[{n}]") for n in (100, 101, 60000, 299900)] == [1, 0, 0, 99]
    assert [value(run, here, f"large[{n}]") for n in (100, 69999, 70000, 70100)] == [3, 3, 0, 1]


LONG = """\
#include <stdio.h>
static int before = 4, during, rounds = 300000;
int main(void)
{
    int kept = 7;
    before = 5;
    for (int i = 0; i < rounds; i++)
        during += i & 1;
    return during == kept; /* HERE */
}
"""


def test_of_a_window_nothing_is_said_that_was_before_it() -> None:
    """Where static variables lie is recorded at the beginning; and their initial values may have been overwritten."""
    run = run_of(LONG, window=1 << 20)
    (here,) = steps(run, line_of(LONG, "HERE"))
    unseen = "not known: not given a value in the part of the run that was recorded"
    assert shown(run, here, "kept") == unseen
    assert value(run, steps(run, line_of(LONG, "during +="))[-1], "i") == 299999
    with pytest.raises(NotKnown, match="where `before` lies is not in the recording"):
        value(run, here, "before")
    assert run.words(run.timeline.start) == "the beginning of the recorded part"
    assert any("only the end of the run was recorded" in remark for remark in run.remarks)
    assert value(run_of(LONG), steps(run_of(LONG), line_of(LONG, "HERE"))[0], "before") == 5


NESTED = """\
#include <stdlib.h>
struct cell { int number; struct cell *next; };
int main(void)
{
    char *arena = malloc(4096);
    struct cell *first = (struct cell *)(arena + 64), *kept = calloc(1, sizeof *kept);
    first->number = 3;
    kept->number = 8;
    first->next = kept;
    free(kept); /* FREED */
    return first->number == 3 ? 0 : arena[0]; /* BEHIND */
}
"""


def test_a_block_lives_until_it_is_given_back() -> None:
    run = run_of(NESTED)
    (before,), (behind,) = (steps(run, line_of(NESTED, mark)) for mark in ("FREED", "BEHIND"))
    assert value(run, before, "first->next->number") == 8
    assert [row.name for row in parts(run, before, "first->next")] == ["number", "next"]
    with pytest.raises(NotKnown, match=r"given back on p\.c:10"):
        value(run, behind, "first->next->number")
    assert value(run, behind, "first->number") == 3
