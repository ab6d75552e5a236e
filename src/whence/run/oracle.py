"""What decides whether a run passes, and how a run that does not has failed."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from whence.run.compare import Comparison, Difference, first_difference
from whence.run.verdicts import Verdict, automake_verdict, tap_verdict

if TYPE_CHECKING:
    from whence.run.cases import Case
    from whence.run.runner import RunResult

ASSERTIONS = (
    # glibc: "prog: file.c:12: function: Assertion `x > 0' failed."
    re.compile(rb"(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>.*?):? ?Assertion `(?P<text>.*)' failed\."),
    # musl: "Assertion failed: x > 0 (file.c: function: 12)"
    re.compile(rb"Assertion failed: (?P<text>.*) \((?P<file>[^()]+): (?P<function>[^()]*): (?P<line>\d+)\)"),
)


class Kind(StrEnum):
    """The outcomes of a run."""

    PASS = "pass"
    WRONG_OUTPUT = "wrong output"
    WRONG_STATUS = "wrong status"
    CRASH = "crash"
    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"  # a test of an existing suite that says it cannot run here


class Rule(StrEnum):
    """What of a run tells the verdict: what it wrote and its status, its status alone, or a test report it
    wrote.
    """

    OUTPUT = "output"
    STATUS = "status"
    TAP = "tap"
    AUTOMAKE = "automake"


@dataclass(slots=True, frozen=True)
class Expected:
    """What a passing run gives. None: not compared. A status above 128 is that of death by signal (as in a
    shell).
    """

    stdout: bytes | None = None
    stderr: bytes | None = None
    status: int | None = 0


@dataclass(slots=True, frozen=True)
class Assertion:
    """A failed ``assert``, from the C library's message."""

    file: str
    line: int
    function: str
    text: str


@dataclass(slots=True, frozen=True)
class Outcome:
    """How a run ended, judged by its case's oracle.

    ``text`` is one phrase for people. For a wrong output, ``stream`` is the file descriptor (1 or 2) and
    ``difference`` has the first differing byte in the actual and in the expected output.
    """

    kind: Kind
    text: str = ""
    stream: int = 1
    difference: Difference | None = None
    assertion: Assertion | None = None

    @property
    def passed(self) -> bool:
        """Whether the run is a pass."""
        return self.kind is Kind.PASS

    @property
    def failed(self) -> bool:
        """Whether the run is a failure (a skipped test is neither)."""
        return self.kind not in (Kind.PASS, Kind.SKIPPED)


PASSED = Outcome(Kind.PASS)


def judge(case: Case, result: RunResult) -> Outcome:
    """Return the outcome of a case's run. The case must have an expectation (``case.expected``)."""
    if result.timed_out:
        return Outcome(Kind.TIMEOUT, f"still running after {result.wall:.1f} s")
    if result.too_many_processes:
        return Outcome(Kind.CRASH, "made more processes than the limit allows")
    if case.rule in (Rule.TAP, Rule.AUTOMAKE):
        return _judge_report(case, result)
    if case.skip_statuses and result.code in case.skip_statuses:
        return Outcome(Kind.SKIPPED, f"exit status {result.code}")
    expected = case.expected or Expected()
    if result.signal and expected.status != result.code and result.signal != signal.SIGXFSZ:
        return _judge_signal(result)
    return _judge_outputs(case.comparison, expected, result) or _judge_status(expected, result)


def _judge_signal(result: RunResult) -> Outcome:
    if result.signal == signal.SIGABRT and (assertion := find_assertion(result.stderr)):
        text = f"assertion `{assertion.text}' failed at {assertion.file}:{assertion.line}"
        return Outcome(Kind.ASSERTION, text, assertion=assertion)
    return Outcome(Kind.CRASH, f"killed by {signal_name(result.signal)}")


def _judge_outputs(how: Comparison, expected: Expected, result: RunResult) -> Outcome | None:
    if how.status_only:
        return None
    outcome = _judge_stream(1, result.stdout, expected.stdout, how)
    if outcome is None and how.stderr:
        outcome = _judge_stream(2, result.stderr, expected.stderr, how)
    return outcome


def _judge_stream(stream: int, actual: bytes, expected: bytes | None, how: Comparison) -> Outcome | None:
    if expected is None:
        return None
    difference = first_difference(actual, expected, how)
    if difference is None:
        return None
    name = "standard output" if stream == 1 else "standard error"
    if difference.actual >= len(actual):
        text = f"{name} ends after {len(actual)} bytes, more was expected"
    else:
        line = actual.count(b"\n", 0, difference.actual) + 1
        text = f"{name} differs from byte {difference.actual} on (line {line})"
    return Outcome(Kind.WRONG_OUTPUT, text, stream, difference)


def _judge_status(expected: Expected, result: RunResult) -> Outcome:
    if expected.status is None or expected.status == result.code:
        if result.signal == signal.SIGXFSZ and expected.status != result.code:
            return Outcome(Kind.CRASH, "wrote more than the limit allows")
        return PASSED
    if result.signal:
        return Outcome(Kind.CRASH, "wrote more than the limit allows")
    return Outcome(Kind.WRONG_STATUS, f"exit status {result.code}, expected {expected.status}")


def _judge_report(case: Case, result: RunResult) -> Outcome:
    """The verdict of a test suite that reports on its output; a run that breaks off has failed."""
    if case.rule is Rule.TAP:
        verdict, text = tap_verdict(result.stdout, result.code)
    else:
        verdict, text = automake_verdict(result.stdout, case.name, result.code)
    kinds = {Verdict.PASS: Kind.PASS, Verdict.SKIP: Kind.SKIPPED, Verdict.FAIL: Kind.WRONG_STATUS}
    return Outcome(kinds[verdict], text)


def find_assertion(stderr: bytes) -> Assertion | None:
    """Return the failed assertion that the C library reported, if it did (the last of several)."""
    for pattern in ASSERTIONS:
        for match in reversed(list(pattern.finditer(stderr))):
            names = {name: text.decode(errors="replace") for name, text in match.groupdict().items()}
            return Assertion(names["file"], int(names["line"]), names["function"], names["text"])
    return None


def signal_name(number: int) -> str:
    """Return a signal's name (``SIGSEGV``), or its number where it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
