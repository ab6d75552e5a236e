"""The combined ranking: what changing the run has shown comes first, then what comparing runs suggests.

Of threads, that the case passes with the other order of two accesses that nothing orders comes first of all. A rule
that makes failing cases pass and breaks no passing one says most about a statement; then that it corrupted the failing
run's memory first, where passing runs do not; then that the compiler warns of it; then a branch whose switch mends
failing runs; then a value that
does, by the same kind of change in every failing case; then a change of the statement that a solver found to make all
runs right at once; then a value that every failing run had and no passing one. Only then come rules that break passing
cases, or that fit the values of the failing runs alone (another case of a switch for one value). Then how far what the
statement did in failing runs is unlike what it did in passing ones; then the ranking of ``locate``, and last the level
in the cause tree. Statements are compared by these in turn, each technique deciding only where all before it see no
difference.

Of a failure without a right output (a crash, say, of which nothing else is known) any change that leads round its place
makes the run pass. There the first memory error comes before all else, and the level in the cause tree and what passing
runs never did before switches and values.

Techniques share findings, not code: what they found is
read from their rankings' evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.findings import Entry, Findings, Statement, rank
from whence.program.token_changes import c_tokens, changed_tokens

COUNTS = "executed by "  # how a part begins that the base says as well
SEPARATES = 0.999  # score of a predicate that tells all failing runs from all passing ones
BASE, NEAR = "spectrum_and_slice", "cause_tree"  # keys of the strengths that no source has


@dataclass(slots=True, frozen=True)
class Source:
    """One technique's say: how strongly its entry speaks for a statement (0: not at all), in full or in part.

    ``key`` names the strength in the evidence, by default as the technique. ``explains``: what it says of a statement
    is told even where it does not speak for it.
    """

    technique: str
    strength: Callable[[Entry], float]
    key: str = ""
    explains: bool = False

    @property
    def name(self) -> str:
        """The key of its strength in the evidence."""
        return self.key or self.technique


def _rule(entry: Entry) -> float:
    """The score of the statement's best rule that breaks no passing case."""
    return float(entry.evidence.get("rule_score", 0.0))


def _doubtful(entry: Entry) -> float:
    """The score of its best rule that breaks passing cases, or that fits single values alone."""
    return float(entry.evidence.get("doubtful_score", 0.0))


def _flips(entry: Entry) -> float:
    """Failing cases that a switched branch of the statement makes pass."""
    return float(entry.evidence.get("critical", 0))


def _consistent(entry: Entry) -> float:
    """Failing cases that the same kind of change of one value makes pass, where it does so in all of them."""
    return float(entry.evidence.get("pairs", 0)) if entry.evidence.get("consistent") else 0.0


def _separates(entry: Entry) -> float:
    """How unlike, where some value, or way, of all failing runs is that of no passing one."""
    return entry.score if entry.evidence.get("predicate", 0.0) >= SEPARATES else 0.0


def _unlike(entry: Entry) -> float:
    """How far what the statement did in failing runs is unlike what it did in passing ones."""
    return entry.score


def _repairs(entry: Entry) -> float:
    """The place of a statement of which a small change makes all failing runs right and keeps the passing ones so."""
    return entry.score if entry.evidence["repairs"] and entry.evidence["alone"] == entry.evidence["runs"] else 0.0


def _corrupts(entry: Entry) -> float:
    """1 where the statement has the first memory error of the failing run, and passing runs do without it."""
    return float(entry.evidence["corrupts"])


def _warned(entry: Entry) -> float:
    """1 where the compiler warns of the statement, less for the declaration of what it warns of."""
    return float(entry.evidence["warned"])


def _decides(entry: Entry) -> float:
    """1 where the statement has a data race whose other order lets the case pass, or the access whose order decides
    under a schedule; less for those behind that.
    """
    return float(entry.evidence["decides"])


SOURCES = (
    Source("races", _decides, explains=True),
    Source("schedules", _decides, explains=True),
    Source("rules", _rule),
    Source("memory", _corrupts, explains=True),
    Source("warnings", _warned, explains=True),
    Source("switch", _flips),
    Source("values", _consistent),
    Source("formula", _repairs, explains=True),
    Source("invariants", _separates, "separates"),
    Source("rules", _doubtful, "doubtful_rules"),
    Source("invariants", _unlike),
)


def _near(entry: Entry) -> float:
    """The level of the statement in the cause tree."""
    return 1 / (1 + float(entry.evidence["level"]))


LAST = Source("causes", _near, NEAR)  # which decides where nothing else sees a difference


AROUND = (
    Source("memory", _corrupts, "around_memory", explains=True),
    Source("races", _decides, "around_races", explains=True),
    Source("schedules", _decides, "around_schedules", explains=True),
    *(source for source in SOURCES if source.name in ("rules", "warnings", "separates", "doubtful_rules")),
    Source("causes", _near, "around_causes"),
    Source("invariants", _unlike, "around_invariants"),
    Source("formula", _repairs, "around_formula", explains=True),
    Source("switch", _flips, "around_switch"),
    Source("values", _consistent, "around_values"),
)  # where a run passes as soon as it goes round the place of its failure: a switch that leads there says little
_LATE = ("doubtful_rules", "invariants")  # of SOURCES, behind what only AROUND has
ORDER = (
    "around_races",
    "around_memory",
    "around_schedules",
    *(source.name for source in SOURCES if source.name not in _LATE),
    *(source.name for source in AROUND if source.name.startswith("around_")),
    *_LATE,
    BASE,
    NEAR,
)


def fuse(base: Findings, found: Sequence[Findings], sources: Sequence[Source] = SOURCES) -> Findings:
    """The base's findings with the combined ranking; sentences of the techniques that speak come first.

    ``sources`` are AROUND where nothing is known of the right output: there a run passes that does not come to its
    crash.

    ``base`` ranks by its scores, ``found`` holds findings of any of the sources' techniques. Scores are places in the
    order, from 1 down to 0. The evidence keeps what each source said, so that ``ordered`` can rank again.
    """
    by_technique = {findings.technique: _by_statement(findings) for findings in found}
    entries = _by_statement(base)
    known: dict[Statement, dict[str, Any]] = {}
    for statement in {*entries, *(s for entries_of in by_technique.values() for s in entries_of)}:
        entries_of = [(source, by_technique.get(source.technique, {}).get(statement)) for source in (*sources, LAST)]
        known[statement] = _evidence(entries.get(statement), entries_of)
    ranking = ordered(known)
    summary = [*base.summary, *(line for findings in found for line in findings.summary)]
    remarks = [*base.remarks, *(line for findings in found for line in findings.remarks)]
    parts = _parts(base, found, ranking)
    return replace(base, ranking=ranking, parts=parts, summary=summary, remarks=remarks, brief=True)


def ordered(known: Mapping[Statement, dict[str, Any]]) -> list[Entry]:
    """Statements ranked by the strengths that their evidence has of each source, in turn."""
    keys = {s: tuple(float(evidence.get(name, 0.0)) for name in ORDER) for s, evidence in known.items()}
    return rank(_places(keys), dict(known))


def _by_statement(findings: Findings) -> dict[Statement, Entry]:
    return {entry.statement: entry for entry in findings.ranking}


def _evidence(own: Entry | None, entries_of: Sequence[tuple[Source, Entry | None]]) -> dict[str, Any]:
    """What the base says, behind the sentences of other techniques, and each source's strength."""
    evidence = dict(own.evidence) if own else {}
    evidence[BASE] = round(own.score, 9) if own else -1.0
    reasons: dict[str, str] = {}
    for source, entry in entries_of:
        strength = source.strength(entry) if entry else 0.0
        if strength > 0:
            evidence[source.name] = round(strength, 9)
        if entry and source is not LAST and (strength > 0 or source.explains):
            parts = str(entry.evidence.get("text", "")).split("; ")
            reasons.setdefault(source.technique, "; ".join(p for p in parts if not p.startswith(COUNTS)))
    of_base = str(evidence.get("text", "")).split("; ")
    return evidence | joined_reasons([*reasons.items(), *(("locate", part) for part in of_base)])


def joined_reasons(reasons: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The evidence's ``reasons`` and ``text``, of what techniques say; what several say stands once, the last time."""
    parts = [part for _, reason in reasons for part in reason.split("; ")]
    last = {part: number for number, part in enumerate(parts)}
    kept, number = list[dict[str, str]](), 0
    for technique, reason in reasons:
        mine = reason.split("; ")
        number += len(mine)
        text = "; ".join(part for at, part in enumerate(mine, number - len(mine)) if last[part] == at)
        kept += [{"technique": technique, "text": text}] if text else []
    return {"reasons": kept, "text": "; ".join(reason["text"] for reason in kept)}


def _places(keys: Mapping[Statement, tuple[float, ...]]) -> dict[Statement, float]:
    """Scores from 1 down to 0 in the order of the keys; equal keys share one."""
    distinct = sorted(set(keys.values()))
    place = {key: number / max(len(distinct) - 1, 1) for number, key in enumerate(distinct)}
    return {statement: place[key] for statement, key in keys.items()}


def _parts(base: Findings, found: Sequence[Findings], ranking: Sequence[Entry]) -> dict[str, Any]:
    """The parts of all, which have names of their own; rules that are equally good in the order of the ranking."""
    parts = {name: part for findings in found for name, part in findings.parts.items()}
    if "rules" in parts:
        parts["rules"] = in_order(parts["rules"], ranking)
    return {**parts, **base.parts}


def in_order(rules: Sequence[dict[str, Any]], ranking: Sequence[Entry]) -> list[dict[str, Any]]:
    """Rules: those first that nothing speaks against, last those that were found to do wrong; then by score, equal ones
    in the order of the ranking.

    Of equally good ones of a statement those come first that something which passes was run with; of these those whose
    edited line is known: they can be compiled, and made; of these the smallest changes, and of equally small ones those
    that leave the shortest line (`-=`, not `+= -`).
    """
    place = {(e.statement.file, e.statement.line): number for number, e in enumerate(ranking)}

    def key(rule: dict[str, Any]) -> tuple[int, float, int, bool, bool, tuple[float, int]]:
        at = place.get((rule["file"], rule["line"]), len(place))
        is_known = rule.get("after") is not None
        against = 0 if not rule.get("doubt") else 2 if rule.get("clean") is False else 1
        return against, -rule["score"], at, not rule.get("checked"), not is_known, _cost(rule)

    return sorted(rules, key=key)


def put_last(findings: Findings, is_last: Callable[[Entry], bool]) -> Findings:
    """The findings with some entries behind all others; the same ones where that would change nothing."""
    behind = [entry for entry in findings.ranking if is_last(entry)]
    if not behind or len(behind) == len(findings.ranking):
        return findings
    first = [entry for entry in findings.ranking if not is_last(entry)]
    ranking = [*_placed(first, 0), *_placed(behind, len(first))]
    parts = {name: part for name, part in findings.parts.items() if name != "chance"}  # which is of another order
    return replace(findings, ranking=ranking, parts=parts)


def _placed(entries: Sequence[Entry], before: int) -> list[Entry]:
    """The entries with their places behind ``before`` others; ties stay ties."""
    ranks = [entry.rank for entry in entries]
    best = {rank: before + place for place, rank in reversed(list(enumerate(ranks, 1)))}
    worst = {rank: before + place for place, rank in enumerate(ranks, 1)}
    return [replace(entry, rank=best[entry.rank], rank_worst=worst[entry.rank]) for entry in entries]


def _cost(rule: dict[str, Any]) -> tuple[float, int]:
    """How much a rule changes (as an edit says, or the tokens of its line), and how many tokens its line has then."""
    if rule.get("after") is None:
        return 0.0, 0
    before, after = str(rule.get("before", "")).encode(), str(rule["after"]).encode()
    changed = rule.get("cost")
    return changed_tokens(before, after) if changed is None else float(changed), len(c_tokens(after))
