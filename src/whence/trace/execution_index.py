"""Which points of two runs correspond: structural execution indexing.

A point's index is its way through the nested regions of its run, from the call of ``main`` inward: calls, branches that
decided whether it is executed, and iterations of loops. Points of two runs correspond when their instruction and their
indices are the same, however often the one or the other run has executed it. (Xin, Sumner and Zhang, "Efficient program
execution indexing", 2008; Sumner and Zhang, "Automatic failure inducing chain computation through aligned execution
comparison", section 3.)

Of runs of two versions of a program what both versions have in common is compared (``probe/pieces.py``): a run of
either is a way through the joined control flow of both (``program/joined.py``), where what has no partner is passed
over. What is called there hangs under the nearest point above that has a partner (section 4.5 there).

There the region of a block instance is that of the branch that decided last. Here it is that of a block which every
way to it passes (``program/regions.py``), so that two runs correspond again behind an iteration that one of them left
early. What is executed several times in one region, such as the iterations of a loop, or what a library function calls
back, is told apart by its number.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whence.probe.pieces import Cut, Whole
from whence.program.regions import CALL
from whence.trace.columns import N_FRAME
from whence.trace.kernels import lean
from whence.trace.trace import Trace

Integers = NDArray[np.int64]


class Regions:
    """The regions of one run.

    What they hold are instances of pieces: of segments, unless the run is to be compared with one of another version.
    Then ``cut`` tells how this version's segments are cut into pieces.
    """

    def __init__(self, trace: Trace, cut: Cut | None = None) -> None:
        self.trace = trace
        self.cut = cut or Whole(trace.program, trace.plan).cut

    @cached_property
    def starts(self) -> Integers:
        """For each segment instance, and for the end, where its pieces begin."""
        ids = self._ids
        return np.concatenate([[0], np.cumsum(self.cut.starts[ids + 1] - self.cut.starts[ids])])

    @cached_property
    def segments(self) -> Integers:
        """For each piece instance its segment instance."""
        return np.repeat(np.arange(self.trace.segments), np.diff(self.starts))

    @cached_property
    def pieces(self) -> Integers:
        """For each piece instance its number, the same in both runs."""
        behind = np.arange(len(self.segments)) - self.starts[self.segments]
        return self.cut.numbers[self.cut.starts[self._ids[self.segments]] + behind]

    @property
    def _ids(self) -> NDArray[np.int32]:
        return np.asarray(self.trace.columns.segments["id"][: self.trace.segments])

    @cached_property
    def parents(self) -> Integers:
        """For each piece instance the one under which it hangs, of the same frame or the call; -1: none."""
        frames = self.trace.columns.segments["frame"][self.segments]
        structure = self.cut.pieces
        above = structure.above(self.pieces)
        latest = _latest(frames, structure.nodes(self.pieces), above)
        return np.asarray(np.where(above == CALL, self._calls[frames], latest), np.int64)

    @cached_property
    def _calls(self) -> Integers:
        """For each frame the piece instance of its call: where that has no partner, what it hangs under; -1: none."""
        count = int(self.trace.columns.counts[N_FRAME])
        calls = self.trace.columns.frames["call"][:count].astype(np.int64)
        while len(lost := np.flatnonzero((calls >= 0) & (self.starts[calls + 1] == self.starts[calls]))):
            calls[lost] = self._whole.parents[calls[lost]]
        return np.where(calls >= 0, self.starts[calls + 1] - 1, -1)

    @cached_property
    def _whole(self) -> Regions:
        """The regions as those of the one program."""
        return Regions(self.trace)

    @property
    def keys(self) -> Integers:
        """For each piece instance a number for its parent and its place together."""
        return np.asarray((self.parents + 1) * self.cut.pieces.count + self.pieces)


def _latest(frames: NDArray[np.int32], blocks: Integers, wanted: Integers) -> Integers:
    """For each instance the latest one before it, in its frame, of the block that is wanted; -1: none."""
    width = int(max(blocks.max(initial=0), wanted.max(initial=0))) + 1
    pairs = frames.astype(np.int64) * width + blocks
    order = np.argsort(pairs, kind="stable")
    known, starts = np.unique(pairs[order], return_index=True)
    places = np.searchsorted(known, frames.astype(np.int64) * width + wanted)
    found = np.full(len(frames), -1, np.int64)
    _search(order, np.append(starts, len(order)), known, places, frames.astype(np.int64) * width + wanted, found)
    return found


@lean
def _search(
    order: Integers, starts: Integers, known: Integers, places: Integers, wanted: Integers, found: Integers
) -> None:
    """For each instance the last one before it within the stretch of ``order`` that its wanted pair has."""
    for instance in range(len(found)):
        place = places[instance]
        if place >= len(known) or known[place] != wanted[instance]:
            continue
        low, high = starts[place], starts[place + 1]
        while low < high:
            middle = (low + high) // 2
            if order[middle] < instance:
                low = middle + 1
            else:
                high = middle
        if low > starts[place]:
            found[instance] = order[low - 1]


def spans(parents: Integers, points: Integers, segments: Integers) -> tuple[Integers, Integers]:
    """For each region, by the segment instance that leads it, its first and last point; the last is -1: it has none.

    ``parents`` are those of a run whose pieces are segments; ``points`` ascend, with the segment of each.
    """
    none = int(points[-1]) + 1 if len(points) else 0
    firsts, lasts = np.full(len(parents), none, np.int64), np.full(len(parents), -1, np.int64)
    under = parents[segments]
    is_inside = under >= 0
    np.minimum.at(firsts, under[is_inside], points[is_inside])
    np.maximum.at(lasts, under[is_inside], points[is_inside])
    _widen(parents, firsts, lasts)
    return firsts, lasts


@lean
def _widen(parents: Integers, firsts: Integers, lasts: Integers) -> None:
    """Let each span hold those of what hangs under it; parents come before their children."""
    for segment in range(len(parents) - 1, -1, -1):
        parent = parents[segment]
        if parent >= 0:
            firsts[parent] = min(firsts[parent], firsts[segment])
            lasts[parent] = max(lasts[parent], lasts[segment])


def align(first: Regions, second: Regions, common: int = 0) -> Integers:
    """For each piece instance of ``first`` the corresponding one of ``second``, -1 where there is none.

    ``common``: so many piece instances both runs are known to begin with. Both are of the same program, or cut alike;
    traces of the record and of the replay variant can be mixed, since segments have the same numbers in both. What
    corresponds is in the same order in both runs (theorem 1): where control flow that no loop or branch describes would
    break that, the fewest that break it are left out.
    """
    found = np.full(len(first.pieces), -1, np.int64)
    found[:common] = np.arange(common)
    keys = second.keys[common:]
    order = np.argsort(keys, kind="stable")
    times = _times(first.keys[common:])
    _match(first.parents, first.pieces, times, keys[order], order, first.cut.pieces.count, common, found)
    return _in_order(found)


def _times(keys: Integers) -> Integers:
    """For each element how many equal ones stand before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    times = np.empty(len(keys), np.int64)
    times[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return times


@lean
def _match(
    parents: Integers,
    ids: Integers,
    times: Integers,
    keys: Integers,
    order: Integers,
    size: int,
    common: int,
    found: Integers,
) -> None:
    """Fill in what corresponds behind the common part; ``keys`` are the second run's, sorted, at ``order``.

    Parents come before their children, so one pass in order of time is enough.
    """
    for segment in range(common, len(found)):
        parent = parents[segment]
        if parent >= 0:
            parent = found[parent]
            if parent < 0:
                continue
        key = (parent + 1) * size + ids[segment]
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        place = low + times[segment - common]
        if place < len(keys) and keys[place] == key:
            found[segment] = common + order[place]


def _in_order(found: Integers) -> Integers:
    """The longest part of what corresponds that is in the same order in both runs."""
    matched = np.flatnonzero(found >= 0)
    others = found[matched]
    if (np.diff(others) > 0).all():
        return found
    ends, before = np.zeros(len(others), np.int64), np.full(len(others), -1, np.int64)
    last = _longest_increasing(others, ends, before)
    kept = np.full(len(found), -1, np.int64)
    while last >= 0:
        kept[matched[last]] = others[last]
        last = before[last]
    return kept


@lean
def _longest_increasing(numbers: Integers, ends: Integers, before: Integers) -> int:
    """The place at which a longest increasing part ends; ``before`` leads from each place to the one before it.

    ``ends[n]`` is where the part of n + 1 numbers ends whose last number is least (Schensted 1961).
    """
    length = 0
    for place in range(len(numbers)):
        low, high = 0, length
        while low < high:
            middle = (low + high) // 2
            if numbers[ends[middle]] < numbers[place]:
                low = middle + 1
            else:
                high = middle
        if low > 0:
            before[place] = ends[low - 1]
        ends[low] = place
        length = max(length, low + 1)
    return int(ends[length - 1])


def align_segments(first: Regions, second: Regions, aligned: Integers) -> Integers:
    """For each segment instance of ``first`` that of ``second`` which has its first piece with a partner; -1: none.

    ``aligned`` is what ``align`` gave for both.
    """
    found = np.full(first.trace.segments, -1, np.int64)
    matched = np.flatnonzero(aligned >= 0)[::-1]
    found[first.segments[matched]] = second.segments[aligned[matched]]
    return found


def align_events(first: Regions, second: Regions, aligned: Integers, events: Integers) -> Integers:
    """For events of ``first`` the corresponding ones of ``second``, -1 where there are none.

    ``aligned`` is what ``align`` gave for both.
    """
    structure, mine, theirs = first.cut.pieces, first.trace, second.trace
    # Of each site the place of its partner in its segment; of each piece where its partner's segment has its events.
    begins = theirs.plan.segments["site_start"][theirs.plan.sites["segment"]]
    places = structure.sites - begins[structure.sites]
    others = np.append(theirs.columns.segments["event"][np.append(second.segments, 0)[aligned]], -1)
    segments = mine.columns.events["segment"][events]
    rows = mine.columns.segments[: mine.segments]
    sites = (mine.plan.segments["site_start"][rows["id"]] - rows["event"])[segments] + events
    pieces = first.starts[segments] + structure.places[sites]
    is_matched = (structure.sites[sites] >= 0) & (np.append(aligned, -1)[pieces] >= 0)
    return np.asarray(np.where(is_matched, others[pieces] + places[sites], -1), np.int64)
