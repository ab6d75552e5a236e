"""Where a case has its input: standard input, one of its files, one argument, or all arguments together."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from whence.errors import UsageError
from whence.run.cases import Case
from whence.run.sandbox import Sandbox

STDIN, FILE, ARGUMENT, ARGUMENTS = "stdin", "file", "arg", "args"
LARGEST = 32 << 20  # bytes of an input; candidates are held in memory, several at a time


@dataclass(slots=True, frozen=True)
class Channel:
    """One place for input. ``name`` is that of a file, ``number`` that of an argument, from 1.

    All arguments together are one text, each of them ended by a zero byte (as in /proc/PID/cmdline).
    """

    kind: str
    name: str = ""
    number: int = 0

    def __str__(self) -> str:
        """The words of ``--input`` that name the channel."""
        return self.kind + {FILE: f":{self.name}", ARGUMENT: f":{self.number}"}.get(self.kind, "")

    def read(self, case: Case) -> bytes:
        """The input that a case has there. Raises UsageError where it has none, or one that is too large."""
        if self.kind == STDIN:
            return _contents(case.stdin) if isinstance(case.stdin, Path) else case.stdin or b""
        if self.kind == FILE:
            return _contents(_source(case, self.name))
        if self.kind == ARGUMENTS:
            return b"".join(os.fsencode(argument) + b"\0" for argument in case.arguments)
        if self.number > len(case.arguments):
            raise UsageError(f"--input {self}: case {case.name} has {len(case.arguments)} arguments", _choices(case))
        return os.fsencode(case.arguments[self.number - 1])

    def put(self, case: Case, data: bytes, name: str = "", file: Path | None = None) -> Case:
        """The case with another input (``holds`` tells which are possible); its expected output is unknown.

        ``file``, if given, is where the bytes are written: it can serve many cases, one after another. Without it
        they stay where they are as long as the process lives.
        """
        case = replace(case, name=name or case.name, expected=None, said_to_fail=False)
        if self.kind == ARGUMENTS:
            return replace(case, arguments=tuple(os.fsdecode(part) for part in data.split(b"\0")[:-1]))
        if self.kind == ARGUMENT:
            before, after = case.arguments[: self.number - 1], case.arguments[self.number :]
            return replace(case, arguments=(*before, os.fsdecode(data), *after))
        if file is not None:
            file.write_bytes(data)
        if self.kind == STDIN:
            return replace(case, stdin=data if file is None else file)
        others = tuple(entry for entry in case.files if entry[0] != self.name)
        return replace(case, files=(*others, (self.name, file or _file_of(data))))

    def holds(self, data: bytes) -> bool:
        """Whether these bytes can be an input here: an argument has no zero byte."""
        if self.kind == ARGUMENT:
            return b"\0" not in data
        return self.kind != ARGUMENTS or not data or data.endswith(b"\0")


@cache
def _kept() -> Sandbox:
    """The files of the cases that were made; it goes with the process."""
    return Sandbox()


def _file_of(data: bytes) -> Path:
    """A file of these bytes."""
    if data:
        return _kept().input_path(data)
    path = _kept().new_path("empty")
    path.touch()
    return path


def _contents(path: Path) -> bytes:
    size = path.stat().st_size
    if size > LARGEST:
        message = f"the input {path.name} has {size >> 20} MiB, and at most {LARGEST >> 20} MiB can be reduced"
        raise UsageError(message, "cut it by hand first: split -n 2, and keep the half that still fails")
    return path.read_bytes()


def _source(case: Case, name: str) -> Path:
    """The file that the case finds under this name in its working folder."""
    for other, path in reversed(case.files):
        if os.path.normpath(other) == os.path.normpath(name) and path.is_file():
            return path
    folder = case.suite.folder if case.suite is not None else None
    if folder is not None and (folder / name).is_file():
        return folder / name
    raise UsageError(f"--input file:{name}: case {case.name} has no such file", _choices(case))


def find_channel(case: Case, wanted: str | None = None) -> Channel:
    """The channel that ``--input`` names, or the obvious one.

    That is standard input unless it is empty, else the one file that the arguments name, else all arguments. Raises
    UsageError, with the choices, where the name fits none or nothing is obvious.
    """
    if wanted is not None:
        return _named(case, wanted)
    if case.command is not None:
        raise UsageError(f"case {case.name} is a command: say which file of its folder is the input", _choices(case))
    if case.stdin is not None and Channel(STDIN).read(case):
        return Channel(STDIN)
    files = _files(case)
    if len(files) == 1:
        return Channel(FILE, files[0])
    if files:
        raise UsageError(f"case {case.name} has {len(files)} input files: say which one to change", _choices(case))
    if case.arguments:
        return Channel(ARGUMENTS)
    raise UsageError(f"case {case.name} has no input: standard input is empty, and there are no arguments")


def channels(case: Case) -> list[Channel]:
    """All channels through which a case that is no command gets something, the obvious one first."""
    found = [Channel(STDIN)] if case.stdin is not None and Channel(STDIN).read(case) else []
    found += [Channel(FILE, name) for name in _files(case)]
    return found + ([Channel(ARGUMENTS)] if case.arguments else [])


def _named(case: Case, wanted: str) -> Channel:
    found = re.fullmatch(r"(stdin|args)|file:(.+)|arg:([1-9]\d*)", wanted)
    if found is None:
        raise UsageError(f"--input {wanted}: not one of stdin, file:NAME, arg:NUMBER and args", _choices(case))
    if found[1] and case.command is not None:
        raise UsageError(f"--input {wanted}: case {case.name} is a command, of which only files can be changed")
    channel = Channel(found[1] or (FILE if found[2] else ARGUMENT), found[2] or "", int(found[3] or 0))
    channel.read(case)  # refuses what the case does not have
    return channel


def _files(case: Case) -> list[str]:
    """Names of the files that the arguments mention, as such or after ``=``."""
    words = {word for argument in case.arguments for word in (argument, argument.partition("=")[2])}
    start = "" if case.place is None else case.place.folder
    named = {os.path.normpath(os.path.join(start, word)) for word in words}  # noqa: PTH118 - of no file system
    return [name for name, path in case.files if os.path.normpath(name) in named and path.is_file()]


def _choices(case: Case) -> str:
    """The channels of a case, as a hint."""
    choices = [STDIN] if case.command is None and case.stdin else []
    choices += [f"file:{name}" for name in _files(case) or [n for n, path in case.files if path.is_file()]]
    if case.command is None and case.arguments:
        choices += [f"arg:1 to arg:{len(case.arguments)}" if len(case.arguments) > 1 else "arg:1", ARGUMENTS]
    return f"--input {', '.join(choices) or 'file:NAME, a file of the folder'}"
