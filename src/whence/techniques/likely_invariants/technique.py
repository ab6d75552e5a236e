"""Likely invariants on an investigation: what held in good runs and not in the failing one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.errors import SubjectError
from whence.findings import Findings
from whence.inputs.close import CloseInputs
from whence.inputs.oracle import Criteria, pattern
from whence.investigation.account import ALONE, summary
from whence.investigation.close_cases import make_close, what_was_made
from whence.investigation.investigation import Investigation
from whence.run.cases import Case
from whence.subject.initial_values import InitialValues
from whence.subject.runs import block_counts
from whence.techniques.likely_invariants.collect import collect
from whence.techniques.likely_invariants.diagnosis import Options, diagnose
from whence.techniques.likely_invariants.kinds import PAPER, Kind, Settings
from whence.techniques.likely_invariants.runs import Observer, Run
from whence.techniques.likely_invariants.training import Choice

MAKING, RECORDING = 0.5, 0.6  # of the time that is left, for making inputs, and then for recording runs
FAILING = 5  # failing runs whose values are compared with those of passing ones, within a diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyInvariants:
    """Ranks statements by values and ways that failing runs have and good ones have not.

    ``paper``: as the paper has it. ``kinds``: names of kinds of invariants. ``promote``: none on locals whose address
    is not taken. ``training``: which good runs are learnt from (None: as suits). ``number``: good and failing runs.
    ``generate``: make inputs close to the failing one (None: where few cases pass). ``channel``: what of the input
    changes, ``reference``: a program that is right, ``still``: a pattern of what is wrong in the output.
    """

    paper: bool = False
    kinds: tuple[str, ...] = ("range", "executed", "branch")
    promote: bool = False
    training: str | None = None
    number: int = 8
    generate: bool | None = None
    channel: str | None = None
    reference: Path | None = None
    still: str | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by broken invariants. Raises SubjectError where there is no good run, and none can be made."""
        rows = investigation.rows_alike(self.number)
        runs = investigation.runs
        case = runs.tested[rows[0]].case
        few = len(runs.passing) < self.number and case.command is None
        lines, close = summary(investigation.subject, runs), None
        if self.generate or (self.generate is None and (self.paper or few)):
            try:
                close = self._close_inputs(investigation, case)
                lines = [line for line in lines if not line.startswith(ALONE)] + what_was_made(case, close)
            except SubjectError as error:
                if self.generate or not runs.passing:
                    raise
                lines.append(f"no inputs were made: {error}")
        watcher, end = investigation.watcher, investigation.clock.within(RECORDING)
        observer = Observer(investigation.subject, investigation.recorder)
        total = len(rows[: self.number]) + len(runs.passing)
        with watcher.progress("recording runs", total) as report, watcher.first_use():
            found = collect(observer, runs, rows, self.number, close=close, deadline=end, progress=report)
            findings = diagnose(observer, found.failing, found.good, self._options())
        findings.summary = [*lines, *found.left_out, *findings.summary]
        return findings

    def _options(self) -> Options:
        chosen = PAPER if self.paper else Kind(sum(Kind[kind.upper()] for kind in self.kinds))
        choice = Choice(self.training) if self.training else Choice.EDITS if self.paper else Choice.MIXTURE
        settings = Settings(chosen, self.promote, plain=self.paper, control=self.paper)
        return Options(settings, choice, self.number, self.paper)

    def _close_inputs(self, investigation: Investigation, case: Case) -> CloseInputs:
        """Good and failing inputs close to the failing case's. Raises what ``close_inputs`` raises."""
        still = pattern("--still", self.still) if self.still else None
        criteria = Criteria(self.reference and self.reference.absolute(), (), still)
        end = investigation.clock.within(MAKING)
        return make_close(investigation, case, end, number=self.number, channel=self.channel, criteria=criteria)


def compared_values(
    investigation: Investigation, rows: Sequence[int], seconds: float, initial: InitialValues
) -> Findings:
    """The ranking by values and ways that the failing runs of these rows have and passing ones have not.

    Half of the ``seconds`` is for recording the runs. The ``initial`` values that they read are added to those known.
    What passing cases executed counts for all of them, recorded or not.
    """
    observer = Observer(investigation.subject, investigation.recorder, initial)
    with investigation.watcher.progress("comparing values", 0) as report:
        end = time.monotonic() + seconds / 2
        found = collect(observer, investigation.runs, rows, FAILING, deadline=end, progress=report)
    findings = diagnose(observer, found.failing, found.good, Options(), _not_recorded(investigation, found.good))
    findings.summary = [
        f"compared the values of {len(found.failing)} failing and {len(found.good)} passing runs",
        *findings.summary,
    ]
    findings.remarks += found.left_out
    return findings


def _not_recorded(investigation: Investigation, good: Sequence[Run]) -> list[NDArray[np.int64]]:
    """The blocks that each passing run executed which was not recorded."""
    runs, recorded = investigation.runs, {run.case.name for run in good}
    counts = block_counts(investigation.subject, runs)
    return [np.flatnonzero(counts[row]) for row in runs.passing if runs.tested[row].case.name not in recorded]
