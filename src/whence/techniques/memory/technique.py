"""Memory checking as a technique: which runs are checked, and what they did wrong as findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence.errors import SubjectError, TraceError
from whence.findings import Entry, Findings, Statement
from whence.investigation.chosen import chosen_cases
from whence.probe.instrument import Variant
from whence.subject.memory_check import Checked, Checker
from whence.subject.memory_words import FoundErrors

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.subject.recorder import Recording


@dataclass(frozen=True, slots=True)
class MemoryErrors:
    """Errors of the run of one case, or with ``every`` of all; ``leaks``: blocks never given back count, too.

    The case is the one that the setup names, else the first failing one, else the first.
    """

    every: bool = False
    leaks: bool = False

    def run(self, investigation: Investigation) -> Findings:
        """Statements in the order in which the first run that has them did wrong."""
        investigation.build(Variant.RECORD)
        cases = chosen_cases(investigation, self.every)
        found = _Runs()
        watcher = investigation.watcher
        with watcher.progress("checking runs", len(cases)) as report, watcher.first_use():
            checker = Checker(investigation.subject)
            with investigation.clock.standing():
                checker.compile()
            for number, case in enumerate(cases):
                if found.checked and investigation.clock.left <= 0:
                    found.left_out.append(f"{len(cases) - number:,} more cases: the time is used up (--budget 10m)")
                    break
                watcher.busy(f"checking the case {case.name}")
                try:
                    found.checked.append(_checked(investigation, checker, case, self.leaks))
                except (SubjectError, TraceError) as error:
                    found.left_out.append(f"{case.name}: {error}")
                report(number + 1, len(cases))
        if not found.checked:
            raise SubjectError(f"no run could be checked: {found.left_out[0]}", "try another case with --case")
        return found.findings(investigation)


def _checked(investigation: Investigation, checker: Checker, case: Case, leaks: bool) -> dict[str, Any]:
    """One case recorded and checked, as results hold it."""
    recording = investigation.recorder.record(case, may_be_cut=True)
    checked = checker.check(recording.trace, leaks)
    words = FoundErrors(investigation.subject, checked)
    return run_part(recording, checked, [words.tell(error) for error in checked.errors])


def run_part(recording: Recording, checked: Checked, errors: list[dict[str, Any]]) -> dict[str, Any]:
    """A checked run as results hold it, with its errors as these do."""
    cut = ["only the beginning of the run was recorded"] if recording.is_cut else []
    return {
        "case": recording.case.name,
        "verdict": str(recording.outcome.kind),
        "errors": errors,
        "remarks": [*checked.remarks, *cut],
    }


@dataclass(slots=True)
class _Runs:
    """The runs that were checked, and those that could not be."""

    checked: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def findings(self, investigation: Investigation) -> Findings:
        """All of it. Where several runs did the same at a line, the first one tells it."""
        found = Findings("memory", investigation.subject.name)
        seen: dict[Statement, list[dict[str, Any]]] = {}
        for error in (error for case in self.checked for error in case["errors"] if error["file"]):
            others = seen.setdefault(Statement(error["file"], error["line"]), [])
            if all(other["kind"] != error["kind"] for other in others):
                others.append(error)
        for number, (statement, errors) in enumerate(seen.items(), 1):
            found.ranking.append(Entry(statement, 1.0 / number, number, number, reasons(errors)))
        found.parts["memory"] = self.checked
        found.summary = self._summary(investigation)
        return found

    def _summary(self, investigation: Investigation) -> list[str]:
        capture = investigation.subject.capture
        bad = sum(bool(case["errors"]) for case in self.checked)
        lines = [
            f"captured {_count(len(capture.modules), 'module')}, checked {_count(len(self.checked), 'run')}"
            f" ({bad:,} with memory errors)"
        ]
        for case in self.checked:
            verdict = f"`{case['case']}` ({case['verdict']})"
            places = _count(len(case["errors"]), "place")
            lines += [f"{verdict}: {places} with errors"] if case["errors"] else []
            lines += [f"{verdict}: {remark}" for remark in case["remarks"]]
        lines += [f"left out: {text}" for text in self.left_out]
        return [*lines, *(f"not captured: {name}" for name in capture.uncaptured)]


def reasons(errors: list[dict[str, Any]]) -> dict[str, Any]:
    """The sentences of the errors at one line."""
    reasons = [{"technique": str(error["kind"]), "text": text} for error in errors for text in error["text"]]
    return {"reasons": reasons, "text": "; ".join(reason["text"] for reason in reasons)}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
