"""``whence slice``: what the failure, or a value at a line, came from; or forward, what came of it."""

from __future__ import annotations

import click

from whence.cli.locate import choose_failing, summary
from whence.cli.options import CaseCommand, Options, open_subject, progress, shared_options, show


@click.command("slice", cls=CaseCommand)
@shared_options
@click.option("--at", metavar="FILE:LINE[:VAR][@N]", help="Where to start instead of the symptom; the N-th time, or the last.")
@click.option("--forward", is_flag=True, help="What depends on the criterion, instead of what it depends on.")
@click.option("--data-only", is_flag=True, help="Leave control dependence out.")
@click.option("--passing", metavar="NAME", help="Slice this case's run, whether it passes or fails (needs --at).")
def slice_(options: Options, at: str | None, forward: bool, data_only: bool, passing: str | None) -> int:
    """Show what a failure, or a value, came from (or what came of it)."""
    from whence.errors import SubjectError, UsageError
    from whence.subject.recorder import Recorder
    from whence.subject.runs import run_all
    from whence.subject.story import Story
    from whence.run.symptom import find_symptom
    from whence.techniques.locate import symptom_start
    from whence.techniques.slicing import parse_criterion, slice_findings, start_at

    criterion = parse_criterion(at) if at else None
    if passing and criterion is None:
        raise UsageError("--passing needs --at: a passing run has no symptom", "say where to start: --at FILE:LINE")
    subject = open_subject(options)
    with progress("running the cases") as report:
        runs = run_all(subject, report)
    if passing:
        rows = [row for row, tested in enumerate(runs.tested) if tested.case.name == passing]
        if not rows:
            raise SubjectError(f"no case is named '{passing}'")
        row = rows[0]
    else:
        row = choose_failing(subject, runs, options.case)
    chosen = runs.tested[row]
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        recording = recorder.record(chosen.case, chosen.outcome)
    story = Story(subject, recording.trace)
    symptom = None
    if chosen.outcome.failed:
        symptom = find_symptom(recording.trace, recording.result, recording.outcome, subject.folder)
    if criterion is not None:
        start = start_at(story, criterion)
    else:
        assert symptom is not None
        start = symptom_start(symptom)
        if not start.references:
            raise SubjectError(f"the symptom has no place in the trace: {symptom.text}", "give a criterion with --at FILE:LINE")
    findings, _ = slice_findings(story, subject.name, start, forward, not data_only)
    findings.symptom = symptom
    findings.summary[:0] = summary(subject, runs, chosen.case.name)
    return show(subject, findings, options, sliced=True)
