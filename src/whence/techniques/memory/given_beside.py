"""What gave the parts beside an undefined one their values: a loop over them may have left that one out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whence.dependence.slices import by_line, compute
from whence.findings import Statement
from whence.subject.memory_check import Checked
from whence.subject.trace_reader import TraceReader
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences
from whence.trace.touched import stored

if TYPE_CHECKING:
    from whence.subject.subject import Subject

SEGMENTS = 1 << 18  # in front of the read, that are looked at
TRIED = 50  # writes to where the object is, which may have been to what was there before it
MOST = 3  # statements that the address comes from, the nearest ones


def given_beside(subject: Subject, checked: Checked, origin: dict[str, Any]) -> list[tuple[Statement, str]]:
    """The statement that stored nearest to where an undefined value was read, in the same object and before that, and
    those that its address comes from, each with a sentence that says so.

    ``origin``: where it was read (``FoundErrors.origin``). Empty where nothing of its object had been given a value, or
    where it was in no object that is known.
    """
    trace, event = checked.trace, int(origin["event"])
    ranges = trace.ranges(event)
    held = checked.at(ranges[0][0], event) if ranges else 0
    nearest = _stored_beside(checked, held, ranges[0][0], event) if held else None
    if nearest is None:
        return []
    reader = TraceReader(subject, trace)
    at, what = reader.statement(nearest), origin["object"]["text"]
    if at is None:
        return []
    targets = [t for t, edge in dependences(trace.plan, trace.columns, nearest + 1) if edge is Edge.ADDRESS]
    behind = by_line(reader, compute(trace, targets, control=False)).statements if targets else []
    found = [(at, f"another part of {what} got its value here, but not {origin['name']}")]
    others = [statement for statement in behind if statement != at][:MOST]
    return found + [(other, f"which part of {what} got a value on line {at.line} comes from here") for other in others]


def _stored_beside(checked: Checked, held: int, address: int, event: int) -> int | None:
    """The first event, of those that stored nearest to an address in the object that holds it, before another event."""
    trace, row = checked.trace, checked.table[held]
    last = int(trace.columns.events["segment"][event]) + 1
    writes = stored(trace, max(0, last - SEGMENTS), last)
    base = int(row["base"])
    is_there = (base <= writes.address) & (writes.address < base + int(row["size"])) & (writes.event < event)
    events, distances = writes.event[is_there], np.abs(writes.address[is_there] - address)
    order = np.lexsort((events, distances))[:TRIED]
    return next((int(events[n]) for n in order if checked.at(int(base), int(events[n])) == held), None)
