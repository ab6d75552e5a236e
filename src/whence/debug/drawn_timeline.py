"""A recorded run as the report draws it: its calls over time, and instants with what was read and written there.

An instant is a step of the ``Timeline``: a call comes to a line. Of a short run all are taken; of a longer one those
in which something of the slice happened, and the last ones. Each value that was read names the instant that wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.debug.timeline import Timeline
from whence.dependence.slices import compute, symptom_start
from whence.probe.layout import Kind
from whence.techniques.slicing import is_base
from whence.trace.columns import N_FRAME
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.findings import Symptom
    from whence.subject.trace_reader import TraceReader

    Integers = NDArray[np.int64]

INSTANTS = 3000
POOL = 100_000  # events of the slice of which they are chosen, the nearest to the failure
LAST = 300  # of them at the end of the run, where not all are taken
CALLS = 1500
DEPTH = 24  # rows of calls of a thread
VALUES = 12  # of an instant
SEGMENTS = 8  # of a step that are looked at: it may call, and go on
EVENTS = 64  # of a segment


def timeline_part(reader: TraceReader, symptom: Symptom | None) -> dict[str, Any]:
    """The timeline of a run, as JSON values.

    ``events``: how many the run has; ``steps``: of these how many come to a line. ``calls``: ``[function, row, first
    and last event]``, the longest ones; ``instants``: ``[event, file, line, call, clock, values]`` in order of time,
    where a value is ``[name, value, role, writer]`` with the writer's instant, its place, or null. ``open`` has for
    each call of an instant the one that it was called from (-1: none). ``is_whole``: no instant is left out.
    ``undrawn``: calls that are not among ``calls``.
    """
    return _Drawn(reader, symptom).part()


class _Drawn:
    """What is chosen of one run."""

    def __init__(self, reader: TraceReader, symptom: Symptom | None) -> None:
        self._reader, self._trace, self._symptom = reader, reader.trace, symptom
        self._steps = Timeline(reader)
        self._frame_of = np.ascontiguousarray(self._trace.columns.segments["frame"][: self._trace.segments])
        self._first = np.ascontiguousarray(self._trace.columns.segments["event"][: self._trace.segments])

    def part(self) -> dict[str, Any]:
        """The part."""
        chosen = self._chosen
        files = sorted({statement.file for statement in self._reader.statements})
        numbers = {file: number for number, file in enumerate(files)}
        calls, parents = self._calls_of(chosen)
        rows = self._drawn_calls()
        return {
            "events": self._trace.events,
            "steps": len(self._steps.events),
            "is_whole": len(chosen) == len(self._steps.events),
            "files": files,
            "calls": rows,
            "undrawn": int(self._trace.columns.counts[N_FRAME]) - len(rows),
            "open": parents,
            "instants": [self._instant(step, call, numbers) for step, call in zip(chosen.tolist(), calls, strict=True)],
        }

    # ---- Which instants ----------------------------------------------------------------------------------------------

    @cached_property
    def _chosen(self) -> Integers:
        """The numbers of the steps that are instants, ascending."""
        count = len(self._steps.events)
        if count <= INSTANTS:
            return np.arange(count)
        last = np.arange(count - LAST, count)
        if self._symptom is None:
            return np.arange(count - INSTANTS, count)
        found = compute(self._trace, symptom_start(self._symptom).references)
        events = found.events
        depths = found.depth_of(events)
        if len(events) > POOL:
            near = np.argpartition(depths, POOL)[:POOL]
            events, depths = events[near], depths[near]
        steps = self._steps_at(events[np.lexsort((-events, depths))])
        _, first = np.unique(steps, return_index=True)  # of each step its nearest event
        order = steps[np.sort(first)]
        return np.unique(np.concatenate([order[order >= 0][: INSTANTS - LAST], last]))

    @cached_property
    def _by_call(self) -> tuple[Integers, Integers]:
        """The steps by call, then time: their keys, and their numbers."""
        keys = self._key(self._steps.frames.astype(np.int64), self._steps.events)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def _key(self, frames: Integers, events: Integers) -> Integers:
        return frames * np.int64(self._trace.events + 1) + events

    def _steps_at(self, events: Integers) -> Integers:
        """For each event the step that it belongs to: the last one of its call; -1: none."""
        keys, order = self._by_call
        frames = self._frame_of[self._trace.columns.events["segment"][events]].astype(np.int64)
        at = np.searchsorted(keys, self._key(frames, events), side="right") - 1
        steps = order[np.maximum(at, 0)]
        return np.where((at >= 0) & (self._steps.frames[steps] == frames), steps, -1)

    # ---- Calls -------------------------------------------------------------------------------------------------------

    def _calls_of(self, chosen: Integers) -> tuple[list[int], list[int]]:
        """For each instant the number of its call among those open at one; for each of these the one that called it."""
        numbers: dict[int, int] = {}
        parents: list[int] = []

        def number(frame: int) -> int:
            missing = []
            while frame >= 0 and frame not in numbers:
                missing.append(frame)
                frame = self._steps.caller(frame)
            for inner in reversed(missing):
                numbers[inner] = len(parents)
                parents.append(numbers.get(self._steps.caller(inner), -1))
            return len(parents) - 1

        frames = self._steps.frames[chosen].tolist()
        for frame in frames:
            number(frame)
        return [numbers[frame] for frame in frames], parents

    def _drawn_calls(self) -> list[list[Any]]:
        """The longest calls, each with its row: threads below each other, a call below the one that made it."""
        frames, first = np.unique(self._steps.frames, return_index=True)
        last = np.zeros(len(frames), np.int64)
        np.maximum.at(last, np.searchsorted(frames, self._steps.frames), self._steps.events)
        begin = self._steps.events[first]
        depths = np.array(
            [self._steps.open_below(int(frame)) for frame in self._longest(frames, last - begin)], np.int64
        )
        kept = self._longest(frames, last - begin)[depths < DEPTH]
        places = np.searchsorted(frames, kept)
        ends = dict(zip(kept.tolist(), last[places].tolist(), strict=True))
        for frame in sorted(ends, reverse=True):  # a call ends no sooner than those in it
            if (outer := self._steps.caller(frame)) in ends:
                ends[outer] = max(ends[outer], ends[frame])
        rows, threads = [], self._steps.threads[first[places]].tolist()
        below = self._rows_before(depths[depths < DEPTH].tolist(), threads)
        for frame, depth, thread, start in zip(
            kept.tolist(), depths[depths < DEPTH].tolist(), threads, begin[places].tolist(), strict=True
        ):
            rows.append([self._function(frame), below[thread] + depth, start, ends[frame]])
        return sorted(rows, key=lambda row: (row[2], row[1]))

    @staticmethod
    def _longest(frames: NDArray[Any], spans: Integers) -> NDArray[Any]:
        return np.sort(frames[np.argsort(-spans, kind="stable")[:CALLS]])

    @staticmethod
    def _rows_before(depths: Sequence[int], threads: Sequence[int]) -> dict[int, int]:
        """For each thread how many rows those before it take."""
        deepest: dict[int, int] = {}
        for depth, thread in zip(depths, threads, strict=True):
            deepest[thread] = max(depth, deepest.get(thread, 0))
        found, total = {}, 0
        for thread in sorted(deepest):
            found[thread] = total
            total += deepest[thread] + 1
        return found

    def _function(self, frame: int) -> str:
        return self._trace.program.functions[int(self._trace.columns.frames[frame]["function"])].name

    # ---- Instants ----------------------------------------------------------------------------------------------------

    def _instant(self, step: int, call: int, files: dict[str, int]) -> list[Any]:
        """A step as an instant."""
        event = int(self._steps.events[step])
        statement = self._reader.statements[int(self._steps.statements[step])]
        clock = self._trace.clock(event)
        return [event, files[statement.file], statement.line, call, clock, self._values(step)]

    def _values(self, step: int) -> list[list[Any]]:
        """What a step read and wrote: of each variable the last value of each kind, in order of time."""
        found: dict[tuple[str, str], list[Any]] = {}
        for event in self._events_of(step):
            seen = self._reader.observation(event)
            if seen is not None:
                found.pop((seen.name, seen.role), None)
                found[seen.name, seen.role] = [seen.name, seen.value, seen.role, self._writer(event)]
        seen_before = {(name, value) for name, value, role, _ in found.values() if role != "argument"}
        told = [row for row in found.values() if row[2] != "argument" or (row[0], row[1]) not in seen_before]
        names = [row[0] for row in told]
        return [row for row in told if not is_base({"name": row[0], "value": row[1]}, names)][-VALUES:]

    def _events_of(self, step: int) -> list[int]:
        """The events of a step: those of its call from it on until the call's next step."""
        keys, order = self._by_call
        frame, event = int(self._steps.frames[step]), int(self._steps.events[step])
        after = int(np.searchsorted(keys, frame * (self._trace.events + 1) + event, side="right"))
        is_last = after == len(order) or int(self._steps.frames[order[after]]) != frame
        until = self._steps.end + 1 if is_last else int(self._steps.events[order[after]])
        sorted_segments, place = self._segments_by_call
        found: list[int] = []
        at = int(place[self._trace.columns.events[event]["segment"]])
        for segment in sorted_segments[at : at + SEGMENTS].tolist():
            first = int(self._first[segment])
            if int(self._frame_of[segment]) != frame or first >= until:
                break
            end = self._trace.last_event(segment) + 1
            begin = max(first, event)
            found += range(begin, min(end, until, begin + EVENTS))
        return found

    @cached_property
    def _segments_by_call(self) -> tuple[Integers, Integers]:
        """The segments by call, then time; and the place of each in that order."""
        order = np.argsort(self._frame_of, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return order, place

    def _writer(self, event: int) -> int | str | None:
        """The instant that wrote what an event read, or its place where that is no instant.

        None: the event reads nothing, or it is not known.
        """
        if self._trace.kind(event) is not Kind.LOAD:
            return None
        written = self._written(event + 1, Edge.MEMORY)
        if written is not None and written >= 0 and self._reader.statement(written) is None:  # a parameter: passed
            written = self._written(written + 1, Edge.VALUE)
        return None if written is None or written < 0 else self._instant_of(written)

    def _written(self, reference: int, wanted: Edge) -> int | None:
        """The event that an edge of this kind leads to; of what a library call wrote, the call. None: there is none."""
        plan, columns = self._trace.plan, self._trace.columns
        for target, edge in dependences(plan, columns, reference, False):
            if edge is wanted and target > 0:
                return target - 1
            if edge is wanted and target < 0:
                return max((event for event, _ in dependences(plan, columns, target) if event > 0), default=0) - 1
        return None

    def _instant_of(self, event: int) -> int | str | None:
        step = int(self._steps_at(np.array([event]))[0])
        at = int(np.searchsorted(self._chosen, step))
        if step >= 0 and at < len(self._chosen) and int(self._chosen[at]) == step:
            return at
        place = self._reader.statement(event)
        return f"{place.file}:{place.line}" if place is not None else None
