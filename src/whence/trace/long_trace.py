"""A run that is too long to be decoded as a whole: decoded in windows, of which one is in memory.

Segment instances, events, cells and frames have the numbers that they have in the whole trace, and stand in its tables;
what is outside of the window is forgotten there, but for what the window refers to (``checkpoint.py``). Checkpoints are
kept as memory allows that: a window that has none of its own is come to from the last one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.errors import TooLong
from whence.probe.plan import Plan
from whence.program.program import Program
from whence.trace.checkpoint import Checkpoint, State, put_open, restore, take
from whence.trace.columns import CAPACITY, CHUNK_UNITS, N_CELL, N_EVENT, N_FRAME, N_OUTER, N_SEGMENT
from whence.trace.compact import Expansion
from whence.trace.decode import decode, new_stacks
from whence.trace.interrupted import put_in_order
from whence.trace.lazy import forget
from whence.trace.shadow import Shadow, new_shadow
from whence.trace.slicing import Part, Slice, new_marks, settle
from whence.trace.trace import COMPACT, THREADS, Trace

WINDOW = 64  # chunks of the trace: 32 MiB
KEPT = 3 << 30  # bytes of checkpoints
ROOM = 1 << 29  # events that a window may have

Watch = Callable[[int, int], None]  # which window is decoded for the first time, and of how many


class Window(NamedTuple):
    """Where a window begins and ends: what the columns count there, the blocks that began before, and up to its end,
    and the units that were made whole.
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    blocks_before: int
    blocks: int
    units: tuple[int, int]


class LongTrace(Trace):
    """A trace of one thread, of which the columns hold a window; at first the last one.

    Raises what ``Trace`` raises, and TooLong for one that has more events than can be numbered, or
    several threads. ``watch`` is called before each window.
    """

    def __init__(
        self,
        path: Path,
        program: Program,
        plan: Plan,
        fingerprint: int,
        watch: Watch = lambda number, windows: None,
        window: int = WINDOW,
        kept: int = KEPT,
    ) -> None:
        self._watch, self._chunks_a_window, self._most_kept = watch, window, kept
        self._windows: list[Window] = []
        self._checkpoints: dict[int, Checkpoint] = {}
        self._shown = 0
        super().__init__(path, program, plan, fingerprint)

    # ---- Decoding ----------------------------------------------------------------------------------------------------

    def _decode(self) -> tuple[Shadow, int]:
        if self.header.flags & THREADS:
            message = f"{self.path}: a long run of a program with threads is not read in windows"
            raise TooLong(message, "give a smaller input (`whence reduce`)")
        recorded, expansion = self.recorded, None
        if self.header.flags & COMPACT:
            expansion = Expansion(recorded, self.chunks, self._end_of_run, self.program, self.plan)
        self._expansion = expansion
        self._state = State(
            self.columns,
            new_shadow(),
            new_stacks(self.header.threads),
            expansion.units if expansion else recorded,
            expansion.machine if expansion else None,
            1 + int(expansion.recipes.recipes["frame"].max()) if expansion else 0,
        )
        self.units = self._state.units.view()
        self.units.flags.writeable = False
        parts = range(0, len(self.chunks), self._chunks_a_window)
        self._parts = [self.chunks[first : first + self._chunks_a_window] for first in parts]
        damaged = -1
        for number in range(len(self._parts)):
            self._watch(number, len(self._parts))
            damaged = self._go_on(number)
            if damaged >= 0:
                del self._parts[number + 1 :]
                break
        return self._state.shadow, damaged

    def _go_on(self, number: int) -> int:
        """Decode a window, behind the one before it that the columns hold; what ``_decode_window`` returns."""
        kept = take(self._state, self.plan)
        if number:
            kept.clocks = self._segment_clocks(kept.segments.numbers)
            self._leave()
            put_open(kept, self._state)
        self._keep(number, kept)
        return self._decode_window(number, kept)

    def _decode_window(self, number: int, kept: Checkpoint) -> int:
        """Decode a window from its checkpoint, the state that is there; the unit at which it is damaged, or -1."""
        state, chunks, damaged = self._state, self._parts[number], -1
        start = state.columns.counts.copy()
        if start[N_EVENT] > CAPACITY - ROOM:
            raise TooLong(f"{self.path}: the run has more than {start[N_EVENT]:,} events", "give a smaller input")
        if self._expansion is not None:
            chunks, damaged = self._expansion.go_on(chunks, number == len(self._parts) - 1)
        is_new = number == len(self._windows)
        if is_new and self._handles_signals:
            put_in_order(self.recorded, chunks, self.plan)
        records = decode(self.units, chunks, self.plan, state.columns, state.shadow, state.stacks)
        self._shown, self._open = number, kept
        if is_new:
            units = (int(chunks[0]), int(chunks[-1]) + CHUNK_UNITS) if len(chunks) else (0, 0)
            before = self._windows[-1].blocks if number else 0
            self._windows.append(Window(start, state.columns.counts.copy(), before, 0, units))
            self._windows[-1] = self._windows[-1]._replace(blocks=before + self._begun())
        self.__dict__.pop("segment_clock", None)
        return -1 - records if records < 0 else damaged

    def _begun(self) -> int:
        """How many blocks began in the window."""
        return int(self._starts_block(np.arange(self.first_segment, self.segments)).sum())

    def _keep(self, number: int, kept: Checkpoint) -> None:
        """Keep a checkpoint; where all take too much memory, those of later windows go, then every second one."""
        self._checkpoints[number] = kept
        while len(self._checkpoints) > 1 and sum(c.size for c in self._checkpoints.values()) > self._most_kept:
            later = [other for other in self._checkpoints if other > number]
            for other in later or sorted(self._checkpoints)[1::2]:
                del self._checkpoints[other]

    def _leave(self) -> None:
        """Forget the window that the columns hold."""
        window, columns = self._windows[self._shown], self.columns
        tables = (
            (columns.segments, N_SEGMENT),
            (columns.events, N_EVENT),
            (columns.cells, N_CELL),
            (columns.outer, N_OUTER),
            (columns.frames, N_FRAME),
        )
        for table, count in tables:
            forget(table, int(window.start[count]), int(window.stop[count]))
        if self._expansion is not None:
            forget(self._state.units, *window.units)

    # ---- What the columns hold ---------------------------------------------------------------------------------------

    def show(self, number: int) -> None:
        """Have a window in the columns."""
        if number == self._shown:
            return
        begin = max(other for other in self._checkpoints if other <= number)
        if not begin <= self._shown < number:
            self._leave()
            kept = self._checkpoints[begin]
            restore(kept, self._state)
            self._decode_window(begin, kept)
        while self._shown < number:
            self._go_on(self._shown + 1)

    def bring(self, event: int) -> None:
        """Have an event in the columns: its window, unless it is one of those that stay there."""
        if not self.holds(event):
            stops = [int(window.stop[N_EVENT]) for window in self._windows]
            self.show(int(np.searchsorted(stops, event, side="right")))

    def shows(self, reference: int) -> bool:
        """Whether an event or a cell is one of the window's own."""
        if reference > 0:
            return reference > self.first_event
        return -reference - 1 >= int(self._windows[self._shown].start[N_CELL])

    def holds(self, event: int) -> bool:
        """Whether an event is in the columns."""
        if self.first_event <= event < self.events:
            return True
        opened = self._open.events.numbers
        place = int(np.searchsorted(opened, event))
        return place < len(opened) and int(opened[place]) == event

    @property
    def windows(self) -> int:
        """In how many windows the run is read."""
        return len(self._windows)

    def windows_shown(self, backward: bool = False) -> Iterator[None]:
        """Show each window, in order of time or against it."""
        numbers = range(len(self._windows))
        for number in reversed(numbers) if backward else numbers:
            self.show(number)
            yield None

    @property
    def events_of_run(self) -> int:
        """Number of events of the whole run."""
        return int(self._windows[-1].stop[N_EVENT])

    @property
    def first_segment(self) -> int:
        """The first segment instance of the window."""
        return int(self._windows[self._shown].start[N_SEGMENT])

    @property
    def first_event(self) -> int:
        """The first event of the window."""
        return int(self._windows[self._shown].start[N_EVENT])

    @property
    def shows_end(self) -> bool:
        """Whether the window is the last one."""
        return self._shown == len(self._windows) - 1

    @property
    def blocks_before(self) -> int:
        """How many blocks began before the window."""
        return self._windows[self._shown].blocks_before

    def clock(self, event: int) -> int:
        """The clock of an event's block."""
        self.bring(event)
        row = int(self.columns.events[event]["segment"])
        while not self._starts_block(np.array([row])):
            row = int(self.columns.segments["previous"][row])
        return int(self._segment_clocks(np.array([row]))[0])

    def _segment_clocks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What ``segment_clock`` is for segment instances of the window, and of blocks that are open at its start."""
        opened, inside = self._open, rows >= self.first_segment
        clocks = np.empty(len(rows), np.int64)
        clocks[inside] = self.segment_clock[rows[inside] - self.first_segment]
        clocks[~inside] = opened.clocks[np.searchsorted(opened.segments.numbers, rows[~inside])]
        return clocks

    def site(self, event: int) -> int:
        """The static site of an event, whose window is brought."""
        self.bring(event)
        return super().site(event)

    # ---- Slices ------------------------------------------------------------------------------------------------------

    def slices(self, references: Sequence[int], control: bool) -> Iterator[Slice]:
        """The dynamic backward slice from some references, window by window from the last one that it has
        something of: each is shown, and its part of the slice is gone when the next one is asked for.

        Windows that it has nothing of are passed over.
        """
        last, columns, criteria = self._windows[-1].stop, self.columns, np.array(references, np.int64)
        marks = new_marks(int(last[N_EVENT]), int(last[N_CELL]))
        marks.event_depth[criteria[criteria > 0] - 1] = 1
        marks.cell_depth[-criteria[criteria < 0] - 1] = 1
        for number in range(len(self._windows) - 1, -1, -1):
            (start, stop), cells = self._range(number, N_EVENT), self._range(number, N_CELL)
            if not (marks.event_depth[start:stop].any() or marks.cell_depth[slice(*cells)].any()):
                continue
            self.show(number)
            settle(self.plan, columns, Part(self.first_segment, self.segments, *cells), control, marks)
            yield Slice(*marks, start, stop)
            for table in (marks.event_depth, marks.event_parent):
                forget(table, start, stop)
            for table in (marks.cell_depth, marks.cell_parent):
                forget(table, *cells)

    def _range(self, number: int, count: int) -> tuple[int, int]:
        """From where to where a window has rows of a table, by the number of its count."""
        window = self._windows[number]
        return int(window.start[count]), int(window.stop[count])
