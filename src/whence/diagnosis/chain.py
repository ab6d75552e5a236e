"""Failure-inducing chains, with the run that a failing run is compared with: what other techniques found patches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.diagnosis.edited_program import edited_program
from whence.diagnosis.reference_search import PATCHES, REPAIRS, Choice, ReferenceSearch
from whence.diagnosis.suggested import NOTHING, Suggested
from whence.diagnosis.tried_edits import FAMILY
from whence.errors import SubjectError, WhenceError
from whence.findings import Findings, Statement
from whence.investigation.account import summary
from whence.investigation.clock import OutOfTime, alarm
from whence.probe.instrument import Variant
from whence.subject.edited import Edit
from whence.subject.good_version import good_version
from whence.techniques.chains.reference import Kind, Reference, ReferenceFails
from whence.techniques.chains.technique import chain_findings, refuse_early, refuse_threads

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

ALGORITHM = "dependence"
BUILDING = 0.7  # of the time that is left, for building the program with an edit


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureInducingChain:
    """How a failure came about: the faulty values from the first one to the symptom, each needed for the next.

    ``algorithm``: ``dependence`` (Algorithm 2), ``hierarchical`` (Algorithm 1), either with ``-printed`` for the
    paper's way without short cuts, or ``linear``: all points one by one. All give the same chain.
    ``reference``: what the failing run is compared with: itself, patched (``switch``, ``rule``, ``pair``), the program
    with an ``edit`` of its source, the nearest passing ``case``, or a good version of the program: the path of a
    folder, C file or executable. By default the first of these kinds that there is.
    """

    algorithm: str = ALGORITHM
    reference: str | Path | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The statements of the chain in order of time.

        Raises SubjectError where no case fails, or no run is found to compare with; UsageError for ``window``.
        """
        refuse_early(investigation)
        row, recording = investigation.record_failing(investigation.failing_rows())
        refuse_threads(recording.case, recording.trace)
        if recording.case.command is not None:
            raise SubjectError(
                f"{recording.case.name} runs a command: states are looked at in runs of the program itself",
                "give one of its runs of the program as a case: --fails 'ARGUMENTS' --expect 'OUTPUT'",
            )
        remarks: list[str] = []
        if self.reference is not None and self.reference not in set(Kind) - {Kind.VERSION}:
            reference = _version(investigation, Path(self.reference), recording)
            findings: Findings | None = chain_findings(investigation, row, recording, reference, self.algorithm)
        else:
            choices = [choice for choice in Choice if self.reference in (None, choice.kind)]
            search = ReferenceSearch.of(investigation, row, recording, choices)
            findings, remarks = telling_chain(investigation, row, recording, search, self.algorithm), search.remarks
        if findings is None:
            tried = "".join(f"\n{remark}" for remark in remarks)
            raise SubjectError(
                f"no run to compare {recording.case.name} with",
                f"name a good version of the program with --reference, or a smaller input{tried}",
            )
        findings.summary = [*summary(investigation.subject, investigation.runs), *remarks, *findings.summary]
        return findings


def telling_chain(
    investigation: Investigation, row: int, recording: Recording, search: ReferenceSearch, algorithm: str
) -> Findings | None:
    """The chain of a failing case with the preferred reference run that was found; None where there is no such run.

    A branch that is switched may be all that its chain holds: where it decides what is printed, and no value that
    differs was needed for it. Another patch may lie farther from the failure, so it is looked for, and its chain taken
    if it holds more. So it is where a chain against an edit holds nothing: what code that was put in does has no
    counterpart in the failing run. Raises ReferenceFails where the case fails with all that was found.
    """
    short: Findings | None = None
    refused: ReferenceFails | None = None
    behind = -1
    while (best := search.best(behind)) is not None:
        behind, reference = best
        if short is not None and reference.kind is Kind.CASE:
            break
        try:
            found = chain_findings(investigation, row, recording, reference, algorithm)
        except ReferenceFails as error:  # what it does hangs on what the compiler makes of undefined code
            refused = refused or error
            search.remarks.append(f"not compared with {reference.text}: {error}")
            continue
        except SubjectError:
            if short is None:
                raise
            break
        steps = len(found.parts["chain"]["steps"])
        may_be_all = reference.kind is Kind.SWITCH or (reference.kind is Kind.EDIT and not steps)
        if steps > 1 or (short is None and not may_be_all):
            return found
        if short is None or steps > len(short.parts["chain"]["steps"]):
            short = found
        incomplete = found.parts["chain"]["incomplete"]
        search.remarks.append(f"compared with {reference.text}: {incomplete or 'no value that differs was needed'}")
    if short is None and refused is not None:
        raise refused
    return short


def patched_chain(
    investigation: Investigation,
    row: int,
    recording: Recording,
    found: Sequence[Findings] = (),
    suggested: Suggested = NOTHING,
) -> Findings:
    """The chain of a failing case against itself, patched: nothing but a line of the summary where nothing patches it.

    What is ``suggested`` first patches it, where that is an edit of the source. Where the rules are among what was
    ``found`` before, a repair is looked for only if they hold one. Raises SubjectError where the runs cannot be
    compared.
    """
    refuse_early(investigation)
    remarks: list[str] = []
    if suggested.edit is not None:
        try:
            return _against_edit(investigation, row, recording, suggested.edit)
        except (WhenceError, OSError, OutOfTime) as error:
            why = "there was no time" if isinstance(error, OutOfTime) else str(error)
            remarks = [f"no chain against the program with {suggested.edit['rule']}: {why}"]
    rules = next((one.parts["rules"] for one in found if one.technique == "rules"), None)
    is_in_vain = rules is not None and not any(_is_repair(rule) for rule in rules)
    search = ReferenceSearch.of(investigation, row, recording, PATCHES[is_in_vain:], suggested)
    chain = telling_chain(investigation, row, recording, search, ALGORITHM)
    if chain is None:
        late = "" if search.is_over else ", in the time that there was for it"
        what = "nothing else" if remarks else "nothing"
        text = f"no chain of values: {what} that was tried makes the failing run pass{late}"
        return Findings("chain", investigation.subject.name, summary=[*remarks, text])
    chain.summary = [*remarks, *chain.summary]
    return chain


def _is_repair(rule: Mapping[str, Any]) -> bool:
    """Whether an entry of the part ``rules`` changes runs so that (nearly) all failing cases pass."""
    return bool(rule["score"] >= REPAIRS and not rule["doubt"] and rule["family"] != FAMILY)


def _against_edit(investigation: Investigation, row: int, recording: Recording, edit: Mapping[str, Any]) -> Findings:
    """The chain of a failing case against the program with an edit, an entry of the part ``rules``.

    A share of the time that is left is there for building it. Raises OutOfTime where that does not do.
    """
    subject, at = investigation.subject, Statement(edit["file"], edit["line"])
    text = Edit(at.file, at.line, edit["before"], edit["after"]).applied(subject.folder)
    with alarm(BUILDING * investigation.clock.left):
        reference = edited_program(subject, at, text, edit["rule"])
    return chain_findings(investigation, row, recording, reference, ALGORITHM)


def _version(investigation: Investigation, path: Path, recording: Recording) -> Reference:
    with investigation.clock.standing():
        version = good_version(path, investigation.subject, recording.case)
        version.variant(Variant.REPLAY)
    return Reference(Kind.VERSION, f"the good version {path}", version=version)
