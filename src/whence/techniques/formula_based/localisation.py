"""The correction sets of several failing runs, and what repairs of them would have to be like.

For each failing run the minimal correction sets of its path's formula, and of the formulas of branches whose switch
mends it; then, for each statement that is a set alone, whether its new values can be a function of what it reads, in
all runs at once. ``ranking`` makes findings of that.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from whence.findings import Statement
from whence.techniques.formula_based.altered_runs import confirmed, mending_branches
from whence.techniques.formula_based.consistency import Consistency, Function
from whence.techniques.formula_based.correction_values import Change, correction_values
from whence.techniques.formula_based.templates import Templates
from whence.techniques.formula_based.trace_formula import (
    FailingRun,
    Run,
    TraceFormula,
    branch_formula,
    same_formula,
    symptom_formula,
)

if TYPE_CHECKING:
    from whence.alter.work import Work

EXPLAINED = 10  # sets of one formula whose values are looked for; those of one statement are in any case
MOST_EVENTS = 50  # of a passing run whose values have to stay
PATH, BRANCH = "path", "branch"
UNKNOWN = Function(None)


@dataclass(slots=True, frozen=True)
class Options:
    """``size``: statements in a set at most. ``query``: seconds for one question; ``deadline``: of ``time.monotonic``.

    ``consistency``, ``templates`` and ``confirms`` turn those keys of the ranking on; templates need consistency.
    """

    size: int = 2
    query: float = 1.0
    deadline: float = float("inf")
    consistency: bool = True
    templates: bool = True
    confirms: bool = True


@dataclass(slots=True)
class Diagnosis:
    """A correction set of one failing run, with what its values had to be.

    ``way``: ``path`` (found on the recorded path) or ``branch`` (by the switch of the branch on line ``switched``).
    ``function``: whether its new values can be a function of what it reads. ``confirmed``: None where not known.
    """

    formula: TraceFormula
    statements: tuple[Statement, ...]
    changes: list[Change]
    way: str
    switched: Statement | None = None
    function: Function = UNKNOWN
    confirmed: bool | None = None

    @property
    def run(self) -> Run:
        """The failing run."""
        return self.formula.run

    @property
    def key(self) -> tuple[object, ...]:
        """What comes first among the diagnoses of a run."""
        return len(self.statements), -self.function.level, self.confirmed is not True, self.way != PATH


@dataclass(slots=True)
class Search:
    """The diagnoses of all runs, and what has to be known about them.

    ``repairs``: of statements that are a set alone and consistent, the templates that repair the runs of which they
    are one, and keep the passing ones right.
    """

    runs: list[FailingRun]
    diagnoses: list[Diagnosis] = field(default_factory=list)
    repairs: dict[Statement, list[str]] = field(default_factory=dict)
    compared: int = 0  # passing runs
    questions: int = 0
    undecided: list[tuple[Statement, ...]] = field(default_factory=list)
    stopped: bool = False
    holding: list[str] = field(default_factory=list)  # cases whose goal the formula meets without any change
    notes: Counter[str] = field(default_factory=Counter)
    contradicting: list[TraceFormula] = field(default_factory=list)  # formulas that contradict their own runs
    floats: bool = False  # something was taken as recorded since it is floating point

    @property
    def gaps(self) -> list[str]:
        """Why there may be corrections that these sets do not show, in words; none: the formulas say it all."""
        found = ["not every question was answered in time"] if self.stopped or self.undecided else []
        if any(run.has_loops for run in self.runs):
            found.append("the formulas know the recorded turns of loops only")
        if self.contradicting:
            found.append("a formula contradicts its own run")
        if self.floats:
            found.append("floating point is taken as recorded")
        return found if self.runs else ["there is no formula"]


def search(
    runs: Sequence[FailingRun],
    passing: Sequence[Run],
    weight: Mapping[Statement, float],
    work: Work | None,
    options: Options,
) -> Search:
    """The correction sets of each failing run; with ``work`` also those by switched branches, and repairs tried.

    ``weight`` of a statement is lower the more suspicious it is; 1 where it has none. All runs are encoded in one
    graph of terms.
    """
    found = Search(list(runs))
    with nullcontext() if work is None else work.interruptible():
        _search(found, passing, weight, work, options)
    found.stopped |= work is not None and bool(work.stopped)
    return found


def _search(
    found: Search, passing: Sequence[Run], weight: Mapping[Statement, float], work: Work | None, options: Options
) -> None:
    """Fill in what is found, so that it is there whenever the search ends."""
    runs = found.runs
    branches = mending_branches(work, runs) if work is not None else [[] for _ in runs]
    for number, (run, events) in enumerate(zip(runs, branches, strict=True)):
        share = _share(options, len(runs) - number)
        mine = _minimal([d for formula in _formulas(found, run, events, share) for d in formula(weight)])
        found.diagnoses += mine
        found.notes.update(run.encoding.notes)
        if work is not None and options.confirms:
            single = [d for d in mine if len(d.statements) == 1]
            for diagnosis, passes in zip(single, confirmed(work, run, [d.changes for d in single]), strict=True):
                diagnosis.confirmed = passes
    if options.consistency and runs:
        _compare(found, _same(found, passing, options), options)


def _share(options: Options, left: int) -> Options:
    """The options for one of the runs that are left: an equal part of the time, as much again being for comparing."""
    now = time.monotonic()
    return replace(options, deadline=now + (options.deadline - now) / (left + 1))


_Sets = Callable[[Mapping[Statement, float]], Iterator[Diagnosis]]


def _formulas(found: Search, run: FailingRun, events: Sequence[int], options: Options) -> Iterator[_Sets]:
    """What gives the sets of each formula of a run, that of its symptom first, until the time is over."""
    yield partial(_sets, found, symptom_formula(run, options.query), PATH, None, options)
    for event in events:
        if time.monotonic() >= options.deadline:
            found.stopped = True
            return
        formula = branch_formula(run, event, options.query)
        yield partial(_sets, found, formula, BRANCH, run.reader.statement(event), options)


def _sets(
    found: Search,
    formula: TraceFormula,
    way: str,
    switched: Statement | None,
    options: Options,
    weight: Mapping[Statement, float],
) -> Iterator[Diagnosis]:
    if formula.contradictions:
        found.contradicting.append(formula)
        return
    sets = formula.sets(options.size, [weight.get(s, 1.0) for s in formula.statements], options.deadline)
    found.questions += sets.questions
    found.stopped |= sets.stopped
    found.notes.update(formula.notes)
    found.floats |= formula.notes.total() > 0
    found.undecided += [tuple(formula.statements[g] for g in sorted(groups)) for groups in sets.undecided]
    if sets.undecided and switched is not None:  # what the altered run has shown needs no solver
        event = max(formula.goal_events)
        was = formula.run.encoding.evaluation.value(formula.run.path.results[event]) or 0
        yield Diagnosis(formula, (switched,), [Change(event, was, 1 - was, only=True)], way, switched)
    if sets.possible:
        found.holding.append(formula.run.recording.case.name)
    most = max(sum(len(groups) == 1 for groups in sets.sets), EXPLAINED)
    for number, groups in enumerate(sets.sets):
        statements = tuple(formula.statements[group] for group in sorted(groups))
        changes = correction_values(formula, groups, options.deadline) if number < most else []
        yield Diagnosis(formula, statements, changes, way, switched)


# ---- Consistency -----------------------------------------------------------------------------------------------------


def _same(found: Search, passing: Sequence[Run], options: Options) -> list[TraceFormula]:
    """The formulas of passing runs: what they gave where failing runs show their symptom was right."""
    shown = {run.reader.trace.site(event) for run in found.runs for event in [aim.event for aim in run.aims]}
    formulas = []
    for run in passing:
        events = [e for e in run.path.results if run.reader.trace.site(e) in shown][:MOST_EVENTS]
        if events and time.monotonic() < options.deadline:
            formulas.append(same_formula(run, events, options.query))
    found.compared = len(formulas)
    return formulas


def _compare(found: Search, passing: Sequence[TraceFormula], options: Options) -> None:
    """Find out for each statement that is a set alone whether its new values can be a function of its operands."""
    terms = found.runs[0].encoding.terms
    consistency = Consistency(terms, passing, options.query, options.deadline)
    templates = Templates(terms, passing, options.query, options.deadline)
    for statement in sorted({d.statements[0] for d in found.diagnoses if len(d.statements) == 1}):
        mine = [d for d in found.diagnoses if d.statements == (statement,)]
        if time.monotonic() >= options.deadline:
            found.stopped = True
            return
        function = consistency.function(statement, [d.formula for d in mine])
        for diagnosis in mine:
            diagnosis.function = function
        if function.holds and not function.also and options.templates:
            found.repairs[statement] = templates.repairs(statement, [d.formula for d in mine])


def _minimal(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The best diagnosis of each set, without sets that hold a smaller one."""
    best: dict[tuple[Statement, ...], Diagnosis] = {}
    for diagnosis in sorted(diagnoses, key=lambda d: d.key):
        smaller = (known for known in best if set(known) < set(diagnosis.statements))
        if diagnosis.statements not in best and next(smaller, None) is None:
            best[diagnosis.statements] = diagnosis
    return list(best.values())
