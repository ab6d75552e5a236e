"""Recorded runs as a debugger has them, for tests that need no client."""

from __future__ import annotations

from functools import cache

from trace_readers import subject_of

from whence.debug.expressions import Found, Number, number_of
from whence.debug.run import Run, open_run
from whence.debug.variables import Presenter, Row, Scope, frame_of
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder


@cache
def run_of(text: str, *arguments: str, stdin: bytes = b"", window: int | None = None) -> Run:
    """The run of one C file, recorded; with ``window`` its last bytes."""
    subject = subject_of(text)
    with Recorder(subject, window=window) as recorder:
        recording = recorder.record_or_beginning(Case("case", arguments, stdin, expected=Expected()))
    return open_run(subject, recording, "start")


def line(run: Run, event: int) -> int:
    """The line where the run is at an event."""
    statement = run.timeline.statement(event)
    return statement.line if statement is not None else 0


def steps(run: Run, number: int) -> list[int]:
    """The steps to a line of the file, in order."""
    found = run.lines.at_or_behind("p.c", number)
    assert found is not None and found.line == number
    return [int(event) for event in run.lines.steps(found)]


def scope_at(run: Run, event: int) -> Scope:
    """The names at an event."""
    instant = run.objects.at(event)
    return Scope(instant, frame_of(instant, run.timeline.frame(event), event), event)


def evaluated(run: Run, event: int, text: str) -> Found:
    """What an expression means at an event."""
    return scope_at(run, event).evaluate(text)


def value(run: Run, event: int, text: str) -> int | float:
    """The number that an expression is at an event."""
    found = evaluated(run, event, text)
    number = found if isinstance(found, Number) else number_of(found, run.objects.at(event))
    return number.value


def parts(run: Run, event: int, text: str) -> list[Row]:
    """The rows of the parts of a place at an event."""
    presenter, found = Presenter(run.objects.at(event)), evaluated(run, event, text)
    whole = presenter.shown(found, text, text).whole
    assert whole is not None
    return presenter.parts(whole)


def shown(run: Run, event: int, text: str) -> str:
    """What a debugger shows of an expression at an event."""
    return Presenter(run.objects.at(event)).shown(evaluated(run, event, text), text, text).value
