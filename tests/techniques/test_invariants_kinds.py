"""Likely invariants: each kind on a tiny program, what is read of a run, and profiles against Python's numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from invariant_runs import Runs, line_of
from trace_readers import subject_of

from whence.alter.profile import bits_of
from whence.probe.layout import Kind as Event
from whence.probe.sites import Form
from whence.techniques.likely_invariants import kinds as all_kinds
from whence.techniques.likely_invariants.kinds import Kind, Settings, allowed_kinds
from whence.techniques.likely_invariants.profile import EQUAL, GREATER, LESS, MOST_VALUES
from whence.techniques.likely_invariants.readings import NAN, NUMBER, Source, read, static_sites

HEADER = "#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include <string.h>\n"
RANGES = (
    HEADER
    + """\
static int total;
static int twice(int n)
{
    return n * 2; /* RETURN */
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    total = twice(n); /* STORE */
    printf("%d\\n", total); /* LOAD */
    return 0;
}
"""
)


def test_ranges():
    found = Runs(RANGES, ["1", "5"], ["9"]).broken(Kind.RANGE)
    lines = {line for line, _ in found}
    assert {line_of(RANGES, mark) for mark in ("STORE", "LOAD", "RETURN")} <= lines
    assert {kind for _, kind in found} == {"RANGE"}
    assert Runs(RANGES, ["1", "5"], ["3"]).broken(Kind.RANGE) == set()


def test_the_paper_looks_at_loads_stores_and_returns_alone():
    runs = Runs(RANGES, ["1", "5"], ["9"])
    static = runs.observer.static
    chosen = static["kind"][allowed_kinds(static, Settings(Kind.RANGE, plain=True)) != 0]
    assert set(chosen.tolist()) == {Event.LOAD, Event.STORE, Event.RET}


def test_promoted_locals_have_no_invariants():
    lines = {line for line, _ in Runs(RANGES, ["1", "5"], ["9"]).broken(Kind.RANGE, promote=True, plain=True)}
    assert line_of(RANGES, "STORE") in lines and line_of(RANGES, "int n =") not in lines


EXECUTED = (
    HEADER
    + """\
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 10) /* TEST */
        puts("large"); /* NEW */
    switch (n) { /* SWITCH */
    case 1: puts("one"); break;
    case 2: puts("two"); break;
    default: break;
    }
    return 0;
}
"""
)


def test_executed_and_branches():
    runs = Runs(EXECUTED, ["5", "2"], ["12"])
    assert runs.broken(Kind.EXECUTED) == {(line_of(EXECUTED, "NEW"), "EXECUTED")}
    assert runs.broken(Kind.BRANCH) == {(line_of(EXECUTED, "TEST"), "BRANCH")}
    assert Runs(EXECUTED, ["5", "2"], ["1"]).broken(Kind.BRANCH) == {(line_of(EXECUTED, "SWITCH"), "BRANCH")}
    assert Runs(EXECUTED, ["5", "2"], ["6"]).broken(Kind.BRANCH | Kind.EXECUTED) == set()


SIMPLE = (
    HEADER
    + """\
static double number;
static const char *name;
int main(int argc, char **argv)
{
    int first = atoi(argv[1]);
    int i, sum = 0, limit = atoi(argv[2]);
    for (i = 0; i < argc; i += first) /* STEP */
        sum += 1;
    if (first < limit) /* ORDER */
        sum += 2;
    number = atof(argv[3]); /* FLOAT */
    name = strchr(argv[4], 'x'); /* POINTER */
    printf("%d %s\\n", sum, name ? name : "none");
    return 0;
}
"""
)


@pytest.mark.parametrize(
    ("kind", "good", "bad", "mark"),
    [
        (Kind.VALUES, ["1 9 1 x", "3 9 1 x"], "2 9 1 x", "int first"),
        (Kind.NONZERO, ["1 9 -1 x", "1 9 1 x"], "1 9 0 x", "FLOAT"),
        (Kind.NONZERO, ["1 9 1 x", "1 9 1 ax"], "1 9 1 a", "POINTER"),
        (Kind.STEP, ["1 9 1 x"], "2 9 1 x", "STEP"),
        (Kind.ORDER, ["1 9 1 x", "1 5 1 x"], "5 4 1 x", "ORDER"),
        (Kind.RANGE, ["1 9 1 x", "1 9 inf x"], "1 9 -inf x", "FLOAT"),
        (Kind.RANGE, ["1 9 1 x", "1 9 2 x"], "1 9 nan x", "FLOAT"),
        (Kind.RANGE, ["1 9 1 x", "1 9 1 ax"], "1 9 1 a", "POINTER"),
    ],
)
def test_kinds(kind, good, bad, mark):
    found = Runs(SIMPLE, good, [bad]).broken(kind)
    assert (line_of(SIMPLE, mark), kind.name) in found
    assert {name for _, name in found} == {kind.name}


def test_what_was_nan_in_training_may_be():
    assert (line_of(SIMPLE, "FLOAT"), "RANGE") not in Runs(SIMPLE, ["1 9 nan x"], ["1 9 nan x"]).broken(Kind.RANGE)


def test_nothing_is_broken_by_a_training_run():
    runs = Runs(SIMPLE, ["1 9 1 x", "2 0 nan a"], ["2 0 nan a"])
    assert runs.broken(all_kinds.ALL) == set()


def test_without_training_everything_is_new():
    runs = Runs(SIMPLE, [], ["1 9 1 x"])
    found = runs.broken(all_kinds.ALL)
    assert found and {name for _, name in found} == {"EXECUTED"}


# ---- Readings and profiles -------------------------------------------------------------------------------------------


VALUES = (
    HEADER
    + """\
static signed char small = -3;
static unsigned short word = 65535;
static long large = -5000000000L;
static float half = -0.5f;
static double numbers[3] = {1.5, -INFINITY, -0.0};
static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static double scaled(double x, int n)
{
    return x * n;
}
int main(int argc, char **argv)
{
    int i, sum = 0;
    for (i = 0; i < 12; i++)
        sum += small + word + fib(i & 7);
    large += sum;
    for (i = 0; i < 3; i++)
        half += (float)scaled(numbers[i], i);
    printf("%ld %f\\n", large, half);
    if (argc > 1)
        *(volatile int *)(long)argc = sum;
    return 0;
}
"""
)


def test_readings_are_the_trace_s_values():
    runs = Runs(VALUES, [], [""])
    trace, readings, static = runs.bad[0].reader.trace, runs.bad[0].readings, runs.observer.static
    checked = 0
    for event in range(trace.events):
        site, value = trace.site(event), trace.value(event)
        assert readings.sites[event] == site
        row = static[site]
        if value is None or not row["source"] or row["form"] == Form.POINTER:
            continue
        number = value if row["form"] == Form.INTEGER else _float(value, int(row["width"]))
        if math.isnan(number):
            assert readings.state[event] == NAN
            continue
        assert readings.state[event] == NUMBER
        one = slice(site, site + 1)
        bits = bits_of(readings.keys[event : event + 1], static["form"][one], static["width"][one])
        again = int(bits[0]) if row["form"] == Form.INTEGER else _float(int(bits[0]), int(row["width"]))
        assert again == number
        checked += 1
    assert checked > 300


def _float(bits: int, width: int) -> float:
    return float(np.uint64(bits).view(np.float64) if width == 64 else np.uint32(bits).view(np.float32))


def test_arguments_and_returns_are_read_where_functions_of_the_program_are_called():
    runs = Runs(RANGES, [], ["7"])
    run, static = runs.bad[0], runs.observer.static
    values = {}
    for event in range(len(run.readings.sites)):
        kind = Event(int(static["kind"][run.readings.sites[event]]))
        place = run.reader.statement(event)
        if place and run.readings.state[event] == NUMBER and kind in (Event.ARG, Event.RET, Event.RESULT):
            values.setdefault((place.line, kind), int(run.readings.keys[event]) - (1 << 63))
    store = line_of(RANGES, "STORE")
    assert values[store, Event.ARG] == 7 and values[store, Event.RESULT] == 14
    assert values[line_of(RANGES, "RETURN"), Event.RET] == 14


def test_branches_are_read_as_the_side_that_was_taken():
    runs = Runs(EXECUTED, [], ["12"])
    run, static = runs.bad[0], runs.observer.static
    sides = [
        int(run.readings.keys[event]) - (1 << 63)
        for event in range(len(run.readings.sites))
        if static["kind"][run.readings.sites[event]] == Event.BRANCH and static["yes"][run.readings.sites[event]] >= 0
    ]
    assert sides == [1]


def test_an_access_that_crashed_has_no_value():
    run = Runs(VALUES, [], ["1"]).bad[0]
    assert run.symptom.kind == "crash"
    assert run.readings.state[run.symptom.event :].tolist() == [0] * (len(run.readings.sites) - run.symptom.event)


def test_reading_is_cut_off():
    runs = Runs(VALUES, [], [""])
    trace = runs.bad[0].reader.trace
    readings = read(trace, runs.observer.static, trace.events, most=100)
    assert readings.cut and len(readings.sites) == 100
    assert (readings.keys[:90] == runs.bad[0].readings.keys[:90]).all()


def test_profile_against_python():
    runs = Runs(VALUES, [], [""])
    run, static = runs.bad[0], runs.observer.static
    seen: dict[int, list[int]] = {}
    counts: dict[int, int] = {}
    for site, key, state in zip(
        *(a.tolist() for a in (run.readings.sites, run.readings.keys, run.readings.state)), strict=True
    ):
        counts[site] = counts.get(site, 0) + 1
        if state == NUMBER:
            seen.setdefault(site, []).append(key)
    assert [int(row["site"]) for row in run.profile.rows] == sorted(counts)
    for row in run.profile.rows:
        values = seen.get(int(row["site"]), [])
        assert (row["count"], row["known"]) == (counts[int(row["site"])], len(values))
        if not values:
            continue
        assert (row["low"], row["high"]) == (min(values), max(values))
        distinct = set(values)
        assert row["distinct"] == min(len(distinct), MOST_VALUES + 1)
        if len(distinct) <= MOST_VALUES:
            assert set(row["values"][: len(distinct)].tolist()) == distinct
        if static["form"][row["site"]] == Form.INTEGER and len(values) > 1:
            steps = [after - before for before, after in pairwise(values)]
            assert (row["step_low"], row["step_high"], row["steps"]) == (min(steps), max(steps), len(steps))


def test_orders_against_python():
    runs = Runs(VALUES, [], [""])
    run, pairs = runs.bad[0], runs.observer.pairs
    sites, keys = run.readings.sites.tolist(), run.readings.keys.tolist()
    assert len(pairs) > 3
    for pair, order in zip(pairs, run.profile.orders.tolist(), strict=True):
        gap = int(pair["second"] - pair["first"])
        firsts = [event for event, site in enumerate(sites) if site == pair["first"]]
        found = 0
        for event in firsts:
            if run.readings.state[event] == NUMBER and run.readings.state[event + gap] == NUMBER:
                one, two = keys[event], keys[event + gap]
                found |= LESS if one < two else EQUAL if one == two else GREATER
        assert order == found


def test_entries_of_the_table_of_character_classes_are_no_values() -> None:
    subject = subject_of("#include <ctype.h>\nint main(int n, char **v) { return isdigit(v[0][0]) && n; }\n")
    static, program = static_sites(subject), subject.program
    types = {
        program.instruction(int(number)).type: int(source)
        for number, source, kind in zip(
            subject.plan.sites["instruction"][:-1], static["source"], static["kind"], strict=True
        )
        if kind == Event.LOAD
    }
    assert types["i16"] == Source.NOWHERE and types["i8"] == Source.TRACE
