"""The searches of ``whence locate`` that alter runs, the most promising first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whence.alter.work import Work
    from whence.dependence.predicate_switching import Failing
    from whence.findings import Findings
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING = 5  # failing cases, the shortest runs
SHARE = 0.6  # of the time that is left, for each search but the last


class Step(NamedTuple):
    """A search: its name, what is being done (after "while it was"), its share of the time that is left."""

    name: str
    doing: str
    share: float
    search: Callable[[], Findings]


def searches(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> tuple[Step, ...]:
    """The searches for rules, branch switches and value pairs on the failing cases in these rows of ``runs``.

    ``recorder`` gives the traces that the order of the branches needs.
    """
    rows = list(rows)[:FAILING]
    return (
        Step("rules", "trying rules", SHARE, lambda: _rules(subject, runs, rows, work)),
        Step("switch", "switching branches", SHARE, lambda: _switches(subject, runs, rows, recorder, work)),
        Step("values", "replacing values", 1.0, lambda: _values(subject, runs, rows, work)),
    )


def rules_and_values(subject: Subject, runs: Runs, rows: Sequence[int], work: Work) -> list[Findings]:
    """What rules and value replacement find, where branches have been switched already."""
    found = []
    if not work.stopped:
        with work.share(SHARE):
            found.append(_rules(subject, runs, rows, work))
    if not work.stopped:
        found.append(_values(subject, runs, list(rows)[:FAILING], work))
    return found


def _rules(subject: Subject, runs: Runs, rows: Sequence[int], work: Work) -> Findings:
    from whence.techniques.rules.rules import rules

    return rules(subject, runs, work, among=rows)


def _switches(subject: Subject, runs: Runs, rows: Sequence[int], recorder: Recorder, work: Work) -> Findings:
    from whence.dependence.predicate_switching import switch
    from whence.subject.runs import coverage
    from whence.techniques.predicate_switching.findings import switch_findings
    from whence.techniques.spectrum import spectrum

    failing = [found for row in rows if (found := _failing(subject, runs, row, recorder))]
    suspects = spectrum(coverage(subject, runs), formula="op2", subject=subject.name)
    return switch_findings(subject.name, switch(work, failing), suspects.ranking)


def _failing(subject: Subject, runs: Runs, row: int, recorder: Recorder) -> Failing | None:
    """A failing case with its recording; None where recording changes its verdict."""
    from whence.dependence.predicate_switching import Failing
    from whence.dependence.slices import symptom_start
    from whence.errors import SubjectError
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of

    tested = runs.tested[row]
    try:
        recording = recorder.record(tested.case, tested.outcome)
    except SubjectError as error:
        runs.left_out.append(f"not switched: {error}")
        return None
    start = symptom_start(symptom_of(recording, subject.folder))
    return Failing.of(Story(subject, recording.trace), tested.case, start.references)


def _values(subject: Subject, runs: Runs, rows: Sequence[int], work: Work) -> Findings:
    from whence.subject.runs import coverage
    from whence.techniques.replacement.values import search, values

    cases = [runs.tested[row].case for row in rows]
    others = [tested.case for row, tested in enumerate(runs.tested) if row not in rows]
    return values(subject, search(subject, cases, others, work), coverage(subject, runs))
