"""Edits of the first statements, as rules of these statements.

A rule changes what an instruction does. Code that is missing has no instruction, and another call, member, string or
type is no change of one, so no rule repairs such a fault at its place. There the source is edited instead: all changes
that ``whence fix`` knows of what stands on a line (``techniques/bugfix/candidates.py``), the likeliest first, and
conditions that were seen to tell failing runs from passing ones (``observed_conditions.py``, beside it). Hundreds are
compiled into one build (``subject/candidate_edits.py``), and what repairs all failing cases and breaks none of the
passing ones that come there is a rule. Such edits fit the cases by chance more often than rules do: they are asked
where no rule is clean; those that no passing case comes to count for less, those that mend some cases alone for
nothing. A statement that mends failing cases and breaks others may lack the condition under which it is to be done:
where nothing else is found, conditions are tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import log1p, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.diagnosis.edit_trials import EditTrials
from whence.diagnosis.edits_alone import FIRST_ALONE, EditsAlone, end_of_first
from whence.diagnosis.likely_edits import likely_edits
from whence.findings import Entry, Statement, plural
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, SourceEdit, edited_line
from whence.subject.alike import others_alike
from whence.subject.candidate_edits import CandidateRuns, Sieved
from whence.techniques.bugfix.candidates import FileCandidates, file_candidates
from whence.techniques.bugfix.knowledge import known
from whence.techniques.bugfix.likelihood import fixes_made
from whence.techniques.bugfix.novelty import size
from whence.techniques.bugfix.right_values import right_assignments
from whence.techniques.bugfix.suspects import Suspects
from whence.techniques.rules.trials import FURTHER

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

STATEMENTS = 120  # of the ranking so far, the first ones
RIGHT, PLACES = 12, 60  # values that would have been right, and places where each is assigned
POINTED = 60  # edits of a statement that is pointed at, tried where a rule is sure
FEW_TYPES = 4  # other types of what is declared, tried where a rule is clean
OF_STATEMENT = 3  # edits of a statement that become rules, the likeliest
PLAIN = ("0", "1")  # values that are assigned everywhere, as named ones are
MAKING = 0.4  # of the time for edits that the text asks for, in which those are made that name what nothing names
UNCHECKED = 0.99  # score of an edit that no passing case comes to
CLEAN = 0.999  # score of a rule that repairs all failing cases and breaks none
FAMILY = "edit"

Right = tuple[Statement, str, str]  # where a value would have been right, of what, and the value


@dataclass(slots=True)
class TriedEdits:
    """What came of edits: ``rows`` are rules as the part ``rules`` lists them."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    tried: int = 0
    statements: int = 0  # that were to be tried
    passing: int = 0  # edits with which all cases pass, to which passing ones come
    apart: int = 0  # ... and those to which none of these comes
    refuted: int = 0  # ... and those with which a test of another program fails

    @property
    def told(self) -> str:
        """What was done, in a sentence."""
        if not self.tried:
            return f"no edit of the source at the first {plural(self.statements, 'statement')} was tried in its time"
        what = f"{plural(self.tried, 'edit')} of the source at the first {plural(self.statements, 'statement')}"
        repairs = f"{self.passing or 'none'} {'repairs' if self.passing < 2 else 'repair'} all failing cases tried"
        does = "does" if self.apart == 1 else "do"
        apart = f", and {self.apart} {does} where no passing case comes" if self.apart else ""
        others = f"; with {self.refuted:,} more a test of another program fails" if self.refuted else ""
        return f"tried {what}: {repairs} without breaking a passing one{apart}{others}"


def tried_edits(
    subject: Subject,
    runs: Runs,
    ranking: Sequence[Entry],
    rows: Sequence[int],
    deadline: float,
    made: Mapping[str, int],
    pairs: Iterable[Mapping[str, Any]] = (),
    found_before: bool = False,
    pointed: Sequence[Statement] = (),
) -> TriedEdits:
    """Try edits of the first statements of a ranking on the failing cases ``rows`` and all passing ones.

    Those that are ``pointed`` at come before the others. First a few that give a variable a wider type. Then such as
    give a value that would have been right (the part ``pairs``) to its place, anywhere in the function: they fit the
    cases, so they do not end the search, and are doubtful but for values that are often assigned.
    What passes is run on other failing cases, too, and what does not repair these counts for less.
    ``made``: how often fixes of each kind were made. ``found_before``: a rule is clean, so it is to end soon.
    Until ``deadline`` (of ``time.monotonic``), or until enough of them have passed.
    """
    right = right_assignments(pairs)[:RIGHT]
    suspects = _suspects(subject, ranking, made, pointed, [at.file for at, _, _ in right])
    sources, fitted = suspects.sources, dict(_assignments(suspects.files, right))
    alone = EditsAlone(subject, runs, sources)
    wider = _alone(alone, list(islice(suspects.wider_types(), FIRST_ALONE)), end_of_first(deadline), runs, rows)
    further = others_alike(runs, rows, FURTHER)
    trials = EditTrials(
        rows,
        deadline,
        counts=lambda one: one.ran > 0 and one.edit not in fitted and not one.unrepaired,
        doubts=lambda one: one.unrepaired > 0,
        found_before=found_before,
    )
    with (
        likely_edits(subject, runs, suspects, rows, deadline) as likely,
        CandidateRuns(subject, runs, deadline, further) as candidates,
    ):
        others = (edit for edit in likely.edits if edit not in fitted)
        trials.run(candidates, sources, chain(fitted, others), suspects.files, likely.conditions)
        tried = alone.tried + candidates.count.tried
    found = wider + likeliest_first(trials, dict.fromkeys(fitted, len(trials.places)) | likely.places, sources)
    doubtful = {
        edit for edit, value in fitted.items() if not (value in PLAIN or value.isidentifier())
    } - likely.places.keys()
    return replace(_told(subject, runs, suspects, found, tried, doubtful, rows), refuted=trials.refuted)


def edits_asked_for(
    subject: Subject,
    runs: Runs,
    ranking: Sequence[Entry],
    rows: Sequence[int],
    deadline: float,
    made: Mapping[str, int],
    pointed: Sequence[Statement] = (),
) -> TriedEdits:
    """Try only those edits that the text of the files asks for (``contradictions.py``, ``unused_names.py``, ...).

    There are few, mostly none. Where one lets all cases pass, the cases and the text say the same, which no rule has.
    Behind them come the likeliest at the statements that are ``pointed`` at.
    """
    suspects = _suspects(subject, ranking, made, pointed)
    first = replace(suspects, statements=[at for at in suspects.statements if Statement(*at) in pointed])
    alone = EditsAlone(subject, runs, suspects.sources)
    types = _alone(alone, list(islice(suspects.other_types(), FEW_TYPES)), end_of_first(deadline), runs, rows)
    making = time.monotonic() + MAKING * (deadline - time.monotonic())
    unused = (edit for edit in suspects.naming_unused(making) if suspects.files[edit.file].is_asked_for(edit))
    edits = list(dict.fromkeys(chain(suspects.asked_for(), unused, islice(first.edits(), POINTED * len(pointed)))))
    if not edits:
        return _told(subject, runs, suspects, types, alone.tried, (), rows)
    further, trials = others_alike(runs, rows, FURTHER), EditTrials(rows, deadline, found_before=True)
    with CandidateRuns(subject, runs, deadline, further) as candidates:
        trials.run(candidates, suspects.sources, edits, suspects.files)
        tried = alone.tried + candidates.count.tried
    found = types + likeliest_first(trials, {}, suspects.sources)
    return _told(subject, runs, suspects, found, tried, (), rows)


def _alone(
    alone: EditsAlone, edits: Sequence[SourceEdit], end: float, runs: Runs, rows: Sequence[int]
) -> list[tuple[float, Sieved]]:
    """The edits with which all cases pass, each built by itself, with their costs."""
    passing = alone.passing(edits, end) if edits else ()
    return [(float(size(alone.sources[e.file], e)), Sieved(e, tuple(rows), ran=len(runs.passing))) for e in passing]


def _suspects(
    subject: Subject,
    ranking: Sequence[Entry],
    made: Mapping[str, int],
    pointed: Sequence[Statement],
    further: Sequence[str] = (),
) -> Suspects:
    """What is ``pointed`` at and the first statements of a ranking, with their files and ``further`` ones, but for what
    was changed since.
    """
    changed = set(subject.places.changed_files())
    order = list(dict.fromkeys([*pointed, *(entry.statement for entry in ranking)]))
    named = [*further, *(at.file for at in order[:STATEMENTS])]
    files = file_candidates(subject, [name for name in named if name not in changed])
    places = [(at.file, at.line) for at in order]
    first = [at for at in places[:STATEMENTS] if at[0] in files]
    return Suspects(files, first, made, places[STATEMENTS:])


def likeliest_first(
    trials: EditTrials, places: Mapping[SourceEdit, int], sources: Mapping[str, CSource]
) -> list[tuple[float, Sieved]]:
    """The edits with which all cases pass, each with its cost: its size, and the logarithm of how many are likelier.

    Those under conditions have no place among the others but the one at which they were made. Edits that no passing
    case comes to are the last.
    """
    known = {**trials.places, **places}
    edits = [(size(sources[one.edit.file], one.edit), one) for one in trials.passing]
    found = [(tokens + log1p(known[one.edit]), one) for tokens, one in edits]
    return sorted(found, key=lambda one: (not one[1].ran, one[0], trials.places[one[1].edit]))


def known_fixes(folder: Path, files: Sequence[Path] | None = None) -> Counter[str]:
    """How often fixes of each kind were made, by what is shipped and lies in the subject's folder, or by some files.

    Raises UsageError where a file cannot be used.
    """
    return fixes_made(known(folder, files))


def _assignments(files: Mapping[str, FileCandidates], right: Sequence[Right]) -> Iterator[tuple[SourceEdit, str]]:
    """The edits that assign right values, near where they would have been right, each with its value."""
    for at, name, value in right:
        if at.file in files:
            yield from ((edit, value) for edit in islice(files[at.file].assigning(at.line, name, value), PLACES))


def has_clean(rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of some rules repairs all failing cases, and breaks none of the passing ones that come there."""
    return any(row["score"] >= CLEAN and row["checked"] and not row["doubt"] for row in rules)


def has_sure(rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of some rules is clean and does more than to leave something out.

    Cases that show what is wrong often pass without all of that code: such changes are plausible, and rarely the fix
    (Qi, Long, Achour, Rinard: An analysis of patch plausibility and correctness, 2015).
    """
    return has_clean(row for row in rules if not row.get("takes_away"))


def is_checked(rule: Mapping[str, Any]) -> bool:
    """Whether a rule is an edit that nothing speaks against, and to which passing cases come."""
    return bool(rule["family"] == FAMILY and rule["checked"] and not rule["doubt"])


def best_edits(rules: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The edits among rules that are checked, and that no rule without doubt is better than."""
    best = max((rule["score"] for rule in rules if not rule["doubt"]), default=0.0)
    return [rule for rule in rules if is_checked(rule) and rule["score"] >= min(best, CLEAN)]


# ---- Rules -----------------------------------------------------------------------------------------------------------


def _told(
    subject: Subject,
    runs: Runs,
    suspects: Suspects,
    found: Sequence[tuple[float, Sieved]],
    tried: int,
    doubtful: Collection[SourceEdit],
    rows: Sequence[int],
) -> TriedEdits:
    """What is told of the edits with which all cases pass, each with its cost."""
    repairing = [one.ran > 0 for _, one in found if not one.unrepaired]
    listed = list(_rows(subject, runs, suspects, found, doubtful, rows)) if found else []
    return TriedEdits(listed, tried, len(suspects.statements), sum(repairing), len(repairing) - sum(repairing))


def _rows(
    subject: Subject,
    runs: Runs,
    suspects: Suspects,
    found: Sequence[tuple[float, Sieved]],
    doubtful: Collection[SourceEdit],
    rows: Sequence[int],
) -> Iterator[dict[str, Any]]:
    """The edits as rules, the likeliest first: of each statement the first ones that one line shows."""
    sources = suspects.sources
    entries = (Statement(*at) for at in suspects.statements)  # of tables, which are no code
    known = {*subject.places.statements, *entries}
    counts: dict[Statement, int] = {}
    for cost, one in found:
        if (line := edited_line(sources[one.edit.file], one.edit)) is None:
            continue
        statement = Statement(one.edit.file, line[0])
        is_asked = suspects.files[one.edit.file].is_asked_for(one.edit)
        is_told = statement in known or is_asked or not one.edit.is_choice  # an empty block is no statement
        if not is_told or counts.get(statement, 0) >= OF_STATEMENT:
            continue
        counts[statement] = counts.get(statement, 0) + 1
        before, after = (text.decode("utf-8", "replace").strip() for text in line[1:])
        yield {
            "file": statement.file,
            "line": statement.line,
            "rule": words_of(one.edit),
            "before": before,
            "after": after,
            "f2p": len(one.repaired) + len(one.further),
            "p2f": 0,
            "failing": len(rows) + len(one.further) + one.unrepaired,
            "checked": one.ran,
            "unknown": 0,
            "score": round((1.0 if one.ran else UNCHECKED) * sqrt(one.share_repaired), 6),
            "doubt": "its value was made to fit these cases" if one.edit in doubtful else "",
            "family": FAMILY,
            "cost": round(cost, 3),
            "asked_for": is_asked,
            "cases": [runs.tested[row].case.name for row in (*one.repaired, *one.further)],
            "broken": [],
        }


def words_of(edit: SourceEdit) -> str:
    """What an edit of one part does, in words."""
    (part,), ((before, after),) = edit.written, edit.changes
    old, new = (text.decode("utf-8", "replace") for text in (before, after))
    if part.kind in (Kind.BEFORE, Kind.BEHIND):
        return f"`{new}` put in {'before' if part.kind is Kind.BEFORE else 'behind'} it"
    if part.kind is Kind.GUARD:
        return f"done only if `{part.text.decode('utf-8', 'replace')}`"
    if not (old and new):
        return f"`{new}` put in" if new else f"`{old}` left out"
    return f"`{new}` instead of `{old}`"
