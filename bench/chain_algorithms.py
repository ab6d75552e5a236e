"""What the algorithms for failure-inducing chains take, on the same two runs of faults of the corpus.

    python -m bench.chain_algorithms [--longest] [--least POINTS] [--budget S] [--printed-budget S] [--every N]
                                     [--offset K] [--workers N] [--details] [--kept FILE] [--minutes M] [PROGRAM ...]

A fault's first failing case, or with ``--longest`` that with the longest run, is compared with the program without the
fault, by each algorithm. ``-printed`` is the paper's way to the letter: a whole set is computed wherever two are
compared, by one altered run after the other. Each begins with nothing known, and the seconds are those of the chain,
without recording the two runs. With ``--least`` runs of fewer aligned points are left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import whence
from bench.chains import LARGE, Chain, chain_of, first_failing, prepared
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus
from whence.subject.runs import blocks_executed

PRINTED = "hierarchical-printed"
ALGORITHMS = ("dependence", "dependence-printed", "hierarchical", PRINTED)
TITLES = ("algorithm", "points", "cases", "out of time", "equal", "tests", "seconds", "of its tests", "of its seconds")


@dataclass(slots=True)
class Row:
    """The chains of one fault's first failing case by algorithm; ``error``: why there are none."""

    program: str
    fault: str
    chains: dict[str, Chain] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which case of a fault is measured, and the seconds that chains may take."""

    budget: float
    printed_budget: float  # of printed Algorithm 1
    is_longest: bool
    least: int  # aligned points


def measure(program: str, number: int, choice: Choice) -> Row:
    """The chains of a fault's failing case."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        folder, good = prepared(fault, Path(name))
        case = longest_failing(folder) if choice.is_longest else first_failing(folder, 1)[0]
        with whence.open(folder, whence.Setup(case=case, workers=1)) as project:
            for algorithm in ALGORITHMS:
                budget = choice.printed_budget if algorithm == PRINTED else choice.budget
                found = chain_of(project, fault, whence.FailureInducingChain(algorithm, good), budget)
                if found.points < choice.least:
                    row.error = found.error or f"{found.points:,} points"
                    return row
                row.chains[algorithm] = found
    if not all(chain.steps for chain in row.chains.values()):
        row.error = next((chain.error for chain in row.chains.values() if chain.error), "an empty chain")
    return row


def longest_failing(folder: Path) -> str:
    """The name of the failing case that executes the most blocks."""
    with whence.open(folder) as project:
        runs = project.investigation.runs
        lengths = blocks_executed(project.investigation.subject, runs)
        return runs.tested[max(runs.failing, key=lambda row: int(lengths[row]))].case.name


def table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Of each algorithm on long runs and on all: what it takes in the median, and as a share of printed Algorithm 1.

    They are of the cases in which the algorithm comes to an end; where printed Algorithm 1 does not, its share is at
    most what is told.
    """
    for algorithm in ALGORITHMS:
        for which, least in (("all", 0), (f"> {LARGE:,}", LARGE)):
            some = [row for row in rows if row.chains[PRINTED].points > least]
            pairs = [(row.chains[algorithm], row.chains[PRINTED]) for row in some]
            ended = [(one, whole) for one, whole in pairs if not one.incomplete]
            both = [(one, whole) for one, whole in ended if not whole.incomplete]
            told = [algorithm, which, str(len(some)), str(sum(one.incomplete for one, _ in pairs))]
            told.append(f"{sum(one.steps == whole.steps for one, whole in both)} of {len(both)}")
            if ended:
                told.append(f"{median(one.tests for one, _ in ended):.0f}")
                told.append(f"{median(one.seconds for one, _ in ended):.2f}")
                told.append(f"{median(one.tests / max(whole.tests, 1) for one, whole in ended):.0%}")
                told.append(f"{median(one.seconds / max(whole.seconds, 1e-3) for one, whole in ended):.0%}")
            yield told + [""] * (len(TITLES) - len(told))


def main() -> int:
    """Print the table."""
    parser = fault_options(__doc__)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of each chain")
    parser.add_argument("--printed-budget", type=float, help="... of printed Algorithm 1 (as the others)")
    parser.add_argument("--longest", action="store_true", help="take the failing case with the longest run")
    parser.add_argument("--least", type=int, default=0, help="leave out runs of fewer aligned points")
    options = parser.parse_args()
    choice = Choice(options.budget, options.printed_budget or options.budget, options.longest, options.least)
    found = each_fault(options, measure, choice)
    rows = [row for row in found if was_measured(row, _detail if options.details else None)]
    print("\n" + markdown(TITLES, list(table(rows))))
    return 0


def _detail(row: Row) -> str:
    told = ", ".join(
        f"{name} {len(chain.steps)} steps, {chain.tests} tests, {chain.seconds:.2f} s"
        f"{', not complete' if chain.incomplete else ''}"
        for name, chain in row.chains.items()
    )
    return f"{row.program} {row.fault}: {row.chains[PRINTED].points:,} points: {told}"


if __name__ == "__main__":
    raise SystemExit(main())
