"""Predicate switching on an investigation: its failing runs, each branch instance of them sent the other way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from whence.alter.faithful import HELP
from whence.alter.session import Session
from whence.alter.work import Work
from whence.dependence.predicate_switching import Failing, switch
from whence.dependence.slices import symptom_start
from whence.errors import SubjectError, UsageError, WhenceError
from whence.findings import Findings
from whence.investigation.account import search_summary, summary
from whence.investigation.investigation import Investigation
from whence.subject.suspiciousness import rank_by_coverage
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.predicate_switching.findings import switch_findings

PREPARING = 0.4  # of the time of a search that has a share only, for recording further failing runs


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateSwitching:
    """Finds the branches that make failing runs pass when they go the other way.

    ``failing``: failing runs, the shortest. ``order`` (``dependence`` or ``last``): what is switched first. ``first``:
    stop at the first branch that makes a run pass.
    """

    failing: int = 5
    order: str = "dependence"
    first: bool = False

    def run(self, investigation: Investigation) -> Findings:
        """The ranking by switched branches. Raises SubjectError where no failing run can be altered."""
        if investigation.setup.window:
            raise UsageError("--window: branches are counted from the start of the run", "leave it out")
        subject, runs = investigation.subject, investigation.runs
        chosen = self._record(investigation)
        suspects = rank_by_coverage(investigation.coverage, "op2")
        with investigation.work("switching branches") as work:
            searched = switch(work, chosen, self.order, self.first)
        if not searched:
            names = ", ".join(run.case.name for run in chosen)
            raise SubjectError(f"no failing run can be altered: {names} pass in the altered variant", HELP)
        findings = switch_findings(subject.name, searched, suspects)
        findings.parts["cases"] = investigation.coverage.case_totals()
        findings.summary = [*summary(subject, runs), *findings.summary, *search_summary(work)]
        return findings

    def _record(self, investigation: Investigation) -> list[Failing]:
        """Record the shortest failing runs; those that cannot be recorded or altered are named in ``runs.left_out``.

        Raises the last one's error where none can.
        """
        runs, rows = investigation.runs, investigation.rows_alike(self.failing)
        found: list[Failing] = []
        for row in rows:
            try:
                Session(investigation.subject, runs.tested[row].case).close()  # refuses what cannot be altered
                found.append(_failing(investigation, row))
            except WhenceError as error:
                if row == rows[-1] and not found:
                    raise
                runs.left_out.append(f"not switched: {error}")
        return found


def switched(investigation: Investigation, rows: Sequence[int], work: Work) -> Findings:
    """What switching finds in the failing cases of these rows; ``runs.left_out`` says which cannot be recorded.

    Recording them has a part of the work's time: those that there is none for are left out, too.
    """
    failing: list[Failing] = []
    left = float("inf") if work.deadline is None else PREPARING * (work.deadline - time.monotonic())
    end = time.monotonic() + left
    for row in rows:
        if failing and time.monotonic() > end:
            name = investigation.runs.tested[row].case.name
            investigation.runs.left_out.append(f"not switched: no time to record {name}: --budget 5m")
            continue
        try:
            failing.append(_failing(investigation, row))
        except SubjectError as error:
            investigation.runs.left_out.append(f"not switched: {error}")
    suspects = rank_by_coverage(investigation.coverage, "op2")
    return switch_findings(investigation.subject.name, switch(work, failing), suspects)


def _failing(investigation: Investigation, row: int) -> Failing:
    """A failing case with its recording. Raises SubjectError where recording changes its verdict."""
    recording = investigation.record_departing(row)
    start = symptom_start(symptom_of(recording, investigation.subject.folder))
    reader = TraceReader(investigation.subject, recording.trace)
    return Failing.of(reader, recording.case, start.references, recording.departure)
