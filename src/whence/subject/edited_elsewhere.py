"""An edit of the subject in the other programs of its suite: whether tests that come to it still pass.

The tests of a library are often one program each. Where one of them fails it is the subject, and hardly anything of it
passes; so nearly any edit does that the failing check asks for. Those tests that passed, and came to the edited
statement, say more: their programs are linked with the edited file, and they are run.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import islice
from os import cpu_count
from pathlib import Path
from threading import Lock
from weakref import finalize

from whence.build.capture import read_executable, real_executable
from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.errors import BuildError, WhenceError
from whence.findings import Statement
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.runner import Cancelled, RunLost, Runner
from whence.run.sandbox import Limits
from whence.subject.chosen_edit import choosing
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
        self._programs = dict[str, _OtherProgram | None]()
        self._numbers, self._lock = 0, Lock()
        self._checked = dict[tuple[str, bytes, int], Check]()  # new texts of files, but for those without enough time
        self._refuting = Counter[str]()  # tests, by how many edits they failed with

    @cached_property
    def _place(self) -> Path:
        """The folder of what is built, which goes when nobody asks any more."""
        folder = scratch("edited-elsewhere")
        finalize(self, folder.cleanup)
        return Path(folder.name)

    @cached_property
    def _rebuild(self) -> Rebuild:
        return Rebuild(self._subject.capture, self._place)

    def check(self, at: Statement, text: bytes, deadline: float) -> Check:
        """The tests with a new text of a statement's file; ``cases`` counts those that could tell.

        Those that failed with most edits are run first, then such as are known to come to the statement. They have a
        part of the time until ``deadline`` (of ``time.monotonic``).
        """
        return self._check(at, text, MOST, _part(CHECKING, deadline))

    def sieve(self, at: Statement, text: bytes, deadline: float) -> Check:
        """The first of the tests with a new text of a statement's file, as far as a smaller part of the time tells."""
        return self._check(at, text, SIEVING, _part(PORTION, deadline))

    def joint(self, objects: Mapping[str, Path]) -> JointElsewhere:
        """A build of many edits, which are in ``objects``, in the other programs; use it in a ``with`` statement."""
        with self._lock:
            self._numbers += 1
            return JointElsewhere(self, objects, f"joint-{self._numbers}")

    def first(self, at: Statement, most: int) -> list[_OtherProgram]:
        """The programs of the tests that tell most of an edit at a statement."""
        with self._lock:
            return list(islice(self._telling(at), most))

    def refuted_by(self, test: Case) -> Check:
        """What is said of an edit with which a test fails."""
        with self._lock:
            self._refuting[test.name] += 1
        return Check(found=f"test `{test.name}` fails with it")

    def _check(self, at: Statement, text: bytes, most: int, deadline: float) -> Check:
        key = at.file, text, most
        if key not in self._checked:
            found = self._checked_by(self.first(at, most), at, text, deadline)
            if found.trouble:
                return found
            self._checked[key] = found
        return self._checked[key]

    def _checked_by(self, programs: Sequence[_OtherProgram], at: Statement, text: bytes, deadline: float) -> Check:
        if not programs:
            return NONE_ELSEWHERE
        self._numbers += 1
        name = f"edit-{self._numbers}"
        runs = _Runs(programs, deadline)
        try:
            objects = self._rebuild.objects(self._subject.folder / at.file, text, name, deadline)
            runs.make(self._subject, objects, name)
        except TimeoutError:
            return Check(runs.passed, len(programs), "", NO_TIME)
        except (WhenceError, OSError) as error:
            return Check(runs.passed, len(programs), "", str(error))
        if runs.fails:
            return self.refuted_by(runs.fails)
        return Check(runs.passed, runs.passed)

    def _telling(self, at: Statement) -> Iterator[_OtherProgram]:
        """The passing tests that executed a statement, and those of which that is not known, in their order."""
        known = {one.name: any(at in site.statements for site in one.executed) for one in self._subject.others}
        tests = [test for test in self._subject.passed_tests if known.get(test.name, True)]
        tests.sort(key=lambda test: (-self._refuting[test.name], test.name not in known))
        return filter(None, map(self._program, tests))

    def _program(self, test: Case) -> _OtherProgram | None:
        if test.name not in self._programs:
            self._programs[test.name] = _opened(self._subject, test, self._place / str(len(self._programs)))
        return self._programs[test.name]


class _Runs:
    """The tests of some programs with one edit, on all processors, until one fails."""

    def __init__(self, programs: Sequence[_OtherProgram], deadline: float) -> None:
        self._waiting, self._deadline = deque(programs), deadline
        self.passed = 0
        self.fails: Case | None = None

    def make(self, subject: Subject, objects: Mapping[str, Path], name: str) -> None:
        """Run them with objects in place of those of modules. Raises TimeoutError where there is no time."""
        workers = min(len(self._waiting), cpu_count() or 1)
        with ThreadPoolExecutor(workers) as pool:
            for job in [pool.submit(self._work, subject, objects, name) for _ in range(workers)]:
                job.result()

    def _work(self, subject: Subject, objects: Mapping[str, Path], name: str) -> None:
        """Run one after the other, in one copy of the suite's folder."""
        with Runner(subject.executable, self._limits(subject.limits), name=subject.name, confined=True) as runner:
            while self._waiting and not self.fails:
                program = self._waiting.popleft()
                passes = program.passes(runner, objects, name, self._deadline)
                if passes is False:  # once more, since tests can be flaky, and it is told
                    passes = program.passes(runner, objects, name, self._deadline)
                self.passed += passes is True
                if passes is False:
                    self.fails = program.test

    def _limits(self, limits: Limits) -> Limits:
        """The subject's; no run may take longer than there is time."""
        left = max(1.0, self._deadline - time.monotonic())
        return replace(limits, time=min(limits.time, left)) if limits.time else limits


class JointElsewhere:
    """Tests of other programs with one edit of many that are in ``objects``; for one thread."""

    def __init__(self, elsewhere: EditedElsewhere, objects: Mapping[str, Path], name: str) -> None:
        self._elsewhere, self._objects, self._name = elsewhere, objects, name
        self._linked = set[_OtherProgram]()

    def __enter__(self) -> JointElsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._linked:
            program.forget(self._name)

    def check(self, runner: Runner, at: Statement, number: int, deadline: float) -> Check:
        """The first tests with the edit of a number, at a statement, until one fails."""
        passed = 0
        for program in self._elsewhere.first(at, SIEVING):
            self._linked.add(program)
            try:
                passes = program.passes(runner, self._objects, self._name, deadline, number)
            except (TimeoutError, Cancelled):
                return Check(passed, passed, "", NO_TIME)
            passed += passes is True
            if passes is False:
                return self._elsewhere.refuted_by(program.test)
        return Check(passed, passed)


class _OtherProgram:
    """A ``test`` that runs a program of its own; what is linked of this lies in the folder ``place``."""

    def __init__(self, test: Case, program: Path, place: Path) -> None:
        self.test = test
        self._capture, self._place = read_executable(program), place
        self._rebuild = Rebuild(self._capture, place)
        self._lock = Lock()
        self._passes_unedited: bool | None = None

    def passes(
        self, runner: Runner, objects: Mapping[str, Path], name: str, deadline: float, number: int = 0
    ) -> bool | None:
        """Whether the test passes with objects in place of those of modules; None: it has no such, or fails without.

        ``number``: the edit that is chosen of those in the objects (0: they are one edit's). What is linked bears the
        ``name``. Raises TimeoutError where there is no time.
        """
        if objects.keys().isdisjoint(module.hash for module in self._capture.modules):
            return None
        with self._lock:
            if self._passes_unedited is None:
                self._passes_unedited = self._passes(runner, {}, "unedited", deadline, 0)
        return self._passes(runner, objects, name, deadline, number) if self._passes_unedited else None

    def forget(self, name: str) -> None:
        """Remove what was linked under a name."""
        (self._place / name).unlink(missing_ok=True)

    def _passes(
        self, runner: Runner, objects: Mapping[str, Path], name: str, deadline: float, number: int
    ) -> bool | None:
        if time.monotonic() >= deadline:
            raise TimeoutError
        executable, test = self._place / name, choosing(self.test, number) if number else self.test
        try:
            if not executable.exists():
                self._rebuild.linked(objects, name, deadline, chooses=bool(number))
        except BuildError:
            return None
        runner.stand_in(executable)
        try:
            result = runner.run_case(test)
        except RunLost:
            return False
        if result.timed_out and time.monotonic() >= deadline:
            raise TimeoutError
        return judge(test, result).passed


def _opened(subject: Subject, test: Case, place: Path) -> _OtherProgram | None:
    """A test with its own program; None: it has none that was captured."""
    program, suite = program_of(test, subject.executable), test.suite
    if program is None or suite is None or suite.folder is None:
        return None
    place.mkdir()
    inside = replace(suite, program=str(real_executable(program).relative_to(suite.folder)))
    return _OtherProgram(replace(test, suite=inside), program, place)


def _part(share: float, deadline: float) -> float:
    """The end of a share of the time until a deadline."""
    now = time.monotonic()
    return now + share * (deadline - now)
