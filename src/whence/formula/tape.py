"""A recorded trace as the encoder reads it, row by row (a row is a segment instance)."""

from __future__ import annotations

import numpy as np

from whence.formula.effects import Effects
from whence.probe.plan import UNKNOWN
from whence.trace.trace import Trace


class Tape:
    """The tables of one trace as lists. Its event ``e`` has the number ``base + e`` in the encoding.

    So an encoding can hold events of several traces. ``sources`` are references (event + 1), numbered in this way, too.
    """

    def __init__(self, trace: Trace, base: int = 0) -> None:
        self.trace, self.base = trace, base
        self.units: memoryview[int] = np.ascontiguousarray(trace.units).data
        table = trace.columns.segments[: trace.segments]
        self.ids, self.words, self.frame_of = table["id"].tolist(), table["word"].tolist(), table["frame"].tolist()
        self.before, self.previous = table["pred"].tolist(), table["previous"].tolist()
        self.sources = np.where(table["source"] > 0, table["source"] + base, table["source"]).tolist()
        self.first_event = (table["event"] + base).tolist()
        self.next_block = self._successors()
        unknown = trace.plan.segments["flags"][table["id"]] & UNKNOWN != 0
        self.unknown_calls = table["event"][unknown]  # the first events of segments that call what nobody knows
        self.ended = trace.header.end == "exit"
        self.effects = Effects(trace)

    def _successors(self) -> list[int]:
        """For each row the block that its branch went to, -1 where none followed."""
        trace = self.trace
        table = trace.columns.segments[: trace.segments]
        found = np.full(len(table), -1, np.int64)
        begins = np.flatnonzero(table["pred"] >= 0)
        found[table["pred"][begins]] = trace.plan.segments["block"][table["id"][begins]]
        return list(found.tolist())
