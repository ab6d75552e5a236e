"""Value Replacement, reduced against full search: altered runs and time, as the dissertation's figure 4.4.

    python -m bench.values [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details] [PROGRAM ...]

Suites are those of bench.effect; all failing runs of a suite are searched. How many runs the full search makes is known
before it starts; what it takes is measured where it ends within the budget, and only there times and ranks are
compared. "Same rank" counts the faults whose statement the reduced search ranks as the full one does, or better.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common import markdown
from bench.effect import Measuring
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus


@dataclass(slots=True)
class Row:
    """One fault: altered runs, seconds and the fault's rank by each search; ``ended``: the full one in its budget."""

    program: str
    fault: str
    possible: int = 0
    reduced: int = 0
    ended: bool = False
    seconds: tuple[float, float] = (0.0, 0.0)  # reduced, full
    ranks: tuple[int, int] = (0, 0)
    error: str = ""


class Comparing(Measuring):
    """One fault, both searches."""

    def compare(self) -> Row:
        """Search reduced, then in full."""
        from whence.techniques.value_replacement.mapping_pairs import Settings

        row = Row(self.row.program, self.row.fault)
        reduced, quick, row.possible, row.reduced, ended = self._search("reduced", Settings(), self.budget)
        row.ended = ended and row.possible < FULL_MOST
        full, slow = 0, 0.0
        if row.ended:
            full, slow, _, _, row.ended = self._search("full", Settings(full=True), self.budget)
        row.ranks, row.seconds = (reduced, full), (quick, slow)
        return row

    def _search(self, name: str, settings: object, budget: float) -> tuple[int, float, int, int, bool]:
        """Rank of the fault, seconds, runs that the full search makes, runs made, and whether the search ended."""
        from whence.alter.work import Work
        from whence.techniques.value_replacement.ranking import search, values

        cases = [self.runs.tested[row].case for row in self.failing]
        others = [tested.case for row, tested in enumerate(self.runs.tested) if row not in self.failing]
        began = time.perf_counter()
        with Work(self.subject, workers=1, fresh=True, deadline=time.monotonic() + budget) as work:
            searched = search(self.subject, cases, others, work, settings)
            ended = not work.stopped
        took = time.perf_counter() - began
        self.note(name, values(self.subject, searched, self.coverage, plain=True).ranking)
        return self.row.ranks[name], took, searched.possible, searched.altered, ended


FULL_MOST = 30_000_000  # altered runs of a full search that is tried at all


def measure(program: str, number: int, seed: int, budget: float) -> Row:
    """One fault with both searches; what cannot be measured says why."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            return Comparing(fault, Path(name), seed, budget).compare()
    except WhenceError as error:
        return Row(program, fault.id, error=str(error))


HEAD = ["program", "faults", "full: runs", "reduced: runs", "share", "full ended", "full: s", "reduced: s", "same rank"]


def table(rows: Sequence[Row]) -> str:
    """A line a program, and one for all."""
    names = sorted({row.program for row in rows})
    lines = [_line(name, [row for row in rows if row.program == name]) for name in names]
    return markdown(HEAD, [*lines, _line("all", rows)])


def _line(name: str, rows: Sequence[Row]) -> list[str]:
    ended = [row for row in rows if row.ended]
    possible, reduced = (sum(getattr(row, field) for row in rows) for field in ("possible", "reduced"))
    quick, slow = (sum(row.seconds[which] for row in ended) for which in (0, 1))
    same = sum(row.ranks[0] <= row.ranks[1] for row in ended)
    share = f"{100 * reduced / max(possible, 1):.2f} %"
    counts = [f"{len(rows)}", f"{possible:,}", f"{reduced:,}", share, f"{len(ended)}"]
    return [name, *counts, f"{slow:.0f}", f"{quick:.0f}", f"{same} of {len(ended)}"]


def told(row: Row) -> str:
    """A line a fault."""
    full = f"full {row.seconds[1]:.1f} s, rank {row.ranks[1]}" if row.ended else "full has not ended"
    runs = f"{row.reduced:,} of {row.possible:,} runs in {row.seconds[0]:.1f} s, rank {row.ranks[0]}"
    return f"{row.program} {row.fault}: {runs}; {full}"


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each search may take")
    options = parser.parse_args()
    rows = each_fault(options, measure, options.seed, options.budget)
    print(table([row for row in rows if was_measured(row, told if options.details else None)]))


if __name__ == "__main__":
    main()
