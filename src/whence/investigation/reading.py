"""A long run that is read in windows: who waits is told, and it ends where there is not enough time for all of it."""

from __future__ import annotations

import time

from whence.errors import TooLong
from whence.investigation.clock import Clock
from whence.investigation.watcher import Watcher

MEASURED = 2  # windows, behind the first one, that tell how long the others take
AGAIN = 1.4  # times as long as it is read takes slicing it, which decodes it once more


class Reading:
    """Is called before each window (``trace.long_trace.Watch``); ``trouble`` says why reading was given up.

    Raises TooLong where reading the others, and slicing them all, would take longer than there is time.
    """

    def __init__(self, clock: Clock, watcher: Watcher) -> None:
        self._clock, self._watcher = clock, watcher
        self._began = 0.0
        self.trouble = ""

    def __call__(self, number: int, windows: int) -> None:
        """Tell of a window, and look at the time. Raises TooLong where there is not enough."""
        self._watcher.busy(f"reading window {number + 1} of {windows} of a long run")
        if number <= 1:  # the first one may have to wait until the analysis is compiled
            self._began = time.monotonic()
        if number <= MEASURED:
            return
        each = (time.monotonic() - self._began) / (number - 1)
        left = each * (windows - number) + AGAIN * each * windows
        if left > self._clock.left:
            more = (left - self._clock.left) + self._clock.budget
            self.trouble = (
                f"to read the whole run, and slice it, there is not enough time: --budget {_minutes(more)} would do"
            )
            raise TooLong(self.trouble)


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60) + 1}m"
