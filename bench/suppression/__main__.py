"""The first corruption by suppression, without and with re-ordered variables: tables 5.3 and 5.4 of the dissertation.

    python -m bench.suppression [NAME ...]

The programs are those of ``bench/suppression/programs``, which crash far from their error, and of
``bench/memory/programs``, most of which show nothing; what crashes by itself is followed without re-ordering. *Right*
is a result whose first entry is the line of the error; the distance is the number of dependence edges between the two,
in the run in which it was suppressed. Beside it stands whether the memory check's first error is in that line. A
correct twin that crashes in an order of variables is false. A third table has programs with threads (``threaded``).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.common import markdown
from bench.memory.programs import PROGRAMS as MEMORY
from bench.memory.programs import Program
from bench.suppression.programs import PROGRAMS
from bench.suppression.threaded import table
from whence.alter.suppression import SuppressedRuns
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recorder
from whence.subject.subject import Subject, subject_from_sources
from whence.techniques.execution_suppression.algorithm import Step, Suppressed, Suppression
from whence.techniques.execution_suppression.explanation import Explanation
from whence.trace.slicing import backward_slice

CASE = Case("run", (), expected=Expected())
SECONDS = 60.0
CRASHING = ("program", "error", "executions", "s", "identified", "distance", "memory check")
SILENT = ("program", "error", "crash exposed by", "executions", "s", "identified", "distance", "memory check")


@dataclass(slots=True)
class Result:
    """What was found in one program."""

    program: Program
    followed: Suppressed
    executions: int
    seconds: float
    lines: list[int]
    distance: int | None
    checked: bool

    @property
    def crashes(self) -> bool:
        """Whether it crashes by itself."""
        return self.followed.steps[0].crashed

    @property
    def right(self) -> bool:
        """Whether the first entry is the error."""
        return self.lines[:1] == [self.program.line] and not self.followed.why


def main() -> int:
    """Measure the programs, and print the tables."""
    names = sys.argv[1:]
    print(table(names), flush=True)
    chosen = [p for p in (*PROGRAMS, *MEMORY) if not names or p.name in names]
    if not chosen:
        return 0
    results, false = [], []
    for program in chosen:
        with tempfile.TemporaryDirectory() as folder:
            results.append(_result(program, Path(folder) / "wrong"))
            twin = _followed(_subject(program, Path(folder) / "right", "-DRIGHT"))[0]
        if twin.exposed or twin.steps[0].crashed:
            false.append(program.name)
        print(f"{program.name}: {'right' if results[-1].right else results[-1].lines}", file=sys.stderr)
    crashing, silent = [r for r in results if r.crashes], [r for r in results if not r.crashes]
    print(f"\nCrashing: {_share(crashing)}\n\n{markdown(CRASHING, [_row(r, False) for r in crashing])}")
    exposed = [r for r in silent if r.followed.exposed]
    print(f"\nSilent: crash exposed in {len(exposed)} of {len(silent)}; of those {_share(exposed)}\n")
    print(markdown(SILENT, [_row(r, True) for r in silent]))
    kinds = Counter(r.program.kind for r in silent)
    shown = Counter(r.program.kind for r in exposed)
    print(f"\nExposed by kind: {', '.join(f'{kind} {shown[kind]} of {count}' for kind, count in kinds.items())}")
    print(f"Correct twins that crash in an order: {len(false)} of {len(chosen)} {' '.join(false)}")
    return 0


def _subject(program: Program, folder: Path, *flags: str) -> Subject:
    folder.mkdir(parents=True)
    source = Path(shutil.copy(program.path, folder))
    return subject_from_sources([source], ["-w", *flags], [CASE], replace(DEFAULT_LIMITS, time=SECONDS / 6))


def _followed(subject: Subject, reorder: bool = True) -> tuple[Suppressed, int]:
    """The technique on one program, and how many executions it took."""
    with SuppressedRuns(subject, CASE) as runs:
        end = time.monotonic() + SECONDS
        found = Suppression(
            runs, subject.folder, lambda: end - time.monotonic(), lambda _: None, lambda _: None
        ).suppress(reorder)
        return found, runs.count


def _result(program: Program, folder: Path) -> Result:
    subject = _subject(program, folder)
    began = time.monotonic()
    followed, executions = _followed(subject, reorder=False)
    if not followed.steps[0].crashed:
        followed, executions = _followed(subject)
    seconds = time.monotonic() - began
    last = next((step for step in reversed(followed.steps) if step.definitions), None)
    lines = _lines(subject, last) if last else []
    with Recorder(subject) as recorder:
        checked = Checker(subject).check(recorder.record(CASE).trace)
    first = checked.trace.location(checked.errors[0].event) if checked.errors else None
    distance = _distance(last, program.line) if last else None
    return Result(program, followed, executions, seconds, lines, distance, bool(first and first.line == program.line))


def _lines(subject: Subject, step: Step) -> list[int]:
    """The lines of what was suppressed last, each once."""
    return list(dict.fromkeys(d["line"] for d in Explanation(subject, step).json()["suppressed"] if d["line"]))


def _distance(step: Step, line: int) -> int | None:
    """The fewest dependence edges between what was suppressed last and the error's line; None: there is no way."""
    trace = step.recording.trace
    identified = np.array(sorted({d.shown + 1 for d in step.definitions}), np.int64)
    places = {e: trace.location(e) for e in range(trace.events)}
    error = np.array([e + 1 for e, place in places.items() if place is not None and place.line == line], np.int64)
    if not len(error):
        return None
    ways = []
    for start, end in ((identified, error), (error, identified)):
        depths = backward_slice(trace.plan, trace.columns, start).event_depth[end - 1]
        ways += [int(depth) - 1 for depth in depths if depth]
    return min(ways, default=None)


def _share(results: list[Result]) -> str:
    right = sum(r.right for r in results)
    return f"first corruption right in {right} of {len(results)}"


def _row(result: Result, silent: bool) -> list[str]:
    orders = [order.space for order in result.followed.exposed]
    identified = ", ".join(map(str, result.lines)) or "-"
    verdict = "right" if result.right else identified + (" (not gone)" if result.followed.why else "")
    distance = "-" if result.distance is None else str(result.distance)
    cells = [result.program.name, result.program.kind]
    cells += [", ".join(orders) or "no"] if silent else []
    cells += [str(result.executions), f"{result.seconds:.1f}", verdict, distance]
    return [*cells, "right" if result.checked else "-"]


if __name__ == "__main__":
    sys.exit(main())
