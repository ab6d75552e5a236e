"""Which cases a technique looks at that needs no failure: all, or one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.errors import SubjectError

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case

NAMED = 8  # cases that an error message names


def chosen_cases(investigation: Investigation, every: bool) -> list[Case]:
    """Every case; else the one that the setup names, else the first failing one, else the first.

    Raises SubjectError where there is no case, or none of that name.
    """
    from whence.run.oracle import judge

    subject, name = investigation.subject, investigation.setup.case
    if not subject.cases:
        raise SubjectError("no case to check", "give one with --passes or --fails, or in whence.toml")
    if every:
        return list(subject.cases)
    if name is not None:
        named = [case for case in subject.cases if case.name == name]
        if not named:
            names = ", ".join(case.name for case in subject.cases[:NAMED])
            raise SubjectError(f"no case is named '{name}'", f"cases: {names}")
        return named
    with subject.runner() as runner:
        failing = (case for case in subject.cases if judge(case, runner.run_case(case)).failed)
        return [next(failing, subject.cases[0])]
