"""Fixes on the corpus: suggestions learned from other programs' faults, and edits that let all cases pass.

    python -m bench.fixes [--every N] [--workers N] [--learn FILE] [--knowledge FILE] [--details] [PROGRAM ...]

`--learn FILE` writes what all faults teach (the knowledge that is shipped is made by it), and measures nothing else.
Suggestions are prioritised leaving the fault's program out. A suggestion is right where the real fix has its
description; an edit equals the real fix where it makes the same tokens of the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402
from whence.techniques.bugfix.knowledge import SHIPPED, Scenario, save  # noqa: E402

BUDGET = 60.0


@dataclass(slots=True)
class Taught:
    """What a fault teaches."""

    program: str
    fault: str
    scenarios: list[Scenario] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""


def teach(program: str, number: int) -> Taught:
    """The scenarios of one fault: the situation where its fix changes something, and what the fix is called."""
    fault = corpus.faults(program)[number]
    taught = Taught(program, fault.id)
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            corpus.prepare(fault, Path(name))
            with whence.open(Path(name)) as project:
                fixed = ((f"{program}.c", corpus.source_path(program).read_bytes()),)
                found = project.find(whence.LearnFix(fixed, f"{program} {fault.id}"), BUDGET)
            taught.scenarios = [
                Scenario(tuple(one["fixes"]), frozenset(one["situation"]), one["from"])
                for one in found.parts["scenarios"]
            ]
    except WhenceError as error:
        taught.error = str(error)
    taught.seconds = time.perf_counter() - began
    return taught


def main() -> None:
    """Measure, and print the table; or learn."""
    parser = fault_options(__doc__)
    parser.add_argument("--learn", type=Path, metavar="FILE", help="write what the faults teach, and nothing else")
    parser.add_argument("--knowledge", type=Path, default=SHIPPED, metavar="FILE", help="learned before [the shipped]")
    options = parser.parse_args()
    if options.learn:
        rows = [row for row in each_fault(options, teach) if was_measured(row)]
        save(options.learn, [one for row in rows for one in row.scenarios])
        print(f"{len(rows)} scenarios, {sum(row.seconds for row in rows) / max(1, len(rows)):.1f} s each")
        return


if __name__ == "__main__":
    main()
