"""``whence gdb``: a script that stops the user's own program at the suspicious instant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli.investigate import investigate
from whence.cli.options import CaseCommand, Options, refuse_reports, shared_options
from whence.errors import SubjectError, UsageError

if TYPE_CHECKING:
    from whence.debug.gdb_script import Stop
    from whence.debug.timeline import Timeline
    from whence.findings import Statement, Symptom
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

SUSPECTS = 3
CRASHED = ("crash", "assertion", "timeout")  # at which GDB stops by itself, or never


@click.command(cls=CaseCommand)
@shared_options
@click.option("--at", metavar="FILE:LINE[@N]", help="Stop there, the N-th time [the last one before the failure].")
@click.option(
    "--into", type=click.Path(path_type=Path), default=Path("whence-gdb"), metavar="FOLDER", help="[whence-gdb]"
)
def gdb(options: Options, at: str | None, into: Path) -> int:
    """Write a GDB script that stops the program at the suspicious instant.

    The script runs the program itself, not a recording, on the failing case, and stops at the first suspects of `whence
    locate`, or at --at: not the first time that it comes there, but the time that led to the failure.
    """
    from whence.debug.gdb_script import is_written, write_script

    refuse_reports(options, "whence gdb")
    if options.window:
        raise UsageError("--window keeps the end of a run: how often it came to a line before is not known")
    if into.exists() and not is_written(into):
        raise UsageError(f"{into} exists already", "name a folder that is to be made")
    with investigate(options, ranks=False) as investigation:
        recording, stops = _chosen(investigation, at)
        script = write_script(investigation.subject, recording.case, stops, into)
    if options.json:
        click.echo(json.dumps({"script": str(script), "stops": [_row(stop) for stop in stops]}, indent=2))
        return 0
    for stop in stops:
        click.echo(stop.text)
    click.echo(f"next: gdb -x {script}")
    return 0


def _row(stop: Stop) -> dict[str, Any]:
    """A stop as ``--json`` has it."""
    return {"file": stop.statement.file, "line": stop.statement.line, "time": stop.hit, "text": stop.text}


def _chosen(investigation: Investigation, at: str | None) -> tuple[Recording, list[Stop]]:
    """The recorded run of the failing case, and where to stop in it, in order of time."""
    from whence.debug.gdb_script import Stop, hits_until
    from whence.debug.timeline import Timeline
    from whence.diagnosis.locate import Locate
    from whence.subject.symptoms import symptom_of
    from whence.subject.trace_reader import TraceReader

    suspects: list[tuple[Statement, str]] = []
    if at is None:
        ranking = investigation.find(Locate()).ranking
        suspects = [(entry.statement, f"suspect {entry.rank}") for entry in ranking[:SUSPECTS]]
    recording = investigation.recorded or investigation.record_failing(investigation.failing_rows())[1]
    reader = TraceReader(investigation.subject, recording.trace)
    symptom, timeline = symptom_of(recording, investigation.subject.folder), Timeline(reader)
    events = {statement: (_last(timeline, statement, symptom), text) for statement, text in suspects}
    if at is not None:
        statement, event = _asked(timeline, at, symptom)
        events[statement] = (event, "what was asked for")
    if symptom.statement is not None and symptom.kind not in CRASHED and symptom.statement not in events:
        events[symptom.statement] = (_last(timeline, symptom.statement, symptom), "where the failure shows")
    stops = []
    for statement, (event, text) in sorted(events.items(), key=lambda item: item[1][0]):
        if event >= 0 and (hit := hits_until(reader, statement, event)):
            stops.append(Stop(statement, hit, f"{text}: {statement.file}:{statement.line}, time {hit:,}"))
    if not stops:
        raise SubjectError("the failing run came to none of the suspects", "name a place with --at")
    return recording, stops


def _last(timeline: Timeline, statement: Statement, symptom: Symptom) -> int:
    """The last step to a statement before the failure; -1: there is none."""
    statements = timeline.reader.statements
    if statement not in statements:
        return -1
    until = symptom.event if symptom.event >= 0 else timeline.end
    steps = timeline.at_statement(statements.index(statement))
    before = steps[steps <= until]
    return int(before[-1]) if len(before) else -1


def _asked(timeline: Timeline, at: str, symptom: Symptom) -> tuple[Statement, int]:
    """The statement of ``--at``, and the step that is meant."""
    from whence.dependence.criteria import known_statement, parse_criterion

    criterion = parse_criterion(at)
    if criterion.variable:
        raise UsageError(f"'{at}' is no place to stop at", "write FILE:LINE, or FILE:LINE@3 for the third time")
    statement = known_statement(timeline.reader.statements, criterion.statement)
    steps = timeline.at_statement(timeline.reader.statements.index(statement))
    if criterion.occurrence > len(steps):
        raise UsageError(f"the run reached {criterion.place} {len(steps):,} times, not {criterion.occurrence:,}")
    event = _last(timeline, statement, symptom) if criterion.occurrence < 0 else int(steps[criterion.occurrence - 1])
    if event < 0:
        raise UsageError(f"the run never reached {criterion.place} before it failed")
    return statement, event
