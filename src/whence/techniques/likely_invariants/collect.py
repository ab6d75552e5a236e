"""The runs of a diagnosis: the user's cases and the inputs that were made close to the failing one, recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from whence.errors import SubjectError, TraceError
from whence.techniques.likely_invariants.runs import Failing, Observer, Run
from whence.techniques.likely_invariants.unsteady import leave_out, unsteady_sites

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.run.cases import Case
    from whence.run.outcome import Outcome
    from whence.subject.runs import Runs

MOST_PASSING = 100  # of the user's passing cases that are recorded, evenly spread over all
MOST_HELD = 1 << 25  # events of the failing runs whose traces are kept, all together
SHORT = 0.3  # seconds of a failing run that is recorded again though the time is over: a long good run took it
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

    Where inputs were made, the reduced failing one comes first. Values that are other ones when it is run again do not
    count. After ``deadline`` (of ``time.monotonic``) nothing more is recorded but one failing and one good run. Raises
    SubjectError where there is none of either.
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
    found.good = list(watch.recorded(good, observer.passing, reserve=watch.first))
    if not found.failing:
        raise SubjectError("no failing run could be recorded", "\n".join(found.left_out[:5]))
    if not found.good:
        hint = "give passing cases with --passes, or let close inputs be made (--generate)"
        raise SubjectError("no good run to compare the failing one with", "\n".join([hint, *found.left_out[:5]]))
    outcome = next(outcome for case, outcome, _ in failing if case is found.failing[0].case)
    if deadline is not None and watch.first > SHORT and time.monotonic() > deadline:
        found.left_out.append("not looked at, since the time was over: whether values differ from run to run")
    else:
        found.left_out += _without_unsteady(observer, found, outcome)
    return found


def _without_unsteady(observer: Observer, found: Collection, outcome: Outcome | None) -> Iterator[str]:
    """Leave out the values that differ when the failing case is recorded again; what is to be said."""
    try:
        again = observer.failing(found.failing[0].case, outcome)
    except (SubjectError, TraceError) as error:
        yield f"not recorded again: {error}"
        return
    if len(sites := unsteady_sites(found.failing[0].profile, again.profile)):
        leave_out(sites, observer, found.failing, found.good)
        yield f"not compared, since they differ when the failing case is run again: the values at {len(sites):,} places"


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
    first: float = 0.0  # seconds that the first run took

    def recorded(
        self,
        wanted: Iterable[Wanted],
        record: Callable[[Case, Outcome | None, int], T],
        reserve: float = 0.0,
    ) -> Iterator[T]:
        """The runs of these cases; the first of them is recorded in any case, the others until ``reserve`` seconds
        before the time is over.
        """
        late = count = 0
        for case, outcome, distance in wanted:
            self.done += 1
            began = time.monotonic()
            if count and self.deadline is not None and began + reserve >= self.deadline:
                late += 1
                continue
            try:
                run = record(case, outcome, distance)
                self.first = self.first or time.monotonic() - began
                count += 1
                yield run
            except (SubjectError, TraceError) as error:
                self.found.left_out.append(f"not recorded: {error}")
            if self.progress is not None:
                self.progress(self.done, self.total)
        if late:
            self.found.left_out.append(f"the time was over: {late} further runs were not recorded")
