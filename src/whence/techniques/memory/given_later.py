"""What gave a value too late: what was read undefined, and was written later in the same object's life."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.findings import Statement
from whence.subject.memory_check import Checked
from whence.subject.trace_reader import TraceReader
from whence.trace.touched import stored

if TYPE_CHECKING:
    from whence.subject.subject import Subject

SEGMENTS = 1 << 16  # that are looked at first; then twice as many, and so on


def given_later(subject: Subject, checked: Checked, origin: dict[str, Any]) -> tuple[Statement, str] | None:
    """The statement that first stored to where an undefined value was read, after that, with a sentence that says so.

    ``origin``: where it was read (``FoundErrors.origin``). None where nothing did while the object was there, or where
    the value was in no object that is known.
    """
    trace, event = checked.trace, int(origin["event"])
    ranges = trace.ranges(event)
    held = checked.at(ranges[0][0], event) if ranges else 0
    later = _stored_at(checked, ranges[0][0], event) if held else None
    if later is None or checked.at(ranges[0][0], later) != held:
        return None
    at = TraceReader(subject, trace).statement(later)
    read = f"{origin['file']}:{origin['line']}"
    return (at, f"{origin['name']} was given a value here only behind {read}, which had read it") if at else None


def _stored_at(checked: Checked, address: int, event: int) -> int | None:
    """The first event behind another that stores to an address."""
    trace = checked.trace
    first, count = int(trace.columns.events["segment"][event]), SEGMENTS
    while first < trace.segments:
        writes = stored(trace, first, first + count)
        is_there = (writes.address <= address) & (address < writes.address + writes.length) & (writes.event > event)
        if is_there.any():
            return int(writes.event[is_there.argmax()])
        first, count = first + count, 2 * count
    return None
