"""Altered runs of the real programs: how fast, in which way, and whether all ways agree.

    python -m bench.real.sessions --work FOLDER [--most N] [--sample N] [PROGRAM[/CASE] ...]

Two batches a case: flips of all branch instances, and small changes of values (at loads, stores, arguments, results and
returns), of each a random choice where there are more than ``--most``. Then a random sample of both runs once more in
each way by itself, and verdicts, or first wrong bytes, that are not the same in all are told below the case's lines.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.common import ended, options, work_folder
from bench.real.cases import PROGRAMS, subject_of
from bench.real.repeat import statement
from whence.alter.changes import CHANGE, Batch, Flag, Op, Results, Verdict, Way
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.subject.subject import Subject

MOST, SAMPLE, SEED = 20_000, 300, 1
SHOWN = 8  # disagreements of a case that are told
SECONDS = 120.0  # that a batch may take
WAYS = (Way.SNAPSHOT, Way.FORK, Way.RESTART)
ROLES = (Role.LOAD, Role.STORE, Role.ARGUMENT, Role.RESULT, Role.RETURN)
CHOSEN = {
    "gzip": ("from-stdin", "decompress", "file-in-place"),
    "grep": ("basic", "words-only", "recursive"),
    "sed": ("substitute", "in-place", "extended"),
    "bc": ("sums", "library", "strings"),
    "diffutils": ("normal", "side-by-side", "recursive"),
}
HEADING = (
    "| case | changes | continuations | a second | snapshot / fork / restart % | verdicts "
    "| snapshot refused | fork refused |"
)
Changes = NDArray[np.void]
Events = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that was run."""

    changes: Changes
    records: Events
    seconds: float

    @property
    def rate(self) -> float:
        """Continuations a second."""
        return len(self.changes) / self.seconds if self.seconds else 0.0

    def share(self, way: Way) -> float:
        """The part of the continuations, in percent, that went back in this way."""
        return 100 * float(np.mean(self.records["way"] == way)) if len(self.records) else 0.0

    def verdicts(self) -> str:
        """How many continuations got each verdict, most frequent first."""
        counts = Counter(Verdict(int(v)).name.lower() for v in self.records["verdict"])
        return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def chosen(events: Events, most: int, rng: np.random.Generator) -> Events:
    """All events, or so many by chance, in order of time."""
    if len(events) <= most:
        return events
    return events[np.sort(rng.choice(len(events), most, replace=False))]


def changes_at(subject: Subject, events: Events) -> Changes:
    """For each event a change: a branch takes the other side, an integer is one more, a pointer null."""
    sites = subject.alter_plan.sites[events["site"]]
    changes = np.zeros(len(events), CHANGE)
    for name in ("clock", "site"):
        changes[name] = events[name]
    for name in ("block", "width", "form"):
        changes[name] = sites[name]
    is_branch, is_pointer = sites["role"] == Role.BRANCH, sites["form"] == Form.POINTER
    changes["op"] = np.where(is_branch, Op.NOT, np.where(is_pointer, Op.SET, Op.ADD))
    changes["value"] = np.where(is_pointer, 0, np.where(sites["form"] == Form.FLOAT, np.float64(1).view(np.uint64), 1))
    changes["flags"] = np.where(sites["role"] == Role.LOAD, Flag.MEMORY, 0)
    return changes


def run(subject: Subject, case: Case, changes: Changes, way: Way = Way.AUTO) -> Done:
    """The batch, one continuation a change."""
    with Session(subject, case, way) as session:
        session.observe(0)
        start = time.perf_counter()
        results: Results = session.run(Batch.single(changes), seconds=SECONDS)
        return Done(changes, results.records, time.perf_counter() - start)


def batches(subject: Subject, case: Case, most: int) -> tuple[Changes, Changes]:
    """The flips and the changes of values."""
    rng = np.random.default_rng(SEED)
    with Session(subject, case) as session:
        events = session.observe().events
    roles = subject.alter_plan.sites["role"][events["site"]]
    flips = chosen(events[roles == Role.BRANCH], most, rng)
    values = chosen(events[np.isin(roles, ROLES)], most, rng)
    return changes_at(subject, flips), changes_at(subject, values)


def refusals(done: Done) -> str:
    """The system calls for which continuations gave up, with how often."""
    refused = done.records[done.records["verdict"] == Verdict.REFUSED]
    counts = Counter(int(call) for call in refused["status"])
    return ", ".join(f"{count:,} for call {call}" for call, count in counts.most_common()) or "none"


def disagreements(subject: Subject, runs: dict[Way, Done]) -> Iterator[str]:
    """Continuations whose verdict or first wrong byte is not the same in all ways; one that refuses does not count."""
    records = {way: done.records for way, done in runs.items()}
    for index, change in enumerate(runs[Way.RESTART].changes):
        told = {way: _told(of[index]) for way, of in records.items() if of[index]["verdict"] != Verdict.REFUSED}
        if len(set(told.values())) > 1:
            place = f"{Op(int(change['op'])).name} at {statement(subject, change)}"
            yield f"clock {change['clock']} site {change['site']} ({place}): " + "; ".join(
                f"{way.name.lower()} {text}" for way, text in told.items()
            )


def _told(record: np.void) -> str:
    verdict = Verdict(int(record["verdict"]))
    return f"{verdict.name} at {record['first_wrong']}" if verdict is Verdict.WRONG_OUTPUT else verdict.name


def measure(subject: Subject, case: Case, most: int, sample: int) -> Iterator[str]:
    """Print a case's lines of the table, and yield what disagrees."""
    flips, values = batches(subject, case, most)
    for kind, changes in (("flips", flips), ("values", values)):
        auto, snapshot = run(subject, case, changes), run(subject, case, changes, Way.SNAPSHOT)
        refused = changes[snapshot.records["verdict"] == Verdict.REFUSED]
        fork = run(subject, case, refused, Way.FORK)
        ways = " / ".join(f"{auto.share(way):.1f}" for way in WAYS)
        print(
            f"| {case.name} | {kind} | {len(changes):,} | {auto.rate:,.0f} | {ways} | {auto.verdicts()} "
            f"| {refusals(snapshot)} | {refusals(fork)} |",
            flush=True,
        )
    rng = np.random.default_rng(SEED + 1)
    both = np.concatenate([flips, values])
    picked = both[np.sort(rng.choice(len(both), min(sample, len(both)), replace=False))]
    runs = {way: run(subject, case, picked, way) for way in WAYS}
    found = list(disagreements(subject, runs))
    rates = " / ".join(f"{runs[way].rate:,.0f}" for way in WAYS)
    print(
        f"| {case.name} | all ways | {len(picked):,} | {rates} | | {len(picked) - len(found):,} agree | | |", flush=True
    )
    yield from found


def main() -> int:
    """Print the table."""
    parser = options("altered runs of the real programs")
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("programs", nargs="*", help="a program, or a program and one of its cases: sed/loop")
    arguments = parser.parse_args()
    work: Path = work_folder(arguments.work)
    wrong = 0
    for text in arguments.programs or PROGRAMS:
        program, _, name = text.partition("/")
        subject = subject_of(program, work)
        subject.variant(Variant.ALTER)
        print(f"\n{program}\n")
        print(HEADING)
        print("| --- | --- | ---: | ---: | --- | --- | --- | --- |")
        for case in subject.cases:
            if case.name in ([name] if name else CHOSEN[program]):
                lines = list(measure(subject, case, arguments.most, arguments.sample))
                wrong += len(lines)
                for line in lines[:SHOWN]:
                    print(f"  {case.name}: {line}", file=sys.stderr, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    ended(main)
