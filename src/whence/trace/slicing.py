"""Dynamic slices: closures of the dependence graph, backward from a criterion or forward from it.

Dependences point back in time, so one pass over the events in order of time (forward), or against it (backward),
settles each event when it comes to it: whatever decides its depth has been settled before. That is a shortest-path
search in an acyclic graph, and it goes through memory in order, where a breadth-first search jumps about.
(Dynamic slicing as in Sahoo et al. 2013, section 4: data and control dependence of the actual run.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import PARAMETER, SAME_BLOCK, Plan
from whence.trace.columns import N_CELL, N_EVENT, N_SEGMENT, Columns
from whence.trace.dependence import (
    BUFFER,
    BYVAL,
    LOAD,
    PHI,
    RESULT,
    RMW,
    Edge,
    control_of,
    event_in_block,
    gather_cell,
    gather_event,
    put_parameter,
)
from whence.trace.kernels import inlined, lean
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import MAX_CELLS, Int

FEW = 64  # dependences; most nodes have fewer
EDGES = tuple(Edge)

AT_ONCE = 1 << 22  # events of a run that are looked at together


@dataclass(slots=True)
class Slice:
    """A slice: ``event_depth`` and ``cell_depth`` hold 0 outside it, and one more than the depth inside (int32).

    ``event_parent`` and ``cell_parent`` are references to the node through which each was reached first: following
    them leads by a shortest way to the criterion (0 there, and throughout in a forward slice). Of a part of a long run
    the slice holds the events from ``first`` to ``stop`` (-1: all).
    """

    event_depth: NDArray[np.int32]
    cell_depth: NDArray[np.int32]
    event_parent: NDArray[np.int32]
    cell_parent: NDArray[np.int32]
    first: int = 0
    stop: int = -1

    @property
    def events(self) -> NDArray[np.int64]:
        """Numbers of the events in the slice, ascending."""
        stop = len(self.event_depth) if self.stop < 0 else self.stop
        return np.flatnonzero(self.event_depth[self.first : stop]) + self.first

    def parts(self, size: int = AT_ONCE) -> Iterator[NDArray[np.int64]]:
        """The same, of so many of the run's events at a time: of a long slice all of them take much memory."""
        stop = len(self.event_depth) if self.stop < 0 else self.stop
        for start in range(self.first, stop, size):
            found = np.flatnonzero(self.event_depth[start : min(start + size, stop)])
            if len(found):
                yield found + start

    def depth_of(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """Depths of events that are in the slice."""
        return self.event_depth[events] - 1

    def way(self, event: int) -> Iterator[int]:
        """The events on a shortest way from ``event`` to the criterion, both included."""
        reference = event + 1
        while reference:
            if reference > 0:
                yield reference - 1
                reference = int(self.event_parent[reference - 1])
            else:
                reference = int(self.cell_parent[-reference - 1])


class Part(NamedTuple):
    """Which segment instances and cells of a trace are looked at: from the ``first`` ones, up to the ``stop`` ones."""

    first_segment: int
    stop_segment: int
    first_cell: int
    stop_cell: int


class Marks(NamedTuple):
    """The arrays of a ``Slice``, for kernels."""

    event_depth: NDArray[np.int32]
    cell_depth: NDArray[np.int32]
    event_parent: NDArray[np.int32]
    cell_parent: NDArray[np.int32]


def new_marks(events: int, cells: int) -> Marks:
    """Marks that say of no event or cell that it is in a slice."""
    return Marks(*(lazy_zeros(length, np.int32) for length in (events, cells, events, cells)))


@lean
def _date_cells(columns: Columns, first: Int, born: NDArray[np.int32]) -> None:
    """Write for each cell from ``first`` on an event: none that it depends on is later, all that depend on it are.

    Cells are made in order of time, but ``parent`` can be long past: what a call that called back left behind comes
    of the callbacks.
    """
    latest = np.int32(0)
    for cell in range(first, columns.counts[N_CELL]):
        latest = max(latest, columns.cells[cell].parent)
        definition = columns.cells[cell].definition
        latest = max(latest, np.int32(definition - 1))
        if definition < -MAX_CELLS:
            number = -definition - MAX_CELLS - 1
            for k in range(columns.multi_start[number], columns.multi_start[number + 1]):
                latest = max(latest, np.int32(columns.multi_reference[k] - 1))
        born[cell - first] = latest


def _dates(columns: Columns, first: int = 0) -> NDArray[np.int32]:
    born = np.empty(int(columns.counts[N_CELL]) - first, np.int32)
    _date_cells(columns, first, born)
    return born


@inlined
def _reach(marks: Marks, reference: Int, node: Int, depth: Int) -> None:
    """Note that ``reference`` can be reached from ``node`` in ``depth`` steps and one."""
    if reference > 0:
        old = marks.event_depth[reference - 1]
        if old == 0 or old > depth:
            marks.event_depth[reference - 1] = depth
            marks.event_parent[reference - 1] = node
    elif reference < 0:
        old = marks.cell_depth[-reference - 1]
        if old == 0 or old > depth:
            marks.cell_depth[-reference - 1] = depth
            marks.cell_parent[-reference - 1] = node


@inlined
def _reach_uses(
    plan: Plan,
    columns: Columns,
    marks: Marks,
    segment: Int,
    site: Int,
    node: Int,
    depth: Int,
    buffer: NDArray[np.int64],
) -> None:
    """Reach what the operands of a site come from; nearly always it is an event of the same segment."""
    row = columns.segments[segment]
    start = plan.segments[row.id].site_start
    for k in range(plan.sites[site].ref_start, plan.sites[site + 1].ref_start):
        outer, target = plan.refs[k].outer, plan.refs[k].target
        if outer == SAME_BLOCK and target >= start:
            _reach(marks, row.event + target - start + 1, node, depth)
        elif outer == PARAMETER:
            for n in range(put_parameter(plan, columns, buffer, 0, row.frame, target, 0)):
                _reach(marks, buffer[2 * n], node, depth)
        else:
            home = segment if outer == SAME_BLOCK else columns.outer[row.outer + outer]
            _reach(marks, event_in_block(plan, columns, home, target) + 1, node, depth)


@inlined
def _reach_definition(columns: Columns, marks: Marks, definition: Int, node: Int, depth: Int) -> None:
    """Reach what a load's bytes come from."""
    if definition >= -MAX_CELLS:
        _reach(marks, definition, node, depth)
    else:
        number = -definition - MAX_CELLS - 1
        for k in range(columns.multi_start[number], columns.multi_start[number + 1]):
            _reach(marks, columns.multi_reference[k], node, depth)


@lean
def _backward(
    plan: Plan,
    columns: Columns,
    control: bool,
    earliest: Int,
    part: Part,
    born: NDArray[np.int32],
    marks: Marks,
    buffer: NDArray[np.int64],
) -> None:
    """Settle events and cells of a ``part`` against the order of time, and note what each in the slice depends on.

    Segments that begin before the event ``earliest`` are not looked at. ``born`` dates the cells of the part.

    What the usual kinds of event depend on is found in functions that become part of the kernel: to call
    ``gather_event``, which says the same, takes longer than to do it.
    """
    cell = np.int64(part.stop_cell)
    for segment in range(part.stop_segment - 1, part.first_segment - 1, -1):
        first = columns.segments[segment].event
        if first < earliest:
            return
        identity = columns.segments[segment].id
        start = plan.segments[identity].site_start
        stop = first + plan.segments[identity + 1].site_start - start
        nearest: Int = np.int64(0)
        least: Int = np.int32(0)
        for event in range(stop - 1, first - 1, -1):
            while cell > part.first_cell and born[cell - 1 - part.first_cell] >= event:
                cell -= 1
                if marks.cell_depth[cell]:
                    for k in range(gather_cell(plan, columns, cell, buffer)):
                        _reach(marks, buffer[2 * k], -(cell + 1), marks.cell_depth[cell] + 1)
            depth = marks.event_depth[event]
            if depth == 0:
                continue
            site = start + event - first
            kind = plan.sites[site].kind
            if kind == BYVAL:
                continue
            if least == 0 or depth < least:
                nearest, least = event + 1, depth
            if kind in (PHI, RESULT):
                for k in range(gather_event(plan, columns, event, control, buffer)):
                    _reach(marks, buffer[2 * k], event + 1, depth + 1)
            else:
                _reach_uses(plan, columns, marks, segment, site, event + 1, depth + 1, buffer)
                if kind in (LOAD, RMW):
                    _reach_definition(columns, marks, columns.events[event].definition, event + 1, depth + 1)
        if control and least:  # all events of a segment have it in common
            _reach(marks, control_of(plan, columns, segment), nearest, least + 1)
    while cell > part.first_cell:  # what a call of an earlier part left behind
        cell -= 1
        if marks.cell_depth[cell]:
            for k in range(gather_cell(plan, columns, cell, buffer)):
                _reach(marks, buffer[2 * k], -(cell + 1), marks.cell_depth[cell] + 1)


@lean
def _forward(
    plan: Plan,
    columns: Columns,
    control: bool,
    first: Int,
    born: NDArray[np.int32],
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
        while cell < cells and born[cell] <= event:
            if cell_depth[cell] == 0:
                count = gather_cell(plan, columns, cell, buffer)
                cell_depth[cell] = _least(buffer, count, event_depth, cell_depth)
            cell += 1


@lean
def _least(buffer: NDArray[np.int64], count: Int, event_depth: NDArray[np.int32], cell_depth: NDArray[np.int32]) -> Int:
    """One more than the least depth among the dependences, 0 when none is in the slice."""
    least = np.int64(0)
    for k in range(count):
        reference = buffer[2 * k]
        depth = np.int64(event_depth[reference - 1] if reference > 0 else cell_depth[-reference - 1])
        if depth and (least == 0 or depth + 1 < least):
            least = depth + 1
    return least


def backward_slice(
    plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True, earliest: int = 0
) -> Slice:
    """The dynamic backward slice from ``criteria`` (references), over data dependence alone without ``control``.

    Of segments that begin before the event ``earliest`` only those events are in it on which later ones depend at once.
    """
    marks = new_marks(int(columns.counts[N_EVENT]), int(columns.counts[N_CELL]))
    marks.event_depth[criteria[criteria > 0] - 1] = 1
    marks.cell_depth[-criteria[criteria < 0] - 1] = 1
    whole = Part(0, int(columns.counts[N_SEGMENT]), 0, int(columns.counts[N_CELL]))
    settle(plan, columns, whole, control, marks, earliest)
    return Slice(*marks)


def settle(plan: Plan, columns: Columns, part: Part, control: bool, marks: Marks, earliest: int = 0) -> None:
    """Put into ``marks`` what the marked events and cells of a part of a trace depend on, and so on backward.

    All that the trace has behind the part must have been settled before.
    """
    born = _dates(columns, part.first_cell)
    _backward(plan, columns, control, earliest, part, born, marks, np.empty(2 * BUFFER, np.int64))


def forward_slice(plan: Plan, columns: Columns, criteria: NDArray[np.int64], control: bool = True) -> Slice:
    """The dynamic forward slice: all events that depend on one of ``criteria`` (references to events)."""
    marks = new_marks(int(columns.counts[N_EVENT]), int(columns.counts[N_CELL]))
    marks.event_depth[criteria - 1] = 1
    first, buffer = int(criteria.min()) - 1, np.empty(2 * BUFFER, np.int64)
    _forward(plan, columns, control, first, _dates(columns), marks.event_depth, marks.cell_depth, buffer)
    return Slice(*marks)


def dependences(plan: Plan, columns: Columns, reference: int, control: bool = True) -> list[tuple[int, Edge]]:
    """What an event or cell depends on: references with the kinds of the edges."""
    for room in (FEW, BUFFER):  # to make a large buffer takes longer than to fill a small one twice
        buffer = np.empty(2 * room, np.int64)
        if reference > 0:
            count = gather_event(plan, columns, reference - 1, control, buffer)
        else:
            count = gather_cell(plan, columns, -reference - 1, buffer)
        if count < room:
            break
    pairs = buffer[: 2 * count].reshape(count, 2).tolist()
    return [(target, EDGES[kind]) for target, kind in pairs]
