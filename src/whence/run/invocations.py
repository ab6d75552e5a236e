"""Invocations of a program that a test suite made, as the shim (``probe/capture``) has kept them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from whence.run.outcome import Expected
from whence.run.sandbox import PINNED

# What make and the shell leave in the environment for processes of their own.
NOISE = {"_", "SHLVL", "OLDPWD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_TERMERR", "MAKE_TERMOUT"}
NESTED = "nested"
SYSTEM_TELLS = "the system does not tell what it reads (seccomp is not allowed here, or a tool like valgrind runs it)"


@dataclass(frozen=True)
class Invocation:
    """One run of a program within a test.

    ``words`` begin with its ``argv[0]``, ``folder`` is where it started. ``files`` are those that it named, by their
    absolute paths, as they were when it did so first, ``written`` those that it may have changed, as it left them; the
    copies keep modes and times. ``removed`` are those that are not there any more. ``outside`` are those of them that
    lie beside the suite's folder, such as those of ``mktemp``, and are named by words. ``links`` are symbolic links
    with their targets. ``output`` is the file that standard output went to, from ``offset`` on (empty: no file);
    ``discarded``: it went to ``/dev/null``.
    ``trouble`` says why it cannot be run outside of its test; empty where it can.
    """

    order: str
    words: tuple[str, ...]
    variables: dict[str, str]
    folder: str
    stdin: bytes
    output: str
    offset: int
    stdout: bytes
    stderr: bytes
    status: int
    signal: int
    files: dict[str, Path] = field(default_factory=dict)
    written: dict[str, Path] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    trouble: str = ""
    outside: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    discarded: bool = False

    @property
    def observed(self) -> Expected:
        """What it gave, as an expectation of the same; files have the names that they have from its folder on."""
        return Expected(self.stdout, None, self.status, self.left)

    @cached_property
    def left(self) -> tuple[tuple[str, bytes | None], ...]:
        """The files that it may have changed as it left them, by their names from its folder on; None: removed."""
        found: dict[str, bytes | None] = {path: copy.read_bytes() for path, copy in self.written.items()}
        found |= {path: None for path in self.removed if path in self.files}
        return tuple(sorted((os.path.relpath(path, self.folder), content) for path, content in found.items()))

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """Equal for invocations that are given the same: words, standard input and the files they name."""
        named = {os.path.relpath(path, self.folder): copy.read_bytes() for path, copy in self.files.items()}
        links = {os.path.relpath(path, self.folder): target for path, target in self.links.items()}
        return self.words[1:], self.stdin, tuple(sorted(named.items())), tuple(sorted(links.items()))

    def content(self, operand: str) -> bytes | None:
        """What a file that it was given as an argument held; ``-`` is standard input. None where that is not known."""
        if operand == "-":
            return self.stdin
        copy = self.files.get(self.path(operand))
        return None if copy is None else copy.read_bytes()

    def reads(self, other: Invocation) -> bool:
        """Whether it was given what another one, which began before it, had made: a file or its whole input."""
        made = {path: copy.read_bytes() for path, copy in other.written.items() if path in self.files}
        if other.output in self.files:
            made[other.output] = other.stdout
        if any(content and content in self.files[path].read_bytes() for path, content in made.items()):
            return True
        return bool(other.stdout) and self.stdin == other.stdout

    def moved_into(self, work: str) -> Invocation:
        """The same with the files ``outside`` in folders of ``work``, which the words name instead."""
        files, words = dict(self.files), list(self.words)
        for number, path in enumerate(self.outside):
            place = os.path.join(work, f"outside.{number}", os.path.basename(path))  # noqa: PTH118, PTH119
            files[place] = files.pop(path)
            words = [word.replace(path, os.path.relpath(place, self.folder)) for word in words]
        return replace(self, files=files, words=tuple(words), outside=())

    def path(self, operand: str) -> str:
        """The absolute path of a file that it was given as an argument."""
        return os.path.normpath(os.path.join(self.folder, operand))  # noqa: PTH118 - of a folder that is gone


def read_invocations(folder: Path) -> list[Invocation]:
    """The invocations that were kept in a folder, in the order in which they began.

    One that another invocation made, as its child, is a part of that.
    """
    found = [read_invocation(path) for path in sorted(folder.iterdir()) if (path / "about").is_file()]
    return [one for one in found if one.trouble != NESTED]


def read_invocation(folder: Path) -> Invocation:
    """The invocation that one folder holds."""
    about: dict[str, list[str]] = {}
    for key, value in _items((folder / "about").read_bytes()):
        about.setdefault(key, []).append(value)
    links = [path.partition(" ")[2] for path in about.get("link", [])]
    outside = [item.partition(" ")[2] for item in about.get("outside", [])]
    return Invocation(
        folder.name,
        tuple(about.get("word", [""])),
        _variables(about.get("variable", [])),
        about.get("folder", [""])[0],
        _bytes(folder / "stdin"),
        about.get("output", [""])[0],
        int(about.get("offset", ["0"])[0]),
        _bytes(folder / "stdout"),
        _bytes(folder / "stderr"),
        int(about.get("status", ["-1"])[0]),
        int(about.get("signal", ["0"])[0]),
        _copies(folder, "file", about),
        _copies(folder, "written", about),
        dict(zip(links, about.get("target", []), strict=False)),
        _directories(about),
        _trouble(about),
        tuple(dict.fromkeys(outside)),
        tuple(path.partition(" ")[2] for path in about.get("removed", [])),
        "discarded" in about,
    )


def _items(about: bytes) -> Iterator[tuple[str, str]]:
    for item in about.split(b"\0")[:-1]:
        key, _, value = item.partition(b" ")
        yield key.decode(), os.fsdecode(value)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _variables(texts: Sequence[str]) -> dict[str, str]:
    """The variables that may matter: not what every run has, nor what make and the shell add."""
    variables = dict(text.partition("=")[::2] for text in texts)
    return {
        name: value
        for name, value in variables.items()
        if name and name not in NOISE and not name.startswith("WHENCE_") and PINNED.get(name) != value
    }


def _directories(about: dict[str, list[str]]) -> tuple[str, ...]:
    """The folders that were there: those that it named, and those that hold what it wrote, if it did not make them."""

    def paths(key: str) -> list[str]:
        return [item.partition(" ")[2] for item in about.get(key, [])]

    holding = {os.path.dirname(path) for path in paths("written")} - set(paths("absent"))  # noqa: PTH120
    return tuple(dict.fromkeys([*paths("directory"), *sorted(holding)]))


def _copies(folder: Path, kind: str, about: dict[str, list[str]]) -> dict[str, Path]:
    numbered = (item.partition(" ") for item in about.get(kind, []))
    return {path: folder / f"{kind}.{number}" for number, _, path in numbered}


def _trouble(about: dict[str, list[str]]) -> str:
    """Why an invocation is nothing that can be run again by itself."""
    if "unclear" in about:
        why = about["unclear"][0]
        return NESTED if why == NESTED else SYSTEM_TELLS if why.startswith("what it read") else f"{why} is not known"
    if "status" not in about:
        return "it was killed by its test, or did not end"
    if "stdin-is" in about:
        return {"closed": "its standard input is closed", "large": "its standard input is too large"}.get(
            about["stdin-is"][0], "its standard input is no file and no pipe"
        )
    if "large" in about:
        return f"what it reads or writes is too large ({about['large'][0].rpartition('/')[2]})"
    if "special" in about:
        return "it uses a pipe or a socket with a name"
    kept = {item.partition(" ")[2] for item in about.get("file", [])}
    for path in (item.partition(" ")[2] for item in about.get("outside", [])):
        if path not in kept or not any(path in word for word in about["word"][1:]):
            return f"it uses a file outside of the suite's folder: {path}"
    return ""
