"""What persistent rules find on the corpus: all kinds, values alone, each kind alone, and with fewer cases.

    python -m bench.rules [--every N] [--offset K] [--workers N] [--seed S] [--details] [PROGRAM ...]

Suites and ranks are those of bench.effect: at most five failing and 25 passing cases, chosen at random; the rank of the
faulty statement is the worst of its tie. Every third fault (the first, the fourth, ...) served to choose what is tried
in which order and how equals are ordered; the others are reported apart.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.common import markdown
from bench.effect import Measuring, Row, ranks_of
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.techniques.rules.trials import Settings

FAMILIES = ("branch", "value", "store", "call", "variable", "operator")
METHODS = {
    "op2": "Op2",
    "rules": "all rules",
    "values": "rules of values alone",
    **{family: f"rules of the kind `{family}` alone" for family in FAMILIES},
    "passing-0": "all rules, no passing case",
    "passing-5": "all rules, 5 passing cases",
    "failing-1": "all rules, 1 failing case",
}


@dataclass(slots=True)
class Measured:
    """One fault: its ranks, the rules tried and the altered runs made for all rules."""

    row: Row
    chosen: bool  # whether it is one of those that served to choose
    runs: int = 0


def settings() -> dict[str, Settings]:
    """By method what is tried."""
    from whence.techniques.rules.candidates import Family
    from whence.techniques.rules.trials import Settings

    every = frozenset(Family)
    alone = {name: Settings(frozenset({Family[name.upper()]})) for name in FAMILIES}
    fewer = {"passing-0": Settings(passing=0), "passing-5": Settings(passing=5), "failing-1": Settings(failing=1)}
    return {"rules": Settings(), "values": Settings(every - {Family.OPERATOR}), **alone, **fewer}


def measure(program: str, number: int, seed: int) -> Measured:
    """One fault by every method; what cannot be measured says why."""
    from whence.alter.work import Work
    from whence.errors import WhenceError
    from whence.techniques.spectrum import spectrum

    fault = corpus.faults(program)[number]
    measured = Measured(Row(program, fault.id, fault.kind), number % 3 == 0)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            measuring = Measuring(fault, Path(name), seed, 60.0)
            measured.row = measuring.row
            ranking = spectrum(measuring.coverage, formula="op2").ranking
            measured.row.total = len(ranking)
            measuring.note("op2", ranking)
            with Work(measuring.subject, workers=1, fresh=True) as work:
                measured.runs = _rank_all(measuring, work)
    except WhenceError as error:
        measured.row.error = str(error)
    return measured


def _rank_all(measuring: Measuring, work: Work) -> int:
    """Note the ranks by every method; the altered runs that all rules took. What was run before is not run again."""
    from whence.techniques.rules.rules import rules

    runs = 0
    for method, chosen in settings().items():
        began = time.perf_counter()
        findings = rules(measuring.subject, measuring.runs, work, chosen)
        runs = runs or work.done
        measuring.note(method, findings.ranking, began if method == "rules" else None)
    return runs


def table(measured: Sequence[Measured]) -> str:
    """The results of some faults, a line a method."""
    head = ["method", "first alone", "score >= 99 %", ">= 90 %", ">= 80 %", "mean wasted effort"]
    lines = []
    for method, name in METHODS.items():
        rows = [m.row for m in measured if method in m.row.ranks]
        counts = [sum(row.score(method) >= least for row in rows) for least in (99, 90, 80)]
        wasted = sum(row.ranks[method] - 1 for row in rows) / max(len(rows), 1)
        lines.append([name, str(sum(row.ranks[method] == 1 for row in rows)), *map(str, counts), f"{wasted:.1f}"])
    return markdown(head, lines)


def effort(measured: Sequence[Measured]) -> str:
    """How long all rules took, a line a program."""
    lines = []
    for program in [*sorted({m.row.program for m in measured}), "all"]:
        mine = [m for m in measured if program in (m.row.program, "all") and "rules" in m.row.seconds]
        if mine:
            seconds = sorted(m.row.seconds["rules"] for m in mine)
            runs = sum(m.runs for m in mine) / len(mine)
            shown = (f"{runs:,.0f}", f"{seconds[len(seconds) // 2]:.1f}", f"{seconds[-1]:.1f}")
            lines.append([program, str(len(mine)), *shown])
    return markdown(["program", "faults", "mean altered runs", "median seconds", "most seconds"], lines)


def main() -> None:
    """Measure, and print the tables and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured = list(each_fault(options, measure, options.seed))
    found = [one for one in measured if was_measured(one.row, ranks_of if options.details else None)]
    for title, part in (("chosen on", True), ("others", False)):
        chosen = [one for one in found if one.chosen is part]
        print(f"{title}: {len(chosen)} faults\n\n{table(chosen)}\n")
    print(effort(measured))


if __name__ == "__main__":
    main()
