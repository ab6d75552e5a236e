"""A slice grown along implicit dependences, on an investigation: branches that skipped something that mattered."""

from __future__ import annotations

from dataclasses import dataclass

from whence.alter.faithful import FailureSignature, Unusable
from whence.alter.session import Session
from whence.dependence.slices import compute
from whence.errors import UsageError
from whence.findings import Findings
from whence.investigation.account import summary
from whence.investigation.investigation import Investigation
from whence.probe.instrument import Variant
from whence.techniques.predicate_switching.implicit_dependences import Growth, add_to, grow
from whence.techniques.slicing import Sliced, Slicing, slice_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantSlicing:
    """Slicing backward from the symptom, or from ``at``, with the implicit dependences that switching verifies.

    ``passing`` names a case whose run is sliced whether it passes or fails, which needs ``at``. ``verify``: without,
    all potential dependences are taken, and no run is altered.
    """

    at: str | None = None
    passing: str | None = None
    verify: bool = True

    def run(self, investigation: Investigation) -> Findings:
        """The grown slice's lines; the plain one's, which says why, where the run cannot be altered."""
        if investigation.setup.window:
            raise UsageError("--implicit follows all dependences backward from the start of the run, not --window")
        sliced = Slicing(at=self.at, passing=self.passing).start(investigation)
        findings = self._grown(investigation, sliced)
        findings.symptom = sliced.symptom
        findings.summary[:0] = summary(investigation.subject, investigation.runs, sliced.recording)
        return findings

    def _grown(self, investigation: Investigation, sliced: Sliced) -> Findings:
        subject, reader, start = investigation.subject, sliced.reader, sliced.start
        plain = compute(reader.trace, start.references)
        try:
            if reader.trace.is_end:  # branches are counted from the start of the run
                raise Unusable(sliced.recording.case.name, "its run is too long to record as a whole")
            growth = self._growth(investigation, sliced)
        except Unusable as error:
            findings, _ = slice_findings(reader, subject.name, start, deadline=investigation.clock.deadline)
            findings.summary.append(f"implicit dependences were not looked for: {error}")
            return findings
        findings, _ = slice_findings(
            reader, subject.name, start, found=growth.found, deadline=investigation.clock.deadline
        )
        add_to(findings, reader, growth, plain)
        return findings

    def _growth(self, investigation: Investigation, sliced: Sliced) -> Growth:
        symptom, deadline = None if self.at else sliced.symptom, investigation.clock.deadline
        if not self.verify:
            return grow(sliced.reader, sliced.start, None, symptom, deadline=deadline)
        for kind in (Variant.ALTER, Variant.REPLAY):
            investigation.build(kind)
        recording = sliced.recording
        by_itself = FailureSignature.of(recording.case, recording.result, recording.outcome)
        with (
            Session(investigation.subject, recording.case, plain=by_itself) as session,
            investigation.watcher.search("switching branches") as report,
        ):
            return grow(sliced.reader, sliced.start, session, symptom, deadline=deadline, progress=report)
