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
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from whence.findings import Entry, Findings, Statement, rank
from whence.techniques.correction.consistency import Consistency, Function
from whence.techniques.correction.forced import confirmed, mending_branches
from whence.techniques.correction.formula import (
    FailingRun,
    Run,
    TraceFormula,
    branch_formula,
    same_formula,
    symptom_formula,
)
from whence.techniques.correction.right import Change
from whence.techniques.correction.templates import Templates
from whence.techniques.correction.told import tell, values_of
from whence.techniques.slicing import plural

if TYPE_CHECKING:
    from whence.alter.work import Work

EXPLAINED = 10  # sets of one formula whose values are looked for; those of one statement are in any case
LISTED = 200  # diagnoses in the findings
MOST_EVENTS = 50  # of a passing run whose values have to stay
REPAIRS = 2  # templates that are told
NOTED = 5  # kinds of notes, and undecided sets, that are named
PATH, BRANCH = "path", "branch"
UNKNOWN = Function(None)


@dataclass(slots=True, frozen=True)
class Options:
    """``size``: statements in a set at most. ``query``: seconds for one question; ``deadline``: of ``time.monotonic``.

    ``consistency``, ``templates`` and ``confirms`` turn those keys of the ranking on; templates need consistency.
    """

    size: int = 2
    query: float = 2.0
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

    ``repairs``: of statements that are a set alone and consistent, the templates that repair all runs.
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
    branches = mending_branches(work, runs) if work is not None else [[] for _ in runs]
    for number, (run, events) in enumerate(zip(runs, branches, strict=True)):
        share = _share(options, len(runs) - number)
        mine = _minimal([d for formula in _formulas(found, run, events, share) for d in formula(weight)])
        if work is not None and options.confirms:
            single = [d for d in mine if len(d.statements) == 1]
            for diagnosis, passes in zip(single, confirmed(work, run, [d.changes for d in single]), strict=True):
                diagnosis.confirmed = passes
        found.diagnoses += mine
        found.notes.update(run.encoding.notes)
    if options.consistency and runs:
        _compare(found, _same(found, passing, options), options)
    return found


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
        yield partial(_sets, found, formula, BRANCH, run.story.statement(event), options)


def _sets(
    found: Search,
    formula: TraceFormula,
    way: str,
    switched: Statement | None,
    options: Options,
    weight: Mapping[Statement, float],
) -> Iterator[Diagnosis]:
    sets = formula.sets(options.size, [weight.get(s, 1.0) for s in formula.statements], options.deadline)
    found.questions += sets.questions
    found.stopped |= sets.stopped
    found.notes.update(formula.notes)
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
        changes = formula.changes(groups, options.deadline) if number < most else []
        yield Diagnosis(formula, statements, changes, way, switched)


# ---- Consistency -----------------------------------------------------------------------------------------------------


def _same(found: Search, passing: Sequence[Run], options: Options) -> list[TraceFormula]:
    """The formulas of passing runs: what they gave where failing runs show their symptom was right."""
    shown = {run.story.trace.site(event) for run in found.runs for event in [aim.event for aim in run.aims]}
    formulas = []
    for run in passing:
        events = [e for e in run.path.results if run.story.trace.site(e) in shown][:MOST_EVENTS]
        if events and time.monotonic() < options.deadline:
            formulas.append(same_formula(run, events, options.query))
    found.compared = len(formulas)
    return formulas


def _compare(found: Search, passing: Sequence[TraceFormula], options: Options) -> None:
    """Find out for each statement that is a set alone whether its new values can be a function of its operands."""
    terms = found.runs[0].encoding.terms
    consistency = Consistency(terms, passing, options.query)
    templates = Templates(terms, passing, options.query)
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


# ---- Findings --------------------------------------------------------------------------------------------------------


def findings(subject: str, found: Search, suspects: Sequence[Entry]) -> Findings:
    """The statements of all sets, ranked; the sets are the part ``diagnoses``. ``suspects`` decide among equals."""
    suspicion = {entry.statement: entry.score for entry in suspects}
    keys, evidence = {}, {}
    for statement in {s for d in found.diagnoses for s in d.statements}:
        mine = [d for d in found.diagnoses if statement in d.statements]
        evidence[statement] = _evidence(mine, found, statement, suspicion.get(statement))
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
    consistent = 0 if not evidence["consistent"] else 1 if evidence["also"] else 2
    repairs = len(evidence["repairs"])
    return evidence["alone"], consistent, repairs, evidence["confirmed"], evidence["together"], suspicion


def _evidence(
    diagnoses: Sequence[Diagnosis], found: Search, statement: Statement, suspicion: float | None
) -> dict[str, Any]:
    repairs = found.repairs.get(statement, [])
    alone = [d for d in diagnoses if len(d.statements) == 1]
    function = next((d.function for d in alone), UNKNOWN)
    sentences = [_text(min(diagnoses, key=lambda d: (d.key, not d.changes)))]
    if repairs:
        sentences.append(f"would repair all: {', '.join(repairs[:REPAIRS])}")
    if function.also:
        sentences.append(f"would repair all if it depended on `{function.also}` as well")
    return {
        "text": "; ".join(sentences),
        "alone": len({id(d.run) for d in alone}),
        "together": len({id(d.run) for d in diagnoses}) - len({id(d.run) for d in alone}),
        "runs": len(found.runs),
        "consistent": function.holds,
        "also": function.also,
        "repairs": repairs,
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
        "consistent": diagnosis.function.holds,
        "also": diagnosis.function.also,
        "confirmed": diagnosis.confirmed,
    }


def _summary(found: Search) -> Iterator[str]:
    """What was done, and what was not."""
    alone = len({d.statements for d in found.diagnoses if len(d.statements) == 1})
    branch = sum(d.way == BRANCH for d in found.diagnoses)
    yield (
        f"{plural(alone, 'statement')} can make a run right alone; {plural(len(found.diagnoses), 'correction set')} of "
        f"{plural(len(found.runs), 'failing run')}, {branch:,} by a branch sent the other way; "
        f"compared with {plural(found.compared, 'passing run')}; {plural(found.questions, 'question')} to the solver"
    )
    if found.stopped:
        yield "stopped early: sets are missing; more time: --budget 5m"
    for name in found.holding:
        yield f"`{name}`: the formula does not say why it failed, since the goal can be met without a change"
    for statements in found.undecided[:NOTED]:
        yield f"not decided in the time for one question: {', '.join(f'{s.file}:{s.line}' for s in statements)}"
    if len(found.undecided) > NOTED:
        yield f"not decided: {len(found.undecided) - NOTED:,} more sets"
    notes = ((note, count) for note, count in found.notes.most_common(NOTED) if count)
    yield from (f"not in the formulas: {note} ({plural(count, 'time')})" for note, count in notes)
