"""Cases made close to a failing one, for commands that compare runs and have been given too few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.findings import plural

if TYPE_CHECKING:
    from whence.inputs.close import CloseInputs
    from whence.inputs.oracle import Criteria
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case

NUMBER = 8  # inputs of each sort


def make_close(
    investigation: Investigation,
    case: Case,
    deadline: float,
    *,
    number: int = NUMBER,
    channel: str | None = None,
    criteria: Criteria | None = None,
) -> CloseInputs:
    """Good and failing inputs close to a failing case's, by the channel named (``--input``) or by all.

    Making them ends by ``deadline`` (of ``time.monotonic``). Raises what ``close_inputs`` raises.
    """
    from whence.inputs.channel import find_channel
    from whence.inputs.close import close_everywhere, close_inputs
    from whence.inputs.judge import RUNS

    subject = investigation.subject
    with investigation.watcher.progress("trying inputs", RUNS) as report:
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


def what_was_made(case: Case, made: CloseInputs) -> list[str]:
    """What was made, in sentences."""
    size = f"its input reduced to {plural(len(made.base.data), 'byte')}, " if made.reduction is not None else ""
    counts = [f"{len(some) or 'no'} {kind}" for kind, some in (("good", made.good), ("failing", made.failing))]
    line = f"`{case.name}`: {size}{' and '.join(counts)} inputs made close to it"
    return [f"{line} ({made.tried:,} tried, {made.rejected:,} rejected)", *made.notes]


def add_close_cases(investigation: Investigation, row: int, deadline: float) -> list[str]:
    """Add cases made close to the failing one in ``row`` to the investigation; gives what is said about them.

    Making them ends by ``deadline`` (of ``time.monotonic``). Where nothing can tell what is right for other inputs, or
    no good one is found, the cases stay as they are, and the sentences say why.
    """
    from whence.errors import SubjectError, UsageError

    case = investigation.runs.tested[row].case
    try:
        made = make_close(investigation, case, deadline)
    except (SubjectError, UsageError) as error:
        return [f"no case passes, and none can be made: {error}"]
    first, *notes = what_was_made(case, made)
    if made.good:
        new = [one.case for one in (*made.good, *made.failing)]
        investigation.with_cases([*investigation.subject.cases, *new])
    return [f"no case passes; {first}", *notes]
