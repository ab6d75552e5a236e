"""Runs that a technique checks one after another, whether they fail or not, and what they show as findings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence.errors import SubjectError, TraceError
from whence.findings import Entry, Statement, plural

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.investigation.watcher import Progress
    from whence.run.cases import Case


@dataclass(slots=True)
class CheckedRuns:
    """The runs that were checked, as results hold them (``case``, ``verdict``, ``remarks``), and those left out."""

    investigation: Investigation
    checked: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def check(self, cases: list[Case], report: Progress, check: Callable[[Case], dict[str, Any]]) -> None:
        """Check case after case, the first one whatever time is left; raises SubjectError where none could be."""
        for number, case in enumerate(cases):
            if self.checked and self.investigation.clock.left <= 0:
                self.left_out.append(f"{len(cases) - number:,} more cases: the time is used up (--budget 10m)")
                break
            self.investigation.watcher.busy(f"checking the case {case.name}")
            try:
                self.checked.append(check(case))
            except (SubjectError, TraceError) as error:
                self.left_out.append(f"{case.name}: {error}")
            report(number + 1, len(cases))
        if not self.checked:
            raise SubjectError(f"no run could be checked: {self.left_out[0]}", "try another case with --case")

    def summary(self, key: str, name: str, tell: Callable[[dict[str, Any]], list[str]]) -> list[str]:
        """Lines about all runs. ``run[key]`` is what was found in one, ``name`` what that is; ``tell`` sums it up."""
        capture = self.investigation.subject.capture
        bad = sum(bool(run[key]) for run in self.checked)
        lines = [
            f"captured {plural(len(capture.modules), 'module')}, checked {plural(len(self.checked), 'run')}"
            f" ({bad:,} with {name})"
        ]
        for run in self.checked:
            lines += [f"`{run['case']}` ({run['verdict']}): {text}" for text in [*tell(run), *run["remarks"]]]
        lines += [f"left out: {text}" for text in self.left_out]
        return [*lines, *(f"not captured: {name}" for name in capture.uncaptured)]


def ranked(
    placed: Iterable[tuple[Statement, dict[str, Any]]],
    identity: Callable[[dict[str, Any]], Hashable],
    evidence: Callable[[list[dict[str, Any]]], dict[str, Any]],
) -> list[Entry]:
    """Statements in the order in which they come first, with what was found at each; of the same the first tells it."""
    seen: dict[Statement, dict[Hashable, dict[str, Any]]] = {}
    for statement, one in placed:
        seen.setdefault(statement, {}).setdefault(identity(one), one)
    return [Entry(s, 1.0 / n, n, n, evidence(list(own.values()))) for n, (s, own) in enumerate(seen.items(), 1)]
