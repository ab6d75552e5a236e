"""The programs: each has one error of threads, and none with ``-DRIGHT``.

The first line names the kind and says what is wrong. Lines with ``//!`` are those whose order decides. ``race``: two
accesses that nothing orders; ``harmless``: the same, but no order of the two makes a difference; ``atomicity``,
``order``, ``deadlock``, ``lost-wakeup``, ``assertion``: what some schedule makes of accesses that are all ordered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its error is of a ``kind``, and lies in ``lines``."""

    path: Path
    text: str
    kind: str
    about: str
    lines: frozenset[int]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.stem

    @property
    def right(self) -> str:
        """The text of its correct twin."""
        return f"#define RIGHT\n#line 1\n{self.text}"


def _read(path: Path) -> Program:
    text = path.read_text()
    head = re.match(r"/\* ([a-z-]+): (.*?) \*/", text, re.DOTALL)
    assert head is not None, f"{path} does not begin with its kind"
    lines = frozenset(n for n, line in enumerate(text.splitlines(), 1) if line.endswith("//!"))
    return Program(path, text, head[1], head[2], lines)


def read_all(folder: Path) -> list[Program]:
    """The programs of a folder, in order of their names."""
    return [_read(path) for path in sorted(folder.glob("*.c"))]


PROGRAMS = read_all(Path(__file__).parent)
