"""The time of a diagnosis: how much is left of its budget, and an alarm for what would overrun its share.

The budget is wall time for everything but building: while the program or a variant is built the clock stands still,
and so do the alarms.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

Due = Callable[[float | None, float], None]  # when all has to be over (of time.monotonic; None: it stands), of how much

BUDGET = 60.0  # seconds, where the options say nothing
SHOWING, SHOWING_LEAST = 0.02, 0.5  # of the budget, and seconds of a processor, that are left for showing the result
SHOWING_MOST = 0.2  # of the budget
SOON, AGAIN = 1e-3, 0.5  # seconds to an alarm at least, and between its rings


class OutOfTime(KeyboardInterrupt):
    """The share of a step is used up: it ends as it would with Ctrl-C, and keeps what it has."""


class Clock:
    """A budget of wall time. Until ``start`` there is no limit. ``due`` is called whenever its end moves."""

    def __init__(self, due: Due = lambda _, __: None) -> None:
        self._due = due
        self._end = float("inf")
        self._budget = float("inf")
        self._showing = 0.0
        self._until = float("inf")
        self._stands = False
        self.stood = 0.0  # seconds for which it stood still

    def start(self, budget: float | None, spent: float = 0.0) -> None:
        """The time begins; ``budget`` in seconds, without an end where it is infinite; None: the default one.

        So many seconds of it are ``spent`` already, which is half of it at most.
        """
        self._budget = budget or BUDGET
        self._end = time.monotonic() + self._budget - min(spent, self._budget / 2)
        showing = min(SHOWING * self._budget + SHOWING_LEAST * _busy(), SHOWING_MOST * self._budget)
        self._showing = 0.0 if self._budget == float("inf") else showing
        self._due(self._end, self._budget)

    @property
    def budget(self) -> float:
        """The seconds that all of it may take."""
        return self._budget

    @property
    def deadline(self) -> float:
        """When work has to end (of ``time.monotonic``), so that there is time to show what was found."""
        return min(self._end - self._showing, self._until)

    @property
    def left(self) -> float:
        """Seconds that are left for work; 0 where none are."""
        return max(0.0, self.deadline - time.monotonic())

    def within(self, share: float) -> float:
        """When a share of the time that is left will be over (of ``time.monotonic``)."""
        return time.monotonic() + share * self.left

    def part(self, share: float) -> AbstractContextManager[None]:
        """Inside, only a share of the time that is left is there."""
        return self.only(share * self.left)

    @contextmanager
    def only(self, seconds: float) -> Iterator[None]:
        """Inside, only so many seconds are there, of those that are left."""
        outer, stood = self._until, self.stood
        self._until = min(outer, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._until = outer + self.stood - stood

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Inside, where something is built, the clock stands still."""
        if self._stands:
            yield
            return
        self._stands = True
        began = time.monotonic()
        self._due(None, self._budget)
        try:
            with _alarms.standing():
                yield
        finally:
            self._stands = False
            took = time.monotonic() - began
            self.stood += took
            self._end += took
            self._until += took
            self._due(self._end, self._budget)


class _Alarms:
    """The timer of this process, which is set for the innermost alarm; ``now`` is a time that stands still with it."""

    def __init__(self) -> None:
        self._stood = 0.0

    def now(self) -> float:
        """Seconds, without those for which all alarms stood still."""
        return time.monotonic() - self._stood

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Inside, no alarm goes off, nor comes nearer; in the main thread only, as alarms are."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        began = time.monotonic()
        left, again = signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            yield
        finally:
            self._stood += time.monotonic() - began
            if left:
                signal.setitimer(signal.ITIMER_REAL, left, again)


_alarms = _Alarms()


def _busy() -> float:
    """How many processes want each processor lately; 1 where there are enough for all."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Inside, OutOfTime is raised once so many seconds are over, as soon as Python code runs; in the main thread only.

    A kernel that is being compiled is finished first (``trace/undisturbed.py``). An alarm that was set before goes off
    when it would have.
    """
    if threading.current_thread() is not threading.main_thread() or seconds == float("inf"):
        yield
        return
    handler, hook = signal.signal(signal.SIGALRM, _ring), sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, hook)
    began = _alarms.now()
    before, again = signal.setitimer(signal.ITIMER_REAL, max(seconds, SOON), AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        sys.unraisablehook = hook
        if before:
            signal.setitimer(signal.ITIMER_REAL, max(before - (_alarms.now() - began), SOON), again)


def _ring(_: int, __: object) -> None:
    """Raise OutOfTime, unless it is under way already."""
    if not isinstance(sys.exception(), OutOfTime):
        raise OutOfTime


def _unraisable(hook: Callable[[sys.UnraisableHookArgs], object], what: sys.UnraisableHookArgs) -> None:
    """Be silent about an alarm within a callback from C, which cannot raise: it rings again."""
    if not isinstance(what.exc_value, OutOfTime):
        hook(what)
