"""Puts blocks that a signal handler came amid behind the handler, where they read what it wrote.

A segment's units are reserved when it begins, so a handler's records stand behind those of the segment that it
interrupted. But a load of that segment may come after the handler: a loop that polls a flag nearly always sees the
flag's new value in the segment that is interrupted. In order of time such a segment belongs behind the handler.
That may be in the next chunk, which begins as much earlier then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.compact import INSTALLERS
from whence.probe.layout import Kind
from whence.probe.plan import CALLS, ENTRY, FIRST, RETURNS, Plan
from whence.program.program import Program
from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT, SWITCH
from whence.trace.kernels import lean
from whence.trace.memory import most_used, wide
from whence.trace.shadow import Int

LOAD, STORE = int(Kind.LOAD), int(Kind.STORE)
NOWHERE = -1


def can_be_interrupted(program: Program) -> bool:
    """Whether the program itself may install a signal handler."""
    return any(not INSTALLERS.isdisjoint(module.declarations) for module in program.modules)


@lean
def put_in_order(units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan) -> Int:
    """Move, in the chunks that begin at ``chunks``, each segment that saw a handler's value; returns how many.

    Where a handler ends in the next chunk, ``chunks`` tells where that one begins from then on.
    """
    moved = 0
    for number in range(len(chunks)):
        moved += _put_chunk_in_order(units, chunks, number, plan)
    return moved


@lean
def _put_chunk_in_order(units: NDArray[np.uint32], chunks: NDArray[np.int64], number: Int, plan: Plan) -> Int:
    """Move each segment of a chunk that saw a handler's value; returns how many."""
    moved = np.int64(0)
    chunk = chunks[number]
    thread = wide(units, chunk + 2)
    position, end = chunk + CHUNK_HEADER_UNITS, _end(units, chunk)
    before: Int = NOWHERE
    while position < end:
        size = _size(units, position, end, plan)
        if size == 0:
            return moved
        begun, header = _flags(units, position, plan), np.int64(units[position])
        if header >> KIND_SHIFT == SWITCH:
            thread = header & IDENTITY
        if before != NOWHERE and begun & ENTRY:
            stop, depth = _handlers_end(units, position, end, np.int64(0), plan)
            if stop == end and depth:
                break
            if stop != NOWHERE and _saw(units, before, position, stop, stop, stop, plan):
                _swap(units, before, position, stop)
                position, before = before, NOWHERE
                moved += 1
                continue
        can_move = begun & FIRST and not begun & (CALLS | RETURNS)
        before = position if can_move else NOWHERE
        position += size
    return moved + (_put_behind(units, chunks, number, before, thread, plan) if before != NOWHERE else np.int64(0))


@lean
def _put_behind(
    units: NDArray[np.uint32], chunks: NDArray[np.int64], number: Int, segment: Int, thread: Int, plan: Plan
) -> Int:
    """Move a segment behind the handlers that follow it and return in the next chunk; whether it saw their values.

    The next chunk begins earlier by the segment's size: its header and what the handlers did there move forward.
    """
    if number + 1 == len(chunks):
        return np.int64(0)
    chunk, other = chunks[number], chunks[number + 1]
    end, other_end = _end(units, chunk), _end(units, other)
    if not end <= other <= chunk + most_used(chunk) or wide(units, other + 2) != thread:  # the ring begins anew
        return np.int64(0)
    start = segment + _size(units, segment, end, plan)
    _, depth = _handlers_end(units, start, end, np.int64(0), plan)
    begin = other + CHUNK_HEADER_UNITS
    stop, depth = _handlers_end(units, begin, other_end, depth, plan)
    size = start - segment
    if stop <= begin or depth or not _saw(units, segment, start, end, begin, stop, plan):
        return np.int64(0)
    _swap(units, segment, start, end)
    for k in range(1, size + 1):
        units[other - k] = units[end - k]
    _swap(units, other - size, other, stop)
    chunks[number + 1] = other - size
    units[chunk + 4] = end - size - chunk
    units[other - size + 4] = other_end - other + size
    return np.int64(1)


@lean
def _end(units: NDArray[np.uint32], chunk: Int) -> Int:
    """Where what a chunk holds ends."""
    used = wide(units, chunk + 4)
    return chunk + (used if 0 < used <= most_used(chunk) else np.int64(CHUNK_UNITS))


@lean
def _size(units: NDArray[np.uint32], position: Int, end: Int, plan: Plan) -> Int:
    """The units of a record, 1 for a unit between records, 0 where there is nonsense."""
    header = np.int64(units[position])
    size = np.int64(1)
    if 0 < header <= IDENTITY:
        size = np.int64(plan.segments[header - 1].units) if header < len(plan.segments) else np.int64(0)
    elif header >> KIND_SHIFT == EFFECT:
        size = header & IDENTITY
    return size if position + size <= end else np.int64(0)


@lean
def _flags(units: NDArray[np.uint32], position: Int, plan: Plan) -> Int:
    """The flags of the segment that stands there, 0 for another record."""
    header = np.int64(units[position])
    return np.int64(plan.segments[header - 1].flags) if 0 < header <= IDENTITY else np.int64(0)


@lean
def _handlers_end(units: NDArray[np.uint32], start: Int, end: Int, depth: Int, plan: Plan) -> tuple[Int, Int]:
    """Where the handlers that begin at ``start``, or go on there at a depth, have returned, and the depth that is left.

    That is at the chunk's end at the latest; NOWHERE if it is not seen.
    """
    position = start
    while position < end:
        flags, header = _flags(units, position, plan), np.int64(units[position])
        size = _size(units, position, end, plan)
        if depth == 0 and not flags & ENTRY:
            return position, depth
        if size == 0 or header >> KIND_SHIFT > EFFECT:  # another thread goes on, or is started
            return np.int64(NOWHERE), depth
        if flags & ENTRY:
            depth += 1
        if flags & RETURNS:
            depth -= 1
        position += size
    return position, depth


@lean
def _saw(units: NDArray[np.uint32], segment: Int, start: Int, end: Int, begin: Int, stop: Int, plan: Plan) -> bool:
    """Whether each value that the segment read, of what the handlers stored, is theirs.

    They stand from ``start`` to ``end`` and from ``begin`` to ``stop``.
    """
    number = units[segment] - 1
    seen = False
    for k in range(plan.segments[number].access_start, plan.segments[number + 1].access_start):
        access = plan.accesses[k]
        if access.kind != LOAD or not _has_value(access):
            continue
        unit = segment + access.unit
        address = wide(units, unit)
        stored = _last_stored(units, address, access.size, begin, stop, plan)
        if stored == NOWHERE:
            stored = _last_stored(units, address, access.size, start, end, plan)
        if stored == NOWHERE:
            continue
        if not _same(units, unit + 2, stored, access.units - 2):
            return False
        seen = True
    return seen


@lean
def _has_value(access: object) -> bool:
    """Whether an access by address tells the value of its bytes."""
    return access.slot < 0 and 2 < access.units <= 4  # type: ignore[attr-defined, no-any-return]


@lean
def _last_stored(units: NDArray[np.uint32], address: Int, size: Int, start: Int, stop: Int, plan: Plan) -> Int:
    """The unit of the value that was stored last at an address, from ``start`` to ``stop``; NOWHERE: none was."""
    found = np.int64(NOWHERE)
    position = start
    while position < stop:
        header = np.int64(units[position])
        if 0 < header <= IDENTITY:
            for k in range(plan.segments[header - 1].access_start, plan.segments[header].access_start):
                access = plan.accesses[k]
                unit = position + access.unit
                if access.kind == STORE and _has_value(access) and access.size == size and wide(units, unit) == address:
                    found = unit + 2
        position += _size(units, position, stop, plan)
    return found if address else np.int64(NOWHERE)


@lean
def _same(units: NDArray[np.uint32], one: Int, other: Int, count: Int) -> bool:
    """Whether as many units are the same."""
    same = True
    for k in range(count):
        same = same and units[one + k] == units[other + k]
    return same


@lean
def _swap(units: NDArray[np.uint32], start: Int, middle: Int, stop: Int) -> None:
    """Exchange two stretches of units that follow one another: each turned around, then both."""
    _turn_around(units, start, middle)
    _turn_around(units, middle, stop)
    _turn_around(units, start, stop)


@lean
def _turn_around(units: NDArray[np.uint32], start: Int, stop: Int) -> None:
    for k in range((stop - start) // 2):
        units[start + k], units[stop - 1 - k] = units[stop - 1 - k], units[start + k]
