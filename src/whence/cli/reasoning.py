"""What ``whence locate`` finds by reasoning: correction sets of failing runs, and why the first had to fail."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whence.alter.work import Work
    from whence.findings import Findings
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING = 5  # failing runs of which formulas are made, the shortest
SECONDS = 15.0  # that formulas may take
TREE = 5.0  # seconds that a cause tree may take
LEVELS = 4  # of a tree
TAKEN = ("not in the formulas: ", "taken as recorded: ")  # what only the commands of their own tell


def reason(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> Iterator[Findings]:
    """What formulas of the failing cases in ``rows`` say, and the cause tree of the first.

    ``work`` tries repairs, and its deadline holds. Where there is no cause tree, the summary says why.
    """
    from whence.errors import SubjectError
    from whence.findings import Findings

    for step in (_sets, _tree):
        if work.stopped:
            return
        try:
            found = step(subject, runs, rows, recorder, work)
            found.summary = [line for line in found.summary if not line.startswith(TAKEN)]
            yield found
        except SubjectError as error:
            yield Findings("reasoning", subject.name, summary=[f"no cause tree: {error}"])


def _sets(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> Findings:
    """The statements whose change can make failing runs right, with the values that they had to have.

    Of which runs no formula can be made is said in ``runs.left_out``.
    """
    from whence.cli.formula import prepare, solve
    from whence.findings import Findings
    from whence.techniques.correction.ranking import findings

    left = _left(work, SECONDS)
    if not left:
        return Findings("formula", subject.name, summary=["no time was left for formulas: --budget 5m"])
    with work.share(left / max(_left(work, float("inf")), left)):
        prepared = prepare(subject, runs, rows[:FAILING], recorder, work)
        if not prepared.failing:
            return Findings("formula", subject.name)
        found = solve(prepared, runs, work, size=1)
    return findings(subject.name, found, prepared.suspects, (), prepared.symptom)


def _tree(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> Findings:
    """The lines of the first failing run's cause tree, by level."""
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.causes.causes import Options, causes

    tested = runs.tested[rows[0]]
    recording = recorder.record(tested.case, tested.outcome)
    options = Options(depth=LEVELS, budget=_left(work, TREE))
    return causes(Story(subject, recording.trace), symptom_of(recording, subject.folder), recording, options)


def _left(work: Work, most: float) -> float:
    """The seconds that are left of the search's time, at most so many."""
    return most if work.deadline is None else max(0.0, min(most, work.deadline - time.monotonic()))
