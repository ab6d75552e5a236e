"""Several faults, located one at a time: a list, and after each fix the next one, with what has to be searched anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.build.toolchain import whence_home
from whence.dependence.criteria import known_statement, parse_criterion
from whence.diagnosis.multiple_faults.clusters import clusters, clusters_part
from whence.diagnosis.multiple_faults.failing import statements_with_pairs
from whence.diagnosis.multiple_faults.history import (
    History,
    Snapshot,
    continued,
    default_path,
    load,
    mark_of,
    save,
    without,
)
from whence.diagnosis.multiple_faults.minimal_full_partial import (
    TECHNIQUES,
    Known,
    Pairs,
    Version,
    entries,
    ranked,
    version_of,
)
from whence.errors import UsageError
from whence.findings import Findings, Statement
from whence.investigation.account import search_summary, summary
from whence.investigation.investigation import Investigation
from whence.subject.runs import Runs
from whence.subject.subject import Subject

FIRST = next(iter(TECHNIQUES))
NAMED = 5  # cases that are named in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralFaults:
    """Locates several faults, one at a time (Jeffrey 2009, chapter 3).

    ``technique``: what is searched again after a fix, a key of TECHNIQUES. ``start``: begin afresh. ``fixed``: what was
    fixed, as ``FILE:LINE`` in the lines of now; else the edit tells. ``state``: the file where the search's state is
    kept (None: the subject's own). ``threshold``: group failing runs whose rankings are so similar, from 0 to 1.
    """

    technique: str | None = None
    start: bool = False
    fixed: tuple[str, ...] = ()
    state: Path | None = None
    threshold: float | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The next list. Raises UsageError where the state does not go with what is asked for."""
        return self.next_list(investigation).findings

    def next_list(self, investigation: Investigation) -> FaultList:
        """The next list with its groups, none where no case fails; the state is kept. Raises what ``run`` raises."""
        if investigation.setup.case:
            raise UsageError("--case: several faults are told apart by all failing cases", "leave it out")
        subject = investigation.subject
        path = self.state or default_path(whence_home(), subject.folder)
        step = _Step(investigation, self._history(subject, None if self.start else path))
        if not step.runs.failing:
            path.unlink(missing_ok=True)  # the state is not needed any more
            return FaultList(step.all_pass())
        step.take()
        save(step.history, path)
        return step.fault_list(self.threshold)

    def _history(self, subject: Subject, path: Path | None) -> History:
        """The history that goes on with this version of the program; a new one where there is none yet."""
        now = Snapshot.of(subject)
        known = load(path) if path else None
        if known is None:
            if self.fixed:
                raise UsageError("--fixed: there is no earlier list that it could have been fixed after")
            return History(self.technique or FIRST, now)
        if self.technique not in (None, known.technique):
            hint = f"--start begins afresh with {self.technique}; leave --technique out to go on"
            raise UsageError(f"this search was begun with --technique {known.technique}", hint)
        return continued(known, now, _statements(now, self.fixed) if self.fixed else None)


@dataclass(frozen=True, slots=True)
class FaultList:
    """A list, and where groups were asked for those of its failing cases, each with its own ranking and a title."""

    findings: Findings
    groups: list[tuple[str, Findings]] = field(default_factory=list)


def _statements(now: Snapshot, places: Sequence[str]) -> frozenset[Statement]:
    statements = sorted(now.statements)
    return frozenset(known_statement(statements, parse_criterion(place).statement) for place in places)


class _Step:
    """One list: the cases' runs, and the history that it is added to."""

    def __init__(self, investigation: Investigation, history: History) -> None:
        self.investigation, self.history = investigation, history
        self.runs: Runs = investigation.runs
        self.version: Version = version_of(investigation.coverage)
        self.stopped = ""
        self.about_search: list[str] = []
        self.list: Known

    def take(self) -> None:
        """Search what has to be searched, and add the list to the history.

        A case that is another one than when it was searched counts as new.
        """
        history = self.history
        cases = [self.runs.tested[row].case for row in self.runs.failing]
        marks = {case.name: mark_of(case) for case in cases}
        others = {name for name, mark in marks.items() if history.marks.get(name, mark) != mark}
        history.before = without(history.before, others)
        kept = {name: pairs for name, pairs in history.found.items() if name not in others}
        unfinished: set[str] = set()

        def search(names: Sequence[str]) -> Mapping[str, Pairs]:
            wanted = [name for name in names if name not in kept]
            found = self._search(wanted) if wanted else {}
            unfinished.update(wanted if self.stopped else [])
            return {name: kept[name] if name in kept else found[name] for name in names}

        self.list = TECHNIQUES[history.technique](history.before, self.version, history.fixed, search)
        history.known = without(self.list, unfinished)
        history.marks |= marks

    def _search(self, names: Sequence[str]) -> Mapping[str, Pairs]:
        """The statements with a pair in each of these failing cases; ``stopped`` says why the search ended early."""
        with self.investigation.work("searching the failing cases") as work:
            found = statements_with_pairs(self.investigation.subject, self.runs, names, work)
        self.stopped = work.stopped
        self.about_search = search_summary(work)
        if unaltered := [name for name in names if name not in found]:
            why = "in the variant for altered runs nothing fails in"
            self.about_search.append(f"not searched: {why} {_cases(unaltered)}")
        return {name: found.get(name, {}) for name in names}

    # ---- What is told ------------------------------------------------------------------------------------------------

    def all_pass(self) -> Findings:
        """That no case fails: nothing is left to locate."""
        found = self._findings()
        lists = self.history.iteration - (self.history.known is None)
        found.summary.append("no case fails any more" if lists else "no case fails: there is nothing to locate")
        if lists:
            found.summary[-1] += f": this search is at its end after {_count(lists, 'list')}"
        return found

    def fault_list(self, threshold: float | None) -> FaultList:
        """The list, with groups of failing cases where there is a threshold."""
        found = self._findings()
        found.ranking = entries(self.list.ranking, {case: self.list.runs[case] for case in sorted(self.list.cases)})
        found.summary += [self._what_was_done(), *self.about_search, self._made_from()]
        found.parts["iteration"] = self._iteration_part()
        if threshold is None:
            return FaultList(found)
        runs = {case: run for case, run in self.list.runs.items() if case in self.version.failing}
        groups = clusters(runs, self.version, threshold)
        found.parts["clusters"] = clusters_part(groups, self.version)
        titled = []
        for number, group in enumerate(groups, 1):
            title = f"group {number} of {len(groups)}, which seems to have one cause: {_cases(list(group))}"
            ranking = entries(ranked(group, self.version), group)
            titled.append((title, Findings(f"faults, group {number}", self.investigation.subject.name, ranking)))
        return FaultList(found, titled)

    def _findings(self) -> Findings:
        lines = summary(self.investigation.subject, self.runs)
        parts = {"cases": self.investigation.coverage.case_totals()}
        technique = f"faults/{self.history.technique}"
        return Findings(technique, self.investigation.subject.name, summary=lines, parts=parts)

    def _what_was_done(self) -> str:
        """Which list this is, and what was searched for it."""
        history, searched = self.history, self.list.searched
        if history.iteration == 1:
            text = "list 1"
        elif history.fixed == history.snapshot.statements:
            text = f"list {history.iteration}, after an edit outside of statements, which any case may depend on"
        else:
            places = [f"{s.file}:{s.line}" for s in sorted(history.fixed)]
            text = f"list {history.iteration}, after the fix at {_first(places)}"
        kept = len(self.version.failing.keys() & self.list.runs.keys()) - len(searched)
        text += f": searched {_cases(list(searched))}" if searched else ": searched nothing"
        return text + (f"; {_count(kept, 'failing case')} known from before" if kept else "")

    def _made_from(self) -> str:
        """Which failing runs the list is made from."""
        passing = sorted(self.list.cases - self.version.failing.keys())
        text = f"the list is made from {_cases(sorted(self.list.cases))}"
        return text + (f" (passing now: {_first(passing)})" if passing else "")

    def _iteration_part(self) -> dict[str, Any]:
        """The part ``iteration`` (docs/json.md)."""
        return {
            "number": self.history.iteration,
            "technique": self.history.technique,
            "fixed": [{"file": s.file, "line": s.line} for s in sorted(self.history.fixed)],
            "searched": sorted(self.list.searched),
            "cases": sorted(self.list.cases),
            "stopped": self.stopped,
        }


def _cases(names: Sequence[str]) -> str:
    noun = "case" if len(names) == 1 else "cases"
    return f"the failing {noun} {_first([f'`{name}`' for name in names])}"


def _first(items: Sequence[str]) -> str:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
