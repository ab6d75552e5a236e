"""Dynamic slices as findings: a slice's lines with their values and edges (Sahoo et al. 2013, section 4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.dependence.criteria import parse_criterion, start_at, times
from whence.dependence.slices import (
    EVENTS_A_LINE,
    Lines,
    Start,
    by_line,
    compute,
    executions_in,
    place_of,
    symptom_start,
)
from whence.errors import SubjectError, UsageError
from whence.findings import Findings, Statement, Symptom, plural, rank
from whence.investigation.account import summary
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import EDGE_NAMES, Observation, TraceReader, json_value
from whence.trace.dependence import Edge
from whence.trace.long_trace import LongTrace
from whence.trace.slicing import Slice, dependences

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

VALUES_A_LINE = 20
EDGES_A_LINE = 20
LINES = 5000
CASES_NAMED = 8
HOPS = 8  # steps through code without a place before an edge is given up


# ---- Parts ---------------------------------------------------------------------------------------------------------


def slice_part(
    reader: TraceReader,
    found: Slice,
    lines: Lines,
    forward: bool = False,
    control: bool = True,
    deadline: float = float("inf"),
) -> tuple[list[dict[str, Any]], int]:
    """The part ``slice`` of a result (docs/json.md): the nearest lines with values and edges; and of how many lines.

    Values and edges are read until ``deadline`` (of ``time.monotonic``).
    """
    part, read = outline(lines), 0
    edges = _Edges(reader, found, forward, control)
    for row, (statement, events) in zip(part, _by_line(lines), strict=False):
        if time.monotonic() >= deadline:
            break
        edges.add(statement, events)
        row["values"] = line_values(reader, events)
        read += 1
    for row, statement in zip(part, lines.statements, strict=False):
        row["edges"] = edges.of(statement)
    return part, read


def outline(lines: Lines) -> list[dict[str, Any]]:
    """The part ``slice`` without values and edges, which take long to read where there are many lines."""
    rows = zip(lines.statements[:LINES], lines.depths.tolist(), lines.instances.tolist(), strict=False)
    return [
        {"file": at.file, "line": at.line, "depth": depth, "instances": count, "values": [], "edges": []}
        for at, depth, count in rows
    ]


def fill(part: Sequence[dict[str, Any]], reader: TraceReader, found: Slice, lines: Lines) -> None:
    """Put the values and edges of a slice backward into its outline, line by line: it may be interrupted."""
    edges = _Edges(reader, found, forward=False, control=True)
    for row, (statement, events) in zip(part, _by_line(lines), strict=False):
        edges.add(statement, events)
        row["values"], row["edges"] = line_values(reader, events), edges.of(statement)


def _by_line(lines: Lines) -> Iterator[tuple[Statement, list[int]]]:
    return ((at, events.tolist()) for at, events in zip(lines.statements, lines.events, strict=True))


def line_values(reader: TraceReader, events: Sequence[int]) -> list[dict[str, Any]]:
    """What events read and wrote, repetitions left out, the last ``VALUES_A_LINE`` of them in order of time."""
    last_first = ((reader.observation(event), partial(reader.trace.clock, event)) for event in reversed(events))
    return _values(last_first)


def _values(seen_last: Iterable[tuple[Observation | None, Callable[[], int]]]) -> list[dict[str, Any]]:
    """The values of a line, from what was seen at its events and how its clock is told, the last one first."""
    values: list[dict[str, Any]] = []
    later: dict[str, str | None] = {}
    for seen, clock in seen_last:
        if seen is None or later.get(seen.name) == seen.value:
            continue
        later[seen.name] = seen.value
        values.append({"clock": clock(), **json_value(seen)})
        if len(values) == VALUES_A_LINE:
            break
    names = [value["name"] for value in values]
    return [value for value in reversed(values) if not is_base(value, names)]


def is_base(value: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether a value is an address by which the line reaches something else that it shows."""
    name = value["name"]
    return value["value"].startswith("0x") and any(n.startswith((f"{name}->", f"{name}[", f"*{name}")) for n in names)


class _Edges:
    """The edges between a slice's lines, each once, with the value that was passed on last.

    Backward they lead from a line to those that it depends on, forward to those that depend on it.
    """

    def __init__(self, reader: TraceReader, found: Slice, forward: bool, control: bool) -> None:
        self._reader, self._found = reader, found
        self._forward, self._control = forward, control
        self._known: dict[Statement, dict[tuple[Statement, str], dict[str, Any]]] = {}
        self._elsewhere: list[tuple[Statement, int, Edge]] = []

    def of(self, statement: Statement) -> list[dict[str, Any]]:
        """The edges of a line."""
        return list(self._known.get(statement, {}).values())

    def add(self, statement: Statement, events: Sequence[int]) -> None:
        """Note the edges of a line's events, the last event first."""
        for event in reversed(events):
            self._add(statement, event + 1, Edge.VALUE)

    def go_on(self, found: Slice) -> None:
        """Note the edges that lead into a window, now that it is shown; ``found``: its part of the slice."""
        self._found, waiting, self._elsewhere = found, self._elsewhere, []
        for statement, reference, way in waiting:
            self._add(statement, reference, way, is_target=True)

    def _add(self, statement: Statement, reference: int, way: Edge, is_target: bool = False) -> None:
        """Note the edges of a node, or the one to it, as it was reached from a line's event."""
        targets = [(reference - 1, way)] if is_target and self._has_place(reference) else []
        for target, kind in targets or self._reach(statement, reference, way):
            place = self._reader.statement(target)
            if place is not None and place != statement and self._found.event_depth[target]:
                ends = (place, statement) if self._forward else (statement, place)
                self._note(*ends, EDGE_NAMES[kind], target)

    def _has_place(self, reference: int) -> bool:
        """Whether a node is an event with a place, in a window that is shown."""
        return (
            reference > 0 and self._reader.trace.shows(reference) and self._reader.statement(reference - 1) is not None
        )

    def _note(self, start: Statement, end: Statement, kind: str, source: int) -> None:
        """Note one edge, unless it is known; ``source`` is the event whose value was passed on."""
        edges = self._known.setdefault(start, {})
        if (end, kind) in edges or len(edges) >= EDGES_A_LINE:
            return
        seen = self._reader.named(source)
        named = {"name": seen.name, "value": seen.value} if seen else {"name": "", "value": None}
        edges[end, kind] = {"to_file": end.file, "to_line": end.line, "kind": kind, **named}

    def _reach(self, statement: Statement, reference: int, way: Edge) -> Iterable[tuple[int, Edge]]:
        """The events that a node depends on, seen through cells and code without a place, the nearest first.

        What lies in a window that is not shown is kept for ``go_on``.
        """
        trace, seen = self._reader.trace, set[tuple[int, Edge]]()
        level: list[tuple[int, Edge]] = [(reference, way)]
        for _ in range(HOPS + 1):
            further = []
            for node, way in level:
                if not trace.shows(node):
                    self._elsewhere.append((statement, node, way))
                    continue
                for target, kind in dependences(trace.plan, trace.columns, node, self._control):
                    reached = target, way if kind is Edge.VALUE else kind
                    if reached not in seen:
                        seen.add(reached)
                        if self._has_place(target):
                            yield target - 1, reached[1]
                        else:
                            further.append(reached)
            level = further


# ---- Findings --------------------------------------------------------------------------------------------------------


def slice_findings(
    reader: TraceReader,
    subject: str,
    start: Start,
    forward: bool = False,
    control: bool = True,
    found: Slice | None = None,
    deadline: float = float("inf"),
) -> tuple[Findings, Slice]:
    """The findings of ``whence slice``, lines ranked by their distance from the criterion; and the slice itself.

    ``found`` is the slice where it is known already. Values are read until ``deadline`` (of ``time.monotonic``).
    """
    found = found or compute(reader.trace, start.references, forward, control)
    lines = by_line(reader, found)
    depths, instances = lines.depths.tolist(), lines.instances.tolist()
    scores, evidence = {}, {}
    for statement, depth, count in zip(lines.statements, depths, instances, strict=True):
        scores[statement], evidence[statement] = _score(depth), _evidence(depth, count)
    result = Findings("slice", subject, rank(scores, evidence))
    part, read = slice_part(reader, found, lines, forward, control, deadline)
    result.parts["slice"] = part
    result.parts["criterion"] = criterion_part(reader, start, forward)
    result.summary.append(
        f"sliced {reader.trace.events:,} events {'forward' if forward else 'backward'}: "
        f"{len(found.events):,} are in the slice, on {plural(len(lines.statements), 'line')}"
    )
    if read < len(part):
        left = plural(len(part) - read, "line")
        result.summary.append(f"what {left} read and wrote was not looked up for lack of time: --budget 5m")
    return result, found


def long_slice_findings(
    trace: LongTrace,
    reader: TraceReader,
    subject: str,
    start: Start,
    control: bool = True,
    deadline: float = float("inf"),
    busy: Callable[[str], None] = lambda text: None,
) -> Findings:
    """As ``slice_findings``, for a run that is read in windows, each of which ``busy`` is told of.

    What was found until ``deadline`` (of ``time.monotonic``), or Ctrl-C, is shown, and said.
    """
    criterion = criterion_part(reader, start)
    lines, earliest, why = _LongLines(reader, control), 0, ""
    try:
        for number, found in enumerate(trace.slices(start.references, control), 1):
            busy(f"slicing window {number} of at most {trace.windows}")
            lines.add(found)
            earliest = found.first
            if time.monotonic() >= deadline and earliest:
                why = "for lack of time: --budget 5m"
                break
    except KeyboardInterrupt:
        if not lines.size:
            raise
        why = "since the command was interrupted"
    result = Findings("slice", subject, rank(*lines.ranked()))
    result.parts["slice"], result.parts["criterion"] = lines.part(), criterion
    result.summary.append(
        f"sliced {trace.events_of_run:,} events backward, in {trace.windows} windows: {lines.size:,} are in the slice, "
        f"on {plural(len(result.ranking), 'line')}"
    )
    if why:
        result.summary.append(f"what came before event {earliest:,} was not looked at {why}")
    return result


class _Nearest(NamedTuple):
    """One of the events of a line that are nearest to the criterion."""

    depth: int
    event: int
    seen: Observation | None
    clock: int


class _LongLines:
    """The lines of a slice that is found window by window, the last one first."""

    def __init__(self, reader: TraceReader, control: bool) -> None:
        self._reader, self._control = reader, control
        self._edges: _Edges | None = None
        self._at_sites = np.zeros(len(reader.statement_numbers), np.int64)
        self._nearest: dict[Statement, list[_Nearest]] = {}

    @property
    def size(self) -> int:
        """Events of the slice."""
        return int(self._at_sites.sum())

    def add(self, found: Slice) -> None:
        """Note a window's part of the slice."""
        self._edges = self._edges or _Edges(self._reader, found, False, self._control)
        self._edges.go_on(found)
        lines = by_line(self._reader, found)
        self._at_sites += lines.at_sites
        for statement, events in zip(lines.statements, lines.events, strict=True):
            added = self._add(statement, found, events)
            self._edges.add(statement, added)

    def _add(self, statement: Statement, found: Slice, events: NDArray[np.int64]) -> list[int]:
        """Note a line's events of a window that are among its nearest ones; which these are, in order of time."""
        known = self._nearest.get(statement, [])
        before = [(one.depth, one.event) for one in known]
        kept = sorted([*before, *zip(found.depth_of(events).tolist(), events.tolist(), strict=True)])[:EVENTS_A_LINE]
        added = sorted(event for _, event in set(kept).difference(before))
        depths = {event: depth for depth, event in kept}
        read = [_Nearest(depths[e], e, self._reader.observation(e), self._reader.trace.clock(e)) for e in added]
        self._nearest[statement] = [*read, *(one for one in known if one.event in depths)]
        return added

    def _lines(self) -> list[tuple[Statement, int, int]]:
        """The lines, the nearest first, each with its depth and how often it was executed."""
        counts = executions_in(self._reader, self._at_sites).tolist()
        number = {statement: number for number, statement in enumerate(self._reader.statements)}
        found = [(at, min(one.depth for one in seen), counts[number[at]]) for at, seen in self._nearest.items()]
        return sorted(found, key=lambda row: (row[1], number[row[0]]))

    def ranked(self) -> tuple[dict[Statement, float], dict[Statement, dict[str, Any]]]:
        """Scores and evidence of the lines."""
        lines = self._lines()
        return {at: _score(depth) for at, depth, _ in lines}, {
            at: _evidence(depth, count) for at, depth, count in lines
        }

    def part(self) -> list[dict[str, Any]]:
        """The part ``slice`` of the result."""
        return [self._row(at, depth, count) for at, depth, count in self._lines()[:LINES]]

    def _row(self, at: Statement, depth: int, count: int) -> dict[str, Any]:
        seen = [(one.seen, partial(int, one.clock)) for one in reversed(self._nearest[at])]
        edges = self._edges.of(at) if self._edges else []
        told = {"depth": depth, "instances": count, "values": _values(seen), "edges": edges}
        return {"file": at.file, "line": at.line, **told}


def _score(depth: int) -> float:
    return 1 / (1 + depth)


def _evidence(depth: int, count: int) -> dict[str, Any]:
    return {"text": f"in the slice {times(count)}, {_steps(depth)} from the criterion"}


def criterion_part(reader: TraceReader, start: Start, forward: bool = False) -> dict[str, Any]:
    """The part ``criterion`` of a result."""
    place = place_of(reader, start.event) if start.event >= 0 else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "direction": "forward" if forward else "backward",
        "text": start.text,
    }


def _steps(depth: int) -> str:
    return "1 step" if depth == 1 else f"{depth} steps"


# ---- The technique ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing:
    """What a failure, or a value, came from; or with ``forward`` what came of it.

    ``at`` is ``FILE:LINE[:variable][@occurrence]``; None: the symptom. ``data_only`` leaves control dependence out.
    ``passing`` names a case whose run is sliced whether it passes or fails, which needs ``at``.
    """

    at: str | None = None
    forward: bool = False
    data_only: bool = False
    passing: str | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The slice's lines, nearest first. Raises UsageError where the criterion is no place of the run."""
        sliced = self.start(investigation, in_windows=not self.forward)
        investigation.watcher.busy("slicing")
        findings = self._found(investigation, sliced)
        findings.symptom = sliced.symptom
        findings.summary[:0] = summary(investigation.subject, investigation.runs, sliced.recording)
        return findings

    def _found(self, investigation: Investigation, sliced: Sliced) -> Findings:
        reader, name, start = sliced.reader, investigation.subject.name, sliced.start
        control, deadline = not self.data_only, investigation.clock.deadline
        if isinstance(reader.trace, LongTrace):
            busy = investigation.watcher.busy
            return long_slice_findings(reader.trace, reader, name, start, control, deadline, busy)
        return slice_findings(reader, name, start, self.forward, control, deadline=deadline)[0]

    def start(self, investigation: Investigation, in_windows: bool = False) -> Sliced:
        """Record the run to slice, and find where the slice starts in it. A long one may be read ``in_windows``."""
        criterion = parse_criterion(self.at) if self.at else None
        if self.passing and criterion is None:
            raise UsageError("--passing needs --at: a passing run has no symptom", "say where to start: --at FILE:LINE")
        if self.forward and criterion is None:
            raise UsageError("--forward needs --at: nothing comes of a symptom", "say where to start: --at FILE:LINE")
        recording = investigation.record_failing_or_end(self._rows(investigation), in_windows)[1]
        reader = TraceReader(investigation.subject, recording.trace)
        symptom = symptom_of(recording, investigation.subject.folder) if recording.outcome.failed else None
        start = start_at(reader, criterion) if criterion else _placed(symptom)
        return Sliced(reader, recording, symptom, start)

    def _rows(self, investigation: Investigation) -> list[int]:
        if self.passing is None:
            return investigation.failing_rows()
        tested = investigation.runs.tested
        rows = [row for row, one in enumerate(tested) if one.case.name == self.passing]
        if not rows:
            names = ", ".join(one.case.name for one in tested[:CASES_NAMED])
            raise SubjectError(f"no case is named '{self.passing}'", f"cases: {names}")
        return rows


@dataclass(frozen=True, slots=True)
class Sliced:
    """A recorded run with the start of a slice in it, and its symptom where it failed."""

    reader: TraceReader
    recording: Recording
    symptom: Symptom | None
    start: Start


def _placed(symptom: Symptom | None) -> Start:
    """The slice's start at the symptom; raises SubjectError where that has no place in the trace."""
    start = symptom_start(symptom) if symptom is not None else None
    if start is None or not start.references:
        text = symptom.text if symptom is not None else "there is none"
        raise SubjectError(f"the symptom has no place in the trace: {text}", "say where to start: --at FILE:LINE")
    return start
