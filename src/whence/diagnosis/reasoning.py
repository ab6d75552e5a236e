"""What ``whence locate`` finds by reasoning: correction sets of failing runs, and why the first had to fail."""

from __future__ import annotations

import time
from collections.abc import Sequence

from whence.alter.work import Work
from whence.findings import Findings, Symptom
from whence.investigation.investigation import Investigation
from whence.subject.recorder import Recording
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.findings import Options, causes
from whence.techniques.formula_based.ranking import findings
from whence.techniques.formula_based.technique import prepare, solve

FAILING = 5  # failing runs of which formulas are made, the shortest
TREE = 5.0  # seconds that a cause tree may take
LEVELS = 4  # of a tree


def correction_sets(investigation: Investigation, rows: Sequence[int], work: Work, seconds: float) -> Findings:
    """The statements whose change can make failing runs right, with the values that they had to have.

    ``work`` tries repairs, and its deadline holds, after so many ``seconds`` at the latest.
    Of which runs no formula can be made is said in ``runs.left_out``.
    """
    name = investigation.subject.name
    left = seconds if work.deadline is None else max(0.0, min(seconds, work.deadline - time.monotonic()))
    if not left:
        return Findings("formula", name, summary=["no time was left for formulas: --budget 5m"])
    with work.share(1.0 if work.deadline is None else left / max(work.deadline - time.monotonic(), left)):
        prepared = prepare(investigation, rows[:FAILING], work)
        if not prepared.failing:
            return Findings("formula", name)
        found = solve(prepared, investigation, work, size=1)
    return findings(name, found, prepared.suspects, (), prepared.symptom)


def cause_tree(reader: TraceReader, symptom: Symptom, recording: Recording, seconds: float) -> Findings:
    """The lines of a failing run's cause tree, by level. Raises SubjectError where the symptom has no place."""
    return causes(reader, symptom, recording, Options(depth=LEVELS, budget=seconds))
