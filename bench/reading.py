"""How much a user reads until the root cause: on the chain, in the cause tree, in the slice; and the chain as a voice.

    python -m bench.reading [--every N] [--offset K] [--workers N] [--budget S] [--details] [PROGRAM ...]

Of each fault's first failing case the chain, the tree and the slice are made, and their lines read in the order in
which each presents them: from the chain's first step on, from the tree's root down, from the symptom backwards in the
slice; of lines at the same place half. Beside it stands the rank of the fault in ``locate`` as it is, and with the
statement of the chain's first step put before all others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus
from whence.errors import WhenceError
from whence.findings import Findings
from whence.investigation.investigation import Technique

WITHIN = (1, 3, 5, 10)
TECHNIQUES: dict[str, Technique] = {
    "chain": whence.FailureInducingChain(),
    "cause tree": whence.CauseTree(),
    "slice": whence.Slicing(),
}


@dataclass(slots=True)
class Row:
    """One fault: for each technique the lines until the root cause (0: it is not there) and all lines; ranks."""

    program: str
    fault: str
    read: dict[str, tuple[float, int]] = field(default_factory=dict)
    ranks: dict[str, float] = field(default_factory=dict)
    error: str = ""


def measure(program: str, number: int, budget: float) -> Row:
    """What is read for one fault's first failing case."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        folder = Path(name) / "faulty"
        corpus.prepare(fault, folder)
        with whence.open(folder) as project:
            runs = project.investigation.runs
            case = runs.tested[runs.failing[0]].case.name
            located = project.locate(budget)
        with whence.open(folder, whence.Setup(case=case)) as project:
            for technique, made in TECHNIQUES.items():
                try:
                    found = project.find(made, budget)
                except WhenceError:
                    row.read[technique] = (0.0, 0)
                    continue
                row.read[technique] = (_rank(found, fault), len(found.ranking))
    row.ranks = {"as it is": _rank(located, fault), "chain first": _rank(located, fault, first=True)}
    return row


def _rank(found: Findings, fault: corpus.Fault, first: bool = False) -> float:
    """The mean rank of the first faulty line, 0 where none is ranked; ``first``: the chain's first step before all."""
    steps = found.parts.get("chain", {}).get("steps", []) if first else []
    put = steps[0]["line"] if steps else None
    if put is not None and put in fault.lines:
        return 1.0
    ranks = [entry.rank_average for entry in found.ranking if entry.statement.line in fault.lines]
    if not ranks:
        return 0.0
    best = min(ranks)
    before = [entry for entry in found.ranking if entry.statement.line == put and entry.rank_average > best]
    return best + bool(before)


def reading_table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Of each technique how often the root cause is there, and the lines that are read until it."""
    for technique in TECHNIQUES:
        found = [row.read[technique] for row in rows]
        there = [read for read, _ in found if read]
        yield [
            technique,
            f"{len(there)} of {len(rows)}",
            f"{median(there):g}" if there else "",
            f"{mean(there):.1f}" if there else "",
            f"{median(total for _, total in found):g}",
        ]


def common_table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """The same, of the faults that all of them hold."""
    common = [row for row in rows if all(read for read, _ in row.read.values())]
    for technique in TECHNIQUES if common else ():
        there = [row.read[technique][0] for row in common]
        yield [technique, f"{len(common)}", f"{median(there):g}", f"{mean(there):.1f}"]


def voice_table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """How often the fault is among the first few, as it is and with the chain's first step before all others."""
    for order in ("as it is", "chain first"):
        ranks = [row.ranks[order] or float("inf") for row in rows]
        yield [order, *(str(sum(rank <= most for rank in ranks)) for most in WITHIN), str(len(rows))]


def main() -> int:
    """Print the tables."""
    parser = fault_options(__doc__)
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of each technique")
    options = parser.parse_args()
    rows = [
        row
        for row in each_fault(options, measure, options.budget)
        if was_measured(row, _detail if options.details else None)
    ]
    titles = ["", "holds the root cause", "lines until it, median", "mean", "all its lines, median"]
    print("\n" + markdown(titles, list(reading_table(rows))))
    print("\nof the faults that all hold:\n" + markdown(["", "faults", "median", "mean"], list(common_table(rows))))
    print("\nlocate:\n" + markdown(["", *(f"within {n}" for n in WITHIN), "of"], list(voice_table(rows))))
    return 0


def _detail(row: Row) -> str:
    read = ", ".join(f"{technique} {until:g} of {total}" for technique, (until, total) in row.read.items())
    return f"{row.program} {row.fault}: {read}; " + ", ".join(f"{order} {rank:g}" for order, rank in row.ranks.items())


if __name__ == "__main__":
    raise SystemExit(main())
