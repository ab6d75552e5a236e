"""What checking a run's memory costs, against recording it.

    python -m bench.memory.cost [--work FOLDER] [--rounds N]

Recording is the run of the record variant and the decoding of its trace; checking is the pass behind it. Times are by
the clock, medians of turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.common import build_program, markdown, options, take_turns, timed, work_folder
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recorder

PROGRAMS = ("structures", "matrix", "squeeze")
CASE = Case("one round", ("1",), expected=Expected())
HEADER = ("program", "events", "record s", "check s", "check, to record")


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
    arguments = parser.parse_args()
    rows = [_row(name, work_folder(arguments.work), arguments.rounds) for name in PROGRAMS]
    print(markdown(HEADER, rows))
    return 0


def _row(name: str, work: Path, rounds: int) -> list[str]:
    """Measure one program."""
    subject = build_program(name, work)
    checker = Checker(subject)
    with Recorder(subject) as recorder:
        trace = recorder.record(CASE).trace
        checker.check(trace)
        measures = {
            "record": lambda: timed(lambda: recorder.record(CASE))[0].wall,
            "check": lambda: timed(lambda: checker.check(trace))[0].wall,
        }
        times = take_turns(measures, rounds)
    return [
        name,
        f"{trace.events:,}",
        f"{times['record']:.2f}",
        f"{times['check']:.2f}",
        f"{times['check'] / times['record']:.2f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
