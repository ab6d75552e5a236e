"""The steps that the commands share: run the cases, choose the failing one, record it, say what was done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from whence.cli.clock import clock
from whence.cli.options import Options, Search, first_use, present, progress
from whence.cli.supervisor import line

if TYPE_CHECKING:
    from pathlib import Path

    from whence.alter.work import Work
    from whence.probe.instrument import Variant
    from whence.subject.recorder import Recorder, Recording, Worth
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

RUNNING = 0.5  # of the time, at most, for running the cases
NAMED = 5  # reasons, cases or files that are named; of the others only the number is told


def run_cases(subject: Subject, options: Options | None = None) -> Runs:
    """Build the variants that are missing, and run all cases, as many as a part of the time allows.

    With ``options`` the ranking by the spectrum is made known as the best so far.
    """
    from whence.probe.instrument import Variant
    from whence.subject.runs import run_all

    build_variant(subject, Variant.COVER)
    build_variant(subject, Variant.RECORD)
    line.busy("running the cases")
    with progress("running the cases", 2 * len(subject.cases)) as report:
        runs = run_all(subject, report, clock.within(RUNNING))
    if options is not None and runs.failing:
        _fall_back(subject, runs, options)
    return runs


def _fall_back(subject: Subject, runs: Runs, options: Options) -> None:
    """Make the ranking by the spectrum known as the best so far, for a command that comes to no other in its time."""
    from whence.subject.runs import coverage
    from whence.subject.symptoms import unrecorded_symptom
    from whence.techniques.spectrum import spectrum
    from whence.techniques.stale import without_changed

    first = runs.tested[runs.failing[0]]
    findings = spectrum(coverage(subject, runs), formula="op2", subject=subject.name)
    findings.symptom = unrecorded_symptom(first.result, first.outcome)
    findings.summary = summary(subject, runs)
    findings.warnings.append("the ranking is that of the spectrum alone: nothing else was found")
    findings = without_changed(findings, subject.places.changed_files())
    line.best(findings, partial(present, options, subject.folder, False))


def build_variant(subject: Subject, kind: Variant) -> Path:
    """The executable of a variant, with a progress bar where it has to be built; meanwhile the clock stands still."""
    if not subject.has_variant(kind):
        with (
            clock.standing(),
            progress(f"building the {kind} variant", len(subject.capture.modules)) as subject.progress,
        ):
            subject.variant(kind)
        subject.progress = None
    return subject.variant(kind)


def failing_rows(subject: Subject, runs: Runs, options: Options) -> list[int]:
    """The rows of the failing cases, the shortest run first; or the one row of the case that ``--case`` names.

    Raises SubjectError where no case fails.
    """
    from whence.errors import SubjectError
    from whence.subject.runs import blocks_executed

    failing = runs.failing
    if not failing:
        raise SubjectError(_none_fails(runs), "\n".join([_how_to_fail(options), *_named("left out: ", runs.left_out)]))
    if options.case is None:
        lengths = blocks_executed(subject, runs)
        return sorted(failing, key=lambda row: (lengths[row] == 0, lengths[row]))
    named = [row for row in failing if runs.tested[row].case.name == options.case]
    if not named:
        names = ", ".join(runs.tested[row].case.name for row in failing[:NAMED])
        raise SubjectError(f"no failing case is named '{options.case}'", f"failing: {names}")
    return named


def rows_alike(subject: Subject, runs: Runs, options: Options, most: int) -> list[int]:
    """The rows of failing cases, at most so many: the shortest run, and others that fail in the same way.

    Raises what ``failing_rows`` raises.
    """
    from whence.subject.alike import failing_alike
    from whence.subject.recorder import Recorder

    rows = failing_rows(subject, runs, options)
    if any(runs.tested[row].case.command is not None for row in rows):
        return rows[:most]
    with Recorder(subject, options.trace_limit, options.window) as recorder, first_use():
        return failing_alike(runs, rows, recorder, most)


def _none_fails(runs: Runs) -> str:
    """That no case fails, of how many; those that were left out may have."""
    which = "it" if len(runs.tested) == 1 else "all of them"
    if not runs.left_out:
        return f"no case fails: ran {_count(len(runs.tested), 'case')}, and {which} passed"
    out = len(runs.left_out)
    which = "passed" if len(runs.tested) == 1 else "all of them passed"
    verb = "was" if out == 1 else "were"
    total = len(runs.tested) + out
    return f"no case that counts fails: of {total} cases {out} {verb} left out, and of the others {which}"


def _how_to_fail(options: Options) -> str:
    if options.fails and None in options.expects:
        return "say with --expect what is right: without it only a crash or a non-zero status counts as a failure"
    return "give a failing case with --fails and --expect, or add one to whence.toml"


def suspicion(subject: Subject, runs: Runs) -> Worth:
    """How suspicious the most suspicious statement is that a trace executed."""
    from whence.subject.runs import coverage
    from whence.subject.story import Story
    from whence.techniques.spectrum import spectrum

    suspects = {entry.statement: entry.score for entry in spectrum(coverage(subject, runs), formula="op2").ranking}

    def worth(trace: Trace) -> float:
        story = Story(subject, trace)
        numbers = set(story.statement_numbers[story.executed_sites].tolist()) - {-1}
        return max((suspects.get(story.statements[n], -1.0) for n in numbers), default=-1.0)

    return worth


def record_failing(subject: Subject, runs: Runs, recorder: Recorder, rows: list[int]) -> tuple[int, Recording]:
    """Record the first case of ``rows`` whose verdict stands when it is recorded; gives its row and the recording.

    One whose verdict recording changes is named in ``runs.left_out``.
    """
    from whence.errors import SubjectError

    for row in rows[:NAMED]:
        tested = runs.tested[row]
        try:
            with first_use():
                worth = suspicion(subject, runs) if tested.case.command is not None and runs.failing else None
                return row, recorder.record(tested.case, tested.outcome, worth=worth)
        except SubjectError as error:
            if row == rows[:NAMED][-1]:
                raise
            runs.left_out.append(f"not recorded: {error}")
    raise AssertionError("there is a row")


@contextmanager
def open_work(
    subject: Subject, runs: Runs, search: Search, text: str = "altered runs", share: float = 1.0
) -> Iterator[Work]:
    """Altered runs as the options of a search say, in a share of the time, with a progress bar that bears ``text``."""
    from whence.alter.work import Work
    from whence.probe.instrument import Variant
    from whence.report.terminal import search_progress

    build_variant(subject, Variant.ALTER)
    line.busy(f"busy with {text}")
    deadline = None if clock.left == float("inf") else clock.within(share)
    with (
        search_progress(text if deadline is None else f"{text}, for {share * clock.left:.0f} s at most") as report,
        Work(
            subject,
            runs,
            workers=search.workers,
            cluster=search.cluster,
            deadline=deadline,
            progress=report,
            fresh=search.fresh,
        ) as work,
    ):
        yield work


def search_summary(work: Work) -> list[str]:
    """How much a search ran, what it left out, and how to go on, in sentences."""
    known = f"; {work.known:,} more were known already" if work.known else ""
    lines = [f"ran {_count(work.done, 'altered run')} in {work.seconds:.1f} s{known}"]
    lines += _named("not altered: ", [f"{name}: {why}" for name, why in work.unusable.items()])
    if work.stopped and not work.done and not work.known:
        lines.append("one run takes too long for that: give a smaller input, lower [limits] time, or --budget 5m")
    if work.lost:
        lines.append(f"{_count(work.lost, 'altered run')} took the process down, and tell nothing")
    if work.cut_short and not work.stopped:
        lines.append("a search took its share of the time, and left runs out; more time: --budget 10m")
    if work.stopped:
        why = "its time is used up" if work.stopped == "budget" else "interrupted"
        left = _count(work.left_out, "altered run")
        lines.append(f"stopped early ({why}): {left} and whatever would have followed were left out")
    if work.trouble:
        lines.append(f"what was found cannot be kept for another search: {work.trouble}")
    elif work.stopped:
        lines.append("run the same command again to go on" + (", without --fresh" if work.fresh else ""))
    return lines


def summary(subject: Subject, runs: Runs, recording: Recording | None = None) -> list[str]:
    """What was captured and run, in sentences; nothing is left out in silence."""
    lines = [
        f"captured {_count(len(subject.capture.modules), 'module')}, ran {_count(len(runs.tested), 'case')} "
        f"({len(runs.passing)} passed, {len(runs.failing)} failed)"
    ]
    if not runs.passing and runs.failing:
        lines.append("no passing case: what failing and passing runs have in common tells nothing; add --passes")
    lines += _named("left out: ", runs.left_out)
    if runs.unlike:
        lines.append(
            "no failing case fails in the instrumented program: what those executed there is taken for what they do; "
            "a longer input, another one, or building with -O0 may help"
        )
    lines += _named("not captured: ", subject.capture.uncaptured)
    if recording is not None:
        kind = "failing" if recording.outcome.failed else "passing"
        lines.append(f"recorded the {kind} case `{recording.case.name}`" + _cut(recording))
    return lines


def _cut(recording: Recording) -> str:
    if not recording.is_cut:
        return ""
    return f", of which the first {recording.trace.bytes_used >> 20} MiB are kept"


def _named(lead: str, items: list[str]) -> Iterator[str]:
    """Lines that name the first of some items and count the others."""
    yield from (f"{lead}{item}" for item in items[:NAMED])
    if len(items) > NAMED:
        yield f"{lead}{len(items) - NAMED} more"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
