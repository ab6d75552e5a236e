"""Tests taken apart: what the verdict of a test says about the invocations of the program in it.

A test that passes vouches for all that its invocations gave, unless another one shows that to be wrong. In one that
fails an invocation is judged by what shows it: that it crashed; that the test compared its output, or a file that it
wrote, with a file, by ``cmp`` or ``diff``, which then holds what is right; that the same was done in a test that
passes; that the test goes on where it is told something else than the invocation gave (``subject/told.py``); that it
alone printed what makes the test's output one of a failure. One that
then passes vouches for the others. Of the rest nothing is said, nor of one whose input another one made wrong.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whence.run.compared_outputs import right_files, right_outputs
from whence.run.invocations import Invocation
from whence.run.outcome import Expected, Kind, Outcome
from whence.run.verdicts import FAILING

UNTOLD = "its test fails, and does not show which output is wrong"
GIVEN = "its test fails, and either this one went wrong or the one that it gives its output to, or has its input from"
FATAL = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}
JUDGES = ("cmp", "diff")  # programs whose verdict is known: 0 equal, 1 different


@dataclass(frozen=True)
class Told:
    """What a test is told of an invocation instead of what that gave; None: as it was."""

    status: int | None = None
    stdout: bytes | None = None


@dataclass(frozen=True)
class TestRun:
    """One test with its outcome and its output: the invocations in it of the program, and of ``JUDGES``, in order.

    ``told`` is what it goes on with instead of what some invocations gave, by their orders; those that began before
    ``accepted`` it has found nothing wrong with otherwise. ``failing_output``: what is printed where something failed.
    """

    __test__ = False  # pytest takes it for tests of its own

    name: str
    outcome: Outcome
    invocations: Sequence[Invocation]
    judges: Sequence[Invocation] = ()
    output: bytes = b""
    told: Mapping[str, Told] = field(default_factory=dict)
    accepted: str = ""
    failing_output: str | None = None


@dataclass(frozen=True)
class Judged:
    """An invocation with what is right for it, or else why that is not known.

    ``failed``: it gave something else. ``looked_at``: its test passes, or compared what it gave, or one that passes
    vouches for it. ``open``: only a program that is right can tell. ``failing_output``: what it prints where something
    failed.
    """

    name: str
    test: str
    invocation: Invocation
    expected: Expected | None
    failed: bool = False
    why: str = ""
    looked_at: bool = False
    open: bool = False
    failing_output: str | None = None


def take_apart(tests: Sequence[TestRun]) -> list[Judged]:
    """Every invocation of all tests, judged; those of skipped tests are not."""
    vouched = _vouched(tests)
    judged = []
    for test in tests:
        compared = _compared(test) if test.outcome.failed else {}
        for number, one in enumerate(test.invocations, 1):
            right = compared.get(one.order) or vouched.get(one.identity)
            judged.append(replace(_judged(test, number, one, right), looked_at=right is not None))
    return _without_false_vouching(_of_right_input(tests, judged))


def with_printed_failures(tests: Sequence[TestRun]) -> tuple[list[TestRun], dict[str, str]]:
    """The tests, and what is said of those of them that count as failing since they print that something failed.

    That counts where no test fails by its status, and the program did not crash: many suites look at no status.
    """
    runs = [one for test in tests for one in test.invocations]
    if any(test.outcome.failed for test in tests) or any(one.signal in FATAL for one in runs):
        return list(tests), {}
    said = {test.name: found for test in tests if test.outcome.passed and (found := _printed_failure(test.output))}
    outcomes = {name: Outcome(Kind.WRONG_STATUS, f"prints `{line}`") for name, line in said.items()}
    told = {name: f"`{name}` succeeds, but prints `{line}`: that counts as a failure" for name, line in said.items()}
    pattern = FAILING.pattern.decode()
    return [
        replace(test, outcome=outcomes[test.name], failing_output=pattern) if test.name in outcomes else test
        for test in tests
    ], told


def _printed_failure(output: bytes) -> str:
    """The first line that says that something failed; empty where none does."""
    lines = (line for line in output.splitlines() if FAILING.search(line))
    return " ".join(next(lines, b"").decode(errors="replace").split())


def with_crashes(judged: Sequence[Judged]) -> list[Judged]:
    """The same, where nothing fails otherwise: what a fault or an abort ended does, though its test passes.

    Many suites look at no status, and print what went wrong; one that wants the crash has others that fail.
    """
    if any(one.failed for one in judged):
        return list(judged)
    return [
        replace(one, expected=Expected(), failed=True) if one.invocation.signal in FATAL and one.expected else one
        for one in judged
    ]


def _of_right_input(tests: Sequence[TestRun], judged: Sequence[Judged]) -> list[Judged]:
    """The same without those that fail on what another invocation made wrong: a test wants what a right input gives.

    Where nobody looked at what the other one made, either of the two may be at fault: of that one nothing is known
    then, and this one fails where nothing else does.
    """
    passing = {test.name for test in tests if test.outcome.passed}
    found, doubtful = list(judged), set[int]()
    for at, one in enumerate(judged):
        if not one.failed or one.invocation.signal or one.test in passing:
            continue
        makers = [n for n in range(at) if judged[n].test == one.test and one.invocation.reads(judged[n].invocation)]
        if any(judged[maker].failed for maker in makers):
            found[at] = _untold(one)
        elif unseen := [maker for maker in makers if not judged[maker].looked_at]:
            doubtful.add(at)
            for maker in unseen:
                found[maker] = _untold(found[maker])
    if any(one.failed for at, one in enumerate(found) if at not in doubtful):
        for at in doubtful:
            found[at] = _untold(found[at])
    return found


def _untold(one: Judged) -> Judged:
    """The same where a test says nothing of it for sure."""
    why = one.why or GIVEN
    return replace(one, expected=None, failed=False, why=why, open=not one.invocation.trouble)


def _without_false_vouching(judged: Sequence[Judged]) -> list[Judged]:
    """The same, where what another test has shown to be wrong fails in the tests that pass with it, too."""
    shown = {
        (one.invocation.identity, one.invocation.observed): one.expected
        for one in judged
        if one.failed and one.expected and (one.expected.stdout is not None or not one.invocation.signal)
    }
    return [
        replace(one, expected=right, failed=True)
        if one.expected and not one.failed and (right := shown.get((one.invocation.identity, one.invocation.observed)))
        else one
        for one in judged
    ]


def _vouched(tests: Iterable[TestRun]) -> dict[tuple[object, ...], Expected]:
    """What invocations gave in tests that pass, by what they were given."""
    passing = (test for test in tests if test.outcome.passed)
    return {one.identity: one.observed for test in passing for one in test.invocations if not one.trouble}


def _judged(test: TestRun, number: int, one: Invocation, right: Expected | None) -> Judged:
    """An invocation of a test; ``right`` is what is known of it beside the verdict."""
    name = f"{test.name}:{number}"
    if one.trouble:
        return Judged(name, test.name, one, None, why=one.trouble)
    if test.outcome.passed:
        return Judged(name, test.name, one, one.observed)
    if not test.outcome.failed:
        return Judged(name, test.name, one, None, why="its test is skipped")
    if one.signal and right is None:
        return Judged(name, test.name, one, Expected(), failed=True)
    if (told := test.told.get(one.order)) is not None:
        return Judged(name, test.name, one, _as_told(one, told, right), failed=True)
    if right is None and one.order < test.accepted:
        right = replace(one.observed, stdout=None) if one.discarded else one.observed
    if right is None and _alone_prints(test, one):
        status = 0 if one.status == 0 else None
        return Judged(name, test.name, one, Expected(status=status), failed=True, failing_output=test.failing_output)
    if right is None:
        return Judged(name, test.name, one, None, why=UNTOLD, open=True)
    return Judged(name, test.name, one, right, failed=not right.is_met_by(one.observed))


def _alone_prints(test: TestRun, one: Invocation) -> bool:
    """Whether of a test's invocations this one alone printed what tells of a failure."""
    if test.failing_output is None:
        return False
    pattern = re.compile(test.failing_output.encode(), re.M)
    return [other for other in test.invocations if pattern.search(other.stdout + other.stderr)] == [one]


def _as_told(one: Invocation, told: Told, right: Expected | None) -> Expected:
    """What is right where a test goes on with what it was told; of a wrong status the right output is not known."""
    if told.stdout is None:
        return Expected(right.stdout if right else None, None, told.status)
    return Expected(told.stdout, None, _right_status(one, is_right=False) if told.status is None else told.status)


def _compared(test: TestRun) -> dict[str, Expected]:
    """What the test compared the output of its invocations with, by their order; of several comparisons the first."""
    found: dict[str, Expected] = {}
    for judge in test.judges:
        if judge.status in (0, 1):
            for one, right in right_outputs(test.invocations, judge):
                found.setdefault(one.order, Expected(right, None, _right_status(one, right == one.stdout)))
            for one, name, right in right_files(test.invocations, judge):
                status = _right_status(one, right == dict(one.left)[name])
                known = found.setdefault(one.order, Expected(None, None, status))
                if name not in dict(known.files):
                    found[one.order] = replace(known, files=(*known.files, (name, right)))
    return found


def _right_status(one: Invocation, is_right: bool) -> int | None:
    """The status that belongs to a right output: not known where an invocation went wrong and ended with an error."""
    if one.signal or one.status == 0:
        return 0
    return one.status if is_right else None
