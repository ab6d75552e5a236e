"""Cases that are made where the user has given only failing ones: inputs close to the failing one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from whence.cli.options import progress

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.run.cases import Case
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

SECONDS = 20.0  # that making inputs may take
LISTED = 2  # of what was made, sentences


def with_made_cases(subject: Subject, runs: Runs, row: int) -> tuple[Subject, Runs, list[str]]:
    """The subject with cases made close to the failing one in ``row``, their runs, and what is said about them.

    Where nothing can tell what is right for other inputs, the subject stays as it is, and the sentences say why.
    """
    from whence.cli.steps import run_cases
    from whence.errors import SubjectError, UsageError
    from whence.inputs.close import close_everywhere
    from whence.inputs.judge import RUNS
    from whence.subject.subject import with_cases

    case = runs.tested[row].case
    try:
        with progress("no case passes: trying inputs", RUNS) as report:
            made = close_everywhere(subject, case, deadline=time.monotonic() + SECONDS, progress=report)
    except (SubjectError, UsageError) as error:
        return subject, runs, [f"no case passes, and none can be made: {error}"]
    cases = [one.case for one in (*made.good, *made.failing)]
    if not made.good:
        return subject, runs, [_told(case, made), *made.notes]
    richer = with_cases(subject, [*subject.cases, *cases])
    return richer, run_cases(richer), [_told(case, made), *made.notes[:LISTED]]


def _told(case: Case, made: CloseInputs) -> str:
    size = f"its input was reduced to {len(made.base.data):,} bytes, and " if made.reduction is not None else ""
    return (
        f"no case passes: from `{case.name}`, {size}{len(made.good)} good and {len(made.failing)} failing inputs were "
        f"made close to it ({made.tried:,} tried)"
    )
