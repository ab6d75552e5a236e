"""The combined ranking: what changing the run has shown comes first, then what comparing runs suggests.

A rule that makes failing cases pass and breaks no passing one says most about a statement; then a branch whose switch
mends failing runs; then a value that does, by the same kind of change in every failing case; then a change of the
statement that a solver found to make all runs right at once; then how far what the statement did in failing runs is
unlike what it did in passing ones; then the ranking of ``locate``, and last the level in the cause tree. Statements are
compared by these in turn, each technique deciding only where all before it see no difference. Techniques share
findings, not code: what they found is read from their rankings' evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.findings import Entry, Findings, Statement, rank

COUNTS = "executed by "  # how a part begins that the base says as well


@dataclass(slots=True, frozen=True)
class Voice:
    """One technique's say: how strongly its entry speaks for a statement (0: not at all), in full or in part.

    ``explains``: what it says of a statement is told even where it does not speak for it.
    """

    technique: str
    strength: Callable[[Entry], float]
    explains: bool = False


def _rule(entry: Entry) -> float:
    """The score of the statement's best rule."""
    return float(entry.evidence.get("rule_score", 0.0))


def _flips(entry: Entry) -> float:
    """Failing cases that a switched branch of the statement makes pass."""
    return float(entry.evidence.get("critical", 0))


def _consistent(entry: Entry) -> float:
    """Failing cases that the same kind of change of one value makes pass, where it does so in all of them."""
    return float(entry.evidence.get("pairs", 0)) if entry.evidence.get("consistent") else 0.0


def _unlike(entry: Entry) -> float:
    """How far what the statement did in failing runs is unlike what it did in passing ones."""
    return entry.score


def _repairs(entry: Entry) -> float:
    """The place of a statement of which a small change makes all failing runs right and keeps the passing ones so."""
    return entry.score if entry.evidence["repairs"] else 0.0


VOICES = (
    Voice("rules", _rule),
    Voice("switch", _flips),
    Voice("values", _consistent),
    Voice("formula", _repairs, explains=True),
    Voice("invariants", _unlike),
)


def _near(entry: Entry) -> float:
    """The level of the statement in the cause tree."""
    return 1 / (1 + float(entry.evidence["level"]))


LAST = Voice("causes", _near)  # which decides where nothing else sees a difference


def fuse(base: Findings, found: Sequence[Findings], voices: Sequence[Voice] = VOICES) -> Findings:
    """The base's findings with the combined ranking; sentences of the techniques that speak come first.

    ``base`` ranks by its scores, ``found`` holds findings of any of the voices' techniques. Scores are places in the
    order, from 1 down to 0.
    """
    by_technique = {findings.technique: _by_statement(findings) for findings in found}
    spoken: dict[Statement, dict[str, Any]] = {}
    keys: dict[Statement, tuple[float, ...]] = {}
    entries = _by_statement(base)
    for statement in {*entries, *(s for heard in by_technique.values() for s in heard)}:
        strengths, sentences, notes = [], [], {}
        for voice in voices:
            entry = by_technique.get(voice.technique, {}).get(statement)
            strength = voice.strength(entry) if entry else 0.0
            strengths.append(strength)
            if entry and (strength > 0 or voice.explains):
                sentences += [p for p in str(entry.evidence.get("text", "")).split("; ") if not p.startswith(COUNTS)]
            if entry and strength > 0:
                notes[voice.technique] = round(strength, 6)
        own, last = entries.get(statement), by_technique.get(LAST.technique, {}).get(statement)
        keys[statement] = (*strengths, own.score if own else -1.0, LAST.strength(last) if last else 0.0)
        spoken[statement] = _evidence(own, sentences, notes)
    ranking = rank(_places(keys), spoken)
    summary = [*base.summary, *(line for findings in found for line in findings.summary)]
    return replace(base, ranking=ranking, parts=_parts(base, found, ranking), summary=summary)


def _by_statement(findings: Findings) -> dict[Statement, Entry]:
    return {entry.statement: entry for entry in findings.ranking}


def _evidence(own: Entry | None, sentences: list[str], notes: dict[str, Any]) -> dict[str, Any]:
    """What the base says, behind the sentences of other techniques; what several say stands once, where it is last."""
    evidence = dict(own.evidence) if own else {}
    parts = "; ".join(part for part in [*sentences, str(evidence.get("text", ""))] if part).split("; ")
    last = {part: number for number, part in enumerate(parts)}
    return {**evidence, **notes, "text": "; ".join(part for number, part in enumerate(parts) if last[part] == number)}


def _places(keys: Mapping[Statement, tuple[float, ...]]) -> dict[Statement, float]:
    """Scores from 1 down to 0 in the order of the keys; equal keys share one."""
    distinct = sorted(set(keys.values()))
    place = {key: number / max(len(distinct) - 1, 1) for number, key in enumerate(distinct)}
    return {statement: place[key] for statement, key in keys.items()}


def _parts(base: Findings, found: Sequence[Findings], ranking: Sequence[Entry]) -> dict[str, Any]:
    """The parts of all, which have names of their own; rules that are equal in the order of the ranking."""
    parts = {name: part for findings in found for name, part in findings.parts.items()}
    if "rules" in parts:
        place = {(e.statement.file, e.statement.line): number for number, e in enumerate(ranking)}
        parts["rules"] = sorted(parts["rules"], key=lambda r: (-r["score"], place.get((r["file"], r["line"]), 0)))
    return {**parts, **base.parts}
