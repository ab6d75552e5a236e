"""What checking a run's memory costs, against recording it.

    python -m bench.memory.cost [--work FOLDER] [--rounds N]

Recording is the run of the record variant and the decoding of its trace; checking is the pass behind it. Times are by
the clock, medians of turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.common import ONE_ROUND, build_program, print_costs, take_turns, timed
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recorder

HEADER = ("program", "events", "record s", "check s", "check, to record")


def main() -> int:
    """Print the table."""
    return print_costs(__doc__, HEADER, _row)


def _row(name: str, work: Path, rounds: int) -> list[str]:
    """Measure one program."""
    subject = build_program(name, work)
    checker = Checker(subject)
    with Recorder(subject) as recorder:
        trace = recorder.record(ONE_ROUND).trace
        checker.check(trace)
        measures = {
            "record": lambda: timed(lambda: recorder.record(ONE_ROUND))[0].wall,
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
