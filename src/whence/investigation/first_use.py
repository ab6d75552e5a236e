"""Compiling parts of the analysis at their first use, within the time of a step, and ahead of it.

A kernel is compiled by a process that goes on when the step's time is over (``trace/compiling.py``).
"""

from __future__ import annotations

import os
from typing import Protocol

from whence.errors import WhenceError
from whence.investigation.clock import OutOfTime
from whence.trace.compiling import leave_to_another_process


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
    try:
        part.compile()
    except OutOfTime:
        late = "compiling at its first use takes longer than its share of the time"
        raise WhenceError(late, "`whence doctor` does it ahead of time") from None


def begin_compiling() -> None:
    """Have what every diagnosis needs compiled meanwhile, as far as that has not been done."""
    from whence.subject.run_of_nothing import what_reads_runs

    for part in what_reads_runs():
        compile_ahead(part)


def is_incomplete() -> bool:
    """Whether something that every diagnosis needs has to be compiled yet."""
    from whence.subject.run_of_nothing import what_reads_runs

    return not all(part.is_compiled() for part in what_reads_runs())


def compile_ahead(part: Compiled) -> None:
    """Have a part that will be needed compiled meanwhile, where that has not been done and a processor has time."""
    if not part.is_compiled() and len(os.sched_getaffinity(0)) > 1:
        leave_to_another_process(part.compile)
