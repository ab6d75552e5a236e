"""The first corruption of memory: what Execution Suppression finds, with the data races at what failures came of
(figure 6.1), beside the first error of the memory check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whence.diagnosis.racing_definitions import races_of
from whence.errors import WhenceError
from whence.findings import Entry, Findings, Statement
from whence.run.schedule import DEFAULT
from whence.subject.subject import with_cases
from whence.techniques.execution_suppression.technique import SuppressedExecutions
from whence.techniques.memory.technique import MemoryErrors

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSuppression:
    """Suppresses what a failure came of until none is left, or a data race is found at it.

    The case is the one that the setup names, else the first that crashes, else the first that fails. With ``reorder``
    variables are laid out anew to make further corruption crash, also where no case fails: then it is the first case.
    """

    reorder: bool = False

    def run(self, investigation: Investigation) -> Findings:
        """What is found in the case; each entry says where the memory check of the same run agrees, or differs.

        Raises what ``SuppressedExecutions`` raises. Where the check cannot be made, a line of the summary says so.
        """
        return suppressed_and_checked(investigation, SuppressedExecutions(self.reorder, races_of))


def suppressed_and_checked(investigation: Investigation, technique: SuppressedExecutions) -> Findings:
    """What suppression finds, beside the memory check of the same run: of a program with threads in the same order."""
    findings = investigation.find(technique)
    investigation.watcher.best(findings, investigation.subject.folder)
    before, subject, part = investigation.setup, investigation.subject, findings.parts["suppression"]
    investigation.setup = replace(before, case=str(part["case"]))
    if part["schedule"] is not None:
        cases = [replace(case, schedule=case.schedule or DEFAULT) for case in subject.cases]
        investigation.subject = with_cases(subject, cases)
    try:
        checked = investigation.find(MemoryErrors())
        if not _errors(checked):
            checked = _at_first(findings, investigation.find(MemoryErrors(members=True)))
    except WhenceError as error:
        findings.summary.append(f"not compared with the memory check: {error}")
        return findings
    finally:
        investigation.setup, investigation.subject = before, subject
    return compared(findings, checked)


def _errors(checked: Findings) -> list[dict[str, Any]]:
    """The errors that the memory check found in the case's run."""
    return checked.parts["memory"][0]["errors"] if checked.parts.get("memory") else []


def _at_first(findings: Findings, checked: Findings) -> Findings:
    """What a check finds inside of structures, where suppression ended: some programs mean to write beyond a member."""
    if runs := checked.parts.get("memory"):
        first = {(entry.statement.file, entry.statement.line) for entry in findings.ranking[:1]}
        kept = [error for error in _errors(checked) if (error["file"], error["line"]) in first]
        checked.parts["memory"] = [runs[0] | {"errors": kept}, *runs[1:]]
    return checked


def compared(findings: Findings, checked: Findings) -> Findings:
    """The findings of suppression with those of the memory check beside them."""
    first = next((error for error in _errors(checked) if error["file"]), None)
    findings.parts["memory"] = checked.parts["memory"]
    if first is None:
        findings.parts["suppression"]["agrees"] = None
        findings.summary.append("the memory check of the same run finds no error")
        return findings
    statement = Statement(first["file"], first["line"])
    agrees = bool(findings.ranking) and findings.ranking[0].statement == statement
    findings.parts["suppression"]["agrees"] = agrees
    found = next((entry for entry in findings.ranking if entry.statement == statement), None)
    if found is not None:
        what = (
            "the memory check agrees, its first error is here" if agrees else "the memory check's first error is here"
        )
        _add(found, first, what)
        return findings
    entry = Entry(statement, 0.0, len(findings.ranking) + 1, len(findings.ranking) + 1)
    _add(entry, first, "not suppressed, but the memory check's first error")
    findings.ranking.append(entry)
    return findings


def _add(entry: Entry, error: dict[str, Any], what: str) -> None:
    """Put what the memory check says behind what an entry says."""
    text = f"{what}: {error['kind']}: {error['text'][0]}"
    reasons = [*entry.evidence.get("reasons", []), {"technique": "memory", "text": text}]
    entry.evidence |= {"reasons": reasons, "text": "; ".join(reason["text"] for reason in reasons)}
