"""Who wrote last what lies in memory at a point of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean
from whence.trace.touched import Touched

Integers = NDArray[np.int64]
NOTHING = -1  # writer of bytes that nothing recorded wrote


class Writers:
    """What a run wrote to memory, in order of time."""

    def __init__(self, writes: Touched) -> None:
        self._events, self._addresses, self._lengths = writes.event, writes.address, writes.length

    def last(self, upto: int, starts: Integers, lengths: Integers) -> Integers:
        """For each byte of some ranges, one behind the other, the event up to ``upto`` that wrote it last, or NOTHING.

        The ranges ascend and do not overlap.
        """
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        found = np.full(int(offsets[-1]), NOTHING, np.int64)
        count = int(np.searchsorted(self._events, upto, side="right"))
        _fill(self._events[:count], self._addresses, self._lengths, starts, starts + lengths, offsets, found)
        return found


@lean
def _fill(
    events: Integers,
    addresses: Integers,
    lengths: Integers,
    starts: Integers,
    ends: Integers,
    offsets: Integers,
    found: Integers,
) -> None:
    """Enter the writes, the last one first, until all bytes have theirs."""
    left = len(found)
    for row in range(len(events) - 1, -1, -1):
        if not left:
            return
        first, last = addresses[row], addresses[row] + lengths[row]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if ends[middle] <= first:
                low = middle + 1
            else:
                high = middle
        while low < len(starts) and starts[low] < last:
            for byte in range(max(first, starts[low]), min(last, ends[low])):
                place = offsets[low] + byte - starts[low]
                if found[place] == NOTHING:
                    found[place] = events[row]
                    left -= 1
            low += 1
