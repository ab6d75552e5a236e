"""What wrote over a return address in a run whose locals were laid out anew: there it is known where each one lay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whence.run.evidence import Evidence
from whence.trace.blocks import Blocks

if TYPE_CHECKING:
    from whence.alter.suppression import Ordering
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

LAST = 64  # segments of which the functions may have returned astray
MOST = 32  # frames looked at, the last ones
ADDRESS = 8  # bytes


def over_return_address(subject: Subject, trace: Trace, ordering: Ordering) -> list[int]:
    """The events that wrote over the return address of a frame that was open at the end, or shortly before."""
    frames = trace.columns.segments["frame"][: trace.segments]
    last = {int(frame) for frame in frames[-LAST:]} | Evidence(trace).open_frames(trace.segments - 1)
    blocks = Blocks(trace)
    for frame in sorted(last, reverse=True)[:MOST]:
        rows = np.flatnonzero(frames == frame)
        slot = _return_slot(subject, trace, ordering, int(rows[0])) if len(rows) else 0
        if slot and (found := blocks.writes(slot, slot + ADDRESS, int(trace.columns.segments[rows[0]]["event"]) - 1)):
            return found
    return []


def _return_slot(subject: Subject, trace: Trace, ordering: Ordering, entry: int) -> int:
    """Where the return address of a function lies, by the address of a local in its first segment; 0: not known."""
    row = trace.columns.segments[entry]
    number = int(trace.plan.segments[row["id"]]["function"])
    movable = subject.movable.frames.get(number)
    places = subject.replay_numbering.layouts[number].segments[0].places
    if movable is None or not places:
        return 0
    numbers = {local.name: local.number for local in movable.locals}
    for local, unit in places:
        if local.result in numbers:
            start = int(row["word"]) + unit
            address = int.from_bytes(trace.units[start : start + 2].tobytes(), "little")
            return address - ordering.places[numbers[local.result]] + movable.size
    return 0
