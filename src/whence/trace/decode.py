"""From the units of a trace to tables: frames, control dependence and memory dependence in one pass.

Each thread has a stack of frames; records tell whose records follow. A frame knows the last segment that each block of
its function executed, which answers both questions that are left to run time: which branch instance controls a block
(the latest among the static candidates), and which instance of another block made a value. It also knows the last store
to each of its private locals.

The kernel ``decode`` does what nearly every record needs by itself; the rest is called. (Passing tables to functions
costs more than the work on a plain load or store.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import CONDITIONAL, WAY_BITS, Kind, Way
from whence.probe.plan import ADDRESS, CALLS, ENTRY, FIRST, FRAME, OPAQUE, RETURNS, UNKNOWN, Plan
from whence.trace.columns import (
    CHUNK_UNITS,
    N_EVENT,
    N_FRAME,
    N_MULTI_REFERENCE,
    N_OUTER,
    N_SEGMENT,
    CellKind,
    Columns,
    FrameKind,
)
from whence.trace.effects import STATE_BASE, apply_effects, check_effects
from whence.trace.kernels import inlined, lean
from whence.trace.lazy import lazy_zeros
from whence.trace.memory import (
    append_reference,
    close_list,
    copy,
    doubt,
    load,
    most_used,
    new_cell,
    store,
    wide,
    writers_of,
)
from whence.trace.shadow import CACHE, PAGE, Int, Shadow, fill

CHUNK_HEADER_UNITS = 8
DEPTH = 1 << 24  # frames on one thread's stack
POOL = 1 << 28  # blocks and private locals of all frames on one thread's stack

DIRECT, CALLBACK, ROOT, SIGNAL, THREAD = (int(k) for k in FrameKind)
LOAD, STORE, RMW, COPY, SET, VASTART, BYVAL = (
    int(k) for k in (Kind.LOAD, Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET, Kind.VASTART, Kind.BYVAL)
)
CELL_COPY, CELL_SET, CELL_VARIADIC, CELL_BYVAL, CELL_CALL = (
    int(k) for k in (CellKind.COPY, CellKind.SET, CellKind.VARIADIC, CellKind.BYVAL, CellKind.CALL)
)
GENERAL_AREA, REGISTER_AREA = 48, 176  # bytes of the general, and of all registers in a variadic function's save area
GENERAL, VECTOR, BY_COPY, WAY_MASK = int(Way.GENERAL), int(Way.VECTOR), int(Way.COPY), (1 << WAY_BITS) - 1
KIND_SHIFT, IDENTITY, EFFECT, SWITCH = 30, (1 << 30) - 1, 1, 2
THREAD_STATE = 4096  # as in probe/runtime/library/library.h

ACTIVE = np.dtype(
    [
        ("frame", np.int32),
        ("function", np.int32),
        ("last", np.int32),  # its last segment instance, -1
        ("source", np.int32),  # reference to what the result of the call it waits for comes from
        ("place", np.int64),  # where its blocks and locals begin in the pool
        ("address", np.int64),  # of its stack frame, where recorded
    ]
)


class Stacks(NamedTuple):
    """The threads' stacks: ``depth`` of each, ``active`` frames (ACTIVE records, a row a thread), and the ``pool``.

    The pool holds, for each active frame, last segment + 1 of each block, then event + 1 of each private local's last
    store. ``unknown[0]`` is the last call event without a summary, -1. ``starter`` is, for each thread that has not
    begun, 1 + the segment of the call that started it.
    """

    depth: NDArray[np.int64]
    active: Any
    pool: NDArray[np.int32]
    unknown: NDArray[np.int64]
    starter: NDArray[np.int64]


def new_stacks(threads: int) -> Stacks:
    """Empty stacks for that many threads."""
    return Stacks(
        np.zeros(threads, np.int64),
        lazy_zeros(threads * DEPTH, ACTIVE).reshape(threads, DEPTH),
        lazy_zeros(threads * POOL, np.int32).reshape(threads, POOL),
        np.full(1, -1, np.int64),
        np.zeros(threads, np.int64),
    )


@inlined
def _begin(
    units: NDArray[np.uint32],
    position: Int,
    identity: Int,
    segment: Int,
    event: Int,
    top: Any,
    pool: NDArray[np.int32],
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    stacks: Stacks,
) -> None:
    """A segment instance begins: its row, what controls it, and the blocks that its values come from."""
    static, after = plan.segments[identity], plan.segments[identity + 1]
    segments, flags, block, place = columns.segments, static.flags, static.block, top.place
    first_block = plan.functions[static.function].block_start
    columns.counts[N_SEGMENT] = segment + 1
    last = top.last
    row = segments[segment]
    row.id = identity
    row.frame = top.frame
    row.word = position
    row.event = event
    if flags & FIRST:
        control = 0
        for k in range(plan.blocks[block].control_start, plan.blocks[block + 1].control_start):
            control = max(control, pool[place + plan.controls[k].block - first_block])
        row.previous = -1
        row.pred = last
        row.control = control - 1
    else:
        row.previous = last
        row.pred = -1
        row.control = segments[last].control if last >= 0 else -1
        row.source = top.source
        if flags & OPAQUE and top.source <= 0 and last >= 0:
            stacks.unknown[0] = _unknown_call(units, last, plan, columns, shadow)
    outer = columns.counts[N_OUTER]
    row.outer = outer
    for k in range(static.outer_start, after.outer_start):
        columns.outer[outer] = pool[place + plan.outers[k].block - first_block] - 1
        outer += 1
    columns.counts[N_OUTER] = outer
    pool[place + block - first_block] = segment + 1
    top.last = segment


@inlined
def _accesses(
    units: NDArray[np.uint32],
    position: Int,
    identity: Int,
    segment: Int,
    event: Int,
    slots: Int,
    pool: NDArray[np.int32],
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    stacks: Stacks,
) -> None:
    """What a segment instance read and wrote; plain loads and stores of cached pages are done here."""
    events, accesses = columns.events, plan.accesses
    cache_keys, cache_places = shadow.cache_keys, shadow.cache_places
    writers, contents = shadow.writer, shadow.content
    for k in range(plan.segments[identity].access_start, plan.segments[identity + 1].access_start):
        access = accesses[k]
        number = event + access.site
        kind = access.kind
        if access.slot >= 0 and kind <= STORE:
            if kind == LOAD:
                events[number].definition = pool[slots + access.slot]
            else:
                pool[slots + access.slot] = number + 1
            continue
        unit = position + access.unit
        address = wide(units, unit)
        if address == 0:  # never reached
            continue
        size = np.int64(access.size)
        offset = address & (PAGE - 1)
        page = address >> 12
        cached = page & (CACHE - 1)
        if kind <= STORE and size <= 8 and offset + size <= PAGE and cache_keys[cached] == page + 1:
            value = np.int64(units[unit + 2])
            if access.units > 3:
                value |= np.int64(units[unit + 3]) << 32
            base = cache_places[cached] + offset
            if kind == STORE and access.units > 2:
                for b in range(size):
                    writers[base + b] = number + 1
                    contents[base + b] = (value >> (8 * b)) & 255
                continue
            writer = writers[base]
            plain = kind == LOAD and access.units > 2
            for b in range(size):
                same = contents[base + b] == (value >> (8 * b)) & 255
                plain = plain and writers[base + b] == writer and (writer <= 0 or same)
            if plain:
                events[number].definition = writer
                continue
        _access(units, unit, k, number, segment, plan, columns, shadow, stacks.unknown[0])


@lean
def decode(
    units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan, columns: Columns, shadow: Shadow, stacks: Stacks
) -> Int:
    """Decode chunks, whose first units are at ``chunks`` in order of time.

    Returns how many records were read, or -1 - the unit at which there is none that this program could have written.
    """
    plan_segments, functions = plan.segments, plan.functions
    counts, segments, events, frames = columns.counts, columns.segments, columns.events, columns.frames
    depths, all_active, all_pool = stacks.depth, stacks.active, stacks.pool
    records = 0
    last_segment = len(plan_segments) - 2
    for chunk in chunks:
        thread = wide(units, chunk + 2)
        used = wide(units, chunk + 4)
        if not 0 <= thread < len(depths) or not 0 <= used <= most_used(chunk):
            return -1 - chunk
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        active, pool = all_active[thread], all_pool[thread]
        while position < end:
            header = np.int64(units[position])
            if header == 0:  # claimed by code that a signal handler did not return to; or the rest of a chunk
                position += 1
                continue
            records += 1
            if header > IDENTITY:
                size = header & IDENTITY
                if header >> KIND_SHIFT != EFFECT:
                    if size >= len(depths):
                        return -1 - position
                    if header >> KIND_SHIFT == SWITCH:
                        thread = size
                        active, pool = all_active[thread], all_pool[thread]
                    else:
                        _start(thread, size, stacks)
                    position += 1
                    continue
                if size < 2 or position + size > end:
                    return -1 - position
                if depths[thread] and not _effect(
                    units, position, position + size, active[depths[thread] - 1], plan, columns, shadow
                ):
                    return -1 - position
                position += size
                continue
            identity = header - 1
            if identity > last_segment or position + plan_segments[identity].units > end:
                return -1 - position
            static = plan_segments[identity]
            flags, function = static.flags, static.function
            # The frame.
            depth = depths[thread]
            if flags & ENTRY:
                _enter(units, position, thread, flags, function, plan, columns, stacks)
            elif (
                depth == 0
                or flags & FRAME
                or active[depth - 1].function != function
                or (not flags & FIRST and segments[active[depth - 1].last].id + 1 != identity)
            ):
                _find_frame(units, position, thread, identity, plan, columns, stacks)
            top = active[depths[thread] - 1]
            segment, event = counts[N_SEGMENT], counts[N_EVENT]
            _begin(units, position, identity, segment, event, top, pool, plan, columns, shadow, stacks)
            stop = event + plan.segments[identity + 1].site_start - static.site_start
            for k in range(event, stop):
                events[k].segment = segment
            counts[N_EVENT] = stop
            slots = top.place + functions[function + 1].block_start - functions[function].block_start
            _accesses(units, position, identity, segment, event, slots, pool, plan, columns, shadow, stacks)
            if flags & CALLS:
                top.source = 0
                if flags & UNKNOWN:
                    stacks.unknown[0] = stop - 1
            elif flags & RETURNS:
                depth = depths[thread] - 1
                if depth and frames[top.frame].kind == DIRECT:
                    depths[thread] = depth
                    active[depth - 1].source = stop  # the reference to its last event, the return
                else:
                    _leave(thread, stop - 1, plan, columns, shadow, stacks)
            position += static.units
    return records


@lean
def _last_event(plan: Plan, columns: Columns, segment: Int) -> Int:
    """The last event of a segment instance: its call, branch or return."""
    row = columns.segments[segment]
    sites = plan.segments[row.id + 1].site_start - plan.segments[row.id].site_start
    return row.event + sites - 1


@lean
def _effect(
    units: NDArray[np.uint32], start: Int, end: Int, top: Any, plan: Plan, columns: Columns, shadow: Shadow
) -> bool:
    """An effect record belongs to the call that the thread's top frame waits for; False: it holds nonsense."""
    if not check_effects(units, start, end):
        return False
    if top.last >= 0 and plan.segments[columns.segments[top.last].id].flags & CALLS:
        call = _last_event(plan, columns, top.last)
        top.source = apply_effects(columns, shadow, units, start, end, call, top.source)
    return True


@lean
def _unknown_call(units: NDArray[np.uint32], segment: Int, plan: Plan, columns: Columns, shadow: Shadow) -> Int:
    """The call that ends a segment called a function without a summary; returns its event.

    What it was given pointers to may have changed. Bytes that a recorded store wrote tell by their value when they are
    loaded, others do not.
    """
    row = columns.segments[segment]
    call = _last_event(plan, columns, segment)
    last = plan.segments[row.id + 1].site_start - 1
    for site in range(last - plan.sites[last].aux, last):
        if plan.sites[site].units == 2:
            doubt(columns, shadow, wide(units, row.word + plan.sites[site].unit), call)
    return call


@lean
def _start(thread: Int, started: Int, stacks: Stacks) -> None:
    """The call that ``thread`` waits for started another thread; its number may have been another one's before."""
    depth = stacks.depth[thread]
    stacks.depth[started] = 0
    stacks.starter[started] = stacks.active[thread, depth - 1].last + 1 if depth else 0


@lean
def _enter(
    units: NDArray[np.uint32],
    position: Int,
    thread: Int,
    flags: Int,
    function: Int,
    plan: Plan,
    columns: Columns,
    stacks: Stacks,
) -> None:
    """Push a frame; the frame below tells by its last segment how it was entered."""
    unit = position + 1
    target = np.int64(0)
    if flags & ADDRESS:
        target = wide(units, unit)
        unit += 2
    address = wide(units, unit) if flags & FRAME else np.int64(0)
    depth = stacks.depth[thread]
    call, kind = np.int64(-1), ROOT
    if depth:
        call = np.int64(stacks.active[thread, depth - 1].last)
        kind = _entry_kind(units, call, function, target, plan, columns)
    elif stacks.starter[thread]:
        call, kind = np.int64(stacks.starter[thread]) - 1, THREAD
        stacks.starter[thread] = 0
    _push(thread, function, call, kind, address, plan, columns, stacks)


@lean
def _entry_kind(units: NDArray[np.uint32], call: Int, function: Int, target: Int, plan: Plan, columns: Columns) -> Int:
    """How ``function`` was entered while the segment ``call`` was the last one of the frame below."""
    row = columns.segments[call]
    if not plan.segments[row.id].flags & CALLS:
        return SIGNAL
    site = plan.sites[plan.segments[row.id + 1].site_start - 1]
    if site.callee >= 0:
        return DIRECT if site.callee == function else SIGNAL
    if site.unit == 0:
        return CALLBACK
    pointer = wide(units, row.word + site.unit)
    return DIRECT if target == 0 or target == pointer else CALLBACK


@lean
def _push(
    thread: Int, function: Int, call: Int, kind: Int, address: Int, plan: Plan, columns: Columns, stacks: Stacks
) -> None:
    """A new frame on top of the thread's stack."""
    depth = stacks.depth[thread]
    frame = columns.counts[N_FRAME]
    columns.counts[N_FRAME] = frame + 1
    columns.frames[frame].function = function
    columns.frames[frame].call = call
    columns.frames[frame].kind = kind
    static = plan.functions[function]
    size = plan.functions[function + 1].block_start - static.block_start + static.slots
    top = stacks.active[thread, depth]
    pool = stacks.pool[thread]
    for k in range(top.place, top.place + size):
        pool[k] = 0
    stacks.active[thread, depth + 1].place = top.place + size
    top.frame = frame
    top.function = function
    top.last = -1
    top.source = 0
    top.address = address
    stacks.depth[thread] = depth + 1


@lean
def _leave(thread: Int, returned: Int, plan: Plan, columns: Columns, shadow: Shadow, stacks: Stacks) -> None:
    """Pop a frame that nothing recorded called; who joins its thread may take the result, or who called it back.

    What a library function makes comes of all that its callbacks returned.
    """
    depth = stacks.depth[thread] - 1
    stacks.depth[thread] = depth
    if depth == 0:
        fill(shadow, STATE_BASE | (THREAD_STATE + thread) << 3, 8, returned + 1)
        return
    below = stacks.active[thread, depth - 1]
    if columns.frames[stacks.active[thread, depth].frame].kind == CALLBACK:
        start = columns.counts[N_MULTI_REFERENCE]
        append_reference(columns, start, returned + 1)
        append_reference(columns, start, below.source)
        call = _last_event(plan, columns, below.last)
        below.source = new_cell(columns, CELL_CALL, call, close_list(columns, start), 0, 0)


@lean
def _find_frame(
    units: NDArray[np.uint32],
    position: Int,
    thread: Int,
    identity: Int,
    plan: Plan,
    columns: Columns,
    stacks: Stacks,
) -> None:
    """Make the frame that a segment belongs to the top one: longjmp leaves frames, a ring starts amid them."""
    static = plan.segments[identity]
    address = wide(units, position + 1) if static.flags & FRAME else np.int64(0)
    depth = stacks.depth[thread]
    top = stacks.active[thread, depth - 1].last if depth else -1
    while depth:
        active = stacks.active[thread, depth - 1]
        same = active.function == static.function
        if static.flags & FRAME:
            same = same and active.address == address
        elif not static.flags & FIRST:
            same = same and active.last >= 0 and columns.segments[active.last].id + 1 == identity
        if same:
            break
        depth -= 1
    stacks.depth[thread] = depth
    if depth == 0:
        _push(thread, static.function, -1, ROOT, address, plan, columns, stacks)
    elif static.flags & FRAME and top >= 0 and columns.segments[top].id + 1 != identity:
        _jumped_back(thread, top, identity, plan, columns, stacks)


@lean
def _jumped_back(thread: Int, top: Int, identity: Int, plan: Plan, columns: Columns, stacks: Stacks) -> None:
    """A longjmp, the call that ends the segment ``top``, made setjmp return once more: its arguments are the result."""
    active = stacks.active[thread, stacks.depth[thread] - 1]
    block = plan.segments[identity].block - plan.functions[active.function].block_start
    segment = stacks.pool[thread, active.place + block] - 1
    while segment >= 0 and columns.segments[segment].id + 1 != identity:
        segment = columns.segments[segment].previous
    active.last = segment
    active.source = 0
    if plan.segments[columns.segments[top].id].flags & CALLS:
        active.source = new_cell(columns, CELL_CALL, _last_event(plan, columns, top), 0, 0, 0)


@lean
def _access(
    units: NDArray[np.uint32],
    unit: Int,
    number: Int,
    event: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    unknown: Int,
) -> None:
    """One access to memory, whatever its kind."""
    access = plan.accesses[number]
    kind, size, has = access.kind, access.size, access.units - 2
    stores = kind == RMW
    if kind == RMW and access.slot == CONDITIONAL:
        has -= 1
        stores = units[unit + 2 + has] != 0
    address = wide(units, unit)
    low = np.int64(units[unit + 2]) if has == 1 else wide(units, unit + 2)
    if kind in (LOAD, RMW):
        if has:
            columns.events[event].definition = load(columns, shadow, address, size, low, unknown)
        else:
            columns.events[event].definition = writers_of(columns, shadow, address, size)
        if stores:
            fill(shadow, address, size, new_cell(columns, CELL_SET, event, event + 1, address, size))
    elif kind == STORE:
        high = wide(units, unit + 4) if has == 4 else np.int64(0)
        store(columns, shadow, address, size, low, high, has > 0, event)
    elif kind == COPY:
        copy(columns, shadow, address, low, wide(units, unit + 4), CELL_COPY, event)
    elif kind == SET:
        length = wide(units, unit + 4)
        fill(shadow, address, length, new_cell(columns, CELL_SET, event, event + 1, address, length))
    elif kind == VASTART:
        _variadic(units, unit, event, segment, plan, columns, shadow)
    elif kind == BYVAL:
        _by_value(units, address, number, segment, plan, columns, shadow)


@lean
def _variadic(
    units: NDArray[np.uint32], unit: Int, event: Int, segment: Int, plan: Plan, columns: Columns, shadow: Shadow
) -> None:
    """va_start: the list is new, and the places where va_arg will look hold the call's variadic arguments.

    (System V ABI, x86-64, section 3.5.7: the list holds the offsets of the next general and vector register in the
    save area, the next argument on the stack, and the save area.)
    """
    address, offsets = wide(units, unit), wide(units, unit + 2)
    stacked, saved = wide(units, unit + 4), wide(units, unit + 6)
    fill(shadow, address, 24, new_cell(columns, CELL_SET, event, event + 1, address, 24))
    frame = columns.frames[columns.segments[segment].frame]
    if frame.kind != DIRECT or frame.call < 0:
        return
    call = columns.segments[frame.call]
    last = plan.segments[call.id + 1].site_start - 1
    count = plan.sites[last].aux
    passed = _last_event(plan, columns, frame.call) - count  # the event of the first argument
    general, vector = offsets & 0xFFFFFFFF, offsets >> 32
    for k in range(plan.functions[frame.function].parameters, count):
        site = plan.sites[last - count + k]
        way, size = site.size & WAY_MASK, site.size >> WAY_BITS
        aligned = (size + 7) & -8
        if way == GENERAL and general + aligned <= GENERAL_AREA:
            place = saved + general
            general += aligned
        elif way == VECTOR and vector + 16 <= REGISTER_AREA:
            place = saved + vector
            vector += 16
        else:
            if aligned == 16 and way != BY_COPY:
                stacked = (stacked + 15) & -16
            place = stacked
            stacked += aligned
        if way == BY_COPY:
            copy(columns, shadow, place, wide(units, call.word + site.unit), size, CELL_BYVAL, passed + k)
        else:
            fill(shadow, place, aligned, new_cell(columns, CELL_VARIADIC, event, passed + k + 1, place, size))


@lean
def _by_value(
    units: NDArray[np.uint32],
    address: Int,
    number: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
) -> None:
    """A structure argument: the call copied it from where the caller's argument points."""
    access = plan.accesses[number]
    frame = columns.frames[columns.segments[segment].frame]
    if frame.kind != DIRECT or frame.call < 0:
        return
    call = columns.segments[frame.call]
    last = plan.segments[call.id + 1].site_start - 1
    argument = plan.sites[last - plan.sites[last].aux + access.slot]
    source = wide(units, call.word + argument.unit)
    passed = _last_event(plan, columns, frame.call) - plan.sites[last].aux + access.slot
    copy(columns, shadow, address, source, access.size, CELL_BYVAL, passed)
