"""The suppression algorithm (figure 5.3): run, suppress what the failure came of, run again, until none is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whence.run.outcome import Kind
from whence.subject.symptoms import symptom_of
from whence.techniques.execution_suppression.definitions import Definition, Definitions

if TYPE_CHECKING:
    from whence.alter.suppression import Point, SuppressedRuns
    from whence.findings import Symptom
    from whence.subject.recorder import Recording

CRASHES = frozenset({Kind.CRASH, Kind.ASSERTION})


@dataclass(slots=True)
class Step:
    """One execution: with which points of suppression, how it ended, and what its failure came of."""

    recording: Recording
    points: list[Point]
    symptom: Symptom | None = None
    definitions: list[Definition] = field(default_factory=list)
    added: list[Point] = field(default_factory=list)

    @property
    def crashed(self) -> bool:
        """Whether the execution ended in a crash."""
        return self.recording.outcome.kind in CRASHES


@dataclass(slots=True)
class Suppressed:
    """All executions, and why the last one was the last: empty where its failure was gone."""

    steps: list[Step]
    why: str = ""


def suppress(
    runs: SuppressedRuns, folder: Path, may_go_on: Callable[[Step], bool], check: Callable[[Step], None]
) -> Suppressed:
    """Figure 5.3 on a case: ``check`` is given the unaltered run, ``may_go_on`` each failing one before the next.

    A failure that is no crash is followed back once: what the run with suppression prints is not comparable.
    """
    steps: list[Step] = []
    points: list[Point] = []
    while True:
        step = Step(runs.run(points), list(points))
        steps.append(step)
        if not points:
            check(step)
        if step.recording.outcome.kind is Kind.TIMEOUT:
            return Suppressed(
                steps, "the run with suppression did not end in its time" if points else "it does not end"
            )
        if not (step.crashed if points else step.recording.outcome.failed):
            return Suppressed(steps)
        why = _trace_back(step, folder)
        if why:
            return Suppressed(steps, why)
        if not may_go_on(step):
            return Suppressed(steps, "the time is used up")
        points += step.added


def _trace_back(step: Step, folder: Path) -> str:
    """Find what a failure came of; why there is nothing to suppress, or nothing."""
    step.symptom = symptom_of(step.recording, folder)
    definitions = Definitions(step.recording.trace)
    step.definitions = definitions.of_failure(step.symptom)
    step.added = [p for p in map(definitions.point, step.definitions) if p not in step.points]
    if not step.definitions:
        return "what it came of is not in the recording"
    return "" if step.added else "it came of what was suppressed already"
