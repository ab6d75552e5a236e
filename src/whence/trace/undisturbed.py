"""Signals wait where their handlers' exceptions would do harm: while a kernel is compiled, and in callbacks from C.

An exception raised in the middle of compiling would leave half of a kernel, which is used; one raised in a callback
would be lost. Meanwhile the handlers of the signals are replaced by one that takes note, and what has come is sent
again afterwards. Python runs handlers in the main thread, so only what happens there counts.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from numba.core import event

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


class _Compiling(event.Listener):
    """Defers signals from the outermost start of compiling to its end: numba's lock tells of both."""

    def __init__(self) -> None:
        self._depth = 0
        self._deferral: AbstractContextManager[list[int]] | None = None

    def on_start(self, event: event.Event) -> None:
        """Compiling begins."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1:
            self._deferral = signals_deferred()
            self._deferral.__enter__()

    def on_end(self, event: event.Event) -> None:
        """Compiling ends, whether it worked or not."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._deferral:
            deferral, self._deferral = self._deferral, None
            deferral.__exit__(None, None, None)


def defer_signals() -> None:
    """From now on signals wait while kernels are compiled."""
    event.register("numba:compiler_lock", _Compiling())  # type: ignore[no-untyped-call]
