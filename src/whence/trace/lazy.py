"""Arrays whose pages the system supplies when they are first touched.

How many events, cells or pages a trace needs is known only at its end. Reserving addresses for the largest case costs
nothing, so kernels never have to grow an array.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from whence.errors import TraceError

NORESERVE = 0x4000  # MAP_NORESERVE of Linux
DONTNEED = 4  # MADV_DONTNEED


def lazy_zeros(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """A zeroed array of ``length`` items that takes memory only where it is touched.

    Raises TraceError where the system refuses to reserve the addresses.
    """
    size = max(1, length) * np.dtype(dtype).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE
    try:
        return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype)
    except (OSError, ValueError) as error:
        hint = "allow overcommit (vm.overcommit_memory=0) or raise the limit on address space (ulimit -v)"
        raise TraceError(f"cannot reserve {size >> 30} GiB of addresses: {error}", hint) from error


def forget(table: NDArray[Any], first: int, stop: int) -> None:
    """Give back the memory of the rows from ``first`` to ``stop`` of a lazily zeroed array: they are zero again.

    Rows that share a page with others keep what they hold.
    """
    start, size = table.ctypes.data, table.dtype.itemsize
    begin = -(-(start + first * size) // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (start + stop * size) // mmap.PAGESIZE * mmap.PAGESIZE - begin
    if length > 0:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(length), DONTNEED)
