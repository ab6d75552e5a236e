"""Flips of all branch instances of failing runs with a planted fault: critical predicates, and how long it takes.

    python -m bench.real.switched --work FOLDER [--most N] [FAULT ...]

Each fault is planted in the program built with ``whence-cc``. Prints a line for each: the branch instances of the
failing run, how many were flipped, the seconds (building the variant apart), and the instances whose flip makes the
run pass, by statement.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.common import ended, options, work_folder
from bench.real.faults import ENVIRONMENT, Fault, chosen_faults, planted
from bench.real.programs import ensure_built
from bench.real.repeat import statement
from bench.real.sessions import SEED, Done, changes_at, chosen
from whence.alter.changes import Batch, Verdict
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject

MOST = 200_000
CHOSEN = ("gzip-02", "sed-01", "bc-02", "diffutils-04")


@dataclass(frozen=True, slots=True)
class Row:
    """One fault's figures: branch instances of the failing run, the flips, and the statements that were critical."""

    branches: int
    build: float
    done: Done
    critical: Counter[str]


def failing_case(fault: Fault, folder: Path) -> Case:
    """The fault's failing case, with what the program without the fault gives."""
    case, expected = fault.failing, fault.failing.expected
    assert expected is not None
    folder.mkdir(parents=True, exist_ok=True)
    case.write_files(folder)
    files = tuple((name, folder / name) for name in case.files)
    right = Expected(expected.stdout, None, expected.status)
    return Case("failing", case.arguments, case.stdin, files, ENVIRONMENT, right)


def measure(fault: Fault, work: Path, most: int) -> Row:
    """Plant the fault, and flip the branches of its failing run."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    with planted(fault, tree):
        case = failing_case(fault, work / "cases" / fault.name)
        subject = Subject(tree, tree / fault.executable, [case])
        start = time.perf_counter()
        subject.variant(Variant.ALTER)
        build = time.perf_counter() - start
        with Session(subject, case) as session:
            events = session.observe().events
            branches = events[subject.alter_plan.sites["role"][events["site"]] == Role.BRANCH]
            changes = changes_at(subject, chosen(branches, most, np.random.default_rng(SEED)))
            start = time.perf_counter()
            records = session.run(Batch.single(changes)).records
            done = Done(changes, records, time.perf_counter() - start)
        critical = Counter(statement(subject, change) for change in changes[records["verdict"] == Verdict.PASS])
    return Row(len(branches), build, done, critical)


def main() -> int:
    """Print the table."""
    parser = options("flip the branches of failing runs")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work: Path = work_folder(arguments.work)
    print("| fault | faulty line | branch instances | flipped | seconds | build | verdicts | critical instances |")
    print("| --- | --- | ---: | ---: | ---: | ---: | --- | --- |")
    for fault in chosen_faults(arguments.faults or CHOSEN):
        row = measure(fault, work, arguments.most)
        found = ", ".join(f"{place} ({count})" for place, count in row.critical.most_common(8)) or "none"
        print(
            f"| {fault.name} | {', '.join(fault.lines)} | {row.branches:,} | {len(row.done.changes):,} "
            f"| {row.done.seconds:.1f} | {row.build:.1f} | {row.done.verdicts()} | {found} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    ended(main)
