"""Segments that a signal handler came amid: those that saw what it wrote stand behind it, all others stay."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from snippets import Snippet, program

from whence.formula.effects import Effect, Effects
from whence.probe.layout import Kind
from whence.run.sandbox import Limits
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS, new_columns
from whence.trace.decode import CHUNK_HEADER_UNITS, IDENTITY, decode, new_stacks
from whence.trace.interrupted import can_be_interrupted, put_in_order
from whence.trace.shadow import new_shadow
from whence.trace.trace import Trace, open_units

SIZE = 64 << 20  # bytes of a trace file, which are compared
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
    _, path = case.snippet.record(limit=SIZE)
    units = open_units(path, private=True)
    before = units.copy()
    trace = case.snippet.open(path)
    assert can_be_interrupted(subject.program)
    assert put_in_order(units, trace.chunks, subject.plan) == 0
    assert np.array_equal(units, before)


def records(units: NDArray[np.uint32], chunks: NDArray[np.int64], trace: Trace) -> list[tuple[int, bytes]]:
    """Where the records of chunks stand, and what they hold."""
    found = []
    for chunk in chunks.tolist():
        position, end = chunk + CHUNK_HEADER_UNITS, chunk + int(units[chunk + 4])
        while position < end:
            header = int(units[position])
            size = header & IDENTITY if header > IDENTITY else int(trace.plan.segments[header - 1]["units"])
            found.append((position, units[position : position + size].tobytes()))
            position += size
    return found


def effects_behind(units: NDArray[np.uint32], chunks: NDArray[np.int64], trace: Trace) -> list[list[Effect]]:
    """The effects that stand behind each of the records of chunks."""
    effects = Effects(SimpleNamespace(units=units, chunks=chunks))  # type: ignore[arg-type]
    return [effects.after(place + len(content) // 4) for place, content in records(units, chunks, trace)]


def in_two(units: NDArray[np.uint32], position: int, filling: bytes) -> NDArray[np.uint32]:
    """A trace's units with two chunks in place of one, which ends at a position.

    The second one is filled with a record, again and again.
    """
    header, behind = units[:CHUNK_HEADER_UNITS], units[position : units[4]]
    record = np.frombuffer(filling, np.uint32)
    times = (CHUNK_UNITS - len(header) - len(behind)) // len(record)
    chunks = np.zeros((2, CHUNK_UNITS), np.uint32)
    chunks[0, :position], chunks[0, 4] = units[:position], position
    second = np.concatenate([header, behind, np.tile(record, times)])
    chunks[1, : len(second)], chunks[1, 4] = second, len(second)
    return np.concatenate([np.zeros(HEADER_UNITS, np.uint32), chunks.ravel()])


def test_a_segment_is_moved_into_the_next_chunk_though_that_is_full(signals: Snippet) -> None:
    """Wherever a chunk ends in what a handler did the records come in the order that they have in one chunk."""
    _, path = signals.record("poll")
    trace, first_chunk = signals.open(path), np.zeros(1, np.int64)
    for units in open_units(path)[HEADER_UNITS:].reshape(-1, CHUNK_UNITS):
        ordered = units.copy()
        if units[4] and put_in_order(ordered, first_chunk, trace.plan):
            break
    before = records(units, first_chunk, trace)
    after = [record for _, record in records(ordered, first_chunk, trace)]
    begin = next(k for k, (_, record) in enumerate(before) if record != after[k])
    moved = before[begin][1]
    stop = after.index(moved, begin)
    units = units.copy()
    units[4] = before[stop + 1][0]
    effects = effects_behind(ordered, first_chunk, trace)
    assert any(effects[: stop + 1])
    cuts = [position for position, _ in before[begin + 1 : stop + 1]]
    assert len(cuts) > 5
    for cut in cuts:
        chunks, two = HEADER_UNITS + np.array([0, CHUNK_UNITS]), in_two(units, cut, moved)
        assert CHUNK_UNITS - two[chunks[1] + 4] < len(moved) // 4  # it has no room for the segment
        put_in_order(two, chunks, trace.plan)
        two.flags.writeable = False
        found = [record for _, record in records(two, chunks, trace)]
        assert found[: stop + 1] == after[: stop + 1] and set(found[stop + 1 :]) == {moved}
        count = decode(two, chunks, trace.plan, new_columns(), new_shadow(), new_stacks(1))
        assert count == len(found)
        assert effects_behind(two, chunks, trace)[:stop] == effects[:stop]


def test_the_file_stays_as_it_was(signals: Snippet) -> None:
    _, path = signals.record("poll", limit=SIZE)
    before = path.read_bytes()
    trace = signals.open(path)
    assert path.read_bytes() == before
    assert not np.array_equal(trace.units, open_units(path))  # segments were moved in memory


def test_a_program_without_handlers_is_not_looked_through() -> None:
    assert not can_be_interrupted(program("callbacks").snippet.subject.program)
