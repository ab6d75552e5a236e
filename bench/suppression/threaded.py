"""Suppression in programs with threads (table 6.2 of the dissertation): the race, or the line, that a crash came of.

Each program of ``bench/suppression/threads`` crashes by the default order of turns. *Right* is a race between two of
the marked lines where the error is a race, else no race and a marked line at the top of the ranking. Executions are, as
there, the original one, those with suppression, and those with two accesses in the other order.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import whence
from bench.common import markdown
from bench.suppression.threads import PROGRAMS
from bench.threads.programs import Program
from whence.errors import WhenceError

HEADER = ("program", "error", "executions (orig + supp + race_check)", "harmless races", "s", "identified")
SECONDS = 60.0


@dataclass(slots=True)
class Result:
    """What was found in one program; ``part`` is that of the findings."""

    program: Program
    part: dict[str, Any]
    first: int | None
    seconds: float

    @property
    def race(self) -> frozenset[int]:
        """The lines of the race; none where none was told as harmful."""
        race = self.part["race"]
        return frozenset(access["line"] for access in race["accesses"]) if race else frozenset()

    @property
    def harmless(self) -> int:
        """How many races did no harm."""
        races = [race for execution in self.part["executions"] for race in execution["races"]]
        return sum(race["harm"]["verdict"] != "harmful" for race in races)

    @property
    def right(self) -> bool:
        """Whether that is what the crash came of."""
        if self.program.kind == "race":
            return bool(self.race) and self.race <= self.program.lines
        return not self.race and self.part["gone"] and self.first in self.program.lines

    @property
    def row(self) -> list[str]:
        """Its row of the table."""
        checks = self.part["race_checks"]
        counts = f"{self.part['runs']} (1 + {self.part['runs'] - checks - 1} + {checks})"
        found = f"race of lines {', '.join(map(str, sorted(self.race)))}" if self.race else f"line {self.first}"
        verdict = "right" if self.right else found
        return [
            self.program.name,
            self.program.kind,
            counts,
            str(self.harmless or "-"),
            f"{self.seconds:.1f}",
            verdict,
        ]


def found_in(program: Program) -> Result:
    """What suppression finds in a program. Raises WhenceError where it does not crash alike in the variant."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copy(program.path, folder))
        with whence.open_sources([source], fails=[("", None)], flags=["-w"], timeout=SECONDS / 6) as project:
            began = time.monotonic()
            found = project.find(whence.ExecutionSuppression(), SECONDS)
            took = time.monotonic() - began
    first = found.ranking[0].statement.line if found.ranking else None
    return Result(program, found.parts["suppression"], first, took)


def table(names: list[str]) -> str:
    """The programs of these names (none: all), as a table with a sum."""
    rows, right, chosen = [], 0, [p for p in PROGRAMS if not names or p.name in names]
    for program in chosen:
        try:
            result = found_in(program)
        except WhenceError as error:
            rows.append([program.name, program.kind, "-", "-", "-", str(error)])
            continue
        rows.append(result.row)
        right += result.right
    return f"With threads: right in {right} of {len(chosen)}\n\n{markdown(HEADER, rows)}" if chosen else ""
