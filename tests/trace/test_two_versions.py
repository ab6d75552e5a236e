"""Points of runs of two versions of a program that correspond: known pairs, a twin, and what holds of all pairs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from generated import c_program
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import mutant
from snippets import Snippet, snippet
from ways_of_runs import ways

from whence.probe.layout import Kind
from whence.probe.pieces import Pieces
from whence.program.correspondence import correspond
from whence.trace.execution_index import Regions, align, align_events, align_segments
from whence.trace.trace import Trace

HEAD = "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\nint seen, total, v[4] = {3, -1, 4, -1};\n"


def told(first: Snippet, second: Snippet, text: str, *arguments: str) -> list[int | None]:
    """For each store of the first version on the line with a text which one of the second's it corresponds to."""
    one, two = first.trace(*arguments), second.trace(*arguments)
    others = aligned(first, second, one, two)
    mine, theirs = stores(first, one, text), stores(second, two, text)
    return [theirs.index(int(others[event])) if others[event] >= 0 else None for event in mine]


def aligned(first: Snippet, second: Snippet, one: Trace, two: Trace) -> np.ndarray:
    """For each event of a run of the first version the one of the second's, checked for what must hold of all."""
    pieces = pieces_of(first, second)
    regions = Regions(one, pieces.first), Regions(two, pieces.second)
    found = align(*regions)
    events = align_events(*regions, found, np.arange(one.events))
    for numbers in (found, events):
        assert (np.diff(numbers[numbers >= 0]) > 0).all()  # in order (theorem 1), so one to one
    some = np.flatnonzero(events >= 0)
    assert (pieces.sites[one.sites(some)] == two.sites(events[some])).all()
    segments = align_segments(*regions, found)
    assert (segments[one.columns.events["segment"][some]] >= 0).all()
    return events


@cache
def pieces_of(first: Snippet, second: Snippet) -> Pieces:
    return Pieces(correspond(first.subject.program, second.subject.program), first.subject.plan, second.subject.plan)


def stores(made: Snippet, trace: Trace, text: str) -> list[int]:
    """The stores of a run on the one line, of any file, that has this text."""
    lines = [
        (str(made.folder / name), line)
        for name, source in made.files.items()
        for line, found in enumerate(source.splitlines(), 1)
        if text in found
    ]
    assert len(lines) == 1
    kinds = trace.plan.sites["kind"][trace.sites(np.arange(trace.events))]
    places = ((event, trace.location(event)) for event in np.flatnonzero(kinds == Kind.STORE).tolist())
    return [event for event, place in places if place is not None and (place.file, place.line) == lines[0]]


def both(first: str, second: str) -> tuple[Snippet, Snippet]:
    return snippet(HEAD + first), snippet(HEAD + second)


LOOP = "int main(void)\n{\n    for (int i = 0; i < 4; i++)\n        total += v[i];\n    seen = 1;\n    return 0;\n}\n"


def test_wrong_operator():
    one, two = both(LOOP, LOOP.replace("i < 4", "i <= 2"))
    assert told(one, two, "total +=") == [0, 1, 2, None]
    assert told(one, two, "seen = 1") == [0]


def test_wrong_constant():
    one, two = both(LOOP, LOOP.replace("seen = 1", "seen = 2").replace("int i = 0", "int i = 1"))
    assert told(one, two, "total +=") == [0, 1, 2, None]
    assert told(one, two, "seen = ") == [0]


def test_missing_statement():
    one, two = both(LOOP, LOOP.replace("    seen = 1;\n", '    printf("%d", total);\n    seen = 1;\n'))
    assert told(one, two, "total +=") == [0, 1, 2, 3]
    assert told(one, two, "seen = 1") == [0]
    assert told(two, one, "seen = 1") == [0]


@pytest.mark.parametrize("condition", ["        if (v[i] > 0)\n    ", "        if (v[i] > 0) "])
def test_missing_condition_around_a_statement_in_a_loop(condition):
    guarded = LOOP.replace("        total", condition + "        total")
    assert told(*both(LOOP, guarded), "total +=") == [0, None, 1, None]
    assert told(*both(guarded, LOOP), "total +=") == [0, 2]


EARLY = """\
static int positive(int x)
{
    int found = 0;
    if (x < 0)
        return 0;
    found = x;
    seen += found;
    return found;
}
int main(void)
{
    for (int i = 0; i < 4; i++)
        total += positive(v[i]);
    return 0;
}
"""


def test_missing_early_return():
    late = EARLY.replace("    if (x < 0)\n        return 0;\n", "")
    one, two = both(late, EARLY)
    assert told(one, two, "total +=") == [0, 1, 2, 3]
    assert told(one, two, "found = 0") == [0, 1, 2, 3]
    assert told(one, two, "seen +=") == [0, None, 1, None]


def test_missing_way_out_of_a_loop():
    leaving = "        {\n        if (v[i] == 4)\n            break;\n        total += v[i];\n        }\n"
    ending = LOOP.replace("        total += v[i];\n", leaving)
    assert told(*both(LOOP, ending), "total +=") == [0, 1, None, None]
    assert told(*both(LOOP, ending), "seen = 1") == [0]


def test_extra_loop_around_a_statement():
    twice = LOOP.replace("        total", "        for (int k = 0; k < 2; k++)\n        total")
    assert told(*both(LOOP, twice), "total +=") == [0, 2, 4, 6]
    assert told(*both(twice, LOOP), "total +=") == [0, None, 1, None, 2, None, 3, None]


NOTED = """\
static void note(int x)
{
    seen += x;
}
int main(void)
{
    note(1);
    for (int i = 0; i < 2; i++) {
        total += i;
        note(i);
    }
    note(5);
    return 0;
}
"""


def test_extra_function_that_calls_old_ones():
    more = NOTED.replace("int main", "static void more(void)\n{\n    note(7);\n    note(8);\n}\nint main").replace(
        "        note(i);", "        more();\n        note(i);"
    )
    one, two = both(NOTED, more)
    assert told(one, two, "seen +=") == [0, 3, 6, 7]
    assert told(two, one, "seen +=") == [0, None, None, 1, None, None, 2, 3]


def test_a_call_that_goes_through_an_extra_function():
    through = NOTED.replace("int main", "static void through(int x)\n{\n    note(x);\n}\nint main").replace(
        "        note(i)", "        through(i)"
    )
    assert told(*both(NOTED, through), "seen +=") == [0, 1, 2, 3]


def test_a_renamed_function_has_no_partner_but_what_it_calls_has():
    one = NOTED.replace("int main", "static void old(int x)\n{\n    total = x;\n    note(x);\n}\nint main").replace(
        "        note(i)", "        old(i)"
    )
    two = one.replace("old", "renamed")
    assert told(*both(one, two), "total = x") == [None, None]
    assert told(*both(one, two), "seen +=") == [0, 1, 2, 3]


def test_what_functions_without_a_partner_call_in_another_order_is_left_out():
    text = "static void g(void)\n{\n    total++;\n}\nstatic void h(void)\n{\n    seen++;\n}\n"
    one = text + "static void old(void)\n{\n    g();\n    h();\n    g();\n}\nint main(void)\n{\n    old();\n}\n"
    two = one.replace("old", "renamed").replace("    g();\n    h();\n    g();\n", "    g();\n    g();\n    h();\n")
    found = told(*both(one, two), "total++"), told(*both(one, two), "seen++")
    assert found in (([0, None], [0]), ([0, 1], [None]))


def test_static_functions_of_equal_name_in_two_files():
    main = "int one(int), two(int);\nint main(void)\n{\n    return one(1) + two(2) + one(3) > 99;\n}\n"
    helper = "static int NAME_sum;\nstatic int helper(int x)\n{\n    NAME_sum += x;\n    return NAME_sum;\n}\n"
    text = helper + "int NAME(int x)\n{\n    return helper(x);\n}\n"
    one, two = text.replace("NAME", "one"), text.replace("NAME", "two")
    faulty = snippet(main, one=one, two=two)
    good = snippet(
        main, one=one.replace("+= x", "+= x + 1"), two=two.replace("    two_sum +=", "    if (x)\n    two_sum +=")
    )
    assert told(faulty, good, "one_sum +=") == [0, 1]
    assert told(faulty, good, "two_sum +=") == [0]


DOWN = """\
static int down(int n)
{
    int part = 0;
    if (n <= 0)
        return 1;
    part = down(n - 1);
    part += down(n - 2);
    return part;
}
int main(void)
{
    total = down(3);
    return 0;
}
"""


def test_recursion():
    one, two = both(DOWN, DOWN.replace("n <= 0", "n <= 1"))
    calls = ["3", "32", "321", "3210", "321-", "320", "31", "310", "31-"]  # down(3) and what it calls, by the way there
    kept = [call for call in calls if not call[:-1].endswith("1")]
    assert told(one, two, "part = 0") == [kept.index(call) if call in kept else None for call in calls]


def test_longjmp():
    text = """\
static jmp_buf back;
static void work(int n)
{
    seen = n;
    if (n == 2)
        longjmp(back, 1);
    total += n;
}
int main(void)
{
    volatile int n = 0;
    if (setjmp(back))
        n++;
    while (n < 4) {
        work(n);
        n++;
    }
    seen = 9;
    return 0;
}
"""
    one, two = both(text, text.replace("n == 2", "n == 1 && total >= 0"))
    assert told(one, two, "seen = n")[:2] == [0, 1]
    assert told(one, two, "seen = 9") == [0]
    same = both(text, text.replace("seen = 9", "seen = 8"))
    assert told(*same, "seen = n") == [0, 1, 2, 3]


def test_callbacks_of_a_library_function():
    text = """\
static int order(const void *a, const void *b)
{
    seen++;
    return *(const int *)a - *(const int *)b;
}
int main(void)
{
    qsort(v, 4, sizeof *v, order);
    total = v[0];
    return 0;
}
"""
    one, two = both(text, text.replace("    seen++;\n", "    if (a == b)\n        return 0;\n    seen++;\n"))
    times = len(stores(one, one.trace(), "seen++"))
    assert told(one, two, "seen++") == list(range(times))
    assert told(one, two, "total = v[0]") == [0]


# ---- All pairs -------------------------------------------------------------------------------------------------------


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_of_generated_programs(seed, change):
    text = c_program(seed)
    one, two = snippet(text), snippet(mutant(text, change))
    runs = one.trace("3", "4"), two.trace("3", "4")
    aligned(one, two, *runs)
    pieces = pieces_of(one, two)
    regions = Regions(runs[0], pieces.first), Regions(runs[1], pieces.second)
    known = {way: number for number, way in enumerate(ways(regions[1]))}
    assert align(*regions).tolist() == [known.get(way, -1) for way in ways(regions[0])]


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_one_program_is_a_version_of_itself(seed):
    made = snippet(c_program(seed))
    one, two = made.trace("3", "4"), made.trace("4", "1")
    pieces = pieces_of(made, made)
    regions, cut = (Regions(one), Regions(two)), (Regions(one, pieces.first), Regions(two, pieces.second))
    ids = [trace.columns.segments["id"][: trace.segments] for trace in (one, two)]
    count = min(map(len, ids))
    differs = np.flatnonzero(ids[0][:count] != ids[1][:count])
    common = int(differs[0]) if len(differs) else count
    found = align(*regions, common)
    assert align(*cut).tolist() == align(*cut, common).tolist() == found.tolist()
    events = np.arange(one.events)
    assert align_events(*cut, found, events).tolist() == align_events(*regions, found, events).tolist()
