"""The pass over a recorded run that knows, for each pointer, the object that it was made for.

It goes through the records as decoding did, once, and notes where an access missed its object, or an undefined value
decided something (``objects.py``, ``origins.py``, ``library_calls.py``).

As long as no value of a frame is undefined, only the steps of its segments are done (``probe/steps.py``), nearly all of
them here: passing tables to functions costs more than the work on an access. From its first undefined value on, a frame
is *tainted*, and all of its events are done one by one (``any_event.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import ASSEMBLES, CALLS, ENTRY, OPAQUE, RETURNS, SAME_BLOCK, UNKNOWN, Plan
from whence.probe.pointers import Sources
from whence.probe.steps import Op, Source
from whence.trace.any_event import any_event
from whence.trace.columns import CHUNK_UNITS, N_SEGMENT, Columns
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT, SWITCH
from whence.trace.given import RECORD, given_born
from whence.trace.kernels import inlined, lean
from whence.trace.library_calls import allocator_called, library_effects, result_of
from whence.trace.memory import wide
from whence.trace.objects import (
    ANY_UNDEFINED,
    LAST_UNKNOWN,
    LOCAL,
    N_STATIC,
    STATIC,
    UNBORN,
    State,
    check_access,
    end_frame,
    enter,
    leave_to,
    locals_born,
    statics_born,
)
from whence.trace.origins import object_initially, object_loaded, undefined_since
from whence.trace.shadow import Int

KEEPS, LOADS, LOADS_INSIDE, STORES, LOADS_PRIVATE, RETURNED, OTHER = (int(op) for op in Op)
BY_SITE, BY_PARAMETER, BY_LOCAL, BY_STATIC = (
    int(s) for s in (Source.SITE, Source.PARAMETER, Source.LOCAL, Source.STATIC)
)


@lean
def follow(
    units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """Go through the records once, as ``decode`` did; returns how many segments were seen."""
    segment = np.int64(0)
    count = columns.counts[N_SEGMENT]
    segments, frames, statics = columns.segments, columns.frames, plan.segments
    places, stack, depths = sources.place_starts, state.stack, state.depth
    for chunk in chunks:
        thread = wide(units, chunk + 2)
        used = wide(units, chunk + 4)
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end and segment < count:
            header = np.int64(units[position])
            if header == 0:
                position += 1
                continue
            if header > IDENTITY:
                size = header & IDENTITY
                if header >> KIND_SHIFT == EFFECT:
                    if depths[thread] == 0 and units[position + 1] == 0:
                        statics_born(units, position, position + size, sources, state)
                    elif units[position + 1] == RECORD:
                        given_born(units, position, position + size, state)
                    elif state.waits[thread] >= 0:
                        waits = state.waits[thread]
                        library_effects(units, position, position + size, waits, plan, columns, sources, state)
                    position += size
                    continue
                if header >> KIND_SHIFT == SWITCH:
                    thread = size
                else:
                    depths[size] = 0
                    state.waits[size] = -1
                position += 1
                continue
            static = statics[header - 1]
            row = segments[segment]
            frame = row.frame
            # The frame.
            if static.flags & ENTRY:
                enter(segment, thread, plan, columns, sources, state)
                if sources.allocators[static.function].is_one:
                    allocator_called(units, segment, plan, columns, sources, state)
            else:
                depth = depths[thread]
                if depth == 0 or stack[thread, depth - 1] != frame:
                    leave_to(thread, frame, row.event, plan, sources, columns, state)
                if static.flags & OPAQUE and row.source <= 0 and row.previous >= 0:
                    state.counts[LAST_UNKNOWN] = row.event - 1
            state.last[frame] = segment
            if places[header] > places[header - 1]:
                locals_born(units, segment, columns, sources, state)
            # Its events.
            first, stop = static.site_start, statics[header].site_start
            if static.flags & ASSEMBLES:
                state.counts[LAST_UNKNOWN] = row.event + stop - first - 1
            undone = first if state.tainted[frame] else _steps(units, segment, plan, columns, sources, state)
            for site in range(undone, stop):
                if not any_event(units, row.event + site - first, site, segment, plan, columns, sources, state):
                    break  # what follows was not reached
            if static.flags & CALLS:
                state.waits[thread] = segment
                if static.flags & UNKNOWN:
                    state.counts[LAST_UNKNOWN] = row.event + stop - first - 1
            elif static.flags & RETURNS:
                state.waits[thread] = frames[frame].call
                end_frame(frame, row.event + stop - first - 1, sources, columns, state)
                if depths[thread]:
                    depths[thread] -= 1
            segment += 1
            position += static.units
    return segment


@inlined
def _object(
    kind: Int, target: Int, outer: Int, home: Int, delta: Int, segment: Int, columns: Columns, state: State
) -> Any:
    """The object of a pointer with this source."""
    number = np.int64(0)
    if kind == BY_SITE:
        at = np.int64(segment)
        if outer != SAME_BLOCK:
            at = np.int64(columns.outer[columns.segments[segment].outer + outer])
        while at >= 0 and columns.segments[at].id > home:
            at = np.int64(columns.segments[at].previous)
        if at >= 0 and columns.segments[at].id == home:
            number = np.int64(state.objects[columns.segments[at].event + delta])
    elif kind == BY_PARAMETER:
        frame = columns.segments[segment].frame
        if target < state.passed[frame]:
            number = np.int64(state.objects[state.arguments[frame] + target])
    elif kind == BY_LOCAL:
        local = np.int64(state.first[columns.segments[segment].frame])
        if local and state.table[local + target].base:
            latest = np.int64(state.table[local + target].latest)
            number = latest if latest else local + target
    elif kind == BY_STATIC and target < state.counts[N_STATIC]:
        number = np.int64(1 + target)
    return number


@inlined
def _steps(
    units: NDArray[np.uint32], segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """The steps of one segment; returns the first site that is left to be done, behind all where none is."""
    row = columns.segments[segment]
    stop = plan.segments[row.id + 1].site_start
    events, objects, table = columns.events, state.objects, state.table
    for k in range(sources.step_starts[row.id], sources.step_starts[row.id + 1]):
        step = sources.steps[k]
        op = step.op
        event = row.event + step.place
        if op == LOADS_PRIVATE:
            definition = events[event].definition
            if definition > 0:
                objects[event] = objects[definition - 1]
            elif state.first[row.frame]:
                return _taint(event, step.site, row.frame, event + 1, state)
            continue
        if op == RETURNED:
            if row.source > 0:
                objects[event] = objects[row.source - 1]
                since = state.undefined[row.source - 1] if state.counts[ANY_UNDEFINED] else 0
                if since:
                    return _taint(event, step.site, row.frame, since, state)
            elif plan.sites[step.site].units == 2:
                result_of(units, event, step.site, segment, plan, columns, sources, state)
            continue
        if op == OTHER:
            if not any_event(units, event, step.site, segment, plan, columns, sources, state):
                return stop
            if state.undefined[event]:
                return _taint(event, step.site, row.frame, state.undefined[event], state)
            continue
        number = _object(step.kind, step.target, step.outer, step.home, step.delta, segment, columns, state)
        if op == KEEPS:
            objects[event] = number
            continue
        # An access to memory.
        unit = row.word + step.unit
        address = wide(units, unit)
        if address == 0:  # it ended the run, or was not reached
            return stop
        made = table[number]
        if number and op != LOADS_INSIDE and made.kind != UNBORN and made.base:
            outside = address < made.base or address + step.size > made.base + made.size
            if outside or made.death or (made.scope >= 0 and step.kind != BY_LOCAL):
                writes = op == STORES
                check_access(event, step.site, -1, number, writes, address, step.size, plan, columns, sources, state)
        if op == STORES:
            if step.value:
                objects[event] = _object(
                    step.value,
                    step.value_target,
                    step.value_outer,
                    step.value_home,
                    step.value_delta,
                    segment,
                    columns,
                    state,
                )
            continue
        definition = np.int64(events[event].definition)
        born = np.int64(made.birth) if number and made.kind == LOCAL else np.int64(-1)
        if definition > 0:
            objects[event] = objects[definition - 1] if step.carries else 0
            stale = definition - 1 < born
            since = state.undefined[definition - 1] if state.counts[ANY_UNDEFINED] else 0
            if stale or since:
                return _taint(event, step.site, row.frame, event + 1 if stale else since, state)
        elif definition == 0:
            if step.carries and (made.kind >= STATIC or number == 0):
                objects[event] = object_initially(number, wide(units, unit + 2), sources, state)
            if born >= 0 and state.counts[LAST_UNKNOWN] < born:
                return _taint(event, step.site, row.frame, event + 1, state)
        else:
            if step.carries:
                objects[event] = object_loaded(definition, address, wide(units, unit + 2), plan, columns, units, state)
            since = undefined_since(event, definition, number, plan, columns, sources, state)
            if since:
                return _taint(event, step.site, row.frame, since, state)
    return stop


@lean
def _taint(event: Int, site: Int, frame: Int, since: Int, state: State) -> Int:
    """A frame's first undefined value; returns the site behind, from which on all of its events are done.

    ``since``: the event that read it first, + 1.
    """
    state.undefined[event] = since
    state.tainted[frame] = 1
    state.counts[ANY_UNDEFINED] = 1
    return site + 1
