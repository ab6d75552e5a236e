"""``whence memory``: accesses outside of the objects that pointers were made for, found in recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whence.cli.clock import clock
from whence.cli.options import CaseCommand, Options, first_use, open_subject, progress, shared_options, show
from whence.cli.supervisor import line
from whence.errors import SubjectError, TraceError

if TYPE_CHECKING:
    from whence.run.cases import Case
    from whence.subject.recorder import Recorder, Recording
    from whence.subject.subject import Subject
    from whence.techniques.memory.check import Checker


@click.command(cls=CaseCommand)
@shared_options
@click.option("--all", "every", is_flag=True, help="Check every case; exit status 1 where one has an error, else 0.")
@click.option("--leaks", is_flag=True, help="Tell blocks that were not given back, too.")
def memory(options: Options, every: bool, leaks: bool) -> int:
    """Find memory errors in a recorded run, whether it fails or not.

    The run is that of the case that --case names, else of the first failing one, else of the first case.
    """
    from whence.cli.steps import build_variant
    from whence.probe.instrument import Variant
    from whence.subject.recorder import Recorder
    from whence.techniques.memory.check import Checker
    from whence.techniques.memory.findings import findings_of

    subject = open_subject(options)
    build_variant(subject, Variant.RECORD)
    cases = _chosen(subject, options.case, every)
    checked: list[dict[str, Any]] = []
    left_out: list[str] = []
    with (
        Recorder(subject, options.trace_limit, options.window) as recorder,
        progress("checking runs", len(cases)) as report,
        first_use(),
    ):
        checker = Checker(subject)
        for number, case in enumerate(cases):
            if checked and clock.left <= 0:
                left_out.append(f"{len(cases) - number} more cases: the time is used up (--budget 10m)")
                break
            line.busy(f"checking the case {case.name}")
            try:
                checked.append(_check(subject, recorder, checker, case, leaks))
            except (SubjectError, TraceError) as error:
                left_out.append(f"{case.name}: {error}")
            report(number + 1, len(cases))
    if not checked:
        raise SubjectError(left_out[0], "give another case, or raise --trace-limit")
    findings = findings_of(subject.name, checked)
    findings.summary = _summary(subject, checked, left_out)
    status = show(subject, findings, options)
    return int(bool(findings.ranking)) if every else status


def _check(subject: Subject, recorder: Recorder, checker: Checker, case: Case, leaks: bool) -> dict[str, Any]:
    """One case recorded and checked, as the result holds it."""
    from whence.techniques.memory.told import Teller

    recording: Recording = recorder.record(case, may_be_cut=True)
    checked = checker.check(recording.trace, leaks)
    teller = Teller(subject, checked)
    remarks = list(checked.remarks)
    if recording.is_cut:
        remarks.append("only the beginning of the run was recorded")
    return {
        "case": case.name,
        "verdict": str(recording.outcome.kind),
        "errors": [teller.tell(error) for error in checked.errors],
        "remarks": remarks,
    }


def _chosen(subject: Subject, name: str | None, every: bool) -> list[Case]:
    """The cases to check."""
    from whence.run.oracle import judge

    if not subject.cases:
        raise SubjectError("no case to check", "give one with --passes or --fails, or in whence.toml")
    if every:
        return list(subject.cases)
    if name is not None:
        named = [case for case in subject.cases if case.name == name]
        if not named:
            names = ", ".join(case.name for case in subject.cases[:8])
            raise SubjectError(f"no case is named '{name}'", f"cases: {names}")
        return named
    with subject.runner() as runner:
        failing = (case for case in subject.cases if judge(case, runner.run_case(case)).failed)
        return [next(failing, subject.cases[0])]


def _summary(subject: Subject, checked: list[dict[str, Any]], left_out: list[str]) -> list[str]:
    """What was checked, what was found, and what could not be told."""
    bad = sum(bool(case["errors"]) for case in checked)
    modules = len(subject.capture.modules)
    lines = [
        f"captured {modules:,} module{'s' * (modules != 1)}, checked {len(checked):,} run{'s' * (len(checked) != 1)}"
        f" ({bad} with memory errors)"
    ]
    for case in checked:
        verdict = f"`{case['case']}` ({case['verdict']})"
        lines += [f"{verdict}: {len(case['errors'])} places with errors"] if case["errors"] else []
        lines += [f"{verdict}: {remark}" for remark in case["remarks"]]
    lines += [f"left out: {text}" for text in left_out]
    return [*lines, *(f"not captured: {name}" for name in subject.capture.uncaptured)]
