"""Test batches: cases a second on one core, on the cover variant of small programs, judging included.

    python -m bench.batches [--work FOLDER] [--cases N] [--rounds N] [PROGRAM ...]

The benchmark, the fork server and the runs all share one core. "By the clock" suffers from whatever else that core
does; "of the processor" divides by the processor time that all of them took. Starting ``/bin/true`` the usual way (one
``subprocess.run`` a case) is the comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from bench.common import Times, markdown, options, timed, work_folder
from corpus import corpus
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.config import read_config
from whence.run.oracle import judge
from whence.subject.subject import Subject, subject_from_config

PROGRAMS = ("gatekeeper", "lexer", "stats")
HEADER = (
    "program",
    "cases",
    "failing",
    "cases/s by the clock",
    "cases/s of the processor",
    "subprocess.run of /bin/true, by the clock",
)


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--cases", type=int, default=3000, help="cases of a batch; a suite is repeated (default 3000)")
    parser.add_argument("--rounds", type=int, default=5, help="batches of each program (default 5)")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    rows = [_row(name, work, arguments.cases, arguments.rounds) for name in arguments.programs]
    print(markdown(HEADER, rows))
    return 0


def _row(name: str, work: Path, count: int, rounds: int) -> list[str]:
    """Measure one program's suite, with the first of its faults."""
    folder = work / "batches" / name
    corpus.prepare(corpus.faults(name)[0], folder)
    subject = subject_from_config(read_config(folder))
    subject.variant(Variant.COVER)
    cases = list(islice(cycle(subject.cases), count))
    failing = _batch(subject, subject.cases)
    ours = [timed(lambda: _batch(subject, cases))[0] for _ in range(rounds)]
    usual = [timed(lambda: _usual(count // 10))[0] for _ in range(rounds)]
    clock, processor = (f"{count / median(times):,.0f}" for times in zip(*((t.wall, t.cpu) for t in ours), strict=True))
    return [name, f"{count:,}", f"{failing} of {len(subject.cases)}", clock, processor, _rate(count // 10, usual)]


def _rate(count: int, times: Sequence[Times]) -> str:
    return f"{count / median(t.wall for t in times):,.0f}"


def _batch(subject: Subject, cases: list[Case]) -> int:
    """Run and judge a batch; returns how many cases failed."""
    with subject.runner(Variant.COVER) as runner:
        return sum(judge(result.case, result).failed for result in runner.iterate(cases))


def _usual(count: int) -> None:
    """As many runs as a test script would make them."""
    for _ in range(count):
        subprocess.run(["/bin/true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)


if __name__ == "__main__":
    sys.exit(main())
