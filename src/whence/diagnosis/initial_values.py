"""Initial values of static variables in the first ranking: what recorded runs read counts as what cases execute.

Coverage has no entry of a table, and a slice ends at the load that reads it. Which runs read one is known once they are
recorded (``techniques/likely_invariants/initial_values``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whence.diagnosis.confirmation import KEYS
from whence.diagnosis.spectrum_and_slice import NEARNESS, SLICE_WEIGHT
from whence.findings import Entry, Findings, Statement, rank
from whence.program.c_source import CSource, Place, entries
from whence.subject.initial_values import InitialValue
from whence.subject.suspiciousness import Counts, formula_of
from whence.techniques.rules.rules import SCALE, sentence

WEIGHT = 1 + SLICE_WEIGHT
FEWEST = 3  # passing runs of which what they read is said of all cases
CHANGED = 30  # entries that other values are tried for
_NAME = re.compile(r"[A-Za-z_]\w*")


def of_enough_runs(compared: Findings, passing: int) -> Findings:
    """Findings without their initial values, where too few of all ``passing`` cases tell whether others read them."""
    is_enough = [entry.evidence.get("passing_total", 0) >= min(FEWEST, passing) for entry in compared.ranking]
    kept = zip(compared.ranking, is_enough, strict=True)
    return replace(compared, ranking=[entry for entry, enough in kept if enough or "initial" not in entry.evidence])


def with_initial_values(base: Findings, compared: Findings, formula: str) -> Findings:
    """The base's findings with the initial values that ``compared`` ranks, each by its suspiciousness and its distance.

    A formula's counts are of all cases: those of the runs that were recorded are raised in proportion.
    """
    known = {entry.statement: entry for entry in base.ranking}
    read = [e for e in compared.ranking if "initial" in e.evidence and e.statement not in known]
    if not read or not base.ranking:
        return base
    suspicion = {s: float(e.evidence.get("suspiciousness", e.score)) for s, e in known.items()}
    notes = {statement: entry.evidence for statement, entry in known.items()}
    if not any("in_slice" in e.evidence for e in base.ranking):  # scores are what the formula says
        suspicion |= {e.statement: _suspicion(e, base.ranking[0].evidence, formula) for e in read}
        return replace(base, ranking=rank(suspicion, {**notes, **{e.statement: e.evidence for e in read}}))
    before = _scaled(suspicion)
    bonus = {statement: entry.score - before[statement] for statement, entry in known.items()}
    farthest = 1 + max((e.evidence.get("depth", 0) for e in base.ranking), default=0)
    for entry in read:
        raw, depth = _suspicion(entry, base.ranking[0].evidence, formula), entry.evidence.get("depth")
        near = 0.0 if depth is None else SLICE_WEIGHT / WEIGHT - NEARNESS * min(depth / farthest, 1.0)
        suspicion[entry.statement], bonus[entry.statement] = raw, near
        notes[entry.statement] = {
            **entry.evidence,
            "in_slice": depth is not None,
            "suspiciousness": round(raw, 6),
        }
    scores = {statement: scaled + bonus[statement] for statement, scaled in _scaled(suspicion).items()}
    return replace(base, ranking=rank(scores, notes))


def _scaled(suspicion: Mapping[Statement, float]) -> dict[Statement, float]:
    """Suspicions as parts of the scores that the first ranking is made of (``spectrum_and_slice``)."""
    low = min(suspicion.values())
    span = max(suspicion.values()) - low or 1.0
    return {statement: (raw - low) / span / WEIGHT for statement, raw in suspicion.items()}


def _suspicion(entry: Entry, totals: Mapping[str, Any], formula: str) -> float:
    """What the formula says of an initial value, where ``totals`` has the numbers of all cases."""
    mine, cases = entry.evidence, (totals["failing_total"], totals["passing_total"])
    shares = (mine["failing"] / mine["failing_total"], mine["passing"] / max(mine["passing_total"], 1))
    a11, a10 = (np.array([round(share * count)]) for share, count in zip(shares, cases, strict=True))
    return float(formula_of(formula)(Counts(a11, a10, *cases))[0])


def with_other_values(found: Sequence[Findings], rows: Sequence[dict[str, Any]], passing: int) -> list[Findings]:
    """Findings with the rules that change initial values among the others: in the list, and in the ranking by rules."""
    rules = next((one for one in found if one.technique == "rules"), Findings("rules", ""))
    best: dict[Statement, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (-row["score"], bool(row["doubt"]))):
        best.setdefault(Statement(row["file"], row["line"]), row)
    scores = {entry.statement: entry.score for entry in rules.ranking}
    notes = {entry.statement: entry.evidence for entry in rules.ranking}
    for statement, row in best.items():
        scores[statement] = max(scores.get(statement, 0.0), row["score"] / SCALE)
        key = KEYS[False][bool(row["doubt"])]
        notes[statement] = {**notes.get(statement, {}), key: row["score"], "text": sentence(row, passing)}
    listed = sorted([*rules.parts.get("rules", []), *rows], key=lambda row: (-row["score"], bool(row["doubt"])))
    joined = replace(rules, ranking=rank(scores, notes), parts={**rules.parts, "rules": listed})
    return [*(one for one in found if one.technique != "rules"), joined]


def with_tables(ranking: Sequence[Entry], sources: Mapping[str, CSource], is_read: bool) -> list[Entry]:
    """Statements in their order, and behind them the lines of the tables that they name, where these are not ranked.

    ``sources`` are the files as statements name them. ``is_read``: the static entries that failing runs read are ranked
    already, so that others do not matter.
    """
    tables: dict[str, list[Statement]] = {}
    for file, source in sources.items():
        for table in (one for one in source.tables if not (is_read and one.place is Place.TABLE)):
            lines = dict.fromkeys(entry.start_point[0] + 1 for entry in entries(table.node))
            tables.setdefault(table.name, []).extend(Statement(file, line) for line in lines)
    lines_of = {file: source.text.decode("latin-1").split("\n") for file, source in sources.items()}
    found = {entry.statement: entry for entry in ranking}
    for entry in ranking:
        known = lines_of.get(entry.statement.file, [])
        text = known[entry.statement.line - 1] if 0 < entry.statement.line <= len(known) else ""
        for statement in (at for name in _NAME.findall(text) for at in tables.get(name, ())):
            found.setdefault(statement, Entry(statement, 0.0, len(found) + 1, len(found) + 1))
    return list(found.values())


def suspected(compared: Findings, known: Sequence[InitialValue]) -> list[InitialValue]:
    """The entries that ``compared`` ranks, the first ones first, of those that are ``known``."""
    by_name = {(entry.statement, entry.path.text): entry for entry in known}
    ranked = (e for e in compared.ranking if "initial" in e.evidence and "depth" in e.evidence)
    named = ((e.statement, name) for e in ranked for name in e.evidence["initial"])
    return [by_name[key] for key in named if key in by_name][:CHANGED]
