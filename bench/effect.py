"""How well altered runs locate faults: the dissertation's table 2.2 on the corpus, with what Whence adds.

    python -m bench.effect [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details] [PROGRAM ...]

Suites are those of ``bench.suites``. A method's rank is the worst one of the tie in which the best-placed faulty line
stands, among the statements that failing cases executed (definition 6); wasted effort is that rank less one. The
methods: Tarantula, Ochiai and Op2; value replacement with one, two and all failing runs; single
branch switches; correction sets and the first failing run's cause tree as `whence locate` looks for them; rules of
values alone, and all rules; and the combined ranking of `whence locate`, before changes are compiled in the source.
Each method has the budget for itself.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.suites import Row, opened, ranks_of  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

if TYPE_CHECKING:
    from whence.investigation.investigation import Technique

METHODS = {
    "tarantula": "Tarantula",
    "ochiai": "Ochiai",
    "op2": "Op2",
    "values-1": "value replacement, 1 failing run",
    "values-2": "value replacement, 2 failing runs",
    "values": "value replacement, all failing runs",
    "switch": "branch switches",
    "invariants": "likely invariants",
    "formula": "correction sets",
    "causes": "cause tree, four levels",
    "rules-values": "rules of values alone",
    "rules": "all rules",
    "locate-values": "locate, without rules of operators",
    "locate-op2": "locate, with Op2 where altered runs say nothing",
    "locate-runs": "locate, without formulas and cause trees",
    "locate": "whence locate",
}
SECONDS = {"formula": 15.0, "causes": 5.0}  # that `whence locate` gives at most


@cache
def timed() -> dict[str, Technique]:
    """The methods whose time is measured: altered runs that others made are made again."""
    families = tuple(name for name in whence.Rules().families if name != "operator")
    return {
        "values-1": whence.ValueReplacement(failing=1, neighbours=False),
        "values-2": whence.ValueReplacement(failing=2, neighbours=False),
        "rules-values": whence.Rules(families=families, confirm=False),
        "locate": _locate(),
    }


@cache
def others() -> dict[str, Technique]:
    """The other methods, which find the altered runs of `whence locate` made."""
    return {
        "locate-values": _locate("operators"),
        "locate-op2": _locate("slice"),
        "locate-runs": _locate("causes", "formula"),
        "values": whence.ValueReplacement(neighbours=False),
        "switch": whence.PredicateSwitching(),
        "invariants": whence.LikelyInvariants(generate=False),
        "rules": whence.Rules(confirm=False),
        "formula": whence.CorrectionSets(size=1, alter=False),
        "causes": whence.CauseTree(depth=4),
    }


def _locate(*without: str) -> Technique:
    return whence.Locate(generate=False, without=(*without, "confirmation"))


def measure(program: str, number: int, seed: int, budget: float) -> Row:
    """One fault with every method; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    try:
        with opened(fault, seed, budget) as suite:
            suite.prepare()
            suite.spectrum(("tarantula", "ochiai", "op2"))
            for method, technique in timed().items():
                suite.find(method, technique)
            suite.keep()
            for method, technique in others().items():
                suite.find(method, technique, min(budget, SECONDS.get(method, budget)))
                del suite.row.seconds[method]
            return suite.row
    except WhenceError as error:
        return Row(program, fault.id, fault.kind, error=str(error))


def table(rows: Sequence[Row]) -> str:
    """The results of all faults, a line a method."""
    head = ["method", "first alone", "score >= 99 %", ">= 90 %", ">= 80 %", "mean wasted effort", "mean seconds"]
    lines = []
    for method, name in METHODS.items():
        chosen = [row for row in rows if method in row.ranks]
        scores = [row.score(method) for row in chosen]
        wasted = sum(row.ranks[method] - 1 for row in chosen) / max(len(chosen), 1)
        seconds = [row.seconds[method] for row in chosen if method in row.seconds]
        counts = [sum(score >= least for score in scores) for least in (99, 90, 80)]
        first = sum(row.ranks[method] == 1 for row in chosen)
        spent = f"{sum(seconds) / len(seconds):.1f}" if seconds else ""
        lines.append([name, *map(str, [first, *counts]), f"{wasted:.1f}", spent])
    return markdown(head, lines)


def by_program(rows: Sequence[Row]) -> str:
    """How often the fault is first alone, a line a program."""
    shown = ("tarantula", "op2", "values", "switch", "rules-values", "rules", "locate")
    lines = []
    for program in sorted({row.program for row in rows}):
        mine = [row for row in rows if row.program == program and row.ranks]
        counts = [sum(row.ranks.get(method) == 1 for row in mine) for method in shown]
        lines.append([program, *map(str, [len(mine), *counts])])
    return markdown(["program", "faults", *shown], lines)


def main() -> None:
    """Measure, and print the tables and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each search may take")
    options = parser.parse_args()
    rows = each_fault(options, measure, options.seed, options.budget)
    found = [row for row in rows if was_measured(row, ranks_of if options.details else None)]
    print(f"{table(found)}\n\n{by_program(found)}")


if __name__ == "__main__":
    main()
