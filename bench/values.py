"""Value Replacement, reduced against full search: altered runs and time, as the dissertation's figure 4.4.

    python -m bench.values [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details] [PROGRAM ...]

Suites are those of bench.suites; all failing runs of a suite are searched. How many runs the full search makes is
known before it starts; what it takes is measured where it ends within the budget, and only there times and ranks are
compared. "Same rank" counts the faults whose statement the reduced search ranks as the full one does, or better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from bench.suites import Suite, opened
from corpus import corpus
from whence.errors import SubjectError, WhenceError


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


def compare(row: Row, suite: Suite) -> None:
    """Search reduced, then in full."""
    reduced = _search(suite, "reduced")
    if reduced is None:
        raise SubjectError(suite.row.silent["reduced"])
    row.possible, row.reduced = reduced["possible"], reduced["altered"]
    row.ended = not reduced["stopped"] and row.possible < FULL_MOST
    if row.ended:
        full = _search(suite, "full")
        row.ended = full is not None and not full["stopped"]
    row.ranks, row.seconds = (
        tuple(found.get(method, 0) for method in ("reduced", "full")) for found in (suite.row.ranks, suite.row.seconds)
    )


def _search(suite: Suite, name: str) -> dict[str, int] | None:
    """How much a search looked at; None where no failing run can be altered."""
    found = suite.find(name, whence.ValueReplacement(full=name == "full", neighbours=False, plain=True))
    return found.parts["search"] if found else None


FULL_MOST = 30_000_000  # altered runs of a full search that is tried at all


def measure(program: str, number: int, seed: int, budget: float) -> Row:
    """One fault with both searches; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, budget) as suite:
            suite.prepare()
            compare(row, suite)
    except WhenceError as error:
        row.error = str(error)
    return row


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
