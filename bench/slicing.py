"""From a trace to a slice: events a second and memory an event, on traces of 10 and 100 million events,
recorded compactly as long runs are.

    python -m bench.slicing [--work FOLDER] [--millions N ...] [--in-windows]

Each of our programs ends with two outputs: a checksum, which depends on much of the run, and the number of rounds,
which depends on nearly nothing. Both are sliced from. Each trace is decoded and sliced three times, in a process of its
own in which the kernels have been compiled before; memory is what its peak grows by over its size before the trace is
opened, the trace's own pages included. With ``--in-windows`` traces are read and sliced as runs are that are too long
for memory, and once each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np

from bench.common import build_program, markdown, memory_folder, options, run, timed, work_folder
from whence.probe.instrument import Variant
from whence.subject.subject import Subject
from whence.trace.columns import N_OUT
from whence.trace.long_trace import LongTrace
from whence.trace.slicing import backward_slice
from whence.trace.trace import Trace

PROGRAMS = ("structures", "matrix", "squeeze")
MILLIONS = (10, 100)
LIMIT = 16 << 30
REPEATS = 3
HEADER = (
    "program",
    "events",
    "decode s",
    "small slice s",
    "its events",
    "large slice s",
    "its events",
    "million events/s, small",
    "million events/s, large",
    "bytes an event",
)


def main() -> int:
    """Print the table; with ``--one`` only measure one trace, as JSON."""
    parser = options(__doc__)
    parser.add_argument("--millions", type=int, nargs="+", default=MILLIONS, help="events (default 10 100)")
    parser.add_argument("--in-windows", action="store_true", help="read and slice the trace in windows")
    parser.add_argument("--one", nargs=2, metavar=("PROGRAM", "MILLIONS"), help="measure one trace, print JSON")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    if arguments.one:
        name, millions = arguments.one
        print(json.dumps(measure(build_program(name, work), int(millions) * 1_000_000, arguments.in_windows)))
        return 0
    more = ["--in-windows"] if arguments.in_windows else []
    rows = [_row(name, millions, work, more) for millions in arguments.millions for name in PROGRAMS]
    print(markdown(HEADER, rows))
    return 0


def _row(name: str, millions: int, work: Path, more: list[str]) -> list[str]:
    """Measure one trace in a process of its own."""
    command = [sys.executable, "-m", "bench.slicing", "--work", str(work), "--one", name, str(millions), *more]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    events, decode = found["events"], found["decode"]
    (small, small_events), (large, large_events) = found["small"], found["large"]
    slices = [f"{small:.2f}", f"{small_events:,}", f"{large:.2f}", f"{large_events:,}"]
    shown = [name, f"{events:,}", f"{decode:.2f}", *slices]
    rates = [f"{events / (decode + seconds) / 1e6:.1f}" for seconds in (small, large)]
    return [*shown, *rates, f"{found['memory'] / events:.1f}"]


def measure(subject: Subject, events: int, in_windows: bool) -> dict[str, object]:
    """Record a run of about that many events; seconds to decode it and to slice it (medians), bytes that this took."""
    kind, repeats = (LongTrace, 1) if in_windows else (Trace, REPEATS)
    rounds = max(1, round(events / _events_a_round(subject)))
    with _Recorded(subject, rounds) as path:
        before = _reset_peak()
        taken = [_decode_and_slice(subject, path, kind) for _ in range(repeats)]
        memory = _peak() - before
    decode, small, large = (median(seconds) for seconds in zip(*(t[1] for t in taken), strict=True))
    count, small_events, large_events = taken[0][0]
    return {
        "events": count,
        "decode": decode,
        "small": (small, small_events),
        "large": (large, large_events),
        "memory": memory,
    }


def _decode_and_slice(
    subject: Subject, path: Path, kind: type[Trace]
) -> tuple[tuple[int, int, int], tuple[float, float, float]]:
    """Events and seconds: of the trace, of its small and of its large slice."""
    times, trace = timed(lambda: kind(path, subject.program, subject.plan, subject.fingerprint))
    events = trace.events_of_run if isinstance(trace, LongTrace) else trace.events
    cells = trace.columns.outs["cell"][: trace.columns.counts[N_OUT]][-2:].tolist()
    (large, large_events), (small, small_events) = (_slice(trace, cell) for cell in cells)
    return (events, small_events, large_events), (times.cpu, small, large)


def _events_a_round(subject: Subject) -> float:
    """Events that one more round takes; also gets every kernel compiled, and the plan made."""
    counts = []
    for rounds in (1, 2):
        with _Recorded(subject, rounds) as path:
            trace = Trace(path, subject.program, subject.plan, subject.fingerprint)
            _slice(trace, int(trace.columns.outs["cell"][trace.columns.counts[N_OUT] - 1]))
            counts.append(trace.events)
    return counts[1] - counts[0]


def _slice(trace: Trace, cell: int) -> tuple[float, int]:
    """Seconds for the slice from an output, and its events."""
    criteria = np.array([cell], np.int64)

    def events() -> int:
        if isinstance(trace, LongTrace):
            return sum(len(part.events) for part in trace.slices(criteria.tolist(), True))
        return len(backward_slice(trace.plan, trace.columns, criteria).events)

    times, found = timed(events)
    return times.cpu, found


class _Recorded:
    """The trace of a run as a file in memory, for as long as it is needed."""

    def __init__(self, subject: Subject, rounds: int) -> None:
        self._command = [str(subject.variant(Variant.COMPACT)), str(rounds)]
        self._path = memory_folder() / f"whence-bench-{os.getpid()}.trace"

    def __enter__(self) -> Path:
        run(self._command, {"WHENCE_TRACE": str(self._path), "WHENCE_TRACE_LIMIT": str(LIMIT)})
        return self._path

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)


def _reset_peak() -> int:
    """Forget the peak of this process's memory; returns the bytes it takes now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


if __name__ == "__main__":
    sys.exit(main())
