"""Runs as the technique looks at them: recorded, their values read, and what led to their output or their failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.run.evidence import Evidence
from whence.subject.initial_values import InitialReads, InitialValues
from whence.subject.recorder import Recorder
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.likely_invariants.profile import Profile, pairs_of, profile_of
from whence.techniques.likely_invariants.readings import Readings, read, static_sites
from whence.trace.columns import N_OUT
from whence.trace.slicing import Slice, backward_slice

if TYPE_CHECKING:
    from whence.findings import Symptom
    from whence.run.cases import Case
    from whence.run.outcome import Outcome
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

Integers = NDArray[np.int64]


@dataclass(slots=True)
class Run:
    """A recorded run: its ``profile``, the ``blocks`` that it executed, and the sites in the slice of what came of it.

    ``initial``: the initial values of static variables that it read.

    ``distance`` is the edit distance of its input from the failing one, -1 where it is not known.
    """

    case: Case
    profile: Profile
    blocks: Integers
    sliced: Integers
    distance: int
    initial: InitialReads


@dataclass(slots=True)
class Failing(Run):
    """A failing run, with its trace: ``reader`` tells its events, ``slice`` is that of the ``symptom``."""

    reader: TraceReader
    readings: Readings
    slice: Slice
    symptom: Symptom

    @property
    def in_slice(self) -> NDArray[np.bool_]:
        """For each event that was read whether it is in the slice."""
        return np.asarray(self.slice.event_depth[: len(self.readings.sites)] > 0)


class Observer:
    """Records cases of one subject. ``static`` (READ) and ``pairs`` (PAIR) say what its sites are.

    ``initial``: the initial values that the recorded runs read.
    """

    def __init__(self, subject: Subject, recorder: Recorder, initial: InitialValues | None = None) -> None:
        self.subject, self._recorder = subject, recorder
        self.initial = initial or InitialValues(subject)
        self.static = static_sites(subject)
        self.pairs = pairs_of(subject, self.static)

    def passing(self, case: Case, outcome: Outcome | None = None, distance: int = -1) -> Run:
        """The run of a good input; its slice is that of all that it printed, and of how it ended.

        Raises SubjectError where the outcome is not the one that is expected.
        """
        recording = self._recorder.record(case, outcome)
        reader = TraceReader(self.subject, recording.trace)
        return self._run(reader, case, self._read(reader), self._slice(recording.trace, outputs), distance)

    def failing(self, case: Case, outcome: Outcome | None = None, distance: int = -1) -> Failing:
        """The run of a failing input. Raises SubjectError as ``passing`` does."""
        recording = self._recorder.record(case, outcome)
        symptom = symptom_of(recording, self.subject.folder)
        reader = TraceReader(self.subject, recording.trace)
        readings = self._read(reader)
        found = self._slice(recording.trace, lambda _: symptom.details.get("criteria", []))
        run = self._run(reader, case, readings, found, distance)
        own = (run.profile, run.blocks, run.sliced, distance, run.initial)
        return Failing(case, *own, reader, readings, found, symptom)

    def _read(self, reader: TraceReader) -> Readings:
        return read(reader.trace, self.static, _done(reader))

    def _slice(self, trace: Trace, criteria: Callable[[Trace], list[int]]) -> Slice:
        return backward_slice(trace.plan, trace.columns, np.unique(np.array(criteria(trace), np.int64)))

    def _run(self, reader: TraceReader, case: Case, readings: Readings, found: Slice, distance: int) -> Run:
        trace = reader.trace
        segments = np.unique(trace.columns.segments["id"][: trace.segments])
        blocks = np.unique(trace.plan.segments["block"][segments]).astype(np.int64)
        sliced = np.unique(trace.sites(found.events)).astype(np.int64)
        initial = self.initial.reads(trace, readings.sites, found.event_depth)
        return Run(case, profile_of(readings, self.static, self.pairs), blocks, sliced, distance, initial)


def _done(reader: TraceReader) -> int:
    """How many events were done when the run ended."""
    trace = reader.trace
    if not trace.segments:
        return 0
    first = int(trace.columns.segments["event"][trace.segments - 1])
    return next((event for event in range(first, trace.events) if reader.broke_off(event)), trace.events)


def outputs(trace: Trace) -> list[int]:
    """References to all that a run printed and to its end: what a run that passes is right about."""
    evidence = Evidence(trace)
    found: list[int] = []
    for call in np.unique(trace.columns.outs["event"][: trace.columns.counts[N_OUT]]).tolist():
        found += [call + 1, *(argument + 1 for argument in evidence.arguments(call))]
    exited = evidence.exit_event()
    return [*found, exited + 1] if exited >= 0 else found
