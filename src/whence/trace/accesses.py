"""Accesses to memory in a run of several threads, with the steps that they are part of, and which of them conflict.

Two accesses conflict when different threads touch the same bytes and one of them writes. Library calls count with what
they read and wrote; a call that threads are ordered by (of a lock, a condition) counts as a write to its first
argument's object.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.trace.columns import N_OUT
from whence.trace.steps import Steps
from whence.trace.touched import touched
from whence.trace.trace import Trace

GRANULE = 8  # bytes that are taken for one place
MOST = 64  # granules of one access that are looked at
ACCESS = np.dtype(
    [
        ("event", np.int64),
        ("thread", np.int32),
        ("step", np.int64),
        ("address", np.int64),
        ("length", np.int64),
        ("writes", np.bool_),
        ("orders", np.bool_),
    ]
)
SPUN = 1_000  # reads by which a thread waits for another one, that are kept
STREAMS = 1 << 62  # places of output streams, which no memory has


class Accesses:
    """The accesses of one trace: ``table`` (ACCESS records) in order of time.

    ``ordering``: numbers (as in ``plan.sites.callee``) of the library functions by which threads are ordered. Of
    a thread that goes round looking at a place, which nobody touches meanwhile, only the first reads are kept.
    """

    def __init__(self, trace: Trace, ordering: Container[int]) -> None:
        self.trace, self.steps = trace, Steps(trace)
        self._ordering = ordering
        found = [self._touched(), self._calls(), self._outputs()]
        table = np.concatenate(found)
        segments = trace.columns.events["segment"][table["event"]]
        table["thread"], table["step"] = self.steps.thread[segments], self.steps.number[segments]
        table = table[np.argsort(table["event"], kind="stable")]
        self.table: Any = table[~self._spins(table)]

    def _spins(self, table: Any) -> NDArray[np.bool_]:
        """Which accesses are the ``SPUN``-th of equal reads of a place behind each other, or a later one."""
        sites = self.trace.sites(table["event"])
        kinds = np.where(table["writes"] | table["orders"], -1, (table["thread"].astype(np.int64) << 32) + sites)
        place = table["address"] // GRANULE
        order = np.argsort(place, kind="stable")
        kinds, place = kinds[order], place[order]
        is_new = np.ones(len(table), np.bool_)
        is_new[1:] = (place[1:] != place[:-1]) | (kinds[1:] != kinds[:-1]) | (kinds[1:] < 0)
        starts = np.flatnonzero(is_new)
        number = np.arange(len(table)) - np.repeat(starts, np.diff(starts, append=len(table)))
        found = np.zeros(len(table), np.bool_)
        found[order] = number >= SPUN
        return found

    def _touched(self) -> NDArray[Any]:
        """What was read and written."""
        found = touched(self.trace)
        rows: NDArray[Any] = np.zeros(len(found.event), ACCESS)
        for name, column in found._asdict().items():
            rows[name] = column
        return rows

    def _calls(self) -> NDArray[Any]:
        """Calls by which threads are ordered."""
        trace, plan = self.trace, self.trace.plan
        static = np.array([int(n) in self._ordering for n in plan.sites["callee"][:-1]], np.bool_)
        static &= (plan.sites["kind"][:-1] == Kind.CALL) & (plan.sites["aux"][:-1] > 0)
        events = trace.events_at(static)
        objects = np.array([self.argument(int(event), 0) or 0 for event in events], np.int64)
        found = self._rows(events, objects, np.ones(len(events), np.int64), True)
        found["orders"] = True
        return found

    def _outputs(self) -> NDArray[Any]:
        """What was written to streams: their order counts."""
        outs = self.trace.columns.outs[: self.trace.columns.counts[N_OUT]]
        length = np.ones(len(outs), np.int64)
        return self._rows(outs["event"], STREAMS + GRANULE * (outs["stream"] & 0xFF), length, True)

    @staticmethod
    def _rows(events: Any, addresses: Any, lengths: Any, writes: Any) -> NDArray[Any]:
        rows: NDArray[Any] = np.zeros(len(events), ACCESS)
        rows["event"], rows["address"], rows["length"], rows["writes"] = events, addresses, lengths, writes
        return np.asarray(rows[rows["address"] != 0])

    def argument(self, call: int, number: int) -> int | None:
        """The value of an argument of a call, given the call's event."""
        count = int(self.trace.plan.sites[self.trace.site(call)]["aux"])
        return self.trace.value(call - count + number) if number < count else None

    # ---- Conflicts ---------------------------------------------------------------------------------------------------

    @cached_property
    def by_place(self) -> dict[int, list[int]]:
        """For each granule that several threads touch, one of them writing, the rows of its accesses in order."""
        row, place = self._sorted_places
        starts, ends, shared = self._groups
        return {int(place[starts[n]]): row[starts[n] : ends[n]].tolist() for n in np.flatnonzero(shared)}

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Where the accesses to each granule begin and end among the sorted ones, and whether threads share it."""
        row, place = self._sorted_places
        starts = np.flatnonzero(np.diff(place, prepend=place[:1] - 1))
        ends = np.append(starts[1:], len(place)).astype(np.int64)[: len(starts)]
        if not len(starts):
            return starts, ends, np.zeros(0, np.bool_)
        threads, writes = self.table["thread"][row], self.table["writes"][row]
        several = np.minimum.reduceat(threads, starts) != np.maximum.reduceat(threads, starts)
        return starts, ends, several & np.logical_or.reduceat(writes, starts)

    @cached_property
    def _sorted_places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        row, place = self._places()
        order = np.argsort(place, kind="stable")
        return row[order], place[order]

    def at(self, place: int) -> list[int]:
        """The rows of all accesses to a granule, in order."""
        rows, places = self._sorted_places
        start, end = np.searchsorted(places, [place, place + 1])
        found: list[int] = rows[start:end].tolist()
        return found

    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and granule of each access, one pair a granule that it touches."""
        first = self.table["address"] // GRANULE
        last = (self.table["address"] + np.maximum(self.table["length"], 1) - 1) // GRANULE
        counts = np.minimum(last - first + 1, MOST).astype(np.int64)
        rows = np.repeat(np.arange(len(self.table)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, first[rows] + offsets

    def shared_segments(self) -> Iterator[int]:
        """The static segments of all conflicting accesses."""
        starts, ends, shared = self._groups
        rows = np.unique(self._sorted_places[0][np.repeat(shared, ends - starts)])
        segments = self.trace.columns.events["segment"][self.table["event"][rows]]
        yield from np.unique(self.trace.columns.segments["id"][segments]).tolist()
