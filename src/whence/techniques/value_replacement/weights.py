"""What speaks for a statement in a search for values, and how much: shares of runs, weighed and summed up.

The number of runs with a pair alone leaves ten statements with equal counts in the median. What tells them apart is
small each: whether one change mends all runs, whether it is a branch that turns, what kind of value has the pair, how
often the statement is executed by the cases that pass. The weights are the most likely ones where the faulty statement
is drawn by softmax of the sums, learned from planted faults (``python -m bench.values_order``, docs/values.md).
"""

from __future__ import annotations

from collections.abc import Mapping

WEIGHTS = {
    "mended": 2.4,  # searched runs with a pair, an exact one or a relaxed one
    "same_change": 1.4,  # ... that one kind of change mends
    "branches": 1.0,  # ... that another outcome of a branch mends
    "defined": 0.55,  # ... with an exact pair of what the statement defines: a store, a branch, what comes of a call
    "used": 0.4,  # ... of what it uses
    "called": -0.75,  # ... of what a call gives, or is returned: what is wrong with it came to be elsewhere
    "beside": 0.5,  # ... whose alternate is the original plus or minus 1
    "last": 0.2,  # ... at the last execution
    "failing": 4.6,  # failing cases that execute it
    "passing": -3.2,  # passing cases that do
}


def shares(counts: Mapping[str, float], runs: int, failing_total: int, passing_total: int) -> dict[str, float]:
    """The share of runs, or of cases, that each of the weights' names counts in ``counts`` (evidence of a statement).

    ``runs`` were searched; ``failing`` and ``passing`` count cases, of which there are so many in all.
    """
    totals = {"failing": failing_total, "passing": passing_total}
    known = {**counts, "mended": counts["pairs"] + counts["relaxed"]}
    return {name: known[name] / max(totals.get(name, runs), 1) for name in WEIGHTS}


def weighed(counts: Mapping[str, float], runs: int, failing_total: int, passing_total: int) -> float:
    """The sum of all that speaks for a statement, from what ``shares`` takes."""
    found = shares(counts, runs, failing_total, passing_total)
    return sum(weight * found[name] for name, weight in WEIGHTS.items())
