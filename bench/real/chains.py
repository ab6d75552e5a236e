"""Failure-inducing chains of the planted faults, as table 4 of the paper has it: what they are compared with, and take.

    python -m bench.real.chains --work FOLDER [--budget S] [FAULT ...]

Each fault is planted in the program built with ``whence-cc``; the chain of its failing case is made by both algorithms,
with the reference run that Whence takes by itself. ``whole`` is with the search for that run. Building is not counted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import whence
from bench.common import markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, planted
from bench.real.locate import write_subject
from bench.real.programs import ensure_built
from whence.errors import WhenceError

ALGORITHMS = ("dependence", "hierarchical")
HEAD = ["fault", "kind", "reference", "aligned points", "steps", "faulty line", "tests 1", "tests 2"]
HEAD += ["time 1, s", "time 2, s", "whole, s"]


def measure(fault: Fault, work: Path, budget: float) -> list[str]:
    """A fault's line of the table; raises what planting it raises."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    parts: dict[str, Any] = {}
    with planted(fault, tree):
        write_subject(fault, tree, plain)
        with whence.open(tree, whence.Setup(workers=1, fresh=True)) as project:
            for algorithm in ALGORITHMS:
                clock = project.investigation.clock
                began = time.monotonic() - clock.stood
                try:
                    parts[algorithm] = project.find(whence.FailureInducingChain(algorithm=algorithm), budget).parts[
                        "chain"
                    ]
                except WhenceError as error:
                    return [fault.name, fault.kind, f"none: {str(error).splitlines()[0]}", *[""] * (len(HEAD) - 3)]
                parts[algorithm]["whole"] = time.monotonic() - clock.stood - began
    second, first = (parts[algorithm] for algorithm in ALGORITHMS)
    at = next((n for n, step in enumerate(second["steps"], 1) if f"{step['file']}:{step['line']}" in fault.lines), 0)
    return [
        fault.name,
        fault.kind,
        second["reference"]["kind"],
        f"{second['points']:,}",
        f"{len(second['steps'])}{', not complete' if second['incomplete'] else ''}",
        f"step {at}" if at else "no",
        *(str(part["tests"]) for part in (first, second)),
        *(f"{part['seconds']:.1f}" for part in (first, second)),
        f"{second['whole']:.1f}",
    ]


def main() -> int:
    """Measure the faults named, and print the table."""
    parser = options("failure-inducing chains of the planted faults")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a chain, with its reference run")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows: list[list[str]] = []
    for fault in chosen_faults(arguments.faults):
        try:
            rows.append(measure(fault, work, arguments.budget))
        except WhenceError as error:  # the table goes on: the other faults are independent
            print(f"{fault.name} failed: {error}", flush=True)
        else:
            print(" ".join(rows[-1]), flush=True)
    print(markdown(HEAD, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
