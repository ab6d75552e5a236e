"""What events of a run depend on: transforming instances, and the branches that decided over them (Algorithm 2).

Transforming instances (definition 3.2) are the events that the values of a cause come from: the closure over data
dependence, with the addresses of what was read. A *critical condition* (definition 3.3) is a branch instance that let
one of them happen (direct), or that kept from happening what could have written what one of them reads (indirect).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whence.dependence.last_writes import NEVER, NO_READ, last_written
from whence.dependence.neighbours import Neighbours
from whence.dependence.potential import Candidates
from whence.dependence.predicates import Predicates
from whence.findings import Symptom
from whence.probe.layout import Kind
from whence.subject.departure import Departure
from whence.subject.recorder import Recording
from whence.subject.trace_reader import TraceReader
from whence.trace.columns import N_OUT
from whence.trace.dependence import Edge
from whence.trace.slicing import Slice, backward_slice, dependences

Integers = NDArray[np.int64]
ABOUT_BYTES = ("wrong-output", "extra-output")
ROUNDS = 6  # of growing a relevant slice


@dataclass(slots=True)
class Reached:
    """The events that some values come from, ascending: how far each is, and the event through which it was reached.

    What a ``Slice`` tells, without arrays as long as the run. ``parents`` are references, 0 at the start.
    """

    events: Integers
    depths: NDArray[np.int32]
    parents: NDArray[np.int32]

    def depth_of(self, events: Integers) -> NDArray[np.int32]:
        """Depths of events that are among these."""
        return self.depths[np.searchsorted(self.events, events)]

    def holds(self, event: int) -> bool:
        """Whether an event is among these."""
        place = int(np.searchsorted(self.events, event))
        return place < len(self.events) and int(self.events[place]) == event

    def joined(self, rows: list[tuple[int, int, int]]) -> Reached:
        """These with further events: of each its number, depth and parent."""
        events, depths, parents = np.array(rows, np.int64).reshape(-1, 3).T
        joined = np.concatenate([self.events, events])
        order = np.argsort(joined, kind="stable")
        return Reached(
            joined[order],
            np.concatenate([self.depths, depths])[order].astype(np.int32),
            np.concatenate([self.parents, parents])[order].astype(np.int32),
        )

    def way(self, event: int) -> Iterator[int]:
        """The events on a shortest way from ``event`` to the start, both included."""
        reference = event + 1
        while reference > 0:
            yield reference - 1
            reference = int(self.parents[np.searchsorted(self.events, reference - 1)])


def _reached(found: Slice) -> Reached:
    """The events of a slice, ways through cells shortened."""
    events = found.events
    parents = found.event_parent[events]
    while len(cells := np.flatnonzero(parents < 0)):
        parents[cells] = found.cell_parent[-parents[cells] - 1]
    return Reached(events, found.depth_of(events), parents)


class Influence:
    """Dependence in one run. Branches in functions of ``correct`` are passed over, to the call that led there.

    ``earliest`` is an event before which data is not followed, since the run is so long. What is before its
    ``departure`` from a passing run counts for nothing, where that holds for what led to ``references``: branches there
    have no other side, since they went as they go in the passing run.
    """

    earliest = 0

    def __init__(
        self,
        reader: TraceReader,
        correct: Iterable[str] = (),
        departure: Departure | None = None,
        references: Sequence[int] = (),
    ) -> None:
        self.reader, self.trace = reader, reader.trace
        counts = departure is not None and departure.counts_for(self.sliced(references).events)
        self.departure = departure if counts else None
        names = frozenset(correct)
        functions = reader.subject.program.functions
        self._correct = np.array([ref.name in names for ref in functions], bool)

    @cached_property
    def predicates(self) -> Predicates:
        """The run's branches, with the sides that they did not take."""
        found = Predicates(self.reader)
        if self.departure is not None:
            found.rows = found.rows[found.rows["event"] >= self.departure.event]
        return found

    @cached_property
    def _candidates(self) -> Candidates:
        return Candidates(self.predicates)

    @cached_property
    def _since(self) -> Integers:
        since: Integers = last_written(self.trace)
        return since

    @cached_property
    def neighbours(self) -> Neighbours:
        """What was stored beside what events read."""
        return Neighbours(self.reader, self._since)

    def reads(self, events: Integers) -> Integers:
        """Those events that read memory."""
        reading: Integers = events[self._since[events] != NO_READ]
        return reading

    def unwritten(self, events: Integers) -> Integers:
        """Those events that read what nothing recorded had written."""
        initial: Integers = events[self._since[events] == NEVER]
        return initial

    # ---- Data --------------------------------------------------------------------------------------------------------

    def transforming(self, references: Sequence[int]) -> Reached:
        """The data slice from some references: what their values come from, with the ways there."""
        start = np.array(references, np.int64)
        return _reached(backward_slice(self.trace.plan, self.trace.columns, start, False, self.earliest))

    def with_calls(self, found: Reached, events: Integers) -> tuple[Reached, Integers]:
        """The calls that led to some of the events found, up to the outermost; and the events with those in between.

        They say how an event came to happen where no value tells it: `skip();` is the reason of what `skip` did.
        """
        columns, known = self.trace.columns, dict[int, tuple[int, int]]()  # by call: depth, reference of its parent
        depths = found.depth_of(events)
        inner = events
        while len(inner):
            order = np.argsort(depths, kind="stable")
            segments = columns.frames["call"][columns.segments["frame"][columns.events["segment"][inner[order]]]]
            callers, first = np.unique(segments, return_index=True)
            first = order[first[callers >= 0]]
            ended = self.trace.last_events(callers[callers >= 0])
            rows = zip(ended.tolist(), (depths[first] + 1).tolist(), (inner[first] + 1).tolist(), strict=True)
            level = {call: (depth, parent) for call, depth, parent in rows if call not in known}
            known.update(level)
            inner = np.array(list(level), np.int64)
            depths = np.array([depth for depth, _ in level.values()], np.int32)
        calls = np.array(sorted(known), np.int64)
        return found.joined([(call, *known[call]) for call in calls[~np.isin(calls, found.events)].tolist()]), calls

    def call_of(self, event: int) -> int:
        """The call of the function in which an event happened; -1: none was recorded."""
        columns = self.trace.columns
        call = int(columns.frames[columns.segments[columns.events[event]["segment"]]["frame"]]["call"])
        return self.trace.last_event(call) if call >= 0 else -1

    def sources(self, event: int) -> list[int]:
        """The events that an event's data comes from, seen through the bytes that library calls copied."""
        return self.sources_of(event + 1)

    def sources_of(self, reference: int) -> list[int]:
        """The events that the data of an event or cell comes from, in the same way."""
        found: dict[int, None] = {}
        pending, seen = [reference], {reference}
        while pending:
            for target, _ in dependences(self.trace.plan, self.trace.columns, pending.pop(), control=False):
                if target in seen:
                    continue
                seen.add(target)
                if target > 0 and self._has_value(target - 1):
                    found[target - 1] = None
                else:
                    pending.append(target)
        return list(found)

    def _has_value(self, event: int) -> bool:
        return self.trace.kind(event) not in {Kind.CALL, Kind.COPY, Kind.VASTART, Kind.BYVAL}

    # ---- Critical conditions -----------------------------------------------------------------------------------------

    def direct(self, events: Integers) -> list[int]:
        """For each event the closest branch instance that let it happen, in its function or a caller; -1: none."""
        trace = self.trace
        segments = trace.columns.events["segment"][events]
        found: list[int] = self._closest(segments).tolist()
        kinds = trace.plan.sites["kind"][trace.sites(events)]
        for index in np.flatnonzero(kinds == Kind.PHI).tolist():
            edges = dependences(trace.plan, trace.columns, int(events[index]) + 1)
            branch = next((t - 1 for t, kind in edges if kind is Edge.CONTROL), -1)
            if branch >= 0 and trace.kind(branch) is Kind.BRANCH:
                found[index] = int(self._in_scope(np.array([branch]))[0])
        return found

    def _closest(self, segments: Integers) -> Integers:
        """The closest branch over each segment instance: of its function, else of the call that led to it; -1: none."""
        table, frames = self.trace.columns.segments, self.trace.columns.frames
        found, rest = np.full(len(segments), -1, np.int64), np.arange(len(segments))
        while len(rest):
            rows = frames[table["frame"][segments]]
            controls = table["control"][segments]
            held = (controls >= 0) & ~self._correct[rows["function"]]
            found[rest[held]] = self.trace.last_events(controls[held])
            further = ~held & (rows["call"] >= 0)
            segments, rest = rows["call"][further], rest[further]
        return found

    def _in_scope(self, branches: Integers) -> Integers:
        """Each branch, or the closest one over the call of the function designated as correct that holds it."""
        columns = self.trace.columns
        frames = columns.frames[columns.segments["frame"][columns.events["segment"][branches]]]
        held = self._correct[frames["function"]]
        found = branches.copy()
        found[held] = self._closest(frames["call"][held])
        return found

    def indirect(self, found: Slice | Reached, events: Integers) -> Integers:
        """The branch instances whose other side could have written what one of the events reads, most promising first.

        Only those after what did write it. (Relevant slicing's potential dependence.)
        """
        uses = self.reads(events)
        if not len(uses):
            return uses
        depths = found.depth_of(uses).astype(np.int64)
        rows = self.predicates.rows[self._candidates.of(uses, self._since[uses], depths)]
        return self._branches(rows["event"])

    def silent(self, symptom: Symptom, recording: Recording) -> list[int]:
        """Of a first wrong byte: the branch instances whose other side could have printed something in front of it.

        That is, after what was printed before. Where a call began with right bytes it was the one expected, unless the
        same text is expected later. Of other symptoms none.
        """
        if symptom.kind not in ABOUT_BYTES or "offset" not in symptom.details:
            return []
        stream, offset = symptom.details["stream"], symptom.details["offset"]
        outs = self.trace.columns.outs[: self.trace.columns.counts[N_OUT]]
        outs = outs[outs["stream"] == stream]
        row = int(np.searchsorted(outs["offset"], offset, side="right")) - 1
        if row < 0 or not (outs[row]["offset"] == offset or _is_expected_later(outs[row], recording)):
            return []
        nothing = np.zeros(0, np.int64)
        rows = self.predicates.rows[self._candidates.of(nothing, nothing, nothing, int(outs[row]["event"]))]
        last = int(outs[row - 1]["event"]) if row else -1
        found: list[int] = self._branches(rows["event"][rows["event"] > last]).tolist()
        return found

    def _branches(self, events: Integers) -> Integers:
        """Branch instances that stand for some, each once, in the order in which they come."""
        found = self._in_scope(events)
        found = found[found >= 0]
        return found[np.sort(np.unique(found, return_index=True)[1])]

    # ---- Slicing first -----------------------------------------------------------------------------------------------

    def sliced(self, references: Sequence[int]) -> Slice:
        """The slice over data and control dependence from some references."""
        return backward_slice(self.trace.plan, self.trace.columns, np.unique(np.array(references, np.int64)))

    def behind(self, events: Integers) -> Integers:
        """Of some events those behind the departure; all, where there is none."""
        return events if self.departure is None else events[events >= self.departure.event]

    def relevant_slice(self, references: Sequence[int], branches: Sequence[int] = (), last: int | None = None) -> Slice:
        """The slice over data, control and potential dependence: all that a tree from these references can hold.

        ``branches`` are events that the tree begins with as well. With ``last`` only what so many of the slice's last
        events read counts; with a departure only what those behind it read.
        """
        known = [*references, *(branch + 1 for branch in branches)]
        found = self.sliced(known)
        for _ in range(ROUNDS):
            events = self.behind(found.events if last is None else found.events[-last:])
            indirect = self.indirect(found, events) + 1
            more = indirect[found.event_depth[indirect - 1] == 0]
            if not len(more):
                break
            known += more.tolist()
            found = self.sliced(known)
        return found


def _is_expected_later(out: np.void, recording: Recording) -> bool:
    """Whether what a call printed stands in the expected output behind that place."""
    begin, end = int(out["offset"]), int(out["offset"] + out["length"])
    result, expected = recording.result, recording.case.expected
    if expected is None:
        return False
    stream = int(out["stream"])
    return result.text(stream)[begin:end] in (expected.text(stream) or b"")[begin:]
