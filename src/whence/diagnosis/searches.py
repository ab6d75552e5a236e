"""The searches of ``whence locate`` that alter runs, the most promising first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from whence.alter.work import Work
from whence.findings import Entry, Findings
from whence.investigation.investigation import Investigation
from whence.techniques.predicate_switching.technique import switched
from whence.techniques.rules.candidates import Family
from whence.techniques.rules.rules import rules
from whence.techniques.rules.trials import Settings
from whence.techniques.value_replacement.technique import replaced

FAILING = 5  # failing cases, the shortest runs
SHARE = 0.6  # of the time that is left, for each search but the last


class Step(NamedTuple):
    """A search: its name, what is being done (after "while it was"), its share of the time that is left."""

    name: str
    doing: str
    share: float
    search: Callable[[], Findings]


def searches(
    investigation: Investigation, rows: Sequence[int], work: Work, operators: bool, order: Sequence[Entry]
) -> tuple[Step, ...]:
    """The searches for rules, branch switches and value pairs on the failing cases in these rows.

    ``operators``: rules change operators, too. ``order``: the ranking so far, whose first statements' rules come first.
    """
    rows = list(rows)[:FAILING]
    return (
        Step("rules", "trying rules", SHARE, lambda: _rules(investigation, rows, work, operators, order)),
        Step("switch", "switching branches", SHARE, lambda: switched(investigation, rows, work)),
        Step("values", "replacing values", 1.0, lambda: replaced(investigation, rows, work)),
    )


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
