"""A process that is not to outlive the one that began it (Linux)."""

from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1

_prctl = ctypes.CDLL(None).prctl


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Let this process get a signal when the thread that began it ends."""
    _prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
