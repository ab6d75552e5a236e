"""Events that touch memory: what a load's bytes come from, and what a write leaves behind."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from whence.trace.columns import (
    N_CELL,
    N_MULTI,
    N_MULTI_REFERENCE,
    CellKind,
    Columns,
)
from whence.trace.shadow import MAX_CELLS, Int, Shadow, byte_place, fill, holds, sole_writer, write_word

MIXED = np.int64(1) << 40
COPY, SET, UNKNOWN = int(CellKind.COPY), int(CellKind.SET), int(CellKind.UNKNOWN)
NO_EVENT = -1


@njit(cache=True)
def wide(units: NDArray[np.uint32], position: Int) -> Int:
    """Two units as one 64-bit number."""
    return np.int64(units[position]) | np.int64(units[position + 1]) << 32


@njit(cache=True)
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


@njit(cache=True)
def append_reference(columns: Columns, start: Int, reference: Int) -> None:
    """Add a reference to the list that begins at ``start``, unless it is 0 or there already (looked for among the last 16)."""
    end = columns.counts[N_MULTI_REFERENCE]
    if reference == 0:
        return
    for k in range(max(start, end - 16), end):
        if columns.multi_reference[k] == reference:
            return
    columns.multi_reference[end] = reference
    columns.counts[N_MULTI_REFERENCE] = end + 1


@njit(cache=True)
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


@njit(cache=True)
def writers_of(columns: Columns, shadow: Shadow, address: Int, length: Int) -> Int:
    """The definition of a range of bytes: whatever last wrote any of them."""
    if 0 < length <= 8:
        writer = sole_writer(shadow, address, length, MIXED)
        if writer != MIXED:
            return writer
    start = columns.counts[N_MULTI_REFERENCE]
    last = 0
    for k in range(length):
        writer = shadow.writer[byte_place(shadow, address + k)]
        if writer != last:
            append_reference(columns, start, writer)
            last = writer
    return close_list(columns, start)


@njit(cache=True)
def load(columns: Columns, shadow: Shadow, address: Int, size: Int, value: Int, unknown: Int) -> Int:
    """The definition of a load of a recorded value.

    Where the value differs from the bytes as they were last stored, something unrecorded wrote them: ``unknown``, the last
    call without a summary (-1: there was none), gets a cell as their writer.
    """
    definition = writers_of(columns, shadow, address, size)
    if definition > 0 and size <= 8 and not holds(shadow, address, size, value):
        writer = 0 if unknown == NO_EVENT else new_cell(columns, UNKNOWN, unknown, 0, address, size)
        write_word(shadow, address, size, value, writer)
        return writer
    return definition


@njit(cache=True)
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


@njit(cache=True)
def _copy_stretch(
    columns: Columns, shadow: Shadow, target: Int, source: Int, length: Int, kind: Int, event: Int
) -> None:
    """Copy up to 8 bytes: one cell, defined by what wrote the source."""
    definition = writers_of(columns, shadow, source, length)
    reference = new_cell(columns, kind, event, definition, target, length)
    held = np.int64(0)
    for k in range(length):
        held |= np.int64(shadow.content[byte_place(shadow, source + k)]) << (8 * k)
    write_word(shadow, target, length, held, reference)


@njit(cache=True)
def copy(columns: Columns, shadow: Shadow, target: Int, source: Int, length: Int, kind: Int, event: Int) -> None:
    """Copy bytes in cells that end at multiples of 8 of the target; overlapping ranges as memmove treats them."""
    if source < target < source + length:
        end = target + length
        while end > target:
            start = max(target, (end - 1) & -8)
            _copy_stretch(columns, shadow, start, source + (start - target), end - start, kind, event)
            end = start
        return
    start = target
    while start < target + length:
        end = min(target + length, (start & -8) + 8)
        _copy_stretch(columns, shadow, start, source + (start - target), end - start, kind, event)
        start = end
