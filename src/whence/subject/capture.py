"""The cases in a test suite: each invocation of the program that its tests make, captured once, as a case of its own.

The suite is run once with a shim in the program's place (``build/shim.py``), and what it kept becomes cases
(``run/taken_apart.py``) that are run without the suite; one that does something else there is left out. They are kept
(``captured_cases.py``) until program or suite change.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whence.build.shim import shim
from whence.build.single_test import framework_of
from whence.build.toolchain import whence_home
from whence.errors import WhenceError
from whence.run.cases import Case, Place
from whence.run.config import FILE_NAME, SubjectConfig
from whence.run.expectations import right_by
from whence.run.invocations import Invocation
from whence.run.oracle import judge
from whence.run.outcome import Expected
from whence.run.result import RunResult
from whence.run.runner import RunLost, Runner
from whence.run.taken_apart import Judged, TestRun, take_apart, with_crashes, with_printed_failures
from whence.run.verdicts import FAILING
from whence.subject.captured_cases import CapturedCases, Keeper, manifest_of
from whence.subject.coverage import OtherRun
from whence.subject.invocation_choice import some_of_each
from whence.subject.named_files import named_files
from whence.subject.other_programs import FEW, program_of_failing, runs_of_other_programs
from whence.subject.single_tests import of_single_tests, single_tests
from whence.subject.subject import Subject, check_reference, with_cases
from whence.subject.suite_runner import SuiteRunner
from whence.subject.told import with_what_they_want

MOST_PASSING, MOST_FAILING = 150, 50  # cases; of more the runs take the time that is to explain the failure
VERSION = 33  # of what is kept, and of how it was chosen
NAMED = 3  # reasons and tests that are told
ELSEWHERE = "it does something else when it is run outside of its test"
Progress = Callable[[int, int], None]
Files = tuple[tuple[str, bytes | None], ...]
CaseFiles = tuple[tuple[str, Path], ...]


def with_captured_cases(
    subject: Subject,
    config: SubjectConfig,
    progress: Progress | None = None,
    earlier: Path | None = None,
    fails_elsewhere: bool = False,
) -> Subject:
    """The subject with the invocations of its test suite as cases, captured if they are not known yet.

    What an ``earlier`` version of the program gives is right where a failing test does not tell it.

    Where no invocation is known to fail, but a test does that runs another program of the suite, that is the subject.
    Else the failing tests are cases beside the invocations that pass; and where there are hardly any of these, or the
    suite cannot be captured, all tests are the cases as they were. ``remarks`` say why.
    ``fails_elsewhere``: failing cases are known beside the suite, so that of this the passing invocations are enough.
    """
    captured = _captured(subject, config, progress, earlier)
    if (
        not captured.failing
        and not fails_elsewhere
        and (other := program_of_failing(subject, captured.apart)) is not None
    ):
        again = _captured(other, config, progress, None)
        if again.failing:
            subject, captured = other, again
    if not captured.failing and not fails_elsewhere:
        return _of_whole_tests(subject, captured)
    found = replace(with_cases(subject, captured.cases), remarks=[*subject.remarks, *captured.remarks])
    fails = {*captured.apart, *captured.failed}
    passed = tuple(test for test in subject.cases if test.name not in fails)
    return of_single_tests(replace(found, others=tuple(captured.others), passed_tests=passed))


def _of_whole_tests(subject: Subject, captured: CapturedCases) -> Subject:
    """The subject where it is known of tests alone that they fail."""
    failing = [case for case in subject.cases if case.name in captured.failed]
    if failing and len(captured.cases) >= FEW:
        cases = [*failing, *captured.cases]
        remark = f"no invocation is known to fail: {_count(len(failing), 'whole test')} that "
        remark += f"{'fails is a case' if len(failing) == 1 else 'fail are cases'} beside them, and no run is altered"
    else:
        place = {name: number for number, name in enumerate(captured.tests)}
        cases = sorted(subject.cases, key=lambda case: place.get(case.name, len(place)))
        remark = "no invocation is known to fail: the suite's tests are the cases, and no run is altered"
    return replace(with_cases(subject, cases), remarks=[*subject.remarks, *captured.remarks, remark])


def _captured(
    subject: Subject, config: SubjectConfig, progress: Progress | None, earlier: Path | None
) -> CapturedCases:
    """What ``captured_cases`` gives; where it raises, no case with the reason."""
    try:
        return captured_cases(subject, config, progress, earlier)
    except WhenceError as error:
        return CapturedCases([], 0, [f"the suite's invocations cannot be captured: {error}"])


def captured_cases(
    subject: Subject, config: SubjectConfig, progress: Progress | None = None, earlier: Path | None = None
) -> CapturedCases:
    """The cases in the suite that the subject's cases are the tests of, from Whence's folder if they still hold.

    Raises BuildError where the shim cannot be made, SubjectError where the suite's folder cannot be copied, or there is
    no reference program where one is named.
    """
    if subject.reference is not None:
        check_reference(subject.reference)
    keeper = Keeper(Path(whence_home()) / "suites" / _key(subject, config, earlier))
    manifest = manifest_of(config.folder, [config.folder / FILE_NAME])
    captured = keeper.load(manifest, config.compare)
    if captured is None:
        capture = _Capture(subject, config, keeper, earlier)
        captured = capture.run(progress)
        if capture.has_run and not capture.lost:  # what lacked may be there the next time
            keeper.save(captured, manifest)
    return captured


def _key(subject: Subject, config: SubjectConfig, earlier: Path | None) -> str:
    """What the cases depend on beside the files of the suite."""
    digest = hashlib.sha256(shim())
    digest.update(f"{VERSION} {MOST_PASSING} {MOST_FAILING}".encode())
    for item in (config.folder, config.cases, config.compare, config.limits, [case.name for case in subject.cases]):
        digest.update(repr(item).encode(errors="surrogateescape"))
    for program in filter(None, (subject.executable, subject.reference, earlier)):
        digest.update(program.read_bytes() if program.exists() else b"")
    return digest.hexdigest()[:32]


@dataclass(frozen=True)
class _Kept:
    """An invocation that is a case of its own, with its run as that, and the files that it may have changed."""

    judged: Judged
    case: Case
    result: RunResult
    left: Files


class _Capture:
    """Captures the cases of one suite."""

    def __init__(self, subject: Subject, config: SubjectConfig, keeper: Keeper, earlier: Path | None) -> None:
        self._subject, self._config, self._keeper, self._earlier = subject, config, keeper, earlier
        self._left_out: Counter[str] = Counter()
        self.lost: list[str] = []  # why tests could not be run
        self.has_run = False  # whether a test ran the program

    def run(self, progress: Progress | None) -> CapturedCases:
        subject = self._subject
        with SuiteRunner(subject.executable, subject.limits, subject.name) as suite:
            tests = []
            for number, case in enumerate(subject.cases, 1):
                try:
                    tests.append(suite.run(case))
                except RunLost as error:
                    self.lost.append(f"a test was left out: {error}")
                if progress:
                    progress(number, len(subject.cases))
            self.has_run = any(test.invocations for test in tests)
            tests, silent = with_printed_failures(tests)
            tests = with_what_they_want(suite, tests, [_judged_by(case, case.name in silent) for case in subject.cases])
            if (single := self._single_tests(tests, suite)) is not None:
                return single
            judged = take_apart(tests)
            chosen = self._chosen(judged if self._can_settle else with_crashes(judged))
            cases = [self._case(one, suite) for one in chosen]
            observed = [_observed(one.invocation, suite.work) for one in chosen]
            named = {one.name: self._named_files(one, suite.work) for one in chosen}
        faithful = self._completed(self._faithful(chosen, cases, observed), named)
        settled = list(self._settled(faithful))
        failing = [one for one, _, fails in settled if fails]
        cases = [replace(case, passed=not fails) for _, case, fails in settled]
        remarks = [*self._remarks(tests, len(settled), failing), *silent.values(), *self.lost[:NAMED]]
        names = [test.name for test in sorted(tests, key=_telling)]
        others, lost_programs = list[OtherRun](), list[str]()
        if failing and len(settled) - len(failing) < FEW:
            others, lost_programs = self._others(tests, progress)
        remarks += lost_programs[:NAMED]
        if others:
            remarks.append(
                f"{_count(len(others), 'passing test')} of other programs with the same functions "
                f"{'counts' if len(others) == 1 else 'count'} in the spectrum: {_some(other.name for other in others)}"
            )
        apart = [test.name for test in tests if test.outcome.failed and not test.invocations]
        failed = [test.name for test in tests if test.outcome.failed and test.invocations]
        return CapturedCases(cases, len(failing), remarks, names, others, apart, failed)

    def _single_tests(self, tests: Sequence[TestRun], suite: SuiteRunner) -> CapturedCases | None:
        """Each test that the program holds as a case, where its framework is known and they tell what the suite told.

        Its invocations may use what cannot be captured, such as processes of their own and sockets to them; one test at
        a time does without. None: they cannot be run so, or there are no more of them than invocations.
        """
        runs = list({one.identity: one for test in tests for one in test.invocations}.values())
        if framework_of(self._subject.executable) is None or not runs:
            return None
        names = {one.order: test.name for test in tests for one in test.invocations}
        bases = [self._case(Judged(names[one.order], "", one, Expected()), suite) for one in runs]
        try:
            apart = single_tests(self._subject, bases, "*")
        except WhenceError as error:
            self.lost.append(f"the tests of {self._subject.executable.name} are not cases of their own: {error}")
            return None
        results = zip(apart.cases, self._results(apart.executable, apart.cases), strict=True)
        failing = [case.name for case, result in results if result is None or not judge(case, result).passed]
        if len(apart.cases) <= len(runs) or bool(failing) != any(one.status or one.signal for one in runs):
            return None
        remarks = [f"{_count(len(tests), 'test')} ran the program {_count(len(runs), 'time')}", *apart.remarks[-1:]]
        outside = [test.name for test in tests if test.outcome.failed and not test.invocations]
        return CapturedCases(apart.cases, len(failing), remarks, [test.name for test in tests], [], outside)

    def _others(self, tests: Sequence[TestRun], progress: Progress | None) -> tuple[list[OtherRun], list[str]]:
        """What passing tests executed that do not run the program at ``path``, but one of their own.

        Also returns why some of them do not count.
        """
        passing = {test.name for test in tests if test.outcome.passed and not test.invocations}
        return runs_of_other_programs(
            self._subject, [case for case in self._subject.cases if case.name in passing], progress
        )

    def _chosen(self, judged: Sequence[Judged]) -> list[Judged]:
        """Those that become cases: what fails or may fail first, then passing ones, of each test some."""
        usable = []
        for one in judged:
            if one.invocation.trouble or (one.expected is None and not (one.open and self._can_settle)):
                self._left_out[one.why] += 1
            else:
                usable.append(one)
        different = {one.invocation.identity: one for one in reversed(usable)}  # the first of those that are alike
        failing = [one for one in different.values() if one.failed]
        untold = [one for one in different.values() if one.expected is None]
        passing = [one for one in different.values() if one.expected is not None and not one.failed]
        doubtful = [*failing[::-1], *untold[::-1]][:MOST_FAILING]
        kept = {one.name for one in [*doubtful, *some_of_each(passing[::-1], failing[::-1], MOST_PASSING)]}
        if (more := len(different) - len(kept)) > 0:
            self._left_out["there are enough others"] += more
        return [one for one in usable if one.name in kept]

    def _case(self, one: Judged, suite: SuiteRunner) -> Case:
        invocation, work = one.invocation.moved_into(str(suite.work)), suite.work
        how = self._config.compare
        right = one.expected and replace(one.expected, files=_moved(one.expected.files, invocation, work))
        written = [invocation.stdout, *(content for _, content in invocation.left)]
        written += [right.stdout, *(content for _, content in right.files)] if right else []
        if any(os.fsencode(work) in content for content in written if content):
            how = replace(how, mask=(*how.mask, re.escape(str(work.parent)[:-3]) + "[0-9]{3}"))
        return Case(
            one.name,
            invocation.words[1:],
            self._keeper.bytes(invocation.stdin) if invocation.stdin else None,
            self._keeper.files(invocation, work),
            suite.own(invocation.variables),
            right,
            how,
            failing_output=one.failing_output,
            place=Place(invocation.words[0], os.path.relpath(invocation.folder, work), str(work)),
        )

    def _faithful(self, chosen: Sequence[Judged], cases: Sequence[Case], gave: Sequence[Expected]) -> list[_Kept]:
        """Those that give without the suite what they gave within it; files that are others each time do not count."""
        found = []
        results = self._results(self._subject.executable, [replace(case, expected=None) for case in cases])
        for one, case, observed, result in zip(chosen, cases, gave, results, strict=True):
            gives = replace(case, expected=replace(observed, files=()), failing_output=None)
            if result is None or not judge(gives, result).passed:
                self._left_out[ELSEWHERE] += 1
                continue
            if case.expected is not None:
                case = replace(case, expected=_without_others(case, observed, result))
            found.append(_Kept(one, case, result, observed.files))
        return found

    def _completed(self, faithful: Sequence[_Kept], named: Mapping[str, CaseFiles]) -> list[_Kept]:
        """The same, with the files that a right run may ask for (``named``): as far as they give with these what they
        gave without.
        """
        found = list(faithful)
        fuller = [
            (number, replace(kept.case, files=(*kept.case.files, *more)))
            for number, kept in enumerate(found)
            if (more := named[kept.judged.name])
        ]
        results = self._results(self._subject.executable, [replace(case, expected=None) for _, case in fuller])
        for (number, case), result in zip(fuller, results, strict=True):
            kept = found[number]
            gave = Expected(kept.result.stdout, None, kept.result.status)
            if result is not None and judge(replace(case, expected=gave, failing_output=None), result).passed:
                found[number] = replace(kept, case=case, result=result)
        return found

    def _named_files(self, one: Judged, work: Path) -> CaseFiles:
        """Such files of an invocation; none where it passes."""
        if one.expected is not None and not one.failed:
            return ()
        named = named_files(one.invocation.moved_into(str(work)), work, self._config.folder)
        return tuple((name, self._keeper.copy(path)) for name, path in named)

    def _results(self, program: Path, cases: Iterable[Case]) -> Iterator[RunResult | None]:
        """The runs of cases; None where one cannot be run."""
        with Runner(program, self._subject.limits, name=self._subject.name) as runner:
            for case in cases:
                try:
                    yield runner.run_case(case)
                except RunLost:
                    yield None

    @property
    def _can_settle(self) -> bool:
        """Whether there is a program that tells what is right where tests do not."""
        return bool(self._subject.reference or self._earlier)

    def _settled(self, faithful: Sequence[_Kept]) -> Iterator[tuple[Judged, Case, bool]]:
        """The cases with what is right, and whether they fail: by the reference; else by the tests, and by the earlier
        version where these do not tell.
        """
        if self._subject.reference:
            yield from self._by_program(self._subject.reference, faithful)
            return
        for kept in faithful:
            if kept.case.expected is not None:
                yield kept.judged, kept.case, kept.judged.failed and not judge(kept.case, kept.result).passed
        if self._earlier:
            yield from self._by_program(self._earlier, [kept for kept in faithful if kept.case.expected is None])

    def _by_program(self, program: Path, faithful: Sequence[_Kept]) -> list[tuple[Judged, Case, bool]]:
        """The cases with what a program gives as right."""
        found = []
        runs = self._results(program, [replace(kept.case, expected=None) for kept in faithful for _ in range(2)])
        for kept, result, again in zip(faithful, runs, runs, strict=False):
            if result is None or again is None or result.timed_out or result.signal:
                self._left_out["the reference program does not end by itself there"] += 1
                continue
            case = replace(kept.case, expected=right_by(result, again, [name for name, _ in kept.left]))
            found.append((kept.judged, case, not judge(case, kept.result).passed))
        return found

    # ---- What is said --------------------------------------------------------------------------------------------

    def _remarks(self, tests: Sequence[TestRun], cases: int, failing: Sequence[Judged]) -> list[str]:
        """How many invocations became cases, why others did not, and which failing tests none was found to fail in."""
        total = sum(len(test.invocations) for test in tests)
        remarks = [
            f"{_count(len(tests), 'test')} ran the program {_count(total, 'time')}: {cases} of these invocations are "
            f"cases of their own, {len(failing)} of them fail"
        ]
        remarks += [f"no case: {_count(n, 'invocation')}, since {why}" for why, n in self._left_out.most_common(NAMED)]
        passing = {test.name for test in tests if test.outcome.passed}
        if failing and passing.issuperset(one.test for one in failing if one.invocation.signal):
            crashed = sorted({one.test for one in failing if one.invocation.signal})
            remarks += [f"`{name}` passes, though the program crashed in it" for name in crashed[:NAMED]]
        untold = [test for test in tests if test.outcome.failed and test.name not in {one.test for one in failing}]
        remarks += [f"test `{test.name}` fails, but {_untold(test)}" for test in untold[:NAMED]]
        if untold[NAMED:]:
            remarks.append(f"the same of {_count(len(untold) - NAMED, 'other failing test')}")
        return remarks


def _judged_by(case: Case, is_silent: bool) -> Case:
    """A test that shows its failure in its output only is judged by that when it is run again."""
    return replace(case, failing_output=FAILING.pattern.decode()) if is_silent else case


def _some(names: Iterable[str]) -> str:
    """The first names."""
    shown = [f"`{name}`" for name in names]
    return ", ".join(shown[:NAMED]) + (f" and {len(shown) - NAMED} more" if shown[NAMED:] else "")


def _moved(files: Files, invocation: Invocation, work: Path) -> Files:
    """Files with their names in the suite's folder, not those from the invocation's folder on."""
    return tuple((os.path.relpath(Path(invocation.folder, name), work), content) for name, content in files)


def _observed(invocation: Invocation, work: Path) -> Expected:
    """What an invocation gave, with its files' names in the suite's folder."""
    return replace(invocation.observed, files=_moved(invocation.left, invocation, work))


def _without_others(case: Case, observed: Expected, result: RunResult) -> Expected:
    """What is expected of a case without the files that its run leaves otherwise than its invocation did."""
    assert case.expected is not None
    same = {
        name
        for name, content in observed.files
        if judge(replace(case, expected=Expected(status=None, files=((name, content),))), result).passed
    }
    return replace(case.expected, files=tuple(file for file in case.expected.files if file[0] in same))


def _telling(test: TestRun) -> tuple[bool, bool]:
    """Orders tests: those first that run the program, and of these the failing ones; time may end before the rest."""
    return not test.invocations, not test.outcome.failed


def _untold(test: TestRun) -> str:
    if not test.invocations:
        return "does not run the program at `path`"
    return f"which of its {_count(len(test.invocations), 'invocation')} is wrong cannot be told"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
