"""Points of two runs that correspond: known pairs, and a twin that compares whole ways through the regions."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from cli_programs import line_of
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import record, subject_of
from ways_of_runs import ways

from whence.trace.execution_index import Regions, _in_order, align, align_events
from whence.trace.trace import Trace

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls;
static int by_length(const void *a, const void *b)
{
    calls++;
    size_t x = strlen(*(char **)a), y = strlen(*(char **)b);
    return x < y ? -1 : x > y;
}
static int down(int n)
{
    if (n <= 0)
        return 0;
    if (n % 4 == 0)
        return down(n - 2) + 1;
    return down(n - 1) + down(n - 3);
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]);
        if (n < 0)
            continue;
        if (n == 99)
            break;
        switch (n % 3) {
        case 0: sum += down(n); break;
        case 1: sum += 2; /* falls through */
        default: sum++;
        }
    }
    qsort(argv + 1, argc - 1, sizeof *argv, by_length);
    while (sum > 20)
        sum -= 7;
    printf("%d %d\\n", sum, calls);
    return 0;
}
"""
RUNS = ["", "5", "6 7 8", "6 7 9", "-1 6 7 8", "6 99 7", "12 10 11 3", "1 02 003 0004", "0004 003 02 1"]


@cache
def trace_of(arguments: str) -> Trace:
    return record(subject_of(PROGRAM), *arguments.split()).trace


@pytest.mark.parametrize("first", RUNS)
@pytest.mark.parametrize("second", RUNS[::2])
def test_twin(first, second):
    one, two = trace_of(first), trace_of(second)
    known = {way: segment for segment, way in enumerate(ways(Regions(two)))}
    expected = [known.get(way, -1) for way in ways(Regions(one))]
    assert align(Regions(one), Regions(two), 1).tolist() == expected


def test_a_run_corresponds_to_itself():
    trace = trace_of(RUNS[2])
    regions = Regions(trace)
    aligned = align(regions, regions, 1)
    assert aligned.tolist() == list(range(trace.segments))
    events = np.arange(trace.events)
    assert align_events(regions, regions, aligned, events).tolist() == events.tolist()


@given(st.lists(st.integers(-1, 12), max_size=9, unique_by=lambda n: n if n >= 0 else object()))
def test_the_fewest_are_left_out_that_break_the_order(numbers):
    kept = _in_order(np.array(numbers, np.int64)).tolist()
    assert all(mine in (number, -1) for mine, number in zip(kept, numbers, strict=True))
    left = [number for number in kept if number >= 0]
    assert left == sorted(left)
    ways_to_choose = (some for size in range(len(left) + 1, len(numbers) + 1) for some in combinations(numbers, size))
    assert not any(list(some) == sorted(some) for some in ways_to_choose if min(some) >= 0)


def test_order_is_preserved():
    """Sumner and Zhang 2009, theorem 1."""
    aligned = align(Regions(trace_of("12 10 11 3")), Regions(trace_of("6 7 8")), 1)
    assert (np.diff(aligned[aligned >= 0]) > 0).all()


def test_iterations_correspond_by_number_though_one_run_leaves_them_early():
    subject = subject_of(PROGRAM)
    one, two = trace_of("6 7 8"), trace_of("-1 7 8")
    regions = Regions(one), Regions(two)
    aligned = align(*regions, 1)
    lines = subject.places.numbers[one.plan.sites["instruction"][:-1]]
    line = line_of(PROGRAM, "n = atoi(argv[i])")
    statement = next(n for n, s in enumerate(subject.places.statements) if s.line == line)
    events = np.flatnonzero(lines[one.sites(np.arange(one.events))] == statement)
    others = align_events(*regions, aligned, events)
    assert (others >= 0).all()
    assert one.value(int(events[-1])) == two.value(int(others[-1])) == 8


def test_what_only_one_run_has_corresponds_to_nothing():
    one, two = trace_of("6 7 8"), trace_of("6 99 7")
    regions = Regions(one), Regions(two)
    aligned = align(*regions, 1)
    assert (aligned >= 0).any() and (aligned < 0).any()
    events = np.arange(one.events)
    others = align_events(*regions, aligned, events)
    segments = one.columns.events["segment"][events]
    assert ((others < 0) == (aligned[segments] < 0)).all()
