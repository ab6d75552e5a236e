"""Sets over several paths beside those of one path: what a change does that sends a run elsewhere.

A set of one path is one over several paths, too, so only what these add is added: statements that send the run another
way and have to be changed there as well, or several branches at once. Sets of branches whose switch mends the run are
kept, though some are none over several paths: what turns the branch may be wrong where it is read later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whence.errors import SubjectError
from whence.findings import Statement, plural
from whence.probe.layout import Kind
from whence.techniques.formula_based.altered_runs import confirmed
from whence.techniques.formula_based.correction_values import Change, correction_values
from whence.techniques.formula_based.localisation import EXPLAINED, Diagnosis, Search
from whence.techniques.formula_based.merged_formula import MergedRun
from whence.techniques.formula_based.on_demand_formula import Bounds, Expanded, expand
from whence.techniques.formula_based.trace_formula import FailingRun

if TYPE_CHECKING:
    from whence.alter.work import Work

PATHS = "paths"
ALL_PATHS = "bugassist"  # the method that makes all ways known first


def add_paths(
    found: Search, weight: Mapping[Statement, float], work: Work | None, bounds: Bounds, method: str
) -> list[str]:
    """Add the sets of each failing run over several paths; the answer says in words what that took.

    ``method``: ``ofc`` or ``bugassist``. With ``work`` values are forced, where it is known when they have to be.
    """
    lines = []
    for number, run in enumerate(found.runs):
        share = (bounds.deadline - time.monotonic()) / (len(found.runs) - number)
        name = run.recording.case.name
        if share <= 0 or (work is not None and work.stopped):
            lines.append(f"`{name}`: no time for its other paths")
            continue
        limits = replace(bounds, deadline=time.monotonic() + share)
        terms, subject = run.encoding.terms, run.reader.subject
        try:
            expanded = expand(subject, run.recording, weight, limits, everything=method == ALL_PATHS, terms=terms)
        except SubjectError as error:
            lines.append(f"`{name}`: its recorded path only: {error}")
            continue
        _join(found, run, expanded, limits, work)
        lines.append(_summary(name, expanded))
    return lines


def _join(found: Search, run: FailingRun, expanded: Expanded, bounds: Bounds, work: Work | None) -> None:
    """Add what is new, and leave out sets that hold a smaller one."""
    name = run.recording.case.name
    mine = [d for d in found.diagnoses if d.run.recording.case.name == name]
    known = [set(d.statements) for d in mine]
    new = list(_new(expanded, known, bounds))
    larger = [d for d in mine if any(set(one.statements) < set(d.statements) for one in new)]
    found.diagnoses = [d for d in found.diagnoses if d not in larger] + new
    found.questions += expanded.questions
    found.stopped |= expanded.found.stopped
    if work is not None:
        single = [d for d in new if len(d.statements) == 1 and can_be_forced(d.formula.run, d.changes)]
        for diagnosis, passes in zip(single, confirmed(work, run, [d.changes for d in single]), strict=True):
            diagnosis.confirmed = passes


def _new(expanded: Expanded, known: Sequence[set[Statement]], bounds: Bounds) -> Iterator[Diagnosis]:
    most = max(sum(len(groups) == 1 for groups in expanded.found.sets), EXPLAINED)
    for number, groups in enumerate(expanded.found.sets):
        statements = tuple(expanded.formula.statements[group] for group in sorted(groups))
        if not any(one <= set(statements) for one in known):
            changes = correction_values(expanded.formula, groups, bounds.deadline) if number < most else []
            yield Diagnosis(expanded.formula, statements, changes, PATHS)


def can_be_forced(run: object, changes: Sequence[Change]) -> bool:
    """Whether it is known at which clock the changes have to be made.

    Those of the failing run are, up to the first branch that goes another way.
    """
    if not isinstance(run, MergedRun) or not changes:
        return False
    events = sorted(change.event for change in changes)
    is_main = events[-1] < run.main.trace.events
    return is_main and all(run.main.trace.kind(event) is not Kind.BRANCH for event in events[:-1])


def _summary(name: str, expanded: Expanded) -> str:
    """What was done for one failing run."""
    text = f"`{name}`: {plural(expanded.switched, 'run')} with switched branches in one formula"
    if expanded.open:
        text += f"; {plural(len(expanded.open), 'set')} would need ways that are not known"
    return text + (", since a bound was reached" if expanded.stopped else "")
