"""Failure-inducing chains, with the run that a failing run is compared with: what other techniques found patches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whence.diagnosis.reference_search import PATCHES, REPAIRS, Choice, ReferenceSearch
from whence.errors import SubjectError
from whence.findings import Findings
from whence.investigation.account import summary
from whence.probe.instrument import Variant
from whence.subject.good_version import good_version
from whence.techniques.chains.reference import Kind, Reference
from whence.techniques.chains.technique import chain_findings, refuse_early

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

ALGORITHM = "dependence"


@dataclass(frozen=True, slots=True)
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
    if it holds more.
    """
    short: Findings | None = None
    behind = -1
    while (best := search.best(behind)) is not None:
        behind, reference = best
        if short is not None and reference.kind is Kind.CASE:
            break
        try:
            found = chain_findings(investigation, row, recording, reference, algorithm)
        except SubjectError:
            if short is None:
                raise
            break
        is_short = len(found.parts["chain"]["steps"]) <= 1
        if not is_short or (short is None and reference.kind is not Kind.SWITCH):
            return found
        short = short or found
        incomplete = found.parts["chain"]["incomplete"]
        search.remarks.append(f"compared with {reference.text}: {incomplete or 'no value that differs was needed'}")
    return short


def patched_chain(
    investigation: Investigation, row: int, recording: Recording, found: Sequence[Findings] = ()
) -> Findings:
    """The chain of a failing case against itself, patched: nothing but a line of the summary where nothing patches it.

    Where the rules are among what was ``found`` before, a repair is looked for only if they hold one. Raises
    SubjectError where the runs cannot be compared.
    """
    refuse_early(investigation)
    rules = next((one.parts["rules"] for one in found if one.technique == "rules"), None)
    is_in_vain = rules is not None and not any(row["score"] >= REPAIRS and not row["doubt"] for row in rules)
    search = ReferenceSearch.of(investigation, row, recording, PATCHES[is_in_vain:])
    chain = telling_chain(investigation, row, recording, search, ALGORITHM)
    if chain is None:
        text = "no chain of values: nothing that was tried makes the failing run pass"
        return Findings("chain", investigation.subject.name, summary=[text])
    return chain


def _version(investigation: Investigation, path: Path, recording: Recording) -> Reference:
    with investigation.clock.standing():
        version = good_version(path, investigation.subject, recording.case)
        version.variant(Variant.REPLAY)
    return Reference(Kind.VERSION, f"the good version {path}", version=version)
