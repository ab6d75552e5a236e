"""From the words of a trace to columns: frames, control dependence and memory dependence in one pass.

Each thread has a stack of frames. A frame knows the last segment that each block of its function executed, which answers both
questions that are left to run time: which branch instance controls a block (the latest among the static candidates), and which
instance of another block made a value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import ADDRESS, CALLS, ENTRY, FIRST, FRAME, RETURNS, Plan
from whence.trace.columns import N_EVENT, N_FRAME, N_OUTER, N_SEGMENT, CellKind, Columns, FrameKind
from whence.trace.effects import apply_effects
from whence.trace.lazy import lazy_zeros
from whence.trace.memory import copy, load, new_cell, store, writers_of
from whence.trace.shadow import Shadow, fill

CHUNK_HEADER_WORDS = 4
DEPTH = 1 << 24  # frames on one thread's stack
POOL = 1 << 28  # blocks of all frames on one thread's stack
THREADS = 256

DIRECT, CALLBACK, ROOT, SIGNAL = (int(k) for k in FrameKind)
LOAD, STORE, RMW, COPY, SET, VASTART, CALL, RET, BYVAL = (
    int(k)
    for k in (
        Kind.LOAD, Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET, Kind.VASTART, Kind.CALL, Kind.RET, Kind.BYVAL,
    )
)
CELL_COPY, CELL_SET, CELL_VARIADIC, CELL_BYVAL = (
    int(CellKind.COPY),
    int(CellKind.SET),
    int(CellKind.VARIADIC),
    int(CellKind.BYVAL),
)
REGISTER_AREA = 176  # bytes that a variadic function saves its register arguments in (System V ABI, x86-64)
OVERFLOW_AREA = 128  # bytes of arguments on the stack that are taken to be variadic ones


class Stacks(NamedTuple):
    """The threads' stacks, a row a thread: frame number, its place in ``pool``, its address and its pending source."""

    depth: NDArray[np.int64]
    frame: NDArray[np.int32]
    place: NDArray[np.int64]
    address: NDArray[np.int64]
    source: NDArray[np.int32]
    last: NDArray[np.int32]  # last segment of the frame, -1
    pool: NDArray[np.int32]  # last segment + 1 of each block of each frame
    unknown: NDArray[np.int64]  # [0]: the last call without a summary, -1


def new_stacks(threads: int) -> Stacks:
    """Empty stacks for that many threads."""
    shape = (threads, DEPTH)
    return Stacks(
        np.zeros(threads, np.int64),
        lazy_zeros(threads * DEPTH, np.int32).reshape(shape),
        lazy_zeros(threads * (DEPTH + 1), np.int64).reshape(threads, DEPTH + 1),
        lazy_zeros(threads * DEPTH, np.int64).reshape(shape),
        lazy_zeros(threads * DEPTH, np.int32).reshape(shape),
        lazy_zeros(threads * DEPTH, np.int32).reshape(shape),
        lazy_zeros(threads * POOL, np.int32).reshape(threads, POOL),
        np.full(1, -1, np.int64),
    )


@njit(cache=True)
def decode(
    words: NDArray[np.int64],
    chunks: NDArray[np.int64],
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    stacks: Stacks,
) -> int:
    """Decode chunks, whose first words are at ``chunks`` in order of time; returns how many records were read."""
    records = 0
    for chunk in chunks:
        thread = words[chunk + 1]
        used = words[chunk + 2]
        position = chunk + CHUNK_HEADER_WORDS
        end = chunk + used if used else len(words)
        while position < end and words[position] != 0:
            header = words[position]
            size = header & 0xFFFF
            kind = (header >> 16) & 15
            identity = (header >> 20) & 0xFFFFFFFF
            if kind == 0:
                _segment(words, position, identity, thread, plan, columns, shadow, stacks)
            elif kind == 1 and stacks.depth[thread]:
                _effect(words, position, position + size, thread, plan, columns, shadow, stacks)
            records += 1
            position += size
    return records


@njit(cache=True)
def _last_event(plan: Plan, columns: Columns, segment: int) -> int:
    """The last event of a segment instance: its call, branch or return."""
    identity = columns.segments[segment].id
    sites = plan.segments[identity + 1].site_start - plan.segments[identity].site_start
    return columns.segments[segment].event + sites - 1  # type: ignore[no-any-return]


@njit(cache=True)
def _effect(
    words: NDArray[np.int64],
    start: int,
    end: int,
    thread: int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    stacks: Stacks,
) -> None:
    """An effect record belongs to the call that the thread's top frame waits for."""
    top = stacks.depth[thread] - 1
    segment = stacks.last[thread, top]
    if segment >= 0 and plan.segments[columns.segments[segment].id].flags & CALLS:
        call = _last_event(plan, columns, segment)
        stacks.source[thread, top] = apply_effects(columns, shadow, words, start, end, call)


@njit(cache=True)
def _segment(
    words: NDArray[np.int64],
    position: int,
    identity: int,
    thread: int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    stacks: Stacks,
) -> None:
    """One segment instance: find its frame, resolve what controls it, then its events."""
    flags = plan.segments[identity].flags
    block = plan.segments[identity].block
    function = plan.blocks[block].function
    word = position + 1
    target = np.int64(0)
    if flags & ADDRESS:
        target = words[word]
        word += 1
    address = words[word] if flags & FRAME else np.int64(0)
    if flags & ENTRY:
        _enter(words, thread, function, target, address, plan, columns, stacks)
    else:
        _find_frame(thread, identity, function, flags, address, plan, columns, stacks)
    segment = _append_segment(position, identity, thread, flags, block, plan, columns, stacks)
    top = stacks.depth[thread] - 1
    local = block - plan.functions[function].block_start
    stacks.pool[thread, stacks.place[thread, top] + local] = segment + 1
    stacks.last[thread, top] = segment
    _events(words, position, identity, segment, plan, columns, shadow, stacks.unknown)
    if flags & CALLS:
        stacks.source[thread, top] = 0
        if _calls_unknown(plan, identity):
            stacks.unknown[0] = _last_event(plan, columns, segment)
    elif flags & RETURNS:
        _leave(thread, _last_event(plan, columns, segment), stacks)


@njit(cache=True)
def _calls_unknown(plan: Plan, identity: int) -> bool:
    """Whether the segment ends with a call of which nothing is known: indirect, or without a summary."""
    return plan.sites[plan.segments[identity + 1].site_start - 1].callee == -1  # type: ignore[no-any-return]


@njit(cache=True)
def _enter(
    words: NDArray[np.int64],
    thread: int,
    function: int,
    target: int,
    address: int,
    plan: Plan,
    columns: Columns,
    stacks: Stacks,
) -> None:
    """Push a frame; the frame below tells by its last segment how it was entered."""
    depth = stacks.depth[thread]
    call, kind = -1, ROOT
    if depth:
        call = stacks.last[thread, depth - 1]
        kind = _entry_kind(words, call, function, target, plan, columns)
    _push(thread, function, call, kind, address, plan, columns, stacks)


@njit(cache=True)
def _entry_kind(
    words: NDArray[np.int64], call: int, function: int, target: int, plan: Plan, columns: Columns
) -> int:
    """How ``function`` was entered while the segment ``call`` was the last one of the frame below."""
    identity = columns.segments[call].id
    if not plan.segments[identity].flags & CALLS:
        return SIGNAL
    site = plan.segments[identity + 1].site_start - 1
    callee = plan.sites[site].callee
    if callee >= 0:
        return DIRECT if callee == function else CALLBACK
    if plan.sites[site].word == 0:
        return CALLBACK
    pointer = words[columns.segments[call].word + plan.sites[site].word]
    return DIRECT if target in (0, pointer) else CALLBACK


@njit(cache=True)
def _push(
    thread: int, function: int, call: int, kind: int, address: int, plan: Plan, columns: Columns, stacks: Stacks
) -> None:
    """A new frame on top of the thread's stack."""
    depth = stacks.depth[thread]
    frame = columns.counts[N_FRAME]
    columns.counts[N_FRAME] = frame + 1
    columns.frames[frame].function = function
    columns.frames[frame].call = call
    columns.frames[frame].kind = kind
    blocks = plan.functions[function + 1].block_start - plan.functions[function].block_start
    place = stacks.place[thread, depth]
    stacks.pool[thread, place : place + blocks] = 0
    stacks.place[thread, depth + 1] = place + blocks
    stacks.frame[thread, depth] = frame
    stacks.address[thread, depth] = address
    stacks.source[thread, depth] = 0
    stacks.last[thread, depth] = -1
    stacks.depth[thread] = depth + 1


@njit(cache=True)
def _leave(thread: int, returned: int, stacks: Stacks) -> None:
    """Pop the frame that returned; the one below may take the result."""
    depth = stacks.depth[thread] - 1
    stacks.depth[thread] = depth
    if depth:
        stacks.source[thread, depth - 1] = returned + 1


@njit(cache=True)
def _find_frame(
    thread: int,
    identity: int,
    function: int,
    flags: int,
    address: int,
    plan: Plan,
    columns: Columns,
    stacks: Stacks,
) -> None:
    """Make the frame that a segment belongs to the top one: longjmp leaves frames, a ring starts amid them."""
    depth = stacks.depth[thread]
    while depth:
        segment = stacks.last[thread, depth - 1]
        same = columns.frames[stacks.frame[thread, depth - 1]].function == function
        if flags & FRAME:
            same = same and stacks.address[thread, depth - 1] == address
        elif not flags & FIRST:
            same = same and segment >= 0 and columns.segments[segment].id + 1 == identity
        if same:
            break
        depth -= 1
    stacks.depth[thread] = depth
    if depth == 0:
        _push(thread, function, -1, ROOT, address, plan, columns, stacks)


@njit(cache=True)
def _append_segment(
    position: int, identity: int, thread: int, flags: int, block: int, plan: Plan, columns: Columns, stacks: Stacks
) -> int:
    """Append the row of a segment instance."""
    counts = columns.counts
    segment = counts[N_SEGMENT]
    counts[N_SEGMENT] = segment + 1
    top = stacks.depth[thread] - 1
    last = stacks.last[thread, top]
    columns.segments[segment].id = identity
    columns.segments[segment].frame = stacks.frame[thread, top]
    columns.segments[segment].word = position
    columns.segments[segment].event = counts[N_EVENT]
    columns.segments[segment].outer = counts[N_OUTER]
    if flags & FIRST:
        columns.segments[segment].previous = -1
        columns.segments[segment].pred = last
        columns.segments[segment].control = _controlling(block, thread, plan, stacks)
    else:
        columns.segments[segment].previous = last
        columns.segments[segment].pred = -1
        columns.segments[segment].control = columns.segments[last].control if last >= 0 else -1
        columns.segments[segment].source = stacks.source[thread, top]
    _resolve_outer(identity, thread, plan, columns, stacks)
    return segment  # type: ignore[no-any-return]


@njit(cache=True)
def _last_of(block: int, thread: int, plan: Plan, stacks: Stacks) -> int:
    """The last segment instance of a block in the top frame, -1."""
    place = stacks.place[thread, stacks.depth[thread] - 1]
    local = block - plan.functions[plan.blocks[block].function].block_start
    return stacks.pool[thread, place + local] - 1  # type: ignore[no-any-return]


@njit(cache=True)
def _controlling(block: int, thread: int, plan: Plan, stacks: Stacks) -> int:
    """The latest instance among the branches that the block is control dependent on."""
    latest = -1
    for k in range(plan.blocks[block].control_start, plan.blocks[block + 1].control_start):
        latest = max(latest, _last_of(plan.controls[k].block, thread, plan, stacks))
    return latest


@njit(cache=True)
def _resolve_outer(identity: int, thread: int, plan: Plan, columns: Columns, stacks: Stacks) -> None:
    """Note which instances of other blocks the segment's values come from."""
    for k in range(plan.segments[identity].outer_start, plan.segments[identity + 1].outer_start):
        row = columns.counts[N_OUTER]
        columns.counts[N_OUTER] = row + 1
        columns.outer[row] = _last_of(plan.outers[k].block, thread, plan, stacks)


@njit(cache=True)
def _events(
    words: NDArray[np.int64],
    position: int,
    identity: int,
    segment: int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    unknown: NDArray[np.int64],
) -> None:
    """The segment's events: those that touch memory are carried out on the shadow memory."""
    counts = columns.counts
    event = counts[N_EVENT]
    for site in range(plan.segments[identity].site_start, plan.segments[identity + 1].site_start):
        columns.events[event].segment = segment
        kind = plan.sites[site].kind
        if kind <= VASTART or kind == BYVAL:
            word = position + plan.sites[site].word
            if words[word] != 0:  # the access was reached
                _access(words, word, site, kind, event, segment, plan, columns, shadow, unknown[0])
        event += 1
    counts[N_EVENT] = event


@njit(cache=True)
def _access(
    words: NDArray[np.int64],
    word: int,
    site: int,
    kind: int,
    event: int,
    segment: int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
    unknown: int,
) -> None:
    """One access to memory."""
    address, size, has = words[word], plan.sites[site].size, plan.sites[site].words
    if kind == LOAD and has == 2:
        columns.events[event].definition = load(columns, shadow, address, size, words[word + 1], unknown)
    elif kind == LOAD:
        columns.events[event].definition = writers_of(columns, shadow, address, size)
    elif kind == STORE:
        store(columns, shadow, address, size, words[word + 1], words[word + 2], has, event)
    elif kind == RMW:
        columns.events[event].definition = load(columns, shadow, address, size, words[word + 1], unknown)
        fill(shadow, address, size, new_cell(columns, CELL_SET, event, event + 1, address, size))
    elif kind == COPY:
        copy(columns, shadow, address, words[word + 1], words[word + 2], CELL_COPY, event)
    elif kind == SET:
        length = words[word + 2]
        fill(shadow, address, length, new_cell(columns, CELL_SET, event, event + 1, address, length))
    elif kind == VASTART:
        _variadic(columns, shadow, words, word, event)
    elif kind == BYVAL:
        _by_value(words, address, site, event, segment, plan, columns, shadow)


@njit(cache=True)
def _variadic(columns: Columns, shadow: Shadow, words: NDArray[np.int64], word: int, event: int) -> None:
    """va_start: the list and both areas of arguments come from the call's variadic arguments."""
    cell = new_cell(columns, CELL_VARIADIC, event, event + 1, words[word], 24)
    fill(shadow, words[word], 24, cell)
    if words[word + 3]:
        fill(shadow, words[word + 3], REGISTER_AREA, cell)
    if words[word + 2]:
        fill(shadow, words[word + 2], OVERFLOW_AREA, cell)


@njit(cache=True)
def _by_value(
    words: NDArray[np.int64],
    address: int,
    site: int,
    event: int,
    segment: int,
    plan: Plan,
    columns: Columns,
    shadow: Shadow,
) -> None:
    """A structure argument: the call copied it from where the caller's argument points."""
    frame = columns.segments[segment].frame
    call = columns.frames[frame].call
    if columns.frames[frame].kind != DIRECT or call < 0:
        return
    identity = columns.segments[call].id
    last = plan.segments[identity + 1].site_start - 1
    argument = last - plan.sites[last].aux + plan.sites[site].aux
    source = words[columns.segments[call].word + plan.sites[argument].word]
    copy(columns, shadow, address, source, plan.sites[site].size, CELL_BYVAL, event)
