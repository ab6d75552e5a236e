"""Ranks of the faulty statements on the corpus: formulas of the spectrum, and `whence locate` by spectrum and slice.

    python -m bench.corpus [--every N] [--workers N] [PROGRAM ...]

Each fault is put into its program, all cases run, the shortest failing run is recorded and sliced. A fault counts
by its best-placed line; ties by their average rank; a line that no failing case executed comes after all others.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

FORMULAS = ("tarantula", "ochiai", "op2")
METHODS = (*FORMULAS, "locate")
ALONE = whence.Locate(alter=False, generate=False, without=("memory", "invariants"))  # spectrum and slice


@dataclass(slots=True)
class Placed:
    """Where a method ranks the faulty statement: best, worst and average rank among ``total`` statements."""

    best: int
    worst: int
    total: int

    @property
    def average(self) -> float:
        """Mean rank of the tie."""
        return (self.best + self.worst) / 2

    @property
    def score(self) -> float:
        """Share of the statements that need not be read, in percent (the dissertation's score, by the worst rank)."""
        return 100 * (self.total - self.worst) / self.total


@dataclass(slots=True)
class Row:
    """One fault's result."""

    program: str
    fault: str
    kind: str
    in_slice: bool = False
    placed: dict[str, Placed] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""


def measure(program: str, number: int) -> Row:
    """Locate one fault with every method."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id, fault.kind)
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            _locate(fault, Path(name), row)
    except WhenceError as error:
        row.error = str(error)
    row.seconds = time.perf_counter() - began
    return row


def _locate(fault: corpus.Fault, folder: Path, row: Row) -> None:
    """Fill the row from the folder made for the fault."""
    corpus.prepare(fault, folder)
    with whence.open(folder) as project:
        rankings = {formula: project.find(whence.Spectrum(formula=formula)).ranking for formula in FORMULAS}
        located = rankings["locate"] = project.find(ALONE, float("inf")).ranking
    for method, ranking in rankings.items():
        faulty = [e for e in ranking if e.statement.line in fault.lines]
        total = len(ranking)
        best = min(faulty, key=lambda e: e.rank_average, default=None)
        nowhere = Placed(total + 1, total + 1, total + 1)
        row.placed[method] = Placed(best.rank, best.rank_worst, total) if best else nowhere
    row.in_slice = any(e.evidence.get("in_slice") for e in located if e.statement.line in fault.lines)


def table(rows: list[Row]) -> Iterable[str]:
    """The results as a Markdown table, a line a program and one for all."""
    slashed = " / ".join(METHODS)
    head = ["program", "faults", "in slice", f"mean rank: {slashed}", "first alone", "first ten", "score >= 90 %"]
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    names = sorted({row.program for row in rows})
    for name in [*names, "all"]:
        chosen = [row for row in rows if row.placed and name in (row.program, "all")]
        if chosen:
            yield _line(name, chosen)


def _line(name: str, rows: list[Row]) -> str:
    def count(method: str, test: Callable[[Placed], bool]) -> int:
        return sum(test(row.placed[method]) for row in rows)

    def slashed(cells: Iterable[object]) -> str:
        return " / ".join(str(cell) for cell in cells)

    cells = [
        name,
        len(rows),
        sum(row.in_slice for row in rows),
        slashed(f"{sum(row.placed[m].average for row in rows) / len(rows):.1f}" for m in METHODS),
        slashed(count(m, lambda p: p.worst == 1) for m in METHODS),
        slashed(count(m, lambda p: p.average <= 10) for m in METHODS),
        slashed(count(m, lambda p: p.score >= 90) for m in METHODS),
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def ranks_of(row: Row) -> str:
    """A line a fault."""
    ranks = ", ".join(f"{m} {row.placed[m].average:g}" for m in METHODS)
    total = row.placed["locate"].total
    return f"{row.program} {row.fault} ({row.kind}): {ranks} of {total}, {row.seconds:.1f} s"


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    options = fault_options(__doc__).parse_args()
    rows = each_fault(options, measure)
    found = [row for row in rows if was_measured(row, ranks_of if options.details else None)]
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
