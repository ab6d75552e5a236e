"""Failing tests are told something else than an invocation gave: one that goes on then has found that to be wrong.

A test that compares files goes on where it is told what these say, one that stops where the program gives an error
status where it is told status 0, one that wants an error where it is told one, and one that compares texts by itself
where it is told the text that it wants (``run/told_texts.py``). What helps is kept while others are tried, until the
test passes: then it finds nothing wrong with what it was not told otherwise, and that is right as in any test that
passes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from whence.run.cases import Case
from whence.run.compared_outputs import right_outputs
from whence.run.invocations import Invocation
from whence.run.runner import RunLost
from whence.run.taken_apart import TestRun, Told
from whence.run.told_texts import HUNK, LONGEST, shown_instead, texts_in, wanted
from whence.run.verdicts import FAILING
from whence.subject.suite_runner import SuiteRunner

MOST_TESTS, MOST_STATUSES, MOST_OUTPUTS = 20, 3, 8  # failing tests that are run again, and what each is told first
MOST_ERRORS = 50  # of a test whose error statuses are told to be 0 in the end: one that goes on may fail in each
SECONDS = 60.0  # after which no further test is told anything; each has its share
ERROR = 1  # the status that a test is told where it may want an error
SCRIPTS = re.compile(r"\.(sh|bash|t|test|tests|bats|pl|py|awk|tcl)$")
LARGEST_SCRIPT, MOST_SCRIPTS = 1 << 18, 200
WORDS = re.compile(r"[A-Za-z0-9]+")  # of a test's name
# What tests say of a check that failed: more than tells a failing test from a passing one (``FAILING``), since here
# it is only asked which of two runs of one test says less of it.
COMPLAINT = re.compile(
    rb"not ok\b|\b(?:fail|error|unsuccess|unexpect|wrong|incorrect|mismatch|differ|broken|bad\b)", re.IGNORECASE
)


def with_what_they_want(suite: SuiteRunner, tests: Sequence[TestRun], cases: Sequence[Case]) -> list[TestRun]:
    """The tests; the first failing ones as they were run when they were told what they want.

    ``cases`` are the tests as cases, by the same names.
    """
    known = {case.name: case for case in cases}
    asked = [test for test in tests if test.outcome.failed][:MOST_TESTS]
    found, end = {}, time.monotonic() + SECONDS
    for number, test in enumerate(asked):
        case, now = known[test.name], time.monotonic()
        # Else the folder is not what it was for the test.
        if case.suite is not None and case.suite.fresh and now < end:
            found[test.name] = _Asking(suite, case, test, now + (end - now) / (len(asked) - number)).asked()
    return [found.get(test.name, test) for test in tests]


@dataclass
class _Asking:
    """One failing test, with what it has been told so far that helped."""

    suite: SuiteRunner
    case: Case
    before: TestRun
    end: float

    def __post_init__(self) -> None:
        self.test = self.before
        self._stopped_at: set[int] = set()  # invocations behind which others came when they were told otherwise
        self._tried: set[tuple[int, Told]] = set()
        self._tried_at_once: list[dict[int, Told]] = []

    def asked(self) -> TestRun:
        """The test as it was run with all that helped."""
        told: dict[int, Told] = {}
        while self.test.outcome.failed and (more := self._at_once(told) or self._one_more(told)):
            told |= more
        return self._with(told)

    def _crashed(self, told: Container[int]) -> bool:
        """Whether an invocation crashed of which the test was not told otherwise: that is what it fails of."""
        return any(one.signal and self.suite.number(one) not in told for one in self.test.invocations)

    def _at_once(self, told: dict[int, Told]) -> dict[int, Told]:
        """What comparisons of files and the differences that the test showed say further, all at once; of differences
        only where it passes with that, and of comparisons where more of them find nothing, or fewer are made.
        """
        compared, shown = self._compared(told), self._shown(told)
        for more in ({**compared, **shown} if shown else {}, compared):
            if not more or more in self._tried_at_once or time.monotonic() > self.end:
                continue
            self._tried_at_once.append(more)
            again = self._run({**told, **more})
            if again is not None and (again.outcome.passed or (more == compared and _differs_less(again, self.test))):
                self._go_on(again, more)
                return more
        return {}

    def _one_more(self, told: dict[int, Told]) -> dict[int, Told]:
        """The first thing that helps of what one invocation may be wanted to give."""
        if self._crashed(told):
            return {}
        succeeded = {*told, *(number for number, one in self._tried if one.status == 0)}
        for number, instead in self._answers(succeeded):
            if (number, instead) in self._tried or number in told or time.monotonic() > self.end:
                continue
            self._tried.add((number, instead))
            again = self._run({**told, number: instead})
            if again is not None and _is_further(again, self.test, instead):
                self._go_on(again, {number: instead})
                return {number: instead}
        return {}

    def _go_on(self, again: TestRun, told: dict[int, Told]) -> None:
        if len(again.invocations) > len(self.test.invocations):
            self._stopped_at |= told.keys()
        self.test = again

    def _compared(self, told: dict[int, Told]) -> dict[int, Told]:
        """What is right by comparisons for those of whose output the test has not been told anything."""
        found: dict[int, Told] = {}
        for judge in self.test.judges:
            for one, right in right_outputs(self.test.invocations, judge) if judge.status == 1 else ():
                number = self.suite.number(one)
                known = told.get(number, Told(0 if one.signal else None))
                if one.stdout != right and known.stdout is None:
                    found.setdefault(number, replace(known, stdout=right))
        return found

    def _shown(self, told: dict[int, Told]) -> dict[int, Told]:
        """What is right by differences that the test shows, of the same."""
        return {
            number: Told(stdout=text)
            for one in self.test.invocations
            for text, is_whole in shown_instead(one, self.test.output)
            if is_whole and (number := self.suite.number(one)) not in told
        }

    def _run(self, told: dict[int, Told]) -> TestRun | None:
        try:
            return self.suite.run(self.case, told)
        except RunLost:
            return None

    def _with(self, told: dict[int, Told]) -> TestRun:
        """The test's last run as that of a failing one, with what it was told."""
        last, passes = self.test, self.test.outcome.passed
        if not passes:  # an error may have led it another way
            told = {number: instead for number, instead in told.items() if instead.status != ERROR}
        if not told:
            return self.before
        numbers = {self.suite.number(one): one.order for one in last.invocations}
        by_order = {numbers[number]: instead for number, instead in told.items() if number in numbers}
        # What comes behind the last one at which it stopped may be what the test fails of now; one that does not stop
        # may fail of any.
        accepted = "~" if passes else max((numbers[n] for n in self._stopped_at if n in numbers), default="")
        return replace(last, outcome=self.before.outcome, told=by_order, accepted=accepted)

    def _answers(self, told: set[int]) -> Iterator[tuple[int, Told]]:
        """What the test may want to be told: statuses of the last invocations that were not ``told`` to have succeeded,
        then texts, then errors, then the other statuses.
        """
        usable = [one for one in self.test.invocations if not one.signal and not one.trouble]
        failed = [number for one in usable[::-1] if one.status and (number := self.suite.number(one)) not in told]
        for number in failed[:MOST_STATUSES]:
            yield number, Told(status=0)
        texts = [*(text for script in self._scripts() for text in texts_in(script)), *self._beside(usable)]
        for one, text in wanted(usable, texts, self.test.output)[:MOST_OUTPUTS]:
            yield self.suite.number(one), Told(stdout=text)
        for one in [one for one in usable if not one.status][::-1][:MOST_STATUSES]:
            yield self.suite.number(one), Told(status=ERROR)
        for number in failed[MOST_STATUSES:MOST_ERRORS]:
            yield number, Told(status=0)

    @cached_property
    def _files(self) -> list[Path]:
        """The files of the suite's folder, as the test found them."""
        folder = self.case.suite.folder if self.case.suite is not None else None
        if folder is None:
            return []
        inside = (path for path in folder.rglob("*") if not path.is_relative_to(folder / ".git"))
        return sorted(path for path in inside if path.is_file())

    def _beside(self, invocations: Sequence[Invocation]) -> Iterator[bytes]:
        """Files of the suite with the name of what an invocation was given, or of the test: ``b.ok`` for ``b.in``."""
        names = {Path(word).stem for one in invocations for word in one.words[1:]} | {*WORDS.findall(self.case.name)}
        files = (path for path in self._files if path.stem in names)
        yield from (path.read_bytes() for path in files if path.stat().st_size <= LONGEST)

    def _scripts(self) -> Iterator[bytes]:
        """The test's own script, where its name leads to one; else all that may be scripts of the suite."""
        own = Path(self.case.name.partition("::")[0]).name
        files = [path for path in self._files if path.stat().st_size <= LARGEST_SCRIPT]
        named = [path for path in files if path.name == own]
        for path in (named or [path for path in files if SCRIPTS.search(path.name)])[:MOST_SCRIPTS]:
            yield path.read_bytes()


def _is_further(again: TestRun, before: TestRun, instead: Told) -> bool:
    """Whether a test came further, or complains of less: it may print a text that it was told, with words in it."""
    words = FAILING if instead.stdout is not None else COMPLAINT
    if again.outcome.passed or _steps(again) > _steps(before):
        return True
    return len(again.invocations) == len(before.invocations) and _complaints(again, words) < _complaints(before, words)


def _differs_less(again: TestRun, before: TestRun) -> bool:
    """Whether a test came further, or found fewer differences: many compare files only to show how they differ."""
    if len(again.invocations) != len(before.invocations):
        return _steps(again) > _steps(before)
    found = [sum(judge.status == 1 for judge in test.judges) for test in (again, before)]
    return found[0] < found[1]


def _complaints(test: TestRun, words: re.Pattern[bytes]) -> int:
    """How many words and differences in a test's output say that something failed."""
    return len(words.findall(test.output)) + len(HUNK.findall(test.output))


def _steps(test: TestRun) -> int:
    """How far a test came: a comparison that finds a difference, or one that then shows it, is no step forward."""
    return len(test.invocations) + sum(judge.status == 0 for judge in test.judges)
