"""``whence record``: record one run, say what the trace holds and how the run ended, and keep the trace if asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, shared_options

if TYPE_CHECKING:
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.subject.subject import Subject


@click.command(cls=CaseCommand)
@shared_options
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Keep the trace file.")
@click.option("--executable", type=click.Path(path_type=Path), metavar="FILE", help="Only put the record variant here.")
def record(options: Options, output: Path | None, executable: Path | None) -> int:
    """Record one run and say what the trace holds.

    The case is the one that --case names, or the first. Of a run that does not end the beginning is recorded.
    """
    import shutil

    from whence.probe.instrument import Variant

    with investigate(options, ranks=False) as investigation:
        variant = investigation.build(Variant.RECORD)
        if executable is not None:
            shutil.copy2(variant, executable)
            click.echo(f"record variant: {executable}")
            return 0
        case = chosen(investigation.subject, options.case)
        with investigation.subject.runner() as runner:
            endless = runner.run_case(case).timed_out
        with investigation.watcher.first_use():
            recording = investigation.recorder.record(case, keep=output, may_be_cut=endless)
        description = describe(recording)
    if options.json:
        click.echo(json.dumps(description, indent=2))
        return 0
    for name, value in description.items():
        shown = f"{value:,}" if isinstance(value, int) else value
        click.echo(f"{name.replace('_', ' '):18} {shown}")
    return 0


def chosen(subject: Subject, name: str | None) -> Case:
    """The case to record."""
    from whence.errors import SubjectError

    if not subject.cases:
        raise SubjectError("no case to record", "give one with --fails or --passes")
    for case in subject.cases:
        if name in (None, case.name):
            return case
    names = ", ".join(case.name for case in subject.cases[:8])
    raise SubjectError(f"no case is named '{name}'", f"cases: {names}")


def describe(recording: Recording) -> dict[str, Any]:
    """What a recording holds, as names and numbers."""
    trace = recording.trace
    return {
        "case": recording.case.name,
        "outcome": str(recording.outcome.kind),
        "ended": _end(recording),
        "blocks": trace.blocks,
        "events": trace.events,
        "cells": trace.cells,
        "trace_bytes": trace.bytes_used,
    }


def _end(recording: Recording) -> str:
    """How the run ended."""
    from whence.run.oracle import signal_name

    if recording.result.timed_out:
        return "time limit" + (", of which the beginning is recorded" if recording.is_cut else "")
    if recording.result.signal:
        return signal_name(recording.result.signal)
    return f"exit status {recording.result.status}"
