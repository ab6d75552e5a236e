"""``whence slice``: what the failure, or a value at a line, came from; or forward, what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.clock import clock
from whence.cli.options import CaseCommand, Options, open_subject, shared_options, show

if TYPE_CHECKING:
    from whence.dependence.slices import Start
    from whence.findings import Findings, Symptom
    from whence.subject.recorder import Recording
    from whence.subject.runs import Runs
    from whence.subject.story import Story
    from whence.subject.subject import Subject


@click.command("slice", cls=CaseCommand)
@shared_options
@click.option("--at", metavar="FILE:LINE[:VAR][@N]", help="Start there, the N-th time [the symptom; the last time].")
@click.option("--forward", is_flag=True, help="What depends on the criterion, instead of what it depends on.")
@click.option("--data-only", is_flag=True, help="Leave control dependence out.")
@click.option("--passing", metavar="NAME", help="Slice this case's run, whether it passes or fails (needs --at).")
@click.option("--implicit", is_flag=True, help="Add branches that skipped something that mattered (docs/switch.md).")
def slice_(
    options: Options,
    at: str | None,
    forward: bool,
    data_only: bool,
    passing: str | None,
    implicit: bool,
) -> int:
    """Show what a failure, or a value, came from (or what came of it)."""
    from whence.cli.steps import summary
    from whence.errors import UsageError
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.slicing import parse_criterion, slice_findings, start_at

    criterion = parse_criterion(at) if at else None
    if passing and criterion is None:
        raise UsageError("--passing needs --at: a passing run has no symptom", "say where to start: --at FILE:LINE")
    if forward and criterion is None:
        raise UsageError("--forward needs --at: nothing comes of a symptom", "say where to start: --at FILE:LINE")
    if implicit and (forward or data_only or options.window):
        other = "--forward" if forward else "--data-only" if data_only else "--window"
        raise UsageError(f"--implicit follows all dependences backward from the start of the run, not {other}")
    subject = open_subject(options)
    runs, recording = _record(subject, options, passing)
    story = Story(subject, recording.trace)
    symptom = symptom_of(recording, subject.folder) if recording.outcome.failed else None
    start = start_at(story, criterion) if criterion else _start_of(symptom)
    if implicit:
        findings = _implicit(subject, story, recording, start, None if criterion else symptom)
    else:
        findings, _ = slice_findings(story, subject.name, start, forward, not data_only)
    findings.symptom = symptom
    findings.summary[:0] = summary(subject, runs, recording)
    return show(subject, findings, options, sliced=True)


def _implicit(subject: Subject, story: Story, recording: Recording, start: Start, symptom: Symptom | None) -> Findings:
    """The findings of a slice grown along implicit dependences."""
    from whence.alter.faithful import Ending, Unusable
    from whence.alter.session import Session
    from whence.cli.steps import build_variant
    from whence.dependence.slices import compute
    from whence.probe.instrument import Variant
    from whence.report.terminal import search_progress
    from whence.techniques.predicate_switching.implicit_dependences import add_to, grow
    from whence.techniques.slicing import slice_findings

    for kind in (Variant.ALTER, Variant.REPLAY):
        build_variant(subject, kind)
    plain = compute(story.trace, start.references)
    by_itself = Ending.of(recording.case, recording.result)
    try:
        with (
            Session(subject, recording.case, plain=by_itself) as session,
            search_progress("switching branches") as report,
        ):
            growth = grow(story, start, session, symptom, deadline=clock.deadline, progress=report)
    except Unusable as error:
        findings, _ = slice_findings(story, subject.name, start)
        findings.summary.append(f"implicit dependences were not looked for: {error}")
        return findings
    findings, _ = slice_findings(story, subject.name, start, found=growth.found)
    add_to(findings, story, growth, plain)
    return findings


def _record(subject: Subject, options: Options, passing: str | None) -> tuple[Runs, Recording]:
    """Run the cases and record the one to slice."""
    from whence.cli.steps import failing_rows, record_failing, run_cases
    from whence.errors import SubjectError
    from whence.subject.recorder import Recorder

    runs = run_cases(subject)
    if passing is None:
        rows = failing_rows(subject, runs, options)
    else:
        rows = [row for row, tested in enumerate(runs.tested) if tested.case.name == passing]
        if not rows:
            raise SubjectError(f"no case is named '{passing}'", f"cases: {', '.join(_names(runs))}")
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        return runs, record_failing(subject, runs, recorder, rows)[1]


def _names(runs: Runs) -> list[str]:
    """The first names of cases, to choose from."""
    return [tested.case.name for tested in runs.tested[:8]]


def _start_of(symptom: Symptom | None) -> Start:
    """The slice's start at the symptom; raises SubjectError where that has no place in the trace."""
    from whence.dependence.slices import symptom_start
    from whence.errors import SubjectError

    start = symptom_start(symptom) if symptom is not None else None
    if start is None or not start.references:
        text = symptom.text if symptom is not None else "there is none"
        raise SubjectError(f"the symptom has no place in the trace: {text}", "say where to start: --at FILE:LINE")
    return start
