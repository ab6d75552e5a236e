"""Objects of a recorded run, and which accesses missed them: variables, locals and blocks as they are born and die.

Objects are numbered as they are born: static variables, what ``main`` was given (``given.py``), then locals and blocks
of the heap; a number is never used again, so a pointer to something that is gone still tells what it was. Number 0
stands for whatever is not known, of which nothing is said.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import Plan
from whence.probe.pointers import NEW_EACH_TIME, Sources
from whence.trace.columns import Columns, FrameKind
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.memory import wide
from whence.trace.shadow import Int

DEPTH = 1 << 24
IN_PARENT = 1 << 30  # scope of a member array: whether it may be used is known of its parent
MOST_OBJECTS = 1 << 27
MOST_ERRORS = 1 << 16
MOST_OCCURRENCES = 1 << 20

DIRECT, THREAD = int(FrameKind.DIRECT), int(FrameKind.THREAD)
# Kinds of objects.
UNBORN, LOCAL, COPIED, HEAP, STATIC, GIVEN, HANDLE = range(7)  # HANDLE: the C library's (handles.py)
# Kinds of errors.
BOUNDS, FREED, RETURNED, LEFT, TWICE, NO_BLOCK, OVERLAP, UNDEFINED, PARTLY = range(1, 10)
ERROR_KINDS = 16
# What an undefined value decides.
BRANCHES, ADDRESSES, CALLS_WITH, EXITS = range(4)

OBJECT = np.dtype(
    [
        ("base", np.int64),
        ("size", np.int64),
        ("kind", np.int32),
        (
            "declared",
            np.int32,
        ),  # the number of the variable, or of what main was given; of a block the call that made it
        ("frame", np.int32),
        ("scope", np.int32),
        ("birth", np.int32),  # event
        ("death", np.int32),  # event + 1; 0: it lives
        ("parent", np.int32),  # of a member array the object that it is a part of; 0: it is whole
        ("member", np.int32),  # which one it is
        # Where a call executed one alloca several times: of the first block the last one, of that the one before, ...
        # Of a block that was moved: the one that took its place.
        ("latest", np.int32),
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

# One time that an error was made: of each error the first, and of the later ones as many as there is room for.
OCCURRENCE = np.dtype(
    [
        ("error", np.int32),
        ("event", np.int32),
        ("argument", np.int32),
        ("object", np.int32),
        ("size", np.int64),  # of the object then
        ("address", np.int64),
        ("length", np.int64),
    ]
)


class State(NamedTuple):
    """What the pass knows.

    ``objects`` of each event; ``undefined``: of an undefined value the event that read it first, + 1; the ``table`` of
    objects, the ``errors`` and the ``occurrences``, each with ``counts`` of rows; ``seen``: the error + 1 of each site
    and kind. ``first`` of each frame: 1 + the object of its first local, 0 where the frame's beginning was not seen;
    the event of its first argument and how many were ``passed``; whether it is ``tainted`` by an undefined value; the
    ``sizes`` of blocks that allocators make; ``last``: its last segment. ``stack`` and ``depth`` of each thread, and
    the segment whose call it waits for. ``keys`` and ``blocks``: the last block that began at an address. ``members``:
    the last object made for each.
    """

    objects: NDArray[np.int32]
    undefined: NDArray[np.int32]
    table: Any
    errors: Any
    occurrences: Any
    counts: NDArray[np.int64]
    seen: NDArray[np.int32]
    first: NDArray[np.int32]
    arguments: NDArray[np.int32]
    passed: NDArray[np.int32]
    tainted: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    last: NDArray[np.int32]
    stack: NDArray[np.int32]
    depth: NDArray[np.int64]
    waits: NDArray[np.int64]
    keys: NDArray[np.int64]
    blocks: NDArray[np.int32]
    members: NDArray[np.int32]


N_OBJECT, N_ERROR, LAST_UNKNOWN, NEXT_CELL, N_STATIC, UNKNOWN_DEPTH = range(6)
HIDDEN, N_OCCURRENCE, ANY_UNDEFINED = 6, 7, 8  # HIDDEN 1: locals may live on when their frame is left
# The number of the function main; of what it was given the first object (0: none) and how many; the room that the
# strings take; the first cell that a later call may have left.
MAIN, FIRST_GIVEN, N_GIVEN, GIVEN_START, GIVEN_END, FIRST_CELL, N_COUNT = range(9, 16)
MAIN_PARAMETERS = 3  # have places behind all events


def new_state(events: int, segments: int, frames: int, sites: int, threads: int, blocks: int, members: int) -> State:
    """The state before a run of that many events, segments and frames, with so many blocks taken on the heap.

    ``members`` are the member arrays of the program.
    """
    size = 1 << max(4, (4 * blocks).bit_length())
    counts = np.zeros(N_COUNT, np.int64)
    counts[N_OBJECT], counts[LAST_UNKNOWN], counts[MAIN] = 1, -1, -1
    return State(
        lazy_zeros(events + 1 + MAIN_PARAMETERS, np.int32),
        lazy_zeros(events + 1 + MAIN_PARAMETERS, np.int32),
        lazy_zeros(MOST_OBJECTS, OBJECT),
        lazy_zeros(MOST_ERRORS, ERROR),
        lazy_zeros(MOST_OCCURRENCES, OCCURRENCE),
        counts,
        lazy_zeros(sites * ERROR_KINDS, np.int32),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(frames + 1, np.uint8),
        lazy_zeros(frames + 1, np.int64),
        lazy_zeros(frames + 1, np.int32),
        lazy_zeros(threads * DEPTH, np.int32).reshape(threads, DEPTH),
        np.zeros(threads, np.int64),
        np.full(threads, -1, np.int64),
        lazy_zeros(size, np.int64),
        lazy_zeros(size, np.int32),
        np.zeros(members + 1, np.int32),
    )


@lean
def statics_born(units: NDArray[np.uint32], start: Int, end: Int, sources: Sources, state: State) -> None:
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
def new_block(address: Int, size: Int, call: Int, state: State) -> None:
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
def block_at(address: Int, state: State) -> Int:
    """The living block that begins at an address; 0: none."""
    place = _block_place(address, state)
    number = state.blocks[place]
    if state.keys[place] != address or address == 0 or state.table[number].death != 0:
        return 0
    return number if state.table[number].kind == HEAP else 0


@lean
def block_told(address: Int, call: Int, state: State) -> Int:
    """The block that begins at an address which a library call wrote, also where it is gone since; 0: none is known."""
    place = _block_place(address, state)
    number = state.blocks[place]
    row = state.table[number]
    if state.keys[place] != address or address == 0 or row.kind != HEAP or row.declared > call:
        return 0
    return number if row.death == 0 or row.death > call + 1 else 0


@lean
def enter(segment: Int, thread: Int, plan: Plan, columns: Columns, sources: Sources, state: State) -> None:
    """A frame begins: numbers for its locals, and its place on the thread's stack."""
    row = columns.segments[segment]
    call = columns.frames[row.frame].call
    if call >= 0:
        leave_to(thread, columns.segments[call].frame, row.event, plan, sources, columns, state)
    function = columns.frames[row.frame].function
    count = sources.local_starts[function + 1] - sources.local_starts[function]
    number = state.counts[N_OBJECT]
    state.counts[N_OBJECT] = number + count
    state.first[row.frame] = number
    state.stack[thread, state.depth[thread]] = row.frame
    state.depth[thread] += 1
    _take_arguments(row.frame, plan, columns, state)


@lean
def _take_arguments(frame: Int, plan: Plan, columns: Columns, state: State) -> None:
    """Where the arguments of a frame are, if they are known; one that was never given a value taints it."""
    row = columns.frames[frame]
    if row.call < 0 and row.function == state.counts[MAIN] and state.counts[FIRST_GIVEN]:
        state.arguments[frame] = len(state.objects) - MAIN_PARAMETERS
        state.passed[frame] = MAIN_PARAMETERS
        return
    if row.call < 0 or (row.kind != DIRECT and row.kind != THREAD):
        return
    call = columns.segments[row.call]
    last = plan.segments[call.id + 1].site_start - 1
    count = plan.sites[last].aux
    behind = call.event + last - plan.segments[call.id].site_start  # the call
    if row.kind == THREAD and count:
        count = 1
    state.arguments[frame], state.passed[frame] = behind - count, count
    for argument in range(behind - count if state.counts[ANY_UNDEFINED] else behind, behind):
        state.tainted[frame] |= state.undefined[argument] != 0


@lean
def leave_to(thread: Int, frame: Int, event: Int, plan: Plan, sources: Sources, columns: Columns, state: State) -> None:
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
        end_frame(state.stack[thread, k], event, sources, columns, state)
    state.depth[thread] = found


@lean
def end_frame(frame: Int, event: Int, sources: Sources, columns: Columns, state: State) -> None:
    """The locals of a frame die."""
    first = state.first[frame]
    function = columns.frames[frame].function
    if first == 0 or state.counts[HIDDEN]:
        return
    for k in range(sources.local_starts[function + 1] - sources.local_starts[function]):
        number = np.int64(first + k)
        while number:
            state.table[number].death = event + 1
            number = np.int64(state.table[number].latest)


@lean
def locals_born(units: NDArray[np.uint32], segment: Int, columns: Columns, sources: Sources, state: State) -> None:
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
            number = np.int64(first + place.local)
            if place.varies == NEW_EACH_TIME and state.table[number].base:
                number = _another(number, state)
            born(number, address, size, LOCAL, function, place.local, row, sources, state)


@lean
def _another(first: Int, state: State) -> Int:
    """The number of a further block that one alloca of a call makes; those before live on."""
    number = np.int64(state.counts[N_OBJECT])
    state.counts[N_OBJECT] = number + 1
    state.table[number].latest = state.table[first].latest
    state.table[first].latest = number
    return number


@lean
def born(
    number: Int, address: Int, size: Int, kind: Int, function: Int, local: Int, row: Any, sources: Sources, state: State
) -> None:
    """A local is there from a segment on."""
    made = state.table[number]
    made.base, made.size, made.kind = address, size, kind
    made.declared = sources.local_starts[function] + local
    made.frame, made.birth, made.death = row.frame, row.event, 0
    made.scope = sources.locals[made.declared].scope


@lean
def report(
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
        _occurrence(state.seen[key] - 1, event, argument, number, address, length, state)
        return
    row = state.counts[N_ERROR]
    if row >= len(state.errors):
        return
    state.counts[N_ERROR] = row + 1
    state.seen[key] = row + 1
    _occurrence(row, event, argument, number, address, length, state)
    made = state.errors[row]
    made.kind, made.event, made.argument, made.object = kind, event, argument, number
    made.writes, made.count, made.address, made.length, made.other = writes, 1, address, length, other
    made.death, made.size = state.table[number].death, state.table[number].size


@lean
def _occurrence(error: Int, event: Int, argument: Int, number: Int, address: Int, length: Int, state: State) -> None:
    """Note one time that an error was made."""
    row = state.counts[N_OCCURRENCE]
    if row >= len(state.occurrences):
        return
    state.counts[N_OCCURRENCE] = row + 1
    made = state.occurrences[row]
    made.error, made.event, made.argument, made.object = error, event, argument, number
    made.size, made.address, made.length = state.table[number].size, address, length


@lean
def check_access(
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
    part = state.table[number]
    is_outside = part.parent > 0 and (address < part.base or address + length > part.base + part.size)
    whole = whole_of(number, state)
    row = state.table[whole]
    if number == 0 or row.kind == UNBORN or row.base == 0 or length == 0:
        return
    if row.death:
        if row.kind == HEAP and is_moved_along(whole, address, length, state):
            return
        kind = FREED if row.kind == HEAP else RETURNED
    elif address < row.base or address + length > row.base + row.size:
        if row.size == 0 and row.kind != HEAP:  # its size is not known
            return
        if row.kind == GIVEN and writes and _takes_all(whole, address, length, state):
            return
        kind = BOUNDS
    elif row.scope >= 0 and not _is_in_scope(event, site, row, plan, columns, sources, state):
        kind = LEFT
    elif is_outside:
        kind, whole = BOUNDS, number
    else:
        return
    report(kind, event, site, argument, whole, writes, address, length, 0, state)


@lean
def is_moved_along(number: Int, address: Int, length: Int, state: State) -> bool:
    """Whether a pointer into a block that was moved leads into the one that has its place now: programs add the
    distance of the two to the pointers that they keep.
    """
    found = np.int64(state.table[number].latest)
    while found and state.table[found].death:
        found = np.int64(state.table[found].latest)
    if found == 0:
        return False
    row = state.table[found]
    return bool(row.base <= address and address + length <= row.base + row.size)


@lean
def _takes_all(number: Int, address: Int, length: Int, state: State) -> bool:
    """Whether a write from the first argument on stays where arguments and environment are, as programs mean it that
    change their title: from then on that is one object.
    """
    row = state.table[number]
    if row.base != state.counts[GIVEN_START] or address < row.base or address + length > state.counts[GIVEN_END]:
        return False
    row.size = state.counts[GIVEN_END] - row.base
    return True


@lean
def whole_of(number: Int, state: State) -> Int:
    """The object that a member array is a part of; any other object itself."""
    found = np.int64(number)
    while state.table[found].parent:
        found = np.int64(state.table[found].parent)
    return found


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
