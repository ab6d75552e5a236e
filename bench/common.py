"""What the benchmarks share: building a program of ours, timing commands side by side, printing a Markdown table.

Times are of the processor (user and system), which other work on the machine disturbs least, unless a table says
otherwise. Ratios are of medians from the same run, in which the things compared take turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NoReturn, TypeVar

from whence.build.quick import build_sources
from whence.errors import WhenceError
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject
from whence.trace.compiling import kernels_folder, lay_kernels

COSTED = ("structures", "matrix", "squeeze")  # programs of ours on which the cost of a technique is measured
ONE_ROUND = Case("one round", ("1",), expected=Expected())
PROGRAMS = Path(__file__).resolve().parent / "programs"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Times:
    """What something took, in seconds: by the clock, and of the processor (with the children that it waited for)."""

    wall: float
    cpu: float


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--work", type=Path, help="folder for builds (default: below the temporary folder)")
    return parser


def work_folder(argument: Path | None) -> Path:
    """The work folder asked for, or one below the temporary folder; Whence's own files go there too."""
    folder = (argument or Path(tempfile.gettempdir()) / "whence-bench").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    installed = kernels_folder()
    os.environ.setdefault("WHENCE_HOME", str(folder / "home"))
    lay_kernels(installed, kernels_folder())  # compiling at the first use would be measured otherwise
    return folder


def ended(main: Callable[[], int]) -> NoReturn:
    """End with the status of a script's ``main``, or with one line where Whence says what is wrong."""
    try:
        sys.exit(main())
    except WhenceError as error:
        sys.exit(f"error: {error}" + (f" ({error.hint})" if error.hint else ""))


def memory_folder() -> Path:
    """Where traces go: a file system in memory where there is one."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else Path(tempfile.gettempdir())


def build_program(name: str, work: Path) -> Subject:
    """One of our own programs, built at -O0 by the wrapper, as a subject without cases."""
    source = PROGRAMS / f"{name}.c"
    return Subject(source.parent, build_sources([source], ["-O0", "-g"], work / name), [])


def run(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    log: Path = Path(os.devnull),
) -> Times:
    """Run a command with its output in ``log`` and time it; raises RuntimeError when it fails."""
    words = [str(word) for word in command]
    with log.open("wb") as out:
        start = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            _become(words, {**os.environ, **(environment or {})}, folder, out.fileno())
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{words[0]} ended with status {os.waitstatus_to_exitcode(status)} (output: {log})")
    return Times(wall, usage.ru_utime + usage.ru_stime)


def _become(words: list[str], environment: Mapping[str, str], folder: Path | None, output: int) -> None:
    """In a forked child: turn into the command."""
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(folder or ".")
        os.execvpe(words[0], words, environment)
    finally:
        os._exit(127)


def timed(work: Callable[[], T]) -> tuple[Times, T]:
    """What some work of this process and of the processes that it waits for takes, and its result."""
    wall, cpu = time.perf_counter(), _processor()
    result = work()
    return Times(time.perf_counter() - wall, _processor() - cpu), result


def _processor() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def take_turns(measures: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each measure over ``rounds`` in which they take turns, after one round to warm up."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            seconds = measure()
            if number:
                taken[name].append(seconds)
    return {name: median(values) for name, values in taken.items()}


def print_costs(description: str | None, header: Sequence[str], row: Callable[[str, Path, int], list[str]]) -> int:
    """The command of a benchmark that measures a cost: a row for each program, from its name, work folder and turns."""
    parser = options(description)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    print(markdown(header, [row(name, work, arguments.rounds) for name in COSTED]))
    return 0


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
