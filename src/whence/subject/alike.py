"""Which failing cases fail in the same way: only what such runs have in common says something about one fault.

Two runs fail in the same way where their outcomes are of one kind, and, of failed assertions, crashes and memory
errors, at the same statement. Where a run printed something wrong says less: one fault shows at many outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whence.errors import WhenceError
from whence.run.outcome import Kind
from whence.subject.symptoms import symptom_of

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs, Tested

TRIED = 20  # of which crashes are recorded, to see where they were


def failing_alike(runs: Runs, rows: Sequence[int], recorder: Recorder, most: int) -> list[int]:
    """Of failing cases, given by their rows of ``runs``, those that fail as the first one does; at most so many.

    Crashes are recorded to see where they are; one that cannot be recorded is not like the first.
    """
    first = runs.tested[rows[0]]
    alike = [row for row in rows if _way(runs.tested[row]) == _way(first)]
    if first.outcome.kind is not Kind.CRASH or len(alike) == 1:
        return alike[:most]
    place, found = _place(recorder, first), alike[:1]
    for row in alike[1:TRIED]:
        if len(found) < most and (place is None or _place(recorder, runs.tested[row]) == place):
            found.append(row)
    return found


def others_alike(runs: Runs, rows: Sequence[int], most: int) -> list[int]:
    """Failing cases other than those of ``rows`` that fail as one of these does, at most so many, spread over all.

    Nothing is recorded: of crashes the place is not compared. Commands of a test suite are left out.
    """
    ways = {_way(runs.tested[row]) for row in rows}
    own = [row for row in runs.failing if row not in rows and runs.tested[row].case.command is None]
    alike = [row for row in own if _way(runs.tested[row]) in ways]
    step = max(len(alike) / max(most, 1), 1.0)
    return [alike[int(n * step)] for n in range(min(len(alike), most))]


def _way(tested: Tested) -> tuple[object, ...]:
    """What is known of the way in which a case fails without recording it."""
    assertion = tested.outcome.assertion
    place = (assertion.file, assertion.line) if assertion else None
    text = tested.outcome.text if tested.outcome.kind is Kind.MEMORY else ""
    return tested.outcome.kind, tested.result.signal, place, text


def _place(recorder: Recorder, tested: Tested) -> Statement | None:
    """The statement at which a run crashes; None: it is not known."""
    try:
        recording = recorder.record(tested.case, tested.outcome)
        return symptom_of(recording, recorder.subject.folder).statement
    except WhenceError:
        return None
