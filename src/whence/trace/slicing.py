"""Dynamic slices: closures of the dependence graph, backward from a criterion or forward from it.

Backward is a breadth-first search, so that each event's depth is its least distance from the criterion. Forward needs no
reversed edges: dependences point back in time, so one pass in order of time finds every event with a dependence in the slice.
(Dynamic slicing as in Sahoo et al. 2013, section 4: data and control dependence of the actual run.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from whence.probe.plan import Plan
from whence.trace.columns import N_CELL, N_EVENT, Columns
from whence.trace.dependence import BUFFER, gather_cell, gather_event
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import Int

UNREACHED = 0  # depths are stored one higher, so that untouched pages stay untouched


@dataclass(slots=True)
class Slice:
    """A slice: ``event_depth`` and ``cell_depth`` hold 0 outside it, and one more than the depth inside (int32)."""

    event_depth: NDArray[np.int32]
    cell_depth: NDArray[np.int32]

    @property
    def events(self) -> NDArray[np.int64]:
        """Numbers of the events in the slice, ascending."""
        return np.flatnonzero(self.event_depth)

    def depth_of(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """Depths of events that are in the slice."""
        return self.event_depth[events] - 1


@njit(cache=True)
def _backward(
    plan: Plan,
    columns: Columns,
    criteria: NDArray[np.int64],
    control: bool,
    event_depth: NDArray[np.int32],
    cell_depth: NDArray[np.int32],
    queue: NDArray[np.int32],
    buffer: NDArray[np.int64],
) -> Int:
    """Breadth-first search from the criteria (references); returns the number of nodes reached."""
    head, tail = 0, 0
    for reference in criteria:
        tail = _reach(reference, 1, event_depth, cell_depth, queue, tail)
    while head < tail:
        reference = queue[head]
        head += 1
        if reference > 0:
            depth = event_depth[reference - 1]
            count = gather_event(plan, columns, reference - 1, control, buffer)
        else:
            depth = cell_depth[-reference - 1]
            count = gather_cell(plan, columns, -reference - 1, buffer)
        for k in range(count):
            tail = _reach(buffer[2 * k], depth + 1, event_depth, cell_depth, queue, tail)
    return tail


@njit(cache=True)
def _reach(
    reference: Int,
    depth: Int,
    event_depth: NDArray[np.int32],
    cell_depth: NDArray[np.int32],
    queue: NDArray[np.int32],
    tail: Int,
) -> Int:
    """Enqueue a node that is reached for the first time; returns the queue's new end."""
    if reference > 0:
        if event_depth[reference - 1]:
            return tail
        event_depth[reference - 1] = depth
    else:
        if cell_depth[-reference - 1]:
            return tail
        cell_depth[-reference - 1] = depth
    queue[tail] = reference
    return tail + 1


@njit(cache=True)
def _forward(
    plan: Plan,
    columns: Columns,
    control: bool,
    first: Int,
    event_depth: NDArray[np.int32],
    cell_depth: NDArray[np.int32],
    buffer: NDArray[np.int64],
) -> None:
    """Mark, in order of time, every event and cell that depends on a marked one."""
    cell = np.int64(0)
    cells = columns.counts[N_CELL]
    for event in range(first, columns.counts[N_EVENT]):
        if event_depth[event] == 0:
            count = gather_event(plan, columns, event, control, buffer)
            event_depth[event] = _least(buffer, count, event_depth, cell_depth)
        while cell < cells and columns.cells[cell].parent <= event:
            if cell_depth[cell] == 0:
                count = gather_cell(plan, columns, cell, buffer)
                cell_depth[cell] = _least(buffer, count, event_depth, cell_depth)
            cell += 1


@njit(cache=True)
def _least(
    buffer: NDArray[np.int64], count: Int, event_depth: NDArray[np.int32], cell_depth: NDArray[np.int32]
) -> Int:
    """One more than the least depth among the dependences, 0 when none is in the slice."""
    least = np.int64(0)
    for k in range(count):
        reference = buffer[2 * k]
        depth = np.int64(event_depth[reference - 1] if reference > 0 else cell_depth[-reference - 1])
        if depth and (least == 0 or depth + 1 < least):
            least = depth + 1
    return least


def backward_slice(
    plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True
) -> Slice:
    """The dynamic backward slice from ``criteria`` (references); without control dependence where ``control`` is false."""
    events, cells = int(columns.counts[N_EVENT]), int(columns.counts[N_CELL])
    result = Slice(lazy_zeros(events, np.int32), lazy_zeros(cells, np.int32))
    queue = lazy_zeros(events + cells + 1, np.int32)
    buffer = np.empty(2 * BUFFER, np.int64)
    _backward(plan, columns, criteria, control, result.event_depth, result.cell_depth, queue, buffer)
    return result


def forward_slice(
    plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True
) -> Slice:
    """The dynamic forward slice: all events that depend on one of ``criteria`` (event references)."""
    events, cells = int(columns.counts[N_EVENT]), int(columns.counts[N_CELL])
    result = Slice(lazy_zeros(events, np.int32), lazy_zeros(cells, np.int32))
    buffer = np.empty(2 * BUFFER, np.int64)
    result.event_depth[criteria - 1] = 1
    first = int(criteria.min()) - 1
    _forward(plan, columns, control, first, result.event_depth, result.cell_depth, buffer)
    return result
