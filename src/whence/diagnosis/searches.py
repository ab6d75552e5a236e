"""The searches of ``whence locate`` that alter runs, the most promising first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from whence.alter.describe import Describer
from whence.alter.work import Work
from whence.findings import Entry, Findings
from whence.investigation.investigation import Investigation
from whence.subject.subject import Subject
from whence.techniques.predicate_switching.technique import switched
from whence.techniques.rules.candidates import Family
from whence.techniques.rules.rules import rules
from whence.techniques.rules.trials import Settings
from whence.techniques.value_replacement.technique import replaced

FAILING = 5  # failing cases, the shortest runs
SWITCHING, TRYING = 0.25, 0.75  # of the time that is left, for switches and then for rules
SHARE = 0.6  # of it, for rules where branches have been switched already
NEAR = 3  # functions


class Step(NamedTuple):
    """A search: its name, what is being done (after "while it was"), its share of the time that is left."""

    name: str
    doing: str
    share: float
    search: Callable[[], Findings]


def searches(
    investigation: Investigation, rows: Sequence[int], work: Work, operators: bool, order: Sequence[Entry]
) -> tuple[Step, ...]:
    """The searches for branch switches, rules and value pairs on the failing cases in these rows.

    ``operators``: rules change operators, too. ``order``: the ranking so far, whose first statements' rules come first;
    those of functions with a switch that lets all of these cases pass come before.
    """
    rows = list(rows)[:FAILING]
    found: list[Findings] = []

    def switch() -> Findings:
        found.append(switched(investigation, rows, work))
        return found[0]

    def rules_near() -> Findings:
        near = near_switches(investigation.subject, order, found[0], len(rows)) if found else order
        return _rules(investigation, rows, work, operators, near)

    return (
        Step("switch", "switching branches", SWITCHING, switch),
        Step("rules", "trying rules", TRYING, rules_near),
        Step("values", "replacing values", 1.0, lambda: replaced(investigation, rows, work)),
    )


def near_switches(subject: Subject, order: Sequence[Entry], switches: Findings, failing: int) -> list[Entry]:
    """A ranking with the statements first of functions that have a switch with which all ``failing`` cases pass."""
    mending = [e.statement for e in switches.ranking if e.evidence.get("critical", 0) >= failing]
    if not mending:
        return list(order)
    sites = Describer(subject).sites_of_statements()
    functions = {s: int(subject.alter_plan.sites["function"][site]) for s, site in sites.items()}
    near = {function for function, _ in Counter(functions.get(s, -1) for s in mending).most_common(NEAR)}
    return [replace(entry, score=entry.score + (functions.get(entry.statement, -2) in near)) for entry in order]


def rules_and_values(investigation: Investigation, rows: Sequence[int], work: Work) -> list[Findings]:
    """What rules and value replacement find, where branches have been switched already."""
    found = []
    if not work.stopped:
        with work.share(SHARE):
            found.append(_rules(investigation, rows, work))
    if not work.stopped:
        found.append(replaced(investigation, list(rows)[:FAILING], work))
    return found


def _rules(
    investigation: Investigation,
    rows: Sequence[int],
    work: Work,
    operators: bool = True,
    order: Sequence[Entry] | None = None,
) -> Findings:
    settings = Settings(frozenset(Family) - (frozenset() if operators else {Family.OPERATOR}))
    return rules(investigation.subject, investigation.runs, work, settings, among=rows, order=order)
