"""A script for GDB: it runs the plain program on a case, and stops at instants of the recorded run.

A recording tells how often a line was executed before an instant. GDB stops at the first code of a line in each
function that has it, so what is counted is that code, not the line: the body of a loop counts each time, the head of
a ``for`` once, as for GDB.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from whence.build.toolchain import whence_home
from whence.errors import SubjectError
from whence.run.sandbox import PINNED, copy_files

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.run.cases import Case
    from whence.subject.subject import Subject
    from whence.subject.trace_reader import TraceReader

SCRIPT, INPUT, WORK, PROGRAM = "script.gdb", "input", "work", "program"
BEGINNING = "# Written by `whence gdb`"


@dataclass(slots=True, frozen=True)
class Stop:
    """A place at which GDB is to stop: the ``hit``-th time (from 1) that it comes to a line; ``text`` says why."""

    statement: Statement
    hit: int
    text: str


def hits_until(reader: TraceReader, statement: Statement, event: int) -> int:
    """How often the first code of a line was executed before an event, or at it, in all functions that have it."""
    program, number = reader.subject.program, reader.statements.index(statement)
    first: dict[int, int] = {}  # of each function the first instruction on the line
    for instruction in np.flatnonzero(reader.subject.places.numbers == number).tolist():
        first.setdefault(program.function_of_instruction(instruction).id, instruction)
    return sum(_executed(reader, instruction, event) for instruction in first.values())


def _executed(reader: TraceReader, instruction: int, event: int) -> int:
    """How often an instruction was executed before an event, or at it."""
    plan, block = reader.trace.plan, reader.subject.program.block_of_instruction(instruction)
    segments = np.flatnonzero(plan.segments["block"][:-1] == block).tolist()
    for segment in segments:
        start, end = plan.segments["site_start"][segment : segment + 2]
        sites = plan.sites["instruction"][start:end]
        if segment == segments[-1] or (len(sites) and int(sites[-1]) >= instruction):
            offset = min(int(np.searchsorted(sites, instruction)), max(0, len(sites) - 1))
            starts = reader.trace.columns.segments["event"][reader.instances(segment)].astype(np.int64)
            return int(np.count_nonzero(starts + offset <= event))
    return 0


def write_script(subject: Subject, case: Case, stops: Sequence[Stop], folder: Path) -> Path:
    """Write the script, the case's input and its working folder into a folder; the script. What is there is replaced.

    A program that Whence built itself is copied beside them: it is built again for other options. Raises SubjectError
    where a case cannot be run so, or the program holds no lines; OSError where nothing can be written.
    """
    if case.command is not None or case.place is not None:
        raise SubjectError(f"case {case.name} is a command of a test suite", "`whence cases` makes cases of their own")
    if not has_lines(subject.executable):
        hint = 'build it with -g: `flags = ["-g"]` in whence.toml, or --cflags=-g, and no -g0'
        raise SubjectError("the program was built without -g, so GDB knows no lines of it", hint)
    folder, executable = folder.absolute(), subject.executable.absolute()
    is_own = executable.is_relative_to(Path(whence_home()).absolute())
    if is_own:
        executable = folder / PROGRAM / executable.name
    text = "\n".join(_lines(subject, case, stops, folder, executable)) + "\n"
    for part in (WORK, PROGRAM):
        shutil.rmtree(folder / part, ignore_errors=True)
    work = folder / WORK
    work.mkdir(parents=True)
    if is_own:
        executable.parent.mkdir()
        shutil.copy(subject.executable, executable)
    copy_files(case.files, work)
    if isinstance(case.stdin, Path):
        shutil.copyfile(case.stdin, folder / INPUT)
    else:
        (folder / INPUT).write_bytes(case.stdin or b"")
    script = folder / SCRIPT
    script.write_text(text, encoding="utf-8")
    return script


def is_written(folder: Path) -> bool:
    """Whether a folder holds a script that ``write_script`` has written."""
    try:
        return (folder / SCRIPT).read_text(encoding="utf-8", errors="replace").startswith(BEGINNING)
    except OSError:
        return False


def has_lines(executable: Path) -> bool:
    """Whether an executable tells the lines of its code."""
    try:
        with executable.open("rb") as file:
            return ELFFile(file).get_section_by_name(".debug_line") is not None
    except (ELFError, OSError):
        return False


def _lines(subject: Subject, case: Case, stops: Sequence[Stop], folder: Path, executable: Path) -> list[str]:
    words = " ".join(shlex.quote(_plain(word, "an argument")) for word in case.arguments)
    variables: Mapping[str, str] = {**PINNED, **subject.limits.variables(), **case.environment}
    lines = [
        f"{BEGINNING} for the case {_plain(case.name, 'the name of the case')}.",
        "set confirm off",
        "set pagination off",
        "set disable-randomization on",
        f"file {_path(executable)}",
        f"set cwd {_plain(str(folder / WORK), 'the folder')}",
        "unset environment",
        *(f"set environment {name} = {_plain(value, 'a variable')}" for name, value in sorted(variables.items())),
        f"set args {words} < {shlex.quote(_plain(str(folder / INPUT), 'the folder'))}",
    ]
    for stop in stops:
        place = _plain(f"{subject.folder.absolute() / stop.statement.file}:{stop.statement.line}", "a file's name")
        lines += [f"break {place}", f"ignore $bpnum {stop.hit - 1}"]
        lines += ["commands", f"echo \\n{_echoed(stop.text)}\\n", "end"]
    return [*lines, "run"]


def _plain(text: str, what: str) -> str:
    """A text that may stand in a line of a script. Raises SubjectError where it could end the line."""
    if not text.isprintable():
        hint = "`whence slice` and `whence dap` show the recorded run of such a case"
        raise SubjectError(f"{what} holds a character that no GDB script can hold: {text!r}", hint)
    return text


def _path(path: Path) -> str:
    return '"' + _plain(str(path), "a path").replace("\\", "\\\\").replace('"', '\\"') + '"'


def _echoed(text: str) -> str:
    """A text as ``echo`` prints it."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown.replace("\\", "\\\\").replace('"', '\\"')
