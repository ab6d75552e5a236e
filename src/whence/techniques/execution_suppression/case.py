"""Which case suppression follows, and in which order of turns its threads run (figure 6.1, line 1)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from whence.alter.faithful import FailureSignature, difference
from whence.errors import NoTime, SubjectError
from whence.findings import plural
from whence.probe.instrument import Variant
from whence.run.oracle import judge
from whence.run.sandbox import FIXED, NOT_FIXED
from whence.run.schedule import DEFAULT, Schedule, Way
from whence.subject.memory_outcome import MemoryOutcomes
from whence.subject.recorder import Recorder
from whence.techniques.execution_suppression.algorithm import CRASHES

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.run.result import RunResult
    from whence.subject.subject import Subject

CHOOSING = 0.5  # of the time, at most, for finding a case that fails
NAMED = 8  # cases that an error message names
ORDERS = 16  # of turns by chance that are tried of a case
FEW = 4  # cases of which they are
CHANCES = (8_192, 1_024)  # of 65,536, that another thread has the turn at a step
CHANGES = 1_000  # of the thread in one run, about, at most
SILENT = "corruption that nothing shows is looked for with --reorder, and by `whence memory`"
SCHEDULES = "`whence schedules` looks for an order of the threads in which one does"

Ran = tuple["Case", "RunResult"]


def chosen(investigation: Investigation, reorder: bool) -> Ran:
    """The case, and its run in the program itself: the one that the setup names, else the first that crashes, or fails.

    Of a program with threads in an order of turns that can be made again. With ``reorder`` a passing one, if none
    fails; else SubjectError is raised, as it is where addresses differ from run to run. Raises NoTime where half of the
    time was over before a case failed.
    """
    subject, name = investigation.subject, investigation.setup.case
    if subject.limits.aslr:
        raise SubjectError(NOT_FIXED, FIXED)
    cases = [case for case in subject.cases if name in (None, case.name)]
    if not cases:
        names = ", ".join(case.name for case in subject.cases[:NAMED])
        what = f"no case is named '{name}'" if name is not None else "no case to run"
        raise SubjectError(what, f"cases: {names}" if names else "give one with --fails, or in whence.toml")
    commands = [case for case in cases if case.command is not None]
    cases = [case for case in cases if case.command is None]
    if subject.has_threads and cases:
        investigation.build(Variant.COVER)
    deadline = investigation.clock.within(CHOOSING)
    if subject.has_threads and cases:
        failing, passing = _in_turns(subject, cases, deadline)
    else:
        failing, passing = _ran(subject, cases, deadline)
    if failing is None and commands:
        failing, passed = _ran(subject, commands, deadline)
        passing = passing or passed
    if failing is None and time.monotonic() >= deadline:
        raise NoTime("half of the time was over before a case failed", "name a failing case (--case), or --budget 5m")
    if failing is None:
        failing, corrupt = _silent(subject, [*cases, *commands], reorder)
        passing = corrupt or passing
    if failing is None and (passing is None or not reorder):
        hint = SCHEDULES if subject.has_threads else SILENT
        raise SubjectError(f"no case fails ({plural(len(cases) + len(commands), 'case')} ran)", hint)
    found = failing or passing
    assert found is not None
    return found


def _ran(
    subject: Subject, cases: list[Case], deadline: float, variant: Variant | None = None
) -> tuple[Ran | None, Ran | None]:
    """The first case that crashes, else the first that fails; and the first one that does not. Of those run in time."""
    failing, passing = None, None
    with subject.runner(variant) as runner:
        for case in cases:
            for result in runner.iterate([case], deadline=deadline):
                outcome = judge(case, result)
                if outcome.kind in CRASHES:
                    return (case, result), passing
                if outcome.failed:
                    failing = failing or (case, result)
                else:
                    passing = passing or (case, result)
    return failing, passing


def _silent(subject: Subject, cases: list[Case], reorder: bool) -> tuple[Ran | None, Ran | None]:
    """Of cases that pass the first in which a process crashes that was forked, where these are followed; and, to lay
    variables out anew, the first with a memory error, where such a case counts as failing.
    """
    asked = [case for case in cases if case.follows_children or (reorder and case.comparison.memory)]
    if not asked:
        return None, None
    corrupt: Ran | None = None
    with Recorder(subject) as recorder, subject.runner() as runner:
        outcomes = MemoryOutcomes(subject, recorder)
        for case in asked:
            found = outcomes.of(case)
            if found is not None and found.kind in CRASHES:
                return (case, runner.run_case(case)), corrupt
            if found is not None and corrupt is None:
                corrupt = case, runner.run_case(case)
    return None, corrupt


def _in_turns(subject: Subject, cases: list[Case], deadline: float) -> tuple[Ran | None, Ran | None]:
    """The same by the default order of turns, where a case has no schedule of its own; else by chance.

    What fails by itself, and in none of these orders, is as it is.
    """
    scheduled = [replace(case, schedule=case.schedule or DEFAULT) for case in cases]
    failing, passing = _ran(subject, scheduled, deadline, Variant.COVER)
    free = [case for case in cases if case.schedule is None]
    if failing is not None or not free:
        return failing, passing
    by_itself, _ = _ran(subject, free, deadline)
    tried = [by_itself[0]] if by_itself else free[:FEW]
    return _by_chance(subject, tried, by_itself, deadline) or by_itself, passing


def _by_chance(subject: Subject, cases: list[Case], by_itself: Ran | None, deadline: float) -> Ran | None:
    """A case in an order by chance in which it fails, as ``by_itself`` if that does; the order as points."""
    with subject.runner(Variant.COVER) as runner:
        for case in cases:
            by_default = runner.run_case(replace(case, schedule=DEFAULT)).followed
            steps = by_default.considered if by_default else 1
            for seed in range(1, ORDERS + 1):
                if time.monotonic() >= deadline:
                    return None
                chance = min(CHANCES[seed % len(CHANCES)], max(65_536 * CHANGES // max(steps, 1), 1))
                walk = Schedule(way=Way.CHANCE, seed=seed, chance=chance)
                result = runner.run_case(replace(case, schedule=walk))
                made = result.followed
                if made is not None and not made.lost and _fails_alike(case, result, by_itself):
                    return replace(case, schedule=Schedule(made.points)), result
    return None


def _fails_alike(case: Case, result: RunResult, other: Ran | None) -> bool:
    """Whether a run fails, in the same way as another one of the case, if there is one."""
    if other is None:
        return judge(case, result).failed
    return not difference(FailureSignature.of(case, other[1]), FailureSignature.of(case, result))
