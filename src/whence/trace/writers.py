"""Who wrote last what lies in memory at a point of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean

Integers = NDArray[np.int64]
NOTHING = -1  # writer of bytes that nothing recorded wrote


def last_writers(writes: Any, upto: int, starts: Integers, lengths: Integers) -> Integers:
    """For each byte of some ranges, one behind the other, the event up to ``upto`` that wrote it last, or NOTHING.

    ``writes`` are ACCESS records in order of time; the ranges ascend and do not overlap.
    """
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    found = np.full(int(offsets[-1]), NOTHING, np.int64)
    count = int(np.searchsorted(writes["event"], upto, side="right"))
    events, addresses, sizes = (
        np.ascontiguousarray(writes[name][:count], np.int64) for name in ("event", "address", "length")
    )
    _fill(events, addresses, sizes, starts, starts + lengths, offsets, found)
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
    """Enter the writes, the last of which stays."""
    for row in range(len(events)):
        first, last = addresses[row], addresses[row] + lengths[row]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if ends[middle] <= first:
                low = middle + 1
            else:
                high = middle
        while low < len(starts) and starts[low] < last:
            begin, end = max(first, starts[low]), min(last, ends[low])
            for byte in range(begin, end):
                found[offsets[low] + byte - starts[low]] = events[row]
            low += 1
