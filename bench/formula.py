"""Formula-based localisation on the corpus: the faulty statement's rank beside Ochiai and Op2.

    python -m bench.formula [--every N] [--offset K] [--budget S] [--seed S] [--method M] [--details]
                            [PROGRAM ...]

Suites are those of `bench.suites`. A rank is the mean one of the tie in which the best-placed faulty line stands; a
line that is not in a ranking comes after all statements that failing cases executed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.suites import Suite, opened  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

LIMIT = 60  # seconds that an answer may take
METHODS = ("ochiai", "op2", "formula")


@dataclass(slots=True)
class Row:
    """One fault: ranks by method, and the seconds of the formula technique."""

    program: str
    fault: str
    first: list[str] = field(default_factory=list)  # what stands first in the ranking, a faulty line with a star
    ranks: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    in_sets: bool = False
    total: int = 0
    error: str = ""


def measure(program: str, number: int, seed: int, budget: float, method: str) -> Row:
    """The ranks of one fault; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, budget) as suite:
            _measure(row, fault, suite, method)
    except WhenceError as error:
        row.error = str(error)
    return row


def _measure(row: Row, fault: corpus.Fault, suite: Suite, way: str) -> None:
    for method in ("ochiai", "op2"):
        ranking = suite.project.find(whence.Spectrum(formula=method)).ranking
        row.total = len(ranking)
        row.ranks[method] = _rank(ranking, fault, row.total)
    suite.prepare()
    began = time.perf_counter()
    found = suite.project.find(whence.CorrectionSets(method=way), suite.budget)
    row.seconds = time.perf_counter() - began
    row.ranks["formula"] = _rank(found.ranking, fault, row.total)
    named = [e.statement.line for e in found.ranking if e.evidence["alone"] or e.evidence["together"]]
    row.in_sets = any(line in fault.lines for line in named)
    for entry in found.ranking[:8]:
        e = entry.evidence
        keys = " ".join(f"{k}={e[k]}" for k in ("alone", "consistent", "confirmed", "together", "runs"))
        star = "*" if entry.statement.line in fault.lines else " "
        row.first.append(f"    {star} {entry.statement.line} {keys} {e['text'][:90]}")


def _rank(ranking: Sequence[object], fault: corpus.Fault, total: int) -> float:
    ranks = [e.rank_average for e in ranking if e.statement.line in fault.lines]  # type: ignore[attr-defined]
    return min(ranks, default=float(total))


def told(row: Row) -> str:
    """A line a fault, and what stands first in its ranking."""
    ranks = {method: round(rank, 1) for method, rank in row.ranks.items()}
    return "\n".join([f"{row.program} {row.fault}: {ranks}, {row.seconds:.2f} s", *row.first])


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__, workers=1)
    parser.set_defaults(programs=["gatekeeper"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each search may take")
    parser.add_argument("--method", default="path", help="path, ofc or bugassist: as `whence formula --method`")
    options = parser.parse_args()
    measured = each_fault(options, measure, options.seed, options.budget, options.method)
    rows = [row for row in measured if was_measured(row, told if options.details else None)]
    head = ["method", "faults", "mean rank", "worst", "first alone", "in the first five", "in the first ten"]
    lines = []
    for method in METHODS:
        ranks = [row.ranks[method] for row in rows]
        counts = [str(sum(rank <= most for rank in ranks)) for most in (1, 5, 10)]
        lines.append([method, str(len(ranks)), f"{mean(ranks):.1f}", f"{max(ranks):g}", *counts])
    print(markdown(head, lines))
    held, seconds = sum(row.in_sets for row in rows), [row.seconds for row in rows]
    within = sum(spent <= LIMIT for spent in seconds)
    print(
        f"in a correction set: {held} of {len(rows)}; {mean(seconds):.2f} s a fault (median {median(seconds):.2f}, "
        f"worst {max(seconds):.1f}), {within} within {LIMIT} s"
    )


if __name__ == "__main__":
    main()
