"""The pass over a recorded run that knows, for each pointer, the object that it was made for.

Key idea: decoding has resolved already which event each value came from, so provenance needs no shadow memory of its
own. An event's object is that of the event behind it: a load's that of the store which wrote the bytes, a parameter's
that of the argument, a result's that of the return. Only library calls need rules. Objects are numbered as they are
born: static variables, then locals and blocks of the heap; a number is never used again, so a pointer to something that
is gone still tells what it was. Number 0 stands for whatever is not known, of which nothing is said.

The same pass knows which values were never given: bytes of a local or a fresh block that nothing wrote, and whatever
was computed from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import CALLS, ENTRY, OPAQUE, PARAMETER, RETURNS, SAME_BLOCK, UNKNOWN, Plan
from whence.techniques.memory.sources import WORD, Source, Sources, Trait
from whence.trace.columns import CHUNK_UNITS, N_CELL, N_SEGMENT, CellKind, Columns, FrameKind
from whence.trace.dependence import event_in_block, last_event, site_of
from whence.trace.effects import ALLOC, COPY, FREE, OPERANDS, READ, RESIZE, WRITE
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.memory import wide
from whence.trace.shadow import MAX_CELLS, Int

CHUNK_HEADER_UNITS = 8
KIND_SHIFT, IDENTITY, EFFECT, SWITCH = 30, (1 << 30) - 1, 1, 2
DEPTH = 1 << 24
MOST_OBJECTS = 1 << 27
MOST_ERRORS = 1 << 16

# Kinds of objects.
UNBORN, LOCAL, COPIED, HEAP, STATIC = range(5)
# Kinds of errors.
BOUNDS, FREED, RETURNED, LEFT, TWICE, NO_BLOCK, OVERLAP, UNDEFINED = range(1, 9)
ERROR_KINDS = 16
# What an undefined value decides.
BRANCHES, ADDRESSES, CALLS_WITH = range(3)

OBJECT = np.dtype(
    [
        ("base", np.int64),
        ("size", np.int64),
        ("kind", np.int32),
        ("declared", np.int32),  # the number of the local or static variable; of a block the call that made it
        ("frame", np.int32),
        ("scope", np.int32),
        ("birth", np.int32),  # event
        ("death", np.int32),  # event + 1; 0: it lives
    ]
)
ERROR = np.dtype(
    [
        ("kind", np.int32),
        ("event", np.int32),
        ("argument", np.int32),  # the event of the argument whose object it is, -1
        ("object", np.int32),
        ("writes", np.int32),  # whether it is a write; what an undefined value decides
        ("count", np.int32),  # how often the site did it
        ("death", np.int32),  # the object's death + 1 then
        ("size", np.int64),  # the object's size then
        ("address", np.int64),
        ("length", np.int64),
        ("other", np.int64),  # the other range of a copy
    ]
)


class State(NamedTuple):
    """What the pass knows.

    ``objects`` of each event, whether its value is ``undefined``; the ``table`` of objects and the ``errors``, each
    with ``counts`` of rows; ``seen``: the error + 1 of each site and kind. ``first`` of each frame: 1 + the object of
    its first local, 0 where the frame's beginning was not seen; ``last``: its last segment. ``stack`` and ``depth`` of
    each thread, and the segment whose call it waits for. ``keys`` and ``blocks``: the last block that began at an
    address.
    """

    objects: NDArray[np.int32]
    undefined: NDArray[np.uint8]
    table: Any
    errors: Any
    counts: NDArray[np.int64]
    seen: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    stack: NDArray[np.int32]
    depth: NDArray[np.int64]
    waits: NDArray[np.int64]
    keys: NDArray[np.int64]
    blocks: NDArray[np.int32]


N_OBJECT, N_ERROR, LAST_UNKNOWN, NEXT_CELL, N_STATIC, UNKNOWN_DEPTH = range(6)
HIDDEN = 6  # 1: locals may live on when their frame is left


def new_state(events: int, segments: int, frames: int, sites: int, threads: int, blocks: int) -> State:
    """The state before a run of that many events, segments and frames, with so many blocks taken on the heap."""
    size = 1 << max(4, (4 * blocks).bit_length())
    counts = np.zeros(8, np.int64)
    counts[N_OBJECT], counts[LAST_UNKNOWN] = 1, -1
    return State(
        lazy_zeros(events + 1, np.int32),
        lazy_zeros(events + 1, np.uint8),
        lazy_zeros(MOST_OBJECTS, OBJECT),
        lazy_zeros(MOST_ERRORS, ERROR),
        counts,
        lazy_zeros(sites * ERROR_KINDS, np.int32),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(threads * DEPTH, np.int32).reshape(threads, DEPTH),
        np.zeros(threads, np.int64),
        np.full(threads, -1, np.int64),
        lazy_zeros(size, np.int64),
        lazy_zeros(size, np.int32),
    )


LOADS, STORES, RMWS, COPIES, SETS, VASTARTS, BYVALS, ARGS, CALL, RESULTS, BRANCH, RET, PHI = range(1, 14)
assert (LOADS, PHI) == (Kind.LOAD, Kind.PHI)
BY_SITE, BY_PARAMETER, BY_LOCAL, BY_STATIC, BY_EITHER = (
    int(s) for s in (Source.SITE, Source.PARAMETER, Source.LOCAL, Source.STATIC, Source.EITHER)
)
SEPARATE, TEXT, FRESH, MOVES, FREES = (
    int(t) for t in (Trait.SEPARATE, Trait.TEXT, Trait.FRESH, Trait.MOVES, Trait.FREES)
)
CELL_COPY, CELL_BYVAL, CELL_VARIADIC, CELL_ALLOC, CELL_READ, CELL_SET = (
    int(k) for k in (CellKind.COPY, CellKind.BYVAL, CellKind.VARIADIC, CellKind.ALLOC, CellKind.READ, CellKind.SET)
)
DIRECT, THREAD = int(FrameKind.DIRECT), int(FrameKind.THREAD)
COPIES_OF_COPIES = 64  # that are followed


@lean
def follow(
    units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """Go through the records once, as ``decode`` did; returns how many segments were seen."""
    segment = np.int64(0)
    segments = columns.counts[N_SEGMENT]
    for chunk in chunks:
        thread = wide(units, chunk + 2)
        used = wide(units, chunk + 4)
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end and segment < segments:
            header = np.int64(units[position])
            if header == 0:
                break
            if header <= IDENTITY:
                _segment(units, segment, thread, plan, columns, sources, state)
                segment += 1
                position += plan.segments[header - 1].units
                continue
            size = header & IDENTITY
            if header >> KIND_SHIFT == EFFECT:
                if state.depth[thread] == 0 and units[position + 1] == 0:
                    _statics(units, position, position + size, sources, state)
                elif state.waits[thread] >= 0:
                    _effects(units, position, position + size, state.waits[thread], plan, columns, sources, state)
                position += size
                continue
            if header >> KIND_SHIFT == SWITCH:
                thread = size
            else:
                state.depth[size] = 0
                state.waits[size] = -1
            position += 1
    return segment


# ---- Objects -------------------------------------------------------------------------------------------------------


@lean
def _statics(units: NDArray[np.uint32], start: Int, end: Int, sources: Sources, state: State) -> None:
    """The addresses of static variables, with which a recording begins; their objects have the first numbers."""
    for position in range(start + 2, end, 2):
        number = state.counts[N_STATIC]
        if number >= len(sources.static_sizes):
            return
        state.counts[N_STATIC] = number + 1
        row = state.table[1 + number]
        row.kind = STATIC
        row.base = wide(units, position)
        row.size = sources.static_sizes[number]
        row.declared = number
        row.scope = -1


@lean
def _new_block(address: Int, size: Int, call: Int, state: State) -> None:
    """A block of the heap is born; what is still known to live there has been given back unseen."""
    place = _block_place(address, state)
    before = state.blocks[place]
    if before > 0 and state.table[before].death == 0:
        state.table[before].kind = UNBORN
    number = state.counts[N_OBJECT]
    state.counts[N_OBJECT] = number + 1
    state.keys[place] = address
    state.blocks[place] = number
    row = state.table[number]
    row.base, row.size, row.kind, row.declared = address, size, HEAP, call
    row.frame, row.scope, row.birth, row.death = -1, -1, call, 0


@lean
def _block_place(address: Int, state: State) -> Int:
    """Where an address stands, or would, in the table of blocks."""
    mask = len(state.keys) - 1
    place = ((address >> 4) * 0x9E3779B1) & mask
    while state.keys[place] != 0 and state.keys[place] != address:
        place = (place + 1) & mask
    return place


@lean
def _block_at(address: Int, state: State) -> Int:
    """The living block that begins at an address; 0: none."""
    place = _block_place(address, state)
    number = state.blocks[place]
    if state.keys[place] != address or address == 0 or state.table[number].death != 0:
        return 0
    return number if state.table[number].kind == HEAP else 0


@lean
def _enter(segment: Int, thread: Int, plan: Plan, columns: Columns, sources: Sources, state: State) -> None:
    """A frame begins: numbers for its locals, and its place on the thread's stack."""
    row = columns.segments[segment]
    call = columns.frames[row.frame].call
    if call >= 0:
        _leave_to(thread, columns.segments[call].frame, row.event, plan, sources, columns, state)
    function = columns.frames[row.frame].function
    count = sources.local_starts[function + 1] - sources.local_starts[function]
    number = state.counts[N_OBJECT]
    state.counts[N_OBJECT] = number + count
    state.first[row.frame] = number
    state.stack[thread, state.depth[thread]] = row.frame
    state.depth[thread] += 1


@lean
def _leave_to(
    thread: Int, frame: Int, event: Int, plan: Plan, sources: Sources, columns: Columns, state: State
) -> None:
    """Leave the frames above one that goes on, as longjmp does; a frame whose beginning was not seen is put on top."""
    depth = state.depth[thread]
    found = depth
    while found > 0 and state.stack[thread, found - 1] != frame:
        found -= 1
    if found == 0:
        if depth == 0 or columns.frames[frame].call < 0:
            state.stack[thread, depth] = frame
            state.depth[thread] = depth + 1
        return
    for k in range(found, depth):
        _end_frame(state.stack[thread, k], event, sources, columns, state)
    state.depth[thread] = found


@lean
def _end_frame(frame: Int, event: Int, sources: Sources, columns: Columns, state: State) -> None:
    """The locals of a frame die."""
    first = state.first[frame]
    function = columns.frames[frame].function
    if first == 0 or state.counts[HIDDEN]:
        return
    for k in range(sources.local_starts[function + 1] - sources.local_starts[function]):
        state.table[first + k].death = event + 1


@lean
def _places(units: NDArray[np.uint32], segment: Int, columns: Columns, sources: Sources, state: State) -> None:
    """The locals whose addresses a segment holds are born."""
    row = columns.segments[segment]
    first = state.first[row.frame]
    function = columns.frames[row.frame].function
    for k in range(sources.place_starts[row.id], sources.place_starts[row.id + 1]):
        place = sources.places[k]
        size = np.int64(place.size)
        if place.varies:
            size *= wide(units, row.word + place.unit + 2)
        address = wide(units, row.word + place.unit)
        if first and address:
            _born(first + place.local, address, size, LOCAL, function, place.local, row, sources, state)


@lean
def _born(
    number: Int, address: Int, size: Int, kind: Int, function: Int, local: Int, row: Any, sources: Sources, state: State
) -> None:
    """A local is there from a segment on."""
    made = state.table[number]
    made.base, made.size, made.kind = address, size, kind
    made.declared = sources.local_starts[function] + local
    made.frame, made.birth, made.death = row.frame, row.event, 0
    made.scope = sources.locals[made.declared].scope


# ---- Where values come from ----------------------------------------------------------------------------------------


@lean
def _leaf(plan: Plan, columns: Columns, segment: Int, target: Int, outer: Int) -> Int:
    """The event of a site that a site of the segment refers to; -1: none."""
    home = segment if outer == SAME_BLOCK else columns.outer[columns.segments[segment].outer + outer]
    return event_in_block(plan, columns, home, target)


@lean
def _parameter(plan: Plan, columns: Columns, frame: Int, number: Int) -> Int:
    """The event of the argument that a parameter was given, -1."""
    row = columns.frames[frame]
    if row.call < 0 or (row.kind != DIRECT and row.kind != THREAD):
        return -1
    call = last_event(plan, columns, row.call)
    arguments = plan.sites[site_of(plan, columns, call)].aux
    if row.kind == THREAD:
        number = arguments - 1
    return call - arguments + number if number < arguments else -1


@lean
def _object(kind: Int, target: Int, outer: Int, segment: Int, plan: Plan, columns: Columns, state: State) -> Int:
    """The object of a pointer with this source."""
    if kind == BY_SITE:
        event = _leaf(plan, columns, segment, target, outer)
        return state.objects[event] if event >= 0 else 0
    frame = columns.segments[segment].frame
    if kind == BY_PARAMETER:
        event = _parameter(plan, columns, frame, target)
        return state.objects[event] if event >= 0 else 0
    if kind == BY_LOCAL:
        first = state.first[frame]
        return first + target if first and state.table[first + target].base else 0
    if kind == BY_STATIC:
        return 1 + target if target < state.counts[N_STATIC] else 0
    return 0


@lean
def _passed(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> Int:
    """The object of a pointer that is stored, passed or returned; of two that it may have, the one that holds it."""
    source = sources.sites[site]
    if source.value != BY_EITHER:
        return _object(source.value, source.value_target, source.value_outer, segment, plan, columns, state)
    pair = sources.pairs[source.value_target]
    one = _object(pair.one, pair.one_target, pair.one_outer, segment, plan, columns, state)
    other = _object(pair.other, pair.other_target, pair.other_outer, segment, plan, columns, state)
    value = _value(units, event, site, segment, plan, columns)
    if one == other:
        return one
    if _holds(one, value, state) and _holds(other, value, state):  # neighbours
        return one if value < state.table[one].base + state.table[one].size else other
    return one if _holds(one, value, state) else other if _holds(other, value, state) else 0


@lean
def _holds(number: Int, value: Int, state: State) -> Any:
    """Whether an address lies in an object, or right behind it."""
    row = state.table[number]
    return number > 0 and row.base != 0 and row.base <= value <= row.base + row.size


@lean
def _value(units: NDArray[np.uint32], event: Int, site: Int, segment: Int, plan: Plan, columns: Columns) -> Int:
    """A pointer that is stored, passed or returned, as far as it was recorded (0)."""
    static = plan.sites[site]
    if static.kind == RET:
        if segment + 1 >= columns.counts[N_SEGMENT] or columns.segments[segment + 1].source != event + 1:
            return np.int64(0)
        row = columns.segments[segment + 1]
        result = plan.sites[plan.segments[row.id].site_start]
        return wide(units, row.word + result.unit) if result.kind == RESULTS and result.units == 2 else np.int64(0)
    unit = columns.segments[segment].word + static.unit
    if static.kind == STORES and static.aux < 0:
        return wide(units, unit + 2) if static.units == 4 else np.int64(0)
    return wide(units, unit) if static.units == 2 else np.int64(0)


@lean
def _initial(number: Int, value: Int, sources: Sources, state: State) -> Int:
    """The object of a pointer that a static variable held from the start: one that its initial value names."""
    row = state.table[number]
    if row.kind != STATIC:
        return 0
    found = 0
    for k in range(sources.pointer_starts[row.declared], sources.pointer_starts[row.declared + 1]):
        target = 1 + sources.pointers[k]
        if _holds(target, value, state):
            if found:
                return 0
            found = target
    return found


@lean
def _loaded(definition: Int, address: Int, value: Int, plan: Plan, columns: Columns, units: Any, state: State) -> Int:
    """The object of a pointer that was loaded, by what wrote its bytes."""
    for _ in range(COPIES_OF_COPIES):
        if definition > 0:
            event = definition - 1
            site = plan.sites[site_of(plan, columns, event)]
            if site.kind == STORES:
                row = columns.segments[columns.events[event].segment]
                same = address < 0 or site.aux >= 0 or wide(units, row.word + site.unit) == address
                return state.objects[event] if site.size == WORD and same else 0
            return state.objects[event] if site.kind == ARGS else 0
        if definition == 0 or definition < -MAX_CELLS:
            return 0
        cell = columns.cells[-definition - 1]
        if cell.kind == CELL_VARIADIC:
            definition, address = cell.definition, np.int64(-1)
        elif cell.kind == CELL_COPY or cell.kind == CELL_BYVAL:
            if cell.length != WORD or (address >= 0 and cell.address != address):
                return 0
            definition, address = cell.definition, np.int64(-1)
        else:
            return _block_at(value, state)
    return 0


@lean
def _is_undefined(definition: Int, number: Int, plan: Plan, columns: Columns, sources: Sources, state: State) -> Any:
    """Whether what defined the bytes of an object that are read gave them no value; False where that is not known."""
    local = number > 0 and state.table[number].kind == LOCAL
    birth = np.int64(state.table[number].birth) if local else np.int64(-1)
    for _ in range(COPIES_OF_COPIES):
        if definition > 0:
            return definition - 1 < birth or state.undefined[definition - 1] != 0
        if definition == 0:
            return local and state.counts[LAST_UNKNOWN] < birth
        if definition < -MAX_CELLS:
            return False
        cell = columns.cells[-definition - 1]
        if cell.parent < birth:
            return True
        if cell.kind == CELL_ALLOC:
            callee = -2 - plan.sites[site_of(plan, columns, cell.parent)].callee
            fresh = 0 <= callee < len(sources.traits) and sources.traits[callee] & FRESH != 0
            return fresh and state.counts[LAST_UNKNOWN] < cell.parent
        if cell.kind == CELL_VARIADIC:
            return state.undefined[cell.definition - 1] != 0
        if cell.kind != CELL_COPY and cell.kind != CELL_BYVAL:
            return False
        definition = cell.definition
        number = state.objects[cell.parent] if plan.sites[site_of(plan, columns, cell.parent)].kind == COPIES else 0
        local = number > 0 and state.table[number].kind == LOCAL
        birth = np.int64(state.table[number].birth) if local else np.int64(-1)
    return False


@lean
def _uses_undefined(
    event: Int, site: Int, role: Int, segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """The first event behind a site's operands whose value was never given, -1: there is none."""
    pred_block = -1
    if plan.sites[site].kind == PHI:
        pred = columns.segments[segment].pred
        pred_block = plan.segments[columns.segments[pred].id].block if pred >= 0 else -2
    here = columns.segments[segment]
    first = plan.segments[here.id].site_start
    for k in range(plan.sites[site].ref_start, plan.sites[site + 1].ref_start):
        ref = plan.refs[k]
        if ref.role != role or ref.pred != pred_block or ref.target == sources.sites[site].old:
            continue
        if ref.outer == PARAMETER:
            leaf = _parameter(plan, columns, here.frame, ref.target)
        elif ref.outer == SAME_BLOCK and plan.sites[ref.target].segment == here.id:
            leaf = here.event + ref.target - first
        else:
            leaf = _leaf(plan, columns, segment, ref.target, ref.outer)
        if leaf >= 0 and state.undefined[leaf]:
            return leaf
    return -1


# ---- Errors --------------------------------------------------------------------------------------------------------


@lean
def _report(
    kind: Int,
    event: Int,
    site: Int,
    argument: Int,
    number: Int,
    writes: Int,
    address: Int,
    length: Int,
    other: Int,
    state: State,
) -> None:
    """Note an error; one site's errors of one kind are one row."""
    key = site * ERROR_KINDS + kind
    if state.seen[key]:
        state.errors[state.seen[key] - 1].count += 1
        return
    row = state.counts[N_ERROR]
    if row >= len(state.errors):
        return
    state.counts[N_ERROR] = row + 1
    state.seen[key] = row + 1
    made = state.errors[row]
    made.kind, made.event, made.argument, made.object = kind, event, argument, number
    made.writes, made.count, made.address, made.length, made.other = writes, 1, address, length, other
    made.death, made.size = state.table[number].death, state.table[number].size


@lean
def _access(
    event: Int,
    site: Int,
    argument: Int,
    number: Int,
    writes: Int,
    address: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """Check bytes that were read or written through a pointer that was made for an object."""
    row = state.table[number]
    if number == 0 or row.kind == UNBORN or row.base == 0 or length == 0:
        return
    if row.death:
        kind = FREED if row.kind == HEAP else RETURNED
    elif address < row.base or address + length > row.base + row.size:
        if row.size == 0 and row.kind != HEAP:  # its size is not known
            return
        kind = BOUNDS
    elif row.scope >= 0 and not _is_in_scope(event, site, row, plan, columns, sources, state):
        kind = LEFT
    else:
        return
    _report(kind, event, site, argument, number, writes, address, length, 0, state)


@lean
def _is_in_scope(event: Int, site: Int, row: Any, plan: Plan, columns: Columns, sources: Sources, state: State) -> Any:
    """Whether the frame of a local is where the local's block is; also where that is not known."""
    if row.frame != columns.segments[columns.events[event].segment].frame:
        site = plan.segments[columns.segments[state.last[row.frame]].id + 1].site_start - 1
    scope = sources.sites[site].scope
    if scope < 0:
        return True
    while scope >= 0 and scope != row.scope and sources.parents[scope] >= 0:
        scope = sources.parents[scope]
    if scope == row.scope:
        return True
    home = row.scope
    while sources.parents[home] >= 0:
        home = sources.parents[home]
    return scope != home  # code of another function, inlined


# ---- Segments ------------------------------------------------------------------------------------------------------


@lean
def _segment(
    units: NDArray[np.uint32],
    segment: Int,
    thread: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """All that one segment did."""
    row = columns.segments[segment]
    static = plan.segments[row.id]
    if static.flags & ENTRY:
        _enter(segment, thread, plan, columns, sources, state)
    else:
        depth = state.depth[thread]
        if depth == 0 or state.stack[thread, depth - 1] != row.frame:
            _leave_to(thread, row.frame, row.event, plan, sources, columns, state)
        if static.flags & OPAQUE and row.source <= 0 and row.previous >= 0:
            state.counts[LAST_UNKNOWN] = row.event - 1
    state.last[row.frame] = segment
    if sources.place_starts[row.id + 1] > sources.place_starts[row.id]:
        _places(units, segment, columns, sources, state)
    first = static.site_start
    stop = plan.segments[row.id + 1].site_start
    for site in range(first, stop):
        _event(units, row.event + site - first, site, segment, plan, columns, sources, state)
    if static.flags & CALLS:
        state.waits[thread] = segment
        if static.flags & UNKNOWN:
            state.counts[LAST_UNKNOWN] = row.event + stop - first - 1
    elif static.flags & RETURNS:
        state.waits[thread] = columns.frames[row.frame].call
        _end_frame(row.frame, row.event + stop - first - 1, sources, columns, state)
        if state.depth[thread]:
            state.depth[thread] -= 1


@lean
def _event(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """What one event read, wrote and made."""
    static, source = plan.sites[site], sources.sites[site]
    kind = static.kind
    if kind <= BYVALS:
        if static.aux >= 0 and kind <= STORES:
            _private(units, event, site, segment, plan, columns, sources, state)
        elif kind == BYVALS:
            row = columns.segments[segment]
            first, address = state.first[row.frame], wide(units, row.word + static.unit)
            function = columns.frames[row.frame].function
            if first and address:
                number = first + source.value_target
                _born(number, address, static.size, COPIED, function, source.value_target, row, sources, state)
        elif kind != VASTARTS:
            _memory(units, event, site, segment, plan, columns, sources, state)
        return
    if kind == CALL:
        _call(units, event, site, segment, plan, columns, sources, state)
    elif kind == RESULTS:
        _result(units, event, site, segment, plan, columns, state)
    elif kind == BRANCH:
        leaf = _uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        if leaf >= 0:
            _report(UNDEFINED, event, site, leaf, 0, BRANCHES, 0, 0, 0, state)
    else:
        if kind == PHI:
            _phi(event, site, segment, plan, columns, sources, state)
        elif source.value:
            state.objects[event] = _passed(units, event, site, segment, plan, columns, sources, state)
        leaf = _uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        state.undefined[event] = leaf >= 0


@lean
def _phi(event: Int, site: Int, segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State) -> None:
    """A phi has the object of the value that came from the block before."""
    pred = columns.segments[segment].pred
    block = plan.segments[columns.segments[pred].id].block if pred >= 0 else -2
    for k in range(sources.sites[site].phi_start, sources.sites[site + 1].phi_start):
        row = sources.phis[k]
        if row.pred == block and row.source:
            state.objects[event] = _object(row.source, row.target, row.outer, segment, plan, columns, state)


@lean
def _private(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A private local is loaded or stored."""
    source = sources.sites[site]
    if plan.sites[site].kind == STORES:
        if source.value:
            state.objects[event] = _passed(units, event, site, segment, plan, columns, sources, state)
        state.undefined[event] = _uses_undefined(event, site, 0, segment, plan, columns, sources, state) >= 0
        return
    definition = columns.events[event].definition
    if definition > 0:
        state.objects[event] = state.objects[definition - 1]
        state.undefined[event] = state.undefined[definition - 1]
    else:
        state.undefined[event] = state.first[columns.segments[segment].frame] != 0


@lean
def _memory(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """An access by address: a load, a store, an atomic operation, a copy or a fill."""
    static, source = plan.sites[site], sources.sites[site]
    kind = static.kind
    unit = columns.segments[segment].word + static.unit
    address = wide(units, unit)
    if address == 0:  # never reached, or a null pointer
        return
    length = np.int64(static.size)
    if kind in (COPIES, SETS):
        length = wide(units, unit + 4)
    number = _object(source.address, source.address_target, source.address_outer, segment, plan, columns, state)
    writes = kind != LOADS
    _access(event, site, -1, number, writes, address, length, plan, columns, sources, state)
    if kind == COPIES:
        second = wide(units, unit + 2)
        other = _object(source.second, source.second_target, source.second_outer, segment, plan, columns, state)
        state.objects[event] = other
        _access(event, site, -1, other, 0, second, length, plan, columns, sources, state)
        if source.separate and address != second and abs(address - second) < length:
            _report(OVERLAP, event, site, -1, number, 1, address, length, second, state)
        return
    if kind == SETS:
        return
    leaf = _uses_undefined(event, site, 1, segment, plan, columns, sources, state)
    if leaf >= 0:
        _report(UNDEFINED, event, site, leaf, 0, ADDRESSES, 0, 0, 0, state)
    if kind == STORES:
        if source.value:
            state.objects[event] = _passed(units, event, site, segment, plan, columns, sources, state)
        state.undefined[event] = _uses_undefined(event, site, 0, segment, plan, columns, sources, state) >= 0
    elif kind == LOADS:
        definition = columns.events[event].definition
        if length == WORD and static.units > 3:
            value = wide(units, unit + 2)
            if definition == 0:
                state.objects[event] = _initial(number, value, sources, state)
            else:
                state.objects[event] = _loaded(definition, address, value, plan, columns, units, state)
        state.undefined[event] = _is_undefined(definition, number, plan, columns, sources, state)


# ---- Calls ---------------------------------------------------------------------------------------------------------


@lean
def _call(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A library function is called: are its arguments defined, and is what it gives back a block?"""
    number = -2 - plan.sites[site].callee
    if number < 0:
        return
    arguments = plan.sites[site].aux
    for k in range(arguments):
        argument = event - arguments + k
        if state.undefined[argument]:
            _report(UNDEFINED, event, site, argument, 0, CALLS_WITH, 0, 0, 0, state)
    if sources.traits[number] & FREES and arguments:
        _frees(units, event, site, segment, arguments, plan, columns, state)


@lean
def _frees(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    arguments: Int,
    plan: Plan,
    columns: Columns,
    state: State,
) -> None:
    """What is given back must be a block that lives, by its first byte."""
    argument = plan.sites[site - arguments]
    address = wide(units, columns.segments[segment].word + argument.unit) if argument.units == 2 else np.int64(0)
    number = state.objects[event - arguments]
    row = state.table[number]
    if address == 0 or number == 0 or row.kind == UNBORN or row.base == 0:
        return
    if row.kind == HEAP and row.death:
        _report(TWICE, event, site, event - arguments, number, 1, address, 0, 0, state)
    elif row.kind != HEAP or address != row.base:
        _report(NO_BLOCK, event, site, event - arguments, number, 1, address, 0, 0, state)


@lean
def _result(
    units: NDArray[np.uint32], event: Int, site: Int, segment: Int, plan: Plan, columns: Columns, state: State
) -> None:
    """A call's result: what a function returned; of a library call a new block, or a place in an argument's object."""
    row = columns.segments[segment]
    if row.source > 0:
        state.objects[event] = state.objects[row.source - 1]
        state.undefined[event] = state.undefined[row.source - 1]
        return
    if plan.sites[site].units != 2 or row.previous < 0:
        return
    value = wide(units, row.word + plan.sites[site].unit)
    found = _block_at(value, state)
    call = last_event(plan, columns, row.previous)
    arguments = plan.sites[site_of(plan, columns, call)].aux
    for k in range(arguments if value and found == 0 else 0):
        number = state.objects[call - arguments + k]
        if number:
            made = state.table[number]
            if made.base <= value <= made.base + made.size and made.base:
                found = number
    state.objects[event] = found


@lean
def _argument(
    units: NDArray[np.uint32], segment: Int, address: Int, length: Int, plan: Plan, columns: Columns, state: State
) -> Int:
    """The argument of a library call through which it came to a range of bytes; -1: not known.

    Where several point there, one that was made for an object which holds the range.
    """
    row = columns.segments[segment]
    call_site = plan.segments[row.id + 1].site_start - 1
    call = last_event(plan, columns, segment)
    arguments = plan.sites[call_site].aux
    exact, inside = np.int64(-1), np.int64(-1)
    for k in range(arguments):
        argument = plan.sites[call_site - arguments + k]
        event = call - arguments + k
        number = state.objects[event]
        if number == 0 or argument.units != 2:
            continue
        value = wide(units, row.word + argument.unit)
        made = state.table[number]
        holds = made.base <= address and address + length <= made.base + made.size
        if value == address and (exact < 0 or holds):
            exact = event
        elif value <= address < made.base + made.size and made.base <= address:
            inside = event
    return exact if exact >= 0 else inside


@lean
def _effects(
    units: NDArray[np.uint32],
    start: Int,
    end: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """What a library call read, wrote, took and gave back."""
    function = np.int64(units[start + 1])
    traits = sources.traits[function] if function < len(sources.traits) else 0
    call = last_event(plan, columns, segment)
    site = plan.segments[columns.segments[segment].id + 1].site_start - 1
    position = start + 2
    resized, resized_end = np.int64(0), np.int64(0)
    while position < end and units[position]:
        opcode = wide(units, position) & 255
        x = wide(units, position + 2)
        y = wide(units, position + 4) if OPERANDS[opcode] > 1 else np.int64(0)
        z = wide(units, position + 6) if OPERANDS[opcode] > 2 else np.int64(0)
        if opcode == ALLOC:
            if not resized <= x < resized_end:
                _new_block(x, y, call, state)
        elif opcode == FREE:
            number = _block_at(x, state)
            if number:
                state.table[number].death = call + 1
        elif opcode == RESIZE:
            resized, resized_end = x, x + y
            number = _block_at(x, state)
            if number:
                state.table[number].death = call + 1
            _new_block(x, y, call, state)
        elif traits & MOVES == 0:
            if opcode in (READ, WRITE):
                _library_access(units, segment, call, site, opcode == WRITE, x, y, plan, columns, sources, state)
            elif opcode == COPY:
                _library_access(units, segment, call, site, 1, x, z, plan, columns, sources, state)
                _library_access(units, segment, call, site, 0, y, z, plan, columns, sources, state)
                if traits & SEPARATE and x != y and abs(x - y) < z:
                    argument = _argument(units, segment, x, z, plan, columns, state)
                    number = state.objects[argument] if argument >= 0 else 0
                    _report(OVERLAP, call, site, argument, number, 1, x, z, y, state)
            if opcode == READ and traits & TEXT:
                _text(units, segment, call, site, x, y, plan, columns, sources, state)
        position += 2 * (1 + OPERANDS[opcode])


@lean
def _library_access(
    units: NDArray[np.uint32],
    segment: Int,
    call: Int,
    site: Int,
    writes: Int,
    address: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """Check a range that a library call read or wrote."""
    argument = _argument(units, segment, address, length, plan, columns, state)
    if argument >= 0:
        number = state.objects[argument]
        _access(call, site, argument, number, writes, address, length, plan, columns, sources, state)


@lean
def _text(
    units: NDArray[np.uint32],
    segment: Int,
    call: Int,
    site: Int,
    address: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A library call read text that decides what it does: bytes that nothing wrote are an error.

    Decoding left a cell for each range that was read, in the same order.
    """
    cell = state.counts[NEXT_CELL]
    while cell < columns.counts[N_CELL]:
        row = columns.cells[cell]
        if row.kind == CELL_READ and row.parent == call and row.address == address:
            break
        if row.parent > call:
            return
        cell += 1
    state.counts[NEXT_CELL] = cell
    argument = _argument(units, segment, address, length, plan, columns, state)
    if cell >= columns.counts[N_CELL] or argument < 0:
        return
    number, definition = state.objects[argument], columns.cells[cell].definition
    undefined = False
    if definition >= -MAX_CELLS:
        undefined = _is_undefined(definition, number, plan, columns, sources, state)
    else:
        listed = -definition - MAX_CELLS - 1
        for k in range(columns.multi_start[listed], columns.multi_start[listed + 1]):
            if _is_undefined(columns.multi_reference[k], number, plan, columns, sources, state):
                undefined = True
    if undefined:
        _report(UNDEFINED, call, site, argument, number, CALLS_WITH, address, length, 0, state)
