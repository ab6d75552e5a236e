"""Edits of the first statements, as rules of these statements.

A rule changes what an instruction does. Code that is missing has no instruction, and another call, member, string or
type is no change of one, so no rule repairs such a fault at its place. There the source is edited instead: all changes
that ``whence fix`` knows of what stands on a line (``techniques/bugfix/candidates.py``), the likeliest first. Hundreds
are compiled into one build (``subject/candidate_edits.py``), and what repairs all failing cases and breaks none of the
passing ones that come there is a rule. Such edits fit the cases by chance more often than rules do: they are asked
where no rule is clean; those that no passing case comes to count for less, those that mend some cases alone for
nothing. A statement that mends failing cases and breaks others may lack the condition under which it is to be done:
where nothing else is found, conditions are tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile, zip_longest
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.findings import Entry, Statement, plural
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, SourceEdit, edited_line
from whence.subject.candidate_edits import CandidateRuns, Sieved
from whence.techniques.bugfix.candidates import FileCandidates, file_candidates, ordered
from whence.techniques.bugfix.knowledge import known
from whence.techniques.bugfix.likelihood import fixes_made
from whence.techniques.bugfix.right_values import right_assignments

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

STATEMENTS = 120  # of the ranking so far, the first ones
RIGHT, PLACES = 12, 60  # values that would have been right, and places where each is assigned
OF_STATEMENT = 3  # edits of a statement that become rules, the likeliest
ENOUGH = 60  # edits with which all cases pass that end the search
AGAIN, SECONDS = 1.5, 5.0  # times that the first of them took, and seconds, that the search goes on for more
ALMOST, CONDITIONS = 12, 120  # statements that lack a condition, and conditions that are tried with each
UNGUARDED = 0.65  # of the time, after which conditions are tried where there is such a statement, and nothing better
UNCHECKED = 0.99  # score of an edit that no passing case comes to
CLEAN = 0.999  # score of a rule that repairs all failing cases and breaks none
FAMILY = "edit"
_PUT_IN = (Kind.BEFORE, Kind.BEHIND)

Right = tuple[Statement, str, str]  # where a value would have been right, of what, and the value


@dataclass(slots=True)
class TriedEdits:
    """What came of edits: ``rows`` are rules as the part ``rules`` lists them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    tried: int = 0
    statements: int = 0  # that were to be tried
    passing: int = 0  # edits with which all cases pass

    @property
    def told(self) -> str:
        """What was done, in a sentence."""
        what = f"{plural(self.tried, 'edit')} of the source at the first {plural(self.statements, 'statement')}"
        repairs = f"{self.passing or 'none'} {'repairs' if self.passing < 2 else 'repair'} all failing cases tried"
        return f"tried {what}: {repairs} without breaking a passing one"


def tried_edits(
    subject: Subject,
    runs: Runs,
    ranking: Sequence[Entry],
    rows: Sequence[int],
    deadline: float,
    made: Mapping[str, int],
    pairs: Iterable[Mapping[str, Any]] = (),
) -> TriedEdits:
    """Try edits of the first statements of a ranking on the failing cases ``rows`` and all passing ones.

    First such as give a value that would have been right (the part ``pairs``) to its place, anywhere in the function.
    ``made``: how often fixes of each kind were made. Until ``deadline`` (of ``time.monotonic``), or until enough of
    them have passed.
    """
    right = right_assignments(pairs)[:RIGHT]
    changed = set(subject.places.changed_files())
    named = [*(at.file for at, _, _ in right), *(entry.statement.file for entry in ranking[:STATEMENTS])]
    files = file_candidates(subject, [name for name in named if name not in changed])
    all_statements = dict.fromkeys(subject.places.statements)
    statements = [(e.statement.file, e.statement.line) for e in ranking[:STATEMENTS] if e.statement.file in files]
    sources = {name: file.source for name, file in files.items()}
    tried, search = TriedEdits(statements=len(statements)), _Search(len(rows), deadline)
    with CandidateRuns(subject, runs, deadline) as candidates:
        edits = _until(deadline, chain(_assignments(files, right), ordered(files, statements, made)))
        for batch in candidates.sieve(sources, search.noted(edits), rows):
            search.take(batch)
            if search.is_over:
                break
        if not search.found:
            under = _until(deadline, guarded(files, search.partly))
            for batch in candidates.sieve(sources, search.noted(under), rows):
                search.take(batch)
        tried.tried = candidates.count.tried
    tried.passing = len(search.found)
    tried.rows = list(_rows(runs, sources, all_statements, search, rows))
    return tried


def known_fixes(folder: Path, files: Sequence[Path] | None = None) -> Counter[str]:
    """How often fixes of each kind were made, by what is shipped and lies in the subject's folder, or by some files.

    Raises UsageError where a file cannot be used.
    """
    return fixes_made(known(folder, files))


class _Search:
    """What came of edits so far: ``found`` let all cases pass; to those ``unchecked`` no passing case comes.

    ``partly`` are statements put in that mend failing cases, and with which some still fail.
    """

    def __init__(self, failing: int, deadline: float) -> None:
        self._failing, self._began, self._deadline = failing, time.monotonic(), deadline
        self._first = 0.0  # seconds until an edit was found
        self._places: dict[SourceEdit, int] = {}
        self.found: list[Sieved] = []
        self.unchecked: list[Sieved] = []
        self.partly: list[Sieved] = []

    def noted(self, edits: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
        """The edits, whose places among all are kept."""
        for edit in edits:
            self._places[edit] = len(self._places)
            yield edit

    def likeliest_first(self) -> list[tuple[float, Sieved]]:
        """What lets all cases pass, each with its cost: its size, and the logarithm of how many came before it."""
        found = [(log1p(self._places[one.edit]) + one.edit.size, one) for one in (*self.found, *self.unchecked)]
        return sorted(found, key=lambda one: (not one[1].ran, one[0], self._places[one[1].edit]))

    def take(self, batch: Sequence[Sieved]) -> None:
        """Take note of what mended a failing case."""
        passing = [one for one in batch if one.passes(self._failing)]
        self.found += [one for one in passing if one.ran]
        self.unchecked += [one for one in passing if not one.ran]
        self.partly += lacking(batch, self._failing)
        self._first = self._first or (self._taken if self.found else 0.0)

    @property
    def _taken(self) -> float:
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        """Whether to try no more statements: enough was found, or conditions are to have the rest of the time."""
        if self.found:
            return len(self.found) >= ENOUGH or self._taken > self._first + max(SECONDS, AGAIN * self._first)
        share = self._taken / max(self._deadline - self._began, 1e-9)
        return is_to_guard(self.partly, self._failing, share)


def lacking(batch: Sequence[Sieved], failing: int) -> list[Sieved]:
    """Statements put in that mend some of so many failing cases, and break others or leave some.

    They may lack a condition.
    """
    put_in = (one for one in batch if len(one.edit.parts) == 1 and one.edit.parts[0].kind in _PUT_IN)
    return [one for one in put_in if one.broken or len(one.repaired) < failing]


def is_to_guard(partly: Sequence[Sieved], failing: int, share: float) -> bool:
    """Whether the rest of the time is for conditions, where nothing better was found in a share of it."""
    return share > UNGUARDED and any(len(one.repaired) == failing for one in partly)


def guarded(files: Mapping[str, FileCandidates], partly: Sequence[Sieved]) -> Iterator[SourceEdit]:
    """Statements that mend most under conditions: the likely ones of each statement before the others of any."""
    statements = [one.edit for one in sorted(partly, key=lambda one: -len(one.repaired))]
    open_ = (edit for edit in statements if next(files[edit.file].guarded(edit), None) is not None)
    ways = [islice(files[edit.file].guarded(edit), CONDITIONS) for edit in islice(open_, ALMOST)]
    return (edit for edits in zip_longest(*ways) for edit in edits if edit is not None)


def _assignments(files: Mapping[str, FileCandidates], right: Sequence[Right]) -> Iterator[SourceEdit]:
    """The edits that assign right values, near where they would have been right, each once."""
    seen = set[tuple[str, object]]()
    for at, name, value in right:
        edits = files[at.file].assigning(at.line, name, value) if at.file in files else iter(())
        for edit in islice(edits, PLACES):
            if (edit.file, edit.parts) not in seen:
                seen.add((edit.file, edit.parts))
                yield edit


def _until(deadline: float, edits: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
    """The edits that are made in time."""
    return takewhile(lambda _: time.monotonic() < deadline, edits)


def has_clean(rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of some rules repairs all failing cases, and breaks none of the passing ones that come there."""
    return any(row["score"] >= CLEAN and row["checked"] and not row["doubt"] for row in rules)


# ---- Rules -----------------------------------------------------------------------------------------------------------


def _rows(
    runs: Runs,
    sources: Mapping[str, CSource],
    known: Mapping[Statement, object],
    search: _Search,
    rows: Sequence[int],
) -> Iterator[dict[str, Any]]:
    """The edits as rules, the likeliest first: of each statement the first ones that one line shows."""
    counts: dict[Statement, int] = {}
    for cost, one in search.likeliest_first():
        if (line := edited_line(sources[one.edit.file], one.edit)) is None:
            continue
        statement = Statement(one.edit.file, line[0])
        if statement not in known or counts.get(statement, 0) >= OF_STATEMENT:
            continue
        counts[statement] = counts.get(statement, 0) + 1
        before, after = (text.decode("utf-8", "replace").strip() for text in line[1:])
        yield {
            "file": statement.file,
            "line": statement.line,
            "rule": _words(one.edit),
            "before": before,
            "after": after,
            "f2p": len(one.repaired),
            "p2f": 0,
            "failing": len(rows),
            "checked": one.ran,
            "unknown": 0,
            "score": 1.0 if one.ran else UNCHECKED,
            "doubt": "",
            "family": FAMILY,
            "cost": round(cost, 3),
            "cases": [runs.tested[row].case.name for row in one.repaired],
            "broken": [],
        }


def _words(edit: SourceEdit) -> str:
    """What an edit does, in words."""
    (part,), ((before, after),) = edit.parts, edit.changes
    old, new = (text.decode("utf-8", "replace") for text in (before, after))
    if part.kind in _PUT_IN:
        return f"`{new}` put in {'before' if part.kind is Kind.BEFORE else 'behind'} it"
    if part.kind is Kind.GUARD:
        return f"done only if `{part.text.decode('utf-8', 'replace')}`"
    if not (old and new):
        return f"`{new}` put in" if new else f"`{old}` left out"
    return f"`{new}` instead of `{old}`"
