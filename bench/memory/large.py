"""What recording and checking a run of 100 million events takes: seconds, and the memory of the whole process.

    python -m bench.memory.large [--work FOLDER] [--size N]

Times are by the clock; the memory is the most that was resident, the trace's file (which lies in memory) not included.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import replace

from bench.common import build_program, markdown, options, timed, work_folder
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recorder

SIZE = 52  # rounds of the program, of 1.94 million events each
HEADER = ("program", "events", "trace MiB", "record s", "check s", "memory MiB")


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help=f"rounds of the program (default {SIZE})")
    arguments = parser.parse_args()
    subject = build_program("matrix", work_folder(arguments.work))
    subject.limits = replace(subject.limits, time=600.0)
    checker = Checker(subject)
    checker.compile()
    with Recorder(subject) as recorder:
        case = Case("large", (str(arguments.size),), expected=Expected())
        recorded, recording = timed(lambda: recorder.record(case))
    checking, _ = timed(lambda: checker.check(recording.trace))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    size = recording.trace.bytes_used >> 20
    row = ["matrix", f"{recording.trace.events:,}", f"{size:,}", f"{recorded.wall:.1f}", f"{checking.wall:.1f}"]
    print(markdown(HEADER, [[*row, f"{peak:,}"]]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
