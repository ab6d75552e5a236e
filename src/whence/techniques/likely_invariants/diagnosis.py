"""``whence invariants``: candidates by likely invariants, and a ranking of statements.

Two rankings: the paper's, which walks the candidates from the last step to the first, in each by the number of failing
inputs that they hold for (Sahoo et al. 2013, section 2.4); and the default, in which all that the runs say are votes
(``ranking``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Entry, Findings, Statement, rank
from whence.techniques.likely_invariants.candidates import NAMES, Candidates, Step, candidates
from whence.techniques.likely_invariants.feedback import WORDS, Candidate, Feedback
from whence.techniques.likely_invariants.initial_values import Ranked, initial_values
from whence.techniques.likely_invariants.kinds import Kind, Settings, allowed_kinds, learn
from whence.techniques.likely_invariants.predicates import Form
from whence.techniques.likely_invariants.ranking import Scores, score
from whence.techniques.likely_invariants.runs import Failing, Observer, Run
from whence.techniques.likely_invariants.training import NUMBER, Choice, choose

LISTED = 200  # candidates in the result
TINY = 1e-9  # scores that differ by less are equal


@dataclass(slots=True, frozen=True)
class Options:
    """What is asked for: kinds of invariants, how many training runs and which, and whether to rank as the paper."""

    settings: Settings = field(default_factory=Settings)
    choice: Choice = Choice.MIXTURE
    number: int = NUMBER
    paper: bool = False


def diagnose(
    observer: Observer,
    failing: Sequence[Failing],
    good: Sequence[Run],
    options: Options,
    others: Sequence[NDArray[np.int64]] = (),
) -> Findings:
    """What likely invariants say of the first failing run; ``good`` runs are trained on, and compared with.

    The other failing runs are what the paper's last step intersects, and votes in the default ranking. ``others``: the
    blocks that each further passing run executed, which was not recorded; what they executed tells no failing run.
    """
    subject = observer.subject
    training = choose(good, failing[0], options.choice, options.number)
    invariants = learn([run.profile for run in training], len(observer.static), len(observer.pairs))
    found = candidates(observer, failing, invariants, options.settings)
    found_candidates = (feedback := Feedback(observer, invariants, found)).candidates()
    findings = Findings("invariants", subject.name, symptom=failing[0].symptom)
    findings.parts["cases"] = _cases(failing, good)
    count = invariants.count(allowed_kinds(observer.static, options.settings))
    findings.parts["candidates"] = _part(observer, found, found_candidates, training, options, count, len(failing))
    if options.paper:
        findings.ranking = _walked(found_candidates, len(failing))
    else:
        initial = initial_values(observer, failing, good)
        findings.ranking = _voted(observer, score(observer, failing, good, others), feedback, found_candidates, initial)
    findings.remarks += _summary(found, training, options, count, [*failing, *good])
    return findings


def _cases(failing: Sequence[Failing], good: Sequence[Run]) -> dict[str, Any]:
    return {"passed": len(good), "failed": len(failing), "names_failed": [run.case.name for run in failing]}


def _part(
    observer: Observer,
    found: Candidates,
    found_candidates: Sequence[Candidate],
    training: Sequence[Run],
    options: Options,
    invariants: int,
    failing: int,
) -> dict[str, Any]:
    """The part ``candidates`` of a result (docs/json.md)."""
    places, instructions = observer.subject.places, observer.subject.plan.sites["instruction"]
    steps = []
    for step, sites in zip(Step, found.sets, strict=True):
        numbers = np.unique(places.numbers[instructions[sites]])
        steps.append({"step": NAMES[step], "sites": len(sites), "lines": int(np.count_nonzero(numbers >= 0))})
    return {
        "case": found.broken[0].run.case.name,
        "training": [run.case.name for run in training],
        "choice": str(options.choice),
        "invariants": invariants,
        "intersected": found.several,
        "steps": steps,
        "entries": [candidate.part(failing) for candidate in found_candidates[:LISTED]],
    }


# ---- The paper's ranking ---------------------------------------------------------------------------------------------


def _walked(found_candidates: Sequence[Candidate], failing: int) -> list[Entry]:
    """Statements in the order of the candidates; the further lines of a candidate's expression right behind it."""
    keys: dict[Statement, tuple[int, int, float, int]] = {}
    notes: dict[Statement, dict[str, Any]] = {}
    for candidate in found_candidates:
        for line in candidate.lines:
            is_own = line == candidate.statement
            key = (int(candidate.step), candidate.failing, candidate.distance, int(is_own))
            if line not in keys or key > keys[line]:
                text = candidate.text if is_own else f"part of what line {candidate.statement.line} computes"
                keys[line] = key
                notes[line] = {"text": text, "step": NAMES[candidate.step], "failing_runs": candidate.failing}
    return rank(_places(keys), notes)


def _places(keys: Mapping[Statement, tuple[float, ...]]) -> dict[Statement, float]:
    """Scores from 1 down to 0 in the order of the keys; equal keys share one."""
    distinct = sorted(set(keys.values()))
    place = {key: (number + 1) / len(distinct) for number, key in enumerate(distinct)}
    return {statement: place[key] for statement, key in keys.items()}


# ---- The default ranking ---------------------------------------------------------------------------------------------


def _voted(
    observer: Observer, scores: Scores, feedback: Feedback, found_candidates: Sequence[Candidate], initial: Ranked
) -> list[Entry]:
    """The statements that a failing run executed, and the initial values that it read, by their score."""
    statements = observer.subject.places.statements
    by_statement: dict[Statement, Candidate] = {}
    for candidate in found_candidates:
        by_statement.setdefault(candidate.statement, candidate)
    ranked, notes = {}, {}
    for number in np.flatnonzero(scores.executed.a11).tolist():
        statement = statements[number]
        ranked[statement] = round(float(scores.total[number]) / TINY) * TINY
        notes[statement] = _note(scores, number, feedback, by_statement.get(statement))
    for statement, (value, note) in initial.items():
        if statement not in ranked:  # a line that code stands on, too, is told by the code
            ranked[statement], notes[statement] = round(value / TINY) * TINY, note
    return rank(ranked, notes)


def _note(scores: Scores, number: int, feedback: Feedback, candidate: Candidate | None) -> dict[str, Any]:
    """The evidence of a statement."""
    counts = scores.covered
    a11, a10, failed, passed = (
        int(counts.a11[number]),
        int(counts.a10[number]),
        counts.total_failed,
        counts.total_passed,
    )
    is_refuted = (
        candidate is not None and candidate.kinds == [WORDS[Kind.EXECUTED]] and a10 > scores.executed.a10[number]
    )
    parts = [candidate.text] if candidate and not is_refuted else []
    if scores.predicate[number] > 0 and (sentence := _sentence(scores, number, feedback)):
        parts.append(sentence)
    parts.append(f"executed by {a11} of {failed} failing and {a10 or 'none'} of {passed} passing runs")
    note = {"text": "; ".join(parts), "failing": a11, "failing_total": failed, "passing": a10, "passing_total": passed}
    note |= {
        "predicate": round(float(scores.predicate[number]), 6),
        "in_slices": int(scores.sliced.a11[number]),
        "first_broken": round(float(scores.first[number]), 6),
    }
    return note | ({"step": NAMES[candidate.step]} if candidate else {})


def _sentence(scores: Scores, number: int, feedback: Feedback) -> str:
    """The best predicate of a statement, in words; empty where it says no more than that the line was executed."""
    predicates, site = scores.predicates, int(scores.site[number])
    row = int(np.searchsorted(predicates.sites, site))
    failing, passing = int(predicates.failing[row]), int(predicates.passing[row])
    executed = scores.executed
    if (failing, passing) == (int(executed.a11[number]), int(executed.a10[number])):
        return ""
    what = feedback.reached(site, Form(int(predicates.form[row])), int(predicates.bound[row]))
    of_passing = f"{passing or 'none'} of {executed.total_passed} passing runs"
    return f"{what} in {failing} of {executed.total_failed} failing and {of_passing}"


# ---- Words -----------------------------------------------------------------------------------------------------------


def _summary(
    found: Candidates, training: Sequence[Run], options: Options, invariants: int, runs: Sequence[Run]
) -> list[str]:
    """What was done, in sentences."""
    sizes = [len(sites) for sites in found.sets]
    last = f", {sizes[3]:,} in all {found.several} failing runs with this symptom" if found.several > 1 else ""
    lines = [
        f"learned invariants at {invariants:,} places from {len(training)} good "
        f"{'run' if len(training) == 1 else 'runs'} ({options.choice}); the failing run breaks them at {sizes[0]:,}: "
        f"{sizes[1]:,} in the slice of the failure, {sizes[2]:,} after dependence filtering{last}"
    ]
    cut = sum(run.profile.cut for run in runs)
    if cut:
        lines.append(f"of {cut} long {'run' if cut == 1 else 'runs'} only the first part was looked at")
    return lines
