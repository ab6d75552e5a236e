"""The main job: spectrum and slice of the shortest failing run joined into one ranking, each entry explained.

Suspiciousness (Op2 by default, the best formula for a single fault) is raised by a bonus for statements in the slice of
the symptom, since something led from them to the failure in the recorded run, and for tests that may have skipped what
mattered (``omitted``). The bonus is small: what a slice cannot show, such as missing code, must not fall behind
everything that it does show. Among equals the distance from the symptom in dependence edges decides.

A run that ends deep in calls of the same functions failed by not coming out of them, whatever its first symptom is:
their statements get a bonus, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whence.dependence.potential import omitted
from whence.dependence.slices import by_line, compute, symptom_start
from whence.findings import Entry, Findings, Statement, Symptom, rank
from whence.probe.layout import Kind
from whence.subject.coverage import Coverage
from whence.subject.trace_reader import TraceReader
from whence.techniques.slicing import criterion_part, fill, line_values, outline
from whence.techniques.spectrum import spectrum
from whence.trace.slicing import Slice

SLICE_WEIGHT = 0.15  # of being in the slice, against 1 for suspiciousness; chosen on the corpus (docs/locate.md)
NEARNESS = 1e-6  # weight of the distance: less than any difference of suspiciousness
RECURRING = 1_000  # open calls of a function at the run's end from which on it does not come back
RECURRING_WEIGHT = 0.15  # of standing in such a function, as of the slice
EXPLAINED = 20  # entries that get a sentence of their own
SYMPTOMS = {
    "wrong-output": "the wrong output",
    "missing-output": "the end of the output",
    "extra-output": "the surplus output",
    "wrong-status": "the wrong status",
    "crash": "the crash",
    "assertion": "the failed assertion",
    "timeout": "the endless loop",
    "memory-error": "the memory error",
}


@dataclass(slots=True)
class Evidence:
    """What locate works on: the cases' coverage, and the reader and symptom of the recorded failing run.

    Where that is the end of a run alone: the lines of the ``whole`` run's slice, with their distances from the symptom.
    """

    coverage: Coverage
    reader: TraceReader
    symptom: Symptom
    whole: Mapping[Statement, int] = field(default_factory=dict)


def locate(evidence: Evidence, subject: str, formula: str = "op2") -> Findings:
    """Rank the statements that failing cases executed, best first, and explain the first of them."""
    reader, symptom = evidence.reader, evidence.symptom
    suspects = spectrum(evidence.coverage, formula=formula, subject=subject)
    start = symptom_start(symptom)
    found = compute(reader.trace, start.references)
    lines = by_line(reader, found)
    depth = {**evidence.whole, **dict(zip(lines.statements, lines.depths.tolist(), strict=True))}
    skipping = {s: d for s, d in omitted(reader, found).items() if s not in depth}
    result = Findings("locate", subject, _join(suspects.ranking, depth, skipping, recurring(reader)), symptom)
    result.parts["cases"] = suspects.parts["cases"]
    result.parts["formulas"] = suspects.parts.get("formulas", [])
    result.parts["slice"] = outline(lines)
    result.parts["criterion"] = criterion_part(reader, start)
    _explain(result.ranking[:EXPLAINED], reader, found, symptom)
    result.summary.append(
        f"the failing run has {reader.trace.blocks:,} blocks and {reader.trace.events:,} events; "
        f"{lines.size:,} events on {len(lines.statements)} lines led to the failure"
    )
    if skipping:
        tests = "1 more test" if len(skipping) == 1 else f"{len(skipping)} more tests"
        result.summary[-1] += f"; {tests} may have skipped what mattered"
    return result


def fill_slice(part: Sequence[dict[str, Any]], reader: TraceReader, symptom: Symptom) -> None:
    """Put values and edges into the part ``slice`` of what ``locate`` gave; no other part needs them."""
    found = compute(reader.trace, symptom_start(symptom).references)
    fill(part, reader, found, by_line(reader, found))


def recurring(reader: TraceReader) -> dict[Statement, str]:
    """The executed statements of functions that are open very often when the run ends, with what is said of them."""
    columns, program = reader.trace.columns, reader.trace.program
    calls: Counter[int] = Counter()
    segment = reader.trace.segments - 1
    while segment >= 0:
        frame = columns.frames[int(columns.segments[segment]["frame"])]
        calls[int(frame["function"])] += 1
        segment = int(frame["call"])
    found: dict[Statement, str] = {}
    starts = [ref.first_instruction for ref in program.functions]
    instructions = reader.trace.plan.sites["instruction"][reader.executed_sites]
    functions = np.searchsorted(starts, instructions, side="right") - 1
    numbers = reader.statement_numbers[reader.executed_sites]
    for function, count in calls.items():
        if count >= RECURRING:
            text = f"{program.functions[function].name}() was entered {count:,} times without coming back"
            mine = numbers[(functions == function) & (numbers >= 0)]
            found |= dict.fromkeys((reader.statements[number] for number in mine.tolist()), text)
    return found


def _join(
    ranking: list[Entry], depth: dict[Statement, int], skipping: dict[Statement, int], recurs: dict[Statement, str]
) -> list[Entry]:
    """Rank by suspiciousness with a bonus for the slice and for what recurs, then nearness to the symptom.

    Scores lie between 0 and 1.
    """
    weight = 1 + SLICE_WEIGHT + (RECURRING_WEIGHT if recurs else 0.0)
    low = min((e.score for e in ranking), default=0.0)
    span = max((e.score for e in ranking), default=0.0) - low or 1.0
    reached = {**skipping, **depth}
    farthest = 1 + max(reached.values(), default=0)
    scores, notes = {}, {}
    for entry in ranking:
        statement = entry.statement
        scores[statement] = (entry.score - low) / span / weight
        notes[statement] = {**entry.evidence, "in_slice": statement in depth, "suspiciousness": round(entry.score, 6)}
        if statement in skipping:
            notes[statement]["may_have_skipped"] = True
        if statement in reached:
            scores[statement] += SLICE_WEIGHT / weight - NEARNESS * reached[statement] / farthest
            notes[statement]["depth"] = reached[statement]
        if statement in recurs:
            scores[statement] += RECURRING_WEIGHT / weight
            notes[statement]["text"] = f"{recurs[statement]}; {notes[statement].get('text', '')}".rstrip("; ")
    return rank(scores, notes)


# ---- Explanation -------------------------------------------------------------------------------------------


def _explain(entries: list[Entry], reader: TraceReader, found: Slice, symptom: Symptom) -> None:
    """Give entries a sentence with values, in front of what the cases say."""
    for entry in entries:
        known = entry.evidence["in_slice"] or entry.evidence.get("may_have_skipped")
        sentence = explain(entry.statement, reader, found, symptom) if known else ""
        if sentence:
            entry.evidence = {**entry.evidence, "text": f"{sentence}; {entry.evidence.get('text', '')}".rstrip("; ")}


def explain(statement: Statement, reader: TraceReader, found: Slice, symptom: Symptom) -> str:
    """One sentence: what the statement did in the failing run, and how that led on to the symptom.

    The event nearest to the symptom is told, and the first use of it on the shortest way there.
    """
    event = _nearest_event(statement, reader, found)
    if event < 0:
        return _explain_skipping(statement, reader)
    action = reader.action(event)
    if not action:
        return ""
    sentence = f"line {statement.line} {action}"
    following = _next_use(event, reader, found)
    used = reader.statement(following) if following >= 0 else None
    if used is None:
        return sentence
    place = f"line {used.line}" if used.file == statement.file else f"{used.file}:{used.line}"
    sentence += f", used by {reader.use(following, place)}"
    if symptom.statement not in (statement, used):
        sentence += f", which led to {SYMPTOMS.get(symptom.kind, 'the failure')}"
    return sentence


def _next_use(event: int, reader: TraceReader, found: Slice) -> int:
    """On the way from an event to the symptom, the last event of the first other statement; -1: none.

    It is the last one that tells what the statement did with the value: its test, its assignment, its call.
    """
    statement, last = reader.statement(event), -1
    used = None
    for step in found.way(event):
        place = reader.statement(step)
        if place is None or place == statement:
            continue
        if used is not None and place != used:
            break
        used, last = place, step
    return last


def _explain_skipping(statement: Statement, reader: TraceReader) -> str:
    """The sentence of a statement outside the slice: what its test found the last time."""
    events = reader.events_of(statement)
    tests = [e for e in events[-50:].tolist() if reader.trace.kind(e) is Kind.BRANCH]
    action = reader.action(tests[-1]) if tests else ""
    return f"line {statement.line} {action}; the other way could have changed what mattered" if action else ""


def _nearest_event(statement: Statement, reader: TraceReader, found: Slice) -> int:
    """The statement's event in the slice that is nearest to the symptom, one with a value if there is one."""
    events = reader.events_of(statement)
    events = events[found.event_depth[events] > 0]
    if not len(events):
        return -1
    nearest: list[int] = events[np.lexsort((-events, found.event_depth[events]))[:20]].tolist()
    return next((event for event in nearest if reader.observation(event) is not None), nearest[0])


Values = dict[str, dict[str, list[dict[str, Any]]]]


def values_part(entries: list[Entry], failing: TraceReader, passing: list[TraceReader]) -> Values:
    """The part ``values``: what the first entries' lines held in the failing run and over recorded passing runs."""
    part: Values = {}
    for entry in entries:
        statement = entry.statement
        key = f"{statement.file}:{statement.line}"
        failed = line_values(failing, failing.events_of(statement)[-200:].tolist())
        seen: dict[str, dict[str, Any]] = {}
        for reader in passing:
            _gather(seen, line_values(reader, reader.events_of(statement)[-200:].tolist()))
        shown = [{k: v[k] for k in ("name", "value", "clock")} for v in failed]
        part[key] = {"failing": shown, "passing": list(seen.values())}
    return part


def _gather(seen: dict[str, dict[str, Any]], values: list[dict[str, Any]]) -> None:
    """Add one passing run's values of a line: distinct ones by name, and the number of runs."""
    for name in dict.fromkeys(v["name"] for v in values):
        row = seen.setdefault(name, {"name": name, "values": [], "cases": 0})
        row["cases"] += 1
        for value in values:
            if value["name"] == name and value["value"] not in row["values"] and len(row["values"]) < 20:
                row["values"].append(value["value"])
