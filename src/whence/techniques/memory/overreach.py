"""What let an access go beyond its object: where its address comes from, and what kept the loop going that it is in.

Of many bytes at once that begin inside of the object it is how many they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.dependence.slices import by_line, compute
from whence.findings import Statement
from whence.probe.layout import Kind as Layout
from whence.subject.departure import ADDRESSES
from whence.subject.memory_check import Checked, Error, Kind
from whence.subject.trace_reader import TraceReader
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

if TYPE_CHECKING:
    from whence.subject.subject import Subject

MOST = 6  # statements, the nearest ones
OF_MANY_BYTES = frozenset((Layout.COPY, Layout.SET, Layout.CALL))
OF_THE_ADDRESS = (Edge.ADDRESS, Edge.LIBRARY)


def reaching(subject: Subject, checked: Checked, error: Error) -> list[tuple[Statement, str]]:
    """The statements that the address of an access beyond its object comes from, and what its condition compared, where
    that was decided more than once.

    The nearest first, each with a sentence that says so; values only, not what else was decided before. Empty for
    every other error.
    """
    if error.kind is not Kind.BOUNDS:
        return []
    reader = TraceReader(subject, checked.trace)
    where = reader.statement(error.event)
    criteria = list(_lengths(reader, checked, error)) or list(_targets(reader, error.event))
    if where is None or not criteria:
        return []
    statements = by_line(reader, compute(checked.trace, criteria, control=False)).statements
    access = f"the {'write' if error.writes else 'read'} on {where.file}:{where.line}"
    others = [statement for statement in statements if statement != where][:MOST]
    return [(at, f"how far {access} went comes from here") for at in others]


def _lengths(reader: TraceReader, checked: Checked, error: Error) -> Iterator[int]:
    """The references of what says how many bytes an access has that begins inside of its object; none of other ones."""
    trace = reader.trace
    base = int(checked.table[error.object]["base"])
    if not base <= error.address < base + error.size or trace.kind(error.event) not in OF_MANY_BYTES:
        return
    for target, edge in dependences(trace.plan, trace.columns, error.event + 1):
        if 0 < target <= trace.events and edge in (Edge.VALUE, Edge.LIBRARY):
            value = trace.value(target - 1)
            if value is not None and not ADDRESSES[0] <= value < ADDRESSES[1]:
                yield target


def _targets(reader: TraceReader, event: int) -> Iterator[int]:
    """The references of the events that an access went where it did by."""
    trace = reader.trace
    for target, edge in dependences(trace.plan, trace.columns, event + 1):
        if 0 < target <= trace.events and (
            edge in OF_THE_ADDRESS or (edge is Edge.CONTROL and _is_repeated(reader, target - 1))
        ):
            yield target


def _is_repeated(reader: TraceReader, event: int) -> bool:
    """Whether the run came to an event's code more than once, as to the test of a loop."""
    site = reader.trace.plan.sites[reader.trace.site(event)]
    return len(reader.instances(int(site["segment"]))) > 1
