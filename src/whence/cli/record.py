"""``whence record``: record one run, say what the trace holds and how the run ended, and keep the trace if asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.options import CaseCommand, Options, open_subject, shared_options

if TYPE_CHECKING:
    from whence.subject.recorder import Recording


@click.command(cls=CaseCommand)
@shared_options
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Keep the trace file.")
@click.option("--executable", type=click.Path(path_type=Path), metavar="FILE", help="Put the record variant here, run nothing.")
def record(options: Options, output: Path | None, executable: Path | None) -> int:
    """Record one run and say what the trace holds."""
    import shutil

    from whence.errors import SubjectError
    from whence.probe.instrument import Variant
    from whence.subject.recorder import Recorder

    subject = open_subject(options)
    if executable is not None:
        shutil.copy2(subject.variant(Variant.RECORD), executable)
        click.echo(f"record variant of {len(subject.capture.modules)} modules: {executable}")
        return 0
    named = [case for case in subject.cases if options.case in (None, case.name)]
    if not named:
        raise SubjectError("no case to record" + (f" is named '{options.case}'" if options.case else ""))
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        recording = recorder.record(named[0], keep=output)
    description = describe(recording)
    if options.json:
        click.echo(json.dumps(description, indent=2))
        return 0
    for name, value in description.items():
        click.echo(f"{name.replace('_', ' '):18} {value:,}" if isinstance(value, int) else f"{name.replace('_', ' '):18} {value}")
    return 0


def describe(recording: Recording) -> dict[str, Any]:
    """What a recording holds, as names and numbers."""
    trace, result = recording.trace, recording.result
    ended = {"exit": f"exit status {result.status}", "signal": f"signal {trace.header.code}"}.get(trace.header.end, "killed")
    if result.timed_out:
        ended = "time limit"
    return {
        "case": recording.case.name,
        "outcome": str(recording.outcome.kind),
        "ended": ended,
        "blocks": trace.blocks,
        "events": trace.events,
        "cells": trace.cells,
        "trace_bytes": trace.bytes_used,
    }
