"""The programs' own test suites as cases: what becomes of them, and what is located with them.

    python -m bench.real.suites --work FOLDER [--budget 60] FAULT ...

Each fault is planted in its program built with ``whence-cc``, and ``whence init`` describes the program's own tests.
Faults are those of ``faults/``, whose cases are not used, and those of ``suite_faults/``, which have none.
Three ways are measured: the tests as commands (the spectrum over processes), the invocations captured from them, and
the same with the program without the fault as ``reference``. Prints Markdown: how many invocations there were, how many
became cases, how many of these fail, the rank of the fault, and seconds with those for running the suite.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import whence
from bench.common import markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, end_cleanly, planted
from bench.real.programs import ensure_built, make_tested
from whence.errors import WhenceError
from whence.findings import Findings

HEAD = ["fault", "kind", "way", "invocations", "cases", "fail", "rank", "Op2", "of", "s", "load"]
SECONDS = 60  # of one test
TOLD = re.compile(r"ran the program ([\d,]+) times?: (\d+) of these invocations are cases of their own, (\d+)")


@dataclass(frozen=True)
class Way:
    """How a suite is used: its name in the table, what stands in ``[cases]``, and the technique."""

    name: str
    settings: str
    locates: bool = True


def configure(fault: Fault, tree: Path, settings: str) -> None:
    """Let ``whence init`` find the tree's suite, and name the program. Raises WhenceError where it finds none."""
    file = tree / "whence.toml"
    file.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "whence", "init", str(tree)], check=True, stdout=subprocess.DEVNULL)
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("path", "build", "capture"))]
    text = "\n".join(lines).replace("[program]", f'[program]\npath = "{fault.executable}"')
    if "\ncommand = " not in text:
        raise WhenceError(f"{fault.program}: no test suite found")
    text = text.replace("[cases]", f"[cases]\n{settings}").replace("[limits]", f"[limits]\ntime = {SECONDS}")
    file.write_text(text + "\n")


def measure(fault: Fault, work: Path, budget: float) -> list[list[str]]:
    """A row of the table for each way."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc", "-g -O0")
    right = ensure_built(fault.recipe, work, "gcc", "gcc")
    make_tested(fault.recipe, right)
    plain = right / fault.executable
    ways = [
        Way("commands", "", locates=False),
        Way("captured", "capture = true"),
        Way("captured, reference", f'capture = true\nreference = "{plain}"'),
    ]
    rows = []
    with planted(fault, tree):
        make_tested(fault.recipe, tree)
        for way in ways:
            configure(fault, tree, way.settings)
            began = time.perf_counter()
            try:
                cells = located(fault, tree, way, budget)
            except WhenceError as error:
                cells = ["", "", "", str(error).split(":")[0], "", ""]
            told = f"{time.perf_counter() - began:.0f}", f"{os.getloadavg()[0]:.0f}"
            rows.append([fault.name, fault.kind, way.name, *cells, *told])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def located(fault: Fault, tree: Path, way: Way, budget: float) -> list[str]:
    """Numbers of invocations and cases, the ranks of the fault by ``way`` and by Op2, and of how many."""
    with whence.open(tree) as project:
        told = next(filter(None, map(TOLD.search, project.investigation.subject.remarks)), None)
        counted = project.find(whence.Spectrum("op2"), 10 * budget)
        found = project.locate(budget) if way.locates else counted
        failing = str(len(project.investigation.runs.failing))
        numbers = [told[1], told[2], told[3]] if told else ["", str(len(project.investigation.runs.tested)), failing]
    return [*numbers, rank(fault, found), rank(fault, counted), str(len(found.ranking))]


def rank(fault: Fault, found: Findings) -> str:
    """The best rank of a faulty line, with the end of its tie."""
    ranks = [(e.rank, e.rank_worst) for e in found.ranking if f"{e.statement.file}:{e.statement.line}" in fault.lines]
    best = min(ranks, default=None)
    return "none" if best is None else f"{best[0]}" if best[0] == best[1] else f"{best[0]} to {best[1]}"


def main() -> int:
    """Measure the faults named and print the table."""
    end_cleanly()
    parser = options("locate the planted faults with the programs' own tests")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("faults", nargs="+")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows = [
        row
        for fault in chosen_faults(arguments.faults, own_suites=True)
        for row in measure(fault, work, arguments.budget)
    ]
    print(markdown(HEAD, rows))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WhenceError as error:
        sys.exit(f"error: {error}")
