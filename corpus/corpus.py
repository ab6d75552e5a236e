"""The corpus as objects: programs, their cases and their seeded faults; README.md describes the folders.

A fault is kept as a patch. It is applied here, without external tools and without fuzz: a patch whose context
is not found exactly where its hunk says is an error, since the recorded line numbers would be wrong too.
"""

from __future__ import annotations

import contextlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent
COMPILER = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all", "-ffp-contract=off")

KINDS = (
    "wrong operator",
    "wrong constant",
    "wrong variable",
    "missing statement",
    "missing condition",
    "extra statement",
    "off by one",
    "wrong type",
    "memory error",
)

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Fault:
    """A seeded fault: ``lines`` are 1-based in the patched source, ``failing`` counts the broken cases."""

    program: str
    id: str
    patch: Path
    kind: str
    description: str
    lines: tuple[int, ...]
    failing: int


@dataclass(frozen=True, slots=True)
class Combined:
    """Several faults in one source: ``lines[i]`` are the lines of ``faults[i]`` there, from 1."""

    program: str
    faults: tuple[Fault, ...]
    source: str
    lines: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One run: ``number`` counts from 1, ``stdin`` is a file, or None for empty input."""

    program: str
    number: int
    text: str  # the line of cases.txt
    arguments: tuple[str, ...]
    stdin: Path | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run shows: its output and status (negative: killed by that signal; None: took too long)."""

    stdout: bytes
    status: int | None


def programs() -> list[str]:
    """Names of all programs, in alphabetical order."""
    return sorted(p.parent.name for p in ROOT.glob("*/faults.toml"))


def source_path(name: str) -> Path:
    """Path of a program's correct source."""
    return ROOT / name / f"{name}.c"


def faults(name: str) -> list[Fault]:
    """The faults of a program in the order of its ``faults.toml``."""
    entries = tomllib.loads((ROOT / name / "faults.toml").read_text())["fault"]
    return [
        Fault(
            program=name,
            id=entry["id"],
            patch=ROOT / name / entry["patch"],
            kind=entry["kind"],
            description=entry["description"],
            lines=tuple(entry["lines"]),
            failing=entry["failing"],
        )
        for entry in entries
    ]


class Seeded(Protocol):
    """A program whose faulty source is given as it is: ``Combined``, or a generated fault."""

    @property
    def program(self) -> str:
        """The program's name."""

    @property
    def source(self) -> str:
        """Its source with the fault."""


def faulty_source(fault: Fault | Seeded) -> str:
    """The program's source with the fault's patch applied; ValueError when it does not apply."""
    if not isinstance(fault, Fault):
        return fault.source
    return apply_patch(source_path(fault.program).read_text(), fault.patch.read_text())


def combined(faults: Sequence[Fault]) -> Combined:
    """The source of one program with all these faults, in the order given.

    ValueError when two of them change the same or adjacent lines, or when one stands on a line that another changes.
    """
    name = faults[0].program
    correct = source_path(name).read_text()
    texts = [fault.patch.read_text() for fault in faults]
    for patch in texts:
        apply_patch(correct, patch)
    edits = [[(number, *edit) for edit in _edits(patch)] for number, patch in enumerate(texts)]
    merged = _edited(correct, [edit for of_fault in edits for edit in of_fault])
    position = {origin: line for line, (origin, _) in enumerate(merged, 1)}
    alone = [_edited(correct, of_fault) for of_fault in edits]
    origins = [[mine[line - 1][0] for line in fault.lines] for fault, mine in zip(faults, alone, strict=True)]
    places = [origin for of_fault in origins for origin in of_fault]
    if len(set(places)) < len(places) or not position.keys() >= set(places):
        raise ValueError("two of the faults stand on the same line")
    lines = tuple(tuple(position[origin] for origin in of_fault) for of_fault in origins)
    return Combined(name, tuple(faults), "".join(text for _, text in merged), lines)


def cases(name: str) -> list[Case]:
    """The cases of a program; blank lines and lines that start with ``#`` are no cases."""
    lines = (ROOT / name / "cases.txt").read_text().splitlines()
    texts = [line for line in lines if line.strip() and not line.startswith("#")]
    return [_case(name, number, text) for number, text in enumerate(texts, 1)]


def _case(name: str, number: int, text: str) -> Case:
    words = shlex.split(text)
    if len(words) >= 2 and words[-2] == "<":
        return Case(name, number, text, tuple(words[:-2]), ROOT / name / words[-1])
    return Case(name, number, text, tuple(words), None)


def apply_patch(text: str, patch: str) -> str:
    """Applies a unified diff of one file to ``text``; ValueError when a line is not where the diff says."""
    old = text.splitlines(keepends=True)
    result: list[str] = []
    taken = 0
    for start, body in _hunks(patch):
        result += old[taken:start]
        taken = start
        for line in body:
            if line[0] != "+":
                if taken >= len(old) or old[taken] != line[1:]:
                    raise ValueError(f"patch does not apply at line {taken + 1}: expected {line[1:]!r}")
                taken += 1
            if line[0] != "-":
                result.append(line[1:])
    return "".join(result + old[taken:])


def _hunks(patch: str) -> list[tuple[int, list[str]]]:
    """(0-based line in the old text, the hunk's lines with their marks) for every hunk of a patch."""
    hunks: list[tuple[int, list[str]]] = []
    for line in patch.splitlines(keepends=True):
        if match := _HUNK.match(line):
            length = int(match[2] or 1)
            hunks.append((int(match[1]) - (1 if length else 0), []))
        elif hunks and line[0] in " +-":
            hunks[-1][1].append(line)
    if not hunks:
        raise ValueError("a patch without hunks")
    return hunks


def _edits(patch: str) -> list[tuple[int, int, list[str]]]:
    """(0-based line in the old text, lines removed from there, lines put there) for every change of a patch."""
    edits: list[tuple[int, int, list[str]]] = []
    for start, body in _hunks(patch):
        line = start
        for changed, group in groupby(body, lambda text: text[0] != " "):
            marked = list(group)
            removed = sum(text[0] != "+" for text in marked)
            if changed:
                edits.append((line, removed, [text[1:] for text in marked if text[0] == "+"]))
            line += removed
    return edits


def _edited(text: str, edits: list[tuple[int, int, int, list[str]]]) -> list[tuple[object, str]]:
    """The lines with the edits of several faults made (fault, line, removed, added), each with where it comes from.

    That is its 0-based number in the old text, or (fault, line, n) for the n-th line that a fault put at a line.
    ValueError when edits of different faults touch the same or adjacent lines.
    """
    old = text.splitlines(keepends=True)
    result: list[tuple[object, str]] = []
    taken, last = 0, -1
    for fault, line, removed, added in sorted(edits, key=lambda edit: edit[1]):
        if last not in (-1, fault) and line <= taken:
            raise ValueError(f"two of the faults change lines {taken} and {line + 1}, which touch")
        result += enumerate(old[taken:line], taken)
        result += (((fault, line, n), text) for n, text in enumerate(added))
        taken, last = line + removed, fault
    return [*result, *enumerate(old[taken:], taken)]


def run(binary: Path, case: Case, seconds: float = 3.0) -> Outcome:
    """Runs one case in its program's folder; a run that takes longer than ``seconds`` is ended.

    It ends, too, where nobody is left to end it: a planted fault can run for ever.
    """
    most = ceil(seconds) + 1
    with subprocess.Popen(
        [str(binary), *case.arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT / case.program,
    ) as process:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most))
        try:
            output, _ = process.communicate(case.stdin.read_bytes() if case.stdin else b"", seconds)
        except subprocess.TimeoutExpired as error:
            process.kill()
            return Outcome(error.stdout or b"", None)
    return Outcome(output, process.returncode)


def compile_program(source: str, binary: Path, compiler: Sequence[str] = COMPILER) -> None:
    """Compiles one C source text with ``compiler`` (command and options) into ``binary``."""
    path = binary.with_suffix(".c")
    path.write_text(source)
    subprocess.run([*compiler, "-std=c11", "-g", "-O0", "-o", str(binary), str(path), "-lm"], check=True)


def outcomes(name: str, binary: Path) -> list[Outcome]:
    """The outcomes of all cases of a program, in their order."""
    return [run(binary, case) for case in cases(name)]


def prepare(fault: Fault | Seeded, folder: Path) -> None:
    """Makes a subject in ``folder``: the faulty source, the cases, and the correct program as ``reference``."""
    shutil.copytree(ROOT / fault.program, folder, ignore=shutil.ignore_patterns("faults*"), dirs_exist_ok=True)
    compile_program(source_path(fault.program).read_text(), folder / "reference")
    (folder / "reference.c").unlink()
    (folder / f"{fault.program}.c").write_text(faulty_source(fault))
