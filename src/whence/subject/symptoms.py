"""The symptom of a recorded run; also of one that a test suite started.

What a suite's case says is only that a command failed. Of the program's run within it the crash is the symptom, if it
crashed; else all that it printed and the status it ended with: something there displeased the test.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from whence.errors import SubjectError
from whence.findings import Symptom
from whence.run.context import compared_of, errors_of, stack_at
from whence.run.evidence import Evidence
from whence.run.oracle import signal_name
from whence.run.outcome import Kind, Outcome
from whence.run.point import statement_of
from whence.run.result import RunResult
from whence.run.symptom import find_symptom
from whence.subject.processes import crash_of, has_crashed
from whence.subject.recorder import Recording
from whence.trace.columns import N_OUT
from whence.trace.trace import Trace

EARLY = "the recording ends here, no later than runs do that end: what does not end may be another loop"
NOT_AGAIN = "what fails now and then, or without the recorder alone, has no recording: name another case with --case"
OUTPUTS = 100  # calls that printed, the last ones, from which the slice starts


def symptom_of(recording: Recording, folder: Path) -> Symptom:
    """Where the failure of a recorded run shows, with the open calls there and what went to standard error.

    Files are given relative to ``folder``. Raises SubjectError for a run that did not fail.
    """
    if not recording.outcome.failed:
        passed = f"the recorded run did not fail ({recording.outcome.kind})"
        raise SubjectError(f"case {recording.case.name}: {passed}", NOT_AGAIN)
    symptom = _find(recording, folder)
    if recording.is_early:
        symptom.details["label"] = EARLY
    symptom.details["stderr"] = errors_of(recording.result.stderr)
    symptom.compared = compared_of(recording.result, recording.outcome)
    if recording.plain is not None and recording.plain.signal not in (0, recording.result.signal):
        symptom.text = f"{_own_end(recording.plain)} by itself; recorded it was {symptom.text}"
    if recording.process:
        symptom.details["process"] = recording.process
    if recording.trace.segments:
        symptom.details["stack"] = stack_at(Evidence(recording.trace), symptom.event, folder)
    return symptom


def _own_end(plain: RunResult) -> str:
    """How a signal ended the program itself, with its last words: those of a check that variants do not have, say."""
    said = errors_of(plain.stderr)
    last = [*said["first"], *said["last"]][-1:]
    return f"killed by {signal_name(plain.signal)}" + "".join(f" (standard error ends: {text})" for text in last)


def unrecorded_symptom(result: RunResult, outcome: Outcome) -> Symptom:
    """The symptom of a failing run of which there is no recording: what is seen from outside, without a place."""
    kind = outcome.kind.value.replace(" ", "-")
    details = {"criteria": [], "stderr": errors_of(result.stderr)}
    return Symptom(kind, outcome.text, details=details, compared=compared_of(result, outcome))


def _find(recording: Recording, folder: Path) -> Symptom:
    trace, result, outcome = recording.trace, recording.result, recording.outcome
    if outcome.kind is Kind.MEMORY:
        return _of_memory_error(trace, outcome, folder)
    if recording.case.command is None or outcome.kind is Kind.TIMEOUT:
        return find_symptom(trace, result, outcome, folder)
    if has_crashed(trace.header):
        outcome = crash_of(trace.header, result.stderr)
        return find_symptom(trace, replace(result, status=None, signal=trace.header.code), outcome, folder)
    return _of_test(recording, folder)


def _of_memory_error(trace: Trace, outcome: Outcome, folder: Path) -> Symptom:
    """The access that missed its object; what is behind its address and where its object went led to it."""
    event = outcome.events[0]
    location = trace.location(event)
    details: dict[str, object] = {"criteria": [event + 1 for event in outcome.events], "label": "the memory error"}
    if location is not None:
        details["column"] = location.column
    return Symptom("memory-error", outcome.text, statement_of(location, folder), trace.clock(event), event, details)


def _of_test(recording: Recording, folder: Path) -> Symptom:
    """Everything that the program printed, and how it ended."""
    trace = recording.trace
    evidence = Evidence(trace)
    criteria: list[int] = []
    calls = trace.columns.outs[: trace.columns.counts[N_OUT]]["event"][-OUTPUTS:].tolist()
    for call in dict.fromkeys(calls):
        criteria += [call + 1, *(argument + 1 for argument in evidence.arguments(call))]
    exited = evidence.exit_event()
    criteria += [exited + 1] if exited >= 0 else []
    event = calls[-1] if calls else exited
    wrong = "what the program printed and its exit status count" if calls else "the program's exit status counts"
    text = f"the test failed ({recording.outcome.text}); {wrong} as wrong"
    details: dict[str, object] = {"criteria": criteria}
    location = evidence.place(event) if event >= 0 else None
    if location is not None:
        details |= {"column": location.column, "label": "the last output" if calls else "the end of the run"}
    kind = "wrong-output" if calls else "wrong-status"
    clock = trace.clock(event) if event >= 0 else -1
    return Symptom(kind, text, statement_of(location, folder), clock, event, details)
