"""What may be changed in a run, and what came of it: the records that the runtime reads and writes.

A *change* is made at one instance of a site (block clock and site), or at every instance of it. A *continuation* is a
run of a case with a list of changes; a *batch* is many continuations of one case. The layouts of the records are those
of ``probe/runtime/alter/session_file.h``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from whence.run.result import LeftFile

EVERY = (1 << 64) - 1  # clock of a change that is made at every instance of its site
NOWHERE = (1 << 64) - 1  # `first_wrong` of an output that has no wrong byte


class Op(IntEnum):
    """What a change does. Values are bits, zero-extended; the site's type says how they are meant."""

    SET = 1  # the value becomes `value`
    ADD = 2  # `value` is added (floating point: `value` holds the bits of a double)
    NEGATE = 3
    NOT = 4  # 0 becomes 1, everything else 0
    KEEP = 5  # STORE: the store is left out (the place keeps what it holds)
    OPERATOR = 6  # BINARY, COMPARE: computed again with the operation number `operation`
    LEFT_ADD = 7  # BINARY, COMPARE: computed again (with `operation`) with `value` added to the left operand
    RIGHT_ADD = 8
    LEFT_SET = 9  # the left operand becomes `value`
    RIGHT_SET = 10
    SKIP = 11  # CALL: the function is not called; its result, if it has one, is `value`
    POKE = 12  # `size` bytes of `value` are written to `address` when the site is reached
    VARIABLE = 13  # the value of the frame's variable number `address` (see AlterPlan.variables)
    MEMBER = 14  # LOAD: what lies `value` bytes (modulo 2**64) behind the place that is read
    EXCHANGE = 15  # BRANCH on the left operand of && or ||: the other operator. Both operands are computed: here the
    # condition becomes `value`, and at site `address` (in block `guard`), the right operand, the outcome of the other
    # operator; `operation` is the right operand's value that decides as the left one alone would
    READ = 16  # nothing is changed: `value` bytes at `address` are read, once the changes at the site are made
    READ_VALUE = 17  # the site's value is read (8 bytes)
    STOP = 18  # the continuation has come where it should, and ends


class Flag(IntFlag):
    """How a change is made."""

    GUARDED = 1  # only where the original value is `guard`
    MEMORY = 2  # LOAD: what was loaded from is overwritten as well, so that later loads see the new value
    RELOAD = 4  # POKE at a LOAD: what is loaded is what lies there after that


CHANGE = np.dtype(
    [
        ("clock", "<u8"),  # block clock of the instance (as in a trace, from 0), or EVERY
        ("value", "<u8"),
        ("guard", "<u8"),
        ("address", "<u8"),
        ("site", "<u4"),
        ("block", "<u4"),  # the program's number of the block that the site stands in
        ("op", "u1"),
        ("flags", "u1"),
        ("width", "u1"),  # bits of the site's value
        ("form", "u1"),  # as Form in probe/sites.py: integer, floating point or pointer
        ("operation", "u1"),  # OPERATOR: the new operation; LEFT_..., RIGHT_...: the site's own
        ("size", "u1"),  # POKE: bytes
        ("spare", "<u2"),
    ]
)
assert CHANGE.itemsize == 48


class Verdict(IntEnum):
    """What became of a continuation."""

    NOT_RUN = 0  # the search was stopped before
    RUNNING = 1
    PASS = 2
    WRONG_OUTPUT = 3
    WRONG_STATUS = 4
    CRASH = 5
    TIMEOUT = 6  # its clock budget or its time was used up
    NOT_REACHED = 7  # the instance of its first change was never reached
    LOST = 8  # it took its process down in a way that tells nothing
    UNJUDGED = 9  # inside a session only: Python's oracle has to look at the output
    REFUSED = 10  # it asked the system for what altered runs may not do (start processes, reach other machines)
    REACHED = 11  # it came to its STOP


class Way(IntEnum):
    """How a continuation went back to the point of change."""

    AUTO = 0  # snapshots, and where one does not serve, a fork
    SNAPSHOT = 1
    FORK = 2
    RESTART = 3  # run again from the start, under the ordinary runner (threads, processes)


RESULT = np.dtype(
    [
        ("length", "<u8"),  # block clock at its end
        # offset in standard output of the first byte that is not as expected, or NOWHERE; REACHED: the hash of the path
        ("first_wrong", "<u8"),
        ("output", "<u8"),  # where the kept output begins (see Results), or what was read
        ("output_length", "<u4"),
        ("error_length", "<u4"),
        ("applied", "<u4"),  # how many times a change was made
        ("status", "<i4"),
        ("verdict", "u1"),
        ("way", "u1"),
        ("signal", "u1"),
        ("spare", "u1"),
        ("microseconds", "<u4"),
    ]
)
assert RESULT.itemsize == 48

EVENT = np.dtype([("clock", "<u8"), ("value", "<u8"), ("site", "<u4"), ("first", "<u4")])


def joined(parts: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Changes one behind the other; NumPy takes long to find out that all of them are records of one type."""
    return np.frombuffer(bytearray().join(part.tobytes() for part in parts), CHANGE)


@dataclass(slots=True)
class Batch:
    """Continuations of one case: ``changes[offsets[i]:offsets[i + 1]]`` are those of continuation i, in order of time.

    The first change is the point that the run goes back to; a first change at EVERY instance goes back to the first
    instance of its site.
    """

    changes: NDArray[np.void]  # CHANGE
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def single(cls, changes: NDArray[np.void]) -> Batch:
        """One continuation a change."""
        return cls(changes, np.arange(len(changes) + 1))

    @classmethod
    def of(cls, continuations: Sequence[NDArray[np.void]]) -> Batch:
        """One continuation for each array of changes."""
        lengths = [len(c) for c in continuations]
        return cls(joined(continuations), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))

    def part(self, start: int, stop: int) -> Batch:
        """The continuations from ``start`` up to ``stop``."""
        first, last = self.offsets[start], self.offsets[stop]
        return Batch(self.changes[first:last], self.offsets[start : stop + 1] - first)


@dataclass(slots=True)
class Results:
    """What became of a batch: ``records`` (RESULT) has one entry a continuation, ``outputs`` what was kept of them.

    ``verdicts`` are final: the case's oracle has been asked.
    """

    records: NDArray[np.void]
    outputs: list[tuple[bytes, bytes]] | None = None  # standard output and error, where they were asked for
    files: dict[int, dict[str, LeftFile]] = field(default_factory=dict)  # with those: the compared files, by row

    @property
    def passed(self) -> NDArray[np.bool_]:
        """For each continuation whether the run passed."""
        return np.asarray(self.records["verdict"] == Verdict.PASS)

    @classmethod
    def join(cls, parts: Iterable[Results]) -> Results:
        """The results of consecutive parts of a batch."""
        parts = list(parts)
        records = np.concatenate([p.records for p in parts]) if parts else np.zeros(0, RESULT)
        if any(p.outputs is None for p in parts):
            return cls(records)
        return cls(records, [output for p in parts for output in p.outputs or []])


@dataclass(slots=True)
class Observed:
    """The unaltered run of a case in the alter variant: every instance of every site, in order of time.

    ``events`` (EVENT) are cut off at the limit that was asked for (``cut``): behind it are those of blocks alone that
    had none before, each block's ``first`` ones. ``result`` is one RESULT record.
    ``refusal`` says why the run cannot be altered in a session ("" where it can: threads, processes, ...).
    ``unusable`` says why altered runs of the case would prove nothing about the program: its unaltered run ends
    otherwise here, or cannot be made (then ``events`` is empty). Then nothing is run for it.
    """

    events: NDArray[np.void]
    result: NDArray[np.void]
    cut: bool
    refusal: str = ""
    unusable: str = ""

    @property
    def length(self) -> int:
        """The run's length in clock ticks."""
        return int(self.result["length"])

    def first_clocks(self, sites: int) -> NDArray[np.int64]:
        """The clock of the first instance of each of so many sites; of those without one the run's length."""
        found = np.full(sites, self.length, np.int64)
        found[self.events["site"][::-1]] = self.events["clock"][::-1]  # the last one that is assigned stays
        return found
