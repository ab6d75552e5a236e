"""How well likely invariants locate faults of the corpus: the paper's ranking and the default one, beside spectra.

    python -m bench.invariants [--every N] [--offset K] [--workers N] [--seed S] [--details] [PROGRAM ...]

Each fault's suite is that of ``bench.suites``. A method's rank is the worst one of the tie in which the best-placed
faulty line stands, among the statements that failing cases executed. What lies behind the rankings, the sets of
candidates, is measured by ``bench.candidates``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.suites import Row, opened, ranks_of  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

FORMULAS = ("tarantula", "ochiai", "op2")
TECHNIQUES = {
    "paper": whence.LikelyInvariants(paper=True, generate=False),
    "default": whence.LikelyInvariants(generate=False),
}
METHODS = (*FORMULAS, *TECHNIQUES)


def measure(program: str, number: int, seed: int) -> Row:
    """One fault; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    try:
        with opened(fault, seed, float("inf")) as suite:
            suite.spectrum(FORMULAS)
            for method, technique in TECHNIQUES.items():
                suite.find(method, technique)
            return suite.row
    except WhenceError as error:
        return Row(program, fault.id, fault.kind, error=str(error))


def ranking_table(rows: Sequence[Row]) -> str:
    """The rankings, a line a method."""
    head = ["method", "first alone", "within 5", "within 10", "mean rank"]
    programs = sorted({row.program for row in rows})
    lines = []
    for method in METHODS:
        ranks = [row.ranks[method] for row in rows]
        counts = [sum(rank <= most for rank in ranks) for most in (1, 5, 10)]
        means = [_mean([row.ranks[method] for row in rows if row.program == program]) for program in programs]
        lines.append([method, *map(str, counts), _mean(ranks), *means])
    return markdown([*head, *programs], lines)


def _mean(numbers: Sequence[float]) -> str:
    return f"{sum(numbers) / max(len(numbers), 1):.1f}"


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__, workers=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured = each_fault(options, measure, options.seed)
    rows = [row for row in measured if was_measured(row, ranks_of if options.details else None)]
    print(f"{len(rows)} faults, {_mean([row.seconds['default'] for row in rows])} s each\n\n{ranking_table(rows)}")


if __name__ == "__main__":
    main()
