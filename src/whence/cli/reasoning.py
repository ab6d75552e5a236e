"""What ``whence locate`` finds by reasoning: correction sets of failing runs, and why the first had to fail."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.alter.work import Work
    from whence.findings import Findings, Symptom
    from whence.subject.recorder import Recorder, Recording
    from whence.subject.runs import Runs
    from whence.subject.story import Story
    from whence.subject.subject import Subject

FAILING = 5  # failing runs of which formulas are made, the shortest
SECONDS = 15.0  # that formulas may take
TREE = 5.0  # seconds that a cause tree may take
LEVELS = 4  # of a tree


def correction_sets(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> Findings:
    """The statements whose change can make failing runs right, with the values that they had to have.

    ``work`` tries repairs, and its deadline holds. Of which runs no formula can be made is said in ``runs.left_out``.
    """
    from whence.cli.formula import prepare, solve
    from whence.findings import Findings
    from whence.techniques.correction.ranking import findings

    left = SECONDS if work.deadline is None else max(0.0, min(SECONDS, work.deadline - time.monotonic()))
    if not left:
        return Findings("formula", subject.name, summary=["no time was left for formulas: --budget 5m"])
    with work.share(1.0 if work.deadline is None else left / max(work.deadline - time.monotonic(), left)):
        prepared = prepare(subject, runs, rows[:FAILING], recorder, work)
        if not prepared.failing:
            return Findings("formula", subject.name)
        found = solve(prepared, runs, work, size=1)
    return findings(subject.name, found, prepared.suspects, (), prepared.symptom)


def cause_tree(story: Story, symptom: Symptom, recording: Recording, seconds: float) -> Findings:
    """The lines of a failing run's cause tree, by level. Raises SubjectError where the symptom has no place."""
    from whence.techniques.causes.causes import Options, causes

    return causes(story, symptom, recording, Options(depth=LEVELS, budget=seconds))
