"""``whence faults``: several faults at once, located one at a time; after each fix the search goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.options import CaseCommand, Options, Search, open_subject, quoted, search_options, shared_options, show
from whence.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.diagnosis.multiple_faults.history import History, Snapshot
    from whence.diagnosis.multiple_faults.minimal_full_partial import Known, Pairs, Run, Version
    from whence.findings import Findings, Statement
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

TECHNIQUES = ("partial", "full", "minimal")
SIMILAR = 0.5  # T of the clusters, as diagnosis/multiple_faults/clusters.py has it
NAMED = 5  # cases that are named in a sentence


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--technique", type=click.Choice(TECHNIQUES), help="What is searched again after a fix [partial].")
@click.option("--start", is_flag=True, help="Begin afresh, and forget what was found before.")
@click.option(
    "--fixed", multiple=True, metavar="FILE:LINE", help="What was fixed, in the lines of now [the edit tells]."
)
@click.option("--state", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Keep the state there.")
@click.option(
    "--clusters",
    "threshold",
    type=click.FloatRange(0, 1),
    is_flag=False,
    flag_value=SIMILAR,
    metavar="[T]",
    help=f"Group failing runs whose rankings are similar (0 to 1) [{SIMILAR}].",
)
def faults(
    options: Options,
    search: Search,
    technique: str | None,
    start: bool,
    fixed: tuple[str, ...],
    state: Path | None,
    threshold: float | None,
) -> int:
    """Locate several faults, one at a time.

    Shows a ranked list; fix the fault that it leads to, rebuild, and call again: the search goes on with what has to be
    searched anew, until no case fails.
    """
    from whence.build.toolchain import whence_home
    from whence.diagnosis.multiple_faults.history import default_path, save

    if options.case:
        raise UsageError("--case: several faults are told apart by all failing cases", "leave it out")
    subject = open_subject(options)
    path = state or default_path(whence_home(), subject.folder)
    history = _history(subject, None if start else path, technique, fixed)
    step = _Step(subject, options, search, history, state)
    if not step.runs.failing:
        return _all_pass(step, path)
    step.take()
    save(step.history, path)
    return _show(step, threshold)


# ---- Where the search stands -----------------------------------------------------------------------------------------


def _history(subject: Subject, path: Path | None, technique: str | None, fixed: Sequence[str]) -> History:
    """The history that goes on with this version of the program; a new one where there is none yet."""
    from whence.diagnosis.multiple_faults.history import History, Snapshot, continued, load

    now = Snapshot.of(subject)
    known = load(path) if path else None
    if known is None:
        if fixed:
            raise UsageError("--fixed: there is no earlier list that it could have been fixed after")
        return History(technique or TECHNIQUES[0], now)
    if technique not in (None, known.technique):
        hint = f"--start begins afresh with {technique}; leave --technique out to go on"
        raise UsageError(f"this search was begun with --technique {known.technique}", hint)
    return continued(known, now, _statements(now, fixed) if fixed else None)


def _statements(now: Snapshot, places: Sequence[str]) -> frozenset[Statement]:
    from whence.techniques.slicing import known_statement, parse_criterion

    statements = sorted(now.statements)
    return frozenset(known_statement(statements, parse_criterion(place).statement) for place in places)


@dataclass
class _Step:
    """One call of the command: the cases' runs, and the history that a list is added to."""

    subject: Subject
    options: Options
    search: Search
    history: History
    state: Path | None

    def __post_init__(self) -> None:
        from whence.cli.steps import run_cases
        from whence.diagnosis.multiple_faults.minimal_full_partial import version_of
        from whence.subject.runs import coverage

        self.runs: Runs = run_cases(self.subject, self.options)
        self.coverage = coverage(self.subject, self.runs)
        self.version: Version = version_of(self.coverage)
        self.stopped = ""
        self.about_search: list[str] = []
        self.list: Known

    @property
    def state_words(self) -> str:
        """The option that names the same state again."""
        return f"--state {quoted(str(self.state))}" if self.state else ""

    def take(self) -> None:
        """Search what has to be searched, and add the list to the history.

        A case that is another one than when it was searched counts as new.
        """
        from whence.diagnosis.multiple_faults.history import mark_of, without
        from whence.diagnosis.multiple_faults.minimal_full_partial import TECHNIQUES as BY_NAME

        history = self.history
        cases = [self.runs.tested[row].case for row in self.runs.failing]
        marks = {case.name: mark_of(case) for case in cases}
        others = {name for name, mark in marks.items() if history.marks.get(name, mark) != mark}
        history.before = without(history.before, others)
        kept = {name: pairs for name, pairs in history.found.items() if name not in others}
        unfinished: set[str] = set()

        def search(names: Sequence[str]) -> Mapping[str, Pairs]:
            wanted = [name for name in names if name not in kept]
            found = search_pairs(self, wanted) if wanted else {}
            unfinished.update(wanted if self.stopped else [])
            return {name: kept[name] if name in kept else found[name] for name in names}

        self.list = BY_NAME[history.technique](history.before, self.version, history.fixed, search)
        history.known = without(self.list, unfinished)
        history.marks |= marks


def search_pairs(step: _Step, names: Sequence[str]) -> Mapping[str, Pairs]:
    """The statements with a pair in each of these failing cases; ``step.stopped`` says why the search ended early."""
    from whence.cli.steps import open_work, search_summary
    from whence.diagnosis.multiple_faults.failing import statements_with_pairs

    with open_work(step.subject, step.runs, step.search, "searching the failing cases") as work:
        found = statements_with_pairs(step.subject, step.runs, names, work)
    step.stopped = work.stopped
    step.about_search = search_summary(work)
    if unaltered := [name for name in names if name not in found]:
        step.about_search.append(f"not searched: in the variant for altered runs nothing fails in {_cases(unaltered)}")
    return {name: found.get(name, {}) for name in names}


# ---- What is shown ---------------------------------------------------------------------------------------------------


def _all_pass(step: _Step, path: Path) -> int:
    """No case fails: nothing is left to locate, and the state is not needed any more."""
    path.unlink(missing_ok=True)
    found = _findings(step)
    lists = step.history.iteration - (step.history.known is None)
    found.summary.append("no case fails any more" if lists else "no case fails: there is nothing to locate")
    if lists:
        found.summary[-1] += f": this search is at its end after {_count(lists, 'list')}"
    return show(step.subject, found, step.options)


def _show(step: _Step, threshold: float | None) -> int:
    """Show the list, or with a threshold the groups of failing cases; returns the exit status."""
    from whence.diagnosis.multiple_faults.clusters import clusters, clusters_part
    from whence.diagnosis.multiple_faults.minimal_full_partial import entries

    found = _findings(step)
    found.ranking = entries(step.list.ranking, {case: step.list.runs[case] for case in sorted(step.list.cases)})
    found.summary += [_what_was_done(step), *step.about_search, _made_from(step)]
    found.parts |= {"iteration": _iteration_part(step), "next": _next(step, threshold)}
    groups: list[dict[str, Run]] = []
    if threshold is not None:
        runs = {case: run for case, run in step.list.runs.items() if case in step.version.failing}
        groups = clusters(runs, step.version, threshold)
        found.parts["clusters"] = clusters_part(groups, step.version)
    status = show(step.subject, found, step.options)
    if not step.options.json:
        _show_groups(step, groups)
    return status


def _show_groups(step: _Step, groups: Sequence[Mapping[str, Run]]) -> None:
    """Print each group with its ranking."""
    from whence.diagnosis.multiple_faults.minimal_full_partial import entries, ranked
    from whence.findings import Findings

    for number, group in enumerate(groups, 1):
        title = f"group {number} of {len(groups)}, which seems to have one cause: {_cases(list(group))}"
        ranking = entries(ranked(group, step.version), group)
        click.echo(f"\n{title}\n")
        findings = Findings(f"faults, group {number}", step.subject.name, ranking)
        show(step.subject, findings, replace(step.options, html=None))


def _findings(step: _Step) -> Findings:
    from whence.cli.steps import summary
    from whence.findings import Findings

    lines = summary(step.subject, step.runs)
    parts = {"cases": step.coverage.case_totals()}
    return Findings(f"faults/{step.history.technique}", step.subject.name, summary=lines, parts=parts)


def _what_was_done(step: _Step) -> str:
    """Which list this is, and what was searched for it."""
    history, searched = step.history, step.list.searched
    if history.iteration == 1:
        text = "list 1"
    elif history.fixed == history.snapshot.statements:
        text = f"list {history.iteration}, after an edit outside of statements, which any case may depend on"
    else:
        places = [f"{s.file}:{s.line}" for s in sorted(history.fixed)]
        text = f"list {history.iteration}, after the fix at {_first(places)}"
    kept = len(step.version.failing.keys() & step.list.runs.keys()) - len(searched)
    text += f": searched {_cases(list(searched))}" if searched else ": searched nothing"
    return text + (f"; {_count(kept, 'failing case')} known from before" if kept else "")


def _made_from(step: _Step) -> str:
    """Which failing runs the list is made from."""
    passing = sorted(step.list.cases - step.version.failing.keys())
    text = f"the list is made from {_cases(sorted(step.list.cases))}"
    return text + (f" (passing now: {_first(passing)})" if passing else "")


def _iteration_part(step: _Step) -> dict[str, Any]:
    """The part ``iteration`` (docs/json.md)."""
    return {
        "number": step.history.iteration,
        "technique": step.history.technique,
        "fixed": [{"file": s.file, "line": s.line} for s in sorted(step.history.fixed)],
        "searched": sorted(step.list.searched),
        "cases": sorted(step.list.cases),
        "stopped": step.stopped,
    }


def _next(step: _Step, threshold: float | None) -> list[dict[str, str]]:
    words = f"{step.options.subject_words()} {step.state_words}".strip()
    commands = [("", "when a fault is fixed and the program built again: the next list")]
    if threshold is None and len(step.version.failing) > 1:
        commands.append((" --clusters", "groups of failing cases, to work on several faults side by side"))
    return [{"command": f"whence faults {words}".rstrip() + more, "why": why} for more, why in commands]


def _cases(names: Sequence[str]) -> str:
    noun = "case" if len(names) == 1 else "cases"
    return f"the failing {noun} {_first([f'`{name}`' for name in names])}"


def _first(items: Sequence[str]) -> str:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
