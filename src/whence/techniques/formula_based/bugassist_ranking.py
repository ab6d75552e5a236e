"""Statements ranked by correction sets alone, of one failing run and of several, as the papers do.

(Jin and Orso, "Improving efficiency and accuracy of formula-based debugging", sections III-A and III-B6.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from whence.findings import Entry, Statement, rank

Key = tuple[int, float]


def of_run(sets: Sequence[frozenset[Statement]], weight: Mapping[Statement, float]) -> list[Entry]:
    """The statements of one run's sets: those of smaller sets first, of lighter ones among equals.

    A statement without a weight weighs 1; with no weights at all, statements of sets of equal size share their rank.
    """
    best: dict[Statement, Key] = {}
    for statements in sets:
        key = len(statements), sum(weight.get(statement, 1.0) for statement in statements)
        for statement in statements:
            best[statement] = min(best.get(statement, key), key)
    order = {key: number for number, key in enumerate(sorted(set(best.values())))}
    return rank({statement: float(-order[key]) for statement, key in best.items()})


def of_runs(rankings: Sequence[Sequence[Entry]]) -> list[Entry]:
    """The statements that are in the rankings of all runs, by the mean of their ranks there."""
    ranks = [{entry.statement: entry.rank_average for entry in ranking} for ranking in rankings]
    shared = set(ranks[0]).intersection(*ranks[1:]) if ranks else set()
    return rank({statement: -mean(one[statement] for one in ranks) for statement in shared})
