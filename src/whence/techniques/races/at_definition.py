"""Data races at one definition of a recorded run (figure 6.2 of the dissertation).

Of the bytes that an event wrote, each other thread's last access before it (write-after-read, write-after-write) and
its first read behind it (read-after-write) race with it where nothing orders the two. The figure watches the run for
synchronisation in between; here the pass over its records tells what a thread knew when it came to the later one.
Beyond the figure, where the event is a read of what nothing had written, a write behind it counts (write-after-read).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import ADDRESS_UNITS, NO_SLOT, Kind
from whence.probe.synchronisation import ATOMIC
from whence.techniques.races.check import Access, Race
from whence.trace.blocks import Block, Blocks
from whence.trace.columns import N_CELL, CellKind
from whence.trace.steps import Steps

if TYPE_CHECKING:
    from whence.techniques.races.check import Checker
    from whence.trace.trace import Trace

Integers = NDArray[np.int64]
Ranges = Sequence[tuple[int, int]]  # address and length
Touching = tuple[Integers, Integers, Integers, NDArray[np.bool_]]  # events, first bytes, first ones behind, are writes

BY_CALLS = (int(CellKind.READ), int(CellKind.COPY), int(CellKind.SET), int(CellKind.CALL))
STEP = 1 << 22  # events looked at together


class RacesAt:
    """The races at single events of one recorded run."""

    def __init__(self, checker: Checker, trace: Trace) -> None:
        self._checker, self._trace = checker, trace
        self.checked = checker.check(trace)

    @cached_property
    def steps(self) -> Steps:
        """The steps of the run's threads."""
        return Steps(self._trace)

    def before(self, event: int, ranges: Ranges) -> Iterator[Race]:
        """The races of a write with what other threads did before it, the latest first (lines 3 to 12)."""
        if self.checked.threads < 2 or self._trace.kind(event) is Kind.LOAD:
            return
        events, writes = self._touching(ranges, 0, event)
        since = max((b.taken for b in Blocks(self._trace).all if b.taken < event and _overlaps(b, ranges)), default=-1)
        latest_first = np.flatnonzero(events > since)[::-1]
        latest = self._one_of_each_thread(events[latest_first], writes[latest_first])
        known = None
        for other, does_write, thread in latest:
            if thread == self._thread(event) or self._are_atomic(other, event):
                continue
            known = known or self._checker.check(self._trace, event)
            if not known.knows(self._thread(event), other):
                yield self._race((other, does_write), (event, True), ranges)

    def behind(self, event: int, ranges: Ranges, done: dict[int, int] | None = None) -> Iterator[Race]:
        """The races of a write with what other threads read behind it, in order of time (lines 13 to 17).

        ``done``: of each number of a thread the steps that need not be looked at any more.
        """
        if self.checked.threads < 2:
            return
        events, writes = self._touching(ranges, event + 1, self._trace.events)
        is_write = self._trace.kind(event) is not Kind.LOAD
        chosen = writes != is_write
        if done is not None:
            rows = self._trace.columns.events["segment"][events]
            before = np.array([done.get(int(number), 0) for number in self.steps.thread[rows]], np.int64)
            chosen &= self.steps.number[rows] > before
        for other, does_write, thread in self._one_of_each_thread(events[chosen], writes[chosen]):
            if thread == self._thread(event) or self._are_atomic(other, event):
                continue
            if not self._checker.check(self._trace, other).knows(thread, event):
                yield self._race((event, is_write), (other, does_write), ranges)

    def _one_of_each_thread(self, events: Integers, writes: NDArray[np.bool_]) -> Iterator[tuple[int, bool, int]]:
        """The first of these events of each thread, in their order: the event, whether it writes, the thread."""
        threads = self._threads(events)
        _, first = np.unique(threads, return_index=True)
        for place in np.sort(first).tolist():
            yield int(events[place]), bool(writes[place]), int(threads[place])

    def _race(self, first: tuple[int, bool], second: tuple[int, bool], ranges: Ranges) -> Race:
        one, other = (Access(event, self._thread(event), writes) for event, writes in (first, second))
        return Race(one, other, *ranges[0], 1)

    def _are_atomic(self, one: int, other: int) -> bool:
        return all(self.checked.order_bits(event) & ATOMIC for event in (one, other))

    def _thread(self, event: int) -> int:
        return int(self._threads(np.array([event]))[0])

    def _threads(self, events: Integers) -> Integers:
        return self.checked.threads_of(events)

    # ---- Who touched some bytes --------------------------------------------------------------------------------------

    def _touching(self, ranges: Ranges, begin: int, end: int) -> tuple[Integers, NDArray[np.bool_]]:
        """The events from ``begin`` to ``end`` that read or wrote some of these bytes, in order, and which wrote."""
        found: dict[int, bool] = {}
        for events, starts, stops, writes in _accesses(self._trace, begin, end):
            touches = np.zeros(len(events), np.bool_)
            for start, length in ranges:
                touches |= (starts < start + length) & (stops > start)
            touches &= (events >= begin) & (events < end)
            for event, does_write in zip(events[touches].tolist(), writes[touches].tolist(), strict=True):
                found[event] = found.get(event, False) or does_write
        events = np.array(sorted(found), np.int64)
        return events, np.array([found[event] for event in events.tolist()], np.bool_)


def _overlaps(block: Block, ranges: Ranges) -> bool:
    return any(block.start < at + size and at < block.end for at, size in ranges)


def _accesses(trace: Trace, begin: int, end: int) -> Iterator[Touching]:
    """Accesses to memory by address, some at a time; a block that is given back counts as written to.

    Of library calls and blocks they are all, of others those from event ``begin`` to ``end``.
    """
    cells = trace.columns.cells[: trace.columns.counts[N_CELL]]
    cells = cells[np.isin(cells["kind"], BY_CALLS) & (cells["length"] > 0) & (cells["address"] != 0)]
    starts = cells["address"].astype(np.int64)
    yield cells["parent"].astype(np.int64), starts, starts + cells["length"], cells["kind"] != CellKind.READ
    freed = [b for b in Blocks(trace).all if b.freed >= 0]
    rows = np.array([(b.freed, b.start, b.end) for b in freed], np.int64).reshape(-1, 3)
    yield rows[:, 0], rows[:, 1], rows[:, 2], np.ones(len(rows), np.bool_)
    for start in range(begin, end, STEP):
        yield from _by_address(trace, np.arange(start, min(start + STEP, end)))


def _by_address(trace: Trace, events: Integers) -> Iterator[Touching]:
    """Those of these events that are loads, stores, atomic operations, copies and fills."""
    sites = trace.plan.sites
    numbers = trace.sites(events)
    kinds = sites["kind"][numbers]
    is_plain = np.isin(kinds, (Kind.LOAD, Kind.STORE)) & (sites["aux"][numbers] == NO_SLOT)
    plain = is_plain | (kinds == Kind.RMW) | (kinds == Kind.BYVAL)
    starts = _wide(trace, events[plain], numbers[plain], 0)
    yield events[plain], starts, starts + sites["size"][numbers[plain]], kinds[plain] != Kind.LOAD
    for place, chosen, writes in ((0, (Kind.COPY, Kind.SET), True), (1, (Kind.COPY,), False)):
        copies = np.isin(kinds, chosen)
        starts = _wide(trace, events[copies], numbers[copies], place * ADDRESS_UNITS)
        lengths = _wide(trace, events[copies], numbers[copies], 2 * ADDRESS_UNITS)
        yield events[copies], starts, starts + lengths, np.full(len(starts), writes)


def _wide(trace: Trace, events: Integers, numbers: NDArray[np.int32], unit: int) -> Integers:
    """The addresses, or lengths, that events have recorded, from their ``unit`` on."""
    segments = trace.columns.segments[trace.columns.events["segment"][events]]
    places = segments["word"] + trace.plan.sites["unit"][numbers] + unit
    low, high = (trace.units[places + n].astype(np.int64) for n in range(ADDRESS_UNITS))
    return np.asarray(low | high << 32, np.int64)
