"""What library calls did in a recorded run, operation by operation, as their effect records in the trace tell it.

Decoding keeps one written range a call; what lies in memory at a point needs all of them, and where bytes were copied
from. A kernel finds the records. Their operations are read with all records side by side: a round for each operation of
the longest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT
from whence.trace.effects import OPERANDS
from whence.trace.given import RECORD
from whence.trace.kernels import lean
from whence.trace.shadow import Int
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
STATICS = 0  # the function of records that tell where static variables lie
OPERATION = np.dtype(
    [
        ("event", np.int64),  # the last one of the run before it
        ("record", np.int64),  # the number of the record that it stands in
        ("function", np.int64),  # number in the library's table
        ("opcode", np.int64),  # as in trace/effects.py
        ("a", np.int64),
        ("x", np.int64),  # operands, as far as the operation has them
        ("y", np.int64),
        ("z", np.int64),
    ]
)


def operations(trace: Trace) -> Any:
    """All operations of library calls (OPERATION rows) in order of time."""
    last = np.append(trace.columns.segments["event"][1 : trace.segments], trace.events).astype(np.int64) - 1
    sizes = np.ascontiguousarray(trace.plan.segments["units"])
    found = np.zeros((3, _records(trace.units, trace.chunks, sizes, last, np.zeros((3, 0), np.int64))), np.int64)
    _records(trace.units, trace.chunks, sizes, last, found)
    starts, ends, events = found[:, ~np.isin(trace.units[found[0] + 1], (STATICS, RECORD))]
    parts, at, numbers = [np.zeros(0, OPERATION)], starts + 2, np.arange(len(starts))
    while len(numbers):
        is_there = at < ends[numbers]
        is_there[is_there] = trace.units[at[is_there]] != 0
        at, numbers = at[is_there], numbers[is_there]
        rows, words = np.zeros(len(at), OPERATION), trace.wide(at)
        rows["event"], rows["record"], rows["function"] = events[numbers], numbers, trace.units[starts[numbers] + 1]
        rows["opcode"], rows["a"] = words & 255, words >> 8
        counts = OPERANDS[rows["opcode"]]
        for number, name in enumerate("xyz"):
            has = counts > number
            rows[name][has] = trace.wide(at[has] + 2 * (1 + number))
        parts.append(rows)
        at = at + 2 * (1 + counts)
    table = np.concatenate(parts)
    return table[np.argsort(table["record"], kind="stable")]


def static_addresses(trace: Trace) -> Integers:
    """Where the program's static variables lie, in the order of ``probe.variables``; a recording begins with them."""
    found = [np.zeros(0, np.int64)]
    for chunk in trace.chunks.tolist():
        position, end = chunk + CHUNK_HEADER_UNITS, chunk + (int(trace.units[chunk + 4]) or CHUNK_UNITS)
        while position < end and (header := int(trace.units[position])) >> KIND_SHIFT == EFFECT:
            behind = position + (header & IDENTITY)
            if trace.units[position + 1] == STATICS:
                found.append(trace.wide(np.arange(position + 2, behind, 2)))
            position = behind
        if position < end:
            break
    return np.concatenate(found)


@lean
def _records(
    units: NDArray[np.uint32], chunks: Integers, sizes: NDArray[np.int32], last: Integers, found: NDArray[np.int64]
) -> Int:
    """Enter where effect records begin and end, and the event before each, as far as there is room; how many there are.

    ``last`` has for each segment instance its last event.
    """
    count, segments, room = np.int64(0), np.int64(0), found.shape[1]
    for chunk in chunks:
        used = np.int64(units[chunk + 4])
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end and segments <= len(last):
            header = np.int64(units[position])
            if header == 0:
                position += 1
            elif header <= IDENTITY:
                segments += 1
                position += np.int64(sizes[header - 1])
            elif header >> KIND_SHIFT == EFFECT:
                if count < room:
                    found[0, count], found[1, count] = position, position + (header & IDENTITY)
                    found[2, count] = last[segments - 1] if segments else -1
                count += 1
                position += header & IDENTITY
            else:
                position += 1
    return count
