"""Where a failing run departs from a passing one, on a program that starts up for long, and with a brute-force twin."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cli_tool import subject_folder

from whence.dependence.critical_conditions import Influence
from whence.dependence.predicate_switching import Failing
from whence.dependence.slices import symptom_start
from whence.formula.encoder import Encoder
from whence.investigation.investigation import Investigation
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.departure import LONG, Departure, departure, is_comparable, latest
from whence.subject.recorder import Recording
from whence.subject.subject import subject_from_sources
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.findings import Options, causes
from whence.techniques.formula_based.trace_formula import FailingRun

# A table is made, the same one in all runs, and an argument carried along; then it is looked up.
TABLE = """#include <stdio.h>
#include <stdlib.h>
static unsigned table[3000];
static unsigned carried;
int main(int argc, char **argv)
{
    unsigned wanted = atoi(argv[1]);
    for (int i = 0; i < 3000; i++) {
        table[i] = i * 7 % 1000;
        carried = wanted + i; /* CARRIED */
    }
    unsigned found = 0;
    for (unsigned i = 0; i < wanted; i++) /* DEPARTS */
        found += table[i]; /* FAULT: from the second one on */
    if (argc > 3)
        found = carried;
    printf("%u\\n", found);
    return 0;
}
"""


def line(mark: str) -> int:
    return next(n for n, text in enumerate(TABLE.split("\n"), 1) if mark in text)


@cache
def investigation(wanted: str = "2") -> Investigation:
    folder = subject_folder("departure", p_c=TABLE)
    cases = [
        Case("fails", (wanted,), expected=Expected(b"8\n")),
        Case("one", ("1",), expected=Expected(b"0\n")),
        Case("none", ("0",), expected=Expected(b"0\n")),
    ]
    subject = subject_from_sources([folder / "p.c"], ["-w"], cases, replace(DEFAULT_LIMITS, time=10.0))
    return Investigation(subject)


@cache
def recorded() -> Recording:
    return investigation().record_departing(investigation().failing_rows()[0])


def departing() -> Departure:
    found = recorded().departure
    assert found is not None
    return found


def test_the_runs_depart_where_one_goes_round_again() -> None:
    found, reader = departing(), TraceReader(investigation().subject, recorded().trace)
    assert found.case == "one"  # which has one turn of the loop in common with it, where `none` has none
    assert 20_000 < found.event < recorded().trace.events
    here = reader.statement(found.event)
    assert here is not None and here.line == line("DEPARTS")


def test_what_was_carried_along_differs_before() -> None:
    found, reader = departing(), TraceReader(investigation().subject, recorded().trace)
    places = {place.line for event in found.differing.tolist() if (place := reader.statement(event)) is not None}
    assert line("CARRIED") in places and line("table[i] = i") not in places


def test_values_are_compared_as_one_by_one() -> None:
    trace = recorded().trace
    tested = next(one for one in investigation().runs.tested if one.case.name == "one")
    other = investigation().record(tested).trace
    found = departure(trace, other, "one")
    wanted = [
        event
        for event in range(found.event)
        if (value := trace.value(event)) != (there := other.value(event))
        and trace.values(np.array([event]))[1][0]
        and not (value is not None and there is not None and min(value, there) > 1 << 32)
    ]
    assert found.differing.tolist() == wanted
    assert found.in_common == found.event - len(wanted)
    assert found.computed.tolist() == [event for event in wanted if trace.kind(event) is not Kind.LOAD]
    assert 3_000 <= len(found.computed) < len(wanted)


def test_it_counts_where_hardly_anything_of_a_slice_was_computed_otherwise_before() -> None:
    events, numbers = np.arange(800, 1100), np.arange(500, 1000)
    few = Departure("case", 1000, 10, numbers[-20:], numbers[-20:])
    read = Departure("case", 1000, 10, numbers, numbers[-20:])
    many = Departure("case", 1000, 10, numbers, numbers)
    assert few.counts_for(events) and read.counts_for(events) and not many.counts_for(events)
    assert many.counts_for(events[::2])  # 100 of the slice
    assert latest([]) is None
    assert latest([many, few]) is few


def test_where_a_run_went_the_same_way_with_other_numbers_nothing_is_left_out() -> None:
    recording, subject = recorded(), investigation().subject
    reader, references = (
        TraceReader(subject, recording.trace),
        symptom_of(recording, subject.folder).details["criteria"],
    )
    everything, plain = np.arange(departing().event), Influence(reader)
    carried = (departing().computed[-200:] + 1).tolist()  # as if what was carried along had led to the failure
    for led, is_kept in ((references, True), ([*references, *carried], False)):
        influence = Influence(reader, (), departing(), led)
        assert (influence.departure is not None) == is_kept
        assert (len(influence.predicates.rows) < len(plain.predicates.rows)) == is_kept
        assert (len(influence.behind(everything)) < len(everything)) == is_kept


def test_short_runs_are_not_compared() -> None:
    folder = subject_folder("departure-short", p_c=TABLE.replace("3000", "30"))
    cases = [Case("fails", ("2",), expected=Expected(b"8\n")), Case("one", ("1",), expected=Expected(b"0\n"))]
    subject = subject_from_sources([folder / "p.c"], ["-w"], cases, DEFAULT_LIMITS)
    with Investigation(subject) as short:
        recording = short.record_departing(short.failing_rows()[0])
        assert recording.departure is None and not short.departures
        assert not is_comparable(recording.trace) and recording.trace.events < LONG


@pytest.mark.parametrize("knows", [True, False])
def test_branches_before_it_are_switched_last(knows: bool) -> None:
    recording = recorded()
    reader = TraceReader(investigation().subject, recording.trace)
    start = symptom_start(symptom_of(recording, investigation().subject.folder))
    failing = Failing.of(reader, recording.case, start.references, departing() if knows else None)
    is_early = failing.ordered()["event"] < departing().event
    first_early = int(np.argmax(is_early))
    assert is_early[first_early:].all() == knows
    assert np.count_nonzero(is_early) > 2_000


def test_formulas_take_what_both_runs_did_as_recorded() -> None:
    recording, subject = recorded(), investigation().subject
    reader = TraceReader(subject, recording.trace)
    symptom = symptom_of(recording, subject.folder)
    run = FailingRun(reader, recording, symptom, Encoder(subject.program, subject.plan))
    events = np.array(sorted(run.relevant(run.references)))
    assert (events >= departing().event).all() and len(events) < 200
    whole = FailingRun(reader, replace(recording, departure=None), symptom, Encoder(subject.program, subject.plan))
    assert set(events.tolist()) < whole.relevant(whole.references)


def test_what_formulas_take_from_before_has_the_value_that_it_had() -> None:
    recording, subject = recorded(), investigation().subject
    reader = TraceReader(subject, recording.trace)
    run = FailingRun(reader, recording, symptom_of(recording, subject.folder), Encoder(subject.program, subject.plan))
    symbols, value = run.encoding.symbols, run.encoding.evaluation.value
    known = {symbols[term].name: value(term) for term in symbols if symbols[term].event >= departing().event}
    assert known["wanted"] == 2 and None not in known.values()


def test_causes_are_looked_for_behind_it() -> None:
    recording, subject = recorded(), investigation().subject
    found = causes(
        TraceReader(subject, recording.trace), symptom_of(recording, subject.folder), recording, Options(budget=20.0)
    )
    assert line("FAULT") in [entry.statement.line for entry in found.ranking[:3]]


def test_the_report_tells_of_it() -> None:
    from whence.investigation.account import summary

    lines = summary(investigation().subject, investigation().runs, recorded())
    assert any(text.endswith("it went the same way as the passing case `one`") for text in lines)
