"""Whence as a library: a program with its cases, and what techniques find about its failure.

    import whence

    with whence.open("folder") as project:
        found = project.locate(budget=30)
        for entry in found.ranking[:5]:
            print(entry.statement.file, entry.statement.line, entry.evidence["text"])
        print(project.find(whence.LikelyInvariants(number=4), budget=10).summary)

What the command line does beside that - a process of its own that is ended when its time is up, progress on a terminal,
reports - is not done here: techniques look at the clock themselves, and what they raise is a ``WhenceError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from whence.findings import Findings
from whence.investigation.begin import Beginning, Changes
from whence.investigation.clock import BUDGET, Clock
from whence.investigation.investigation import Investigation, Setup, Technique
from whence.investigation.watcher import Watcher
from whence.run.cases import cases_from_options


class Project:
    """A program with its cases. They are run, and runs recorded, once, when the first technique needs them."""

    def __init__(self, investigation: Investigation) -> None:
        self.investigation = investigation

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End what was started, and remove its files."""
        self.investigation.close()

    def find(self, technique: Technique, budget: float = BUDGET) -> Findings:
        """What a technique finds in so many seconds of wall time (infinity: without an end); building does not count.

        Raises a WhenceError where the failure is not one that the technique can say something about.
        """
        self.investigation.clock.start(budget)
        return self.investigation.find(technique)

    def locate(self, budget: float = BUDGET, *, alter: bool = True) -> Findings:
        """The statements most likely at fault, by all techniques; ``alter``: failing runs are altered, too."""
        from whence.diagnosis.locate import Locate

        return self.find(Locate(alter=alter), budget)


def open_folder(
    folder: str | Path, setup: Setup | None = None, watcher: Watcher | None = None, clock: Clock | None = None
) -> Project:
    """The program and the cases that the folder's ``whence.toml`` describes, built if it says how.

    ``clock`` is one that somebody else looks at, too. Raises UsageError where there is none, ConfigError where it is
    wrong, BuildError where the program does not build.
    """
    beginning = Beginning(setup or Setup(), clock or Clock(), watcher or Watcher())
    return Project(beginning.with_folder(Path(folder)))


def open_sources(
    sources: Sequence[str | Path],
    *,
    fails: Sequence[tuple[str, str | None]],
    passes: Sequence[str] = (),
    flags: Sequence[str] = (),
    timeout: float | None = None,
    setup: Setup | None = None,
    watcher: Watcher | None = None,
) -> Project:
    """The program that C files make, with its cases given as arguments (``3 4 < file``: with standard input).

    A failing case comes with its right output, or None where a crash or a wrong status is the failure; what a passing
    one prints is right. ``timeout``: seconds that a run may take. Raises BuildError where the program does not build.
    """
    cases = cases_from_options([words for words, _ in fails], [right for _, right in fails], passes)
    beginning = Beginning(setup or Setup(), Clock(), watcher or Watcher(), Changes(timeout))
    return Project(beginning.with_sources([Path(source) for source in sources], cases, flags))
