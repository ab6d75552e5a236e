"""What recording costs: the variants that record (compactly as long runs are, and in full) and cover against the plain
program at -O0, and against valgrind's lackey.

    python -m bench.overhead [--work FOLDER] [--rounds N] [--skip-lackey]

The trace is written to a file in memory: to a fresh one ("first"), then to the same one again ("again"), whose pages
the system need not supply any more. Lackey prints every access as text; it is given a share of the work and a sink, and
its start is subtracted.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.common import build_program, markdown, memory_folder, options, run, take_turns, work_folder
from whence.probe.instrument import Variant
from whence.subject.subject import Subject
from whence.trace.columns import CHUNK_UNITS
from whence.trace.trace import Trace, open_units, read_header

# Rounds of each program: about 0.05 s and 200 million events.
WORK = {"structures": 150, "matrix": 100, "squeeze": 150}
SHARE = 10  # lackey gets this fraction of the work
LIMIT = 4 << 30
RECORDING = (Variant.COMPACT, Variant.RECORD)
HEADER = (
    "program",
    "plain s",
    "events",
    "cover",
    "bytes an event",
    "record, first",
    "record, again",
    "in full: bytes",
    "first",
    "again",
    "lackey",
    "lackey to record, first",
)


def main() -> int:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each kind (default 7)")
    parser.add_argument("--skip-lackey", action="store_true", help="leave out valgrind, which takes minutes")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    lackey = None if arguments.skip_lackey else shutil.which("valgrind")
    missing = "left out" if arguments.skip_lackey else "not installed"
    rows = [_row(name, work, arguments.rounds, lackey, missing) for name in WORK]
    print(markdown(HEADER, rows))
    return 0


def _row(name: str, work: Path, rounds: int, lackey: str | None, missing: str) -> list[str]:
    """Measure one program."""
    subject = build_program(name, work)
    trace = memory_folder() / f"whence-bench-{os.getpid()}.trace"
    try:
        sizes: dict[Variant, int] = {}
        times = take_turns(_measures(subject, WORK[name], trace, sizes), rounds)
        events = Trace(trace, subject.program, subject.plan, subject.fingerprint).events
    finally:
        trace.unlink(missing_ok=True)
    plain, first = times["plain"], times[f"{Variant.COMPACT}, first"]
    shown = [name, f"{plain:.3f}", f"{events:,}", f"{times['cover'] / plain:.2f}"]
    for kind in RECORDING:
        shown.append(f"{sizes[kind] / events:.2f}")
        shown += [f"{times[f'{kind}, {which}'] / plain:.2f}" for which in ("first", "again")]
    if lackey is None:
        return [*shown, missing, missing]
    slow = _lackey_seconds(lackey, subject.executable, WORK[name])
    return [*shown, f"{slow / plain:,.0f}", f"{slow / first:,.0f}"]


def _measures(subject: Subject, amount: int, trace: Path, sizes: dict[Variant, int]) -> dict[str, Callable[[], float]]:
    """What takes turns; recording into the same file again follows the recording into a fresh one.

    ``sizes`` is told the bytes of the traces.
    """
    settings = {"WHENCE_TRACE": str(trace), "WHENCE_TRACE_LIMIT": str(LIMIT)}

    def again(kind: Variant) -> float:
        taken = run([subject.variant(kind), str(amount)], settings).cpu
        sizes[kind] = read_header(open_units(trace)).chunks * CHUNK_UNITS * 4
        return taken

    def first(kind: Variant) -> float:
        trace.unlink(missing_ok=True)
        return again(kind)

    cover = subject.variant(Variant.COVER)
    measures: dict[str, Callable[[], float]] = {
        "plain": lambda: run([subject.executable, str(amount)]).cpu,
        "cover": lambda: run([cover, str(amount)]).cpu,
    }
    for kind in RECORDING:
        measures |= {f"{kind}, first": partial(first, kind), f"{kind}, again": partial(again, kind)}
    return measures


def _lackey_seconds(valgrind: str, executable: Path, amount: int) -> float:
    """What lackey would take for the whole work."""
    command: list[str | Path] = [valgrind, "--tool=lackey", "--trace-mem=yes", f"--log-file={os.devnull}", executable]
    part, start = (run([*command, str(n)]).cpu for n in (amount // SHARE, 0))
    return (part - start) * SHARE


if __name__ == "__main__":
    sys.exit(main())
