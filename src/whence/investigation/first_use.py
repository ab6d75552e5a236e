"""Compiling parts of the analysis at their first use, within the time of a step.

Nothing ends compiling once it has begun. So it is done by a child process, which can be ended; what that has compiled
is in the cache.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import NoReturn, Protocol

from whence.errors import WhenceError
from whence.investigation.clock import OutOfTime

LOOK = 0.02  # seconds between two looks whether the child has ended


class Compiled(Protocol):
    """What has to be compiled at its first use."""

    @staticmethod
    def is_compiled() -> bool:
        """Whether that has been done before."""

    def compile(self) -> None:
        """Do it."""


def compile_in_time(part: Compiled) -> None:
    """Compile a part of the analysis where that has not been done.

    Raises WhenceError where the time of the step is over before.
    """
    if part.is_compiled():
        return
    child = os.fork()
    if child == 0:
        _compile_and_leave(part)
    try:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(LOOK)
    except OutOfTime:
        _end(child)
        late = "compiling at its first use takes longer than its share of the time"
        raise WhenceError(late, "`whence doctor` does it ahead of time") from None
    except BaseException:
        _end(child)
        raise


def _compile_and_leave(part: Compiled) -> NoReturn:
    """What the child does: nothing of the parent's is touched on the way out."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        part.compile()
    finally:
        os._exit(0)


def _end(child: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
