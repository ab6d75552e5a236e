"""Where a slice starts: at the symptom, or at a criterion ``FILE:LINE[:variable][@occurrence]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.dependence.slices import Start
from whence.errors import UsageError
from whence.findings import Statement
from whence.subject.trace_reader import TraceReader
from whence.trace.sites import executions

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
    if reader.trace.windows > 1:
        return _in_windows(reader, criterion, statement)
    events = reader.events_of(statement)
    is_end = reader.trace.is_end
    if not len(events) and is_end:
        raise UsageError(f"the end of the run that is kept never reached {criterion.place}", LONG)
    if not len(events):
        raise UsageError(f"the run never reached {criterion.place}", "slice another run with --case or --passing")
    if criterion.occurrence > 0 and is_end:
        raise UsageError(f"only the end of the run is kept: time {criterion.occurrence} may be before it", LONG)
    others: dict[str, None] = {}
    if criterion.variable:
        groups = _of_variable(reader, events, criterion.variable, others)
    else:
        groups = _Line(events, reader.sites(events)).executions(len(reader.statement_numbers))
    if not groups:
        raise _unused(criterion, others)
    if criterion.occurrence > len(groups):
        raise UsageError(f"{criterion.place} was reached {times(len(groups))}, not {criterion.occurrence}")
    number = criterion.occurrence if criterion.occurrence > 0 else len(groups)
    chosen = groups[number - 1]
    return _start(criterion, chosen, "the last time" if is_end else _which(number, len(groups)))


def _start(criterion: Criterion, chosen: list[int], which: str) -> Start:
    what = f"`{criterion.variable}`, " if criterion.variable else ""
    return Start([event + 1 for event in chosen], chosen[-1], f"{what}{which}")


def _in_windows(reader: TraceReader, criterion: Criterion, statement: Statement) -> Start:
    """The start of a slice of a run that is read in windows. An execution may begin in one and end in the next."""
    others: dict[str, None] = {}
    find = _last if criterion.occurrence < 0 else _numbered
    found = find(reader, criterion, statement, others)
    if found is None and others:
        raise _unused(criterion, others)
    if found is None:
        raise UsageError(f"the run never reached {criterion.place}", "slice another run with --case or --passing")
    return found


def _last(reader: TraceReader, criterion: Criterion, statement: Statement, others: dict[str, None]) -> Start | None:
    """The last execution of a line, or access to a variable there."""
    behind, groups = _Line(), list[list[int]]()
    for _ in reader.trace.windows_shown(backward=True):
        events = reader.events_of(statement)
        if criterion.variable and len(events):
            groups = _of_variable(reader, events, criterion.variable, others)
        elif len(events):
            behind = _Line(events, reader.sites(events)) + behind
            groups = behind.executions(len(reader.statement_numbers))[-2:]
        if len(groups) > 1 or (groups and criterion.variable):
            break
    return _start(criterion, groups[-1], "the last time") if groups else None


def _numbered(reader: TraceReader, criterion: Criterion, statement: Statement, others: dict[str, None]) -> Start | None:
    """The execution of a line, or access to a variable there, that has the number. Raises UsageError for fewer."""
    passed, begun = 0, _Line()
    for _ in reader.trace.windows_shown():
        events = reader.events_of(statement)
        if not len(events):
            continue
        if criterion.variable:
            groups = _of_variable(reader, events, criterion.variable, others)
            ended = len(groups)
        else:
            line = begun + _Line(events, reader.sites(events))
            groups = line.executions(len(reader.statement_numbers))
            ended, begun = len(groups) - 1, line.last(len(groups[-1]))
        if criterion.occurrence <= passed + ended:
            return _start(criterion, groups[criterion.occurrence - passed - 1], f"time {criterion.occurrence:,}")
        passed += ended
    if begun.events.size and criterion.occurrence == passed + 1:
        return _start(criterion, begun.events.tolist(), f"time {criterion.occurrence:,}")
    if reached := passed + (begun.events.size > 0):
        raise UsageError(f"{criterion.place} was reached {times(reached)}, not {criterion.occurrence}")
    return None


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


def _of_variable(
    reader: TraceReader, events: NDArray[np.int64], variable: str, others: dict[str, None]
) -> list[list[int]]:
    """The accesses to the variable, each on its own; only writes where the line has both.

    Notes in ``others`` what else is used.
    """
    named: list[tuple[int, str]] = []
    for event in events.tolist():
        seen = reader.observation(event)
        if seen is not None and seen.name == variable:
            named.append((event, seen.role))
        elif seen is not None:
            others[seen.name] = None
    return [[event] for event, role in named if role == "written"] or [[event] for event, _ in named]


def _unused(criterion: Criterion, others: Iterable[str]) -> UsageError:
    """What is wrong with a variable that its line does not use."""
    names = ", ".join(list(others)[:8])
    hint = f"there: {names}" if names else "leave the variable out to see all of the line"
    return UsageError(f"`{criterion.variable}` is not used on {criterion.place}", hint)


@dataclass(slots=True)
class _Line:
    """Events of a line in order of time, and their sites."""

    events: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    sites: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __add__(self, later: _Line) -> _Line:
        return _Line(np.concatenate([self.events, later.events]), np.concatenate([self.sites, later.sites]))

    def last(self, count: int) -> _Line:
        """The last events."""
        return _Line(self.events[-count:], self.sites[-count:])

    def executions(self, sites: int) -> list[list[int]]:
        """The events of each execution: a new one starts where a site of the execution comes again.

        ``sites``: how many the program has.
        """
        starts = np.zeros(len(self.sites), np.bool_)
        executions(np.ascontiguousarray(self.sites), np.zeros(sites, np.int32), starts)
        return [part.tolist() for part in np.split(self.events, np.flatnonzero(starts)[1:])]


def _which(number: int, count: int) -> str:
    """Which of several executions is meant."""
    if count == 1:
        return "reached once"
    return f"the last of {count:,} times" if number == count else f"time {number:,} of {count:,}"


def times(count: int) -> str:
    """``once``, ``2 times``."""
    return "once" if count == 1 else f"{count:,} times"
