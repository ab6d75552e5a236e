"""Each test of a program that holds many as a case of its own, where its framework is known (``build/single_test.py``).

Test programs do all their tests in one run, so that a single one that fails makes a program of which nothing passes.
Run one at a time, the others are what passes, and the failing run is the test's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from whence.build.single_test import FRAMEWORKS, LISTED, NAMES, VARIABLE, framework_of, running_single_tests
from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.runner import Runner
from whence.subject.subject import Subject

KNOWN = f"{', '.join(one.name for one in FRAMEWORKS[:-1])} and {FRAMEWORKS[-1].name}"
MOST = 200  # cases; of more the runs take the time that is to explain the failure


def single_tests(subject: Subject, bases: Sequence[Case], pattern: str) -> Subject:
    """The subject with each of its program's tests whose name matches a pattern (of the shell's) as a case.

    ``bases`` are runs of all tests: words, files and variables. Raises SubjectError where the program's framework is
    not known, or no test matches; BuildError where the program cannot be linked with the framework's driver.
    """
    framework = framework_of(subject.executable)
    if framework is None:
        hint = f"name a test program as `path`, or describe cases by folder, file or command; known are {KNOWN}"
        raise SubjectError(f"{subject.executable.name} holds no tests of a framework that is known", hint)
    program = running_single_tests(subject.executable, framework)
    with Runner(program, subject.limits, name=subject.name) as runner:
        cases = [replace(case, failing_output=framework.says) for case in _single(bases, runner, pattern)]
    if not cases:
        raise SubjectError(f"{subject.executable.name}: no test of {framework.name} that matches {pattern} can be run")
    left = f"; the first {MOST} are taken" if len(cases) > MOST else ""
    remark = f"{len(cases)} tests of {framework.name} in {subject.executable.name} are cases of their own{left}"
    return replace(subject, executable=program, cases=cases[:MOST], remarks=[*subject.remarks, remark])


def of_single_tests(subject: Subject) -> Subject:
    """The subject whose cases are single tests (which were kept), with the program that runs them; others as they are.

    Raises BuildError where it cannot be linked with the framework's driver.
    """
    framework = framework_of(subject.executable)
    if framework is None or not any(VARIABLE in case.environment for case in subject.cases):
        return subject
    return replace(subject, executable=running_single_tests(subject.executable, framework))


def _single(cases: Sequence[Case], runner: Runner, pattern: str) -> Iterator[Case]:
    """The tests of each case that match a pattern, as cases; of which the status is what counts."""
    for case in cases:
        asking = replace(case, environment={**case.environment, VARIABLE: NAMES})
        lines = runner.run_case(asking).stdout.decode(errors="surrogateescape").splitlines()
        names = dict.fromkeys(line.removeprefix(LISTED) for line in lines if line.startswith(LISTED))
        for name in names:
            if fnmatchcase(name, pattern):
                yield replace(
                    case,
                    name=name if len(cases) == 1 else f"{case.name} {name}",
                    environment={**case.environment, VARIABLE: name},
                    expected=Expected(),
                )
