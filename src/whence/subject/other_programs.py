"""Passing tests of a suite that are programs of their own: what they executed of the modules that they share.

The tests of a library are often one program each. Where one of them fails it is the subject, and nothing of it passes;
but others have run the same functions, and passed. What they executed counts as that of passing runs in the spectrum,
and nowhere else: their values and their input belong to other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whence.build.capture import read_executable, real_executable
from whence.errors import BuildError, WhenceError
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.registered_tests import programs_of_tests
from whence.subject.coverage import OtherRun, Site
from whence.subject.runs import counters
from whence.subject.subject import Subject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW = 3  # passing cases from which on the subject's own ones suffice
MOST = 12  # programs: a variant has to be built of each


def runs_of_other_programs(
    subject: Subject, tests: Sequence[Case], progress: Callable[[int, int], None] | None = None
) -> tuple[list[OtherRun], list[str]]:
    """What passing ``tests`` executed of the subject's sites, of the first ``MOST`` that are programs themselves.

    ``tests`` are commands of the subject's suite. A program that was not captured, does not pass in its cover variant,
    or has nothing in common with the subject is left out. Also returns why tests are left out whose program could not
    be built or run, a sentence each.
    """
    own = set(_sites(subject))
    programs = [(test, program) for test in tests if (program := program_of(test, subject.executable)) is not None]
    found, lost = list[OtherRun](), list[str]()
    for number, (test, program) in enumerate(programs[:MOST], 1):
        try:
            executed = _executed(replace(subject, executable=program, cases=[test], name=""), test)
            if shared := tuple(sorted(own & executed)):
                found.append(OtherRun(test.name, shared))
        except WhenceError as error:
            lost.append(f"{test.name} does not count in the spectrum: {error}")
        if progress:
            progress(number, len(programs[:MOST]))
    return found, lost


def program_of_failing(subject: Subject, failing: Sequence[str]) -> Subject | None:
    """The subject that a failing test runs, which is another program of the suite; None: none of ``failing`` is one.

    Its cases are the tests that are programs of their own, the failing one first.
    """
    tests = {case.name: case for case in subject.cases}
    for name in failing:
        if name in tests and (program := program_of(tests[name], subject.executable)) is not None:
            break
    else:
        return None
    own = [case for case in subject.cases if case.name == name or program_of(case, program) is not None]
    own.sort(key=lambda case: case.name != name)
    suite = tests[name].suite
    assert suite is not None
    assert suite.folder is not None
    executable = real_executable(program)
    inside = replace(suite, program=str(executable.relative_to(suite.folder)))
    text = f"no run of {subject.executable.name} is known to fail; test `{name}` does, and runs {program.name}: that is"
    cases = [replace(case, suite=inside) for case in own]
    remarks = [*subject.remarks, f"{text} the program here"]
    return replace(subject, executable=executable, name=f"./{program.name}", cases=cases, remarks=remarks)


def program_of(test: Case, executable: Path) -> Path | None:
    """The captured program but ``executable`` that a test starts, as its runner knows, or is named after; None: none.

    A test that bears the name of a program in the suite's folder or beside the subject's is the program itself, or a
    script that runs it (``parse.test``).
    """
    if test.suite is None or test.suite.folder is None:
        return None
    name = Path(test.name)
    started = programs_of_tests(test.suite.folder).get(test.name)
    for path in (*filter(None, [started]), test.suite.folder / name, executable.parent / name.name):
        for program in (path, path.with_suffix("")):
            if program != executable and program.is_relative_to(test.suite.folder) and _is_captured(program):
                return program
    return None


def _is_captured(program: Path) -> bool:
    try:
        return bool(program.is_file() and read_executable(program).modules)
    except BuildError:
        return False


def _executed(other: Subject, test: Case) -> set[Site]:
    """The sites of another program that its test executed; none where it does not pass."""
    assert test.suite is not None
    assert test.suite.folder is not None
    inside = str(other.executable.relative_to(test.suite.folder))
    case = replace(test, suite=replace(test.suite, program=inside))
    with other.runner(Variant.COVER) as runner:
        result = runner.run_case(case)
        if judge(case, result).passed and result.coverage is not None:
            return set(_sites(other, result.coverage))
    return set()


def _sites(subject: Subject, counts: NDArray[np.uint32] | None = None) -> Iterator[Site]:
    """The sites of a program that have a place in the source; with ``counts`` those that were executed."""
    for number, counter in enumerate(counters(subject)):
        if counter.statements and (counts is None or counts[number]):
            yield Site(counter.statements, counter.side, counter.column)
