"""Effect records: what a library call read, wrote, copied, allocated and printed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import (
    N_CELL,
    N_HEAP,
    N_IN,
    N_MULTI_REFERENCE,
    N_OUT,
    N_PIECE,
    CellKind,
    Columns,
)
from whence.trace.kernels import lean
from whence.trace.memory import append_reference, close_list, copy, new_cell, wide, writers_of
from whence.trace.shadow import Int, Shadow, fill

READ, WRITE, COPY, ALLOC, FREE, OUT, PIECE, IN, STATE, RESIZE, STACK = range(
    1, 12
)  # as in probe/runtime/record/record.h
OPERANDS = np.array([0, 2, 2, 3, 2, 2, 2, 2, 2, 1, 2, 2], np.int64)
CELL_READ, CELL_CALL, CELL_ALLOC, CELL_COPY = (
    int(CellKind.READ),
    int(CellKind.CALL),
    int(CellKind.ALLOC),
    int(CellKind.COPY),
)
LONGEST = (np.int64(1) << 31) - 1  # bytes that a cell's length can tell
STATE_BASE = np.int64(1) << 60  # hidden state of the library lies at addresses that no program has


@lean
def check_effects(units: NDArray[np.uint32], start: Int, end: Int) -> bool:
    """Whether an effect record is one; it may be cut off by zeros."""
    position = start + 2
    while position < end and units[position]:
        opcode = wide(units, position) & 255
        if opcode >= len(OPERANDS) or position + 2 * (1 + OPERANDS[opcode]) > end:
            return False
        position += 2 * (1 + OPERANDS[opcode])
    return True


@lean
def apply_effects(
    columns: Columns, shadow: Shadow, units: NDArray[np.uint32], start: Int, end: Int, call: Int, before: Int
) -> Int:
    """Apply one effect record of the call event ``call``; returns the reference to its CALL cell.

    That cell's range is the longest one that the call wrote.

    ``before`` refers to what the call had done before, or called back (0: nothing).
    """
    reads = _reads(columns, shadow, units, start, end, call, before)
    result = new_cell(columns, CELL_CALL, call, reads, 0, 0)
    position = start + 2
    resized, resized_end = np.int64(0), np.int64(0)
    while position < end and units[position]:
        opcode, a = wide(units, position) & 255, wide(units, position) >> 8
        operands = OPERANDS[opcode]
        x = wide(units, position + 2)
        y = wide(units, position + 4) if operands > 1 else np.int64(0)
        z = wide(units, position + 6) if operands > 2 else np.int64(0)
        if opcode == WRITE:
            fill(shadow, x, y, result)
            if y > columns.cells[-result - 1].length:
                columns.cells[-result - 1].address = x
                columns.cells[-result - 1].length = min(y, LONGEST)
        elif opcode == COPY:
            copy(columns, shadow, x, y, z, CELL_COPY, call)
        elif opcode == RESIZE:  # what comes or goes at its end follows
            _heap(columns, x, y, call, True)
            _heap(columns, x, y, call, False)
            resized, resized_end = x, x + y
        elif opcode in (ALLOC, FREE):
            if opcode == FREE or not resized <= x < resized_end:
                _heap(columns, x, y, call, opcode == FREE)
            if opcode == ALLOC:
                fill(shadow, x, y, new_cell(columns, CELL_ALLOC, call, 0, x, y))
        elif opcode == OUT:
            _out(columns, a, x, y, call, result)
        elif opcode == PIECE:
            _piece(columns, a, x, y)
        elif opcode == IN:
            _in(columns, a, x, y, call)
        elif opcode == STATE and a & 2:
            fill(shadow, STATE_BASE | (x & 0xFFFFFFFFFF) << 3, 8, result)
        position += 2 * (1 + OPERANDS[opcode])
    return result


@lean
def _reads(
    columns: Columns, shadow: Shadow, units: NDArray[np.uint32], start: Int, end: Int, call: Int, before: Int
) -> Int:
    """A READ cell for each range read; the definition that stands for them all, and for ``before``."""
    made = columns.counts[N_CELL]
    position = start + 2
    while position < end and units[position]:
        opcode, a = wide(units, position) & 255, wide(units, position) >> 8
        address = np.int64(-1)
        length = np.int64(8)
        if opcode == READ:
            address, length = wide(units, position + 2), wide(units, position + 4)
        elif opcode == STATE and a & 1:
            address = STATE_BASE | (wide(units, position + 2) & 0xFFFFFFFFFF) << 3
        if address != -1:
            definition = writers_of(columns, shadow, address, length)
            new_cell(columns, CELL_READ, call, definition, address, length)
        position += 2 * (1 + OPERANDS[opcode])
    first = columns.counts[N_MULTI_REFERENCE]
    append_reference(columns, first, before)
    for cell in range(made, columns.counts[N_CELL]):
        append_reference(columns, first, -(cell + 1))
    return close_list(columns, first)


@lean
def _heap(columns: Columns, address: Int, length: Int, call: Int, freed: bool) -> None:
    row = columns.counts[N_HEAP]
    columns.counts[N_HEAP] = row + 1
    columns.heap[row].event = call
    columns.heap[row].address = address
    columns.heap[row].length = length
    columns.heap[row].freed = freed


@lean
def _out(columns: Columns, stream: Int, offset: Int, length: Int, call: Int, cell: Int) -> None:
    row = columns.counts[N_OUT]
    columns.counts[N_OUT] = row + 1
    columns.outs[row].event = call
    columns.outs[row].cell = cell
    columns.outs[row].stream = stream
    columns.outs[row].offset = offset
    columns.outs[row].length = length


@lean
def _piece(columns: Columns, argument: Int, offset: Int, length: Int) -> None:
    row = columns.counts[N_PIECE]
    columns.counts[N_PIECE] = row + 1
    columns.pieces[row].out = columns.counts[N_OUT] - 1
    columns.pieces[row].argument = argument
    columns.pieces[row].offset = offset
    columns.pieces[row].length = length


@lean
def _in(columns: Columns, stream: Int, offset: Int, length: Int, call: Int) -> None:
    row = columns.counts[N_IN]
    columns.counts[N_IN] = row + 1
    columns.ins[row].event = call
    columns.ins[row].stream = stream
    columns.ins[row].offset = offset
    columns.ins[row].length = length
