"""The arguments behind the ``...`` of a function: memory of its frame, where ``va_arg`` and ``vprintf`` find them.

Compiled code puts them there when the function is entered, so they count as written when they were given.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whence.trace.columns import CellKind
from whence.trace.touched import Touched
from whence.trace.trace import Trace

Integers = NDArray[np.int64]


class VariadicArguments:
    """Those of all calls of a run whose lists of arguments were begun (``va_start``)."""

    def __init__(self, trace: Trace) -> None:
        cells = trace.columns.cells[: trace.cells]
        cells = cells[cells["kind"] == CellKind.VARIADIC]
        self._events, first = np.unique(cells["definition"].astype(np.int64) - 1, return_index=True)
        cells = cells[first]
        self._addresses, self._lengths = (cells[name].astype(np.int64) for name in ("address", "length"))
        segments = trace.columns.events["segment"][cells["parent"]]
        self._frames = trace.columns.segments["frame"][segments].astype(np.int64)

    def among(self, writes: Touched) -> Touched:
        """What a run wrote, in order of time, and these, each written by the event of the argument."""
        ours = Touched(self._events, self._addresses, self._lengths, np.ones(len(self._events), np.bool_))
        both = Touched(*(np.concatenate(columns) for columns in zip(writes, ours, strict=True)))
        return both.where(np.argsort(both.event, kind="stable")) if len(self._events) else writes

    def of(self, frame: int) -> dict[str, tuple[int, int]]:
        """Those that a frame was given, by their order: address and size."""
        return self._by_frame.get(frame, {})

    @cached_property
    def _by_frame(self) -> dict[int, dict[str, tuple[int, int]]]:
        found: dict[int, dict[str, tuple[int, int]]] = {}
        for frame, address, length in zip(self._frames.tolist(), self._addresses, self._lengths, strict=True):
            mine = found.setdefault(frame, {})
            mine[f"... {len(mine)}"] = int(address), int(length)
        return found
