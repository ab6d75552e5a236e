"""What ``whence doctor`` says of the program and the cases that a ``whence.toml`` describes.

Each check rests on what the one before has found: where the program cannot be read, nothing is said of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.checks import Report, Weakness, run_check
from whence.errors import SubjectError
from whence.run.cases import TAKE_APART

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.project import Project

BUDGET = 60.0  # seconds for running the cases
NAMED = 3  # files, cases and reasons that are told


def examine_subject(folder: Path) -> Iterator[Report]:
    """Yield the checks of a folder's program and cases, until one fails."""
    checks = SubjectChecks(folder)
    try:
        for name, check in checks.all().items():
            report = run_check(name, check)
            yield report
            if report.state == "FAIL":
                return
    finally:
        checks.close()


class SubjectChecks:
    """The checks of one folder. Close it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: list[Project] = []

    def close(self) -> None:
        """End what was started."""
        for project in self._opened:
            project.close()

    def all(self) -> dict[str, Callable[[], str]]:
        """The checks by their names, in their order."""
        return {
            "configuration": self.configuration,
            "program": self.program,
            "sources": self.sources,
            "suite": self.suite,
            "cases": self.cases,
            "failure": self.failure,
        }

    @cached_property
    def _investigation(self) -> Investigation:
        from whence.project import open_folder

        project = open_folder(self._folder)
        self._opened.append(project)
        project.investigation.clock.start(BUDGET)
        return project.investigation

    def configuration(self) -> str:
        """Whether ``whence.toml`` can be read, and where it says that program and cases are."""
        from whence.run.config import SOURCES_OF_CASES, read_config

        config = read_config(self._folder)
        source = next(name for name in SOURCES_OF_CASES if getattr(config.cases, name) is not None)
        what = config.program.path.name if config.program.path else ", ".join(config.program.sources)
        where = "the tests that it holds" if source == "tests" else f"a {source}"
        return f"program {what}, cases from {where}"

    def program(self) -> str:
        """Whether the program is there and its build captured, all of it."""
        subject = self._investigation.subject
        modules, missing = len(subject.capture.modules), subject.capture.uncaptured
        found = f"{subject.executable.name} has {modules} captured module{'s' * (modules != 1)}"
        if missing:
            hint = "build these with whence-cc too, or faults in them are not found"
            raise Weakness(f"{found}; not captured: {_first(missing)}", hint)
        return found

    def sources(self) -> str:
        """Whether the sources are those that were compiled."""
        changed = self._investigation.subject.places.changed_files()
        if changed:
            hint = "build again: nothing is ranked in these files"
            raise Weakness(f"changed since the program was built: {_first(changed)}", hint)
        return "as they were compiled"

    def suite(self) -> str:
        """What became of the tests of a suite."""
        subject = self._investigation.subject
        if subject.remarks:
            return "; ".join(subject.remarks)
        if any(case.command is not None for case in subject.cases):
            raise Weakness("the cases are commands: no values are compared, and no run is altered", TAKE_APART)
        return "none, the cases run the program themselves"

    def cases(self) -> str:
        """How many cases there are, and which of them, or of their files, do not count."""
        from whence.investigation.account import not_compared

        runs = self._investigation.runs
        total = len(runs.tested) + len(runs.left_out)
        if runs.left_out:
            raise Weakness(f"{len(runs.left_out)} of {total} are left out", _first(runs.left_out, "; "))
        if files := not_compared(runs):
            raise Weakness(f"{total} count, but not all of what they leave", "\n".join(files[:NAMED]))
        return f"all {total} count" if total > 1 else "1, which counts"

    def failure(self) -> str:
        """Whether there is something to explain, and something to compare it with."""
        from whence.investigation.account import how_to_fail

        runs = self._investigation.runs
        found = f"{len(runs.failing)} fail, {len(runs.passing)} pass"
        if not runs.failing:
            raise SubjectError(f"{found}: there is nothing to explain", how_to_fail(runs))
        if not runs.passing:
            raise Weakness(found, "with a few passing cases much more is found; locate makes some where it can")
        return f"{found}; `{runs.tested[runs.failing[0]].case.name}` is one that fails"


def _first(items: list[str], between: str = ", ") -> str:
    """The first items, and how many more there are."""
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return between.join(items[:NAMED]) + more
