"""Suppressed runs: a case run with points at which suppression starts, and recorded; variables as they lie, or anew."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.alter.same_turns import SameTurns
from whence.errors import SubjectError
from whence.probe.instrument import Variant
from whence.probe.plan import FIRST
from whence.probe.suppress import definitions
from whence.program.model import Block
from whence.run.cases import Case
from whence.run.schedule import Schedule
from whence.subject.processes import crash_of, has_crashed
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject
from whence.trace.steps import Steps
from whence.trace.trace import MOST_FORKS, Identity, Trace

FURTHER = "`whence memory` checks the recorded process, `whence slice` follows its failure back"
MOST_AGAIN = 3  # runs that are made to keep the turns
MAGIC = b"WHNCSUPP"  # as in probe/runtime/suppress/suppress.c
_HEAD = struct.Struct("<8s6Q3Q8Q3952x4096x")  # with a count of processes for each of 256 command lines
_POINT = struct.Struct("<IIQIIQQQ")
_RANGE = struct.Struct("<QQ")


@dataclass(slots=True, frozen=True)
class Point:
    """A definition at which suppression starts: the ``index``-th of an instance (from 0) of a block in a thread.

    ``ranges`` are the bytes (address, length) that a library call wrote there, which are suppressed with it;
    ``thread`` is the number that the trace has for it, so that an instance is the same in another order of threads.
    """

    block: int
    index: int
    instance: int
    ranges: tuple[tuple[int, int], ...] = ()
    thread: int = 0


class Points:
    """The points of definitions in one recorded run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._starts: dict[tuple[int, int], NDArray[np.int64]] = {}

    def is_one(self, event: int) -> bool:
        """Whether suppression can start at an event; what `setjmp` gives, for one, cannot be suppressed."""
        _, _, body, position = self._place(event)
        return position in definitions(body)

    def at(self, event: int, ranges: Sequence[tuple[int, int]] = ()) -> Point:
        """The point of a definition; ``ranges`` are the bytes that it wrote, if it is a call of the library."""
        row, block, body, position = self._place(event)
        thread = int(self._threads[row]) if self._threads is not None else 0
        instance = self._instance(row, block, thread)
        return Point(block, definitions(body).index(position), instance, tuple(ranges), thread)

    def _place(self, event: int) -> tuple[int, int, Block, int]:
        """The segment instance of an event, its block by number and as text, and its instruction's position there."""
        trace = self._trace
        number = int(trace.plan.sites[trace.site(event)]["instruction"])
        ref = trace.program.function_of_instruction(number)
        row = int(trace.columns.events["segment"][event])
        block = int(trace.plan.segments["block"][trace.columns.segments["id"][row]])
        body = ref.function.blocks[block - ref.first_block]
        return row, block, body, number - int(trace.program.block_starts[block])

    @cached_property
    def _threads(self) -> NDArray[np.int32] | None:
        """The thread of each segment, where there are several."""
        return Steps(self._trace).thread if self._trace.header.threads > 1 else None

    def _instance(self, row: int, block: int, thread: int) -> int:
        """How many instances of a block a thread had begun before that of a segment."""
        columns, segments = self._trace.columns, self._trace.plan.segments
        if (block, thread) not in self._starts:
            first = np.flatnonzero((segments["block"] == block) & (segments["flags"] & FIRST != 0))
            chosen = np.isin(columns.segments["id"][: self._trace.segments], first)
            if self._threads is not None:
                chosen &= self._threads == thread
            self._starts[block, thread] = np.flatnonzero(chosen)
        while (before := int(columns.segments["previous"][row])) >= 0:
            row = before
        return int(np.searchsorted(self._starts[block, thread], row))


@dataclass(frozen=True, slots=True)
class Ordering:
    """Variables laid out anew: static ones in the order of ``statics``, locals at ``places`` (the whole table).

    Empty: as they lie. ``guards``: blocks of the heap have bytes of a known value behind them. ``space`` and ``text``
    say what was tried.
    """

    space: str
    text: str = ""
    statics: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    guards: bool = False


@dataclass(slots=True)
class Execution:
    """A recorded run with suppression; ``overwritten`` is the first byte of a guard that was written over (0: none).

    ``in_turns``: its threads took turns at the places at which they did in the first run.
    """

    recording: Recording
    overwritten: int = 0
    in_turns: bool = True


class SuppressedRuns:
    """Runs of one case, each from the start with other points; use it in a ``with`` statement."""

    def __init__(self, subject: Subject, case: Case, limit: int | None = None) -> None:
        self.subject = subject
        # What is looked for are failures that show; the memory check is made of the run without suppression.
        self._case, self._limit = replace(case, comparison=replace(case.comparison, memory=False)), limit
        self._numbers = count()
        self._recorders: dict[tuple[int, ...] | None, Recorder] = {}
        self._scratch = ExitStack()
        self._turns: SameTurns | None = None
        self._process: Identity | None = None
        self.count = 0

    def __enter__(self) -> SuppressedRuns:
        return self

    def __exit__(self, *_: object) -> None:
        for recorder in self._recorders.values():
            recorder.close()
        self._scratch.close()

    def run(self, points: Sequence[Point], ordering: Ordering | None = None, time: float | None = None) -> Execution:
        """The run with suppression from these points on, of so many seconds at most; the first one has none.

        Where a schedule's points come to lie elsewhere, since steps are left out, the run is made again with the points
        at their places. Raises TraceError where it is too long to be recorded, BuildError where the order cannot be
        linked.
        """
        execution, case = self._run(points, ordering, time, self._case), self._case
        if case.schedule is None or not case.schedule.points:
            return execution
        self._turns = self._turns or SameTurns(execution.recording.trace, case.schedule)
        for _ in range(MOST_AGAIN):
            same = self._turns.in_run(execution.recording.trace)
            if same == case.schedule:
                return execution
            case = replace(case, schedule=same)
            execution = self._run(points, ordering, time, case)
        execution.in_turns = self._turns.in_run(execution.recording.trace) == case.schedule
        return execution

    def run_under(
        self,
        schedule: Schedule,
        room: int,
        points: Sequence[Point],
        ordering: Ordering | None = None,
        time: float | None = None,
    ) -> Execution:
        """The run under another schedule than the case's; of a long one the beginning, of ``room`` bytes at least."""
        return self._run(points, ordering, time, replace(self._case, schedule=schedule), room)

    def _run(
        self,
        points: Sequence[Point],
        ordering: Ordering | None,
        time: float | None,
        case: Case,
        room: int | None = None,
    ) -> Execution:
        """One run; with ``room`` its beginning is enough."""
        recorder = self._recorder(ordering)
        path = recorder.new_path(f"suppress{next(self._numbers):06}")
        path.write_bytes(_packed(points, ordering, self._process))
        self.count += 1
        try:
            cut = room is not None
            recording = recorder.record(
                case, session=bytes(path), may_be_cut=cut, room=room or 0, time=time, process=self._process
            )
            if case.command is not None:
                recording = self._of_process(recording)
            return Execution(recording, _HEAD.unpack_from(path.read_bytes())[6])
        finally:
            path.unlink(missing_ok=True)

    def _of_process(self, recording: Recording) -> Recording:
        """The run of a command as one of its processes ended, the same one in all runs."""
        header = recording.trace.header
        self._process = self._process or header.identity
        if self._process is None:
            raise SubjectError(f"which of its processes failed cannot be told again: {recording.process}", FURTHER)
        if not has_crashed(header):
            return recording
        return replace(recording, outcome=crash_of(header, recording.result.stderr))

    def _recorder(self, ordering: Ordering | None) -> Recorder:
        """The recorder of an order of static variables; only the last one of those stays open."""
        key = None if ordering is None else ordering.statics
        if key not in self._recorders:
            for other in [k for k in self._recorders if k]:
                self._recorders.pop(other).close()
            self._recorders[key] = self._opened(key)
        return self._recorders[key]

    def _opened(self, key: tuple[int, ...] | None) -> Recorder:
        if not key:
            variant = Variant.SUPPRESS if key is None else Variant.REORDER
            return Recorder(self.subject, limit=self._limit, variant=variant)
        folder = self._scratch.enter_context(tempfile.TemporaryDirectory(prefix="whence-order-"))
        executable = self.subject.reordered(key, Path(folder) / self.subject.executable.name)
        return Recorder(self.subject, limit=self._limit, variant=Variant.REORDER, executable=executable)


def _packed(points: Sequence[Point], ordering: Ordering | None, process: Identity | None) -> bytes:
    """The file of points as the runtime reads it; of a command, those of one ``process``."""
    rows, ranges = [], list[tuple[int, int]]()
    for point, count_of in _consecutive(points):
        length = len(point.ranges)
        place = (point.block, point.index, point.instance)
        rows.append(_POINT.pack(*place, len(ranges), length, 0, count_of, point.thread))
        ranges += point.ranges
    places = ordering.places if ordering else ()
    guards = bool(ordering and ordering.guards)
    which = [process.line, process.number, len(process.forks), *process.forks] if process else []
    which += [0] * (3 + MOST_FORKS - len(which))
    head = _HEAD.pack(MAGIC, len(rows), len(ranges), len(places), guards, 0, 0, *which)
    return b"".join([head, *rows, *(_RANGE.pack(*r) for r in ranges), struct.pack(f"<{len(places)}Q", *places)])


def _consecutive(points: Sequence[Point]) -> list[tuple[Point, int]]:
    """The points in order, instances of one definition that follow each other as one, with their number."""
    found: list[tuple[Point, int]] = []
    for point in sorted(points, key=lambda p: (p.thread, p.block, p.index, p.instance)):
        last, number = found[-1] if found else (None, 0)
        joins = last is not None and not last.ranges and not point.ranges
        if joins and last and replace(last, instance=last.instance + number) == point:
            found[-1] = (last, number + 1)
        else:
            found.append((point, 1))
    return found
