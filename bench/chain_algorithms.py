"""What the algorithms for failure-inducing chains take, on the same two runs of faults of the corpus.

    python -m bench.chain_algorithms [--longest] [--least POINTS] [--budget S] [--times N] [--every N] [--offset K]
                                     [--workers N] [--details] [--kept FILE] [--minutes M] [PROGRAM ...]

A fault's first failing case, or with ``--longest`` that with the longest run, is compared with the program without the
fault, by each algorithm. ``-printed`` is the paper's way to the letter: a whole set is computed wherever two are
compared, by one altered run after the other. Each begins with nothing known, and the seconds are those of the chain,
without recording the two runs. With ``--least`` runs of fewer aligned points are left out.

Algorithm 2 comes first, and once more before each of the others, which have N times its time: one that is not over then
takes more than that. Of Algorithm 2's times the median counts, so that load that comes and goes meets all alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import whence
from bench.chains import LARGE, Chain, chain_of, first_failing, prepared
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus
from whence.subject.runs import blocks_executed
from whence.techniques.chains.technique import BEGINNING

MEASURED, PRINTED = "dependence", "hierarchical-printed"
ALGORITHMS = (MEASURED, "dependence-printed", "hierarchical", PRINTED)
TITLES = ("algorithm", "points", "cases", "out of time", "equal", "tests", "seconds", "Algorithm 2's share of them")
LEAST = 4.0  # seconds that each algorithm has, however short Algorithm 2's time is


@dataclass(slots=True)
class Row:
    """The chains of one fault's first failing case by algorithm; ``error``: why there are none."""

    program: str
    fault: str
    chains: dict[str, Chain] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which case of a fault is measured, and the time that chains may take."""

    budget: float  # seconds of Algorithm 2
    times: float  # as long as that the others may take
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

            def chain(algorithm: str, budget: float) -> Chain:
                return chain_of(
                    project, fault, whence.FailureInducingChain(algorithm=algorithm, reference=good), budget
                )

            found = chain(MEASURED, choice.budget)  # and what is computed once for a program is known from here on
            if not found.steps or found.incomplete or found.points < choice.least:
                row.error = found.error or f"{found.points:,} points, {len(found.steps)} steps"
                return row
            _compare(row, chain, choice)
    return row


def _compare(row: Row, chain: Callable[[str, float], Chain], choice: Choice) -> None:
    """Each of the other algorithms right after Algorithm 2, whose median time counts."""
    samples: list[Chain] = []
    for algorithm in ALGORITHMS[1:]:
        samples.append(chain(MEASURED, choice.budget))
        recording = samples[-1].whole - samples[-1].seconds
        wanted = max(choice.times * samples[-1].seconds, LEAST)
        row.chains[algorithm] = chain(algorithm, 2 * recording + wanted / (1 - BEGINNING))
    samples.sort(key=lambda sample: sample.seconds)
    row.chains[MEASURED] = samples[len(samples) // 2]


def longest_failing(folder: Path) -> str:
    """The name of the failing case that executes the most blocks."""
    with whence.open(folder) as project:
        runs = project.investigation.runs
        lengths = blocks_executed(project.investigation.subject, runs)
        return runs.tested[max(runs.failing, key=lambda row: int(lengths[row]))].case.name


def table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Of each algorithm on long runs and on all: what it takes in the median, and Algorithm 2's share of that.

    One that is out of time takes more than it had: what is told of it then is a bound.
    """
    for algorithm in ALGORITHMS:
        for which, least in (("all", 0), (f"> {LARGE:,}", LARGE)):
            some = [row for row in rows if row.chains[MEASURED].points > least]
            if not some:
                continue
            found = [row.chains[algorithm] for row in some]
            ended = [row for row in some if not row.chains[algorithm].incomplete]
            equal = sum(row.chains[algorithm].steps == row.chains[MEASURED].steps for row in ended)
            yield [
                algorithm,
                which,
                str(len(some)),
                str(sum(chain.incomplete for chain in found)),
                f"{equal} of {len(ended)}",
                f"{median(chain.tests for chain in found):.0f}",
                f"{median(map(taken, found)):.2f}",
                bounded([(share(row, algorithm), row.chains[algorithm].incomplete) for row in some]),
            ]


def taken(chain: Chain) -> float:
    """The seconds that an algorithm took; where it was out of time, at least so many."""
    return chain.seconds * (1 - BEGINNING) if chain.incomplete else chain.seconds


def share(row: Row, algorithm: str) -> float:
    """Algorithm 2's share of an algorithm's time; where that was out of time, at most so much."""
    return row.chains[MEASURED].seconds / max(taken(row.chains[algorithm]), 1e-3)


def bounded(shares: Sequence[tuple[float, bool]]) -> str:
    """The median of shares, some of which are bounds from above."""
    middle = median(value for value, _ in shares)
    return ("at most " if any(is_bound and value >= middle for value, is_bound in shares) else "") + f"{middle:.1%}"


def main() -> int:
    """Print the table."""
    parser = fault_options(__doc__)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of Algorithm 2's chain")
    parser.add_argument("--times", type=float, default=20.0, help="so many times as long the others may take")
    parser.add_argument("--longest", action="store_true", help="take the failing case with the longest run")
    parser.add_argument("--least", type=int, default=0, help="leave out runs of fewer aligned points")
    options = parser.parse_args()
    choice = Choice(options.budget, options.times, options.longest, options.least)
    found = each_fault(options, measure, choice)
    rows = [row for row in found if was_measured(row, _detail if options.details else None)]
    print("\n" + markdown(TITLES, list(table(rows))))
    return 0


def _detail(row: Row) -> str:
    told = ", ".join(
        f"{name} {len(chain.steps)} steps, {chain.tests} tests, "
        f"{'more than ' if chain.incomplete else ''}{taken(chain):.2f} s ({share(row, name):.1%})"
        for name, chain in row.chains.items()
    )
    return f"{row.program} {row.fault}: {row.chains[MEASURED].points:,} points: {told}"


if __name__ == "__main__":
    raise SystemExit(main())
