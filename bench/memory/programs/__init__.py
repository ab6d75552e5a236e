"""The programs: each has one memory error, in the line with ``//!`` and its kind; with ``-DRIGHT`` it has none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its error is of a ``kind`` (as results name it) in a ``line``."""

    path: Path
    text: str
    line: int
    kind: str

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.stem

    @property
    def in_member(self) -> bool:
        """Whether the access stays inside of the structure that holds its array, which is asked for by option."""
        return self.name.startswith("member_")


def _read(path: Path) -> Program:
    text = path.read_text()
    ((line, kind),) = [(n, t.split("//! ")[1]) for n, t in enumerate(text.splitlines(), 1) if "//! " in t]
    return Program(path, text, line, kind)


def read_all(folder: Path) -> list[Program]:
    """The programs of a folder, in order of their names."""
    return [_read(path) for path in sorted(folder.glob("*.c"))]


PROGRAMS = read_all(Path(__file__).parent)
