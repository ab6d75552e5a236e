"""What was stored beside a value that was read: where a statement is missing, its neighbours mostly stand there.

A statement that is missing did not run, so no dependence leads to where it should stand. But what it should have
changed was read with an old value, and whoever changes one member of a structure in several statements writes them
next to each other; an element that was left as it was may be the one that a wrong index missed. So for a read, the
neighbours are the stores into other parts of the same object since what it gave was written. (Beyond the paper, which
leaves missing statements open.)

Objects are the structure of the innermost member that an access names, a global or local variable, or a block of the
heap; where an address is of none of these, what lies near.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.dependence.places import AccessedPlaces
from whence.probe.layout import NO_SLOT, Kind
from whence.program.types import member_offset, members, size_of
from whence.subject.trace_reader import TraceReader
from whence.trace.blocks import Blocks, Overrun
from whence.trace.columns import N_HEAP

Integers = NDArray[np.int64]
LATEST = 4096  # stores that are looked at, before a read
NEAR = 4096  # bytes within which two pointers to nothing known may belong to one object
MOST = 4  # neighbours of one read
HEAP = "heap"


class _Part(NamedTuple):
    """What a site accesses: the kind of object, of a structure its size (else 0), and where in it.

    ``is_whole``: the member has the access' size, so that the address tells where the structure begins.
    """

    key: object
    size: int
    offset: int
    is_whole: bool

    def start(self, address: int | Integers) -> Any:
        """Where the structure begins; -1: it is not known."""
        known = self.size and self.is_whole
        return address - self.offset if known else np.full(np.shape(address), -1)


class _Stores(NamedTuple):
    """The stores by address, in order of time: event, address, kind of object, start and size of its structure."""

    events: Integers
    addresses: Integers
    keys: Integers
    starts: Integers  # -1: not known
    sizes: Integers


class Neighbours:
    """Finds the neighbours of reads in one run; ``since`` tells when what each event reads was written."""

    def __init__(self, reader: TraceReader, since: Integers) -> None:
        self._reader, self._trace, self._since = reader, reader.trace, since
        self._places = reader.subject.derived(AccessedPlaces)
        self._parts: dict[int, _Part | None] = {}
        self._keys: dict[object, int] = {HEAP: 0}
        self._found: dict[int, list[int]] = {}

    def of(self, read: int) -> list[int]:
        """The latest stores beside what an event read, one of each statement and caller, the latest first."""
        if read not in self._found:
            self._found[read] = self._search(read)
        return self._found[read]

    def _search(self, read: int) -> list[int]:
        part, address, stores = self._part(self._trace.site(read)), self._trace.address(read), self._stores
        if part is None or not address:
            return []
        first, end = np.searchsorted(stores.events, [self._since[read] + 1, read])
        stores = _Stores(*(column[max(first, end - LATEST) : end] for column in stores))
        inside = (stores.addresses != address) & self._are_together(part, address, read, stores)
        found: dict[tuple[int, int], int] = {}
        for event in stores.events[inside][::-1].tolist():
            found.setdefault((self._trace.site(event), self._caller(event)), event)
            if len(found) == MOST:
                break
        return list(found.values())

    def _are_together(self, part: _Part, address: int, read: int, stores: _Stores) -> Any:
        """Which stores went to the object that was read: one flag for each."""
        start, alike = int(part.start(address)), stores.keys == self._keys.get(part.key, -1)
        if start >= 0:
            within = (stores.addresses >= start) & (stores.addresses < start + part.size)
            return (alike & (stores.starts == start)) | (within & (stores.starts < 0))
        held = (stores.starts >= 0) & (stores.starts <= address) & (address < stores.starts + stores.sizes)
        if part.size:
            return held | (alike & (stores.starts < 0) & (np.abs(stores.addresses - address) < part.size))
        if part.key == HEAP:
            block = self._blocks(np.array([address]))[0]
            near = (np.abs(stores.addresses - address) < NEAR) | (block >= 0)
            return held | (alike & near & (self._blocks(stores.addresses) == block))
        if isinstance(part.key, tuple) and part.key[0] == "local":
            alike = alike & (self._frames(stores.events) == self._frames(np.array([read]))[0])
        return held | alike

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks of the heap."""
        return Blocks(self._trace)

    @property
    def overrun(self) -> Overrun | None:
        """The first write beyond a live block of the heap: a store, or a library call's."""
        return self.blocks.first_overrun

    def is_valid(self, address: int) -> bool:
        """Whether an address lies in a block of the heap that lived to the end of the run."""
        block = self.blocks.at(address)
        return block is not None and block.freed < 0

    # ---- Stores ------------------------------------------------------------------------------------------------------

    @cached_property
    def _stores(self) -> _Stores:
        trace = self._trace
        events = np.arange(trace.events)
        events = events[trace.plan.sites["kind"][self._reader.sites(events)] == Kind.STORE]
        sites = self._reader.sites(events)
        columns = np.zeros((5, len(events)), np.int64)
        order = np.argsort(sites, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(sites[order])) + 1) if len(order) else ():
            site = int(sites[rows[0]])
            if part := self._part(site):
                addresses = self._addresses(events[rows], site)
                key = self._keys.setdefault(part.key, len(self._keys))
                columns[:, rows] = np.broadcast_arrays(events[rows], addresses, key, part.start(addresses), part.size)
        return _Stores(*columns[:, columns[1] != 0])  # private ones have no address, nor those that were not reached

    def _addresses(self, events: Integers, site: int) -> Integers:
        """The addresses that events of one site went to."""
        columns, units = self._trace.columns, self._trace.units
        words = columns.segments["word"][columns.events["segment"][events]] + int(self._trace.plan.sites[site]["unit"])
        return np.asarray(units[words].astype(np.int64) | units[words + 1].astype(np.int64) << 32)

    def _frames(self, events: Integers) -> Integers:
        columns = self._trace.columns
        return np.asarray(columns.segments["frame"][columns.events["segment"][events]], np.int64)

    def _caller(self, event: int) -> int:
        columns = self._trace.columns
        call = int(columns.frames[self._frames(np.array([event]))[0]]["call"])
        return int(columns.segments[call]["id"]) if call >= 0 else -1

    # ---- Objects -----------------------------------------------------------------------------------------------------

    def _part(self, site: int) -> _Part | None:
        """What a load or store accesses by an address; None of other sites."""
        if site not in self._parts:
            row = self._trace.plan.sites[site]
            is_access = row["kind"] in (Kind.LOAD, Kind.STORE) and row["aux"] == NO_SLOT
            self._parts[site] = self._accessed(site) if is_access else None
        return self._parts[site]

    def _accessed(self, site: int) -> _Part:
        row = self._trace.plan.sites[site]
        places = self._places.read(site) if row["kind"] == Kind.LOAD else self._places.written(site)
        named = [p for p in places if isinstance(p, tuple) and p[0] in {"member", "global", "local"}]
        if not named:
            return _Part(HEAP, 0, 0, False)
        place = named[0]
        if place[0] != "member":
            return _Part(place, 0, 0, False)
        program = self._reader.subject.program
        module = program.modules[program.function_of_instruction(int(row["instruction"])).module]
        index = int(place[2])
        own = size_of(members(place[1], module)[0][index], module)
        key = "member", place[1]
        return _Part(key, size_of(place[1], module), member_offset(place[1], index, module), own == int(row["size"]))

    def _blocks(self, addresses: Integers) -> Integers:
        """The row of the block of the heap that holds each address; -1: none does."""
        heap = self._trace.columns.heap[: self._trace.columns.counts[N_HEAP]]
        order = np.argsort(heap["address"], kind="stable")
        place = np.searchsorted(heap["address"][order], addresses, side="right") - 1
        if not len(order):
            return np.full(len(addresses), -1)
        rows = order[np.maximum(place, 0)]
        held = (place >= 0) & (addresses < heap["address"][rows] + heap["length"][rows])
        return np.where(held, rows, -1)
