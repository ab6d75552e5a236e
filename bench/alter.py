"""What an altered run costs: going back by a snapshot and by a fork, beside forks of the same process that do nothing.

    python -m bench.alter [--work FOLDER] [--rounds N]

The bare fork is fork, _exit in the child and wait in the parent, by the program itself (``parcels forks N``), in the
same variant. Continuations are all instances of comparisons, arithmetic and stores of the run, each changed once; their
length is that of the unaltered run from the point of change on, on average half of it. The ways take turns. A time is
the mean of the middle half of all single times, by the clock: what other work on the machine interrupts falls away.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.common import build_program, markdown, options, work_folder
from whence.alter.changes import CHANGE, Batch, Observed, Op, Verdict, Way
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.runner import Runner
from whence.subject.subject import Subject

PARCELS = (4, 30, 120)  # about 100, 1,000 and 10,000 clock ticks
FORKS = 1000  # bare forks a round
SNAPSHOTS = 20_000  # continuations a round
CHILDREN = 500


@dataclass(slots=True)
class Row:
    """Times in microseconds of one size of input."""

    length: int
    ran: float  # ticks that a continuation runs
    bare: float
    fork: float
    snapshot: float

    def cells(self) -> list[str]:
        """The row of the table."""
        numbers = [
            f"{self.length:,}",
            f"{self.ran:,.0f}",
            f"{self.bare:.0f}",
            f"{self.fork:.0f}",
            f"{self.snapshot:.1f}",
        ]
        ratios = [f"{self.bare / self.fork:.0%}", f"{self.bare / self.snapshot:,.0f}", f"{1e6 / self.snapshot:,.0f}"]
        return numbers + ratios


HEAD = [
    "clock ticks",
    "ticks a continuation",
    "bare fork µs",
    "by fork µs",
    "by snapshot µs",
    "fork, rate to bare",
    "snapshot, rate to bare",
    "snapshots a second",
]


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way (default 5)")
    arguments = parser.parse_args()
    subject = build_program("parcels", work_folder(arguments.work))
    rows = [measure(subject, number, arguments.rounds) for number in PARCELS]
    print(markdown(HEAD, [row.cells() for row in rows]))
    return 0


def measure(subject: Subject, number: int, rounds: int) -> Row:
    """One size of input."""
    with Runner(subject.variant(Variant.ALTER), name=subject.name) as runner:
        case = case_of(runner, number)
        with Session(subject, case, Way.SNAPSHOT) as snapshots, Session(subject, case, Way.FORK) as forks:
            observed = snapshots.observe()
            batch = lasting(snapshots, all_changes(subject, observed))
            turns = list(take_turns(runner, snapshots, forks, batch, rounds))
    bare, fork, snapshot = (middle(np.concatenate(times)) for times in zip(*turns, strict=True))
    ran = float((observed.length - batch.changes["clock"].astype(np.float64)).mean())
    return Row(observed.length, ran, bare, fork, snapshot)


Times = NDArray[np.float64]


def take_turns(
    runner: Runner, snapshots: Session, forks: Session, batch: Batch, rounds: int
) -> Iterator[tuple[Times, Times, Times]]:
    """The times of single runs in microseconds: bare forks, continuations by fork, continuations by snapshot."""
    for number in range(rounds):
        lines = runner.run_case(Case("bare", ("forks", str(FORKS)))).stdout.split()
        children = forks.run(some(batch, CHILDREN, number)).records["microseconds"].astype(np.float64)
        yield np.array(lines, np.float64) / 1000, children, by_snapshot(snapshots, some(batch, SNAPSHOTS, number))


def by_snapshot(session: Session, batch: Batch) -> Times:
    """Times of continuations; a microsecond being long for one, those of neighbours are taken together."""
    times = session.run(batch).records["microseconds"].astype(np.float64)
    order = np.lexsort((batch.changes["site"], batch.changes["clock"]))
    whole = len(times) // 10 * 10
    return np.asarray(times[order][:whole].reshape(-1, 10).mean(axis=1))


def middle(times: Times) -> float:
    """The mean of the middle half."""
    times = np.sort(times)
    return float(times[len(times) // 4 : -(len(times) // 4)].mean())


# ---- What is run -----------------------------------------------------------------------------------------------------


def case_of(runner: Runner, number: int) -> Case:
    """The program's case with so many parcels; what it prints is right."""
    chosen = random.Random(7)
    stdin = " ".join(str(chosen.randint(5, 70)) for _ in range(number)).encode()
    result = runner.run_case(Case("parcels", (), stdin))
    return Case("parcels", (), stdin, expected=Expected(result.stdout, None, result.status))


def all_changes(subject: Subject, observed: Observed) -> NDArray[np.void]:
    """Comparisons turned round, one added to results and to what is stored, at every instance."""
    sites = subject.alter_plan.sites
    rows = sites[observed.events["site"]]
    chosen = np.isin(rows["role"], [Role.COMPARE, Role.BINARY, Role.STORE]) & (rows["form"] == Form.INTEGER)
    events, rows = observed.events[chosen], rows[chosen]
    turned = rows["role"] == Role.COMPARE
    changes = np.zeros(len(events), CHANGE)
    changes["clock"], changes["site"] = events["clock"], events["site"]
    changes["block"], changes["form"] = rows["block"], rows["form"]
    changes["width"] = np.where(turned, 1, rows["width"])
    changes["op"] = np.where(turned, Op.NOT, Op.ADD)
    changes["value"] = 1
    return changes


def lasting(session: Session, changes: NDArray[np.void]) -> Batch:
    """The changes after which the run goes on to its end: no crash, no endless loop, no output that is cut."""
    records = session.run(Batch.single(changes), outputs=True).records
    ends = np.isin(records["verdict"], [Verdict.PASS, Verdict.WRONG_OUTPUT]) & (records["signal"] == 0)
    return Batch.single(changes[ends])


def some(batch: Batch, count: int, seed: int) -> Batch:
    """So many of the changes, again and again where there are fewer."""
    order = np.random.default_rng(seed).permutation(len(batch))
    return Batch.single(np.sort(batch.changes[np.resize(order, count)], order=["clock", "site"]))


if __name__ == "__main__":
    sys.exit(main())
