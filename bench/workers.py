"""Two workers against one: the same altered runs by `Work`, as searches ask for them, in turns.

    python -m bench.workers [--work FOLDER] [--rounds N] [--runs N]

One row has a single case, whose parts go to sessions of their own; the other has four cases, as a search of four
failing runs. Every instance of arithmetic and stores is changed, by growing amounts until there are as many runs as
asked for; none repeats. Times are by the clock and include opening the sessions; nothing is known from before.
"""

from __future__ import annotations

import sys
from statistics import median

import numpy as np

from bench.alter import all_changes, case_of
from bench.common import build_program, markdown, options, timed, work_folder
from whence.alter.changes import Batch, Observed, Op
from whence.alter.session import Session
from whence.alter.work import Request, Work
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.runner import Runner
from whence.subject.subject import Subject

PARCELS = (120, 110, 100, 90)
HEAD = ["cases", "altered runs", "one worker s", "two workers s", "times faster"]


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each (default 3)")
    parser.add_argument("--runs", type=int, default=200_000, help="altered runs (default 200,000)")
    arguments = parser.parse_args()
    subject = build_program("parcels", work_folder(arguments.work))
    with Runner(subject.variant(Variant.ALTER), name=subject.name) as runner:
        cases = [case_of(runner, number) for number in PARCELS]
    rows = [measure(subject, cases[:count], arguments.runs, arguments.rounds) for count in (1, len(cases))]
    print(markdown(HEAD, rows))
    return 0


def measure(subject: Subject, cases: list[Case], runs: int, rounds: int) -> list[str]:
    """The row of some cases."""
    requests = [Request(case, batch(subject, case, runs // len(cases))) for case in cases]
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers, taken in times.items():
            taken.append(timed(lambda count=workers: search(subject, requests, count))[0].wall)
    one, two = median(times[1]), median(times[2])
    made = sum(len(request.batch) for request in requests)
    return [f"{len(cases)}", f"{made:,}", f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"]


def batch(subject: Subject, case: Case, runs: int) -> Batch:
    """So many different changes of one case, each amount at all instances before the next."""
    with Session(subject, case) as session:
        observed: Observed = session.observe()
    changes = all_changes(subject, observed)
    changes = changes[(changes["op"] == Op.ADD) & (changes["width"] >= 8)]
    every = np.tile(changes, runs // len(changes) + 1)
    every["value"] = 1 + np.arange(len(every)) // len(changes)
    return Batch.single(every[:runs])


def search(subject: Subject, requests: list[Request], workers: int) -> None:
    """Run all requests with so many workers, nothing being known."""
    with Work(subject, workers=workers, fresh=True) as work:
        work.run(requests)


if __name__ == "__main__":
    sys.exit(main())
