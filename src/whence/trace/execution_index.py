"""Which points of two runs correspond: structural execution indexing.

A point's index is its way through the nested regions of its run, from the call of ``main`` inward: calls, branches that
decided whether it is executed, and iterations of loops. Points of two runs correspond when their instruction and their
indices are the same, however often the one or the other run has executed it. (Xin, Sumner and Zhang, "Efficient program
execution indexing", 2008; Sumner and Zhang, "Automatic failure inducing chain computation through aligned execution
comparison", section 3.)

There the region of a block instance is that of the branch that decided last. Here it is that of a block which every
way to it passes (``program/regions.py``), so that two runs correspond again behind an iteration that one of them left
early. What is executed several times in one region, such as the iterations of a loop, or what a library function calls
back, is told apart by its number.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from whence.program.program import Program
from whence.program.regions import CALL, anchors
from whence.trace.kernels import lean
from whence.trace.trace import Trace

Integers = NDArray[np.int64]


class Regions:
    """The regions of one run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def parents(self) -> Integers:
        """For each segment instance the one under which it hangs, of the same frame or the call; -1: none."""
        trace = self.trace
        rows = trace.columns.segments[: trace.segments]
        blocks = trace.plan.segments["block"][rows["id"]]
        above = self._anchors(blocks)
        calls = trace.columns.frames["call"][rows["frame"]].astype(np.int64)
        return np.asarray(np.where(above == CALL, calls, _latest(rows["frame"], blocks, above)), np.int64)

    def _anchors(self, blocks: NDArray[np.int32]) -> Integers:
        """For each block instance the block, by its number in the program, under which it hangs."""
        table = np.full(len(self.trace.plan.blocks), CALL, np.int64)
        for number in np.unique(self.trace.plan.blocks["function"][np.unique(blocks)]).tolist():
            first, found = _anchors_of(self.trace.program, number)
            table[first : first + len(found)] = found
        return table[blocks]

    @property
    def keys(self) -> Integers:
        """For each segment instance a number for its parent and its place together."""
        ids = self.trace.columns.segments["id"][: self.trace.segments]
        return np.asarray((self.parents + 1) * len(self.trace.plan.segments) + ids)


@lru_cache(maxsize=1 << 12)
def _anchors_of(program: Program, function: int) -> tuple[int, Integers]:
    """The number of a function's first block, and for each of its blocks the one under which it hangs."""
    ref = program.functions[function]
    found = np.array(anchors(ref.function), np.int64)
    return ref.first_block, np.where(found == CALL, CALL, found + ref.first_block)


def _latest(frames: NDArray[np.int32], blocks: NDArray[np.int32], wanted: Integers) -> Integers:
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


def align(first: Regions, second: Regions, common: int) -> Integers:
    """For each segment instance of ``first`` the corresponding one of ``second``, -1 where there is none.

    ``common``: so many segment instances both runs begin with (one at least). Both are of the same program; traces of
    the record and of the replay variant can be mixed, since segments have the same numbers in both.
    """
    found = np.full(first.trace.segments, -1, np.int64)
    found[:common] = np.arange(common)
    keys = second.keys[common:]
    order = np.argsort(keys, kind="stable")
    ids = first.trace.columns.segments["id"][: first.trace.segments].astype(np.int64)
    times, size = _times(first.keys[common:]), len(first.trace.plan.segments)
    _match(first.parents, ids, times, keys[order], order, size, common, found)
    return found


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


def align_events(first: Trace, second: Trace, aligned: Integers, events: Integers) -> Integers:
    """For events of ``first`` the corresponding ones of ``second``, -1 where there are none."""
    segments = first.columns.events["segment"][events]
    others = aligned[segments]
    moved = second.columns.segments["event"][others] + events - first.columns.segments["event"][segments]
    return np.asarray(np.where(others >= 0, moved, -1), np.int64)
