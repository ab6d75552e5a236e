"""The learned ranking: statements by a weighted sum of what all techniques say of them, and how far to trust it.

The weights were learned from planted faults, of which it is known where they are (docs/ranking.md). They take the place
of the fixed order of techniques (``combined_ranking``) where what they were learned from is there: passing cases, a
right output, and rules that were tried, at least. The fixed order itself is one of the things that are weighed.

A chance goes with it: in how many of a hundred faults that it was not learned from the fault was the first statement,
among the first three or five, where the scores stood out as much as here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from whence.diagnosis.combined_ranking import in_order
from whence.diagnosis.ranking_features import Features, Floats
from whence.diagnosis.statement_kinds import Kinds
from whence.diagnosis.tried_edits import CLEAN, FAMILY, UNCHECKED, best_edits, has_clean, is_checked
from whence.findings import Entry, Findings, Statement, rank

MODEL = Path(__file__).with_name("ranking_model.json")
MOST = 2000  # statements that are weighed, the first of the fixed order; the others stay behind them
OF_THREADS = frozenset({"races", "schedules"})  # techniques whose findings the weights know nothing of
NEEDED = "rules"  # the technique whose findings are there wherever runs were altered
FIRST = {"first": 1, "three": 3, "five": 5}  # how many statements a chance is of
FIRST_ERROR = 1.0  # the strength of a memory error that the failure came of (or may have), and of a warning
TINY = 1e-9  # differences of scores below this are none
COSTING = 0.4  # of the score, for what an edit costs more than another one; chosen on the corpus (docs/ranking.md)
LIFT = 1e-3  # of the score of the first memory error above what lies behind it, and of that above the others


@dataclass(frozen=True, slots=True)
class Model:
    """The weight of each feature by name; of each of FIRST slope and offset that make a chance of what softmax says."""

    weights: Mapping[str, float]
    chances: Mapping[str, tuple[float, float]]

    def scores(self, features: Features) -> Floats:
        """The score of each statement. Raises ValueError where the features are not those that were learned."""
        return self.rounded(features.matrix, features.names)

    def rounded(self, matrix: Floats, names: Sequence[str]) -> Floats:
        """... of a matrix with features of these names."""
        if list(names) != list(self.weights):
            raise ValueError("the features are not those of the ranking's weights: python -m bench.ranking.train")
        weighed: Floats = matrix @ np.array(list(self.weights.values()))
        return np.round(weighed / TINY) * TINY

    def chance(self, scores: Floats) -> dict[str, float]:
        """How likely the fault is among the first statements, by FIRST; never less for more of them."""
        found, before = dict[str, float](), 0.0
        for name, number in FIRST.items():
            slope, offset = self.chances[name]
            before = found[name] = max(before, logistic(slope * logit(leading(scores, number)) + offset))
        return found


@cache
def shipped() -> Model:
    """The model that comes with Whence."""
    return stored(MODEL)


def stored(path: Path) -> Model:
    """The model of a file."""
    read = json.loads(path.read_text())
    return Model(read["weights"], {name: (pair[0], pair[1]) for name, pair in read["chances"].items()})


def is_weighed(base: Findings, found: Sequence[Findings], is_open: bool) -> bool:
    """Whether the weights were learned from the like: cases pass, runs were altered, and no threads race.

    Nor ``is_open`` what the right output is.
    """
    passes = any(entry.evidence.get("passing_total") for entry in base.ranking)
    techniques = {one.technique for one in found if one.ranking}
    return passes and not is_open and NEEDED in techniques and techniques.isdisjoint(OF_THREADS)


def reranked(
    combined: Findings, base: Findings, found: Sequence[Findings], kinds: Mapping[Statement, Kinds], model: Model
) -> Findings:
    """Findings in the fixed order, ranked by the model instead; the part ``chance`` says how far to trust it."""
    ranked, rest = combined.ranking[:MOST], combined.ranking[MOST:]
    rules = combined.parts.get("rules", [])
    scores = model.scores(Features(ranked, base, found, rules, kinds))
    ranking = _ranked(ranked, lifted(ranked, scores, rules), rest)
    chance = model.chance(scores)
    parts: dict[str, Any] = {**combined.parts, "chance": {name: round(value, 3) for name, value in chance.items()}}
    if "rules" in parts:
        parts["rules"] = in_order(parts["rules"], ranking)
    return replace(combined, ranking=ranking, parts=parts)


def chance_told(chance: Mapping[str, float]) -> str:
    """The chance in words."""
    first, three, five = (f"{100 * chance[name]:.0f}" for name in FIRST)
    return (
        f"of 100 planted faults with such evidence the first statement was faulty in {first}, one of the first three "
        f"in {three}, of the first five in {five}"
    )


def lifted(ranked: Sequence[Entry], scores: Floats, rules: Sequence[Mapping[str, Any]]) -> Floats:
    """The scores with what weights from planted faults know little of: what mends, and memory errors.

    An edit with which all cases pass, and which the text itself asks for, is above all others: few are.
    """
    if asked := _asked_for(rules):
        return _corruption_first(ranked, _above(ranked, scores, asked))
    first = _mending_first if not has_clean(rules) else _edited_first
    return _corruption_first(ranked, first(ranked, scores, rules))


def _asked_for(rules: Sequence[Mapping[str, Any]]) -> set[Statement]:
    """The statements with an edit that the text asks for, with which all cases pass.

    Where passing cases come to none of these, it counts if it is the only one: several may fit by chance.
    """
    mending = [rule for rule in rules if rule["score"] >= UNCHECKED and rule["f2p"] == rule["failing"]]
    asked = [rule for rule in mending if rule.get("asked_for") and not rule["doubt"]]
    checked = _statements(rule for rule in asked if rule["score"] >= CLEAN and is_checked(rule))
    others = _statements(asked)
    return checked or (others if len(others) == 1 else set())


def _statements(rules: Iterable[Mapping[str, Any]]) -> set[Statement]:
    return {Statement(rule["file"], rule["line"]) for rule in rules}


def _mending_first(ranked: Sequence[Entry], scores: Floats, rules: Sequence[Mapping[str, Any]]) -> Floats:
    """The scores, with the one statement above all others where a change mends some failing cases and breaks no case.

    Where several have such a change, these may fit by chance. The faults that the weights were learned from have few
    failing cases, of which a change mostly mends all or none. What no passing case comes to counts for nothing here.
    """
    sound = [rule for rule in rules if not (rule["doubt"] or rule["p2f"])]
    mended = _statements(rule for rule in sound if rule["checked"])
    return _above(ranked, scores, mended if len(mended) == 1 else set())


def _edited_first(ranked: Sequence[Entry], scores: Floats, rules: Sequence[Mapping[str, Any]]) -> Floats:
    """The scores, with statements that an edit mends, breaking no case that comes there, above all others.

    Unless another rule is clean, too: then both are weighed. Hardly any of the faults that the weights were learned
    from is ranked otherwise by that; real ones can be. Among these statements what their likeliest edit costs more
    than the likeliest of all counts against them.
    """
    others = (rule for rule in rules if rule["family"] != FAMILY)
    edits = [] if has_clean(others) else best_edits(rules)
    costs: dict[Statement, float] = {}
    for edit in edits:
        at = Statement(edit["file"], edit["line"])
        costs[at] = min(edit["cost"], costs.get(at, edit["cost"]))
    least = min(costs.values(), default=0.0)
    more = np.array([costs.get(entry.statement, least) - least for entry in ranked])
    return _above(ranked, scores - COSTING * more, costs.keys())


def _above(ranked: Sequence[Entry], scores: Floats, chosen: Set[Statement]) -> Floats:
    """The scores, with those of some statements above all others."""
    is_chosen = np.array([entry.statement in chosen for entry in ranked])
    return np.where(is_chosen, scores + np.ptp(scores) + TINY, scores) if is_chosen.any() else scores


def _corruption_first(ranked: Sequence[Entry], scores: Floats) -> Floats:
    """The scores, with the first memory error, or what the compiler warns of, above every statement that no rule mends
    without breaking a case, and right below it what lies behind: what a block's size comes from, what let the access
    reach beyond it, where that is declared which has no value, ...

    Few of the faults that the weights were learned from corrupt memory, or have a warning, so they say little of it.
    But they order what lies behind.
    """
    strengths = np.array([max(entry.evidence.get(name, 0.0) for name in ("memory", "warnings")) for entry in ranked])
    is_first, is_behind = strengths == FIRST_ERROR, (strengths > 0) & (strengths < FIRST_ERROR)
    others = scores[~is_first & ~is_behind & np.array(["rules" not in entry.evidence for entry in ranked])]
    if not is_first.any() or not len(others):
        return scores
    above = others.max()
    behind = above + LIFT * (1 + scores - scores.min()) / (1 + np.ptp(scores))  # in their order, up to one LIFT
    lifted = np.where(is_first, above + 2 * LIFT, np.where(is_behind, behind, scores))
    return np.maximum(scores, lifted)


def _ranked(ranked: Sequence[Entry], scores: Floats, rest: Sequence[Entry]) -> list[Entry]:
    """The statements by score, then the rest in their order; scores are places from 1 down to 0."""
    keys = {entry.statement: (1.0, score) for entry, score in zip(ranked, scores.tolist(), strict=True)}
    keys |= {entry.statement: (0.0, entry.score) for entry in rest}
    distinct = sorted(set(keys.values()))
    place = {key: number / max(len(distinct) - 1, 1) for number, key in enumerate(distinct)}
    evidence = {entry.statement: entry.evidence for entry in (*ranked, *rest)}
    return rank({statement: place[key] for statement, key in keys.items()}, evidence)


def leading(scores: Floats, number: int) -> float:
    """The sum of the highest chances by softmax of the scores."""
    if not len(scores):
        return 0.0
    shares = np.sort(np.exp(scores - scores.max()))[::-1]
    return float(shares[:number].sum() / shares.sum())


def logit(chance: float) -> float:
    """The logarithm of the odds, of chances away from 0 and 1."""
    bounded = min(max(chance, 1e-6), 1 - 1e-6)
    return float(np.log(bounded / (1 - bounded)))


def logistic(value: float) -> float:
    """The chance of the logarithm of its odds."""
    return float(1 / (1 + np.exp(-value)))
