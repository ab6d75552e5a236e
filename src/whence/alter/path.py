"""The way that a run takes, in one number: by it, a continuation that stops is known to have taken that way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import FIRST
from whence.trace.trace import Trace

FACTOR = 0x9E3779B97F4A7C15  # as in probe/runtime/alter/changes.c
_WORD = 1 << 64
_INVERSE = pow(FACTOR, -1, _WORD)


class Path:
    """The blocks of a recorded run, in order of their clocks; ``blocks`` gives them other numbers (-1: none).

    The hash of the blocks b1, b2, ... is the polynomial of the numbers b + 1 in ``FACTOR``, of 64 bits.
    """

    def __init__(self, trace: Trace, blocks: NDArray[np.int64] | None = None) -> None:
        ids = trace.columns.segments["id"][: trace.segments]
        starts = trace.plan.segments["flags"][ids] & FIRST != 0
        numbers = trace.plan.segments["block"][ids[starts]].astype(np.int64)
        numbers = numbers if blocks is None else blocks[numbers]
        self._sums = _sums((numbers + 1).astype(np.uint64))
        self._unnamed = np.concatenate([[0], np.cumsum(numbers < 0)])

    def __len__(self) -> int:
        return len(self._sums) - 1

    def hash(self, first: int, last: int) -> int | None:
        """The hash of the blocks behind that of clock ``first``, up to that of clock ``last``.

        None where one of them has no number.
        """
        if self._unnamed[last + 1] != self._unnamed[first + 1]:
            return None
        part = (int(self._sums[last + 1]) - int(self._sums[first + 1])) % _WORD
        return part * pow(FACTOR, last, _WORD) % _WORD


def _sums(blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Before each block, and at the end, the sum of those before it, each divided by the power of its clock."""
    powers = np.full(len(blocks), _INVERSE, np.uint64)
    powers[:1] = 1
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(blocks * np.cumprod(powers), dtype=np.uint64)])
