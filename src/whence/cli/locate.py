"""``whence locate``: run the cases, record the shortest failing run, rank and explain the statements behind the failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.options import CaseCommand, Options, open_subject, progress, shared_options, show

if TYPE_CHECKING:
    from whence.findings import Findings
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

PASSING_RECORDED = 5  # passing runs whose values are shown beside the failing run's


@click.command(cls=CaseCommand)
@shared_options
@click.option("--formula", default="op2", show_default=True, help="Formula of suspiciousness (see docs/spectrum.md).")
def locate(options: Options, formula: str) -> int:
    """Rank the statements most likely at fault, and explain them.

    Without SOURCES the program and its cases are those of whence.toml.
    """
    subject = open_subject(options)
    findings = run_locate(subject, options, formula)
    return show(subject, findings, options)


def run_locate(subject: Subject, options: Options, formula: str) -> Findings:
    """All steps of the main job."""
    from whence.subject.recorder import Recorder
    from whence.subject.runs import coverage, run_all
    from whence.subject.story import Story
    from whence.run.symptom import find_symptom
    from whence.techniques.locate import Evidence, values_part
    from whence.techniques.locate import locate as rank_statements

    with progress("running the cases") as report:
        runs = run_all(subject, report)
    row = choose_failing(subject, runs, options.case)
    chosen = runs.tested[row]
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        recording = recorder.record(chosen.case, chosen.outcome)
        story = Story(subject, recording.trace)
        symptom = find_symptom(recording.trace, recording.result, recording.outcome, subject.folder)
        findings = rank_statements(Evidence(coverage(subject, runs), story, symptom), subject.name, formula)
        with progress("recording passing runs") as report:
            passing = []
            near = nearest_passing(runs, row)[:PASSING_RECORDED]
            for done, number in enumerate(near, 1):
                tested = runs.tested[number]
                passing.append(Story(subject, recorder.record(tested.case, tested.outcome).trace))
                report(done, len(near))
    findings.parts["values"] = values_part(findings.ranking[:50], story, passing)
    findings.summary[:0] = summary(subject, runs, chosen.case.name)
    findings.parts["next"] = next_commands(findings, options)
    return findings


def choose_failing(subject: Subject, runs: Runs, name: str | None) -> int:
    """The row of the failing case to record: the one named, or the shortest run; raises SubjectError where none fails."""
    from whence.errors import SubjectError
    from whence.subject.runs import blocks_executed

    failing = runs.failing
    if not failing:
        hint = "give a failing case with --fails (and --expect), or add one to whence.toml"
        raise SubjectError(f"no case fails: ran {len(runs.tested)} cases, all passed", "; ".join([hint, *runs.left_out[:3]]))
    if name is None:
        lengths = blocks_executed(subject, runs)
        return min(failing, key=lambda row: (lengths[row] == 0, lengths[row]))
    named = [row for row in failing if runs.tested[row].case.name == name]
    if not named:
        names = ", ".join(runs.tested[row].case.name for row in failing[:5])
        raise SubjectError(f"no failing case is named '{name}'", f"failing: {names}")
    return named[0]


def nearest_passing(runs: Runs, row: int) -> list[int]:
    """Rows of the passing cases, those first whose coverage is nearest to the failing run's."""
    import numpy as np

    executed = runs.counts != 0
    distance = np.count_nonzero(executed != executed[row], axis=1)
    return sorted(runs.passing, key=lambda other: (int(distance[other]), other))


def summary(subject: Subject, runs: Runs, recorded: str = "") -> list[str]:
    """What was captured and run, in sentences; nothing is left out in silence."""
    modules = len(subject.capture.modules)
    lines = [
        f"captured {modules} module{'s' if modules != 1 else ''}, ran {len(runs.tested)} cases "
        f"({len(runs.passing)} passed, {len(runs.failing)} failed)"
    ]
    if not runs.passing:
        lines.append("no passing case: every executed statement looks alike; add --passes to tell them apart")
    lines += [f"left out: {reason}" for reason in runs.left_out[:5]]
    if len(runs.left_out) > 5:
        lines.append(f"left out: {len(runs.left_out) - 5} more cases")
    lines += [f"not captured: {reason}" for reason in subject.capture.uncaptured[:5]]
    if recorded:
        lines.append(f"recorded the failing case `{recorded}`")
    return lines


def next_commands(findings: Findings, options: Options) -> list[dict[str, str]]:
    """Commands worth trying next, with why."""
    import shlex

    base = [*map(str, options.sources)]
    for line, expect in zip(options.fails, click.get_current_context().meta.get("whence.expects", []), strict=False):
        base += ["--fails", line] + (["--expect", expect] if expect is not None else [])
    for line in options.passes:
        base += ["--passes", line]
    words = " ".join(shlex.quote(word) for word in base)
    commands = [{"command": f"whence slice {words}".strip(), "why": "every line that led to the failure, with its values"}]
    if findings.ranking:
        first = findings.ranking[0].statement
        at = f"--at {first.file}:{first.line}"
        commands.append({"command": f"whence slice {at} {words}".strip(), "why": "where the first line's values came from"})
    if options.html is None:
        commands.append({"command": f"whence locate --html report.html {words}".strip(), "why": "all of it, to click through"})
    return commands
