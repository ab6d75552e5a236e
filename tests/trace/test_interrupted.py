"""Segments that a signal handler came amid: those that saw what it wrote stand behind it, all others stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from snippets import Snippet, program

from whence.probe.layout import Kind
from whence.run.sandbox import Limits
from whence.trace.interrupted import can_be_interrupted, put_in_order
from whence.trace.trace import Trace, open_units

SOURCE = Path(__file__).parents[1] / "probe/runtime/signals.c"


def line_of(text: str) -> int:
    """The line of the source that holds a text."""
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def loads_on(trace: Trace, line: int) -> list[int]:
    """The events that load something on a line."""
    sites = trace.sites(np.arange(trace.events))
    wanted = []
    for site in np.unique(sites).tolist():
        location = trace.program.instruction(int(trace.plan.sites[site]["instruction"])).location
        if trace.plan.sites[site]["kind"] == Kind.LOAD and location and location.line == line:
            wanted.append(site)
    found: list[int] = np.flatnonzero(np.isin(sites, wanted)).tolist()
    return found


@pytest.fixture(scope="module")
def signals() -> Snippet:
    return Snippet({"signals.c": SOURCE.read_text()}, ("-pthread",), Limits(time=5, trace=1 << 30))


def test_a_flag_that_ends_a_loop_comes_from_the_handler(signals: Snippet) -> None:
    trace = signals.trace("poll")
    ends = [event for event in loads_on(trace, line_of("while (!flag) { }")) if trace.value(event)]
    assert len(ends) == 20
    for event in ends:
        definition = int(trace.columns.events[event]["definition"])
        assert 0 < definition <= event  # it is no later than what it defines
        place = trace.location(definition - 1)
        assert place is not None and place.line == line_of("flag = number;")


def test_what_the_handler_reads_comes_from_the_calls_before(signals: Snippet) -> None:
    trace = signals.trace("poll")
    counted = [event for event in loads_on(trace, line_of("    entries++;")) if trace.value(event)]
    for event in counted:
        definition = int(trace.columns.events[event]["definition"])
        place = trace.location(definition - 1) if definition > 0 else None
        assert place is not None and place.line == line_of("    entries++;")


def test_where_no_handler_comes_amid_a_segment_nothing_is_moved() -> None:
    case = program("signals")  # raise, and a fault
    subject = case.snippet.subject
    _, path = case.snippet.record()
    units = open_units(path, private=True)
    before = units.copy()
    trace = case.snippet.open(path)
    assert can_be_interrupted(subject.program)
    assert put_in_order(units, trace.chunks, subject.plan) == 0
    assert np.array_equal(units, before)


def test_the_file_stays_as_it_was(signals: Snippet) -> None:
    _, path = signals.record("poll")
    before = path.read_bytes()
    trace = signals.open(path)
    assert path.read_bytes() == before
    assert not np.array_equal(trace.units, open_units(path))  # segments were moved in memory


def test_a_program_without_handlers_is_not_looked_through() -> None:
    assert not can_be_interrupted(program("callbacks").snippet.subject.program)
