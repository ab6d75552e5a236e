"""How good the ranking of ``locate`` is while it is still at work: where the fault stands after 1, 3, 10, 30 s.

    python -m bench.anytime [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details] [PROGRAM ...]

Suites are those of ``bench.suites``; variants and kernels are there, altered runs are made anew. Each ranking that
``locate`` makes known counts from its moment on, of the seconds since the diagnosis began: cases are run first. A rank
is the worst of its tie; before the first ranking no fault is found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from bench.suites import opened
from corpus import corpus
from whence.errors import WhenceError
from whence.findings import Findings
from whence.investigation.watcher import Watcher

MOMENTS = (0.5, 1.0, 3.0, 10.0, 30.0, 60.0)  # seconds
WITHIN = (1, 5, 10)


@dataclass(slots=True)
class Row:
    """One fault: its rank from each of these moments on (0: it is not ranked), and when all was done."""

    program: str
    fault: str
    ranks: list[tuple[float, int]] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""

    def at(self, moment: float) -> int:
        """The rank that was shown then; 0 where none was."""
        return next((rank for when, rank in reversed(self.ranks) if when <= moment), 0)


class Noting(Watcher):
    """Notes where a fault's lines stand in each ranking that is made known."""

    def __init__(self, row: Row, lines: frozenset[int]) -> None:
        self._row, self._lines, self._began = row, lines, time.perf_counter()

    def best(self, findings: Findings, folder: Path) -> None:
        """Note the rank of the fault's first line."""
        ranks = [entry.rank_worst for entry in findings.ranking if entry.statement.line in self._lines]
        self._row.ranks.append((time.perf_counter() - self._began, min(ranks, default=0)))


def measure(program: str, number: int, budget: float, seed: int) -> Row:
    """Locate one fault, and note its ranks."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, budget) as suite:
            suite.prepare()
            suite.investigation.with_cases(suite.investigation.subject.cases)  # which are run again
            suite.investigation.watcher = Noting(row, suite.lines)
            began = time.perf_counter()
            suite.project.find(whence.Locate(), budget)
            row.seconds = time.perf_counter() - began
    except WhenceError as error:
        row.error = str(error)
    return row


def curve(rows: Sequence[Row]) -> Iterator[list[str]]:
    """For each moment how many faults stand among the first, and how many diagnoses have ended."""
    for moment in MOMENTS:
        ranks = [row.at(moment) for row in rows]
        counts = (sum(0 < rank <= most for rank in ranks) for most in WITHIN)
        ended = sum(row.seconds <= moment for row in rows)
        yield [f"{moment:g} s", *map(str, counts), str(sum(rank > 0 for rank in ranks)), str(ended), str(len(rows))]


def main() -> int:
    """Print the curve."""
    parser = fault_options(__doc__, workers=1)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each fault, without builds")
    parser.add_argument("--seed", type=int, default=1, help="which cases make up the suites")
    options = parser.parse_args()
    found = each_fault(options, measure, options.budget, options.seed)
    rows = [row for row in found if was_measured(row, _detail if options.details else None)]
    print(
        "\n"
        + markdown(["after", "first alone", "within 5", "within 10", "ranked", "ended", "faults"], list(curve(rows)))
    )
    return 0


def _detail(row: Row) -> str:
    steps = pairwise([(0.0, 0), *row.ranks])
    changes = [(when, rank) for (_, before), (when, rank) in steps if rank != before]
    return f"{row.program} {row.fault}: {', '.join(f'{w:.1f} s {r}' for w, r in changes)}; ended {row.seconds:.1f} s"


if __name__ == "__main__":
    raise SystemExit(main())
