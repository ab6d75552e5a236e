"""Continuations of one session that are wanted: they are run together, once the outcome of one of them is needed.

A job of a session takes some milliseconds, whatever it runs; what it runs takes microseconds. So what is likely to be
needed is asked for as early as it is known, and shares the next job.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Verdict
from whence.alter.session import PATIENCE, Session

LATE = 900  # microseconds a millisecond of a continuation's patience from which on its time is taken to be over


class Continuation:
    """A continuation with ``changes`` (CHANGE), of so many clock ticks at least, if it does not end before."""

    def __init__(self, among: Continuations, changes: NDArray[np.void], ticks: int) -> None:
        self.changes, self.ticks = changes, ticks
        self._among = among
        self.ended: tuple[NDArray[np.void], bytes] | None = None

    def outcome(self) -> tuple[NDArray[np.void], bytes]:
        """Its record, and what it read; it is run, with all others that are wanted, where that has not been done."""
        if self.ended is None:
            self._among.run()
        assert self.ended is not None
        return self.ended


class Continuations:
    """Those of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._wanted: list[Continuation] = []

    def want(self, changes: NDArray[np.void], ticks: int) -> Continuation:
        """A continuation that is run with the next job."""
        self._wanted.append(Continuation(self, changes, ticks))
        return self._wanted[-1]

    def run(self) -> None:
        """Run all that are wanted.

        One that ended for what has to do with the machine (its process was lost, its time was over before its clock) is
        run once more, by itself: such an end says nothing about what was changed.
        """
        ticks = max(continuation.ticks for continuation in self._wanted)
        records, data = self.session.read(Batch.of([wanted.changes for wanted in self._wanted]), ticks)
        late = records["microseconds"] >= LATE * PATIENCE
        again = np.isin(records["verdict"], (Verdict.LOST, Verdict.NOT_RUN)) | (
            (records["verdict"] == Verdict.TIMEOUT) & late
        )
        for place in np.flatnonzero(again).tolist():
            alone = Batch.of([self._wanted[place].changes])
            (records[place],), (data[place],) = self.session.read(alone, ticks)
        for wanted, record, part in zip(self._wanted, records, data, strict=True):
            wanted.ended = record, part
        self._wanted.clear()
