"""The runs of a diagnosis: the user's cases and the inputs that were made close to the failing one, recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from whence.errors import SubjectError, TraceError
from whence.techniques.likely_invariants.runs import Failing, Observer, Run

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.run.cases import Case
    from whence.run.outcome import Outcome
    from whence.subject.runs import Runs

MOST_PASSING = 100  # of the user's passing cases that are recorded, evenly spread over all
MOST_HELD = 1 << 25  # events of the failing runs whose traces are kept, all together
NO_DISTANCE = -1

T = TypeVar("T")
Progress = Callable[[int, int], None]
Wanted = tuple["Case", "Outcome | None", int]


@dataclass(slots=True)
class Collection:
    """Recorded runs. The first of ``failing`` is the one to explain; ``left_out`` says which are missing, and why."""

    failing: list[Failing] = field(default_factory=list)
    good: list[Run] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def collect(
    observer: Observer,
    runs: Runs,
    rows: Sequence[int],
    number: int,
    *,
    close: CloseInputs | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Collection:
    """Record at most ``number`` failing cases, those in ``rows`` (of ``runs``), the passing ones, and close inputs.

    Where inputs were made, the reduced failing one comes first. After ``deadline`` (of ``time.monotonic``) nothing more
    is recorded but one failing and one good run. Raises SubjectError where there is none of either.
    """
    failing = [_tested(runs, row) for row in rows[:number]]
    chosen = np.unique(np.linspace(0, len(runs.passing) - 1, min(MOST_PASSING, len(runs.passing))).astype(np.int64))
    good = [_tested(runs, runs.passing[place]) for place in chosen.tolist()]
    if close is not None:
        failing = [(close.base.case, None, 0), *failing, *((one.case, None, one.distance) for one in close.failing)]
        good += [(one.case, None, one.distance) for one in close.good]
    found = Collection()
    if len(chosen) < len(runs.passing):
        found.left_out.append(f"of {len(runs.passing):,} passing cases {len(chosen)} were looked at")
    watch = _Watch(found, deadline, progress, len(failing) + len(good))
    for run in watch.recorded(failing, observer.failing):
        found.failing.append(run)
        events = sum(one.reader.trace.events for one in found.failing)
        if events >= MOST_HELD and len(found.failing) < len(failing):
            found.left_out.append(f"the failing runs are long: {len(found.failing)} of {len(failing)} were looked at")
            break
    found.good = list(watch.recorded(good, observer.passing))
    if not found.failing:
        raise SubjectError("no failing run could be recorded", "\n".join(found.left_out[:5]))
    if not found.good:
        hint = "give passing cases with --passes, or let close inputs be made (--generate)"
        raise SubjectError("no good run to compare the failing one with", "\n".join([hint, *found.left_out[:5]]))
    return found


def _tested(runs: Runs, row: int) -> Wanted:
    return runs.tested[row].case, runs.tested[row].outcome, NO_DISTANCE


@dataclass(slots=True)
class _Watch:
    """Records runs until the time is over."""

    found: Collection
    deadline: float | None
    progress: Progress | None
    total: int
    done: int = 0

    def recorded(self, wanted: Iterable[Wanted], record: Callable[[Case, Outcome | None, int], T]) -> Iterator[T]:
        """The runs of these cases; the first of them is recorded in any case."""
        late = count = 0
        for case, outcome, distance in wanted:
            self.done += 1
            if count and self.deadline is not None and time.monotonic() >= self.deadline:
                late += 1
                continue
            try:
                yield record(case, outcome, distance)
                count += 1
            except (SubjectError, TraceError) as error:
                self.found.left_out.append(f"not recorded: {error}")
            if self.progress is not None:
                self.progress(self.done, self.total)
        if late:
            self.found.left_out.append(f"the time was over: {late} further runs were not recorded")
