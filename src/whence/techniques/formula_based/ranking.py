"""The statements that correction sets name, ranked and told.

What altered runs have shown counts before what formulas say, since it holds for the whole run: a rule (a template of
what the statement computes, tried in altered runs of all cases), then values that were forced. Then the failing runs
that a change of the statement alone can make right (the intersection over failing inputs of Jin and Orso, section
III-B6, kept as a count), whether its new values can be a function of what it reads, templates that repair these, and
its suspiciousness (their clause weights). Where formulas say it all, only statements of which something was found are
ranked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whence.findings import Entry, Findings, Statement, Symptom, plural, rank
from whence.techniques.formula_based.explanation import explain, values_of
from whence.techniques.formula_based.localisation import BRANCH, UNKNOWN, Diagnosis, Search

LISTED = 200  # diagnoses in the findings
REPAIRS = 2  # templates that are told
NOTED = 5  # kinds of notes, and undecided sets, that are named
RELAXED = 0.5  # what a run counts in which forced values correct the first wrong line alone (as in ``values``)


def findings(
    subject: str,
    found: Search,
    suspects: Sequence[Entry],
    altered: Sequence[Findings] = (),
    symptom: Symptom | None = None,
) -> Findings:
    """The statements of all sets, ranked; the sets are the part ``diagnoses``. ``suspects`` decide among equals.

    ``altered`` are the findings of ``rules`` and ``values``. Where formulas do not say it all, all suspects are ranked
    with them, since being in no set rules out nothing then.
    """
    suspicion = {entry.statement: entry.score for entry in suspects}
    shown = _Shown(altered)
    evidence = {}
    named = {statement for diagnosis in found.diagnoses for statement in diagnosis.statements}
    for statement in named | shown.statements | (set(suspicion) if altered and found.gaps else set()):
        mine = [d for d in found.diagnoses if statement in d.statements]
        evidence[statement] = {**_evidence(mine, found, statement, suspicion.get(statement)), **shown.of(statement)}
        sentences = [evidence[statement]["text"], *shown.sentences(statement)]
        evidence[statement]["text"] = "; ".join(filter(None, sentences))
    keys = {s: _key(e, suspicion.get(s, float("-inf")), len(altered) > 0) for s, e in evidence.items()}
    order = {key: number for number, key in enumerate(sorted(set(keys.values())), 1)}
    scores = {statement: order[key] / len(order) for statement, key in keys.items()}
    result = Findings("formula", subject, rank(scores, evidence), symptom)
    place = {entry.statement: entry.rank for entry in result.ranking}
    listed = sorted(found.diagnoses, key=lambda d: (len(d.statements), sum(place[s] for s in d.statements), d.key[1:]))
    result.parts = {name: part for one in altered for name, part in one.parts.items() if name in {"rules", "pairs"}}
    result.parts["diagnoses"] = [_part(d) for d in listed[:LISTED]]
    first, *result.remarks = _summary(found, len(altered) > 0)
    result.summary = [first, *(line for one in altered for line in one.summary)]
    return result


class _Shown:
    """What altered runs have shown of statements."""

    def __init__(self, altered: Sequence[Findings]) -> None:
        self._rules: dict[Statement, Entry] = {}
        self._values: dict[Statement, Entry] = {}
        for one in altered:
            by_statement = {entry.statement: entry for entry in one.ranking}
            if one.technique == "rules":
                self._rules = {s: e for s, e in by_statement.items() if e.evidence.get("rule_score")}
            if one.technique == "values":
                self._values = {s: e for s, e in by_statement.items() if e.evidence["pairs"] or e.evidence["relaxed"]}

    @property
    def statements(self) -> set[Statement]:
        """Those of which anything was shown."""
        return {*self._rules, *self._values}

    def of(self, statement: Statement) -> dict[str, float]:
        """The best rule's score, and the failing runs that forced values mend."""
        rule, value = self._rules.get(statement), self._values.get(statement)
        forced = value.evidence["pairs"] + RELAXED * value.evidence["relaxed"] if value else 0
        return {"rule_score": rule.evidence["rule_score"] if rule else 0.0, "forced": forced}

    def sentences(self, statement: Statement) -> Iterator[str]:
        """What the best rule and the best forced value did."""
        for entry in (self._rules.get(statement), self._values.get(statement)):
            if entry is not None:
                text = str(entry.evidence.get("text", ""))
                yield "; ".join(part for part in text.split("; ") if not part.startswith("executed by "))


def _key(evidence: Mapping[str, Any], suspicion: float, altered: bool) -> tuple[float, ...]:
    """What a statement is ranked by; where formulas say it all, that values do not hold when forced says less.

    Others might: only one model of a formula is tried.
    """
    consistent = 0 if not evidence["consistent"] else 1 if evidence["also"] else 2
    return (
        evidence["rule_score"],
        max(evidence["confirmed"], evidence["forced"]) if altered else 0,
        evidence["alone"],
        consistent,
        len(evidence["repairs"]),
        evidence["confirmed"],
        evidence["together"],
        suspicion,
    )


def _evidence(
    diagnoses: Sequence[Diagnosis], found: Search, statement: Statement, suspicion: float | None
) -> dict[str, Any]:
    repairs = found.repairs.get(statement, [])
    alone = [d for d in diagnoses if len(d.statements) == 1]
    function = next((d.function for d in alone), UNKNOWN)
    told = min(diagnoses, key=lambda d: (d.confirmed is False, d.key, not d.changes), default=None)
    sentences = [_named_text(found, told)] if told else []
    able = len({id(d.run) for d in alone if d.confirmed is not False})  # the others were run so, and fail all the same
    mended = f"{able} of {plural(len(found.runs), 'failing run')}"
    if repairs and able:
        sentences.append(f"would make {mended} right: {', '.join(repairs[:REPAIRS])}")
    if function.also and able:
        sentences.append(f"could make {mended} right if it depended on `{function.also}` as well")
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


def _named_text(found: Search, diagnosis: Diagnosis) -> str:
    """What a diagnosis says; of a run that is not the first one, which all else is about, with the name of its case."""
    text, run = _text(diagnosis), diagnosis.run
    return text if run is found.runs[0] else f"in the case `{run.recording.case.name}` {text}"


def _text(diagnosis: Diagnosis) -> str:
    """What its values had to be. The goal may be one wrong byte of many: of a value that others would do as well as, it
    is said where the run was made with it and fails all the same.
    """
    text = explain(diagnosis.run.events, diagnosis.changes)
    if text and diagnosis.confirmed is False and not all(change.only for change in diagnosis.changes):
        text += " (with that alone it still fails)"
    if len(diagnosis.statements) > 1:
        places = " and ".join(f"{s.file}:{s.line}" for s in diagnosis.statements)
        return f"together, {places}: {text}" if text else f"together: {places}"
    return text or "a change of what it computes can make the run right"


def _part(diagnosis: Diagnosis) -> dict[str, Any]:
    events, switched = diagnosis.run.events, diagnosis.switched
    return {
        "case": diagnosis.run.recording.case.name,
        "statements": [{"file": s.file, "line": s.line} for s in diagnosis.statements],
        "way": diagnosis.way,
        "switched": None if switched is None else {"file": switched.file, "line": switched.line},
        "text": _text(diagnosis),
        "values": [values_of(events, change) for change in diagnosis.changes],
        "consistent": diagnosis.function.holds,
        "also": diagnosis.function.also,
        "confirmed": diagnosis.confirmed,
    }


def _summary(found: Search, altered: bool) -> Iterator[str]:
    """What was done, and what was not."""
    compared, asked = plural(found.compared, "passing run"), plural(found.questions, "question")
    yield f"{_named(found, altered)}; compared with {compared}; {asked} to the solver"
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
    if altered:
        why = f": {', and '.join(found.gaps)}" if found.gaps else ""
        yield f"altered runs were asked as well{why}"


def _named(found: Search, altered: bool) -> str:
    """How many sets there are; where there is none, what that means."""
    if not found.runs:
        return "no formula of a failing run could be made"
    runs = plural(len(found.runs), "failing run")
    if not found.diagnoses:
        text = f"formulas of {runs} name no statement"
        if found.gaps or found.holding:
            why = f": {', and '.join(found.gaps)}" if found.gaps and not altered else ""
            return f"{text}, which rules out none{why}"
        return f"{text}: neither one nor a few together can make a run right on the path that it took"
    alone = len({d.statements for d in found.diagnoses if len(d.statements) == 1})
    first = f"{plural(alone, 'statement') if alone else 'no statement'} can make a run right alone"
    branch = sum(d.way == BRANCH for d in found.diagnoses)
    by_branch = f", {branch:,} by a branch sent the other way" if branch else ""
    return f"{first}; {plural(len(found.diagnoses), 'correction set')} of {runs}{by_branch}"
