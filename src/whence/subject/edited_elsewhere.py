"""An edit of the subject in the other programs of its suite: whether tests that come to it still pass.

The tests of a library are often one program each. Where one of them fails it is the subject, and hardly anything of it
passes; so nearly any edit does that the failing check asks for. Those tests that passed, and came to the edited
statement, say more: their programs are linked with the edited file, and they are run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from os import cpu_count
from pathlib import Path

from whence.build.capture import read_executable, real_executable
from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.errors import WhenceError
from whence.findings import Statement
from whence.program.c_source import CSource
from whence.program.source_edits import SourceEdit, edited
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.runner import Runner
from whence.subject.edited import NONE_ELSEWHERE, Check
from whence.subject.other_programs import program_of
from whence.subject.subject import Subject

NO_TIME = "there was no time for all of them"
MOST, SIEVING = 24, 8  # tests of one edit, and of one among many
CHECKING, PORTION = 0.4, 0.1  # of the time that is left, for each of these


class EditedElsewhere:
    """Runs the passing tests of a subject's suite that are other programs, with edits: ``subject.derived`` has it.

    A test that does not pass as its program is linked here, without an edit, does not count, nor does one whose program
    does not hold the edited file.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._scratch = scratch("edited-elsewhere")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name))
        self._programs = dict[str, _OtherProgram | None]()
        self._numbers = 0
        self._checked = dict[tuple[str, bytes, int], Check]()  # new texts of files, but for those without enough time
        self._refuting = Counter[str]()  # tests, by how many edits they failed with

    def check(self, at: Statement, text: bytes, deadline: float) -> Check:
        """The tests with a new text of a statement's file; ``cases`` counts those that could tell.

        Those that failed with most edits are run first, then such as are known to come to the statement. They have a
        part of the time until ``deadline`` (of ``time.monotonic``).
        """
        return self._check(at, text, MOST, _part(CHECKING, deadline))

    def refutes(self, sources: Mapping[str, CSource], edit: SourceEdit, deadline: float) -> bool:
        """Whether one of the first tests fails with an edit, as far as a smaller part of the time tells."""
        at, text = Statement(edit.file, edit.line), edited(sources[edit.file], edit)
        return bool(self._check(at, text, SIEVING, _part(PORTION, deadline)).found)

    def _check(self, at: Statement, text: bytes, most: int, deadline: float) -> Check:
        key = at.file, text, most
        if key not in self._checked:
            found = self._checked_by(list(islice(self._telling(at), most)), at, text, deadline)
            if found.trouble:
                return found
            self._checked[key] = found
        return self._checked[key]

    def _checked_by(self, programs: Sequence[_OtherProgram], at: Statement, text: bytes, deadline: float) -> Check:
        if not programs:
            return NONE_ELSEWHERE
        self._numbers += 1
        name = f"edit-{self._numbers}"
        passed = 0
        try:
            objects = self._rebuild.objects(self._subject.folder / at.file, text, name, deadline)
            for program, passes in self._passing(programs, objects, name, deadline):
                if passes is False:
                    self._refuting[program.test.name] += 1
                    return Check(passed, len(programs), f"test `{program.test.name}` fails with it")
                passed += passes is True
        except TimeoutError:
            return Check(passed, len(programs), "", NO_TIME)
        except (WhenceError, OSError) as error:
            return Check(passed, len(programs), "", str(error))
        return Check(passed, passed)

    def _passing(
        self, programs: Sequence[_OtherProgram], objects: Mapping[str, Path], name: str, deadline: float
    ) -> Iterator[tuple[_OtherProgram, bool | None]]:
        """Whether each test passes with changed objects, some at a time."""
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            jobs = [pool.submit(program.passes, objects, name, deadline) for program in programs]
            try:
                yield from ((program, job.result()) for program, job in zip(programs, jobs, strict=True))
            finally:
                pool.shutdown(cancel_futures=True)

    def _telling(self, at: Statement) -> Iterator[_OtherProgram]:
        """The passing tests that executed a statement, and those of which that is not known, in their order."""
        known = {one.name: any(at in site.statements for site in one.executed) for one in self._subject.others}
        tests = [test for test in self._subject.passed_tests if known.get(test.name, True)]
        tests.sort(key=lambda test: (-self._refuting[test.name], test.name not in known))
        return filter(None, map(self._program, tests))

    def _program(self, test: Case) -> _OtherProgram | None:
        if test.name not in self._programs:
            place = Path(self._scratch.name, str(len(self._programs)))
            self._programs[test.name] = _opened(self._subject, test, place)
        return self._programs[test.name]


class _OtherProgram:
    """A ``test`` that runs a program of its own; what is linked of this lies in the folder ``place``."""

    def __init__(self, subject: Subject, test: Case, program: Path, place: Path) -> None:
        self.test = test
        self._limits, self._name = subject.limits, subject.name
        self._capture = read_executable(program)
        self._rebuild = Rebuild(self._capture, place)
        self._passes_unedited: bool | None = None

    def passes(self, objects: Mapping[str, Path], name: str, deadline: float) -> bool | None:
        """Whether the test passes with objects in place of those of modules; None: it has no such, or fails without.

        Raises TimeoutError where there is no time.
        """
        if objects.keys().isdisjoint(module.hash for module in self._capture.modules):
            return None
        if self._passes_unedited is None:
            self._passes_unedited = self._passes({}, "unedited", deadline)
        return self._passes(objects, name, deadline) if self._passes_unedited else None

    def _passes(self, objects: Mapping[str, Path], name: str, deadline: float) -> bool:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        limits = (
            replace(self._limits, time=min(self._limits.time, max(1.0, left))) if self._limits.time else self._limits
        )
        try:
            executable = self._rebuild.linked(objects, name, deadline)
            with Runner(executable, limits, name=self._name, confined=True) as runner:
                result = runner.run_case(self.test)
        except WhenceError:
            return False
        if result.timed_out and time.monotonic() >= deadline:
            raise TimeoutError
        return judge(self.test, result).passed


def _opened(subject: Subject, test: Case, place: Path) -> _OtherProgram | None:
    """A test with its own program; None: it has none that was captured."""
    program, suite = program_of(test, subject.executable), test.suite
    if program is None or suite is None or suite.folder is None:
        return None
    place.mkdir()
    inside = replace(suite, program=str(real_executable(program).relative_to(suite.folder)))
    return _OtherProgram(subject, replace(test, suite=inside), program, place)


def _part(share: float, deadline: float) -> float:
    """The end of a share of the time until a deadline."""
    now = time.monotonic()
    return now + share * (deadline - now)
