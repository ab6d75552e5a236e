"""Who had the turn in a run of several threads: the thread of each segment of its trace, and the steps of each thread.

Steps are numbered as in schedules (``run/schedule.py``), so an access of a trace can be named in that of another run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import STEP
from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, IDENTITY, KIND_SHIFT, SWITCH
from whence.trace.kernels import lean
from whence.trace.shadow import Int
from whence.trace.trace import Trace

EFFECT = 1


class Steps:
    """The threads and steps of one trace.

    ``thread`` (int32) has for each segment instance the number of its thread. ``number`` (int64) tells how many steps
    that thread had begun by then, its own with it: the number of its step, if it holds one (``is_step``).
    """

    def __init__(self, trace: Trace) -> None:
        columns = trace.columns
        self._segment_of = columns.events["segment"]
        self.thread: NDArray[np.int32] = np.zeros(trace.segments, np.int32)
        sizes = trace.plan.segments["units"].copy()
        _threads(trace.units, trace.chunks, sizes, self.thread)
        ids = columns.segments["id"][: trace.segments]
        self.is_step: NDArray[np.bool_] = trace.plan.segments["flags"][ids] & STEP != 0
        self.number: NDArray[np.int64] = np.zeros(trace.segments, np.int64)
        for thread in np.unique(self.thread):
            own = self.thread == thread
            self.number[own] = np.cumsum(self.is_step[own])

    def of_event(self, event: int) -> tuple[int, int]:
        """The thread of an event, and the number of the step that it is part of, or that came last before it."""
        segment = int(self._segment_of[event])
        return int(self.thread[segment]), int(self.number[segment])


@lean
def _threads(
    units: NDArray[np.uint32], chunks: NDArray[np.int64], sizes: NDArray[np.int32], found: NDArray[np.int32]
) -> Int:
    """Fill in the thread of each segment; returns how many there were."""
    count = 0
    for chunk in chunks:
        thread = np.int64(units[chunk + 2])
        used = np.int64(units[chunk + 4])
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end and count < len(found):
            header = np.int64(units[position])
            if header == 0:
                position += 1
            elif header <= IDENTITY:
                found[count] = thread
                count += 1
                position += np.int64(sizes[header - 1])
            elif header >> KIND_SHIFT == EFFECT:
                position += header & IDENTITY
            else:
                if header >> KIND_SHIFT == SWITCH:
                    thread = header & IDENTITY
                position += 1
    return count
