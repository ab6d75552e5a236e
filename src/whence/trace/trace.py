"""A recorded run: the trace file opened, checked and decoded, and what its events were."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.errors import TraceError
from whence.probe.layout import Kind
from whence.probe.plan import FIRST, Plan
from whence.program.model import Instruction, Location
from whence.program.program import Program
from whence.trace.columns import N_CELL, N_EVENT, N_SEGMENT, Columns, new_columns

MAGIC = int.from_bytes(b"WHNCTRC1", "little")
VERSION = 1
HEADER_WORDS = 512  # a page
CHUNK_WORDS = 65536
LIMIT_REACHED, RING, CHILD, THREADS, FULL = 1, 2, 4, 8, 16
END_KINDS = {0: "killed", 1: "exit", 2: "signal"}


@dataclass(slots=True, frozen=True)
class Header:
    """The first page of a trace file (see docs/architecture.md)."""

    chunks: int
    limit: int
    flags: int
    end: str  # "killed" (or _exit), "exit", "signal"
    code: int
    address: int
    thread: int
    fingerprint: int
    dropped_blocks: int


def open_words(path: Path) -> NDArray[np.int64]:
    """The words of a trace file as int64, mapped; raises TraceError where it is no trace, or cut off in its header."""
    size = path.stat().st_size
    if size < HEADER_WORDS * 8:
        raise TraceError(f"{path}: no trace, or cut off in its header ({size} bytes)", "record the run again")
    words = np.memmap(path, np.int64, "r", shape=(size // 8,))
    if int(words[0]) != MAGIC:
        raise TraceError(f"{path}: not a trace file of whence", "give a file that `whence record` wrote")
    version, chunk_words = int(words[1]) & 0xFFFFFFFF, int(words[1]) >> 32
    if (version, chunk_words) != (VERSION, CHUNK_WORDS):
        raise TraceError(f"{path}: trace version {version}, this whence reads {VERSION}", "record the run again")
    return words


def read_header(words: NDArray[np.int64]) -> Header:
    """The header of an opened trace."""
    row = [int(w) for w in words[:11]]
    end = END_KINDS.get(row[5], "killed")
    return Header(row[2], row[3], row[4], end, row[6], row[7], row[8], row[9] & (2**64 - 1), row[10])


def _chunk_starts(words: NDArray[np.int64], header: Header, path: Path) -> NDArray[np.int64]:
    """Where the chunks begin, in order of time; raises TraceError where the file ends before them."""
    kept = min(header.chunks, header.limit)
    starts = HEADER_WORDS + CHUNK_WORDS * np.arange(kept, dtype=np.int64)
    if kept and starts[-1] + CHUNK_WORDS > len(words):
        raise TraceError(f"{path}: cut off: {kept} chunks recorded, the file holds fewer", "record the run again")
    order = np.argsort(words[starts], kind="stable") if kept else starts
    return np.asarray(starts[order] if kept else starts, np.int64)


class Trace:
    """A decoded trace together with the program and plan that give it meaning.

    ``words`` are the file's words (int64); ``columns`` what decoding made of them. Events are numbered from 0 in order of time.
    """

    def __init__(self, path: Path, program: Program, plan: Plan, fingerprint: int) -> None:
        from whence.trace.decode import decode, new_stacks
        from whence.trace.shadow import new_shadow

        self.path, self.program, self.plan = path, program, plan
        self.words = open_words(path)
        self.header = read_header(self.words)
        if self.header.fingerprint != fingerprint:
            raise TraceError(f"{path}: recorded from another version of the program", "record the run again")
        chunks = _chunk_starts(self.words, self.header, path)
        self.columns: Columns = new_columns()
        threads = int(self.words[chunks + 1].max()) + 1 if len(chunks) else 1
        self.records = decode(self.words, chunks, plan, self.columns, new_shadow(), new_stacks(threads))

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

    @cached_property
    def segment_clock(self) -> NDArray[np.int64]:
        """For each segment instance the clock of its block: how many blocks had started before, from 0."""
        first = self.plan.segments["flags"][self.columns.segments["id"][: self.segments]] & FIRST != 0
        return np.cumsum(first) - 1 + self.header.dropped_blocks

    @property
    def blocks(self) -> int:
        """Number of blocks that were executed, those that a ring dropped included."""
        return int(self.segment_clock[-1]) + 1 if self.segments else 0

    def clock(self, event: int) -> int:
        """The block clock of an event."""
        return int(self.segment_clock[self.columns.events[event]["segment"]])

    def site(self, event: int) -> int:
        """The static site of an event."""
        row = self.columns.segments[self.columns.events[event]["segment"]]
        return int(self.plan.segments[row["id"]]["site_start"] + event - row["event"])

    def sites(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The static sites of many events."""
        rows = self.columns.segments[self.columns.events["segment"][events]]
        return np.asarray(self.plan.segments["site_start"][rows["id"]] + events - rows["event"], np.int64)

    def kind(self, event: int) -> Kind:
        """What kind of event it is."""
        return Kind(int(self.plan.sites[self.site(event)]["kind"]))

    def instruction(self, event: int) -> Instruction:
        """The instruction of an event."""
        return self.program.instruction(int(self.plan.sites[self.site(event)]["instruction"]))

    def location(self, event: int) -> Location | None:
        """Where the event's instruction stands in the source."""
        return self.instruction(event).location

    def word(self, event: int, offset: int = 0) -> int | None:
        """A word of the event as an unsigned number; None where it has no such word."""
        site = self.plan.sites[self.site(event)]
        if offset >= site["words"]:
            return None
        segment = self.columns.segments[self.columns.events[event]["segment"]]
        place = segment["word"] + site["word"] + offset
        return int(self.words[place]) & (2**64 - 1)

    def address(self, event: int) -> int | None:
        """The address that a load, store, copy or fill goes to; None for other events."""
        return self.word(event) if self.kind(event) <= Kind.VASTART else None

    def value(self, event: int) -> int | None:
        """The bits of the value loaded, stored, passed or returned, zero-extended; None where none is recorded."""
        kind = self.kind(event)
        if kind in {Kind.LOAD, Kind.STORE, Kind.RMW}:
            first = 1
        elif kind in {Kind.ARG, Kind.RESULT}:
            first = 0
        else:
            return None
        low, high = self.word(event, first), self.word(event, first + 1)
        return low if low is None or high is None else low | high << 64

    def reached(self, event: int) -> bool:
        """Whether a load, store or copy was reached before the run ended (its address was written)."""
        return self.kind(event) > Kind.VASTART or bool(self.word(event))
