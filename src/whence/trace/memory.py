"""Events that touch memory: what a load's bytes come from, and what a write leaves behind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import (
    CHUNK_UNITS,
    HEADER_UNITS,
    N_CELL,
    N_MULTI,
    N_MULTI_REFERENCE,
    CellKind,
    Columns,
)
from whence.trace.kernels import lean
from whence.trace.shadow import (
    HIGHEST,
    MAX_CELLS,
    PAGE,
    Int,
    Shadow,
    byte_place,
    fill,
    fill_known,
    holds,
    known_base,
    sole_writer,
    write_word,
)

MIXED = np.int64(1) << 40
MOST_COPIED = np.int64(1) << 28  # bytes; a longer copy, most likely one that crashed, is one cell without an origin
SET, ALLOC, UNKNOWN = int(CellKind.SET), int(CellKind.ALLOC), int(CellKind.UNKNOWN)
NO_EVENT = -1
DOUBTED = 512  # bytes behind a pointer that a call without a summary may have written
LOWEST, STACKS = np.int64(1) << 16, np.int64(0x7FF000000000)  # the least address, and that of stacks and mapped blocks


@lean
def wide(units: NDArray[np.uint32], position: Int) -> Int:
    """Two units as one 64-bit number."""
    return np.int64(units[position]) | np.int64(units[position + 1]) << 32


@lean
def most_used(chunk: Int) -> Int:
    """The units that the chunk there can have: more than others where it begins earlier (``interrupted.py``)."""
    return np.int64(CHUNK_UNITS) + (HEADER_UNITS - chunk) % CHUNK_UNITS


@lean
def new_cell(columns: Columns, kind: Int, parent: Int, definition: Int, address: Int, length: Int) -> Int:
    """Append a cell; returns the reference to it."""
    cell = columns.counts[N_CELL]
    columns.counts[N_CELL] = cell + 1
    columns.cells[cell].kind = kind
    columns.cells[cell].parent = parent
    columns.cells[cell].definition = definition
    columns.cells[cell].address = address
    columns.cells[cell].length = length
    return -(cell + 1)


@lean
def append_reference(columns: Columns, start: Int, reference: Int) -> None:
    """Add a reference to the list that begins at ``start``, unless it is 0 or among the last 16 there."""
    end = columns.counts[N_MULTI_REFERENCE]
    if reference == 0:
        return
    for k in range(max(start, end - 16), end):
        if columns.multi_reference[k] == reference:
            return
    columns.multi_reference[end] = reference
    columns.counts[N_MULTI_REFERENCE] = end + 1


@lean
def close_list(columns: Columns, start: Int) -> Int:
    """The definition that stands for the references gathered since ``start``: none, the one, or their list."""
    length = columns.counts[N_MULTI_REFERENCE] - start
    if length == 0:
        return 0
    if length == 1:
        columns.counts[N_MULTI_REFERENCE] = start
        return columns.multi_reference[start]
    number = columns.counts[N_MULTI]
    columns.counts[N_MULTI] = number + 1
    columns.multi_start[number] = start
    columns.multi_start[number + 1] = start + length
    return -MAX_CELLS - 1 - number


@lean
def writers_of(columns: Columns, shadow: Shadow, address: Int, length: Int) -> Int:
    """The definition of a range of bytes: whatever last wrote any of them."""
    if 0 < length <= 8:
        writer = sole_writer(shadow, address, length, MIXED)
        if writer != MIXED:
            return writer
    start = columns.counts[N_MULTI_REFERENCE]
    end = address + min(length, MOST_COPIED)
    while address < end:
        offset = address & (PAGE - 1)
        take = min(PAGE - offset, end - address)
        base = known_base(shadow, address >> 12)
        last: Int = 0
        for place in range(base + offset, base + offset + take if base >= 0 else 0):
            if shadow.writer[place] != last:
                last = shadow.writer[place]
                append_reference(columns, start, last)
        address += take
    return close_list(columns, start)


@lean
def load(columns: Columns, shadow: Shadow, address: Int, size: Int, value: Int, unknown: Int) -> Int:
    """The definition of a load of a recorded value.

    Where the value differs from the bytes as they were last stored, something unrecorded wrote them: ``unknown``, the
    last call without a summary (-1: there was none), gets a cell as their writer.
    """
    definition = writers_of(columns, shadow, address, size)
    if definition > 0 and size <= 8 and not holds(shadow, address, size, value):
        writer = 0 if unknown == NO_EVENT else new_cell(columns, UNKNOWN, unknown, 0, address, size)
        write_word(shadow, address, size, value, writer)
        return writer
    return definition


@lean
def store(
    columns: Columns, shadow: Shadow, address: Int, size: Int, low: Int, high: Int, known: bool, event: Int
) -> None:
    """Note a store by ``event``; where its value is not recorded (not ``known``), it leaves a cell as the writer."""
    if not known:
        fill(shadow, address, size, new_cell(columns, SET, event, event + 1, address, size))
        return
    write_word(shadow, address, min(size, 8), low, event + 1)
    if size > 8:
        write_word(shadow, address + 8, size - 8, high, event + 1)


@lean
def _copy_run(
    columns: Columns, shadow: Shadow, target: Int, source: Int, length: Int, down: bool, kind: Int, event: Int
) -> Int:
    """Copy the first bytes of a range (the last ones when going ``down``) that have one writer; returns how many.

    They leave one cell, defined by that writer. A run ends where a page does, on either side.
    """
    start = length - 1 if down else 0
    step = -1 if down else 1
    place, to = byte_place(shadow, source + start), byte_place(shadow, target + start)
    writer = shadow.writer[place]
    from_offset, to_offset = (source + start) & (PAGE - 1), (target + start) & (PAGE - 1)
    room = min(from_offset, to_offset) + 1 if down else PAGE - max(from_offset, to_offset)
    room = min(room, length)
    run = 1
    while run < room and shadow.writer[place + step * run] == writer:
        run += 1
    first = target + start - run + 1 if down else target
    reference = new_cell(columns, kind, event, writer, first, run)
    for k in range(run):
        shadow.content[to + step * k] = shadow.content[place + step * k]
        shadow.writer[to + step * k] = reference
    return run


@lean
def copy(columns: Columns, shadow: Shadow, target: Int, source: Int, length: Int, kind: Int, event: Int) -> None:
    """Copy bytes, a cell for each run of bytes that one event or cell wrote; overlapping ranges as memmove does."""
    if length > MOST_COPIED:
        fill_known(shadow, target, length, new_cell(columns, kind, event, 0, target, min(length, MOST_COPIED)))
        return
    down = source < target < source + length
    while length > 0:
        run = _copy_run(columns, shadow, target, source, length, down, kind, event)
        length -= run
        if not down:
            target += run
            source += run


@lean
def doubt(columns: Columns, shadow: Shadow, address: Int, call: Int) -> None:
    """Bytes from an address on may have been written by the ``call`` of a function without a summary.

    Those that a store wrote are left out, since their value tells, and static data that nothing has written. Each
    remaining run of bytes with one writer gets a cell.
    """
    if not LOWEST <= address < HIGHEST:
        return
    end = address + DOUBTED
    while address < end:
        writer = shadow.writer[byte_place(shadow, address)]
        first = address
        while address < end and shadow.writer[byte_place(shadow, address)] == writer:
            address += 1
        if writer < 0 and columns.cells[-writer - 1].kind == ALLOC:
            block = columns.cells[-writer - 1]
            end = min(end, block.address + block.length)
            address = min(address, end)
        if writer < 0 or (writer == 0 and first >= STACKS):
            fill(shadow, first, address - first, new_cell(columns, UNKNOWN, call, writer, first, address - first))
