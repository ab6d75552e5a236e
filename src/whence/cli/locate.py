"""``whence locate``: run the cases, record the shortest failing run, rank and explain the statements behind it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from whence.cli.options import (
    FORMULAS,
    CaseCommand,
    Options,
    Search,
    open_subject,
    progress,
    quoted,
    search_options,
    shared_options,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.findings import Findings
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.story import Story
    from whence.subject.subject import Subject

PASSING_RECORDED = 5  # passing runs whose values are shown beside the failing run's
LONGEST_PASSING = 1_000_000  # blocks of a passing run that is recorded for its values alone
FAILING = 5  # failing runs whose values are compared with those of passing ones
COMPARING = 20.0  # seconds that recording runs for that may take
BUDGET = 60.0  # seconds of altering runs and reasoning, where the options say nothing
ALTERING = 0.7  # of them for altered runs, at most
VALUES_OF = 50  # ranked statements whose values are gathered


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--formula", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Of suspiciousness.")
@click.option(
    "--alter/--no-alter", default=True, help="Change the failing runs, for a minute at most by default [yes]."
)
@click.option("--generate/--no-generate", default=True, help="Make inputs close to the failing one if no case passes.")
def locate(options: Options, search: Search, formula: str, alter: bool, generate: bool) -> int:
    """Rank the statements most likely at fault, and explain them.

    Without SOURCES the program and its cases are those of whence.toml. The failing run is recorded and sliced; then the
    failing runs are run again with changed branches, operators and values, and what makes them pass comes first.
    """
    search.budget = search.budget or BUDGET
    subject = open_subject(options)
    return show(subject, run_locate(subject, options, search if alter else None, formula, generate), options)


def run_locate(
    subject: Subject, options: Options, search: Search | None, formula: str, generate: bool = True
) -> Findings:
    """All steps of the main job; ``generate``: cases are made where none passes."""
    from whence.cli.made import with_made_cases
    from whence.cli.steps import failing_rows, record_failing, run_cases, summary
    from whence.subject.recorder import Recorder
    from whence.subject.runs import coverage
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.fusion import fuse
    from whence.techniques.locate import Evidence, values_part
    from whence.techniques.locate import locate as rank_statements

    runs, made = run_cases(subject), list[str]()
    rows = failing_rows(subject, runs, options)
    if generate and not runs.passing and runs.tested[rows[0]].case.command is None:
        subject, runs, made = with_made_cases(subject, runs, rows[0])
        rows = [*rows, *(row for row in failing_rows(subject, runs, options) if row not in rows)]  # the user's first
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        row, recording = record_failing(subject, runs, recorder, rows)
        story = Story(subject, recording.trace)
        symptom = symptom_of(recording, subject.folder)
        findings = rank_statements(Evidence(coverage(subject, runs), story, symptom), subject.name, formula)
        rows = [row, *(other for other in rows if other != row)]
        findings = fuse(findings, list(further_findings(subject, runs, rows, recorder, search)))
        passing = record_passing(subject, runs, recorder, row)
    findings.parts["values"] = values_part(findings.ranking[:VALUES_OF], story, passing)
    findings.summary[:0] = [*made, *summary(subject, runs, recording)]
    findings.parts["next"] = next_commands(findings, options)
    return findings


def further_findings(
    subject: Subject, runs: Runs, rows: list[int], recorder: Recorder, search: Search | None
) -> Iterator[Findings]:
    """What likely invariants and altered runs show of the failing cases in ``rows``; the first of them is explained."""
    from whence.findings import Findings

    if any(runs.tested[row].case.command is not None for row in rows):
        text = "no values were compared and no run was altered: the cases are commands, which may run anything"
        yield Findings("locate", subject.name, summary=[text])
        return
    if runs.passing:
        yield compare_values(subject, runs, rows, recorder)
    if search is not None:
        yield from alter_runs(subject, runs, rows, recorder, search)


def compare_values(subject: Subject, runs: Runs, rows: list[int], recorder: Recorder) -> Findings:
    """The ranking by values and ways that failing runs have and passing ones have not."""
    from whence.techniques.invariants.collect import collect
    from whence.techniques.invariants.diagnosis import Options, diagnose
    from whence.techniques.invariants.runs import Observer

    observer = Observer(subject, recorder)
    with progress("comparing values", 0) as report:
        found = collect(observer, runs, rows, FAILING, deadline=time.monotonic() + COMPARING, progress=report)
    findings = diagnose(observer, found.failing, found.good, Options())
    findings.summary = [
        f"compared the values of {len(found.failing)} failing and {len(found.good)} passing runs",
        *findings.summary,
    ]
    return findings


def alter_runs(subject: Subject, runs: Runs, rows: list[int], recorder: Recorder, search: Search) -> list[Findings]:
    """What altered runs and formulas of the failing cases in ``rows`` show; the last summary tells how much was run."""
    from whence.cli.altering import search_all
    from whence.cli.reasoning import reason
    from whence.cli.steps import open_work, search_summary
    from whence.findings import Findings

    with open_work(subject, runs, search) as work:
        with work.share(ALTERING):
            found = search_all(subject, runs, rows, recorder, work)
        found += reason(subject, runs, rows, recorder, work)
    return [*found, Findings("alter", subject.name, summary=search_summary(work))]


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
