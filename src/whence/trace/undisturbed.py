"""Signals wait while a kernel is compiled: an exception raised in the middle would leave half of one, which is used.

Numba's lock tells when compiling begins and ends. Meanwhile the handlers of the signals are replaced by one that takes
note, and what has come is sent again afterwards. Python runs handlers in the main thread, so only what is compiled
there counts.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from numba.core import event

DEFERRED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


class _Deferring(event.Listener):
    """Defers signals from the outermost start of compiling to its end."""

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: dict[signal.Signals, Any] = {}
        self._came: list[int] = []

    def on_start(self, event: event.Event) -> None:
        """Compiling begins."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1:
            ours = [s for s in DEFERRED if callable(signal.getsignal(s))]
            self._handlers = {s: signal.signal(s, self._note) for s in ours}

    def on_end(self, event: event.Event) -> None:
        """Compiling ends, whether it worked or not."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0:
            handlers, self._handlers = self._handlers, {}
            came, self._came = self._came, []
            for deferred, handler in handlers.items():
                signal.signal(deferred, handler)
            for number in dict.fromkeys(came):
                os.kill(os.getpid(), number)

    def _note(self, number: int, _: object) -> None:
        self._came.append(number)


def defer_signals() -> None:
    """From now on signals wait while kernels are compiled."""
    event.register("numba:compiler_lock", _Deferring())  # type: ignore[no-untyped-call]
