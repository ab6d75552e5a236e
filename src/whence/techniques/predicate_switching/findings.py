"""Findings of predicate switching: statements ranked by what their switched branches make of the failing runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import NOWHERE
from whence.dependence.predicate_switching import Switched
from whence.dependence.predicates import OUTSIDE, Predicates
from whence.findings import Entry, Findings, Statement, plural, rank

ORDERS = ("dependence", "last")
LISTED = 1000  # predicates in the findings
VALUES_TOLD = 4  # of a condition, in a sentence

Array = NDArray[np.void]


@dataclass(slots=True)
class _Evidence:
    """What the switches say about one statement: the cases with each kind of evidence, and the nearest instance."""

    critical: set[str]
    corrected: set[str]
    instances: int = 0
    depth: int = OUTSIDE
    text: str = ""

    @property
    def key(self) -> tuple[int, int, int]:
        """What the statement is ranked by before its suspiciousness; higher is worse."""
        return len(self.critical), 0 if self.critical else len(self.corrected), -self.depth


NOTHING = (0, 0, -OUTSIDE - 1)


def switch_findings(subject: str, searched: Sequence[Switched], suspects: Sequence[Entry]) -> Findings:
    """Rank statements by the number of runs that their switched branches mend, then by nearness to the failure.

    ``suspects`` is the ranking by coverage, which decides among equals; the score's whole part is the number of runs.
    """
    known = _evidence(searched)
    suspicion = {entry.statement: entry.score for entry in suspects}
    notes = {entry.statement: entry.evidence for entry in suspects}
    low = min(suspicion.values(), default=0.0)
    keys = {
        statement: (known[statement].key if statement in known else NOTHING, suspicion.get(statement, low))
        for statement in {*suspicion, *known}
    }
    place = {key: position for position, key in enumerate(sorted(set(keys.values())), 1)}
    scores = {s: key[0][0] + place[key] / (len(place) + 1) for s, key in keys.items()}
    for statement, evidence in known.items():
        notes[statement] = _note(evidence, notes.get(statement, {}), len(searched))
    result = Findings("switch", subject, rank(scores, notes))
    result.parts["predicates"] = predicates_part(searched)
    result.parts["switching"] = [_totals(run) for run in searched]
    first, *result.remarks = _summary(searched)
    result.summary = [first]
    return result


def _evidence(searched: Sequence[Switched]) -> dict[Statement, _Evidence]:
    """By statement; runs in order, so that its sentence tells the first instance of the shortest run."""
    found: dict[Statement, _Evidence] = {}
    for run in searched:
        for index in _informative(run):
            predicates, row = run.failing.predicates, run.rows[index]
            statement, passes = predicates.statement(row), bool(run.critical[index])
            if statement is None:
                continue
            evidence = found.setdefault(statement, _Evidence(set(), set()))
            if passes and not evidence.critical:  # what corrects only a part counts no more
                evidence.text, evidence.depth, evidence.instances = "", OUTSIDE, 0
            elif evidence.critical and not passes:
                continue
            (evidence.critical if passes else evidence.corrected).add(run.failing.case.name)
            evidence.instances += 1
            evidence.depth = min(evidence.depth, int(row["depth"]))
            evidence.text = evidence.text or sentence(predicates, row, _effect(run, index))
    return found


def _informative(run: Switched) -> list[int]:
    """Indices of the alternatives that say something: the critical ones first, each kind in order."""
    critical = run.critical
    partly = np.flatnonzero(run.corrected & ~critical)
    found: list[int] = np.concatenate([np.flatnonzero(critical), partly]).tolist()
    return found


def _effect(run: Switched, index: int) -> str:
    """What came of a switch."""
    if run.critical[index]:
        return "the run passes"
    before, after = int(run.observed.result["first_wrong"]), int(run.results["first_wrong"][index])
    if after == NOWHERE:
        return "the output is right, but not the status"
    if (expected := run.failing.case.expected) is not None and expected.files:
        return "more of what it writes is right"
    return f"the first wrong byte of the output is number {after + 1:,}, not {before + 1:,}"


def sentence(predicates: Predicates, row: np.void, effect: str) -> str:
    """One sentence: which condition, which way instead of which, when, what then, and the values at hand."""
    number, count = predicates.occurrence(row)
    taken = predicates.taken(row)
    when = "" if count == 1 else f" at time {number:,} of {count:,}"
    way = f"`{predicates.other(row)}`" + (f" instead of `{taken}`" if taken else "")
    told = [f"`{v['name']}` was {v['value']}" for v in predicates.values(row) if v["value"] is not None]
    values = f" ({', '.join(told[:VALUES_TOLD])})" if told else ""
    return f"with `{predicates.text(row) or 'the branch'}` {way}{when} {effect}{values}"


def _note(evidence: _Evidence, others: Mapping[str, Any], runs: int) -> dict[str, Any]:
    """A statement's evidence, beside what its coverage says."""
    cases = len(evidence.critical or evidence.corrected)
    text = evidence.text + (f"; likewise in {cases} of {runs} failing cases" if runs > 1 else "")
    also = f"; {others['text']}" if "text" in others else ""
    note = {**others, "text": text + also, "critical": len(evidence.critical), "corrected": len(evidence.corrected)}
    note |= {"instances": evidence.instances}
    return note | ({"depth": evidence.depth} if evidence.depth != OUTSIDE else {})


def predicates_part(searched: Sequence[Switched]) -> list[dict[str, Any]]:
    """The part ``predicates`` (docs/json.md): critical ones first, then those that correct a part, run by run."""
    ordered = sorted(
        ((not run.critical[index], number, index) for number, run in enumerate(searched) for index in _informative(run))
    )
    return [_predicate(searched[number], index) for _, number, index in ordered[:LISTED]]


def _predicate(run: Switched, index: int) -> dict[str, Any]:
    predicates, row = run.failing.predicates, run.rows[index]
    statement = predicates.statement(row)
    number, count = predicates.occurrence(row)
    after = int(run.results["first_wrong"][index])
    return {
        "file": statement.file if statement else None,
        "line": statement.line if statement else None,
        "text": predicates.text(row),
        "case": run.failing.case.name,
        "occurrence": number,
        "instances": count,
        "taken": predicates.taken(row),
        "switched": predicates.other(row),
        "values": predicates.values(row),
        "clock": int(row["clock"]),
        "depth": int(row["depth"]) if row["depth"] != OUTSIDE else None,
        "effect": "passes" if run.critical[index] else "corrects",
        "first_wrong": None if after == NOWHERE else after,
    }


def _totals(run: Switched) -> dict[str, Any]:
    """What was done with one case's run."""
    return {
        "case": run.failing.case.name,
        "alternatives": len(run.failing.predicates.rows),
        "tried": run.tried,
        "critical": int(np.count_nonzero(run.critical)),
        "corrected": int(np.count_nonzero(run.corrected)),
        "one_sided": run.failing.predicates.one_sided,
    }


def _summary(searched: Sequence[Switched]) -> Iterator[str]:
    """What was switched and what came of it, in sentences."""
    totals = [_totals(run) for run in searched]
    tried, all_, critical, partly, one_sided = (
        sum(t[key] for t in totals) for key in ("tried", "alternatives", "critical", "corrected", "one_sided")
    )
    lacking = sum(not t["critical"] for t in totals)
    if all_ and not tried:
        yield f"switched none of {plural(all_, 'branch instance')} of {plural(len(totals), 'failing run')}: no time"
        return
    yield (
        f"switched {tried:,} of {plural(all_, 'branch instance')} of {plural(len(totals), 'failing run')}: "
        f"{critical or 'none'} of the switches {'makes' if critical < 2 else 'make'} a run pass"
        + (f", {partly:,} correct a part of the output" if partly else "")
    )
    if critical and lacking:
        yield f"{lacking} of {len(totals)} runs have no critical predicate"
    if not critical and not partly:
        yield "no switch makes a difference: of itself `whence switch` ranks as op2 does"
    if one_sided:
        yield f"left out: {plural(one_sided, 'branch instance')} without another side"
    listed = critical + partly
    if listed > LISTED:
        yield f"the first {LISTED:,} of {listed:,} predicates are listed"
    for run in searched:
        if run.observed.refusal:
            yield f"altered runs of {run.failing.case.name} start from the beginning: {run.observed.refusal}"
        if run.astray:
            yield f"{run.failing.case.name}: {plural(run.astray, 'branch instance')} not met again: its runs differ"
