"""Formula-based localisation of several failing runs: the sets of each, and the statements that they name, ranked.

For each failing run the minimal correction sets of its path's formula, and of the formulas of branches whose switch
mends it. A statement is ranked by the failing runs that a change of it alone can make right (the intersection over
failing inputs of Jin and Orso, section III-B6, kept as a count), then by whether its new values can be a function of
what it reads, by repairs that hold when they are forced, and by its suspiciousness (their clause weights).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence.findings import Entry, Findings, Statement, rank
from whence.techniques.correction.consistency import Table, is_consistent
from whence.techniques.correction.forced import confirmed, formula_of_branch, mending_branches
from whence.techniques.correction.formula import Change, Run, TraceFormula
from whence.techniques.correction.told import tell, values_of

if TYPE_CHECKING:
    from whence.alter.work import Work

EXPLAINED = 40  # sets of one formula whose values are looked for
LISTED = 200  # diagnoses in the findings
NOTED = 5  # kinds of notes, and undecided sets, that are named
PATH, BRANCH = "path", "branch"


@dataclass(slots=True, frozen=True)
class Options:
    """``size``: statements in a set at most. ``query``: seconds for one question; ``deadline``: of ``time.monotonic``.

    ``consistency`` and ``confirms`` turn those keys of the ranking on.
    """

    size: int = 2
    query: float = 2.0
    deadline: float = float("inf")
    consistency: bool = True
    confirms: bool = True


@dataclass(slots=True)
class Diagnosis:
    """A correction set of one failing run, with what its values had to be.

    ``way``: ``path`` (found on the recorded path) or ``branch`` (by the switch of the branch on line ``switched``).
    ``consistent``, ``confirmed``: None where that is not known.
    """

    run: Run
    statements: tuple[Statement, ...]
    changes: list[Change]
    way: str
    switched: Statement | None = None
    consistent: bool | None = None
    confirmed: bool | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What comes first among the diagnoses of a run."""
        return len(self.statements), self.consistent is False, self.confirmed is not True, self.way != PATH


@dataclass(slots=True)
class Search:
    """The diagnoses of all runs, and what has to be known about them."""

    runs: list[Run]
    diagnoses: list[Diagnosis] = field(default_factory=list)
    questions: int = 0
    undecided: list[tuple[Statement, ...]] = field(default_factory=list)
    stopped: bool = False
    holding: list[str] = field(default_factory=list)  # cases whose goal the formula meets without any change
    notes: Counter[str] = field(default_factory=Counter)


def search(
    runs: Sequence[Run], table: Table, weight: Mapping[Statement, float], work: Work | None, options: Options
) -> Search:
    """The correction sets of each run; with ``work`` also those by switched branches, and repairs tried.

    ``weight`` of a statement is lower the more suspicious it is; 1 where it has none.
    """
    found = Search(list(runs))
    branches = mending_branches(work, runs) if work is not None else [[] for _ in runs]
    for run, events in zip(runs, branches, strict=True):
        mine = _of_run(found, run, events, table, weight, options)
        mine = _minimal(mine)
        if work is not None and options.confirms:
            single = [d for d in mine if len(d.statements) == 1]
            for diagnosis, passes in zip(single, confirmed(work, run, [d.changes for d in single]), strict=True):
                diagnosis.confirmed = passes
        found.diagnoses += mine
        found.notes.update(run.encoding.notes)
    return found


def _of_run(
    found: Search,
    run: Run,
    events: Sequence[int],
    table: Table,
    weight: Mapping[Statement, float],
    options: Options,
) -> list[Diagnosis]:
    """The sets of one run's formulas, that of its symptom first."""
    mine: list[Diagnosis] = []
    formulas: list[Callable[[], TraceFormula]] = [
        lambda: TraceFormula(run, run.aims, run.references, options.query),
        *(lambda event=event: formula_of_branch(run, event, options.query) for event in events),  # type: ignore[misc]
    ]
    for number, make in enumerate(formulas):
        if time.monotonic() >= options.deadline:
            found.stopped = True
            break
        formula = make()
        switched = run.story.statement(events[number - 1]) if number else None
        mine += _of_formula(found, formula, switched, number == 0, table, weight, options)
    return mine


def _of_formula(
    found: Search,
    formula: TraceFormula,
    switched: Statement | None,
    on_path: bool,
    table: Table,
    weight: Mapping[Statement, float],
    options: Options,
) -> Iterator[Diagnosis]:
    sets = formula.sets(options.size, [weight.get(s, 1.0) for s in formula.statements], options.deadline)
    found.questions += sets.questions
    found.stopped |= sets.stopped
    found.notes.update(formula.notes)
    found.undecided += [tuple(formula.statements[g] for g in sorted(groups)) for groups in sets.undecided]
    if sets.possible:
        found.holding.append(formula.run.recording.case.name)
    for number, groups in enumerate(sets.sets):
        statements = tuple(formula.statements[group] for group in sorted(groups))
        changes = formula.changes(groups, options.deadline) if number < EXPLAINED else []
        diagnosis = Diagnosis(formula.run, statements, changes, PATH if on_path else BRANCH, switched)
        if len(groups) == 1 and options.consistency and time.monotonic() < options.deadline:
            diagnosis.consistent = is_consistent(formula, next(iter(groups)), table)
        yield diagnosis


def _minimal(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The best diagnosis of each set, without sets that hold a smaller one."""
    best: dict[tuple[Statement, ...], Diagnosis] = {}
    for diagnosis in sorted(diagnoses, key=lambda d: d.key):
        smaller = (known for known in best if set(known) < set(diagnosis.statements))
        if diagnosis.statements not in best and next(smaller, None) is None:
            best[diagnosis.statements] = diagnosis
    return list(best.values())


# ---- Findings --------------------------------------------------------------------------------------------------------


def findings(subject: str, found: Search, suspects: Sequence[Entry]) -> Findings:
    """The statements of all sets, ranked; the sets are the part ``diagnoses``. ``suspects`` decide among equals."""
    suspicion = {entry.statement: entry.score for entry in suspects}
    keys, evidence = {}, {}
    for statement in {s for d in found.diagnoses for s in d.statements}:
        mine = [d for d in found.diagnoses if statement in d.statements]
        evidence[statement] = _evidence(mine, len(found.runs), suspicion.get(statement))
        keys[statement] = _key(evidence[statement], suspicion.get(statement, float("-inf")))
    order = {key: number for number, key in enumerate(sorted(set(keys.values())), 1)}
    scores = {statement: order[key] / len(order) for statement, key in keys.items()}
    result = Findings("formula", subject, rank(scores, evidence), found.runs[0].symptom if found.runs else None)
    place = {entry.statement: entry.rank for entry in result.ranking}
    listed = sorted(found.diagnoses, key=lambda d: (len(d.statements), sum(place[s] for s in d.statements), d.key[1:]))
    result.parts["diagnoses"] = [_part(d) for d in listed[:LISTED]]
    result.summary = list(_summary(found))
    return result


def _key(evidence: Mapping[str, Any], suspicion: float) -> tuple[float, ...]:
    """What a statement is ranked by: alone in runs, consistent, confirmed, in larger sets, suspicious."""
    return evidence["alone"], evidence["consistent"], evidence["confirmed"], evidence["together"], suspicion


def _evidence(diagnoses: Sequence[Diagnosis], runs: int, suspicion: float | None) -> dict[str, Any]:
    alone = [d for d in diagnoses if len(d.statements) == 1]
    first = min(diagnoses, key=lambda d: (d.key, not d.changes))
    return {
        "text": _text(first),
        "alone": len({id(d.run) for d in alone}),
        "together": len({id(d.run) for d in diagnoses}) - len({id(d.run) for d in alone}),
        "runs": runs,
        "consistent": sum(d.consistent is True for d in alone),
        "confirmed": sum(d.confirmed is True for d in alone),
        "suspiciousness": suspicion,
    }


def _text(diagnosis: Diagnosis) -> str:
    text = tell(diagnosis.run.story, diagnosis.changes)
    if len(diagnosis.statements) > 1:
        places = " and ".join(f"{s.file}:{s.line}" for s in diagnosis.statements)
        return f"together, {places}: {text}" if text else f"together: {places}"
    return text or "a change of what it computes can make the run right"


def _part(diagnosis: Diagnosis) -> dict[str, Any]:
    story, switched = diagnosis.run.story, diagnosis.switched
    return {
        "case": diagnosis.run.recording.case.name,
        "statements": [{"file": s.file, "line": s.line} for s in diagnosis.statements],
        "way": diagnosis.way,
        "switched": None if switched is None else {"file": switched.file, "line": switched.line},
        "text": _text(diagnosis),
        "values": [values_of(story, change) for change in diagnosis.changes],
        "consistent": diagnosis.consistent,
        "confirmed": diagnosis.confirmed,
    }


def _summary(found: Search) -> Iterator[str]:
    """What was done, and what was not."""
    alone = len({d.statements for d in found.diagnoses if len(d.statements) == 1})
    branch = sum(d.way == BRANCH for d in found.diagnoses)
    yield (
        f"{alone:,} statements that alone can make a run right, {len(found.diagnoses):,} correction sets in "
        f"{len(found.runs):,} failing runs, {branch:,} of them by a branch sent the other way; "
        f"{found.questions:,} questions to the solver"
    )
    if found.stopped:
        yield "stopped early: sets are missing; more time: --budget 5m"
    for name in found.holding:
        yield f"`{name}`: the formula does not say why it failed, since the goal can be met without a change"
    for statements in found.undecided[:NOTED]:
        yield f"not decided in the time for one question: {', '.join(f'{s.file}:{s.line}' for s in statements)}"
    if len(found.undecided) > NOTED:
        yield f"not decided: {len(found.undecided) - NOTED:,} more sets"
    yield from (f"taken as recorded: {note} ({count:,} times)" for note, count in found.notes.most_common(NOTED))
