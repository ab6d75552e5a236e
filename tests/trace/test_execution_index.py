"""Points of two runs that correspond: known pairs, and a twin that compares whole ways through the regions."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from cli_programs import line_of
from trace_readers import record, subject_of

from whence.program.regions import CALL, anchors
from whence.trace.execution_index import Regions, align, align_events
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


def ways(trace: Trace) -> list[Any]:
    """For each segment its way: the parent's way, its place, and how often that was executed there before."""
    rows, found, times = trace.columns.segments[: trace.segments], [], Counter[Any]()
    numbers: dict[Any, int] = {}
    latest: dict[tuple[int, int], int] = {}  # by frame and block
    for segment in range(trace.segments):
        frame, block = int(rows["frame"][segment]), int(trace.plan.segments["block"][rows["id"][segment]])
        ref = trace.program.function_of_block(block)
        above = anchors(ref.function)[block - ref.first_block]
        call = int(trace.columns.frames["call"][frame])
        parent = call if above == CALL else latest[frame, ref.first_block + above]
        latest[frame, block] = segment
        place = (found[parent] if parent >= 0 else -1, int(rows["id"][segment]))
        way = (*place, times[place])
        times[place] += 1
        found.append(numbers.setdefault(way, len(numbers)))
    names = {number: way for way, number in numbers.items()}
    return [spelled(names, number) for number in found]


def spelled(names: dict[int, Any], number: int) -> tuple[tuple[int, int], ...]:
    """A way in full, from the outermost region inward."""
    way = []
    while number >= 0:
        number, place, time = names[number]
        way.append((place, time))
    return tuple(reversed(way))


@pytest.mark.parametrize("first", RUNS)
@pytest.mark.parametrize("second", RUNS[::2])
def test_twin(first, second):
    one, two = trace_of(first), trace_of(second)
    known = {way: segment for segment, way in enumerate(ways(two))}
    expected = [known.get(way, -1) for way in ways(one)]
    assert align(Regions(one), Regions(two), 1).tolist() == expected


def test_a_run_corresponds_to_itself():
    trace = trace_of(RUNS[2])
    aligned = align(Regions(trace), Regions(trace), 1)
    assert aligned.tolist() == list(range(trace.segments))
    events = np.arange(trace.events)
    assert align_events(trace, trace, aligned, events).tolist() == events.tolist()


def test_order_is_preserved():
    """Sumner and Zhang 2009, theorem 1."""
    aligned = align(Regions(trace_of("12 10 11 3")), Regions(trace_of("6 7 8")), 1)
    assert (np.diff(aligned[aligned >= 0]) > 0).all()


def test_iterations_correspond_by_number_though_one_run_leaves_them_early():
    subject = subject_of(PROGRAM)
    one, two = trace_of("6 7 8"), trace_of("-1 7 8")
    aligned = align(Regions(one), Regions(two), 1)
    lines = subject.places.numbers[one.plan.sites["instruction"][:-1]]
    line = line_of(PROGRAM, "n = atoi(argv[i])")
    statement = next(n for n, s in enumerate(subject.places.statements) if s.line == line)
    events = np.flatnonzero(lines[one.sites(np.arange(one.events))] == statement)
    others = align_events(one, two, aligned, events)
    assert (others >= 0).all()
    assert one.value(int(events[-1])) == two.value(int(others[-1])) == 8


def test_what_only_one_run_has_corresponds_to_nothing():
    one, two = trace_of("6 7 8"), trace_of("6 99 7")
    aligned = align(Regions(one), Regions(two), 1)
    assert (aligned >= 0).any() and (aligned < 0).any()
    events = np.arange(one.events)
    others = align_events(one, two, aligned, events)
    segments = one.columns.events["segment"][events]
    assert ((others < 0) == (aligned[segments] < 0)).all()
