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


@dataclass(slots=True, frozen=True)
class Criterion:
    """Where a slice starts: a statement, a variable there ("" for all), and which of its instances (-1: the last)."""

    statement: Statement
    variable: str = ""
    occurrence: int = -1


def parse_criterion(text: str) -> Criterion:
    """Read ``FILE:LINE[:variable][@occurrence]``; raises UsageError on anything else."""
    match = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<variable>[^@]+))?(?:@(?P<occurrence>\d+))?", text)
    if match is None or int(match["line"]) == 0:
        raise UsageError(f"'{text}' is no criterion", "write FILE:LINE, FILE:LINE:variable or FILE:LINE:variable@3")
    occurrence = int(match["occurrence"]) if match["occurrence"] else -1
    if occurrence == 0:
        raise UsageError(f"'{text}': occurrences count from 1")
    return Criterion(Statement(match["file"], int(match["line"])), match["variable"] or "", occurrence)


def find_events(story: Story, criterion: Criterion) -> NDArray[np.int64]:
    """The events of a criterion: those of one execution of its line, or of one access to the variable there.

    Raises UsageError when the run never reached it.
    """
    statement = _known(story, criterion.statement)
    events = story.events_of(statement)
    if not len(events):
        raise UsageError(f"the run never reached {criterion.statement.file}:{criterion.statement.line}")
    if criterion.variable:
        return _of_variable(story, events, criterion)
    return _pick(_executions(story.trace, events), criterion)


def _known(story: Story, wanted: Statement) -> Statement:
    """The statement as the program knows it: its file may be given by a last part of its path."""
    files = {s.file for s in story.statements}
    if wanted.file in files:
        return wanted
    matches = sorted(f for f in files if f.endswith("/" + wanted.file))
    if len(matches) > 1:
        raise UsageError(f"'{wanted.file}' could be {' or '.join(matches[:3])}", "write more of the path")
    if not matches:
        raise UsageError(f"no statement of '{wanted.file}' was captured", f"files: {', '.join(sorted(files)[:5])}")
    return Statement(matches[0], wanted.line)


def _of_variable(story: Story, events: NDArray[np.int64], criterion: Criterion) -> NDArray[np.int64]:
    """The chosen access to the variable; a write is preferred to a read where the line has both."""
    named = []
    for event in events.tolist():
        seen = story.observation(event)
        if seen is not None and seen.name == criterion.variable:
            named.append((event, seen.role))
    if not named:
        where = f"{criterion.statement.file}:{criterion.statement.line}"
        raise UsageError(f"`{criterion.variable}` is not used on {where}", "leave the variable out to see all of the line")
    written = [event for event, role in named if role == "written"] or [event for event, _ in named]
    return _pick([[event] for event in written], criterion)


def _executions(trace: Trace, events: NDArray[np.int64]) -> list[list[int]]:
    """A line's events grouped by execution: a new one starts where a site of the group comes again."""
    groups: list[list[int]] = []
    seen: set[int] = set()
    for event, site in zip(events.tolist(), trace.sites(events).tolist(), strict=True):
        if not groups or site in seen:
            groups.append([])
            seen = set()
        groups[-1].append(event)
        seen.add(site)
    return groups


def _pick(groups: list[list[int]], criterion: Criterion) -> NDArray[np.int64]:
    if criterion.occurrence > len(groups):
        where = f"{criterion.statement.file}:{criterion.statement.line}"
        raise UsageError(f"{where} was executed {len(groups)} times, not {criterion.occurrence}")
    chosen = groups[criterion.occurrence - 1 if criterion.occurrence > 0 else -1]
    return np.array(chosen, np.int64)


def compute(trace: Trace, criteria: Sequence[int], forward: bool = False, control: bool = True) -> Slice:
    """The slice from some references; a forward slice leaves those out that are no events."""
    references = np.unique(np.array(criteria, np.int64))
    if forward:
        return forward_slice(trace.plan, trace.columns, references[references > 0], control)
    return backward_slice(trace.plan, trace.columns, references, control)


@dataclass(slots=True)
class Lines:
    """A slice by statement: parallel arrays over the statements in it, the nearest first."""

    statements: list[Statement]
    depths: NDArray[np.int64]
    instances: NDArray[np.int64]
    events: list[NDArray[np.int64]]  # of each statement the nearest ones, in order of time


def by_line(story: Story, found: Slice) -> Lines:
    """Group a slice's events by statement."""
    events = found.events
    numbers = story.statement_numbers[story.trace.sites(events)]
    events, numbers = events[numbers >= 0], numbers[numbers >= 0]
    depths = found.depth_of(events).astype(np.int64)
    order = np.lexsort((events, depths, numbers))
    events, numbers, depths = events[order], numbers[order], depths[order]
    kept, starts, counts = np.unique(numbers, return_index=True, return_counts=True)
    nearest = [np.sort(events[s : s + min(n, EVENTS_A_LINE)]) for s, n in zip(starts, counts, strict=True)]
    ranks = np.lexsort((kept, depths[starts]))
    return Lines(
        [story.statements[kept[n]] for n in ranks], depths[starts][ranks], counts[ranks], [nearest[n] for n in ranks]
    )


def slice_part(story: Story, found: Slice, lines: Lines, forward: bool = False) -> list[dict[str, Any]]:
    """The part ``slice`` of a result (docs/json.md): the nearest lines with values and edges."""
    part = []
    rows = zip(lines.statements, lines.depths.tolist(), lines.instances.tolist(), lines.events, strict=True)
    for statement, depth, instances, events in list(rows)[:LINES]:
        part.append(
            {
                "file": statement.file,
                "line": statement.line,
                "depth": depth,
                "instances": instances,
                "values": line_values(story, events.tolist()),
                "edges": [] if forward else _edges(story, found, statement, events.tolist()),
            }
        )
    return part


def line_values(story: Story, events: Iterable[int]) -> list[dict[str, Any]]:
    """What events read and wrote, repetitions left out, the last ``VALUES_A_LINE`` of them."""
    values: list[dict[str, Any]] = []
    last: dict[tuple[str, str], str] = {}
    for event in events:
        seen = story.observation(event)
        if seen is None or last.get((seen.name, seen.role)) == seen.value:
            continue
        last[seen.name, seen.role] = seen.value
        values.append({"clock": story.trace.clock(event), **json_value(seen)})
    return values[-VALUES_A_LINE:]


def _edges(story: Story, found: Slice, statement: Statement, events: list[int]) -> list[dict[str, Any]]:
    """The edges from a line to the lines that it depends on, each once, with the value passed on."""
    edges: dict[tuple[Statement, str], dict[str, Any]] = {}
    for event in reversed(events):
        for target, kind in _reach(story, event + 1):
            place = story.statement(target)
            if place is None or place == statement or not found.event_depth[target]:
                continue
            key = (place, EDGE_NAMES[kind])
            if key not in edges and len(edges) < EDGES_A_LINE:
                seen = story.observation(target)
                named = {"name": seen.name, "value": seen.value} if seen else {"name": "", "value": None}
                edges[key] = {"to_file": place.file, "to_line": place.line, "kind": key[1], **named}
    return list(edges.values())


def _reach(story: Story, reference: int, hops: int = HOPS) -> Iterable[tuple[int, Edge]]:
    """The events that a node depends on, seen through cells and code without a place."""
    trace = story.trace
    for target, kind in dependences(trace.plan, trace.columns, reference):
        if target > 0 and (story.statement(target - 1) is not None or hops == 0):
            yield target - 1, kind
        elif hops:
            for event, inner in _reach(story, target, hops - 1):
                yield event, kind if inner is Edge.VALUE else inner


@dataclass(slots=True, frozen=True)
class Start:
    """Where a slice starts: its references, the event that stands for them (-1: none), and words for people."""

    references: Sequence[int]
    event: int
    text: str


def slice_findings(
    story: Story, subject: str, start: Start, forward: bool = False, control: bool = True
) -> tuple[Findings, Slice]:
    """The findings of ``whence slice``, lines ranked by their distance from the criterion; and the slice itself."""
    found = compute(story.trace, start.references, forward, control)
    lines = by_line(story, found)
    scores = {s: 1 / (1 + d) for s, d in zip(lines.statements, lines.depths.tolist(), strict=True)}
    evidence = {
        s: {"text": f"{_times(n)} in the slice, {_steps(d)} from the criterion"}
        for s, d, n in zip(lines.statements, lines.depths.tolist(), lines.instances.tolist(), strict=True)
    }
    result = Findings("slice", subject, rank(scores, evidence))
    result.parts["slice"] = slice_part(story, found, lines, forward)
    result.parts["criterion"] = criterion_part(story, start, forward)
    direction = "forward" if forward else "backward"
    result.summary.append(
        f"sliced {story.trace.events:,} events {direction}: {len(found.events):,} are in the slice, "
        f"on {len(lines.statements)} lines"
    )
    return result, found


def criterion_part(story: Story, start: Start, forward: bool = False) -> dict[str, Any]:
    """The part ``criterion`` of a result."""
    place = story.statement(start.event) if start.event >= 0 else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "direction": "forward" if forward else "backward",
        "text": start.text,
    }


def _times(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"


def _steps(depth: int) -> str:
    return "1 step" if depth == 1 else f"{depth} steps"
