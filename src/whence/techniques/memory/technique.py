"""Memory checking as a technique: which runs are checked, and what they did wrong as findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.findings import Findings, Statement, plural
from whence.investigation.checked_runs import CheckedRuns, ranked
from whence.investigation.chosen import chosen_cases
from whence.probe.instrument import Variant
from whence.subject.memory_check import Checked, Checker
from whence.subject.memory_words import FoundErrors

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.trace.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErrors:
    """Errors of the run of one case, or with ``every`` of all; ``leaks``: blocks never given back count, too.

    With ``members`` an access beyond an array inside of a structure is one, though it stays in the structure.

    The case is the one that the setup names, else the first failing one, else the first.
    """

    every: bool = False
    leaks: bool = False
    members: bool = False

    def run(self, investigation: Investigation) -> Findings:
        """Statements in the order in which the first run that has them did wrong."""
        investigation.build(Variant.RECORD)
        cases = chosen_cases(investigation, self.every)
        found = CheckedRuns(investigation)
        watcher = investigation.watcher
        with watcher.progress("checking runs", len(cases)) as report, watcher.first_use():
            checker = Checker(investigation.subject, self.members)
            checker.compile()
            found.check(cases, report, lambda case: _checked(investigation, checker, case, self.leaks))
        return _findings(found)


def _checked(investigation: Investigation, checker: Checker, case: Case, leaks: bool) -> dict[str, Any]:
    """One case recorded and checked, as results hold it."""

    def errors(trace: Trace) -> float:
        return len(checker.check(trace, leaks).errors)

    recording = investigation.recorder.record_or_beginning(case, errors)
    checked = checker.check(recording.trace, leaks)
    words = FoundErrors(investigation.subject, checked)
    return run_part(recording, checked, [words.json(error) for error in checked.errors])


def run_part(recording: Recording, checked: Checked, errors: list[dict[str, Any]]) -> dict[str, Any]:
    """A checked run as results hold it, with its errors as these do."""
    limits = ["only the beginning of the run was recorded"] if recording.is_cut else []
    limits += [f"the process {recording.process}"] if recording.process else []
    return {
        "case": recording.case.name,
        "verdict": str(recording.outcome.kind),
        "errors": errors,
        "remarks": [*checked.remarks, *limits],
    }


def _findings(found: CheckedRuns) -> Findings:
    """All of it. Where several runs did the same at a line, the first one tells it."""
    errors = [error for run in found.checked for error in run["errors"] if error["file"]]
    placed = ((Statement(error["file"], error["line"]), error) for error in errors)
    findings = Findings("memory", found.investigation.subject.name)
    findings.ranking = ranked(placed, lambda error: error["kind"], reasons)
    findings.parts["memory"] = found.checked
    findings.summary = found.summary("errors", "memory errors", _counts)
    return findings


def _counts(run: dict[str, Any]) -> list[str]:
    return [f"{plural(len(run['errors']), 'place')} with errors"] if run["errors"] else []


def reasons(errors: list[dict[str, Any]]) -> dict[str, Any]:
    """The sentences of the errors at one line."""
    reasons = [{"technique": str(error["kind"]), "text": text} for error in errors for text in error["text"]]
    return {"reasons": reasons, "text": "; ".join(reason["text"] for reason in reasons)}
