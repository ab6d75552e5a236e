"""Tests taken apart: what the verdict of a test says about the invocations of the program in it.

A test that passes vouches for all that its invocations gave. In one that fails an invocation is judged by what shows
it: that it crashed; that the test compared its output with a file, by ``cmp`` or ``diff``, which then holds what is
right; that the same was done in a test that passes. Of the others nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.run.invocations import Invocation
from whence.run.outcome import Expected, Outcome

UNTOLD = "its test fails, and does not show which output is wrong"
JUDGES = ("cmp", "diff")  # programs whose verdict is known: 0 equal, 1 different


@dataclass(frozen=True)
class TestRun:
    """One test with its outcome: the invocations of the program in it, and those of ``JUDGES``, in order."""

    __test__ = False  # pytest takes it for tests of its own

    name: str
    outcome: Outcome
    invocations: Sequence[Invocation]
    judges: Sequence[Invocation] = ()


@dataclass(frozen=True)
class Judged:
    """An invocation with what is right for it, or else why that is not known.

    ``failed``: it gave something else. ``open``: only a program that is right can tell.
    """

    name: str
    test: str
    invocation: Invocation
    expected: Expected | None
    failed: bool = False
    why: str = ""
    open: bool = False


def take_apart(tests: Sequence[TestRun]) -> list[Judged]:
    """Every invocation of all tests, judged; those of skipped tests are not."""
    vouched = _vouched(tests)
    return [
        _judged(test, number, invocation, vouched)
        for test in tests
        for number, invocation in enumerate(test.invocations, 1)
    ]


def _vouched(tests: Iterable[TestRun]) -> dict[tuple[object, ...], Expected]:
    """What invocations gave in tests that pass, by what they were given."""
    passing = (test for test in tests if test.outcome.passed)
    return {one.identity: one.observed for test in passing for one in test.invocations if not one.trouble}


def _judged(test: TestRun, number: int, one: Invocation, vouched: dict[tuple[object, ...], Expected]) -> Judged:
    name = f"{test.name}:{number}"
    if one.trouble:
        return Judged(name, test.name, one, None, why=one.trouble)
    if test.outcome.passed:
        return Judged(name, test.name, one, one.observed)
    if not test.outcome.failed:
        return Judged(name, test.name, one, None, why="its test is skipped")
    if one.signal and one.identity not in vouched:
        return Judged(name, test.name, one, Expected(), failed=True)
    right = _compared(test, one) or vouched.get(one.identity)
    if right is None:
        return Judged(name, test.name, one, None, why=UNTOLD, open=True)
    return Judged(name, test.name, one, right, failed=right != one.observed)


def _compared(test: TestRun, one: Invocation) -> Expected | None:
    """What the test compared the output of an invocation with.

    Of several invocations with the same output the last one before the comparison is meant.
    """
    for judge in test.judges:
        operands = [word for word in judge.words[1:] if word == "-" or not word.startswith("-")][-2:]
        contents = [judge.content(operand) for operand in operands]
        if len(contents) < 2 or None in contents or judge.status not in (0, 1):
            continue
        for mine, other in (contents, reversed(contents)):
            if mine == one.stdout and other is not None and _last_with(test, mine, judge) is one:
                return Expected(other, None, one.status if mine == other or one.status == 0 else None)
    return None


def _last_with(test: TestRun, output: bytes | None, judge: Invocation) -> Invocation | None:
    before = [one for one in test.invocations if one.order < judge.order and one.stdout == output]
    if not output and len(before) > 1:  # an empty file may be anybody's
        return None
    return before[-1] if before else None
