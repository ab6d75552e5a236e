"""Where a value came from: the event that wrote it last, behind parameters the call that passed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.debug.expressions import Lvalue
from whence.probe.layout import Kind
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

if TYPE_CHECKING:
    from whence.subject.recorded_objects import Instant
    from whence.subject.trace_reader import TraceReader


@dataclass(slots=True, frozen=True)
class Origin:
    """The instant at which a value is about to be given (-1: the recording has none), and what happens there."""

    event: int
    text: str


def origin_of(lvalue: Lvalue, instant: Instant, reader: TraceReader) -> Origin:
    """Where what lies at a place came from."""
    name = lvalue.path.text
    event = instant.writer(lvalue.address, lvalue.size)
    if event < 0:
        known = instant.read(lvalue.address, lvalue.size) is not None
        why = "has had its value from the start" if known else "was never given a value that was recorded"
        return Origin(-1, f"`{name}` {why}")
    if reader.statement(event) is None:
        event = _passed(event, reader)
    place = reader.statement(event)
    where = f"{place.file}:{place.line}" if place is not None else "code without a line"
    action = reader.action(event)
    return Origin(event, f"`{name}` came from {where}" + (f", which {action}" if action else ""))


def _passed(event: int, reader: TraceReader) -> int:
    """The argument of the call that a parameter's value came from; the event itself where it is another one."""
    trace = reader.trace
    for reference, edge in dependences(trace.plan, trace.columns, event + 1, False):
        if reference > 0 and edge is Edge.VALUE and trace.kind(reference - 1) is Kind.ARG:
            return reference - 1
    return event
