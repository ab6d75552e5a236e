"""Runs the tests of a suite with shims (``build/shim.py``) in the place of the program, and of those that compare.

A test that stops where the program gives an error status shows it: told that the status was 0 instead, it goes on. So
each such invocation of a failing test is tried, the last one first, by running the test once more.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whence.build.shim import place_shim
from whence.run.cases import Case
from whence.run.invocations import Invocation, read_invocations
from whence.run.oracle import judge
from whence.run.runner import RunLost, Runner
from whence.run.sandbox import PINNED, Limits
from whence.run.taken_apart import JUDGES, TestRun

SLOWER = 3  # a test may take this many times as long with the shim as without
MOST, TOGETHER = 16 << 20, 64 << 20  # bytes of a file, and of all files of an invocation
INSTEAD = "instead"  # as probe/capture/shim.c has it
MOST_TESTS, MOST_TRIED = 20, 3  # failing tests that are run again, and invocations of each


class SuiteRunner:
    """Runs tests (``commands``) once each, with shims in the place of the program and of ``JUDGES``. Close it."""

    def __init__(self, executable: Path, limits: Limits, name: str) -> None:
        self._runner = Runner(executable, replace(limits, time=limits.time * SLOWER), name=name)
        self._count = 0
        self.work = self._runner.sandbox.work
        self._root = self._runner.sandbox.root
        for judge_name in JUDGES:
            if (program := shutil.which(judge_name, path=PINNED["PATH"])) is not None:
                self._place(self._root / "judges" / judge_name, Path(program), "judged")
        shim_place = self._root / "shim" / executable.name
        self._place(shim_place, executable.resolve(), "kept")
        self._runner.executable = shim_place

    def __enter__(self) -> SuiteRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def _place(self, place: Path, program: Path, kept: str) -> None:
        place_shim(place, program, self._root / kept, self.work, MOST, TOGETHER)

    def run(self, case: Case, succeeds: int = 0) -> TestRun:
        """One test; what was kept of its invocations is there until the runner is closed.

        The status of the invocation that begins as number ``succeeds`` (from 1 on) is told the test as 0.
        """
        names = ("kept", "judged")
        for name in names:
            (self._root / name).mkdir()
        if succeeds:
            (self._root / "kept" / INSTEAD).write_text(str(succeeds))
        path = f"{self._root / 'judges'}:{case.environment.get('PATH', PINNED['PATH'])}"
        self._count += 1
        try:
            result = self._runner.run_case(replace(case, environment={**case.environment, "PATH": path}))
        finally:
            for name in names:
                (self._root / name).rename(self._root / f"{name}.{self._count}")
        found = [read_invocations(self._root / f"{name}.{self._count}") for name in names]
        return TestRun(case.name, judge(case, result), found[0], found[1])

    def number(self, invocation: Invocation) -> int:
        """As which one of its test an invocation began, from 1 on; those that others made count."""
        begun = next(self._root.glob(f"kept.*/{invocation.order}")).parent
        return sorted(path.name for path in begun.iterdir()).index(invocation.order) + 1

    def own(self, variables: dict[str, str]) -> dict[str, str]:
        """The variables of an invocation without what every run is given, and without what finds the judges."""
        own = dict(variables)
        own["PATH"] = own.get("PATH", PINNED["PATH"]).replace(f"{self._root / 'judges'}:", "")
        given = {**PINNED, "HOME": str(self.work), "PWD": str(self.work), "TMPDIR": str(self.work)}
        return {name: value for name, value in own.items() if given.get(name) != value}


def with_required_status(suite: SuiteRunner, tests: Sequence[TestRun], cases: Sequence[Case]) -> list[TestRun]:
    """The tests; the first failing ones with those of their invocations whose status has to be 0 (``required``).

    ``cases`` are the tests as cases, by the same names.
    """
    known = {case.name: case for case in cases}
    failing = [test for test in tests if test.outcome.failed and not any(one.signal for one in test.invocations)]
    required = {test.name: _required(suite, test, known[test.name]) for test in failing[:MOST_TESTS]}
    return [replace(test, required=required.get(test.name)) for test in tests]


def _required(suite: SuiteRunner, test: TestRun, case: Case) -> str | None:
    """The order of the invocation whose error status keeps the test from going on; None where none is known to."""
    if case.suite is None or not case.suite.fresh:  # the folder is not what it was for the test
        return None
    errors = [one for one in test.invocations if one.status and not one.signal and not one.trouble]
    for one in errors[::-1][:MOST_TRIED]:
        try:
            again = suite.run(case, suite.number(one))
        except RunLost:
            return None
        if again.outcome.passed or _steps(again) > _steps(test):
            return one.order
    return None


def _steps(test: TestRun) -> int:
    """How far a test came: a comparison that finds a difference, or one that then shows it, is no step forward."""
    return len(test.invocations) + sum(judge.status == 0 for judge in test.judges)
