"""Blocks of the heap in a run: when each was taken and given back, and the first write beyond the end of one.

A write goes beyond a block where it begins in it, right behind it, or in what it lost when it was resized, while the
block lives, and ends where no other block is. Allocators keep their own numbers there, so nothing of the program can be
meant.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import ADDRESS_UNITS, NO_SLOT, Kind
from whence.trace.columns import N_CELL, N_HEAP, CellKind
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
Ranges = tuple[Integers, Integers, Integers]  # events, the first byte each wrote, and the first one behind
HEADER = 8  # bytes behind a block that no other can have: allocators keep its size there
STEP = 1 << 22  # events looked at together
WRITING = (int(CellKind.COPY), int(CellKind.SET), int(CellKind.CALL))


class Block(NamedTuple):
    """A block: its bytes, the events that took it and gave it back (-1: it was not), the bytes that it had behind it.

    ``lost`` bytes behind its end were the same block's until it was resized where it is.
    """

    start: int
    length: int
    taken: int
    freed: int = -1
    lost: int = 0

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.start + self.length


class Write(NamedTuple):
    """The bytes that an event wrote: the first one, and the first one behind them."""

    start: int
    end: int


class Overrun(NamedTuple):
    """A write beyond the end of a block: the event, the block, and the bytes written."""

    event: int
    block: Block
    write: Write


class Blocks:
    """The blocks of one run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def all(self) -> list[Block]:
        """All blocks, in the order in which they were taken; resized in place, one is another one from then on."""
        blocks: list[Block] = []
        last: dict[int, int] = {}
        rows = self._trace.columns.heap[: self._trace.columns.counts[N_HEAP]]
        for event, freed, address, length in rows.tolist():
            before = blocks[last[address]] if address in last else None
            if freed:
                if before and before.freed < 0:
                    blocks[last[address]] = before._replace(freed=event)
            elif address:
                was_resized = before is not None and before.freed == event
                lost = max(before.end + before.lost - address - length, 0) if before and was_resized else 0
                last[address] = len(blocks)
                blocks.append(Block(address, length, event, lost=lost))
        return blocks

    def at(self, address: int) -> Block | None:
        """The block taken last that holds an address, or the start of which it is; None: none does."""
        holds = (b for b in reversed(self.all) if b.start <= address < max(b.end, b.start + 1))
        return next(holds, None)

    @cached_property
    def first_overrun(self) -> Overrun | None:
        """The first write beyond the end of a block that lived then."""
        starts: list[int] = []
        live: dict[int, Block] = {}
        for event, what in sorted(self._moments(), key=lambda moment: moment[0]):
            if isinstance(what, Write):
                if block := _beyond(what, starts, live):
                    return Overrun(event, block, what)
            elif live.pop(what.start, None) is not None:
                starts.remove(what.start)
            else:
                insort(starts, what.start)
                live[what.start] = what
        return None

    def writes(self, start: int, end: int, since: int) -> list[int]:
        """The events after ``since`` that wrote to bytes from ``start`` to ``end``, in order of time."""
        found: list[int] = []
        for events, starts, stops in [library_writes(self._trace), *self._stores()]:
            found += events[(starts < end) & (stops > start) & (events > since)].tolist()
        return sorted(found)

    def stores_from(self, first: int) -> Iterator[tuple[int, int, int]]:
        """The stores from an event on: the event, the first byte that it wrote, and the first one behind."""
        for events, starts, stops in self._stores():
            chosen = events >= first
            yield from zip(events[chosen].tolist(), starts[chosen].tolist(), stops[chosen].tolist(), strict=True)

    def _moments(self) -> Iterator[tuple[int, Block | Write]]:
        """Events at which a block was taken or given back, and those that wrote where some block ended."""
        if not self.all:
            return
        for block in self.all:
            yield block.taken, block
            if block.freed >= 0:
                yield block.freed, block
        ends = np.unique([block.end for block in self.all])
        lost = sorted((block.end, block.end + block.lost + HEADER) for block in self.all if block.lost)
        lost_from = np.array([start for start, _ in lost], dtype=np.int64)
        lost_to = np.maximum.accumulate(np.array([0, *(end for _, end in lost)], dtype=np.int64))
        for events, starts, stops in [library_writes(self._trace), *self._stores()]:
            first = np.searchsorted(ends, starts - HEADER, side="right")  # a block's end in (start - HEADER, stop)
            near = first < np.searchsorted(ends, stops, side="left")
            near |= starts < lost_to[np.searchsorted(lost_from, starts, side="right")]
            columns = (events[near].tolist(), starts[near].tolist(), stops[near].tolist())
            yield from ((event, Write(start, stop)) for event, start, stop in zip(*columns, strict=True))

    def _stores(self) -> Iterator[Ranges]:
        """All stores that went to an address, some at a time."""
        trace, sites = self._trace, self._trace.plan.sites
        for begin in range(0, trace.events, STEP):
            events = np.arange(begin, min(begin + STEP, trace.events))
            numbers = trace.sites(events)
            chosen = (sites["kind"][numbers] == Kind.STORE) & (sites["aux"][numbers] == NO_SLOT)
            events, numbers = events[chosen], numbers[chosen]
            segments = trace.columns.segments[trace.columns.events["segment"][events]]
            units = segments["word"] + sites["unit"][numbers]
            low, high = (trace.units[units + n].astype(np.int64) for n in range(ADDRESS_UNITS))
            starts = low | high << 32
            yield events, starts, starts + sites["size"][numbers]


def _beyond(write: Write, starts: list[int], live: dict[int, Block]) -> Block | None:
    """The live block that a write went beyond; ``starts`` are those of the live blocks in order."""
    place = bisect_right(starts, write.start)
    if not place:
        return None
    block = live[starts[place - 1]]
    is_inside, is_behind = write.start < block.end < write.end, 0 <= write.start - block.end < block.lost + HEADER
    return block if is_inside or is_behind else None


def library_writes(trace: Trace) -> Ranges:
    """What library calls and copies wrote, in order of time; the runs of one copy are one write."""
    cells = trace.columns.cells[: trace.columns.counts[N_CELL]]
    cells = cells[np.isin(cells["kind"], WRITING) & (cells["length"] > 0)]
    cells = cells[np.argsort(cells["parent"], kind="stable")]
    events, first = np.unique(cells["parent"].astype(np.int64), return_index=True)
    if not len(events):
        return events, events, events
    starts = np.minimum.reduceat(cells["address"], first)
    return events, starts, np.maximum.reduceat(cells["address"] + cells["length"], first)
