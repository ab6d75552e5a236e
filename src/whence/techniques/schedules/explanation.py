"""A failing schedule in the user's words: where each turn ends, what kind of error it is, and the accesses whose order
decides."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from whence.findings import Statement
from whence.probe.layout import Kind as Site
from whence.run.context import stack_at
from whence.run.evidence import Evidence
from whence.run.outcome import Outcome
from whence.run.point import statement_of
from whence.run.schedule import Point
from whence.subject.subject import Subject
from whence.subject.trace_reader import TraceReader
from whence.techniques.schedules.comparison import Between, Comparison, Decider
from whence.techniques.schedules.waits import Wait, Waits
from whence.trace.accesses import Accesses

DECIDERS = 4  # that are told
DEADLOCK, LOST, ATOMICITY, ORDER = "deadlock", "lost wake-up", "atomicity violation", "order violation"


class RunDescriber:
    """Words for the events of one recorded run."""

    def __init__(self, subject: Subject, accesses: Accesses) -> None:
        self.accesses, self._trace = accesses, accesses.trace
        self._reader = TraceReader(subject, accesses.trace)
        self._folder = subject.folder

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._trace)

    def statement(self, event: int) -> Statement | None:
        """The line of an event."""
        return statement_of(self._trace.location(event), self._folder) if event >= 0 else None

    def place(self, event: int) -> str:
        """The line of an event, in words."""
        at = self.statement(event)
        return f"{at.file}:{at.line}" if at else "a place that is not known"

    def thread_of(self, event: int) -> int:
        """The number of the thread of an event."""
        return self.accesses.steps.of_event(event)[0]

    def text(self, event: int) -> str:
        """What an event does, in C."""
        static = self._reader.static(event)
        return static.path.text if static.path is not None and static.path.text else static.text

    def value(self, event: int) -> str | None:
        """The value that it read or wrote."""
        seen = self._reader.observation(event)
        return str(seen.value) if seen is not None and seen.value is not None else None

    def verb(self, row: int) -> str:
        """What the access of a row of the table does."""
        found = self.accesses.table[row]
        if found["orders"] or self._reader.static(int(found["event"])).kind is Site.CALL:
            return "called"
        return "wrote" if found["writes"] else "read"

    def json(self, event: int) -> dict[str, Any]:
        """An event as results hold it."""
        at = self.statement(event)
        return {
            "thread": self.thread_of(event),
            "step": self.accesses.steps.of_event(event)[1],
            "file": at.file if at else None,
            "line": at.line if at else None,
            "text": self.text(event),
            "value": self.value(event),
            "event": event,
            "clock": self._trace.clock(event),
            "stack": stack_at(self._evidence, event, self._folder),
        }

    def access(self, row: int) -> str:
        """An access in words: ``thread 2 wrote `n` (3) on a.c:8``."""
        event = int(self.accesses.table[row]["event"])
        value = self.value(event)
        shown = f" ({value})" if value is not None else ""
        return f"thread {self.thread_of(event)} {self.verb(row)} `{self.text(event)}`{shown} on {self.place(event)}"

    def point(self, point: Point) -> dict[str, Any]:
        """A point of the run's schedule as results hold it, with its line and a sentence."""
        event = self._event_of_step(point.thread, point.step)
        came = event >= 0
        event = event if came else self._event_of_step(point.thread, point.step - 1)
        at, text = self.statement(event), self.text(event) if event >= 0 else ""
        shown = f"{self.place(event)}" + (f", `{text}`," if text else "")
        if not came:
            words = f"when thread {point.thread} has done {shown} thread {point.next} has a turn"
        elif point.waits:
            words = f"where thread {point.thread} waits or ends behind {shown} thread {point.next} goes on"
        else:
            words = f"before thread {point.thread} comes to {shown} thread {point.next} has a turn"
        return {
            "thread": point.thread,
            "step": point.step,
            "next": point.next,
            "waits": point.waits,
            "file": at.file if at else None,
            "line": at.line if at else None,
            "text": words,
        }

    def _event_of_step(self, thread: int, number: int) -> int:
        """The access or call of a step; -1 where the run has none of that number."""
        steps, table = self.accesses.steps, self.accesses.table
        import numpy as np

        rows = np.flatnonzero((table["thread"] == thread) & (table["step"] == number))
        if len(rows):
            return int(table["event"][rows[0]])
        segments = np.flatnonzero((steps.thread == thread) & (steps.number == number) & steps.is_step)
        if not len(segments):
            return -1
        return self._evidence.last_event(int(segments[0]))


class Explanation:
    """What a failing run did otherwise than a passing one."""

    def __init__(self, subject: Subject, outcome: Outcome, points: tuple[Point, ...], failing: Accesses) -> None:
        self._outcome, self._points = outcome, points
        self._subject, self._failing = subject, RunDescriber(subject, failing)
        self._waits = Waits(failing)
        self._passing: RunDescriber | None = None
        self._comparison: Comparison | None = None

    def beside(self, passing: Accesses) -> None:
        """Compare with a passing run."""
        self._passing = RunDescriber(self._subject, passing)
        self._comparison = Comparison(self._failing.accesses, passing)

    # ---- What kind of error ------------------------------------------------------------------------------------------

    @cached_property
    def _is_stuck(self) -> bool:
        return self._outcome.text.startswith("deadlock")

    @cached_property
    def _lost(self) -> list[Wait]:
        """Threads that wait for a signal that came before they waited."""
        return [wait for wait in self._waits.all if wait.is_condition and wait.signalled] if self._is_stuck else []

    @cached_property
    def _split(self) -> Between | None:
        return self._comparison.split(self._points) if self._comparison is not None else None

    @cached_property
    def _deciders(self) -> list[Decider]:
        return self._comparison.deciders[:DECIDERS] if self._comparison is not None else []

    @cached_property
    def kind(self) -> str:
        """The kind of error; empty where it cannot be told."""
        if self._is_stuck:
            return LOST if self._lost and not self._waits.circle else DEADLOCK
        if self._split is not None:
            return ATOMICITY
        return ORDER if self._deciders else ""

    # ---- Sentences ---------------------------------------------------------------------------------------------------

    def sentences(self) -> list[tuple[int, str]]:
        """What decided, the main thing first: an event of the failing run, and a sentence about it."""
        found = self._of_waits() if self._is_stuck else []
        if self._split is not None and not self._is_stuck:
            found += self._of_split(self._split)
        found += [self._of_decider(decider) for decider in self._deciders]
        return found

    def _of_waits(self) -> list[tuple[int, str]]:
        run, found = self._failing, []
        waits = self._waits.circle or self._waits.all
        for wait in sorted(waits, key=lambda w: (w not in self._lost, w.thread == 0)):
            text = f"thread {wait.thread} waits in `{run.text(wait.event)}` on {run.place(wait.event)}"
            if wait.holder >= 0:
                text += f" for a lock that thread {wait.holder} took on {run.place(wait.taken)} and still has"
            elif wait in self._lost:
                signal = wait.signalled[-1]
                text += (
                    f" for a signal that thread {run.thread_of(signal)} gave on {run.place(signal)}, "
                    "before the thread waited"
                )
            found.append((wait.event, text))
            found += [(wait.taken, text)] if wait.holder >= 0 else []
            if wait in self._lost:
                found.append((wait.signalled[-1], text))
        return found

    def _of_split(self, between: Between) -> list[tuple[int, str]]:
        run, rows = self._failing, (between.first, between.other, between.second)
        first, other, second = (int(run.accesses.table[row]["event"]) for row in rows)
        thread = run.thread_of(first)
        text = (
            f"{run.access(between.other)} between two accesses of thread {thread} that belong together: it "
            f"{run.verb(between.first)} `{run.text(first)}` on {run.place(first)} and "
            f"{run.verb(between.second)} `{run.text(second)}` on {run.place(second)}"
        )
        return [(second, text), (first, text), (other, text)]

    def _of_decider(self, decider: Decider) -> tuple[int, str]:
        run, passing = self._failing, self._passing
        assert passing is not None
        event = int(run.accesses.table[decider.row]["event"])
        here = f"after {run.access(decider.before)}" if decider.before >= 0 else "before any other thread came there"
        there = (
            f"after {passing.access(decider.passing_before)}"
            if decider.passing_before >= 0
            else "before any other thread came there"
        )
        return event, f"{run.access(decider.row)} {here}; in the passing run it did so {there}"

    # ---- Results -----------------------------------------------------------------------------------------------------

    def json(self) -> dict[str, Any]:
        """The explanation as results hold it."""
        run = self._failing
        return {
            "kind": self.kind,
            "points": [run.point(point) for point in self._points],
            "deciding": [self._decider(decider) for decider in self._deciders],
            "waiting": [self._wait(wait) for wait in self._waits.all] if self._is_stuck else [],
            "text": list(dict.fromkeys(text for _, text in self.sentences())),
        }

    def _decider(self, decider: Decider) -> dict[str, Any]:
        run, passing = self._failing, self._passing
        assert passing is not None
        table, other = run.accesses.table, passing.accesses.table
        return {
            "access": run.json(int(table[decider.row]["event"])),
            "behind": run.json(int(table[decider.before]["event"])) if decider.before >= 0 else None,
            "passing": (
                passing.json(int(other[decider.passing_before]["event"])) if decider.passing_before >= 0 else None
            ),
        }

    def _wait(self, wait: Wait) -> dict[str, Any]:
        return {
            "thread": wait.thread,
            "function": wait.function,
            "at": self._failing.json(wait.event),
            "holder": wait.holder if wait.holder >= 0 else None,
            "taken": self._failing.json(wait.taken) if wait.taken >= 0 else None,
        }

    def statements(self) -> dict[Statement, list[str]]:
        """The lines that decide, the main one first, each with its sentences."""
        found: dict[Statement, list[str]] = {}
        for event, text in self.sentences():
            at = self._failing.statement(event)
            if at is not None and text not in found.setdefault(at, []):
                found[at].append(text)
        for point in self._points:
            row = self._failing.point(point)
            if row["file"] is not None and not found:
                found[Statement(row["file"], row["line"])] = [row["text"]]
        return found
