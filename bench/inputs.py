"""Reduction of failing inputs, ours against picire's: inputs tried, sizes and seconds on the same failures.

    python -m bench.inputs [--every N] [--offset K] [--work FOLDER] [--details] [PROGRAM ...]

For every N-th fault of the corpus the longest standard input of a failing case is reduced by both. Picire (a maintained
delta debugger) is put into a virtual environment of its own below the work folder, and runs as it comes, line by line
and then character by character, with a cache by content, one test at a time, which takes the fewest tests. Its test
says "the same" where ours does by the cheap check: the reference program accepts the input, and the program dies by the
same signal, or does not but prints something else than the reference. Ours asks for the same statement in addition.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown, options, work_folder  # noqa: E402
from bench.faults import positive  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.inputs.channel import Channel  # noqa: E402
from whence.inputs.judge import Judge  # noqa: E402
from whence.inputs.reduce import reduce_input  # noqa: E402
from whence.inputs.tokens import guess_specification  # noqa: E402
from whence.run.cases import Case  # noqa: E402
from whence.run.config import read_config  # noqa: E402
from whence.run.oracle import judge  # noqa: E402
from whence.subject.subject import Subject, subject_from_config  # noqa: E402

LONGEST = 1800  # seconds for one reduction of picire's

TEST = """\
#!/bin/sh
# 0: the same symptom
printf x >> {count}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
timeout 2 {program} {arguments} < "$1" > "$out/actual" 2> /dev/null
status=$?
case $status in
124) exit 1 ;;
{signal}
esac
[ $status -lt 128 ] || exit 1
timeout 2 {reference} {arguments} < "$1" > "$out/right" 2> /dev/null
right=$?
[ $right -eq 0 ] || [ $right -eq {accepted} ] || exit 1
! cmp -s "$out/actual" "$out/right"
"""
CRASHED = '{code}) timeout 2 {reference} {arguments} < "$1" > /dev/null 2>&1; right=$?; [ $right -eq 0 ] || [ $right -eq {accepted} ]; exit ;;'  # noqa: E501


@dataclass(slots=True)
class Row:
    """One failure: the input's size, and of both reducers the result's size, the inputs tried and the seconds."""

    program: str
    fault: str
    size: int
    sizes: tuple[int, int]
    tried: tuple[int, int]
    seconds: tuple[float, float]


def picire(work: Path) -> Path:
    """The program, installed if need be."""
    place = work / "picire"
    if not (place / "bin" / "picire").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "-q", "picire"], check=True)
    return place / "bin" / "picire"


def measure(fault: corpus.Fault, tool: Path) -> Row | None:
    """One fault with both reducers; None where no failing case reads standard input."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        folder = Path(name)
        corpus.prepare(fault, folder)
        subject = subject_from_config(read_config(folder))
        with subject.runner() as runner:
            results = runner.run_cases(subject.cases)
        failing = [
            (case, result)
            for case, result in zip(subject.cases, results, strict=True)
            if judge(case, result).failed and not result.timed_out and Channel("stdin").read(case)
        ]
        if not failing:
            return None
        case, result = max(failing, key=lambda pair: len(Channel("stdin").read(pair[0])))
        ours = _ours(subject, case)
        theirs = _theirs(subject, case, result.signal, tool, folder)
        size = len(Channel("stdin").read(case))
        return Row(fault.program, fault.id, size, *((a, b) for a, b in zip(ours, theirs, strict=True)))


def _ours(subject: Subject, case: Case) -> tuple[int, int, float]:
    """Size of the result, inputs tried, seconds."""
    began = time.perf_counter()
    with Judge(subject, case, Channel("stdin")) as judging:
        reduction = reduce_input(judging, guess_specification(judging.channel.read(case)))
    return len(reduction.data), reduction.tried, time.perf_counter() - began


def _theirs(subject: Subject, case: Case, signal: int, tool: Path, folder: Path) -> tuple[int, int, float]:
    count, test, source = folder / "count", folder / "test.sh", folder / "reduce.in"
    assert case.expected is not None
    words = {
        "count": count,
        "program": subject.executable,
        "reference": subject.reference,
        "arguments": shlex.join(case.arguments),
        "accepted": case.expected.status,
        "code": 128 + signal,
    }
    words["signal"] = CRASHED.format(**words) if signal else ""
    test.write_text(TEST.format(**words))
    test.chmod(0o755)
    source.write_bytes(Channel("stdin").read(case))
    out = folder / "picire"
    command = [tool, "-i", source, "--test", test, "--atom", "both", "--cache", "content", "-q", "-o", out]
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, timeout=LONGEST, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    return (out / source.name).stat().st_size, count.stat().st_size, seconds


def table(rows: Sequence[Row]) -> str:
    """A line a program, and one of all."""
    pairs = [f"{what}, {whose}" for what in ("left", "tried", "seconds") for whose in ("ours", "picire")]
    head = ["program", "failures", "bytes", *pairs]
    programs = sorted({row.program for row in rows})
    lines = [_line(program, [row for row in rows if row.program == program]) for program in programs]
    return markdown(head, [*lines, _line("all", rows)])


def _line(name: str, rows: Sequence[Row]) -> list[str]:
    cells = [name, str(len(rows)), f"{median(row.size for row in rows):.0f}"]
    cells += [f"{mean(row.sizes[side] for row in rows):.1f}" for side in (0, 1)]
    cells += [f"{median(row.tried[side] for row in rows):.0f}" for side in (0, 1)]
    return cells + [f"{median(row.seconds[side] for row in rows):.1f}" for side in (0, 1)]


def main() -> None:
    """Measure and print the table."""
    parser = options(__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("programs", nargs="*", default=None)
    parser.add_argument("--every", type=positive, default=4, help="take each N-th fault only")
    parser.add_argument("--offset", type=int, default=0, help="... from this one on")
    parser.add_argument("--details", action="store_true", help="print a line a fault as well")
    chosen = parser.parse_args()
    tool = picire(work_folder(chosen.work))
    rows = []
    for program in chosen.programs or corpus.programs():
        for fault in corpus.faults(program)[chosen.offset :: chosen.every]:
            row = measure(fault, tool)
            if row is None:
                continue
            rows.append(row)
            if chosen.details:
                print(f"{row.program} {row.fault}: {row.size} bytes to {row.sizes}, tried {row.tried}", flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
