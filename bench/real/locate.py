"""Locate the faults planted in the real programs with ``whence locate`` and ``whence spectrum``.

    python -m bench.real.locate --work FOLDER [FAULT ...]

Each program is built once by its own configure and make with ``whence-cc``; each fault is planted there, made
again and given its cases as a folder beside a ``whence.toml``. Prints a table with a line for each fault:
whether a faulty line is in the slice, its rank (best, average, worst of the tie) in both rankings with the
lines ranked, and the seconds of each step; ``--json FILE`` keeps the same figures.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.common import options, work_folder
from bench.real.faults import ENVIRONMENT, Case, Fault, Outcome, chosen_faults, planted
from bench.real.programs import ensure_built
from whence.errors import SubjectError, WhenceError

LIMIT_SECONDS = 1800
Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a fault stands in a ranking: the best of its lines, with the ties' best, average and worst rank.

    ``share`` is the part of the ranked lines, in percent, that need not be looked at (the papers' score).
    """

    best: int
    average: float
    worst: int
    ranked: int
    share: float


@dataclass(frozen=True, slots=True)
class Row:
    """One fault's figures; ``seconds`` by step. A rank is None where no faulty line is in the ranking."""

    fault: str
    kind: str
    symptom: str
    in_slice: bool
    slice_lines: int
    locate: Rank | None
    spectrum: Rank | None
    seconds: dict[str, float]


def measure(fault: Fault, work: Path) -> Row:
    """Plant the fault in the program built with ``whence-cc`` and run both commands on it."""
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree) as make_seconds:
        write_subject(fault, tree, plain)
        located, locate_seconds = whence("locate", tree)
        counted, spectrum_seconds = whence("spectrum", tree)
    slice_lines = {f"{entry['file']}:{entry['line']}" for entry in located.get("slice", [])}
    return Row(
        fault=fault.name,
        kind=fault.kind,
        symptom=(located["symptom"] or {}).get("kind", "none"),
        in_slice=not slice_lines.isdisjoint(fault.lines),
        slice_lines=len(slice_lines),
        locate=rank_of(fault, located),
        spectrum=rank_of(fault, counted),
        seconds={"make": make_seconds, "locate": locate_seconds, "spectrum": spectrum_seconds},
    )


def write_subject(fault: Fault, tree: Path, plain: Path) -> None:
    """Write ``whence.toml`` and the cases into the tree; ``plain`` is the program without the fault."""
    folder = tree / "whence-cases"
    shutil.rmtree(folder, ignore_errors=True)
    for number, case in enumerate((fault.failing, *fault.passing)):
        write_case(case, case.run(plain), folder / (f"pass{number:02}" if number else "fail"))
    variables = ", ".join(f'{name} = "{value}"' for name, value in ENVIRONMENT.items())
    (tree / "whence.toml").write_text(
        f'[program]\npath = "{fault.executable}"\n\n'
        f'[cases]\nfolder = "{folder.name}"\nenvironment = {{ {variables} }}\n',
        encoding="utf-8",
    )


def write_case(case: Case, expected: Outcome, folder: Path) -> None:
    """Write one case as a folder of its own."""
    (folder / "files").mkdir(parents=True)
    (folder / "args").write_text(shlex.join(case.arguments) + "\n", encoding="utf-8")
    (folder / "stdin").write_bytes(case.stdin)
    (folder / "expected").write_bytes(expected.stdout)
    (folder / "status").write_text(f"{expected.status}\n", encoding="utf-8")
    case.write_files(folder / "files")


def whence(command: str, tree: Path) -> tuple[Report, float]:
    """Run a command of Whence in the tree; return its JSON and the seconds it took.

    Raises ``SubjectError`` with what it said when it fails.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [Path(sys.executable).with_name("whence"), command, "--json"],
        cwd=tree,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode > 1:
        raise SubjectError(f"whence {command} in {tree}: {done.stderr.decode(errors='replace').strip()}")
    report: Report = json.loads(done.stdout)
    return report, time.perf_counter() - start


def rank_of(fault: Fault, report: Report) -> Rank | None:
    """Return the rank of the fault's best line in a report."""
    ranking = report["ranking"]
    entries = [entry for entry in ranking if f"{entry['file']}:{entry['line']}" in fault.lines]
    if not entries:
        return None
    best = min(entries, key=lambda entry: (entry["rank"] + entry["rank_worst"], entry["rank"]))
    average = (best["rank"] + best["rank_worst"]) / 2
    total = len(ranking)
    return Rank(best["rank"], average, best["rank_worst"], total, 100 * (1 - average / total))


HEADING = (
    f"{'fault':29} {'kind':15} {'symptom':15} slice  lines {'locate: best/average/worst':>27} score "
    f"{'spectrum: best/average/worst':>29} score   make locate spectrum"
)


def shown(row: Row) -> str:
    """The table's line for one fault."""
    steps = row.seconds
    sliced = "yes" if row.in_slice else "no"
    return (
        f"{row.fault:29} {row.kind:15} {row.symptom:15} {sliced:5} {row.slice_lines:6}"
        f" {_shown_rank(row.locate):>33} {_shown_rank(row.spectrum):>35}"
        f" {steps['make']:6.1f} {steps['locate']:6.1f} {steps['spectrum']:8.1f}"
    )


def _shown_rank(rank: Rank | None) -> str:
    if rank is None:
        return "not ranked"
    return f"{rank.best}/{rank.average:g}/{rank.worst} of {rank.ranked} {rank.share:5.1f}"


def main() -> int:
    """Measure the faults named and print the table."""
    parser = options("locate the planted faults")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    print(HEADING)
    rows = []
    faults = chosen_faults(arguments.faults)
    for fault in faults:
        try:
            rows.append(measure(fault, work))
        except WhenceError as error:  # the table goes on: the other faults are independent
            print(f"{fault.name:29} failed: {error}", flush=True)
        else:
            print(shown(rows[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0 if len(rows) == len(faults) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WhenceError as error:
        sys.exit(f"error: {error}")
