"""What cases should give, where only runs tell: what is right, by a program that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.compare import first_difference, unsteady_place
from whence.run.left_files import changed_files
from whence.run.oracle import judge
from whence.run.outcome import Expected
from whence.run.result import RunResult
from whence.run.runner import Progress, Runner


def learn_expected(cases: Sequence[Case], runner: Runner, progress: Progress | None = None) -> list[Case]:
    """Return the cases with the expectations that are missing taken from runs of a program that is right.

    That is a reference program, or the subject itself for cases that pass by definition. Raises SubjectError
    when it crashes or does not end.
    """
    open_cases = [case for case in cases if case.expected is None]
    results = runner.run_cases(open_cases, progress=progress)
    again = _again([result.case for result in results if result.files], runner)
    learned = iter([_observed(result, again.get(id(result.case), result)) for result in results])
    return [replace(case, expected=next(learned)) if case.expected is None else case for case in cases]


def _again(cases: list[Case], runner: Runner) -> dict[int, RunResult]:
    """Another run of each case, by its identity."""
    return {id(case): result for case, result in zip(cases, runner.run_cases(cases), strict=True)}


def _observed(result: RunResult, again: RunResult) -> Expected:
    """What a run gave that is right by definition. Raises SubjectError where it crashed or did not end."""
    if result.timed_out or result.signal:
        how = judge(result.case, result).text
        raise SubjectError(
            f"case {result.case.name}: its own output is right by definition, but the program was {how}",
            "take the case out of those that pass, or say what it should print",
        )
    return right_by(result, again)


def right_by(result: RunResult, again: RunResult, names: Iterable[str] = ()) -> Expected:
    """What a run gave, and the files that it has changed, or that have these ``names``, if another run of the case
    leaves the same.

    What the case's comparison takes for the same is the same.
    """
    chosen = {*names, *changed_files(result.case.files, result.files)} if result.files and again.files else set()
    mine, theirs = ({n: run.files[n].content for n in chosen & run.files.keys()} for run in (result, again))
    how, both = result.case.comparison, mine.keys() & theirs.keys()
    other = {name for name in both if first_difference(mine[name], theirs[name], how)}
    steady = sorted((both - other) | (chosen - mine.keys() - theirs.keys()))
    files = tuple((name, mine.get(name)) for name in steady)
    unsteady = [(name, unsteady_place(mine[name], theirs[name])) for name in sorted(other)] if how.files else []
    return Expected(result.stdout, result.stderr, result.status, files, tuple(unsteady))
