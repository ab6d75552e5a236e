"""What an event or cell depends on: the edges of the dynamic dependence graph, computed on demand from the columns.

``gather`` writes a node's dependences into a buffer as references with their kinds. Nothing is stored for edges
within a block, which are static, or for control, which a segment has once: that keeps a trace's graph at a few bytes
an event.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import PARAMETER, SAME_BLOCK, Plan
from whence.trace.columns import CellKind, Columns, FrameKind
from whence.trace.kernels import lean
from whence.trace.shadow import MAX_CELLS, Int

BUFFER = 1 << 16  # dependences of one node that are looked at; a node with more is cut off there


class Edge(IntEnum):
    """Kinds of dependence; the first two are ``layout.Role``."""

    VALUE = 0
    ADDRESS = 1
    MEMORY = 2  # a load from what wrote its bytes
    CONTROL = 3
    CALL = 4  # a frame's events from the call that entered it
    LIBRARY = 5  # what a library call made, from the call's arguments


MEMORY, CONTROL, CALL_EDGE, LIBRARY = int(Edge.MEMORY), int(Edge.CONTROL), int(Edge.CALL), int(Edge.LIBRARY)
LOAD, RMW, BYVAL, CALL, RESULT, PHI, BRANCH, RET = (
    int(k) for k in (Kind.LOAD, Kind.RMW, Kind.BYVAL, Kind.CALL, Kind.RESULT, Kind.PHI, Kind.BRANCH, Kind.RET)
)
DIRECT, CALLBACK, THREAD = int(FrameKind.DIRECT), int(FrameKind.CALLBACK), int(FrameKind.THREAD)
CELL_SET, CELL_BYVAL, CELL_VARIADIC = int(CellKind.SET), int(CellKind.BYVAL), int(CellKind.VARIADIC)


@lean
def site_of(plan: Plan, columns: Columns, event: Int) -> Int:
    """The static site of an event."""
    segment = columns.events[event].segment
    first = plan.segments[columns.segments[segment].id].site_start
    return first + event - columns.segments[segment].event


@lean
def last_event(plan: Plan, columns: Columns, segment: Int) -> Int:
    """The last event of a segment instance."""
    identity = columns.segments[segment].id
    sites = plan.segments[identity + 1].site_start - plan.segments[identity].site_start
    return columns.segments[segment].event + sites - 1


@lean
def _put(buffer: NDArray[np.int64], count: Int, reference: Int, kind: Int) -> Int:
    """Append one dependence; returns the new count."""
    if reference == 0 or count >= len(buffer) // 2:
        return count
    buffer[2 * count] = reference
    buffer[2 * count + 1] = kind
    return count + 1


@lean
def _put_definition(columns: Columns, buffer: NDArray[np.int64], count: Int, definition: Int, kind: Int) -> Int:
    """Append a definition: nothing, one reference, or a list of them."""
    if definition >= -MAX_CELLS:
        return _put(buffer, count, definition, kind)
    number = -definition - MAX_CELLS - 1
    for k in range(columns.multi_start[number], columns.multi_start[number + 1]):
        count = _put(buffer, count, columns.multi_reference[k], kind)
    return count


@lean
def event_in_block(plan: Plan, columns: Columns, segment: Int, site: Int) -> Int:
    """The event of a site in the block instance that the segment belongs to, at or before the segment; -1: none."""
    home = plan.sites[site].segment
    while segment >= 0 and columns.segments[segment].id > home:
        segment = columns.segments[segment].previous
    if segment < 0 or columns.segments[segment].id != home:
        return -1
    return columns.segments[segment].event + site - plan.segments[home].site_start


@lean
def _put_arguments(
    plan: Plan, columns: Columns, buffer: NDArray[np.int64], count: Int, call: Int, first: Int, kind: Int
) -> Int:
    """Append the arguments of a call event from number ``first`` on."""
    arguments = plan.sites[site_of(plan, columns, call)].aux
    for k in range(first, arguments):
        count = _put(buffer, count, call - arguments + k + 1, kind)
    return count


@lean
def put_parameter(
    plan: Plan, columns: Columns, buffer: NDArray[np.int64], count: Int, frame: Int, number: Int, kind: Int
) -> Int:
    """Append what a parameter comes from: the argument; all arguments of a library call that called back; the last
    argument of the call that started the thread.
    """
    call_segment = columns.frames[frame].call
    kind_of_frame = columns.frames[frame].kind
    if call_segment < 0 or (kind_of_frame > CALLBACK and kind_of_frame != THREAD):
        return count
    call = last_event(plan, columns, call_segment)
    arguments = plan.sites[site_of(plan, columns, call)].aux
    if kind_of_frame == CALLBACK:
        return _put_arguments(plan, columns, buffer, count, call, 0, kind)
    if kind_of_frame == THREAD:
        return _put_arguments(plan, columns, buffer, count, call, arguments - 1, kind)
    if number >= arguments:
        return count
    return _put(buffer, count, call - arguments + number + 1, kind)


@lean
def _put_uses(plan: Plan, columns: Columns, buffer: NDArray[np.int64], count: Int, site: Int, segment: Int) -> Int:
    """Append what the site's operands come from: sites of the block, of other blocks, parameters."""
    kind = plan.sites[site].kind
    pred_block = -1
    if kind == PHI:
        pred = columns.segments[segment].pred
        pred_block = plan.segments[columns.segments[pred].id].block if pred >= 0 else -2
    for k in range(plan.sites[site].ref_start, plan.sites[site + 1].ref_start):
        outer, target, role = plan.refs[k].outer, plan.refs[k].target, plan.refs[k].role
        if kind == PHI and plan.refs[k].pred != pred_block:
            continue
        if outer == PARAMETER:
            count = put_parameter(plan, columns, buffer, count, columns.segments[segment].frame, target, role)
            continue
        home = segment if outer == SAME_BLOCK else columns.outer[columns.segments[segment].outer + outer]
        event = event_in_block(plan, columns, home, target)
        count = _put(buffer, count, event + 1, role)
    return count


@lean
def _put_result(plan: Plan, columns: Columns, buffer: NDArray[np.int64], count: Int, segment: Int) -> Int:
    """Append what a call's result comes from: the callee's return, or the library's effects and the arguments."""
    previous = columns.segments[segment].previous
    if previous < 0:
        return count
    source = columns.segments[segment].source
    call = last_event(plan, columns, previous)
    count = _put(buffer, count, source, LIBRARY if source < 0 else 0)
    if source > 0:
        frame = columns.segments[columns.events[source - 1].segment].frame
        if columns.frames[frame].kind == DIRECT:
            if plan.sites[site_of(plan, columns, call)].callee == -1:
                count = _put(buffer, count, call + 1, CALL_EDGE)
            return count
    return _put_arguments(plan, columns, buffer, count, call, 0, LIBRARY)


@lean
def control_of(plan: Plan, columns: Columns, segment: Int) -> Int:
    """Reference to the branch, or the call, that let the segment's block execute; 0: none."""
    control = columns.segments[segment].control
    if control >= 0:
        return last_event(plan, columns, control) + 1
    call = columns.frames[columns.segments[segment].frame].call
    return last_event(plan, columns, call) + 1 if call >= 0 else 0


@lean
def _put_phi_control(plan: Plan, columns: Columns, buffer: NDArray[np.int64], count: Int, segment: Int) -> Int:
    """Append what chose a phi's predecessor: its branch, or what let it execute."""
    pred = columns.segments[segment].pred
    if pred < 0:
        return count
    last = last_event(plan, columns, pred)
    if last >= columns.segments[pred].event and plan.sites[site_of(plan, columns, last)].kind == BRANCH:
        return _put(buffer, count, last + 1, CONTROL)
    return _put(buffer, count, control_of(plan, columns, pred), CONTROL)


@lean
def gather_event(plan: Plan, columns: Columns, event: Int, control: bool, buffer: NDArray[np.int64]) -> Int:
    """Write an event's dependences into ``buffer`` as pairs (reference, ``Edge``); returns how many."""
    segment = columns.events[event].segment
    site = site_of(plan, columns, event)
    kind = plan.sites[site].kind
    if kind == BYVAL:  # says where a copy lies; what it holds comes from the argument
        return 0
    count = _put_uses(plan, columns, buffer, 0, site, segment)
    if kind in (LOAD, RMW):
        count = _put_definition(columns, buffer, count, columns.events[event].definition, MEMORY)
    elif kind == RESULT:
        count = _put_result(plan, columns, buffer, count, segment)
    if control:
        if kind == PHI:
            count = _put_phi_control(plan, columns, buffer, count, segment)
        reference = control_of(plan, columns, segment)
        count = _put(buffer, count, reference, CONTROL if columns.segments[segment].control >= 0 else CALL_EDGE)
    return count


@lean
def gather_cell(plan: Plan, columns: Columns, cell: Int, buffer: NDArray[np.int64]) -> Int:
    """Write a cell's dependences into ``buffer``: what defined it, and the event that made it.

    What a library call made depends on all arguments of the call; a copy depends on where its addresses and length
    come from.
    """
    kind = columns.cells[cell].kind
    parent = columns.cells[cell].parent
    count = _put_definition(columns, buffer, 0, columns.cells[cell].definition, MEMORY)
    if plan.sites[site_of(plan, columns, parent)].kind != CALL:
        return _put(buffer, count, parent + 1, LIBRARY) if kind != CELL_SET else count
    count = _put_arguments(plan, columns, buffer, count, parent, 0, LIBRARY)
    return _put(buffer, count, parent + 1, LIBRARY)
