"""The memory of edits that are shown: of the first ones runs are recorded and checked, in the time there is."""

from __future__ import annotations

import time

from whence.findings import Statement
from whence.investigation.clock import OutOfTime, alarm
from whence.subject.edited import Check, Tried
from whence.subject.edited_memory import NO_TIME, EditedMemory

RECORDED = 3  # edits, the first ones, which are those that are shown
NOT_RECORDED = Check(trouble="only the first edits are")
NOT_COMPILED = Check(trouble="the checker is not compiled yet, which `whence doctor` does")


def memory_of(memory: EditedMemory, at: Statement, text: bytes, tried: Tried, deadline: float) -> Check:
    """What recorded runs with the new text of a statement's file show until ``deadline``.

    ``tried`` is what came of it on all cases.

    Rewriting a large program cannot look at the clock, so an alarm ends it.
    """
    if not memory.is_compiled():
        return NOT_COMPILED
    try:
        with alarm(deadline - time.monotonic()):
            return memory.check(at, text, tried)
    except OutOfTime:
        return Check(trouble=NO_TIME)
