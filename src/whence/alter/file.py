"""The session file: how a batch reaches the runtime, and its results come back.

One file in shared memory holds the head (``struct whence_session`` of ``probe/runtime/alter/session_file.h``), what is
expected, the changes, and room for the results. The runtime writes results in place, so that what is done stays known
whatever happens to the process.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum, IntFlag
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import EVENT, EVERY, NOWHERE, RESULT, Batch, Verdict, Way

MAGIC = b"WHNCALT1"
WORDS = """
    mode way flags continuations changes offsets results order order_count
    expected expected_length expected_error expected_error_length compared compared_count expected_status
    budget endless patience unaltered_patience events events_limit outputs outputs_limit events_more capture
    output_limit time_limit memory
    stops stop_count blocks block_count
    stop done events_count outputs_used refusal refusal_clock finished
""".split()  # noqa: SIM905
PLACE = np.dtype([("clock", "<u8"), ("site", "<u4"), ("continuation", "<u4")])
HEAD = np.dtype([("magic", "S8"), *((word, "<u8") for word in WORDS), ("unaltered", RESULT)])
COMPARED = np.dtype([("name", "<u8"), ("content", "<u8"), ("length", "<u8")])
ALIGNED = 64


class Mode(IntEnum):
    """What the runtime does with the file."""

    OBSERVE = 1
    RUN = 2
    APPLY = 3  # one continuation, from the start, as the program runs by itself
    WATCH = 4  # the same without a change, all sites observed


class Judge(IntFlag):
    """What of a run the runtime compares by itself, or keeps for the oracle."""

    OUTPUT = 1
    ERROR = 2
    STATUS = 4
    KEEP = 8
    THREADS = 16  # nothing of a run, but that it may have several threads
    FILES = 32


@dataclass(slots=True)
class Expectation:
    """What the runtime compares outputs with, byte by byte, as far as ``judge`` says.

    ``files`` are those that are compared, by their whole names; None: there is to be no such file.
    """

    judge: Judge
    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
    files: Sequence[tuple[bytes, bytes | None]] = ()


@dataclass(slots=True)
class RunLimits:
    """What the runtime holds runs to; 0: nothing.

    ``budget`` in clock ticks and ``patience`` in ms are a continuation's, from the run's start; where that does not end
    and counts as ``endless`` after so many ticks, from the first change. ``unaltered_patience`` (ms) is that of the
    unaltered run from one point of change to the next. ``capture``: bytes that are kept of a stream; a continuation
    that writes more is ended. ``output_limit``: bytes that a stream may have at all; ``time_limit``: ms that a run may
    sleep. ``memory``: bytes that a continuation may have more than the run at its point.
    """

    budget: int = 0
    endless: int = 0
    patience: int = 0
    unaltered_patience: int = 0
    capture: int = 0
    output_limit: int = 0
    time_limit: int = 0
    memory: int = 0


class SessionFile:
    """A session file in the making and in use: ``head`` and ``results`` are views of its memory."""

    def __init__(self, path: Path, mode: Mode, way: Way, batch: Batch, expectation: Expectation) -> None:
        self.path = path
        self._parts: dict[str, tuple[int, bytes]] = {}
        self._begun: set[int] = set()  # continuations with which a job has ended, be it by their fault or not
        self._size = -(-HEAD.itemsize // ALIGNED) * ALIGNED
        self._fields: dict[str, int] = {"mode": mode, "way": way, "flags": expectation.judge}
        self._fields["expected_status"] = expectation.status & 0xFFFFFFFFFFFFFFFF
        self._put("expected", expectation.stdout, "expected_length")
        self._put("expected_error", expectation.stderr, "expected_error_length")
        self._put_files(expectation.files)
        self._put_batch(batch)

    def _put(self, name: str, data: bytes, length: str = "", count: int | None = None) -> None:
        self._fields[name] = self._size
        if length:
            self._fields[length] = len(data) if count is None else count
        self._parts[name] = (self._size, data)
        self._size += -(-len(data) // ALIGNED) * ALIGNED

    def _put_files(self, files: Sequence[tuple[bytes, bytes | None]]) -> None:
        table = np.zeros(len(files), COMPARED)
        for number, (name, content) in enumerate(files):
            for field, data in (("name", name + b"\0"), ("content", content or b"")):
                self._put(f"{field} {number}", data)
                table[field][number] = self._fields.pop(f"{field} {number}")
            table["length"][number] = NOWHERE if content is None else len(content)
        self._put("compared", table.tobytes(), "compared_count", len(files))

    def _room(self, name: str, size: int) -> None:
        self._fields[name] = self._size
        self._size += -(-size // ALIGNED) * ALIGNED

    def _put_batch(self, batch: Batch) -> None:
        order = _places(batch)
        clocks = np.unique(batch.changes["clock"])
        stops = clocks[clocks != EVERY]
        blocks = np.unique(batch.changes["block"][batch.changes["clock"] == EVERY])
        self._fields["continuations"] = len(batch)
        self._put("changes", batch.changes.tobytes())
        self._put("offsets", batch.offsets.astype(np.uint64).tobytes())
        self._put("order", order.tobytes(), "order_count", len(order))
        self._put("stops", stops.tobytes(), "stop_count", len(stops))
        self._put("blocks", blocks.tobytes(), "block_count", len(blocks))
        self._room("results", len(batch) * RESULT.itemsize)

    def open(self, limits: RunLimits, *, events: int = 0, firsts: int = 0, outputs: int = 0) -> None:
        """Write the file, with room for ``events``, for ``firsts`` behind these, and for bytes of ``outputs``."""
        self._fields |= {field.name: int(getattr(limits, field.name)) for field in fields(limits)}
        self._fields |= {"events_limit": events, "events_more": firsts, "outputs_limit": outputs}
        self._room("events", (events + firsts) * EVENT.itemsize)
        self._room("outputs", outputs)
        with self.path.open("wb+") as file:
            file.truncate(self._size)
            self._map = mmap.mmap(file.fileno(), self._size)
        for start, data in self._parts.values():
            self._map[start : start + len(data)] = data
        self._parts.clear()
        self.head = np.frombuffer(self._map, HEAD, 1)[0:1].reshape(())
        self.head["magic"] = MAGIC
        for name, value in self._fields.items():
            self.head[name] = value
        count = self._fields["continuations"]
        self.results: NDArray[np.void] = np.frombuffer(self._map, RESULT, count, self._fields["results"])

    def start_over(self) -> int:
        """Before another job on the same file: what was running is run again; the second time it is lost.

        Gives how many have not been run.
        """
        for index in np.flatnonzero(self.results["verdict"] == Verdict.RUNNING).tolist():  # one at most
            record = self.results[index]
            if record["output_length"]:
                self.head["events_count"], record["output_length"] = record["output"], 0  # what it had read makes room
            record["verdict"] = Verdict.LOST if index in self._begun else Verdict.NOT_RUN
            self._begun.add(index)
        left = int(np.count_nonzero(self.results["verdict"] == Verdict.NOT_RUN))
        self.head["done"] = len(self.results) - left
        self.head["outputs_used"] = 0
        return left

    def events(self) -> NDArray[np.void]:
        """The observed instances, a copy."""
        count = min(int(self.head["events_count"]), self._fields["events_limit"] + self._fields["events_more"])
        return np.frombuffer(self._map, EVENT, count, self._fields["events"]).copy()

    def read(self, record: NDArray[np.void]) -> bytes:
        """What a continuation read, by its RESULT record."""
        start = self._fields["events"] + int(record["output"])
        return self._map[start : start + int(record["output_length"])]

    def outputs(self, record: NDArray[np.void]) -> tuple[bytes, bytes]:
        """What the run of a RESULT record wrote to standard output and standard error."""
        start = self._fields["outputs"] + int(record["output"])
        middle = start + int(record["output_length"])
        return self._map[start:middle], self._map[middle : middle + int(record["error_length"])]

    def files(self, record: NDArray[np.void]) -> list[bytes | None]:
        """The compared files as the run of a RESULT record left them, where outputs are kept; None: there was none."""
        at = self._fields["outputs"] + sum(int(record[name]) for name in ("output", "output_length", "error_length"))
        found: list[bytes | None] = []
        for _ in range(self._fields["compared_count"]):
            length = int.from_bytes(self._map[at : at + 8], "little")
            at += 8
            found.append(None if length == NOWHERE else self._map[at : at + length])
            at += 0 if length == NOWHERE else length
        return found

    def close(self) -> None:
        """Remove the file; arrays that views were given out of stay valid."""
        self.path.unlink(missing_ok=True)


def _places(batch: Batch) -> NDArray[np.void]:
    """All changes of a batch by clock and site (PLACE): at the first that is reached, its continuation starts."""
    places = np.zeros(len(batch.changes), PLACE)
    places["clock"], places["site"] = batch.changes["clock"], batch.changes["site"]
    places["continuation"] = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
    return places[np.lexsort((places["continuation"], places["site"], places["clock"]))]


def unjudged(length: int) -> NDArray[np.void]:
    """Records of continuations that have not been run."""
    records = np.zeros(length, RESULT)
    records["first_wrong"] = NOWHERE
    return records
