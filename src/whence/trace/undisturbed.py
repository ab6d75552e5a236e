"""Signals wait where their handlers' exceptions would do harm.

Raised in the middle of compiling, one would leave half of a kernel, which is used; in a callback from C it would be
lost; between taking what has to be given back and noting that, it would stay. Meanwhile the handlers of the signals are
replaced by one that takes note, and what has come is sent again afterwards. Python runs handlers in the main thread, so
only what happens there counts.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

DEFERRED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


@contextmanager
def signals_deferred() -> Iterator[list[int]]:
    """Inside, signals that have handlers in Python wait; gives those that have come so far."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    handlers = {number: signal.getsignal(number) for number in DEFERRED}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield came
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for again in dict.fromkeys(came):
            os.kill(os.getpid(), again)
