"""Recorded faults as examples to learn from and measure on: features, faulty statements, ranks by each method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.ranking.evidence import Recorded, faulty, read
from bench.ranking.learn import Example, Floats, learned
from whence.diagnosis.combined_ranking import AROUND, SOURCES, fuse
from whence.diagnosis.confirmation import SCALE
from whence.diagnosis.learned_ranking import TINY, is_weighed, lifted
from whence.diagnosis.ranking_features import Features
from whence.diagnosis.tried_edits import FAMILY
from whence.findings import Entry, Findings, Statement, rank
from whence.subject.suspiciousness import tie_ranks

QUICK = ("invariants", "causes")  # voices that alter no run: what ``whence fix`` begins with
VOICES = ("invariants", "rules", "switch", "values", "formula", "causes", "memory")
EDITS = "edits"  # among the rules: edits of the source


@dataclass(slots=True)
class Known:
    """A recorded fault: its features by name, and the rank of its line (worst of its tie) by each method.

    ``ranked`` is the fixed order; ``lines`` are those of its statements, in the order of the features' rows.
    """

    recorded: Recorded
    ranked: list[Entry]
    rules: list[dict[str, Any]]
    example: Example
    names: list[str]
    ranks: dict[str, int]
    lines: list[int]

    @property
    def program(self) -> str:
        """The program that it was planted in."""
        return self.recorded.program

    def rank(self, scores: Floats) -> int:
        """The rank of the faulty line in ``locate`` by these scores; one that is not ranked comes after all others."""
        if not self.example.faulty.any():
            return len(scores) + 1
        _, worst = tie_ranks(lifted(self.ranked, np.round(scores / TINY) * TINY, self.rules))
        return int(worst[self.example.faulty].min())


def known(recorded: Recorded, without: Sequence[str] = ()) -> Known | None:
    """A fault without some voices, or EDITS; None where the weights would not be asked."""
    found = [one for one in recorded.found if one.technique not in without]
    if EDITS in without:
        found = [without_edits(one) if one.technique == "rules" else one for one in found]
    if not is_weighed(recorded.base, recorded.found, recorded.is_open):
        return None
    combined = fuse(recorded.base, found, AROUND if recorded.is_open else SOURCES)
    rules = combined.parts.get("rules", [])
    features = Features(combined.ranking, recorded.base, found, rules, recorded.kinds)
    is_faulty = np.array([statement.line in recorded.lines for statement in features.statements])
    total = len(features.statements)

    def place(ranking: list[Entry]) -> int:
        best = faulty(ranking, recorded.lines)
        return best.rank_worst if best else total + 1

    rankings = {one.technique: one.ranking for one in found}
    by_op2 = rank({e.statement: op2(e) for e in recorded.base.ranking})
    ranks = {voice: place(rankings.get(voice, [])) for voice in VOICES}
    ranks |= {"op2": place(by_op2), "fixed": place(combined.ranking), "first": place(recorded.base.ranking)}
    ranks["quick"] = place(fuse(recorded.base, [one for one in found if one.technique in QUICK]).ranking)
    lines = [statement.line for statement in features.statements]
    return Known(recorded, combined.ranking, rules, Example(features.matrix, is_faulty), features.names, ranks, lines)


def without_edits(rules: Findings) -> Findings:
    """What rules said before edits were tried: the statements that have one have the score of their best other rule."""
    rows = rules.parts["rules"]
    kept = [row for row in rows if row["family"] != FAMILY]
    changed = {Statement(row["file"], row["line"]) for row in rows if row["family"] == FAMILY}
    best: dict[Statement, float] = {}
    for row in kept:
        if not row["doubt"]:
            at = Statement(row["file"], row["line"])
            best[at] = max(best.get(at, 0.0), row["score"])
    entries = {entry.statement: entry for entry in rules.ranking}
    notes = {s: _with_score(e.evidence, best.get(s)) if s in changed else e.evidence for s, e in entries.items()}
    scores = {s: best.get(s, 0.0) / SCALE if s in changed else e.score for s, e in entries.items()}
    return replace(rules, ranking=rank(scores, notes), parts={**rules.parts, "rules": kept})


def _with_score(evidence: Mapping[str, Any], score: float | None) -> dict[str, Any]:
    rest = {key: value for key, value in evidence.items() if key != "rule_score"}
    return rest if score is None else {**rest, "rule_score": score}


def op2(entry: Entry) -> float:
    """How suspicious a statement of the base is by Op2."""
    evidence = entry.evidence
    return float(evidence["failing"] - evidence["passing"] / (evidence["passing_total"] + 1))


def load(paths: Iterable[Path], without: Sequence[str] = ()) -> list[Known]:
    """All faults of the files that the weights would be asked of."""
    found = (known(one, without) for path in paths for one in read(path))
    return [one for one in found if one is not None]


def held_out(faults: Sequence[Known], learn: Callable[[Sequence[Example]], Floats] = learned) -> list[Floats]:
    """The scores of each fault's statements by weights that were learned from the other programs."""
    weights = {
        program: learn([fault.example for fault in faults if fault.program != program])
        for program in {fault.program for fault in faults}
    }
    return [fault.example.matrix @ weights[fault.program] for fault in faults]
