"""What finds the memory errors of small programs: ``python -m bench.memory`` prints a table.

Each program has one error, and a correct twin. ``whence memory`` finds it where the first error that it tells is of
that kind and in that line; gcc's AddressSanitizer (with its check for use after return) and valgrind's memcheck where
what they report first names the line, or, of the leaves of a call, a line of the program that led there. An alarm on
the twin is false. Those of the two that are not installed are left out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import whence
from bench.memory.programs import PROGRAMS, Program

Found = tuple[bool, bool]  # whether the error was found; whether the twin raised an alarm
SANITIZED = ("-fsanitize=address", "-fsanitize-address-use-after-scope", "-g", "-O0", "-w")
SECONDS = 60


def by_whence(program: Program, folder: Path) -> Found:
    """What ``whence memory`` says."""
    wrong, right = _errors(program, folder / "wrong", ()), _errors(program, folder / "right", ("-DRIGHT",))
    return bool(wrong) and wrong[0] == (program.line, program.kind), bool(right)


def _errors(program: Program, folder: Path, flags: tuple[str, ...]) -> list[tuple[int | None, str]]:
    folder.mkdir(parents=True)
    source = Path(shutil.copy(program.path, folder))
    with whence.open_sources([source], fails=[("", None)], flags=["-w", *flags], timeout=SECONDS) as project:
        (checked,) = project.find(whence.MemoryErrors(members=program.in_member), float("inf")).parts["memory"]
    return [(error["line"], error["kind"]) for error in checked["errors"]]


def by_sanitizer(program: Program, folder: Path) -> Found:
    """What AddressSanitizer says."""
    return _by_report(program, folder, SANITIZED, [], "ERROR: AddressSanitizer")


def by_memcheck(program: Program, folder: Path) -> Found:
    """What memcheck says."""
    command = ["valgrind", "-q", "--error-exitcode=99"]
    return _by_report(program, folder, ("-g", "-O0", "-w"), command, "==")


def _by_report(program: Program, folder: Path, flags: tuple[str, ...], command: list[str], mark: str) -> Found:
    """Whether a report bears the mark and names the line of the error first, and whether the twin has one."""
    wrong = _report(program, folder / "wrong", flags, command)
    right = _report(program, folder / "right", (*flags, "-DRIGHT"), command)
    lines = [int(number) for number in re.findall(rf"{program.path.name}:(\d+)", wrong)]
    return mark in wrong and bool(lines) and lines[0] == program.line, mark in right


def _report(program: Program, folder: Path, flags: tuple[str, ...], command: list[str]) -> str:
    folder.mkdir(parents=True)
    executable = folder / program.name
    subprocess.run(["gcc", *flags, "-o", executable, program.path], check=True, timeout=SECONDS)
    options = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:detect_leaks=0", "PATH": "/usr/bin:/bin"}
    words = [*command, str(executable)]
    done = subprocess.run(words, capture_output=True, env=options, timeout=SECONDS, check=False, cwd=folder)
    return done.stderr.decode(errors="replace")


TOOLS: dict[str, Callable[[Program, Path], Found]] = {
    "whence": by_whence,
    "AddressSanitizer": by_sanitizer,
    "memcheck": by_memcheck,
}


def _group(program: Program) -> str:
    return f"{program.kind}, inside a structure" if program.in_member else program.kind


def main() -> None:
    """Measure all programs with all tools that are there, and print the table."""
    present = {"whence": True, "AddressSanitizer": bool(shutil.which("gcc"))}
    present["memcheck"] = bool(shutil.which("gcc") and shutil.which("valgrind"))
    tools = {name: tool for name, tool in TOOLS.items() if present[name]}
    counts: dict[str, Counter[str]] = {name: Counter() for name in tools}
    alarms: Counter[str] = Counter()
    for program in PROGRAMS:
        missed = []
        for name, tool in tools.items():
            with tempfile.TemporaryDirectory() as folder:
                found, false = tool(program, Path(folder))
            counts[name][_group(program)] += found
            alarms[name] += false
            missed += [] if found else [f"{name} missed it"]
            missed += [f"{name} has an alarm on the twin"] if false else []
        print(f"{program.name}: {', '.join(missed) or 'found by all'}", file=sys.stderr)
    kinds = Counter(map(_group, PROGRAMS))
    print(f"| error | programs | {' | '.join(tools)} |\n| --- | --- |{' --- |' * len(tools)}")
    for kind, number in kinds.items():
        print(f"| {kind} | {number} | {' | '.join(str(counts[name][kind]) for name in tools)} |")
    print(f"| all | {len(PROGRAMS)} | {' | '.join(str(counts[name].total()) for name in tools)} |")
    print(f"| false alarms | {len(PROGRAMS)} twins | {' | '.join(str(alarms[name]) for name in tools)} |")


if __name__ == "__main__":
    main()
