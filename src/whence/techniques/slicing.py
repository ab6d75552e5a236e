"""Dynamic slices as findings: criteria, and a slice's lines with their values and edges.

A criterion is the symptom, or ``FILE:LINE[:variable][@occurrence]``. (Dynamic slicing: Sahoo et al. 2013, section 4.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.errors import UsageError
from whence.findings import Findings, Statement, rank
from whence.subject.story import EDGE_NAMES, Story, json_value
from whence.trace.dependence import Edge
from whence.trace.slicing import Slice, backward_slice, dependences, forward_slice
from whence.trace.trace import Trace

VALUES_A_LINE = 20
EVENTS_A_LINE = 40  # whose values and edges are gathered, the nearest first
EDGES_A_LINE = 20
LINES = 5000
HOPS = 8  # steps through code without a place before an edge is given up


# ---- Criteria --------------------------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class Criterion:
    """Where a slice starts: a statement, a variable there ("" for all), and which of its instances (-1: the last)."""

    statement: Statement
    variable: str = ""
    occurrence: int = -1

    @property
    def place(self) -> str:
        """``FILE:LINE``."""
        return f"{self.statement.file}:{self.statement.line}"


@dataclass(slots=True, frozen=True)
class Start:
    """Where a slice starts: its references, the event that stands for them (-1: none), and words for people."""

    references: Sequence[int]
    event: int
    text: str


def parse_criterion(text: str) -> Criterion:
    """Read ``FILE:LINE[:variable][@occurrence]``; raises UsageError on anything else."""
    match = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<variable>[^@]+))?(?:@(?P<occurrence>\d+))?", text)
    if match is None or int(match["line"]) == 0:
        raise UsageError(f"'{text}' is no criterion", "write FILE:LINE, FILE:LINE:variable or FILE:LINE:variable@3")
    occurrence = int(match["occurrence"]) if match["occurrence"] else -1
    if occurrence == 0:
        raise UsageError(f"'{text}': occurrences count from 1")
    return Criterion(Statement(match["file"], int(match["line"])), match["variable"] or "", occurrence)


def start_at(story: Story, criterion: Criterion) -> Start:
    """The start of a slice at one execution of a line, or at one access to a variable there.

    Raises UsageError where the program has no such place, or the run never reached it.
    """
    statement = known_statement(story.statements, criterion.statement)
    events = story.events_of(statement)
    if not len(events):
        raise UsageError(f"the run never reached {criterion.place}", "slice another run with --case or --passing")
    if criterion.variable:
        groups = _of_variable(story, events, criterion)
        what = f"`{criterion.variable}`, "
    else:
        groups = _executions(story, events)
        what = ""
    if criterion.occurrence > len(groups):
        raise UsageError(f"{criterion.place} was reached {_times(len(groups))}, not {criterion.occurrence}")
    number = criterion.occurrence if criterion.occurrence > 0 else len(groups)
    chosen = groups[number - 1]
    return Start([event + 1 for event in chosen], chosen[-1], f"{what}{_which(number, len(groups))}")


def known_statement(statements: Sequence[Statement], wanted: Statement) -> Statement:
    """The statement as the program knows it: its file may be given by a last part of its path.

    Raises UsageError where ``statements``, those of the program, do not have it, or more than one file fits.
    """
    files = {s.file for s in statements}
    matches = [wanted.file] if wanted.file in files else sorted(f for f in files if f.endswith("/" + wanted.file))
    if len(matches) > 1:
        raise UsageError(f"'{wanted.file}' could be {' or '.join(matches[:3])}", "write more of the path")
    if not matches:
        raise UsageError(f"no statement of '{wanted.file}' was captured", f"files: {', '.join(sorted(files)[:5])}")
    lines = [s.line for s in statements if s.file == matches[0]]
    if wanted.line not in lines:
        near = sorted(sorted(lines, key=lambda line: abs(line - wanted.line))[:3])
        hint = f"the nearest lines with one: {', '.join(map(str, near))}"
        raise UsageError(f"there is no statement on {matches[0]}:{wanted.line}", hint)
    return Statement(matches[0], wanted.line)


def _of_variable(story: Story, events: NDArray[np.int64], criterion: Criterion) -> list[list[int]]:
    """The accesses to the variable, each on its own; only writes where the line has both."""
    named: list[tuple[int, str]] = []
    others: dict[str, None] = {}
    for event in events.tolist():
        seen = story.observation(event)
        if seen is not None and seen.name == criterion.variable:
            named.append((event, seen.role))
        elif seen is not None:
            others[seen.name] = None
    if not named:
        hint = f"there: {', '.join(list(others)[:8])}" if others else "leave the variable out to see all of the line"
        raise UsageError(f"`{criterion.variable}` is not used on {criterion.place}", hint)
    return [[event] for event, role in named if role == "written"] or [[event] for event, _ in named]


def _executions(story: Story, events: NDArray[np.int64]) -> list[list[int]]:
    """A line's events grouped by execution: a new one starts where a site of the group comes again."""
    groups: list[list[int]] = []
    seen: set[int] = set()
    for event, site in zip(events.tolist(), story.sites(events).tolist(), strict=True):
        if not groups or site in seen:
            groups.append([])
            seen = set()
        groups[-1].append(event)
        seen.add(site)
    return groups


def _which(number: int, count: int) -> str:
    """Which of several executions is meant."""
    if count == 1:
        return "reached once"
    return f"the last of {count:,} times" if number == count else f"time {number:,} of {count:,}"


# ---- Slices by line --------------------------------------------------------------------------------------------------


def compute(trace: Trace, criteria: Sequence[int], forward: bool = False, control: bool = True) -> Slice:
    """The slice from some references; a forward slice leaves those out that are no events."""
    references = np.unique(np.array(criteria, np.int64))
    if forward:
        return forward_slice(trace.plan, trace.columns, references[references > 0], control)
    return backward_slice(trace.plan, trace.columns, references, control)


@dataclass(slots=True)
class Lines:
    """A slice by statement: parallel over the statements in it, the nearest first.

    ``depths`` are the least distances from the criterion, ``instances`` how often each line was executed there,
    ``events`` its events nearest to the criterion, in order of time.
    """

    statements: list[Statement]
    depths: NDArray[np.int64]
    instances: NDArray[np.int64]
    events: list[NDArray[np.int64]]


def by_line(story: Story, found: Slice) -> Lines:
    """Group a slice's events by statement."""
    events = found.events
    sites = story.sites(events)
    numbers = story.statement_numbers[sites]
    counts = np.zeros(len(story.statements) + 1, np.int64)
    np.maximum.at(counts, story.statement_numbers, np.bincount(sites, minlength=len(story.statement_numbers)))
    narrow = numbers.astype(np.int16) if len(story.statements) < 1 << 15 else numbers  # sorted in linear time
    order = np.argsort(narrow, kind="stable")
    kept, starts = np.unique(numbers[order], return_index=True)
    groups = [events[part] for part in np.split(order, starts[1:])][: len(kept)]  # an empty slice has one empty part
    rows = [_row(found, n, group) for n, group in zip(kept.tolist(), groups, strict=True) if n >= 0]
    rows.sort(key=lambda row: row[:2])
    return Lines(
        [story.statements[number] for _, number, _ in rows],
        np.array([depth for depth, _, _ in rows], np.int64),
        counts[[number for _, number, _ in rows]],
        [nearest for _, _, nearest in rows],
    )


def _row(found: Slice, number: int, events: NDArray[np.int64]) -> tuple[int, int, NDArray[np.int64]]:
    """A statement's least depth, its number, and its nearest events."""
    depths = found.depth_of(events)
    if len(events) <= EVENTS_A_LINE:
        return int(depths.min()), number, events
    limit = np.partition(depths, EVENTS_A_LINE - 1)[EVENTS_A_LINE - 1]
    nearer = np.flatnonzero(depths < limit)
    level = np.flatnonzero(depths == limit)[: EVENTS_A_LINE - len(nearer)]
    return int(depths.min()), number, events[np.sort(np.concatenate([nearer, level]))]


def slice_part(
    story: Story, found: Slice, lines: Lines, forward: bool = False, control: bool = True
) -> list[dict[str, Any]]:
    """The part ``slice`` of a result (docs/json.md): the nearest lines with values and edges."""
    edges = _Edges(story, found, forward, control)
    depths, instances = lines.depths.tolist(), lines.instances.tolist()
    rows = list(zip(lines.statements, depths, instances, lines.events, strict=True))[:LINES]
    for statement, _, _, events in rows:
        edges.add(statement, events.tolist())
    return [
        {
            "file": statement.file,
            "line": statement.line,
            "depth": depth,
            "instances": count,
            "values": line_values(story, events.tolist()),
            "edges": edges.of(statement),
        }
        for statement, depth, count, events in rows
    ]


def line_values(story: Story, events: Sequence[int]) -> list[dict[str, Any]]:
    """What events read and wrote, repetitions left out, the last ``VALUES_A_LINE`` of them in order of time."""
    values: list[dict[str, Any]] = []
    later: dict[str, str | None] = {}
    for event in reversed(events):
        seen = story.observation(event)
        if seen is None or later.get(seen.name) == seen.value:
            continue
        later[seen.name] = seen.value
        values.append({"clock": story.trace.clock(event), **json_value(seen)})
        if len(values) == VALUES_A_LINE:
            break
    names = [value["name"] for value in values]
    return [value for value in reversed(values) if not _is_base(value, names)]


def _is_base(value: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether a value is an address by which the line reaches something else that it shows."""
    name = value["name"]
    return value["value"].startswith("0x") and any(n.startswith((f"{name}->", f"{name}[", f"*{name}")) for n in names)


class _Edges:
    """The edges between a slice's lines, each once, with the value that was passed on last.

    Backward they lead from a line to those that it depends on, forward to those that depend on it.
    """

    def __init__(self, story: Story, found: Slice, forward: bool, control: bool) -> None:
        self._story, self._found = story, found
        self._forward, self._control = forward, control
        self._known: dict[Statement, dict[tuple[Statement, str], dict[str, Any]]] = {}

    def of(self, statement: Statement) -> list[dict[str, Any]]:
        """The edges of a line."""
        return list(self._known.get(statement, {}).values())

    def add(self, statement: Statement, events: Sequence[int]) -> None:
        """Note the edges of a line's events, the last event first."""
        for event in reversed(events):
            for target, kind in self._reach(event + 1):
                place = self._story.statement(target)
                if place is not None and place != statement and self._found.event_depth[target]:
                    ends = (place, statement) if self._forward else (statement, place)
                    self._note(*ends, EDGE_NAMES[kind], target)

    def _note(self, start: Statement, end: Statement, kind: str, source: int) -> None:
        """Note one edge, unless it is known; ``source`` is the event whose value was passed on."""
        edges = self._known.setdefault(start, {})
        if (end, kind) in edges or len(edges) >= EDGES_A_LINE:
            return
        seen = self._story.named(source)
        named = {"name": seen.name, "value": seen.value} if seen else {"name": "", "value": None}
        edges[end, kind] = {"to_file": end.file, "to_line": end.line, "kind": kind, **named}

    def _reach(self, reference: int, hops: int = HOPS) -> Iterable[tuple[int, Edge]]:
        """The events that a node depends on, seen through cells and code without a place."""
        trace = self._story.trace
        for target, kind in dependences(trace.plan, trace.columns, reference, self._control):
            if target > 0 and (hops == 0 or self._story.statement(target - 1) is not None):
                yield target - 1, kind
            elif hops:
                for event, inner in self._reach(target, hops - 1):
                    yield event, kind if inner is Edge.VALUE else inner


# ---- Findings --------------------------------------------------------------------------------------------------------


def slice_findings(
    story: Story,
    subject: str,
    start: Start,
    forward: bool = False,
    control: bool = True,
    found: Slice | None = None,
) -> tuple[Findings, Slice]:
    """The findings of ``whence slice``, lines ranked by their distance from the criterion; and the slice itself.

    ``found`` is the slice where it is known already.
    """
    found = found or compute(story.trace, start.references, forward, control)
    lines = by_line(story, found)
    depths, instances = lines.depths.tolist(), lines.instances.tolist()
    scores, evidence = {}, {}
    for statement, depth, count in zip(lines.statements, depths, instances, strict=True):
        scores[statement] = 1 / (1 + depth)
        evidence[statement] = {"text": f"in the slice {_times(count)}, {_steps(depth)} from the criterion"}
    result = Findings("slice", subject, rank(scores, evidence))
    result.parts["slice"] = slice_part(story, found, lines, forward, control)
    result.parts["criterion"] = criterion_part(story, start, forward)
    result.summary.append(
        f"sliced {story.trace.events:,} events {'forward' if forward else 'backward'}: "
        f"{len(found.events):,} are in the slice, on {plural(len(lines.statements), 'line')}"
    )
    return result, found


def criterion_part(story: Story, start: Start, forward: bool = False) -> dict[str, Any]:
    """The part ``criterion`` of a result."""
    place = place_of(story, start.event) if start.event >= 0 else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "direction": "forward" if forward else "backward",
        "text": start.text,
    }


def place_of(story: Story, event: int, hops: int = HOPS) -> Statement | None:
    """The statement of an event; of one that has none, such as a return at a brace, that of what it depends on."""
    place = story.statement(event)
    if place is not None or hops == 0:
        return place
    targets = dependences(story.trace.plan, story.trace.columns, event + 1)
    found = (place_of(story, target - 1, hops - 1) for target, _ in targets if target > 0)
    return next((statement for statement in found if statement is not None), None)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _steps(depth: int) -> str:
    return "1 step" if depth == 1 else f"{depth} steps"


def plural(count: int, noun: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
