"""The one kind of result that every technique returns.

A technique returns a ``Findings``: a ranking of statements with evidence, and the parts of its own beside it.
Reports (terminal, JSON, HTML) know nothing but this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, frozen=True, order=True)
class Statement:
    """A source line, the unit of ranking; ``file`` is relative to the subject's folder."""

    file: str
    line: int


@dataclass(slots=True)
class Entry:
    """A ranked statement. Ties share ``rank`` (best of the tie) and ``rank_worst`` (last of the tie)."""

    statement: Statement
    score: float
    rank: int
    rank_worst: int
    # JSON values; "text" is the sentence shown, "reasons" the same in parts, the strongest first
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def rank_average(self) -> float:
        """Mean rank of the tie."""
        return (self.rank + self.rank_worst) / 2


@dataclass(slots=True, frozen=True)
class Compared:
    """What a failing run printed and what was expected, from line ``first`` (from 1) on, around the first difference.

    ``more``: how many lines follow behind those of each. ``is_binary``: the lines are rows of bytes in hexadecimal.
    """

    first: int
    actual: tuple[str, ...]
    expected: tuple[str, ...]
    more: tuple[int, int] = (0, 0)
    is_binary: bool = False


@dataclass(slots=True)
class Symptom:
    """The point at which the failure shows.

    ``kind``: ``wrong-output``, ``missing-output``, ``extra-output``, ``wrong-status``, ``crash``, ``assertion``,
    ``timeout``, ``memory-error``. ``text`` is one sentence. ``clock`` and ``event`` point into the failing run's trace
    (-1: unknown). ``compared``: of a wrong output, for people to see; the sentence tells programs.
    """

    kind: str
    text: str
    statement: Statement | None = None
    clock: int = -1
    event: int = -1
    details: dict[str, Any] = field(default_factory=dict)
    compared: Compared | None = None


@dataclass(slots=True)
class Findings:
    """What a technique found out about one subject.

    ``remarks`` are details of a technique's own ranking; where several were combined (``brief``) they are counted
    rather than shown.
    """

    technique: str
    subject: str
    ranking: list[Entry] = field(default_factory=list)
    symptom: Symptom | None = None
    summary: list[str] = field(default_factory=list)  # lines such as "captured 14 modules, ran 212 cases (...)"
    parts: dict[str, Any] = field(default_factory=dict)  # the technique's own, JSON values only
    remarks: list[str] = field(default_factory=list)
    brief: bool = False
    warnings: list[str] = field(default_factory=list)  # what makes the result doubtful as a whole, in one line each


def rank(scores: dict[Statement, float], evidence: dict[Statement, dict[str, Any]] | None = None) -> list[Entry]:
    """Rank statements by descending score; equal scores share a rank range, listed by file and line."""
    ordered = sorted(scores, key=lambda s: (-scores[s], s))
    entries: list[Entry] = []
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and scores[ordered[end]] == scores[ordered[start]]:
            end += 1
        for statement in ordered[start:end]:
            notes = (evidence or {}).get(statement, {})
            entries.append(Entry(statement, scores[statement], start + 1, end, notes))
        start = end
    return entries


def plural(count: int, noun: str) -> str:
    """``1 case``, ``2,000 cases``, as sentences about findings have it."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
