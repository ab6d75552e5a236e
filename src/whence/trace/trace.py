"""A recorded run: the trace file opened, checked and decoded, and what its events were."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.errors import TooLong, TraceError
from whence.probe.layout import ACCESSES, ADDRESS_UNITS, CONDITIONAL, NO_SLOT, Kind
from whence.probe.plan import FIRST, SAME_BLOCK, Plan
from whence.program.model import Instruction, Location, Operand
from whence.program.program import Program
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS, N_CELL, N_EVENT, N_SEGMENT, Columns, new_columns, trimmed
from whence.trace.fault import REGISTERS, Fault

if TYPE_CHECKING:
    from whence.trace.compact import End
    from whence.trace.shadow import Shadow

MAGIC = int.from_bytes(b"WHNCTRC1", "little")
VERSION = 5
ADDRESS_BYTES = 8
REGISTERS_AT = 17  # word of the header
PROCESS_AT = 34  # the same
MOST_FORKS = 8  # on the way to a process, as in probe/runtime/record/trace.h
MOST_THREADS = 4096  # as in probe/runtime/record/baton.h
LIMIT_REACHED, RING, CHILD, THREADS, FULL, FORKED, COMPACT = 1, 2, 4, 8, 16, 32, 64
NAMES = slice(512, HEADER_UNITS)  # units of the header: the executable and the arguments of a command's process
END_KINDS = {0: "killed", 1: "exit", 2: "signal"}


@dataclass(slots=True, frozen=True)
class Identity:
    """Which of a command's processes one is, in a suppressed run: the ``number``-th (from 0) of those with its command
    line (a hash), and of what it forked that with these numbers (from 1), one behind the other.
    """

    line: int
    number: int
    forks: tuple[int, ...] = ()


@dataclass(slots=True, frozen=True)
class Header:
    """The first page of a trace file (see docs/architecture.md); ``fault`` where the signal was a fault."""

    chunks: int
    limit: int
    flags: int
    end: str  # "killed" (or _exit), "exit", "signal"
    code: int
    address: int
    thread: int
    fingerprint: int
    threads: int
    fault: Fault | None = None
    executable: str = ""  # of a command's process
    arguments: tuple[str, ...] = ()
    identity: Identity | None = None  # of a command's process in a suppressed run, as far as it can be told

    @property
    def bytes_used(self) -> int:
        """Bytes of the file that hold chunks of the run."""
        return 4 * (HEADER_UNITS + CHUNK_UNITS * min(self.chunks, self.limit))


def open_units(path: Path, private: bool = False) -> NDArray[np.uint32]:
    """The units of a trace file, mapped; ``private``: they can be changed, without the file.

    Raises TraceError where it cannot be read, or is no trace.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < HEADER_UNITS * 4:
                raise TraceError(f"{path}: no trace, or cut off in its header ({size} bytes)", "record the run again")
            units = np.asarray(np.memmap(file, np.uint32, "c" if private else "r", shape=(size // 4,)))
    except OSError as error:
        raise TraceError(f"{path}: the trace cannot be read: {error.strerror}") from error
    words = units[:HEADER_UNITS].view(np.uint64)
    if int(words[0]) != MAGIC:
        raise TraceError(f"{path}: not a trace file of whence", "give a file that `whence record` wrote")
    version, chunk_units = int(words[1]) & 0xFFFFFFFF, int(words[1]) >> 32
    if (version, chunk_units) != (VERSION, CHUNK_UNITS):
        raise TraceError(f"{path}: trace version {version}, this whence reads {VERSION}", "record the run again")
    return units


def read_header(units: NDArray[np.uint32]) -> Header:
    """The header of an opened trace."""
    row = [int(w) for w in units[: 2 * (REGISTERS_AT + len(REGISTERS))].view(np.uint64)]
    chunks, limit, flags, end, code, address, thread, fingerprint, threads = row[2:11]
    bytes_there = b"".join(word.to_bytes(8, "little") for word in row[15:17])
    fault = Fault(row[12], row[13], address, row[14], bytes_there, tuple(row[REGISTERS_AT:])) if row[12] else None
    names = units[NAMES].tobytes().rstrip(b"\0").decode(errors="replace").split("\0")
    kind = END_KINDS.get(end, "killed")
    most, arguments = max(1, threads), tuple(names[1:])
    process = _identity([int(w) for w in units[2 * PROCESS_AT : 2 * (PROCESS_AT + 3 + MOST_FORKS)].view(np.uint64)])
    return Header(
        chunks, limit, flags, kind, code, address, thread, fingerprint, most, fault, names[0], arguments, process
    )


def _identity(words: list[int]) -> Identity | None:
    """What the header tells of which process it is."""
    line, number, depth, *forks = words
    return Identity(line, number, tuple(forks[:depth])) if line and depth <= MOST_FORKS else None


def _chunk_starts(units: NDArray[np.uint32], header: Header, path: Path) -> NDArray[np.int64]:
    """Where the chunks begin, in order of time; raises TraceError where the file ends before them.

    One that a ring was clearing when the run was ended has no number any more, and is left out.
    """
    kept = min(header.chunks, header.limit)
    if HEADER_UNITS + CHUNK_UNITS * kept > len(units):
        raise TraceError(f"{path}: cut off: {kept:,} chunks recorded, the file holds fewer", "record the run again")
    if header.threads > MOST_THREADS:
        raise TraceError(f"{path}: damaged: {header.threads:,} threads", "record the run again")
    starts = HEADER_UNITS + CHUNK_UNITS * np.arange(kept, dtype=np.int64)
    if header.flags & RING:
        starts = starts[units[starts] > 0]
    return np.asarray(starts[np.argsort(units[starts], kind="stable")], np.int64)


class Trace:
    """A decoded trace together with the program and plan that give it meaning.

    ``units`` are the file's units (uint32; of a compact one made whole, and ``recorded`` those that it holds);
    ``columns`` what decoding made of them. Events are numbered from 0 in
    order of time. A program that went astray before it crashed may have written over its last records: what stands
    before them is decoded, and ``damaged_at`` is the byte at which it ends (-1: nothing is damaged).
    ``return_writers`` refer to what wrote last where the return address lay, if a return led to where no code is.
    A compact one that is more than ``most`` bytes when it is made whole is not decoded, which raises TooLong: what
    decoding takes of memory depends on these, and a loop can have a tenth of them in its recording.
    """

    def __init__(self, path: Path, program: Program, plan: Plan, fingerprint: int, most: float = float("inf")) -> None:
        from whence.trace.interrupted import can_be_interrupted
        from whence.trace.shadow import MAX_PAGES, PAGE, writers_at

        self.path, self.program, self.plan = path, program, plan
        self._handles_signals, self._most = can_be_interrupted(program), most
        self.units = open_units(path, self._handles_signals)
        self.header = read_header(self.units)
        if self.header.fingerprint != fingerprint:
            raise TraceError(f"{path}: recorded from another version of the program", "record the run again")
        self.chunks = _chunk_starts(self.units, self.header, path)
        self.recorded = self.units
        self.columns: Columns = new_columns()
        try:
            shadow, damaged = self._decode()
        except MemoryError as error:
            raise TraceError(f"{path}: the run touched more memory than {MAX_PAGES * PAGE >> 30} GiB") from error
        self.damaged_at = 4 * damaged if damaged >= 0 else -1  # byte of the file
        if self.damaged_at >= 0 and self.header.end == "exit":
            raise TraceError(f"{path}: damaged at byte {self.damaged_at:,}", "record the run again")

        fault = self.header.fault
        astray = fault is not None and (fault.is_return or fault.is_fetch)
        self.return_writers = writers_at(shadow, fault.return_slot, ADDRESS_BYTES) if fault and astray else []

    def _decode(self) -> tuple[Shadow, int]:
        """Fill the columns; returns who wrote memory last, and the unit at which the trace is damaged, -1."""
        from whence.trace.compact import made_whole
        from whence.trace.decode import decode, new_stacks
        from whence.trace.interrupted import put_in_order
        from whence.trace.shadow import new_shadow

        damaged = -1
        if self.header.flags & COMPACT:
            made = made_whole(self.units, self.chunks, self._end_of_run, self.program, self.plan)
            self.units, self.chunks, damaged = made
            if self.units.nbytes > self._most:
                raise TooLong(
                    f"the recording is {self.units.nbytes >> 20:,} MiB when it is made whole, of at most "
                    f"{int(self._most) >> 20:,} MiB that memory allows",
                    "give a smaller input (`whence reduce`), or keep only the end of the run with --window 256M",
                )
        if self._handles_signals:
            put_in_order(self.units, self.chunks, self.plan)
            self.units.flags.writeable = False
        shadow, stacks = new_shadow(), new_stacks(self.header.threads)
        records = decode(self.units, self.chunks, self.plan, self.columns, shadow, stacks)
        return shadow, -1 - records if records < 0 else damaged

    @property
    def _end_of_run(self) -> End:
        from whence.trace.compact import End

        cut_off = bool(self.header.flags & (LIMIT_REACHED | FULL))
        return End(self.header.end, self.header.code, self.header.fault, cut_off)

    def trim(self) -> None:
        """Give back the address space that decoding reserved for larger traces."""
        self.columns = trimmed(self.columns)

    @property
    def fault_address(self) -> int:
        """The address that the run crashed at; 0 where it is not known or was 0, -1 where no signal ended the run."""
        if self.header.end != "signal":
            return -1
        return self.header.fault.address if self.header.fault else self.header.address

    @property
    def is_end(self) -> bool:
        """Whether only the end of a longer run is there."""
        return bool(self.header.flags & RING) and self.header.chunks > self.header.limit

    @property
    def first_segment(self) -> int:
        """The first segment instance that is in the columns, but for those of blocks that are open there."""
        return 0

    @property
    def first_event(self) -> int:
        """The first event of that segment instance."""
        return 0

    @property
    def shows_end(self) -> bool:
        """Whether the columns go to the end of the recording."""
        return True

    @property
    def blocks_before(self) -> int:
        """How many blocks began before the first segment instance that is in the columns."""
        return 0

    @property
    def windows(self) -> int:
        """In how many windows the run is read: one, unless it is too long for that."""
        return 1

    def windows_shown(self, backward: bool = False) -> Iterator[None]:
        """Have all of the run in the columns, part by part where it is too long, in order of time or against it."""
        yield None

    def bring(self, event: int) -> None:
        """Have an event in the columns."""

    def shows(self, reference: int) -> bool:
        """Whether an event or a cell, by its reference, is in the part of the run that is shown, or later."""
        return True

    def holds(self, event: int) -> bool:
        """Whether an event is in the columns."""
        return True

    @property
    def events(self) -> int:
        """Number of events."""
        return int(self.columns.counts[N_EVENT])

    @property
    def segments(self) -> int:
        """Number of segment instances."""
        return int(self.columns.counts[N_SEGMENT])

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.columns.counts[N_CELL])

    @property
    def bytes_used(self) -> int:
        """Bytes of the file that hold chunks of the run."""
        return self.header.bytes_used

    @cached_property
    def segment_clock(self) -> NDArray[np.int64]:
        """For each segment instance from the first how many blocks had started, less one: its block's clock if no call
        came before.

        Of blocks that began before the end of a run that is there it is 0.
        """
        starts = self._starts_block(np.arange(self.first_segment, self.segments))
        return np.asarray(np.maximum(np.cumsum(starts) + (self.blocks_before - 1), 0), np.int64)

    @property
    def blocks(self) -> int:
        """Number of blocks that were recorded."""
        return int(self.segment_clock[-1]) + 1 if len(self.segment_clock) else self.blocks_before

    @cached_property
    def block_clock(self) -> NDArray[np.int64]:
        """For each segment instance the clock of its own block; ``segment_clock`` counts callees before it, too."""
        rows = np.arange(self.segments)
        behind = np.flatnonzero(~self._starts_block(rows))
        while len(behind):
            before = self.columns.segments["previous"][rows[behind]]
            behind, before = behind[before >= 0], before[before >= 0]
            rows[behind] = before
            behind = behind[~self._starts_block(before)]
        return self.segment_clock[rows]

    def _starts_block(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(self.plan.segments["flags"][self.columns.segments["id"][rows]] & FIRST != 0)

    def clock(self, event: int) -> int:
        """The clock of an event's block: how many recorded blocks had started before that block."""
        row = int(self.columns.events[event]["segment"])
        while not self._starts_block(np.array([row])) and (before := int(self.columns.segments["previous"][row])) >= 0:
            row = before
        return int(self.segment_clock[row - self.first_segment])

    def site(self, event: int) -> int:
        """The static site of an event."""
        segment, first, static, start = self._site_columns
        row = segment.item(event)
        return int(start.item(static.item(row)) + event - first.item(row))

    @cached_property
    def _site_columns(self) -> tuple[Any, Any, Any, Any]:
        """Of events the segment, of segments the first event and the static one, of static ones the first site.

        A field of a row is read ten times as fast as a row is made.
        """
        segments = self.columns.segments
        return self.columns.events["segment"], segments["event"], segments["id"], self.plan.segments["site_start"]

    def last_events(self, segments: NDArray[np.int64]) -> NDArray[np.int64]:
        """The last event of each segment instance: its branch, call or return."""
        rows, starts = self.columns.segments[segments], self.plan.segments["site_start"]
        static = rows["id"]
        return np.asarray(rows["event"].astype(np.int64) + starts[static + 1] - starts[static] - 1, np.int64)

    def last_event(self, segment: int) -> int:
        """The last event of one segment instance."""
        return int(self.last_events(np.array([segment]))[0])

    def sites(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """The static sites of many events."""
        from whence.trace.sites import sites_of

        found = np.empty(len(events), np.int32)
        sites_of(self.columns.events, self.columns.segments, self.plan.segments, np.asarray(events, np.int64), found)
        return found

    def every_site(self) -> NDArray[np.int32]:
        """For each event its static site."""
        from whence.trace.sites import every_site

        found = np.empty(self.events, np.int32)
        every_site(self.columns.segments[: self.segments], self.plan.segments, found)
        return found

    def events_at(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The events of some static sites, in order of time; ``chosen`` says of each site whether it is one."""
        return np.flatnonzero(chosen[self.every_site()])

    def kind(self, event: int) -> Kind:
        """What kind of event it is."""
        return Kind(int(self.plan.sites[self.site(event)]["kind"]))

    def instruction(self, event: int) -> Instruction:
        """The instruction of an event."""
        return self.program.instruction(int(self.plan.sites[self.site(event)]["instruction"]))

    def location(self, event: int) -> Location | None:
        """Where the event's instruction stands in the source."""
        return self.instruction(event).location

    def _recorded(self, event: int, unit: int, units: int) -> int:
        """A number of 1, 2 or 4 units that the event recorded, from its ``unit`` on, as an unsigned number."""
        site = self.plan.sites[self.site(event)]
        segment = self.columns.segments[self.columns.events[event]["segment"]]
        place = int(segment["word"] + site["unit"]) + unit
        return int.from_bytes(self.units[place : place + units].tobytes(), "little")

    def address(self, event: int) -> int | None:
        """The address that an access to memory goes to; None for other events, and for private locals."""
        site = self.plan.sites[self.site(event)]
        if site["kind"] not in ACCESSES or self.is_private(event):
            return None
        return self._recorded(event, 0, ADDRESS_UNITS)

    def addresses(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The addresses that events access, as ``address`` gives them one by one; 0 where it gives None."""
        sites = self.plan.sites[self.sites(events)]
        kinds, private = sites["kind"], (sites["kind"] <= Kind.STORE) & (sites["aux"] != NO_SLOT)
        known = np.isin(kinds, [int(kind) for kind in ACCESSES]) & ~private
        places = self.columns.segments["word"][self.columns.events["segment"][events]] + sites["unit"]
        return np.where(known, self.wide(np.where(known, places, 0)), 0)

    def wide(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of two units that stand at some units of the trace."""
        low, high = (self.units[places + n].astype(np.int64) for n in range(ADDRESS_UNITS))
        return np.asarray(low | high << 32, np.int64)

    def ranges(self, event: int) -> list[tuple[int, int]]:
        """Where the bytes lie that an access touches, each with how many: of a copy the target, then the source."""
        address, kind = self.address(event), self.kind(event)
        if address is None:
            return []
        if kind in {Kind.COPY, Kind.SET}:
            second, length = (self._recorded(event, ADDRESS_UNITS * n, ADDRESS_UNITS) for n in (1, 2))
            return [(address, length), (second, length)][: 2 if kind is Kind.COPY else 1]
        return [(address, int(self.plan.sites[self.site(event)]["size"]))]

    def is_private(self, event: int) -> bool:
        """Whether the event loads or stores a private local, which has no address."""
        site = self.plan.sites[self.site(event)]
        return bool(site["kind"] <= Kind.STORE and site["aux"] != NO_SLOT)

    def target(self, event: int) -> int | None:
        """The address that an indirect call goes to."""
        site = self.plan.sites[self.site(event)]
        if site["kind"] != Kind.CALL or not site["units"]:
            return None
        return self._recorded(event, 0, ADDRESS_UNITS)

    def value(self, event: int) -> int | None:
        """The bits of the value loaded, stored, passed or returned, zero-extended; None where none is known."""
        site = self.plan.sites[self.site(event)]
        kind, units = Kind(int(site["kind"])), int(site["units"])
        if kind in {Kind.LOAD, Kind.STORE, Kind.RMW}:
            if not self.is_private(event):
                units -= ADDRESS_UNITS + int(kind is Kind.RMW and site["aux"] == CONDITIONAL)
                return self._recorded(event, ADDRESS_UNITS, units) if units else None
            if kind is Kind.LOAD:
                definition = int(self.columns.events[event]["definition"])
                return self.value(definition - 1) if definition > 0 and self.holds(definition - 1) else None
        if kind is Kind.ARG and not units:
            return self._operand_value(event, self.instruction(event).operands[int(site["aux"])])
        if kind not in {Kind.STORE, Kind.ARG, Kind.RESULT} or not units:
            return None
        return self._recorded(event, 0, units)

    def values(self, events: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """The bits of values that were loaded, stored or returned, as ``value`` gives them one by one; and whether
        they are known. Values of more than 8 bytes, and of other kinds of events, are not known here.
        """
        sites = self.plan.sites[self.sites(events)]
        private = (sites["kind"] <= Kind.STORE) & (sites["aux"] != NO_SLOT)
        definitions = np.where(private & (sites["kind"] == Kind.LOAD), self.columns.events["definition"][events], 0)
        sources = np.where(definitions > 0, definitions - 1, events)
        known = ~private | (sites["kind"] == Kind.STORE) | (definitions > 0)
        sites = self.plan.sites[self.sites(sources)]
        kinds = sites["kind"]
        private = (kinds <= Kind.STORE) & (sites["aux"] != NO_SLOT)
        first = np.where((kinds <= Kind.STORE) & ~private, ADDRESS_UNITS, 0)
        units = sites["units"] - first
        known &= np.isin(kinds, (Kind.LOAD, Kind.STORE, Kind.RESULT)) & (units >= 1) & (units <= 2)
        known &= (kinds != Kind.LOAD) | ~private
        places = self.columns.segments["word"][self.columns.events["segment"][sources]] + sites["unit"] + first
        found = self.wide(np.where(known, places, 0)).astype(np.uint64)
        found[units == 1] &= np.uint64(0xFFFFFFFF)
        return np.where(known, found, np.uint64(0)), known

    def arguments(self, events: NDArray[np.int64], site: int) -> NDArray[np.int64]:
        """The pointers that one argument's site passed at many events, as ``value`` has them; 0: it is not known."""
        static, plan = self.plan.sites[site], self.plan
        if static["units"] == ADDRESS_UNITS:
            words = self.columns.segments["word"][self.columns.events["segment"][events]].astype(np.int64)
            return self.wide(words + int(static["unit"]))
        start, end = plan.sites["ref_start"][site : site + 2]
        if static["units"] or end - start != 1 or plan.refs[start]["outer"] != SAME_BLOCK:
            return np.zeros(len(events), np.int64)
        target = int(plan.refs[start]["target"])
        wanted, segments = plan.sites[target]["segment"], self.columns.segments
        rows = self.columns.events["segment"][events].astype(np.int64)
        while len(others := np.flatnonzero((rows >= 0) & (segments["id"][rows] != wanted))):
            rows[others] = segments["previous"][rows[others]]
        sources = segments["event"][rows].astype(np.int64) + target - int(plan.segments["site_start"][wanted])
        operand = self.program.instruction(int(static["instruction"])).operands[int(static["aux"])]
        is_it = self.program.instruction(int(plan.sites[target]["instruction"])).result == operand.text
        values, known = self.values(np.where(rows >= 0, sources, 0))
        return np.where((rows >= 0) & known & is_it, values.astype(np.int64), 0)

    def _operand_value(self, event: int, operand: Operand) -> int | None:
        """The value of an operand that is a constant, or what a site of the same block made."""
        if not operand.is_register:
            return _constant_bits(operand)
        site = self.site(event)
        start, end = self.plan.sites["ref_start"][site : site + 2]
        if end - start != 1 or self.plan.refs[start]["outer"] != SAME_BLOCK:
            return None
        target = int(self.plan.refs[start]["target"])
        row = int(self.columns.events[event]["segment"])
        wanted = self.plan.sites[target]["segment"]
        while row >= 0 and self.columns.segments[row]["id"] != wanted:
            row = int(self.columns.segments[row]["previous"])
        if row < 0:
            return None
        source = int(self.columns.segments[row]["event"]) + target - int(self.plan.segments[wanted]["site_start"])
        if self.instruction(source).result != operand.text:
            return None
        return self.value(source)

    def reached(self, event: int) -> bool:
        """Whether an access to memory by address was reached before the run ended."""
        return self.address(event) != 0


def _constant_bits(operand: Operand) -> int | None:
    """The bits of an integer or null constant."""
    if operand.text in {"null", "false", "zeroinitializer"}:
        return 0
    if operand.text == "true":
        return 1
    if re.fullmatch(r"-?\d+", operand.text) and re.fullmatch(r"i\d+", operand.type):
        return int(operand.text) & ((1 << int(operand.type[1:])) - 1)
    return None
