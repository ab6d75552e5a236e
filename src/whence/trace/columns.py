"""What decoding a trace yields: flat columns over segment instances, events, cells and frames.

*Segment instances* are the executed stretches of blocks in order of time; an instance's *events* are consecutive, one
a static site. *Cells* stand for what is no event of its own: each run of a copy's bytes that have one writer, and
what a library call read, wrote or allocated. A *reference* is 0 (nothing recorded), ``event + 1`` or ``-(cell + 1)``;
a definition below ``-MAX_CELLS`` names the list ``multi_*`` of several references.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.lazy import lazy_zeros

HEADER_UNITS = 1024  # units before the first chunk of the trace file: a page
CHUNK_UNITS = 131072  # units of a chunk
CAPACITY = (1 << 31) - 16
SMALL = 1 << 27


class CellKind(IntEnum):
    """What a cell stands for."""

    COPY = 1  # a run of bytes with one writer, of a memcpy-like intrinsic or library copy
    SET = 2  # the bytes of a memset, or of a store whose value is not recorded
    VARIADIC = 3  # an argument of a variadic call, where va_arg finds it
    BYVAL = 4  # a run of bytes of a structure argument
    READ = 5  # bytes that a library call read
    CALL = 6  # all that a library call read: what its result and its written bytes come from
    ALLOC = 7  # a fresh block: contents undefined
    UNKNOWN = 8  # written, or perhaps written, by a call that no summary describes


class FrameKind(IntEnum):
    """How a frame was entered."""

    DIRECT = 0  # by a recorded call: parameters are its arguments
    CALLBACK = 1  # from a library function that a recorded call called
    ROOT = 2  # from outside: main, a thread's start, a constructor, the first frames of a ring
    SIGNAL = 3  # a signal handler
    THREAD = 4  # a thread's first function: its parameter is the last argument of the call that started the thread


SEGMENT = np.dtype(
    [
        ("id", np.int32),  # static segment
        ("frame", np.int32),
        ("previous", np.int32),  # the same block's segment before it, -1 for the first
        ("pred", np.int32),  # first segments: the last segment of the block before in the frame, -1
        ("control", np.int32),  # the segment whose branch controls it, -1: the frame's call
        ("source", np.int32),  # behind a call: reference to what its result comes from
        ("event", np.int32),  # number of its first event
        ("outer", np.int32),  # where its outer blocks' segments start in ``outer``
        ("word", np.int64),  # index of its header in the trace's words
    ]
)
EVENT = np.dtype(
    [
        ("segment", np.int32),
        ("definition", np.int32),  # loads: what defined the bytes
    ]
)
CELL = np.dtype(
    [
        ("kind", np.int32),
        ("parent", np.int32),  # the event that made it
        ("definition", np.int32),
        ("length", np.int32),
        ("address", np.int64),
    ]
)
FRAME = np.dtype(
    [
        ("function", np.int32),
        ("call", np.int32),  # the segment that ends with the call, -1
        ("kind", np.int32),
    ]
)
OUT = np.dtype(
    [("event", np.int32), ("cell", np.int32), ("stream", np.int64), ("offset", np.int64), ("length", np.int64)]
)
PIECE = np.dtype([("out", np.int32), ("argument", np.int32), ("offset", np.int64), ("length", np.int64)])
IN = np.dtype([("event", np.int32), ("stream", np.int32), ("offset", np.int64), ("length", np.int64)])
HEAP = np.dtype([("event", np.int32), ("freed", np.int32), ("address", np.int64), ("length", np.int64)])

Table = Any  # an array of one of the record types above; type checkers know no fields of records


class Columns(NamedTuple):
    """The tables; ``counts`` holds how many rows of each are in use (see the ``N_*`` constants)."""

    counts: NDArray[np.int64]
    segments: Table
    events: Table
    cells: Table
    outer: NDArray[np.int32]
    multi_start: NDArray[np.int64]
    multi_reference: NDArray[np.int32]
    frames: Table
    outs: Table
    pieces: Table
    ins: Table
    heap: Table


N_SEGMENT, N_EVENT, N_CELL, N_MULTI, N_MULTI_REFERENCE, N_OUTER, N_FRAME, N_OUT, N_PIECE, N_IN, N_HEAP = range(11)
N_COUNTS = 11


def new_columns() -> Columns:
    """Empty tables with room for the largest trace; memory is taken as they fill."""
    return Columns(
        np.zeros(N_COUNTS, np.int64),
        lazy_zeros(CAPACITY, SEGMENT),
        lazy_zeros(CAPACITY, EVENT),
        lazy_zeros(CAPACITY, CELL),
        lazy_zeros(CAPACITY, np.int32),
        lazy_zeros(CAPACITY, np.int64),
        lazy_zeros(CAPACITY, np.int32),
        lazy_zeros(CAPACITY, FRAME),
        *(lazy_zeros(SMALL, dtype) for dtype in (OUT, PIECE, IN, HEAP)),
    )


def trimmed(columns: Columns) -> Columns:
    """Copies of the rows in use, and one more of each; a process has addresses for a few hundred untrimmed ones."""
    counts = columns.counts
    used = (N_SEGMENT, N_EVENT, N_CELL, N_OUTER, N_MULTI, N_MULTI_REFERENCE, N_FRAME, N_OUT, N_PIECE, N_IN, N_HEAP)
    tables = zip(columns[1:], used, strict=True)
    return Columns(counts, *(table[: int(counts[number]) + 1].copy() for table, number in tables))
