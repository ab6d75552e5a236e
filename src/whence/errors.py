"""The errors that a user can cause; anything else that escapes is a bug of ours.

WhenceError                 base: one line that says what is wrong, where, and what to do
├── UsageError              wrong command line or configuration (exit status 2)
├── BuildError              the subject's build failed, or left nothing captured (2)
├── SubjectError            cases, oracles or runs that cannot be used (2)
├── TraceError              a truncated, foreign or too large trace (2)
├── NoTime                  the time was over before there was a result (1)
└── ProgramError            IR that cannot be read or was refused by LLVM (3: our reader's fault)
"""

DEBUG = "WHENCE_DEBUG"  # set: internal errors are not caught, as debuggers want it


class WhenceError(Exception):
    """Base of all expected errors: ``str(error)`` is the line shown, ``hint`` what the user can do."""

    exit_status = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(WhenceError):
    """A wrong command line, or a wrong key or value in ``whence.toml``."""


class BuildError(WhenceError):
    """The subject does not build, or its executable holds no captured IR."""


class SubjectError(WhenceError):
    """The subject's cases cannot be used: none fails, one is flaky, a file is missing."""


class TraceError(WhenceError):
    """A recorded trace cannot be used: truncated, foreign, of another version, or beyond the limit."""


class TooLong(TraceError):
    """A run is longer than its trace may be."""


class NoTime(WhenceError):
    """The time was over before anything was found."""

    exit_status = 1


class ProgramError(WhenceError):
    """IR that the reader does not understand, or a rewritten module that LLVM refuses."""

    exit_status = 3
