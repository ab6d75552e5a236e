"""The instants of a recorded run at which a debugger stops, and the ways from one to another.

An *instant* is an event that the run comes to: what it has then is what was done before. A *step* is an instant at
which a call comes to another line than the one it was at. What a step over a call or out of it leads to is the next
step of the same thread in a call that was open already; backwards the same holds. Steps lie in flat arrays in order of
time, so each way is a search in them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whence.probe.layout import Kind
from whence.trace.columns import N_FRAME, FrameKind
from whence.trace.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.findings import Statement
    from whence.subject.trace_reader import TraceReader

    Integers = NDArray[np.int64]

STRETCH = 1024  # steps that are looked at together, at first


class Timeline:
    """The steps of one recorded run.

    Of each step, in order of time: ``events``, ``frames`` (the number of its call), ``statements`` (as the reader
    numbers them) and ``threads``.
    """

    def __init__(self, reader: TraceReader) -> None:
        self.reader, self.trace = reader, reader.trace
        rows = self.trace.columns.segments[: self.trace.segments]
        self._frame_of = np.ascontiguousarray(rows["frame"])  # by segment instance
        self._first = np.ascontiguousarray(rows["event"])
        several = self.trace.header.threads > 1
        self._thread_of = Steps(self.trace).thread if several else np.zeros(len(rows), np.int32)
        self.events, self.statements = self._steps()
        segments = self.trace.columns.events["segment"][self.events]
        self.frames, self.threads = self._frame_of[segments], self._thread_of[segments]
        self._depths = self._depth_of[self.frames]

    # ---- Steps -------------------------------------------------------------------------------------------------------

    def _steps(self) -> tuple[Integers, NDArray[np.int32]]:
        """The events at which a call comes to another line, and their statements."""
        before = self._lines_before()
        ids = self.trace.columns.segments["id"][: self.trace.segments]
        events, statements = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for segment in np.flatnonzero(np.bincount(ids, minlength=1)).tolist():
            rows = self.reader.instances(segment)
            for number, (offset, statement) in enumerate(self._changes(segment)):
                chosen = rows if number else rows[before[rows] != statement]
                events.append(self._first[chosen].astype(np.int64) + offset)
                statements.append(np.full(len(chosen), statement, np.int32))
        found, numbers = np.concatenate(events), np.concatenate(statements)
        order = np.argsort(found, kind="stable")
        order = order[found[order] <= self.end]
        return found[order], numbers[order]

    def _changes(self, segment: int) -> list[tuple[int, int]]:
        """The sites of a static segment at which another line begins, by their places in it, with their statements."""
        starts = self.trace.plan.segments["site_start"]
        numbers = self.reader.statement_numbers[starts[segment] : starts[segment + 1]].tolist()
        found: list[tuple[int, int]] = []
        for offset, number in enumerate(numbers):
            if number >= 0 and (not found or found[-1][1] != number):
                found.append((offset, number))
        return found

    def _lines_before(self) -> NDArray[np.int32]:
        """For each segment instance the statement at which its call was before it; -1: it begins."""
        count = len(self.trace.plan.segments) - 1
        last = np.array([(changes[-1][1] if (changes := self._changes(n)) else -1) for n in range(count)], np.int32)
        order = np.argsort(self._frame_of, kind="stable")
        left = last[self.trace.columns.segments["id"][: self.trace.segments][order]]
        frames = self._frame_of[order]
        places = np.arange(len(order))
        known = np.maximum.accumulate(np.where(left >= 0, places, -1))
        known = np.concatenate([[-1], known[:-1]])[: len(order)]
        is_same = (known >= 0) & (frames[known] == frames)
        found = np.empty(len(order), np.int32)
        found[order] = np.where(is_same, left[known], -1)
        return found

    @cached_property
    def end(self) -> int:
        """The last instant of the run: the access at which it crashed, or its last event."""
        last = self.trace.events - 1
        if last < 0 or not self.reader.broke_off(last):
            return last
        first = int(self._first[-1])
        return next(event for event in range(first, last + 1) if self.reader.broke_off(event))

    @cached_property
    def start(self) -> int:
        """The first instant: the first step of ``main``, or of all where it is not recorded."""
        main = [ref.id for ref in self.trace.program.functions if ref.name == "main"]
        at = self._first_steps_of(np.array(main, np.int64))
        return int(at[0]) if len(at) else int(self.events[0]) if len(self.events) else self.end

    # ---- Calls -------------------------------------------------------------------------------------------------------

    @cached_property
    def _parents(self) -> NDArray[np.int64]:
        """For each call the one that it was called from; -1: none, or it is the first one of a thread."""
        frames = self.trace.columns.frames[: int(self.trace.columns.counts[N_FRAME])]
        calls = np.where(frames["kind"] == FrameKind.THREAD, -1, frames["call"])
        return np.where(calls >= 0, self._frame_of[np.maximum(calls, 0)], -1).astype(np.int64)

    @cached_property
    def _depth_of(self) -> NDArray[np.int32]:
        """For each call how many are open below it."""
        above = self._parents
        depths = (above >= 0).astype(np.int32)
        while (is_inner := above >= 0).any():  # twice as far each time
            depths = depths + np.where(is_inner, depths[above], 0).astype(np.int32)
            above = np.where(is_inner, above[above], -1)
        return depths

    def frame(self, event: int) -> int:
        """The number of the call that an event belongs to."""
        return int(self._frame_of[self.trace.columns.events[event]["segment"]])

    def thread(self, event: int) -> int:
        """The number of an event's thread."""
        return int(self._thread_of[self.trace.columns.events[event]["segment"]])

    def depth(self, event: int) -> int:
        """How many calls are open at an event below its own."""
        return self.open_below(self.frame(event))

    def open_below(self, frame: int) -> int:
        """How many calls are open below a call, by its number."""
        return int(self._depth_of[frame])

    def caller(self, frame: int) -> int:
        """The call that a call was made from, by their numbers; -1: none."""
        return int(self._parents[frame])

    def calls(self, event: int, first: int = 0, most: int | None = None) -> list[tuple[int, int]]:
        """The open calls at an event, the innermost first, from number ``first`` on: each with the event it is at."""
        found: list[tuple[int, int]] = []
        frame, at, number = self.frame(event), event, 0
        while frame >= 0 and (most is None or len(found) < most):
            if number >= first:
                found.append((frame, at))
            call = int(self.trace.columns.frames[frame]["call"])
            at = self.trace.last_event(call) if call >= 0 else -1
            frame, number = int(self._parents[frame]), number + 1
        return found

    def _open(self, event: int) -> list[int]:
        """The numbers of the open calls at an event, the innermost first."""
        found = [self.frame(event)]
        while (below := int(self._parents[found[-1]])) >= 0:
            found.append(below)
        return found

    # ---- Ways --------------------------------------------------------------------------------------------------------

    def step_in(self, event: int, thread: int) -> int:
        """The next step of a thread, in whatever call; the end of the run where there is none."""
        found = self._search(self._after(event), thread, None)
        return self.end if found is None else found

    def step_over(self, event: int, thread: int) -> int:
        """The next step in the event's call or in one below it."""
        found = self._search(self._after(event), thread, self._open(event))
        return self.end if found is None else found

    def step_back(self, event: int, thread: int) -> int:
        """The last step before the event in its call or in one below it; the beginning of the run."""
        found = self._search_back(self._before(event), thread, self._open(event))
        return self.start if found is None else found

    def step_out(self, event: int) -> int:
        """Where the call that the event's call was called from goes on, or one below it; the end of the run."""
        below = np.array(self._open(event)[1:], np.int64)
        row, stretch = int(self.trace.columns.events[event]["segment"]) + 1, STRETCH
        while row < len(self._frame_of) and len(below):
            found = np.flatnonzero(np.isin(self._frame_of[row : row + stretch], below))
            if len(found):
                return min(int(self._first[row + int(found[0])]), self.end)
            row, stretch = row + stretch, 4 * stretch
        return self.end

    def _after(self, event: int) -> int:
        return int(np.searchsorted(self.events, event, side="right"))

    def _before(self, event: int) -> int:
        return int(np.searchsorted(self.events, event))

    def _search(self, at: int, thread: int, frames: list[int] | None) -> int | None:
        """The first of the steps from number ``at`` on that a thread does in one of these calls (None: any)."""
        stretch = STRETCH
        while at < len(self.events):
            hits = self._hits(slice(at, at + stretch), thread, frames)
            if len(hits):
                return int(self.events[at + int(hits[0])])
            at, stretch = at + stretch, 4 * stretch
        return None

    def _search_back(self, at: int, thread: int, frames: list[int]) -> int | None:
        """The last such step before number ``at``."""
        stretch = STRETCH
        while at > 0:
            first = max(0, at - stretch)
            hits = self._hits(slice(first, at), thread, frames)
            if len(hits):
                return int(self.events[first + int(hits[-1])])
            at, stretch = first, 4 * stretch
        return None

    def _hits(self, part: slice, thread: int, frames: list[int] | None) -> Integers:
        hits = self.threads[part] == thread
        if frames is not None:
            hits &= self._depths[part] < len(frames)
            places = np.flatnonzero(hits)
            return places[np.isin(self.frames[part][places], frames)]
        return np.flatnonzero(hits)

    # ---- Lines and functions -----------------------------------------------------------------------------------------

    @cached_property
    def _by_statement(self) -> tuple[NDArray[np.int32], Integers]:
        order = np.argsort(self.statements, kind="stable")
        return self.statements[order], self.events[order]

    def at_statement(self, number: int) -> Integers:
        """The steps to a statement, by its number, in order of time."""
        numbers, events = self._by_statement
        first, end = np.searchsorted(numbers, [number, number + 1])
        return events[first:end]

    @cached_property
    def _first_steps(self) -> tuple[NDArray[np.int32], Integers]:
        """Of each call that does a step its function and its first step, in order of time."""
        frames, first = np.unique(self.frames, return_index=True)
        order = np.argsort(first)
        return self.trace.columns.frames["function"][frames[order]], self.events[first[order]]

    def _first_steps_of(self, functions: Integers) -> Integers:
        numbers, events = self._first_steps
        return events[np.isin(numbers, functions)]

    def at_function(self, name: str) -> Integers | None:
        """The first steps of all calls of the functions with a name, in order of time; None: there is no such one."""
        functions = [ref.id for ref in self.trace.program.functions if ref.name == name]
        return self._first_steps_of(np.array(functions, np.int64)) if functions else None

    def statement(self, event: int) -> Statement | None:
        """Where the run is at an event: code without a line of its own belongs to the next step of its call."""
        found = self.reader.statement(event)
        if found is None:
            following = self._search(self._before(event), self.thread(event), [self.frame(event)])
            found = self.reader.statement(following) if following is not None else None
        return found

    # ---- Threads -----------------------------------------------------------------------------------------------------

    def thread_events(self, event: int) -> dict[int, int]:
        """For each thread that has begun and not ended where it is when the run comes to an event."""
        segment = int(self.trace.columns.events[event]["segment"])
        own = int(self._thread_of[segment])
        found = {}
        for thread, rows in self._segments_of.items():
            begun = int(np.searchsorted(rows, segment))  # how many of its segments
            if thread == own:
                found[thread] = event
            elif begun and (begun < len(rows) or self._is_waiting(int(rows[-1]))):
                found[thread] = self.trace.last_event(int(rows[begun - 1]))
        return found

    def _is_waiting(self, segment: int) -> bool:
        """Whether a thread whose last segment this is was in a call when the run ended."""
        last = self.trace.last_event(segment)
        return last >= self._first[segment] and self.trace.kind(last) is not Kind.RET

    @cached_property
    def _segments_of(self) -> dict[int, Integers]:
        """The segments of each thread, in order of time."""
        return {int(thread): np.flatnonzero(self._thread_of == thread) for thread in np.unique(self._thread_of)}

    def root(self, event: int) -> int:
        """The number of the call that an event's thread began with."""
        return self._open(event)[-1]
