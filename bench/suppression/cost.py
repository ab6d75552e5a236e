"""What a run with suppression costs, against the plain program and a recorded run.

    python -m bench.suppression.cost [--work FOLDER] [--rounds N]

The plain program is compiled without optimisation, as its IR is. Times are those of the runs alone, medians of turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.common import ONE_ROUND, build_program, print_costs, take_turns
from whence.alter.suppression import SuppressedRuns
from whence.subject.recorder import Recorder

HEADER = ("program", "plain s", "recorded, to plain", "suppressed, to plain")


def main() -> int:
    """Print the table."""
    return print_costs(__doc__, HEADER, _row)


def _row(name: str, work: Path, rounds: int) -> list[str]:
    """Measure one program."""
    subject = build_program(name, work)
    with subject.runner() as runner, Recorder(subject) as recorder, SuppressedRuns(subject, ONE_ROUND) as runs:
        measures = {
            "plain": lambda: runner.run_case(ONE_ROUND).wall,
            "record": lambda: recorder.record(ONE_ROUND).result.wall,
            "suppress": lambda: runs.run([]).recording.result.wall,
        }
        times = take_turns(measures, rounds)
    ratios = [f"{times[kind] / times['plain']:.1f}" for kind in ("record", "suppress")]
    return [name, f"{times['plain']:.3f}", *ratios]


if __name__ == "__main__":
    sys.exit(main())
