"""Where a slice starts: at the symptom, or at a criterion ``FILE:LINE[:variable][@occurrence]``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.dependence.slices import Start
from whence.errors import UsageError
from whence.findings import Statement
from whence.subject.trace_reader import TraceReader

LONG = "give a smaller input (`whence reduce`), or raise --trace-limit"


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


def start_at(reader: TraceReader, criterion: Criterion) -> Start:
    """The start of a slice at one execution of a line, or at one access to a variable there.

    Raises UsageError where the program has no such place, or the run never reached it.
    """
    statement = known_statement(reader.statements, criterion.statement)
    events = reader.events_of(statement)
    is_end = reader.trace.is_end
    if not len(events) and is_end:
        raise UsageError(f"the end of the run that is kept never reached {criterion.place}", LONG)
    if not len(events):
        raise UsageError(f"the run never reached {criterion.place}", "slice another run with --case or --passing")
    if criterion.occurrence > 0 and is_end:
        raise UsageError(f"only the end of the run is kept: time {criterion.occurrence} may be before it", LONG)
    if criterion.variable:
        groups = _of_variable(reader, events, criterion)
        what = f"`{criterion.variable}`, "
    else:
        groups = _executions(reader, events)
        what = ""
    if criterion.occurrence > len(groups):
        raise UsageError(f"{criterion.place} was reached {times(len(groups))}, not {criterion.occurrence}")
    number = criterion.occurrence if criterion.occurrence > 0 else len(groups)
    chosen = groups[number - 1]
    which = "the last time" if is_end else _which(number, len(groups))
    return Start([event + 1 for event in chosen], chosen[-1], f"{what}{which}")


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


def _of_variable(reader: TraceReader, events: NDArray[np.int64], criterion: Criterion) -> list[list[int]]:
    """The accesses to the variable, each on its own; only writes where the line has both."""
    named: list[tuple[int, str]] = []
    others: dict[str, None] = {}
    for event in events.tolist():
        seen = reader.observation(event)
        if seen is not None and seen.name == criterion.variable:
            named.append((event, seen.role))
        elif seen is not None:
            others[seen.name] = None
    if not named:
        hint = f"there: {', '.join(list(others)[:8])}" if others else "leave the variable out to see all of the line"
        raise UsageError(f"`{criterion.variable}` is not used on {criterion.place}", hint)
    return [[event] for event, role in named if role == "written"] or [[event] for event, _ in named]


def _executions(reader: TraceReader, events: NDArray[np.int64]) -> list[list[int]]:
    """A line's events grouped by execution: a new one starts where a site of the group comes again."""
    groups: list[list[int]] = []
    seen: set[int] = set()
    for event, site in zip(events.tolist(), reader.sites(events).tolist(), strict=True):
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


def times(count: int) -> str:
    """``once``, ``2 times``."""
    return "once" if count == 1 else f"{count:,} times"
