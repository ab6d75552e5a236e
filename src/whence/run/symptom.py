"""The symptom of a failing run: the instruction instance at which the failure shows, found without the user's help.

Each outcome leads to a place in the trace. A wrong byte of the output leads to the call that wrote it and, by the
pieces of its text, to the argument; output that is missing to the last branches that decided over printing; a crash to
the access at the faulting address; a wrong status to what was returned; a time-out to the loop that was still running.

A symptom's ``details["criteria"]`` are the references (see ``trace/columns.py``) from which a slice is to start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from whence.findings import Symptom
from whence.probe.layout import Kind as Site
from whence.run.binary import in_hexadecimal, is_binary
from whence.run.crash import find_crash
from whence.run.evidence import Evidence, Source
from whence.run.outcome import STDERR, STDOUT, Kind, Outcome
from whence.run.point import Point, quoted, statement_of
from whence.run.result import RunResult

if TYPE_CHECKING:
    from whence.trace.trace import Trace


def find_symptom(trace: Trace, result: RunResult, outcome: Outcome, folder: Path) -> Symptom:
    """The symptom of a failing run, from its trace, its result and its judgement.

    File names are given relative to ``folder``. Where the trace does not hold the place (it was cut off, or code
    without IR is at fault), the symptom has neither event nor statement.
    """
    return _Finder(trace, result, outcome).symptom(folder)


def telling_call(trace: Trace, result: RunResult) -> int:
    """The call that printed what tells of a failure (``Case.failing_output``); -1: nothing does, or it is not known."""
    pattern, evidence = result.case.failing_output, Evidence(trace)
    for stream in (STDOUT, STDERR) if pattern else ():
        found = re.search(str(pattern).encode(), result.text(stream), re.M)
        source = evidence.source_of(stream, found.start()) if found else None
        if source is not None:
            return source.call
    return -1


class _Finder:
    def __init__(self, trace: Trace, result: RunResult, outcome: Outcome) -> None:
        self.evidence = Evidence(trace)
        self.trace, self.result, self.outcome = trace, result, outcome

    def symptom(self, folder: Path) -> Symptom:
        kind, point = self._find()
        text = point.text or self.outcome.text
        details: dict[str, object] = {"criteria": point.criteria, **point.details}
        if point.event < 0:
            return Symptom(kind, text, details=details)
        location = point.location or self.evidence.place(point.event)
        if location is not None and location.column:
            details["column"] = location.column
        if point.label:
            details["label"] = point.label
        statement = statement_of(location, folder)
        return Symptom(kind, text, statement, self.trace.clock(point.event), point.event, details)

    def _find(self) -> tuple[str, Point]:
        """The kind of symptom, as ``findings.Symptom`` names it, and the point."""
        outcome = self.outcome
        if outcome.kind is Kind.WRONG_OUTPUT and outcome.difference:
            return self._find_output()
        by_kind: dict[Kind, Callable[[], Point]] = {
            Kind.WRONG_STATUS: self._status,
            Kind.CRASH: lambda: find_crash(self.evidence, self.result, self.outcome),
            Kind.ASSERTION: self._assertion,
            Kind.TIMEOUT: self._timeout,
        }
        find = by_kind.get(outcome.kind, Point)
        return outcome.kind.value.replace(" ", "-"), find()

    # ---- Output --------------------------------------------------------------------------------------------

    def _find_output(self) -> tuple[str, Point]:
        assert self.outcome.difference is not None
        offset = self.outcome.difference.actual
        if offset >= len(self._actual):
            return "missing-output", self._missing()
        if self.outcome.difference.expected >= len(self._expected):
            return "extra-output", self._wrong_byte(offset)
        return "wrong-output", self._wrong_byte(offset)

    @cached_property
    def _actual(self) -> bytes:
        return self.result.text(self.outcome.stream)

    @cached_property
    def _expected(self) -> bytes:
        expected = self.result.case.expected
        if expected is None:
            return b""
        return expected.text(self.outcome.stream) or b""

    @property
    def _expected_offset(self) -> int:
        assert self.outcome.difference is not None
        return self.outcome.difference.expected

    def _missing(self) -> Point:
        """The branches after the last output that decided over printing, the likeliest one as the event."""
        last = self.evidence.last_output(self.outcome.stream)
        branches = self._branches_after(last)
        expected = in_hexadecimal(self._expected[self._expected_offset :]) if self._is_binary else self._expected_line()
        text = f"{self.outcome.text}: {expected} is missing"
        if not branches:
            event = self.evidence.exit_event()
            return Point(event, [event + 1] if event >= 0 else [], text, "after which nothing is printed")
        event = self._likeliest(branches, last)
        others = [b for b in branches if b != event]
        label = f"`{self.evidence.expression(event)}` was decided so that nothing more is printed"
        return Point(event, [b + 1 for b in [event, *others]], text, label)

    def _branches_after(self, output: int) -> list[int]:
        """Those that decided over printing behind an output, before the run was ended.

        What ran behind ``exit`` or the return of ``main`` (closing the streams, most often) counts only where there is
        nothing before.
        """
        first = self.evidence.segment_of(output) + 1 if output >= 0 else 0
        exited = self.evidence.exit_event()
        end = self.evidence.segment_of(exited) + 1 if exited >= 0 else self.trace.segments
        parts = [range(first, end), range(max(first, end), self.trace.segments)]
        found = (self.evidence.deciding(p, self._expected, self._expected_offset, ends=True) for p in parts)
        return next((branches for branches in found if branches), [])

    def _likeliest(self, branches: list[int], last: int) -> int:
        """The branch that ended the run; else the first after the last output, in a frame open then; else the last."""
        exited = self.evidence.exit_event()
        if exited >= 0 and self.trace.kind(exited) is not Site.RET:
            control = self.evidence.control(exited)
            if control in branches:
                return control
        if last >= 0:
            open_frames = self.evidence.open_frames(self.evidence.segment_of(last))
            for branch in reversed(branches):
                if self.evidence.frame(branch) in open_frames:
                    return branch
        return branches[0]

    def _wrong_byte(self, offset: int) -> Point:
        """The argument that made a byte of the output, or the call where the byte is literal text."""
        text = self._line_text(offset)
        source = self.evidence.source_of(self.outcome.stream, offset)
        if source is None:
            return Point(text=text)
        details: dict[str, object] = {"stream": self.outcome.stream, "offset": offset}
        before = self.evidence.source_of(self.outcome.stream, offset - 1) if offset else None
        is_cut = source.is_literal and before and not before.is_literal and self._cut_short(before, offset)
        if is_cut and before and before.call == source.call:
            source, offset = before, offset - 1
        if source.is_literal or not self._fits(source):
            label = f"wrote byte {offset + 1:,}, the first wrong one"
            criteria = self._call_criteria(source) + (before.criteria if is_cut and before else [])
            return Point(source.call, criteria, text, label, details)
        details["argument"] = source.argument
        label = f"`{self.evidence.argument_text(source)}` gave {self._shown(source)}"
        return Point(source.event, source.criteria, text, label, details)

    def _cut_short(self, piece: Source, offset: int) -> bool:
        """Whether a value ended at the byte where more of a number or word was expected.

        Where another call went on, it may also be that one between the two is missing: ``_wrong_byte`` takes both in.
        """
        assert self.outcome.difference is not None
        expected = self._expected[self.outcome.difference.expected :][:1]
        actual = self._actual[offset : offset + 1]
        ends = piece.start + piece.length == offset
        return ends and (expected.isalnum() or expected == b".") and not actual.isalnum()

    def _fits(self, source: Source) -> bool:
        """Whether the call could have written what was expected where it wrote, with other values."""
        site = self.trace.site(source.call)
        return self.evidence.formats.fits(site, self._expected, self._expected_at(source)) is not False

    def _expected_at(self, source: Source) -> int:
        """Where in the expected output the call's text should stand."""
        assert self.outcome.difference is not None
        return max(0, self._expected_offset - (self.outcome.difference.actual - source.begin))

    def _call_criteria(self, source: Source) -> list[int]:
        """The call, and the branches since the output before it that could have led to other calls."""
        first = self.evidence.segment_of(source.previous) + 1 if source.previous >= 0 else 0
        between = range(first, self.evidence.segment_of(source.call))
        branches = self.evidence.deciding(between, self._expected, self._expected_at(source))
        return [source.call + 1, *(b + 1 for b in branches)]

    def _shown(self, source: Source) -> str:
        """What a source wrote."""
        written = self._actual[source.start : source.start + source.length]
        return in_hexadecimal(written) if self._is_binary else quoted(written.decode(errors="replace"))

    @property
    def _is_binary(self) -> bool:
        assert self.outcome.difference is not None
        places = (self._actual, self.outcome.difference.actual), (self._expected, self._expected_offset)
        return any(is_binary(data, offset) for data, offset in places)

    def _line_text(self, offset: int) -> str:
        assert self.outcome.difference is not None
        expected = self.result.case.expected
        name = expected.name(self.outcome.stream) if expected is not None else "output"
        if self._is_binary:
            return self._byte_text(name, offset)
        number = self._actual.count(b"\n", 0, offset) + 1
        shown = quoted(line_around(self._actual, offset))
        if self.outcome.difference.expected >= len(self._expected):
            return f"line {number} of {name} is {shown}, where the expected output has ended"
        return f"line {number} of {name} is {shown}, expected {self._expected_line()}"

    def _byte_text(self, name: str, offset: int) -> str:
        """The first wrong byte; bytes are numbered from 1, as other tools do."""
        found = f"byte {offset + 1:,} of {name} is {in_hexadecimal(self._actual[offset : offset + 1])}"
        if self._expected_offset >= len(self._expected):
            return f"{found}, where the expected output has ended"
        return f"{found}, expected {in_hexadecimal(self._expected[self._expected_offset :][:1])}"

    def _expected_line(self) -> str:
        assert self.outcome.difference is not None
        return quoted(line_around(self._expected, self.outcome.difference.expected))

    # ---- Ends ----------------------------------------------------------------------------------------------

    def _status(self) -> Point:
        """What printed that it failed; or the argument of ``exit``, or what ``main`` returned."""
        if (call := telling_call(self.trace, self.result)) >= 0:
            return Point(call, [call + 1], label="printed that it failed")
        event = self.evidence.exit_event()
        if event < 0:
            return Point()
        kind = self.trace.kind(event)
        what = "exit was called" if kind is Site.ARG else "main returned"
        return Point(event, [event + 1], label=f"{what} with status {self.result.code}")

    def _assertion(self) -> Point:
        """The branch that tested the asserted condition."""
        call = self.evidence.last_call()
        if call < 0:
            return Point()
        branch = self.evidence.control(call)
        if branch < 0:
            return Point(call, [call + 1], label="the assertion failed")
        return Point(branch, [branch + 1], label=f"`{self.evidence.expression(branch)}` did not hold")

    def _timeout(self) -> Point:
        event = self.evidence.endless_branch()
        if event < 0:
            return Point()
        if self.result.deadlocked:
            return Point(event, [event + 1], label="here a thread waits, and all others do")
        label = f"`{self.evidence.expression(event)}` was still going round when the run was ended"
        return Point(event, [event + 1], label=label)


# ---- Words -------------------------------------------------------------------------------------------------


def line_around(text: bytes, offset: int) -> str:
    """The line of ``text`` that holds the byte at ``offset``, without its newline."""
    start = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    return text[start : end if end >= 0 else len(text)].decode(errors="replace")
