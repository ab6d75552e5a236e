"""What persistent rules find on the corpus: all kinds, values alone, each kind alone, and with fewer cases.

    python -m bench.rules [--every N] [--offset K] [--workers N] [--seed S] [--details] [PROGRAM ...]

Suites are those of bench.suites, ranks those of bench.effect: the rank of the faulty statement is the worst of its tie.
Every third fault (the first, the fourth, ...) served to choose what is tried in which order and how equals are ordered;
the others are reported apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from bench.suites import Row, opened, ranks_of
from corpus import corpus
from whence.errors import WhenceError
from whence.investigation.watcher import Progress, Watcher

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


class Counter(Watcher):
    """Counts the altered runs of the search that is going on."""

    done = 0

    @contextmanager
    def search(self, text: str) -> Iterator[Progress]:
        """Count the steps done."""

        def count(done: int, asked: int) -> None:
            self.done = done

        yield count


def techniques() -> dict[str, whence.Rules]:
    """By method what is tried; all rules first."""
    every = whence.Rules(confirm=False)
    values = replace(every, families=tuple(name for name in FAMILIES if name != "operator"))
    alone = {name: replace(every, families=(name,)) for name in FAMILIES}
    fewer = {"passing-0": replace(every, passing=0), "passing-5": replace(every, passing=5)}
    return {"rules": every, "values": values, **alone, **fewer, "failing-1": replace(every, failing=1, further=0)}


def measure(program: str, number: int, seed: int) -> Measured:
    """One fault by every method; what cannot be measured says why. What was run before is not run again."""
    fault = corpus.faults(program)[number]
    measured = Measured(Row(program, fault.id, fault.kind), number % 3 == 0)
    try:
        with opened(fault, seed, float("inf")) as suite:
            measured.row = suite.row
            suite.prepare()
            suite.spectrum(("op2",))
            suite.investigation.watcher = counter = Counter()
            for method, technique in techniques().items():
                suite.find(method, technique)
                measured.runs = measured.runs or counter.done
                suite.keep()
    except WhenceError as error:
        measured.row.error = str(error)
    return measured


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
