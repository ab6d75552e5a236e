"""What cases should give, where only runs tell: what is right, by a program that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.compare import first_difference, unsteady_place
from whence.run.left_files import changed_files
from whence.run.oracle import judge
from whence.run.outcome import Expected
from whence.run.result import RunResult
from whence.run.runner import Progress, Runner

SOON = 1.0  # seconds in which nearly all runs of a reference end
FAR, AT_LEAST = 100.0, 3.0  # times the longest of these, and seconds, that the others have to end in


def learn_expected(cases: Sequence[Case], runner: Runner, progress: Progress | None = None) -> list[Case]:
    """Return the cases with the expectations that are missing taken from runs of a program that is right.

    That is the subject itself, for cases that pass by definition. Raises SubjectError when it crashes or does not end.
    """
    open_cases = [case for case in cases if case.expected is None]
    results = runner.run_cases(open_cases, progress=progress)
    for result in results:
        if how := _no_end(result):
            raise SubjectError(
                f"case {result.case.name}: its own output is right by definition, but the program was {how}",
                "take the case out of those that pass, or say what it should print",
            )
    return _with(cases, _observed(results, runner))


def learn_from_reference(cases: Sequence[Case], runner: Runner) -> tuple[list[Case], list[str]]:
    """The cases, with the expectations that are missing taken from runs of a program that is right; why some are not.

    A case in which it crashes or does not end is left out; a run that takes a hundred times as long as all that end
    counts as endless. Raises SubjectError where no case is left.
    """
    open_cases = [case for case in cases if case.expected is None]
    results = _patient_runs(open_cases, runner)
    lost = {id(result.case): how for result in results if (how := _no_end(result))}
    if lost and len(lost) == len(cases):
        raise SubjectError(
            f"case {cases[0].name}: the reference program was {lost[id(cases[0])]}, as in every other case",
            "name a program that is right as the reference, or say what the cases should print",
        )
    told = [f"case {c.name} is left out: the reference program was {lost[id(c)]}" for c in cases if id(c) in lost]
    ended = [result for result in results if id(result.case) not in lost]
    kept = [case for case in cases if id(case) not in lost]
    return _with(kept, _observed(ended, runner)), told


def _patient_runs(cases: Sequence[Case], runner: Runner) -> list[RunResult]:
    """Runs of a program that is right: those that do not soon end go on as long as those that do let expect."""
    limits = runner.limits
    runner.limits = replace(limits, time=min(limits.time or SOON, SOON))
    results = {id(result.case): result for result in runner.run_cases(cases)}
    slow = [case for case in cases if results[id(case)].timed_out]
    longest = max((result.wall for result in results.values() if not result.timed_out), default=0.0)
    patience = max(AT_LEAST, FAR * longest) if longest else limits.time
    runner.limits = replace(limits, time=min(limits.time or patience, patience))
    results |= {id(result.case): result for result in runner.run_cases(slow)}
    runner.limits = limits
    return [results[id(case)] for case in cases]


def _with(cases: Sequence[Case], observed: Mapping[int, Expected]) -> list[Case]:
    """The cases, with what was observed of those without an expectation, by their identities."""
    return [replace(case, expected=observed[id(case)]) if case.expected is None else case for case in cases]


def _no_end(result: RunResult) -> str:
    """How a run ended that tells nothing of what is right; empty where it ended by itself."""
    return judge(result.case, result).text if result.timed_out or result.signal else ""


def _observed(results: Sequence[RunResult], runner: Runner) -> dict[int, Expected]:
    """What runs gave that are right by definition, by the identities of their cases."""
    again = _again([result.case for result in results if result.files], runner)
    return {id(result.case): right_by(result, again.get(id(result.case), result)) for result in results}


def _again(cases: list[Case], runner: Runner) -> dict[int, RunResult]:
    """Another run of each case, by its identity."""
    return {id(case): result for case, result in zip(cases, runner.run_cases(cases), strict=True)}


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
