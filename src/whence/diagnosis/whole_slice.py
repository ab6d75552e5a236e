"""The slice of a failing run whose end alone fits into memory, through all of it: which lines led to the failure.

Everything else is looked at in the end of such a run. What came before has no values then, but that it led there counts
in the ranking as it does in shorter runs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.dependence.slices import by_line, symptom_start
from whence.errors import TooLong
from whence.findings import Statement, plural
from whence.investigation.reading import Reading
from whence.subject.recorder import Recorder, Recording
from whence.subject.runs import blocks_executed
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.trace.long_trace import LongTrace

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation

A_SECOND = 4_000_000  # events that are recorded, read and sliced in a second, about


@dataclass(frozen=True, slots=True)
class WholeSlice:
    """The lines of a slice, each with its least distance from the symptom; ``told`` says how much was read."""

    depths: dict[Statement, int]
    told: str


def whole_slice(investigation: Investigation, row: int, end: Recording, seconds: float) -> WholeSlice | None:
    """The slice of a failing case, whose run's ``end`` is recorded, from its symptom through all of the run.

    Of so many seconds; what was found then is given. None where the run can be analysed at once. Raises TooLong where
    it is clear that there is not enough time.
    """
    clock, subject, tested = investigation.clock, investigation.subject, investigation.runs.tested[row]
    _look_at_time(investigation, row, end, seconds)
    with clock.only(seconds), Recorder(subject, investigation.setup.trace_limit) as recorder:
        reading = Reading(clock, investigation.watcher)
        recording = recorder.record(tested.case, tested.outcome, watch=reading)
        trace = recording.trace
        if not isinstance(trace, LongTrace):
            return None
        reader, depths, first = TraceReader(subject, trace), dict[Statement, int](), 0
        start = symptom_start(symptom_of(recording, subject.folder))
        for found in trace.slices(start.references, control=True):
            investigation.watcher.busy("slicing a long run")
            lines = by_line(reader, found)
            for statement, depth in zip(lines.statements, lines.depths.tolist(), strict=True):
                depths[statement] = min(depth, depths.get(statement, depth))
            if (first := found.first) and time.monotonic() >= clock.deadline:
                break
        told = f"read all {trace.events_of_run:,} events of the failing run, in {trace.windows} windows"
        told += f": {plural(len(depths), 'line')} led to the failure"
        return WholeSlice(depths, f"{told}, as far back as event {first:,}" if first else told)


def _look_at_time(investigation: Investigation, row: int, end: Recording, seconds: float) -> None:
    """Raises TooLong where reading all of the run would clearly take longer than there is time."""
    trace = end.trace
    blocks = int(blocks_executed(investigation.subject, investigation.runs)[row])
    needed = blocks * trace.events / max(trace.blocks, 1) / A_SECOND
    if needed > seconds:
        minutes = int(needed / seconds * investigation.clock.budget // 60) + 1
        raise TooLong(f"there is not enough time to read it: --budget {minutes}m")
