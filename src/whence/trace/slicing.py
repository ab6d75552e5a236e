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
from whence.trace.dependence import BUFFER, Edge, gather_cell, gather_event
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import Int


@dataclass(slots=True)
class Slice:
    """A slice: ``event_depth`` and ``cell_depth`` hold 0 outside it, and one more than the depth inside (int32).

    ``event_parent`` and ``cell_parent`` are references to the node through which each was reached first: following them leads
    by a shortest way to the criterion (0 there, and throughout in a forward slice).
    """

    event_depth: NDArray[np.int32]
    cell_depth: NDArray[np.int32]
    event_parent: NDArray[np.int32]
    cell_parent: NDArray[np.int32]

    @property
    def events(self) -> NDArray[np.int64]:
        """Numbers of the events in the slice, ascending."""
        return np.flatnonzero(self.event_depth)

    def depth_of(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """Depths of events that are in the slice."""
        return self.event_depth[events] - 1

    def way(self, event: int) -> list[int]:
        """The events on a shortest way from ``event`` to the criterion, both included."""
        found = []
        reference = event + 1
        while reference:
            if reference > 0:
                found.append(reference - 1)
                reference = int(self.event_parent[reference - 1])
            else:
                reference = int(self.cell_parent[-reference - 1])
        return found


def _new_slice(columns: Columns) -> Slice:
    events, cells = int(columns.counts[N_EVENT]), int(columns.counts[N_CELL])
    return Slice(*(lazy_zeros(length, np.int32) for length in (events, cells, events, cells)))


@njit(cache=True)
def _backward(
    plan: Plan,
    columns: Columns,
    criteria: NDArray[np.int64],
    control: bool,
    event_depth: NDArray[np.int32],
    cell_depth: NDArray[np.int32],
    event_parent: NDArray[np.int32],
    cell_parent: NDArray[np.int32],
    queue: NDArray[np.int32],
    buffer: NDArray[np.int64],
) -> None:
    """Breadth-first search from the criteria (references)."""
    head, tail = 0, 0
    for reference in criteria:
        if reference > 0:
            event_depth[reference - 1] = 1
        else:
            cell_depth[-reference - 1] = 1
        queue[tail] = reference
        tail += 1
    while head < tail:
        node = queue[head]
        head += 1
        if node > 0:
            depth = event_depth[node - 1] + 1
            count = gather_event(plan, columns, node - 1, control, buffer)
        else:
            depth = cell_depth[-node - 1] + 1
            count = gather_cell(plan, columns, -node - 1, buffer)
        for k in range(count):
            reference = buffer[2 * k]
            if reference > 0:
                if event_depth[reference - 1] == 0:
                    event_depth[reference - 1] = depth
                    event_parent[reference - 1] = node
                    queue[tail] = reference
                    tail += 1
            elif cell_depth[-reference - 1] == 0:
                cell_depth[-reference - 1] = depth
                cell_parent[-reference - 1] = node
                queue[tail] = reference
                tail += 1


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


def backward_slice(plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True) -> Slice:
    """The dynamic backward slice from ``criteria`` (distinct references), over data dependence alone without ``control``."""
    result = _new_slice(columns)
    queue = lazy_zeros(len(result.event_depth) + len(result.cell_depth) + 1, np.int32)
    arrays = (result.event_depth, result.cell_depth, result.event_parent, result.cell_parent)
    _backward(plan, columns, criteria, control, *arrays, queue, np.empty(2 * BUFFER, np.int64))
    return result


def forward_slice(plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True) -> Slice:
    """The dynamic forward slice: all events that depend on one of ``criteria`` (references to events)."""
    result = _new_slice(columns)
    result.event_depth[criteria - 1] = 1
    buffer = np.empty(2 * BUFFER, np.int64)
    _forward(plan, columns, control, int(criteria.min()) - 1, result.event_depth, result.cell_depth, buffer)
    return result


def dependences(plan: Plan, columns: Columns, reference: int, control: bool = True) -> list[tuple[int, Edge]]:
    """What an event or cell depends on: references with the kinds of the edges."""
    buffer = np.empty(2 * BUFFER, np.int64)
    if reference > 0:
        count = gather_event(plan, columns, reference - 1, control, buffer)
    else:
        count = gather_cell(plan, columns, -reference - 1, buffer)
    pairs = buffer[: 2 * count].reshape(count, 2).tolist()
    return [(target, Edge(kind)) for target, kind in pairs]
