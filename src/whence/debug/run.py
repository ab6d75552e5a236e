"""A recorded run as a debugger needs it: its steps, its memory, its output, and where its failure shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whence.debug.breakpoints import Lines
from whence.debug.statics import Initial
from whence.debug.suspects import TOLD, Suspect
from whence.debug.timeline import Timeline
from whence.dependence.criteria import known_statement, parse_criterion
from whence.errors import SubjectError, UsageError
from whence.run.oracle import signal_name
from whence.subject.recorded_memory import RecordedMemory
from whence.subject.recorded_objects import RecordedObjects
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.trace.columns import N_OUT

if TYPE_CHECKING:
    from whence.findings import Symptom
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.subject.subject import Subject

STREAMS = {1: "stdout", 2: "stderr"}
MOST_OUTPUT = 1 << 16  # bytes that are shown of one way's output
REDIRECTING = frozenset({"freopen", "freopen64", "dup2", "dup3", "close", "fclose"})  # that may change descriptor 0
SYMPTOM, START, END, SUSPECT = "symptom", "start", "end", "suspect"


@dataclass(slots=True)
class Run:
    """One recorded run. ``first_stop``: where a debugger begins; ``remarks``: what its user has to know."""

    recording: Recording
    reader: TraceReader
    timeline: Timeline
    objects: RecordedObjects
    lines: Lines
    symptom: Symptom | None
    suspects: list[Suspect] = field(default_factory=list)
    first_stop: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def symptom_event(self) -> int:
        """The event at which the failure shows; -1: none."""
        if self.symptom is None:
            return -1
        event = self.symptom.event
        return min(event, self.timeline.end) if event >= 0 else self.timeline.end

    def suspicious_step(self, number: int) -> int:
        """The last time before the failure that the run was on the suspect of a number (from 1); -1: it never was.

        Raises UsageError where there is no such suspect, or the program has no such line.
        """
        if not 1 <= number <= len(self.suspects):
            hint = 'name the result of `whence locate --json` as "locate" in the launch configuration'
            raise UsageError(f"there is no suspect {number}, of {len(self.suspects)}", hint)
        steps = self.lines.steps(known_statement(self.reader.statements, self.suspects[number - 1].statement))
        until = self.symptom_event if self.symptom is not None else self.timeline.end
        before = steps[steps <= until]
        return int(before[-1]) if len(before) else -1

    # ---- Words -------------------------------------------------------------------------------------------------------

    def words(self, event: int) -> str:
        """What is special about an instant; empty: nothing."""
        if self.symptom is not None and event == self.symptom_event:
            return self.symptom.text
        if event == self.timeline.end:
            return f"the end of the recorded run: {self._end}"
        if event != self.timeline.start:
            return ""
        return "the beginning of the run" if self.objects.memory.is_whole else "the beginning of the recorded part"

    @property
    def _end(self) -> str:
        result = self.recording.result
        if self.recording.is_cut or result.timed_out:
            return "only its beginning was recorded"
        return signal_name(result.signal) if result.signal else f"exit status {result.status}"

    def function(self, frame: int) -> str:
        """The name of a call's function."""
        trace = self.reader.trace
        return trace.program.functions[int(trace.columns.frames[frame]["function"])].name

    def thread_name(self, thread: int, event: int) -> str:
        """The name of a thread that is at an event: its number from 1, and the function that it began with."""
        return f"{thread + 1} {self.function(self.timeline.root(event))}"

    # ---- Output ------------------------------------------------------------------------------------------------------

    def output(self, since: int, until: int) -> Iterator[tuple[str, str]]:
        """What the run wrote from one event on and before another, in order: the stream's name, and text."""
        trace, result = self.reader.trace, self.recording.result
        if self.recording.case.command is not None:
            return
        rows = trace.columns.outs[: trace.columns.counts[N_OUT]]
        first, end = np.searchsorted(rows["event"], [since, until])
        texts: list[tuple[int, bytes]] = []
        for row in rows[first:end]:
            stream, offset = int(row["stream"]), int(row["offset"])
            if stream in STREAMS:
                whole = result.stdout if stream == 1 else result.stderr
                texts.append((stream, whole[offset : offset + int(row["length"])]))
        yield from _joined(texts)


def _joined(texts: list[tuple[int, bytes]]) -> Iterator[tuple[str, str]]:
    """Texts with those of one stream that follow each other joined; of very long ones the end."""
    parts: list[bytes] = []
    for number, (stream, data) in enumerate(texts):
        parts.append(data)
        if number + 1 == len(texts) or texts[number + 1][0] != stream:
            whole = b"".join(parts)
            left_out = max(0, len(whole) - MOST_OUTPUT)
            text = (f"... {left_out:,} bytes ...\n" if left_out else "") + whole[left_out:].decode(errors="replace")
            if text:
                yield STREAMS[stream], text
            parts = []


def open_run(subject: Subject, recording: Recording, stop_at: str, suspects: Sequence[Suspect] = ()) -> Run:
    """The run of a recording, at ``stop_at``: ``symptom``, ``start``, ``end``, ``suspect`` (the first one of those that
    are given), or ``FILE:LINE[@N]``; empty: the symptom where there is one, else the start. Raises UsageError where the
    run has no such place.
    """
    if not recording.trace.segments:
        raise SubjectError(f"case {recording.case.name}: nothing of the program's own code was recorded")
    reader = TraceReader(subject, recording.trace)
    timeline = Timeline(reader)
    run: list[RecordedObjects] = []
    initial = Initial(lambda: run[0])
    memory = RecordedMemory(reader, initial, _standard_input(recording.case, subject))
    run.append(RecordedObjects(memory))
    memory.prepare()
    run[0].prepare()
    if recording.case.command is None and memory.is_whole:
        initial.add(run[0].argument_texts(timeline.start, recording.case.arguments))
    symptom = symptom_of(recording, subject.folder) if recording.outcome.failed else None
    found = Run(recording, reader, timeline, run[0], Lines(timeline, subject.folder), symptom, list(suspects))
    found.first_stop = _first_stop(found, stop_at)
    found.remarks += _remarks(found, subject)
    return found


def _standard_input(case: Case, subject: Subject) -> bytes | None:
    """What a case's run could read from standard input; None where that is not known, or may be another file later."""
    declared = {name for module in subject.program.modules for name in module.declarations}
    if case.command is not None or declared & REDIRECTING:
        return None
    if isinstance(case.stdin, Path):
        return case.stdin.read_bytes()
    return case.stdin or b""


def _first_stop(run: Run, stop_at: str) -> int:
    goals = {"": run.symptom_event, SYMPTOM: run.symptom_event, START: run.timeline.start, END: run.timeline.end}
    if stop_at in goals:
        goal = goals[stop_at]
        if goal < 0 and stop_at == SYMPTOM:
            raise UsageError("the run did not fail: there is no symptom to stop at", 'set "stopAt" to "start"')
        return goal if goal >= 0 else run.timeline.start
    if stop_at == SUSPECT:
        goal = run.suspicious_step(1)
        if goal < 0:
            raise UsageError(f"the run never reached the first suspect, {run.suspects[0].line}")
        return goal
    criterion = parse_criterion(stop_at)
    if criterion.variable:
        raise UsageError(f"'{stop_at}' is no place to stop at", "write FILE:LINE, or FILE:LINE@3 for the third time")
    steps = run.lines.steps(known_statement(run.reader.statements, criterion.statement))
    if not len(steps):
        raise UsageError(f"the run never reached {criterion.place}")
    if criterion.occurrence > len(steps):
        raise UsageError(f"the run reached {criterion.place} {len(steps):,} times, not {criterion.occurrence:,}")
    return int(steps[criterion.occurrence - 1 if criterion.occurrence > 0 else -1])


def _remarks(run: Run, subject: Subject) -> list[str]:
    trace = run.reader.trace
    found = [f"case `{run.recording.case.name}`: {trace.events:,} events in {len(run.timeline.events):,} steps"]
    if run.recording.process:
        found.append(f"of its processes {run.recording.process} is shown")
    if not run.objects.memory.is_whole:
        found.append("only the end of the run was recorded: what was given a value before is not known")
    if run.recording.is_cut:
        found.append("the run was not recorded to its end")
    found += [f"suspect {number}: {suspect.line}" for number, suspect in enumerate(run.suspects[:TOLD], 1)]
    changed = subject.places.changed_files()
    if changed:
        found.append(f"changed since the program was built, so that lines may not fit: {', '.join(changed)}")
    return found
