"""Suppressed runs: a case run in the suppress variant with points at which suppression starts, and recorded."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from whence.probe.instrument import Variant
from whence.probe.plan import FIRST
from whence.probe.suppress import definitions
from whence.run.cases import Case
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject
from whence.trace.trace import Trace

MAGIC = b"WHNCSUPP"  # as in probe/runtime/suppress/suppress.c
_HEAD = struct.Struct("<8sQQ")
_POINT = struct.Struct("<IIQIIQ")
_RANGE = struct.Struct("<QQ")


@dataclass(slots=True, frozen=True)
class Point:
    """A definition at which suppression starts: the ``index``-th of an instance (from 0) of a block.

    ``ranges`` are the bytes (address, length) that a library call wrote there, which are suppressed with it.
    """

    block: int
    index: int
    instance: int
    ranges: tuple[tuple[int, int], ...] = ()


def point_at(trace: Trace, event: int, ranges: Sequence[tuple[int, int]] = ()) -> Point:
    """The point of a definition in a recorded run."""
    number = int(trace.plan.sites[trace.site(event)]["instruction"])
    ref = trace.program.function_of_instruction(number)
    block = int(trace.plan.segments["block"][trace.columns.segments["id"][trace.columns.events["segment"][event]]])
    body = ref.function.blocks[block - ref.first_block]
    position = number - int(trace.program.block_starts[block])
    return Point(block, definitions(body).index(position), _instance(trace, event, block), tuple(ranges))


def _instance(trace: Trace, event: int, block: int) -> int:
    """How many instances of a block had begun before that of an event."""
    row = int(trace.columns.events[event]["segment"])
    while (before := int(trace.columns.segments["previous"][row])) >= 0:
        row = before
    segments = trace.plan.segments
    starts = (segments["block"] == block) & (segments["flags"] & FIRST != 0)
    first = np.flatnonzero(starts)
    return int(np.isin(trace.columns.segments["id"][:row], first).sum())


class SuppressedRuns:
    """Runs of one case, each from the start with other points; use it in a ``with`` statement."""

    def __init__(self, subject: Subject, case: Case, limit: int | None = None) -> None:
        self._recorder = Recorder(subject, limit=limit, variant=Variant.SUPPRESS)
        self._case = case
        self._numbers = count()

    def __enter__(self) -> SuppressedRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.close()

    def run(self, points: Sequence[Point]) -> Recording:
        """The run with suppression from these points on; one that does not end is cut."""
        path = self._recorder.new_path(f"suppress{next(self._numbers):06}")
        path.write_bytes(_packed(points))
        try:
            return self._recorder.record(self._case, session=bytes(path), may_be_cut=True)
        finally:
            path.unlink(missing_ok=True)


def _packed(points: Sequence[Point]) -> bytes:
    """The file of points as the runtime reads it."""
    rows, ranges = [], list[tuple[int, int]]()
    for point in points:
        rows.append(_POINT.pack(point.block, point.index, point.instance, len(ranges), len(point.ranges), 0))
        ranges += point.ranges
    return b"".join([_HEAD.pack(MAGIC, len(points), 0), *rows, *(_RANGE.pack(*r) for r in ranges)])
