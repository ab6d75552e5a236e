"""``whence formula``: which statements' change can make failing runs right, found by a solver, and the right values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from whence.cli.options import (
    FORMULAS,
    CaseCommand,
    Options,
    Search,
    open_subject,
    search_options,
    shared_options,
    show,
)

if TYPE_CHECKING:
    from whence.findings import Entry, Statement
    from whence.formula.encoder import Encoder
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject
    from whence.techniques.correction.formula import FailingRun, Run

SECONDS = 60.0
ENCODING = 0.3  # of the time, after which no more passing runs are encoded
MOST_BLOCKS = 5_000  # of a passing run that is looked at
PASSING = 50  # cases whose values a repair must not contradict


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option("--size", default=2, type=click.IntRange(1, 3), show_default=True, help="Statements in a set at most.")
@click.option("--weights", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Order of equals.")
def formula(options: Options, search: Search, failing: int, size: int, weights: str) -> int:
    """Find the statements whose change can make failing runs right, and the values they had to have.

    Each failing run becomes a formula; a solver finds the smallest sets of statements without which the right result
    is possible. Branches are sent the other way in altered runs, and repairs are tried in them.
    """
    from dataclasses import replace

    from whence.cli.options import first_use
    from whence.cli.steps import failing_rows, open_work, run_cases, search_summary, summary
    from whence.techniques.correction.localisation import Options as Settings
    from whence.techniques.correction.localisation import findings
    from whence.techniques.correction.localisation import search as find_sets

    subject = open_subject(options)
    runs = run_cases(subject)
    rows = failing_rows(subject, runs, options)[:failing]
    search = replace(search, budget=SECONDS if search.budget is None else search.budget)
    with open_work(subject, search, "altered runs") as work, first_use():
        seconds = search.budget or SECONDS
        deadline = time.monotonic() + seconds
        chosen, passing, weight, suspects = prepare(
            subject, runs, rows, weights, seconds, options.trace_limit, options.window
        )
        settings = Settings(size=size, deadline=deadline)
        found = findings(subject.name, find_sets(chosen, passing, weight, work, settings), suspects)
    found.summary[:0] = summary(subject, runs)
    found.summary += search_summary(work)
    return show(subject, found, options)


def prepare(
    subject: Subject,
    runs: Runs,
    rows: Sequence[int],
    weights: str,
    seconds: float = SECONDS,
    limit: int | None = None,
    window: int | None = None,
) -> tuple[list[FailingRun], list[Run], dict[Statement, float], list[Entry]]:
    """What a search of so many seconds needs: failing runs in these rows and passing ones, encoded; weights; suspects.

    Runs of which no formula can be made are named in ``runs.left_out``. Raises SubjectError where no failing one is
    left.
    """
    from whence.errors import SubjectError
    from whence.formula.encoder import Encoder
    from whence.subject.recorder import Recorder
    from whence.subject.runs import coverage
    from whence.techniques.spectrum import spectrum

    began = time.monotonic()
    suspects = spectrum(coverage(subject, runs), formula=weights, subject=subject.name).ranking
    found, refused, encoder = [], list[SubjectError](), Encoder(subject.program, subject.plan)
    with Recorder(subject, limit, window) as recorder:
        for row in rows:
            try:
                found.append(_failing(subject, runs, row, recorder, encoder))
            except SubjectError as error:
                refused.append(error)
                runs.left_out.append(f"no formula of `{runs.tested[row].case.name}`: {error}")
        if not found:
            raise refused[0]
        passing = []
        for run in _passing(subject, runs, recorder, encoder):
            passing.append(run)
            if time.monotonic() - began > ENCODING * seconds:
                break
    highest = max((entry.score for entry in suspects), default=0.0)
    lowest = min((entry.score for entry in suspects), default=0.0)
    weight = {e.statement: (highest - e.score) / ((highest - lowest) or 1.0) for e in suspects}
    return found, passing, weight, suspects


def _failing(subject: Subject, runs: Runs, row: int, recorder: Recorder, encoder: Encoder) -> FailingRun:
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.correction.formula import FailingRun

    tested = runs.tested[row]
    recording = recorder.record(tested.case, tested.outcome)
    story = Story(subject, recording.trace)
    return FailingRun(story, recording, symptom_of(recording, subject.folder), encoder)


def _passing(subject: Subject, runs: Runs, recorder: Recorder, encoder: Encoder) -> Iterator[Run]:
    """The shortest passing runs; those that cannot be recorded tell nothing."""
    from whence.errors import SubjectError
    from whence.subject.runs import blocks_executed
    from whence.subject.story import Story
    from whence.techniques.correction.formula import Run

    lengths = blocks_executed(subject, runs)
    for row in sorted(runs.passing, key=lambda row: (lengths[row] == 0, lengths[row]))[:PASSING]:
        tested = runs.tested[row]
        if lengths[row] > MOST_BLOCKS:
            return
        try:
            recording = recorder.record(tested.case, tested.outcome)
            yield Run(Story(subject, recording.trace), recording, (), encoder)
        except SubjectError as error:
            runs.left_out.append(f"not compared: {error}")
