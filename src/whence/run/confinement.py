"""Whether this system can keep a run from files that are not its own (``runtime/server/confine.c`` asks for it)."""

from __future__ import annotations

import ctypes

CREATE_RULESET, WHICH_VERSION = 444, 1  # the same numbers on all machines


def landlock_version() -> int:
    """The version of Landlock that this system has; 0: none."""
    return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, WHICH_VERSION)))
