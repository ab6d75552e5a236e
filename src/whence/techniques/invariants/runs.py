"""Runs as the technique looks at them: recorded, their values read, and what led to their output or their failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.run.evidence import Evidence
from whence.subject.recorder import Recorder
from whence.subject.story import Story
from whence.subject.symptoms import symptom_of
from whence.techniques.invariants.profile import Profile, pairs_of, profile_of
from whence.techniques.invariants.readings import Readings, read, static_sites
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

    ``distance`` is the edit distance of its input from the failing one, -1 where it is not known.
    """

    case: Case
    profile: Profile
    blocks: Integers
    sliced: Integers
    distance: int


@dataclass(slots=True)
class Failing(Run):
    """A failing run, with its trace: ``story`` tells its events, ``slice`` is that of the ``symptom``."""

    story: Story
    readings: Readings
    slice: Slice
    symptom: Symptom

    @property
    def in_slice(self) -> NDArray[np.bool_]:
        """For each event that was read whether it is in the slice."""
        return np.asarray(self.slice.event_depth[: len(self.readings.sites)] > 0)


class Observer:
    """Records cases of one subject. ``static`` (READ) and ``pairs`` (PAIR) say what its sites are."""

    def __init__(self, subject: Subject, recorder: Recorder) -> None:
        self.subject, self._recorder = subject, recorder
        self.static = static_sites(subject)
        self.pairs = pairs_of(subject, self.static)

    def passing(self, case: Case, outcome: Outcome | None = None, distance: int = -1) -> Run:
        """The run of a good input; its slice is that of all that it printed, and of how it ended.

        Raises SubjectError where the outcome is not the one that is expected.
        """
        recording = self._recorder.record(case, outcome)
        story = Story(self.subject, recording.trace)
        return self._run(story, case, self._read(story), self._slice(recording.trace, outputs), distance)

    def failing(self, case: Case, outcome: Outcome | None = None, distance: int = -1) -> Failing:
        """The run of a failing input. Raises SubjectError as ``passing`` does."""
        recording = self._recorder.record(case, outcome)
        symptom = symptom_of(recording, self.subject.folder)
        story = Story(self.subject, recording.trace)
        readings = self._read(story)
        found = self._slice(recording.trace, lambda _: symptom.details.get("criteria", []))
        run = self._run(story, case, readings, found, distance)
        return Failing(case, run.profile, run.blocks, run.sliced, distance, story, readings, found, symptom)

    def _read(self, story: Story) -> Readings:
        return read(story.trace, self.static, _done(story))

    def _slice(self, trace: Trace, criteria: Callable[[Trace], list[int]]) -> Slice:
        return backward_slice(trace.plan, trace.columns, np.unique(np.array(criteria(trace), np.int64)))

    def _run(self, story: Story, case: Case, readings: Readings, found: Slice, distance: int) -> Run:
        trace = story.trace
        segments = np.unique(trace.columns.segments["id"][: trace.segments])
        blocks = np.unique(trace.plan.segments["block"][segments]).astype(np.int64)
        sliced = np.unique(trace.sites(found.events))
        return Run(case, profile_of(readings, self.static, self.pairs), blocks, sliced, distance)


def _done(story: Story) -> int:
    """How many events were done when the run ended."""
    trace = story.trace
    if not trace.segments:
        return 0
    first = int(trace.columns.segments["event"][trace.segments - 1])
    return next((event for event in range(first, trace.events) if story.broke_off(event)), trace.events)


def outputs(trace: Trace) -> list[int]:
    """References to all that a run printed and to its end: what a run that passes is right about."""
    evidence = Evidence(trace)
    found: list[int] = []
    for call in np.unique(trace.columns.outs["event"][: trace.columns.counts[N_OUT]]).tolist():
        found += [call + 1, *(argument + 1 for argument in evidence.arguments(call))]
    ending = evidence.ending()
    return [*found, ending + 1] if ending >= 0 else found
