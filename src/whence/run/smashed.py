"""A return address that was overwritten: in which function's return the run died, and what wrote there.

The processor's state tells where the return address lay, and the trace what wrote there last. Where that place is not
known (a guard value beside it was found changed, or control went on in other code), the writes through the function's
own arrays are looked at: one that spans more than its array has is what went beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from whence.probe.layout import Kind as Site
from whence.probe.plan import RETURNS
from whence.program.model import Instruction, Operand
from whence.program.types import alloc_size_of
from whence.run.evidence import Evidence
from whence.run.point import Point, pointer_text
from whence.run.result import RunResult
from whence.trace.blocks import Ranges, library_writes
from whence.trace.columns import N_FRAME, FrameKind

GUARD = b"stack smashing detected"
LATEST = 4096  # segments before the end in which a return that went astray is looked for
MOST = 20_000  # segments of the function, the last ones, whose writes are looked at
WRITING = frozenset({Site.STORE, Site.COPY, Site.SET, Site.CALL})
POINTERS = frozenset({"getelementptr", "bitcast"})


@dataclass(slots=True, frozen=True)
class Array:
    """A local array (or a structure, which may hold one): its name and its bytes."""

    name: str
    size: int

    def __str__(self) -> str:
        return f"`{self.name}` ({self.size:,} bytes)"


class Written(NamedTuple):
    """A write through a local array: the event, the first byte, and the first one behind."""

    event: int
    array: Array
    start: int
    end: int


def find_smashed(evidence: Evidence, result: RunResult) -> Point | None:
    """The return at which the run died since its address had been overwritten; None: it did not die so."""
    returned = _returned(evidence, result)
    return _Smashed(evidence, returned, GUARD in result.stderr).point() if returned >= 0 else None


def _returned(evidence: Evidence, result: RunResult) -> int:
    """The return that did not lead back to its call, -1."""
    trace, fault = evidence.trace, evidence.trace.header.fault
    last = evidence.last_event(trace.segments - 1) if trace.segments else -1
    if last >= 0 and trace.kind(last) is Site.RET:
        if GUARD in result.stderr or (fault and _was_done(evidence, trace.fault_address)):
            return last
        return -1
    if not fault or trace.header.threads != 1:
        return -1
    astray = _astray(evidence)
    return astray if astray >= 0 else _with_frame_lost(evidence)


def _was_done(evidence: Evidence, address: int) -> bool:
    """Whether no access of the last segment was what failed at an address: only the return was left then."""
    trace = evidence.trace
    touched = [e for e in evidence.events_of(trace.segments - 1) if trace.address(e) is not None]
    ranges = [place for e in touched for place in trace.ranges(e)]
    return all(map(trace.reached, touched)) and not any(s <= address < s + max(size, 1) for s, size in ranges)


def _astray(evidence: Evidence) -> int:
    """The first of the last returns behind which the function that had called did not go on, -1."""
    columns, flags = evidence.columns, evidence.plan.segments["flags"]
    rows = columns.segments[max(0, evidence.trace.segments - LATEST) : evidence.trace.segments]
    frames = columns.frames[rows["frame"]]
    returns = (flags[rows["id"]] & RETURNS != 0) & (frames["kind"] == FrameKind.DIRECT)
    went_on = (rows["previous"][1:] == frames["call"][:-1]) | (frames["kind"][1:] == FrameKind.SIGNAL)
    found = np.flatnonzero(returns[:-1] & ~went_on)
    return evidence.last_event(evidence.trace.segments - len(rows) + int(found[0])) if len(found) else -1


def _with_frame_lost(evidence: Evidence) -> int:
    """The last return to the function in which the run ended, where what it has for its frame is no address; else -1.

    The return gives a function its frame back as the other one had kept it, beside the return address.
    """
    trace, fault = evidence.trace, evidence.trace.header.fault
    last = evidence.last_event(trace.segments - 1) if trace.segments else -1
    if last < 0 or fault is None or not fault.is_frame_lost or trace.kind(last) is Site.CALL:
        return -1
    frames, flags = evidence.columns.frames, evidence.plan.segments["flags"]
    own = evidence.frame(last)
    for segment in range(trace.segments - 2, max(-1, trace.segments - LATEST), -1):
        row = evidence.columns.segments[segment]
        call = int(frames[row["frame"]]["call"])
        if flags[row["id"]] & RETURNS and call >= 0 and evidence.frame(call) == own:
            return evidence.last_event(segment)
    return -1


class _Smashed:
    def __init__(self, evidence: Evidence, returned: int, guarded: bool) -> None:
        self.evidence, self.trace, self.returned = evidence, evidence.trace, returned
        self.function = evidence.function_of(returned)
        self._guarded = guarded
        fault = self.trace.header.fault
        self._target = fault.address if fault and (fault.is_return or fault.is_fetch) else None

    def point(self) -> Point | None:
        """The return, and the write that spoiled it; None where nothing of the function's can have done so."""
        writer = max((self.evidence.time(r) for r in self.trace.return_writers), default=-1)
        overrun = self._overrun()
        if writer < 0 and overrun is None and not self.arrays:
            return None
        what, more = self._spoiled()
        if writer >= 0:
            through = self._through(writer)
            more += f"; {self._writer(writer)} had written over it"
            more += f", beyond {through}" if through else self._candidates()
        elif overrun:
            writer = overrun.event
            more += f"; {self._writer(writer)} had written beyond {overrun.array}"
        else:
            more += self._candidates()
        criteria = [self.returned + 1, *([writer + 1] if writer >= 0 else self._last_writes())]
        here = self.trace.location(self.returned)  # not where what it returns was made
        return Point(self.returned, criteria, label=what, more=more, location=here)

    def _spoiled(self) -> tuple[str, str]:
        """What is known to have been overwritten."""
        name = self.function.name
        if self._target is not None:
            text = f"returning from {name}, whose return address had been overwritten"
            return text, f" (it was {pointer_text(self._target)})"
        if self._guarded:
            return f"returning from {name}, whose guard value had been overwritten", ""
        return f"just after returning from {name}, whose frame seems to have been overwritten", ""

    # ---- Words ---------------------------------------------------------------------------------------------

    def _candidates(self) -> str:
        """The arrays from which it may have been reached, where the one is not known."""
        if not self.arrays:
            return ""
        return f"; its arrays: {', '.join(str(array) for array in self.arrays.values())}"

    def _writer(self, event: int) -> str:
        return f"`{self.evidence.expression(event)}` on {self._line(event)}"

    def _line(self, event: int) -> str:
        at, here = self.trace.location(event), self.trace.location(self.returned)
        if at is None:
            return "an unknown line"
        return f"line {at.line}" if here and here.file == at.file else f"{at.file.rpartition('/')[2]}:{at.line}"

    # ---- Arrays --------------------------------------------------------------------------------------------

    @cached_property
    def arrays(self) -> dict[str, Array]:
        """The arrays and structures among the function's locals, by register."""
        function, explainer = self.function.function, self.evidence.explainer(self.returned)
        module = self.trace.program.modules[self.function.module]
        found = {}
        for i in function.blocks[0].instructions:
            is_array = i.opcode == "alloca" and i.result and i.element_type[0] in "[%{" and not i.operands
            variable = explainer.debug.variable_at(function, i.result or "") if is_array else None
            if variable is not None:
                found[i.result or ""] = Array(variable.name, alloc_size_of(i.element_type, module))
        return found

    @cached_property
    def _definitions(self) -> dict[str, Instruction]:
        return {i.result: i for i in self.function.function.instructions() if i.result}

    def _array_of(self, pointer: Operand) -> Array | None:
        """The local array that a pointer of the function leads into by its own expression."""
        text = pointer.text
        while text not in self.arrays:
            made = self._definitions.get(text)
            if made is None or made.opcode not in POINTERS:
                return None
            text = made.operands[0].text
        return self.arrays[text]

    def _through(self, event: int) -> Array | None:
        """The array through which an event of the function's own code wrote."""
        if self.evidence.function_of(event).id != self.function.id:
            return None
        instruction = self.trace.instruction(event)
        if self.trace.kind(event) is Site.STORE:
            return self._array_of(instruction.operands[1])
        return next((a for o in instruction.operands if o.type == "ptr" and (a := self._array_of(o))), None)

    # ---- Writes --------------------------------------------------------------------------------------------

    def _overrun(self) -> Written | None:
        """The first write through a local array that went beyond it: it spans more bytes than the array has.

        Where the array begins is not recorded: not behind the first byte that was written through it.
        """
        written = list(self._written())
        lowest: dict[Array, int] = {}
        for w in written:
            lowest[w.array] = min(lowest.get(w.array, w.start), w.start)
        return next((w for w in written if w.end > lowest[w.array] + w.array.size), None)

    def _last_writes(self) -> list[int]:
        """References to the last write through each array, by the function or by one that was given the array."""
        found = {w.array: w.event + 1 for w in self._written()}
        for segment in self._segments:
            call = self.evidence.last_event(segment)
            array = self._through(call) if self.trace.kind(call) is Site.CALL else None
            if array and (made := self._stored_by(segment)):
                found[array] = made + 1
        return list(found.values())

    def _stored_by(self, call: int) -> int:
        """The last store to memory by the function that a segment's call entered, 0."""
        columns = self.evidence.columns
        frames = np.flatnonzero(columns.frames["call"][: columns.counts[N_FRAME]] == call)
        rows = np.flatnonzero(np.isin(columns.segments["frame"][: self.trace.segments], frames))
        events = (e for s in rows[::-1][:MOST].tolist() for e in reversed(self.evidence.events_of(s)))
        return next((e for e in events if self.trace.kind(e) is Site.STORE and self.trace.address(e)), 0)

    def _written(self) -> Iterator[Written]:
        """What the function's own code wrote through its arrays in the call that returned, in order of time."""
        for segment in self._segments:
            for event in self.evidence.events_of(segment):
                if self.trace.kind(event) in WRITING and (array := self._through(event)):
                    yield from (Written(event, array, *written) for written in self._ranges(event))

    @cached_property
    def _segments(self) -> list[int]:
        """The segments of the call that returned, the last ones."""
        frames = self.evidence.columns.segments["frame"][: self.evidence.segment_of(self.returned) + 1]
        rows = np.flatnonzero(frames == self.evidence.frame(self.returned))[-MOST:]
        return [int(row) for row in rows]

    def _ranges(self, event: int) -> list[tuple[int, int]]:
        """The bytes that an event wrote: the first one, and the first one behind them."""
        if self.trace.kind(event) is not Site.CALL:
            return [(start, start + size) for start, size in self.trace.ranges(event)[:1] if start]
        events, starts, ends = self._library_writes
        place = int(np.searchsorted(events, event))
        has_written = place < len(events) and events[place] == event
        return [(int(starts[place]), int(ends[place]))] if has_written else []

    @cached_property
    def _library_writes(self) -> Ranges:
        return library_writes(self.trace)
