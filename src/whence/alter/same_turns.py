"""A schedule for runs that leave some steps out: its points at the places that they had in the run without suppression.

Of a suppressed branch no side is executed, so from there on the numbers of its thread's steps are smaller, and a point
would come too late. A place is known by its segment, and by how often the thread had come to that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whence.run.schedule import Schedule
from whence.trace.steps import Steps
from whence.trace.trace import Trace


class SameTurns:
    """The places of a schedule's points in a run that was made under it."""

    def __init__(self, trace: Trace, schedule: Schedule) -> None:
        self._schedule = schedule
        self._places = _places(trace, schedule)

    def in_run(self, trace: Trace) -> Schedule:
        """The schedule with the same places as points in another run; where one is not there, the thread's next."""
        others = _places(trace, self._schedule)
        steps = [_step(self._places[p.thread], p.step, others[p.thread]) for p in self._schedule.points]
        points = zip(self._schedule.points, steps, strict=True)
        return replace(self._schedule, points=tuple(replace(point, step=step) for point, step in points))


def _step(places: NDArray[np.int64], step: int, others: NDArray[np.int64]) -> int:
    """The number of a step of one run in the other; unchanged where neither it nor a later one is there."""
    if not 0 < step <= len(places):
        return step
    left = places[step - 1 :]
    there = left[np.isin(left, others)]
    return int(np.flatnonzero(others == there[0])[0]) + 1 if len(there) else step


def _places(trace: Trace, schedule: Schedule) -> dict[int, NDArray[np.int64]]:
    """For each thread that a schedule names, the places of its steps in order."""
    steps = Steps(trace)
    ids = trace.columns.segments["id"][: trace.segments].astype(np.int64)
    threads = {point.thread for point in schedule.points}
    return {thread: _numbered(ids[(steps.thread == thread) & steps.is_step]) for thread in threads}


def _numbered(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each of these numbers together with how often it came before."""
    order = np.argsort(ids, kind="stable")
    _, first, counts = np.unique(ids[order], return_index=True, return_counts=True)
    before = np.empty(len(ids), np.int64)
    before[order] = np.arange(len(ids)) - np.repeat(first, counts)
    return ids << 32 | before
