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

from whence.dependence.slices import Lines, Start, by_line, compute, place_of
from whence.errors import UsageError
from whence.findings import Findings, Statement, plural, rank
from whence.subject.story import EDGE_NAMES, Story, json_value
from whence.trace.dependence import Edge
from whence.trace.slicing import Slice, dependences

VALUES_A_LINE = 20
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


# ---- Parts ---------------------------------------------------------------------------------------------------------


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


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _steps(depth: int) -> str:
    return "1 step" if depth == 1 else f"{depth} steps"
