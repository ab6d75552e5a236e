"""Which points of two runs correspond: structural execution indexing.

A point's index is its way through the nested regions of its run: the branch instance that let its block execute, the
one that let that block execute, and so on, through calls up to ``main``. An iteration of a loop lies within the test
of the iteration before. Points of two runs correspond when their instruction and their indices are the same, however
often the one or the other run has executed it. (Xin, Sumner and Zhang, "Efficient program execution indexing", 2008;
Sumner and Zhang, "Algorithms for automatically computing the causal paths of failures", 2009, section 3.)

A trace has the parent of each segment instance: the segment of its controlling branch, or the call that entered its
frame. What is executed several times under one parent, such as what a library function calls back, is told apart by the
number of the time. Parents come before their children, so one pass in order of time finds all that corresponds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean
from whence.trace.trace import Trace

Integers = NDArray[np.int64]


def align(first: Trace, second: Trace, common: int) -> Integers:
    """For each segment instance of ``first`` the corresponding one of ``second``, -1 where there is none.

    ``common``: so many segment instances both runs begin with (one at least). Both are of the same program; traces of
    the record and of the replay variant can be mixed, since segments have the same numbers in both.
    """
    found = np.full(first.segments, -1, np.int64)
    found[:common] = np.arange(common)
    places, ids = _parents(first), first.columns.segments["id"][: first.segments]
    size = len(first.plan.segments)
    times = _times((places[common:] + 1) * size + ids[common:])
    keys = ((_parents(second) + 1) * size + second.columns.segments["id"][: second.segments])[common:]
    order = np.argsort(keys, kind="stable")
    _match(places, ids.astype(np.int64), times, keys[order], order, size, common, found)
    return found


def _parents(trace: Trace) -> Integers:
    """For each segment instance the one whose branch or call it lies under; -1: none."""
    rows = trace.columns.segments[: trace.segments]
    calls = trace.columns.frames["call"][rows["frame"]]
    return np.asarray(np.where(rows["control"] >= 0, rows["control"], calls), np.int64)


def _times(keys: Integers) -> Integers:
    """For each element how many equal ones stand before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.searchsorted(ordered, ordered)
    times = np.empty(len(keys), np.int64)
    times[order] = np.arange(len(keys)) - starts
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
    """Fill in what corresponds behind the common part; ``keys`` are the second run's, sorted, at ``order``."""
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
