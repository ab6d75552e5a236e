"""What library calls did, as the trace's effect records say: see "Effect records" in docs/architecture.md."""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT
from whence.trace.effects import OPERANDS
from whence.trace.trace import Trace


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
        self._units, self._starts = trace.units, np.sort(trace.chunks)
        self._start_after: dict[int, int] = dict(pairwise(trace.chunks.tolist()))  # in order of time

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
        start = int(self._starts[np.searchsorted(self._starts, position - 1, side="right") - 1])
        used = int(self._units[start + 4]) or CHUNK_UNITS
        if position < start + used or start not in self._start_after:
            return position
        return self._start_after[start] + CHUNK_HEADER_UNITS


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
