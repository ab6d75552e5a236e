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
    """The blocks of a recorded run, in order of their clocks.

    The hash of the blocks b1, b2, ... is the polynomial of the numbers b + 1 in ``FACTOR``, of 64 bits.
    """

    def __init__(self, trace: Trace) -> None:
        ids = trace.columns.segments["id"][: trace.segments]
        starts = trace.plan.segments["flags"][ids] & FIRST != 0
        blocks = trace.plan.segments["block"][ids[starts]].astype(np.uint64) + np.uint64(1)
        self._sums = _sums(blocks)

    def __len__(self) -> int:
        return len(self._sums) - 1

    def hash(self, first: int, last: int) -> int:
        """The hash of the blocks behind that of clock ``first``, up to that of clock ``last``."""
        part = (int(self._sums[last + 1]) - int(self._sums[first + 1])) % _WORD
        return part * pow(FACTOR, last, _WORD) % _WORD


def _sums(blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Before each block, and at the end, the sum of those before it, each divided by the power of its clock."""
    powers = np.full(len(blocks), _INVERSE, np.uint64)
    powers[:1] = 1
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(blocks * np.cumprod(powers), dtype=np.uint64)])
