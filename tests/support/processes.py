"""Processes that tests start and end by signals."""

from __future__ import annotations

import signal


def as_from_a_shell() -> None:
    """For ``preexec_fn``: signals end the process, though the tests themselves may run in the background."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
