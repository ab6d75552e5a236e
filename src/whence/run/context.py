"""What stands beside a symptom in every report: the open calls, standard error, and the wrong output beside the right.

All is bounded: calls and lines of standard error to the first and the last ones, with how many lie between
(``{"first", "left_out", "last"}``), outputs to the lines around the first difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whence.findings import Compared
from whence.program.model import Location
from whence.run.binary import ROW, is_binary, rows
from whence.run.compare import Difference
from whence.run.evidence import Evidence
from whence.run.outcome import Outcome
from whence.run.point import statement_of
from whence.run.result import RunResult

LINES = (4, 8)  # of standard error that are kept: the first and the last ones
CALLS = (12, 4)
WIDTH = 200  # characters of a line
AROUND = (3, 6)  # lines of outputs before the first wrong one, and from there on


def errors_of(stderr: bytes) -> dict[str, Any]:
    """The first and last lines of standard error, as text."""
    lines = stderr.rstrip(b"\n").split(b"\n") if stderr.strip() else []
    return _bounded([line[: 4 * WIDTH].decode(errors="replace")[:WIDTH] for line in lines], LINES)


def compared_of(result: RunResult, outcome: Outcome) -> Compared | None:
    """The outputs around the first difference; None where no output was judged wrong."""
    expected = result.case.expected
    if outcome.difference is None or expected is None:
        return None
    right, written = expected.text(outcome.stream), result.text(outcome.stream)
    if is_binary(written, outcome.difference.actual) or is_binary(right or b"", outcome.difference.expected):
        return _compared_bytes(written, right or b"", outcome.difference)
    before, behind = AROUND
    numbers = (
        written.count(b"\n", 0, outcome.difference.actual),
        (right or b"").count(b"\n", 0, outcome.difference.expected),
    )
    back = min(before, *numbers)
    shown = [
        _lines(text, number - back, back + behind)
        for text, number in zip((written, right or b""), numbers, strict=True)
    ]
    return Compared(numbers[0] - back + 1, shown[0][0], shown[1][0], (shown[0][1], shown[1][1]))


def _compared_bytes(written: bytes, right: bytes, difference: Difference) -> Compared:
    """Outputs that are no text, in rows of bytes."""
    before, behind = AROUND
    first = max(0, min(difference.actual, difference.expected) // ROW - before)
    shown = [rows(data, first, before + behind) for data in (written, right)]
    more = [max(0, -(-len(data) // ROW) - first - before - behind) for data in (written, right)]
    return Compared(first + 1, shown[0], shown[1], (more[0], more[1]), is_binary=True)


def _lines(text: bytes, first: int, count: int) -> tuple[tuple[str, ...], int]:
    """So many lines from number ``first`` (from 0) on, and how many follow."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    shown = tuple(line[: 4 * WIDTH].decode(errors="replace")[:WIDTH] for line in lines[first : first + count])
    return shown, max(0, len(lines) - first - count)


def stack_at(evidence: Evidence, event: int, folder: Path) -> dict[str, Any]:
    """The open calls at an event (-1: at the end of the run), the innermost first: ``function``, ``file``, ``line``.

    Files are relative to ``folder``; they are null, and lines too, where the place is not known.
    """
    columns = evidence.columns
    segment = evidence.segment_of(event) if event >= 0 else evidence.trace.segments - 1
    segments: list[int] = []
    while segment >= 0:
        segments.append(segment)
        segment = int(columns.frames[int(columns.segments[segment]["frame"])]["call"])
    places = {segments[0]: evidence.trace.location(event)} if event >= 0 else {}
    found = _bounded(segments, CALLS)
    for part in ("first", "last"):
        found[part] = [_call(evidence, s, places.get(s) or _place(evidence, s), folder) for s in found[part]]
    return found


def _place(evidence: Evidence, segment: int) -> Location | None:
    """Where a segment's call, or what ends it, stands."""
    event = evidence.last_event(segment)
    return evidence.trace.location(event) if event >= 0 else None


def _call(evidence: Evidence, segment: int, location: Location | None, folder: Path) -> dict[str, Any]:
    frame = evidence.columns.frames[int(evidence.columns.segments[segment]["frame"])]
    function = evidence.trace.program.functions[int(frame["function"])].name
    at = statement_of(location, folder)
    return {"function": function, "file": at.file if at else None, "line": at.line if at else None}


def _bounded(items: Sequence[Any], bounds: tuple[int, int]) -> dict[str, Any]:
    first, last = bounds
    if len(items) <= first + last:
        return {"first": list(items), "left_out": 0, "last": []}
    return {"first": list(items[:first]), "left_out": len(items) - first - last, "last": list(items[-last:])}
