"""What a run with suppression costs, against the plain program and a recorded run.

    python -m bench.suppression.cost [--work FOLDER] [--rounds N]

The plain program is compiled without optimisation, as its IR is. Times are those of the runs alone, medians of turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.common import build_program, markdown, options, take_turns, work_folder
from whence.alter.suppression import SuppressedRuns
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder

PROGRAMS = ("structures", "matrix", "squeeze")
CASE = Case("one round", ("1",), expected=Expected())
HEADER = ("program", "plain s", "recorded, to plain", "suppressed, to plain")


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
    with subject.runner() as runner, Recorder(subject) as recorder, SuppressedRuns(subject, CASE) as runs:
        measures = {
            "plain": lambda: runner.run_case(CASE).wall,
            "record": lambda: recorder.record(CASE).result.wall,
            "suppress": lambda: runs.run([]).recording.result.wall,
        }
        times = take_turns(measures, rounds)
    ratios = [f"{times[kind] / times['plain']:.1f}" for kind in ("record", "suppress")]
    return [name, f"{times['plain']:.3f}", *ratios]


if __name__ == "__main__":
    sys.exit(main())
