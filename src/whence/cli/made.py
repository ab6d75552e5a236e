"""Cases made close to a failing one, for commands that compare runs and have been given too few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.cli.options import progress

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.inputs.oracle import Criteria
    from whence.run.cases import Case
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

NUMBER = 8  # inputs of each sort


def make_close(
    subject: Subject,
    case: Case,
    *,
    number: int = NUMBER,
    channel: str | None = None,
    criteria: Criteria | None = None,
    deadline: float | None = None,
) -> CloseInputs:
    """Good and failing inputs close to a failing case's, by the channel named (``--input``) or by all, with progress.

    Raises SubjectError and UsageError as ``close_inputs`` does.
    """
    from whence.inputs.channel import find_channel
    from whence.inputs.close import close_everywhere, close_inputs
    from whence.inputs.judge import RUNS

    with progress("trying inputs", RUNS) as report:
        if channel is None and case.command is None:
            return close_everywhere(subject, case, number=number, criteria=criteria, deadline=deadline, progress=report)
        return close_inputs(
            subject,
            case,
            number=number,
            channel=find_channel(case, channel),
            criteria=criteria,
            deadline=deadline,
            progress=report,
        )


def told(case: Case, made: CloseInputs) -> list[str]:
    """What was made, in sentences."""
    size = f"its input reduced to {len(made.base.data):,} bytes, " if made.reduction is not None else ""
    counts = [f"{len(some) or 'no'} {kind}" for kind, some in (("good", made.good), ("failing", made.failing))]
    line = f"`{case.name}`: {size}{' and '.join(counts)} inputs made close to it"
    return [f"{line} ({made.tried:,} tried, {made.rejected:,} rejected)", *made.notes]


def with_made_cases(subject: Subject, runs: Runs, row: int, deadline: float) -> tuple[Subject, Runs, list[str]]:
    """The subject with cases made close to the failing one in ``row``, their runs, and what is said about them.

    Making them ends by ``deadline`` (of ``time.monotonic``).

    Where nothing can tell what is right for other inputs, or no good one is found, the subject stays as it is, and the
    sentences say why.
    """
    from whence.cli.steps import run_cases
    from whence.errors import SubjectError, UsageError
    from whence.subject.subject import with_cases

    case = runs.tested[row].case
    try:
        made = make_close(subject, case, deadline=deadline)
    except (SubjectError, UsageError) as error:
        return subject, runs, [f"no case passes, and none can be made: {error}"]
    first, *notes = told(case, made)
    sentences = [f"no case passes; {first}", *notes]
    if not made.good:
        return subject, runs, sentences
    richer = with_cases(subject, [*subject.cases, *(one.case for one in (*made.good, *made.failing))])
    return richer, run_cases(richer), sentences
