"""``whence fix``: what to change. Suggestions from what mended similar statements, and edits that mend this program.

Source: Jeffrey's dissertation (2009), chapter 8 (BugFix: figure 8.1). Beyond it, each suggestion is made concrete:
candidate edits of the first statements are compiled and run on all cases (``edit_search.py``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whence.diagnosis.edit_search import EditSearch, Found, Mending
from whence.diagnosis.further_edits import FurtherEdits
from whence.diagnosis.initial_values import with_tables
from whence.diagnosis.locate import Locate
from whence.diagnosis.own_verdict import files_of_tests, told_unchanged
from whence.diagnosis.situations import Situations
from whence.diagnosis.telling_apart import TellingApart
from whence.errors import SubjectError, UsageError, WhenceError
from whence.findings import Entry, Findings, Statement, plural, rank
from whence.investigation.account import NAMED, named, summary
from whence.investigation.investigation import Investigation
from whence.program.c_source import CSource, entries
from whence.program.source_edits import edited
from whence.run.cases import TAKE_APART
from whence.subject.initial_values import InitialValue
from whence.subject.runs import Tested
from whence.subject.symptoms import unrecorded_symptom
from whence.techniques.bugfix.association import Suggestion, learn, prioritise
from whence.techniques.bugfix.knowledge import Scenario, known
from whence.techniques.bugfix.likelihood import fixes_made
from whence.techniques.spectrum import spectrum
from whence.trace.decode import decode
from whence.trace.kernels import is_kept

STATEMENTS = 60  # ranked statements of which edits are tried
SUGGESTED = 3  # ... for which suggestions are made
QUICK = Locate(alter=False, generate=False, without=("memory", "races"))
OTHERS = ("memory", "races", "invariants", "causes", "formula", "edits", "confirmation", "chain")
SHORT = Locate(generate=False, without=OTHERS)
LARGE, RANKING = 400, 0.4  # executed statements from which on SHORT ranks them, and of the time, for that
SEARCHING = 0.8  # of the time, for edits
KNOWN = 0.2  # of it, for those that follow from values that are known already
LOOKING = 0.6  # of what is left, for the values of statements without one
APART, APART_MOST = 0.5, 8.0  # of what is left, and seconds, for an input that tells two edits apart
LISTED = 10  # edits, and suggestions of a statement
COMPARED = 3  # edits that the first one is told apart from
CHECKING = 0.6  # of what is left, for further checks of the first edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """Finds edits of the source with which all cases pass, the smallest first, and what mended similar statements.

    ``at``: the statement to change, as ``FILE:LINE``; None: the first ones of a quick ranking. ``statements``: of how
    many of these edits are tried. ``knowledge``: files of scenarios to learn from; None: what is shipped, and what lies
    in the subject's folder.
    """

    at: str | None = None
    statements: int = STATEMENTS
    knowledge: tuple[Path, ...] | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The edits in the part ``edits``, the statements that they change as the ranking; ``suggestions`` beside it.

        Raises SubjectError where no case fails or the cases are commands, UsageError where ``at`` names no statement or
        a knowledge base cannot be used.
        """
        scenarios = known(investigation.subject.folder, self.knowledge)
        rows = investigation.failing_rows()
        if any(investigation.runs.tested[row].case.command is not None for row in rows):
            raise SubjectError("the cases are commands of a test suite, which no edit can be tried on", TAKE_APART)
        quick = _quick(investigation)
        first = Findings("fix", investigation.subject.name, [self._entry(investigation)]) if self.at else None
        ranked = first or _ranked(investigation, quick.base)
        tests = set[str]() if self.at else files_of_tests(investigation.subject, _tested(investigation, rows))
        tried = [entry for entry in ranked.ranking if entry.statement.file not in tests] or ranked.ranking
        chosen = tried[: self.statements]
        if not self.at:
            sources = _sources_of(investigation.subject.folder, chosen)
            chosen = with_tables(chosen, sources, is_read=quick.compared is not None)
        fixing = _Fixing(investigation, quick, chosen, scenarios, notes=told_unchanged(ranked, tests))
        fixing.suggest_by_structure()
        fixing.search(ranked.parts)
        if not fixing.has_passing:
            fixing.search_further(everywhere=not self.at)
        fixing.check()
        fixing.tell_apart()
        if self.at or not fixing.has_passing:
            fixing.suggest_by_values()
        return fixing.findings()

    def _entry(self, investigation: Investigation) -> Entry:
        """The statement that the user names."""
        place = re.fullmatch(r"(.+):(\d+)", self.at or "")
        if place is None:
            raise UsageError(f"'{self.at}' is no place", "write FILE:LINE")
        wanted = Statement(place[1], int(place[2]))
        known = investigation.subject.places.statements
        if wanted not in known and not _has_entries(investigation.subject.folder / wanted.file, wanted.line):
            raise UsageError(f"there is no statement at {self.at}", _near(wanted, known))
        return Entry(wanted, 1.0, 1, 1)


def _tested(investigation: Investigation, rows: Sequence[int]) -> list[Tested]:
    """The cases of some rows."""
    return [investigation.runs.tested[row] for row in rows]


def _sources_of(folder: Path, ranking: Sequence[Entry]) -> dict[str, CSource]:
    """The files of some statements, as statements name them, that are there."""
    paths = {entry.statement.file: folder / entry.statement.file for entry in ranking}
    return {name: CSource(path.read_bytes()) for name, path in paths.items() if path.is_file()}


def _near(wanted: Statement, known: Iterable[Statement]) -> str:
    """The lines next to one that has no statement; of a file that has none the files that have some."""
    lines: dict[str, list[int]] = {}
    for statement in known:
        lines.setdefault(statement.file, []).append(statement.line)
    if wanted.file not in lines:
        return f"files: {', '.join(sorted(lines)[:NAMED])}"
    nearest = sorted(set(lines[wanted.file]), key=lambda line: abs(line - wanted.line))[:2]
    return f"the nearest lines with one: {', '.join(map(str, sorted(nearest)))}"


def _has_entries(path: Path, line: int) -> bool:
    """Whether entries of a table begin on a line of a file."""
    source = CSource(path.read_bytes()) if path.is_file() else CSource(b"")
    return any(entry.start_point[0] + 1 == line for table in source.tables for entry in entries(table.node))


@dataclass(frozen=True, slots=True)
class _Quick:
    """The ranking by spectrum, slice and values; what comparing values found, and initial values that were read.

    By the spectrum alone where the analysis is still to be compiled for the others.
    """

    base: Findings
    compared: Findings | None = None
    entries: Sequence[InitialValue] = ()


def _quick(investigation: Investigation) -> _Quick:
    if is_kept(decode):
        diagnosis = QUICK.diagnose(investigation)
        compared = next((one for one in diagnosis.found if one.technique == "invariants"), None)
        return _Quick(diagnosis.findings(), compared, diagnosis.entries)
    row = investigation.failing_rows()[0]
    failing = investigation.runs.tested[row]
    found = spectrum(investigation.coverage, formula=QUICK.formula, subject=investigation.subject.name)
    symptom = unrecorded_symptom(failing.result, failing.outcome)
    return _Quick(replace(found, symptom=symptom, summary=summary(investigation.subject, investigation.runs)))


def _ranked(investigation: Investigation, base: Findings) -> Findings:
    """The statements in the order in which they are changed: of a large program the first ones need altered runs.

    The rules that these find are edits, too.

    Of small programs edits of all statements that matter can be tried in the time that altered runs take.
    """
    if len(base.ranking) < LARGE or not is_kept(decode):
        return base
    with investigation.clock.part(RANKING):
        return SHORT.run(investigation)


@dataclass(slots=True)
class _Fixing:
    """What is known so far of how to mend a program."""

    investigation: Investigation
    quick: _Quick
    ranking: list[Entry]
    scenarios: list[Scenario]
    edits: EditSearch = field(init=False)
    further: FurtherEdits = field(init=False)
    suggestions: dict[Statement, list[Suggestion]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    apart: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        investigation = self.investigation
        end = investigation.clock.within(SEARCHING)
        self.edits = EditSearch(investigation.subject, investigation.runs, end, fixes_made(self.scenarios))
        statements = [entry.statement for entry in self.ranking]
        self.further = FurtherEdits(investigation, self.edits, statements, self.quick.entries)

    @property
    def found(self) -> Found:
        """What edits do."""
        return self.edits.found

    @property
    def has_passing(self) -> bool:
        """Whether all cases pass with an edit that was found."""
        return bool(self._passing)

    @property
    def _passing(self) -> list[Mending]:
        return self.edits.passing

    @property
    def _failing(self) -> int:
        return len(self.investigation.runs.failing)

    # ---- Suggestions -------------------------------------------------------------------------------------------------

    def _statements(self) -> list[Statement]:
        """The statements for which suggestions are made."""
        return [entry.statement for entry in self.ranking[:SUGGESTED]]

    def _situations(self) -> Situations:
        sources = _sources_of(self.investigation.subject.folder, self.ranking[:SUGGESTED])
        return Situations(self.investigation, sources, self.quick.compared)

    def suggest_by_structure(self) -> None:
        """Suggestions by what the first statements look like."""
        situations = self._situations()
        self._suggest({statement: situations.static(statement) for statement in self._statements()})

    def suggest_by_values(self) -> None:
        """... and by the values that they had, and that mend them, in the time that is left."""
        situations, known = self._situations(), set(self.investigation.subject.places.statements)
        statements = [statement for statement in self._statements() if statement in known]  # no entries of tables
        if not self.investigation.clock.left or not self.scenarios:
            return
        try:
            with self.investigation.work("looking at statements", LOOKING) as work:
                dynamic = situations.dynamic(statements, work)
        except WhenceError as error:
            self.notes.append(f"suggestions are by what statements look like alone: {error}")
            return
        self._suggest({s: situations.static(s) | dynamic[s] for s in statements})

    def _suggest(self, known: Mapping[Statement, frozenset[str]]) -> None:
        for statement, situation in known.items():
            self.suggestions[statement] = prioritise(learn(self.scenarios, situation), situation)

    # ---- Edits -------------------------------------------------------------------------------------------------------

    def search(self, known: Mapping[str, Any]) -> None:
        """Try edits, those first that the rules and pairs of values stand for that altered runs have found already.

        ``known`` are the parts ``rules`` and ``pairs``, where they are there.
        """
        self.investigation.watcher.busy("trying edits")
        if known.get("rules"):
            self.edits.propose(known["rules"], self.edits.deadline)
        self.further.follow(known.get("pairs", ()), (), self.investigation.clock.within(KNOWN))
        favoured = {s: [suggestion.fix for suggestion in own] for s, own in self.suggestions.items()}
        self.edits.run(self.ranking, favoured)
        self._publish()

    def search_further(self, everywhere: bool) -> None:
        """Try the edits of other sources, where no edit passes; ``everywhere``: also of other statements."""
        self.investigation.watcher.busy("trying edits")
        self.further.search(everywhere)
        self.notes += self.further.notes
        self._publish()

    def check(self) -> None:
        """Check the edits that are told."""
        self.investigation.watcher.busy("checking edits")
        self.edits.check(self.investigation.clock.within(CHECKING))
        self._publish()

    def _publish(self) -> None:
        self.investigation.watcher.best(self.findings(), self.investigation.subject.folder)

    def tell_apart(self) -> None:
        """Look for an input on which the first edit and one of the next differ."""
        investigation, clock = self.investigation, self.investigation.clock
        first, others = self._passing[:1], self._passing[1 : 1 + COMPARED]
        if not others or not clock.left:
            return
        investigation.watcher.busy("telling edits apart")
        runs, end = investigation.runs, time.monotonic() + min(APART_MOST, APART * clock.left)
        cases = [runs.tested[row].case for row in (*runs.failing[:2], *runs.passing)]
        limits = replace(investigation.subject.limits, time=investigation.subject.limits.time or APART_MOST)
        try:
            with TellingApart(investigation.subject, cases, limits, end) as telling:
                for number, other in enumerate(others, 2):
                    found = telling.find(self._text(first[0]), self._text(other))
                    if found is not None:
                        words = {"input": found.words, "first": found.first, "second": found.second}
                        self.apart = {"other": number, **words}
                        return
                alike = (
                    f"edit 1 and the next {len(others)} did alike on"
                    if len(others) > 1
                    else "edits 1 and 2 did alike on"
                )
                self.notes.append(
                    f"{alike} {plural(telling.tried, 'input')} that {'was' if telling.tried == 1 else 'were'} made"
                )
        except (WhenceError, TimeoutError) as error:
            self.notes.append(f"no input was made that tells the edits apart: {error}")

    def _text(self, mending: Mending) -> tuple[str, bytes]:
        """The file that an edit changes, with its new text."""
        file = mending.edit.file
        return file, edited(self.found.files[file], mending.edit)

    # ---- Findings ----------------------------------------------------------------------------------------------------

    def findings(self) -> Findings:
        """All of it."""
        names = [tested.case.name for tested in self.investigation.runs.tested]
        listed = self.found.mendings[:LISTED]
        edits = [_row(m, self._failing, names) | {"fitted": self.edits.fitted(m.edit)} for m in listed]
        parts: dict[str, Any] = {"edits": edits, "trials": _counts(self.found)}
        parts["apart"] = self.apart
        parts["suggestions"] = [self._suggested(statement) for statement in self._statements()]
        return Findings(
            "fix",
            self.investigation.subject.name,
            self._ranking(),
            self.quick.base.symptom,
            [*self.quick.base.summary, *_summary(self.found, self._failing), *self.notes],
            parts,
        )

    def _ranking(self) -> list[Entry]:
        """The statements at which an edit lets all cases pass, the one with the best edit first."""
        scores: dict[Statement, float] = {}
        for place, mending in enumerate(self._passing):
            scores.setdefault(Statement(mending.edit.file, mending.edit.line), 1 / (1 + place))
        return rank(scores, {statement: {"text": "with an edit there all cases pass"} for statement in scores})

    def _suggested(self, statement: Statement) -> dict[str, Any]:
        """The suggestions of a statement, with how many of the edits that pass are such."""
        mine = [m for m in self.found.mendings if Statement(m.edit.file, m.edit.line) == statement]
        passing = [text for m in mine if m.passes(self._failing) for text in m.descriptions]
        return {
            "file": statement.file,
            "line": statement.line,
            "suggestions": [
                {
                    "description": one.fix,
                    "rank": one.rank,
                    "confidence": round(one.rule.confidence, 4),
                    "support": one.rule.support,
                    "situation": sorted(one.rule.situation),
                    "passing": passing.count(one.fix),
                }
                for one in self.suggestions.get(statement, [])[:LISTED]
            ],
        }


def _row(mending: Mending, failing: int, names: Sequence[str]) -> dict[str, Any]:
    """An edit as the part ``edits`` lists it (docs/json.md)."""
    tried = mending.tried
    return {
        "file": mending.edit.file,
        "line": mending.edit.line,
        "diff": mending.diff,
        "size": mending.edit.size,
        "descriptions": mending.descriptions,
        "passes": mending.passes(failing),
        "repaired": [names[row] for row in tried.repaired],
        "broken": [names[row] for row in tried.broken],
        "failing": failing,
        "ran": tried.ran,
        "alike": mending.alike,
        "trouble": tried.trouble,
        **mending.checks.json(),
        "checked": mending.checks.words,
    }


def _counts(found: Found) -> dict[str, Any]:
    count = found.count
    return {
        "made": found.made,
        "all_made": found.all_made,
        "proposed": found.proposed,
        "tried": count.tried,
        "refused": count.refused,
        "passing": found.passing,
        "runs": count.runs,
        "seconds": round(found.seconds, 3),
    }


def _summary(found: Found, failing: int) -> list[str]:
    """What was tried, in sentences."""
    count = found.count
    made = f"all {found.made:,} that there are" if found.all_made else f"{found.made:,} made until the search ended"
    text = f"tried {plural(count.tried, 'edit')} of {made} in {found.seconds:.1f} s"
    text += f" ({plural(count.runs, 'run')}; {count.refused:,} more do not compile)"
    if found.proposed:
        text += f", {found.proposed} of them proposed by rules"
    lines = [f"{text}: with {found.passing or 'none'} of those tried all cases pass"]
    if found.passing > 1:
        holds = sum(mending.passes(failing) for mending in found.mendings)
        more = f"; {holds} of them were compiled by themselves and hold" if holds < found.passing else ""
        lines.append(
            f"the cases do not tell which of the {found.passing} is meant: look at what each of them says{more}"
        )
    if found.refuted:
        lines.append(f"with {found.refuted:,} more all cases pass, and tests of other programs of the suite fail")
    lines += [f"{plural(n, 'edit')} not confirmed: {why}" for why, n in found.unconfirmed.most_common()]
    troubles = [f"{file}: {why}" for file, why in count.troubles.items()]
    return [*lines, *found.notes, *named("not tried: ", troubles)]
