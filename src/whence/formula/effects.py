"""What library calls did, as the trace's effect records say: see "Effect records" in docs/architecture.md."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT
from whence.trace.effects import OPERANDS
from whence.trace.trace import HEADER_UNITS, Trace


class Opcode(IntEnum):
    """Operations of an effect record."""

    READ = 1
    WRITE = 2
    COPY = 3
    ALLOC = 4
    FREE = 5
    OUT = 6
    PIECE = 7
    IN = 8
    STATE = 9
    RESIZE = 10
    STACK = 11


class Effect(NamedTuple):
    """One operation: ``a`` is its small operand, ``operands`` the words that follow."""

    opcode: Opcode
    a: int
    operands: tuple[int, ...]


class Effects:
    """Finds the effect records of a trace behind its segments."""

    def __init__(self, trace: Trace) -> None:
        self._units = trace.units
        kept = min(trace.header.chunks, trace.header.limit)
        starts = HEADER_UNITS + CHUNK_UNITS * np.arange(kept, dtype=np.int64)
        order = np.argsort(trace.units[starts], kind="stable")
        self._start_after = dict(zip(order[:-1].tolist(), starts[order[1:]].tolist(), strict=True))

    def after(self, position: int) -> list[Effect]:
        """The operations of the records of effects at a unit: none where something else stands there."""
        found: list[Effect] = []
        position = self._skip_end(position)
        while position < len(self._units):
            header = int(self._units[position])
            if header >> KIND_SHIFT != EFFECT:
                break
            size = header & IDENTITY
            found += _read(self._units[position + 2 : position + size].view(np.uint64))
            position = self._skip_end(position + size)
        return found

    def _skip_end(self, position: int) -> int:
        """The place of the next record, which may be in the next chunk."""
        chunk = (position - 1 - HEADER_UNITS) // CHUNK_UNITS
        start = HEADER_UNITS + chunk * CHUNK_UNITS
        used = int(self._units[start + 4]) or CHUNK_UNITS
        if position < start + used or chunk not in self._start_after:
            return position
        return int(self._start_after[chunk]) + CHUNK_HEADER_UNITS


def _read(words: NDArray[np.uint64]) -> list[Effect]:
    found: list[Effect] = []
    place = 0
    numbers = words.tolist()
    while place < len(numbers) and numbers[place]:
        opcode = Opcode(numbers[place] & 255)
        end = place + 1 + int(OPERANDS[opcode])
        found.append(Effect(opcode, numbers[place] >> 8, tuple(numbers[place + 1 : end])))
        place = end
    return found
