"""What lay in memory at any point of a recorded run, as far as the recording tells: nothing is run again.

A byte holds what was written to it last, by a store, a copy or a library call. Where a recording has no value for that
(what ``snprintf`` wrote, say), the next access tells: a load of the byte before anything else is written to it. A load
that found another value than was stored says that something which is not recorded wrote in between; before it nothing
is known then. Locals that no pointer goes to have no address in a recording, but each of their stores.

Accesses stand in tables by the bytes that they touch (8 each, a *granule*; for long ones more) and by time, so what
concerns a place at a point is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.probe.layout import ACCESSES, ADDRESS_UNITS, NO_SLOT
from whence.probe.layout import Kind as Site
from whence.probe.library import numbers
from whence.probe.plan import UNKNOWN
from whence.trace import effects
from whence.trace.effect_records import operations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.subject.trace_reader import TraceReader

    Integers = NDArray[np.int64]

GRANULE = 8  # bytes
LEVELS = ((64, GRANULE), (1 << 16, 1 << 12), (1 << 62, 1 << 62))  # longest accesses of each, and its granules, in bytes
VARIADIC = 24  # bytes of a va_list
DOUBTED = 512  # bytes behind a pointer that a function which is not known may have written to
DEEPEST = 24  # copies that are followed to where bytes came from
STDIN = 0

NEVER = "never given a value"
UNSEEN = "not given a value in the part of the run that was recorded"
LIBRARY = "written by a library call, which tells no value"
UNLIKE = "changed by something that was not recorded"
DOUBT = "perhaps changed by a function that was not recorded"
NOWHERE = "nothing was recorded of it"


class Access(IntEnum):
    """What an access did."""

    LOAD = 1
    STORE = 2
    OTHER = 3  # an access of the program's code that writes, and is no store
    WRITE = 4  # by a library call
    COPY = 5  # by a library call
    MAYBE = 6  # by a function that is not known


ROW = np.dtype(
    [
        ("event", np.int64),  # what happened is seen behind it
        ("address", np.int64),
        ("length", np.int64),
        ("access", np.int8),
        ("operation", np.int32),  # of a library call: which one
    ]
)


@dataclass(slots=True, frozen=True)
class Bytes:
    """Bytes at a point: ``data``, or None where some are not known, and ``why`` not."""

    data: bytes | None
    why: str = ""


class RecordedMemory:
    """The memory of one recorded run.

    ``initial`` gives the byte at an address as the program's files have it (None: none do), ``standard_input`` what the
    run could read, where that is known.
    """

    def __init__(
        self,
        reader: TraceReader,
        initial: Callable[[int], int | None] = lambda address: None,
        standard_input: bytes | None = None,
    ) -> None:
        self._reader, self.subject, self.trace = reader, reader.subject, reader.trace
        self._initial, self._input = initial, standard_input
        self.is_whole = not self.trace.is_end
        self._never = NEVER if self.is_whole else UNSEEN

    # ---- The tables --------------------------------------------------------------------------------------------------

    @cached_property
    def _operations(self) -> Any:
        return operations(self.trace)

    @cached_property
    def _rows(self) -> Any:
        """All accesses, unordered."""
        parts = [np.zeros(0, ROW), self._of_library(), *self._of_sites(), *self._doubts()]
        rows = np.concatenate(parts)
        return rows[(rows["address"] != 0) & (rows["length"] > 0)]

    def _of_sites(self) -> Iterator[Any]:
        """The accesses of the program's own code, site by site."""
        trace, plan = self.trace, self.trace.plan
        kinds = plan.sites["kind"][:-1]
        private = (kinds <= Site.STORE) & (plan.sites["aux"][:-1] != NO_SLOT)
        chosen = np.isin(kinds, [int(kind) for kind in ACCESSES]) & (plan.sites["units"][:-1] > 0) & ~private
        for site in np.flatnonzero(chosen).tolist():
            static, kind = plan.sites[site], int(kinds[site])
            events, places = self._instances(site)
            lengths: Any = VARIADIC if kind == Site.VASTART else int(static["size"])
            if kind in (Site.COPY, Site.SET):
                lengths = trace.wide(places + 2 * ADDRESS_UNITS)
            access = {Site.LOAD: Access.LOAD, Site.STORE: Access.STORE}.get(Site(kind), Access.OTHER)
            yield _rows(events, trace.wide(places), lengths, access)

    def _instances(self, site: int) -> tuple[Integers, Integers]:
        """The events of a site, and where what each recorded begins in the trace."""
        plan, columns = self.trace.plan, self.trace.columns
        static = plan.sites[site]
        rows = columns.segments[self._reader.instances(int(static["segment"]))]
        offset = site - int(plan.segments[int(static["segment"])]["site_start"])
        return rows["event"].astype(np.int64) + offset, rows["word"] + int(static["unit"])

    def _of_library(self) -> Any:
        """What library calls wrote."""
        table = self._operations
        numbers = np.flatnonzero(np.isin(table["opcode"], (effects.WRITE, effects.COPY)))
        chosen = table[numbers]
        is_copy = chosen["opcode"] == effects.COPY
        rows = _rows(chosen["event"], chosen["x"], np.where(is_copy, chosen["z"], chosen["y"]), Access.WRITE)
        rows["access"][is_copy], rows["operation"] = Access.COPY, numbers
        return rows

    def _doubts(self) -> Iterator[Any]:
        """What functions that are not known were given pointers to."""
        plan = self.trace.plan
        for segment in np.flatnonzero(plan.segments["flags"][:-1] & UNKNOWN).tolist():
            last = int(plan.segments[segment + 1]["site_start"]) - 1
            for site in range(last - int(plan.sites[last]["aux"]), last):
                if plan.sites[site]["units"] == ADDRESS_UNITS:
                    events, places = self._instances(site)
                    yield _rows(events + (last - site), self.trace.wide(places), DOUBTED, Access.MAYBE)

    @cached_property
    def _levels(self) -> list[_Level]:
        """The accesses, short ones and long ones apart."""
        rows = self._rows
        rows = rows[np.argsort(rows["event"], kind="stable")]
        found, shortest = list[_Level](), 0
        for longest, granule in LEVELS:
            chosen = rows[(rows["length"] > shortest) & (rows["length"] <= longest)]
            found += [_level(chosen, granule)] if len(chosen) else []
            shortest = longest
        return found

    def prepare(self) -> None:
        """Make the tables, which takes about a second for ten million events."""
        _ = self._levels, self._stores

    # ---- Bytes -------------------------------------------------------------------------------------------------------

    def at(self, point: int, address: int, length: int, since: int = -1, until: int = -1) -> Bytes:
        """The bytes of a range before the event ``point``.

        They belong to an object that lived from the event ``since`` until ``until`` (-1: the end of the run): accesses
        before and behind tell nothing.
        """
        life = since, self.trace.events if until < 0 else until
        found, why = bytearray(), ""
        for start, end in _granules(address, length):
            for piece in self._pieces(point, start, end, life, DEEPEST):
                why = why or piece.why
                found += piece.data or b""
            if why:
                return Bytes(None, why)
        return Bytes(bytes(found))

    def writer(self, point: int, address: int, length: int, since: int = -1) -> int:
        """The event before ``point`` that wrote some of the bytes last; -1: none is known."""
        rows = (self._last(point, *granule, since, writes=True) for granule in _granules(address, length))
        return max((int(row["event"]) for row in rows if row is not None), default=-1)

    def _pieces(self, point: int, start: int, end: int, life: tuple[int, int], depth: int) -> Iterator[Bytes]:
        """The bytes of a range within one granule, in parts that one access each tells."""
        while start < end:
            stop, shorter = 0, end
            while stop != shorter:  # until what concerns the part has all of it
                stop = shorter
                last, following = self._last(point, start, stop, life[0]), self._next(point, start, stop, life[1])
                shorter = min(stop, _cut(last, start, stop), _cut(following, start, stop))
            yield self._part(start, stop, last, following, depth)
            start = stop

    def _part(self, start: int, end: int, last: Any, following: Any, depth: int) -> Bytes:
        """Bytes that the last access before the point and the next one behind it (None: neither) have as a whole."""
        length = end - start
        before = self._left(last, start, length, depth) if last is not None else self._before(start, length)
        if following is None or following["access"] != Access.LOAD:
            return before
        seen = self._value(following, start, length)
        if seen is None or seen == before.data:
            return before
        if before.data is None:
            return Bytes(seen)
        return Bytes(None, UNLIKE)

    def _before(self, start: int, length: int) -> Bytes:
        """Bytes that nothing has accessed."""
        initial = [self._initial(start + number) if self.is_whole else None for number in range(length)]
        if None in initial:
            return Bytes(None, self._never)
        return Bytes(bytes(byte or 0 for byte in initial))

    def _left(self, row: Any, start: int, length: int, depth: int) -> Bytes:
        """What an access left in bytes that it touched."""
        event, access = int(row["event"]), int(row["access"])
        offset = start - int(row["address"])
        if access in (Access.LOAD, Access.STORE):
            data = self._value(row, start, length)
            return Bytes(data, "" if data is not None else NOWHERE)
        if access == Access.MAYBE:
            return Bytes(None, DOUBT)
        if access == Access.OTHER:
            return self._by_code(event, offset, length, depth)
        operation = self._operations[int(row["operation"])]
        if access == Access.COPY:
            return self._copied(event, int(operation["y"]) + offset, length, depth)
        data = self._by_library(operation, offset, length)
        return Bytes(data, "" if data is not None else LIBRARY)

    def _by_code(self, event: int, offset: int, length: int, depth: int) -> Bytes:
        """What an access left that is neither a load nor a store: a copy, bytes that were set, something else."""
        ranges, kind = self.trace.ranges(event), self.trace.kind(event)
        if kind is Site.COPY:
            return self._copied(event, ranges[1][0] + offset, length, depth)
        byte = self.trace.instruction(event).operands[1].text if kind is Site.SET else ""
        if byte.lstrip("-").isdigit():
            return Bytes(bytes([int(byte) & 255]) * length)
        return Bytes(None, NOWHERE)

    def _copied(self, event: int, source: int, length: int, depth: int) -> Bytes:
        """What lay where bytes were copied from."""
        if not depth:
            return Bytes(None, NOWHERE)
        found = bytearray()
        for start, end in _granules(source, length):
            for piece in self._pieces(event, start, end, (-1, event), depth - 1):
                if piece.data is None:
                    return piece
                found += piece.data
        return Bytes(bytes(found))

    def _by_library(self, operation: Any, offset: int, length: int) -> bytes | None:
        """What a library call wrote, where that can be told: what it read from standard input, and zeros."""
        if operation["function"] == _NUMBERS["calloc"]:
            return bytes(length)
        table = self._operations
        first = int(np.searchsorted(table["record"], operation["record"]))
        record = table[first : int(np.searchsorted(table["record"], operation["record"], side="right"))]
        reads = record[(record["opcode"] == effects.IN) & (record["a"] == STDIN)]
        if self._input is None or len(reads) != 1 or (record["opcode"] == effects.WRITE).sum() != 1:
            return None
        start, size = int(reads[0]["x"]), int(reads[0]["y"])
        taken = self._input[start : start + size]
        if len(taken) != size or int(operation["y"]) not in (size, size + 1):
            return None
        return (taken + b"\0")[offset : offset + length]

    def _value(self, row: Any, start: int, length: int) -> bytes | None:
        """The bytes of the value that a load or store recorded."""
        value = self.trace.value(int(row["event"]))
        if value is None:
            return None
        offset = start - int(row["address"])
        return (value >> 8 * offset & (1 << 8 * length) - 1).to_bytes(length, "little")

    # ---- Neighbours --------------------------------------------------------------------------------------------------

    def _last(self, point: int, start: int, end: int, since: int, writes: bool = False) -> Any:
        """The last access before a point to any byte of a range within one granule; None."""
        best = None
        for level in self._levels:
            found = _latest(level.rows, *level.span(start, since, point), start, end, writes)
            if found is not None and (best is None or found["event"] >= best["event"]):
                best = found
        return best

    def _next(self, point: int, start: int, end: int, until: int) -> Any:
        """The first access from a point on and before another to any byte of a range within one granule; None."""
        best = None
        for level in self._levels:
            found = _earliest(level.rows, *level.span(start, point, until), start, end)
            if found is not None and (best is None or found["event"] < best["event"]):
                best = found
        return best

    # ---- Locals without an address -----------------------------------------------------------------------------------

    @cached_property
    def _stores(self) -> tuple[Integers, Integers]:
        """The stores to private locals by call, slot and time: keys, and events."""
        plan = self.trace.plan
        keys, events = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        sites = plan.sites[:-1]
        for site in np.flatnonzero((sites["kind"] == Site.STORE) & (sites["aux"] != NO_SLOT)).tolist():
            static = plan.sites[site]
            rows = self.trace.columns.segments[self._reader.instances(int(static["segment"]))]
            offset = site - int(plan.segments[int(static["segment"])]["site_start"])
            keys.append(rows["frame"].astype(np.int64) * self.slots + int(static["aux"]))
            events.append(rows["event"].astype(np.int64) + offset)
        found, times = np.concatenate(keys), np.concatenate(events)
        order = np.lexsort((times, found))
        return found[order], times[order]

    @cached_property
    def slots(self) -> int:
        """How many private locals a call may have."""
        return 1 + int(self.trace.plan.sites["aux"].max(initial=0))

    def private_writer(self, point: int, frame: int, slot: int) -> int:
        """The store before ``point`` that gave a private local of a call its value; -1: none."""
        keys, events = self._stores
        key = frame * self.slots + slot
        low, high = np.searchsorted(keys, [key, key + 1]).tolist()
        at = low + int(np.searchsorted(events[low:high], point))
        return int(events[at - 1]) if at > low else -1

    def private(self, point: int, frame: int, slot: int, length: int) -> Bytes:
        """The bytes of a private local of a call before the event ``point``."""
        writer = self.private_writer(point, frame, slot)
        value = self.trace.value(writer) if writer >= 0 else None
        if value is None:
            return Bytes(None, self._never if writer < 0 else NOWHERE)
        return Bytes((value & (1 << 8 * length) - 1).to_bytes(length, "little"))


_NUMBERS = numbers()


def _granules(address: int, length: int) -> Iterator[tuple[int, int]]:
    """The parts of a range that lie in one granule each."""
    end = address + length
    while address < end:
        stop = min(end, address - address % GRANULE + GRANULE)
        yield address, stop
        address = stop


@dataclass(slots=True, frozen=True)
class _Level:
    """Accesses of about one length by granule and time, one row for each granule that one touches."""

    granule: int
    rows: Any
    granules: Integers
    events: Integers

    def span(self, address: int, since: int, until: int) -> tuple[int, int]:
        """Which rows touch the granule of an address from one event on and before another."""
        number = address // self.granule
        low, high = np.searchsorted(self.granules, [number, number + 1]).tolist()
        first, last = np.searchsorted(self.events[low:high], [since, until]).tolist()
        return low + first, low + last


def _level(rows: Any, granule: int) -> _Level:
    """The level of rows in order of time."""
    first = rows["address"] // granule
    counts = (rows["address"] + rows["length"] - 1) // granule - first + 1
    numbers = np.repeat(np.arange(len(rows)), counts)
    granules = first[numbers] + np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(granules, kind="stable")
    rows = rows[numbers[order]]
    return _Level(granule, rows, granules[order], np.ascontiguousarray(rows["event"]))


def _rows(events: Any, addresses: Any, lengths: Any, access: Access) -> Any:
    rows = np.zeros(len(events), ROW)
    rows["event"], rows["address"], rows["length"], rows["access"] = events, addresses, lengths, access
    return rows


def _cut(row: Any, start: int, end: int) -> int:
    """Where a range has to be cut so that an access has all of its first part, or nothing."""
    if row is None:
        return end
    first, last = int(row["address"]), int(row["address"] + row["length"])
    return last if first <= start else first


def _latest(rows: Any, low: int, high: int, start: int, end: int, writes: bool) -> Any:
    """The last one of rows that has a byte of a range; looked for in stretches that grow."""
    stretch = 16
    while high > low:
        first = max(low, high - stretch)
        part = rows[first:high]
        hits = (part["address"] < end) & (part["address"] + part["length"] > start)
        if writes:
            hits &= part["access"] != Access.LOAD
        found = np.flatnonzero(hits)
        if len(found):
            return part[found[-1]]
        high, stretch = first, 4 * stretch
    return None


def _earliest(rows: Any, low: int, high: int, start: int, end: int) -> Any:
    """The first one of rows that has a byte of a range."""
    stretch = 16
    while low < high:
        part = rows[low : min(high, low + stretch)]
        found = np.flatnonzero((part["address"] < end) & (part["address"] + part["length"] > start))
        if len(found):
            return part[found[0]]
        low, stretch = low + stretch, 4 * stretch
    return None
