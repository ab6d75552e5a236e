"""``whence locate``: run the cases, record the shortest failing run, rank and explain the statements behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.options import FORMULAS, CaseCommand, Options, open_subject, progress, quoted, shared_options, show

if TYPE_CHECKING:
    from whence.findings import Findings
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.story import Story
    from whence.subject.subject import Subject

PASSING_RECORDED = 5  # passing runs whose values are shown beside the failing run's
LONGEST_PASSING = 1_000_000  # blocks of a passing run that is recorded for its values alone
VALUES_OF = 50  # ranked statements whose values are gathered


@click.command(cls=CaseCommand)
@shared_options
@click.option("--formula", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Of suspiciousness.")
def locate(options: Options, formula: str) -> int:
    """Rank the statements most likely at fault, and explain them.

    Without SOURCES the program and its cases are those of whence.toml.
    """
    subject = open_subject(options)
    return show(subject, run_locate(subject, options, formula), options)


def run_locate(subject: Subject, options: Options, formula: str) -> Findings:
    """All steps of the main job."""
    from whence.cli.steps import failing_rows, record_failing, run_cases, summary
    from whence.subject.recorder import Recorder
    from whence.subject.runs import coverage
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.locate import Evidence, values_part
    from whence.techniques.locate import locate as rank_statements

    runs = run_cases(subject)
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        row, recording = record_failing(subject, runs, recorder, failing_rows(subject, runs, options))
        story = Story(subject, recording.trace)
        symptom = symptom_of(recording, subject.folder)
        findings = rank_statements(Evidence(coverage(subject, runs), story, symptom), subject.name, formula)
        passing = record_passing(subject, runs, recorder, row)
    findings.parts["values"] = values_part(findings.ranking[:VALUES_OF], story, passing)
    findings.summary[:0] = summary(subject, runs, recording)
    findings.parts["next"] = next_commands(findings, options)
    return findings


def record_passing(subject: Subject, runs: Runs, recorder: Recorder, row: int) -> list[Story]:
    """Record the passing cases nearest to the failing one, for the values that their statements had.

    Those whose verdict recording changes are passed over: nothing depends on any one of them.
    """
    from whence.errors import WhenceError
    from whence.subject.runs import blocks_executed
    from whence.subject.story import Story

    lengths = blocks_executed(subject, runs)
    near = [n for n in nearest_passing(runs, row) if 0 < lengths[n] <= LONGEST_PASSING][:PASSING_RECORDED]
    stories = []
    with progress("recording passing runs", len(near)) as report:
        for done, number in enumerate(near, 1):
            tested = runs.tested[number]
            try:
                stories.append(Story(subject, recorder.record(tested.case, tested.outcome).trace))
            except WhenceError:
                continue
            finally:
                report(done, len(near))
    return stories


def nearest_passing(runs: Runs, row: int) -> list[int]:
    """Rows of the passing cases, those first whose coverage is nearest to the failing run's."""
    import numpy as np

    executed = runs.counts != 0
    distance = np.count_nonzero(executed != executed[row], axis=1)
    return sorted(runs.passing, key=lambda other: (int(distance[other]), other))


def next_commands(findings: Findings, options: Options) -> list[dict[str, str]]:
    """Commands worth trying next, with why."""
    words = options.subject_words()
    wanted = [("slice", "every line that led to the failure, with its values")]
    if findings.ranking:
        first = findings.ranking[0].statement
        wanted.append((f"slice --at {quoted(f'{first.file}:{first.line}')}", "where the first line's values came from"))
    if options.html is None:
        wanted.append(("locate --html report.html", "all of it, to click through"))
    return [{"command": f"whence {command} {words}".strip(), "why": why} for command, why in wanted]
