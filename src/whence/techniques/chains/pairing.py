"""Which points, frames and objects of the failing run and of the reference run correspond."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.techniques.chains.compared_run import NO_SITE, ComparedRun
from whence.trace.columns import CHUNK_UNITS, N_FRAME, N_OUT
from whence.trace.decode import CHUNK_HEADER_UNITS
from whence.trace.execution_index import Regions, align, align_events
from whence.trace.objects import HEAP, LOCAL, STATIC
from whence.trace.trace import HEADER_UNITS

Integers = NDArray[np.int64]
NONE = -1
WRITES = (Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET, Kind.BYVAL)


class Pairing:
    """The failing run and the reference run of one program, point by point.

    ``points`` are the failing run's aligned points, in order of time: the events after which its state may be another
    one (definition 1's executed instructions with a destination, and branches) whose counterpart the reference run has.
    Before the event ``common`` both runs are the same.
    """

    def __init__(self, failing: ComparedRun, reference: ComparedRun) -> None:
        self.failing, self.reference = failing, reference
        common = common_segments(failing, reference)
        self._regions = Regions(failing.trace), Regions(reference.trace)
        self.segments = align(*self._regions, max(common, 1))
        last = max(common - 1, 0)  # at its end a branch may have gone another way
        self.common = int(failing.trace.columns.segments["event"][last]) if failing.trace.segments else 0

    @cached_property
    def events(self) -> Integers:
        """For each event of the failing run the corresponding one of the reference run, or NONE."""
        found = align_events(*self._regions, self.segments, np.arange(self.failing.trace.events))
        found[found >= self.reference.trace.events] = NONE
        return found

    @cached_property
    def points(self) -> Integers:
        """The aligned points."""
        run, kinds = self.failing, self.failing.kinds
        own = np.isin(kinds, (Kind.BRANCH, Kind.RESULT)) & (run.sites != NO_SITE)
        wrote = np.zeros(len(kinds), np.bool_)
        wrote[run.writes["event"]] = True  # calls of the library, too
        chosen = np.flatnonzero((np.isin(kinds, WRITES) | own | wrote) & (self.events >= 0))
        return chosen[[self._is_seen(event) for event in chosen.tolist()]] if len(chosen) else chosen

    def _is_seen(self, event: int) -> bool:
        """Whether both runs come to the moment of the state after the event."""
        return self.failing.seen_at(event) >= 0 and self.reference.seen_at(int(self.events[event])) >= 0

    def failure(self, stream: int, wrong: int) -> int:
        """The last event before the failure shows: before what both runs have written to a stream first differs.

        ``wrong`` is the offset of the first wrong byte, -1 where it is not known. The last event of all where the
        failure does not show in the stream.
        """
        if not len(self.points):
            return self.failing.trace.events - 1
        mine = written(self.failing, stream, self.points)
        theirs = written(self.reference, stream, self.events[self.points])
        differs = np.flatnonzero((mine != theirs) | ((mine > wrong) & (wrong >= 0)))
        if not len(differs):
            return self.failing.trace.events - 1
        return int(self.points[differs[0]]) - 1

    # ---- Objects -----------------------------------------------------------------------------------------------------

    @cached_property
    def frames(self) -> Integers:
        """For each frame of the failing run that of the reference run, or NONE."""
        rows = self.failing.trace.columns.segments[: self.failing.trace.segments]
        found = np.full(int(self.failing.trace.columns.counts[N_FRAME]), NONE, np.int64)
        frames, firsts = np.unique(rows["frame"], return_index=True)
        others = self.segments[firsts]
        partners = self.reference.trace.columns.segments["frame"][others]
        found[frames] = np.where(others >= 0, partners, NONE)
        return found

    @cached_property
    def objects(self) -> Integers:
        """For each object of the failing run the number of the reference run's, or NONE.

        Static variables correspond by name, locals by their frames, blocks of the heap by the calls that made them.
        """
        rows, others = self.failing.objects, self.reference.objects
        found = np.full(len(rows), NONE, np.int64)
        births = np.where(rows["birth"] >= 0, self.events[np.maximum(rows["birth"], 0)], NONE)
        frames = np.where(rows["frame"] >= 0, self.frames[np.maximum(rows["frame"], 0)], NONE)
        keys = {STATIC: rows["declared"], HEAP: births, LOCAL: frames}
        theirs = {STATIC: others["declared"], HEAP: others["birth"], LOCAL: others["frame"]}
        for kind, key in keys.items():
            mine = np.flatnonzero((rows["kind"] == kind) & (key >= 0) & (rows["parent"] == 0))
            numbers = {
                place: number
                for number, place in zip(
                    *_keys(others, np.flatnonzero((others["kind"] == kind) & (others["parent"] == 0)), theirs[kind]),
                    strict=True,
                )
            }
            found[mine] = [numbers.get(place, NONE) for place in _keys(rows, mine, key)[1]]
        same_size = rows["size"] == others["size"][np.maximum(found, 0)]
        return np.where(same_size, found, NONE)


def _keys(rows: Any, chosen: NDArray[np.intp], key: Integers) -> tuple[list[int], list[tuple[int, int]]]:
    """The numbers of some objects, and what tells each: its frame or call, and which of its variables it is."""
    declared = np.where(rows["kind"] == LOCAL, rows["declared"], 0)
    return chosen.tolist(), list(zip(key[chosen].tolist(), declared[chosen].tolist(), strict=True))


def written(run: ComparedRun, stream: int, events: Integers) -> Integers:
    """How many bytes a run has written to a stream by each of some events."""
    outs = run.trace.columns.outs[: run.trace.columns.counts[N_OUT]]
    outs = outs[outs["stream"] == stream]
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(outs["length"], dtype=np.int64)])
    return np.asarray(totals[np.searchsorted(outs["event"], events, side="right")])


def common_segments(failing: ComparedRun, reference: ComparedRun) -> int:
    """How many segment instances both runs begin with: the same ones, with the same values."""
    first, second = failing.trace, reference.trace
    count = min(first.segments, second.segments)
    rows, others = first.columns.segments[:count], second.columns.segments[:count]
    differs = np.flatnonzero((rows["id"] != others["id"]) | (rows["word"] != others["word"]))
    count = int(differs[0]) if len(differs) else count
    end = int(rows["word"][count]) if count < len(rows) else min(len(first.units), len(second.units))
    units = np.arange(HEADER_UNITS, end)
    units = units[(units - HEADER_UNITS) % CHUNK_UNITS >= CHUNK_HEADER_UNITS]
    other = np.flatnonzero(first.units[units] != second.units[units])
    if not len(other):
        return count
    return max(int(np.searchsorted(rows["word"][:count], units[other[0]], side="right")) - 1, 0)
