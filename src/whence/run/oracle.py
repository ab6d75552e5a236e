"""What decides whether a run passes, and how a run that does not has failed."""

from __future__ import annotations

import re
import signal
from dataclasses import replace

from whence.findings import plural
from whence.run.cases import Case
from whence.run.compare import Comparison, Difference, first_difference
from whence.run.junit_reports import junit_verdict
from whence.run.outcome import FIRST_FILE, PASSED, STDERR, STDOUT, Assertion, Expected, Kind, Outcome, Rule
from whence.run.result import RunResult
from whence.run.verdicts import Verdict, automake_verdict, tap_verdict

ASSERTIONS = (
    # glibc: "prog: file.c:12: function: Assertion `x > 0' failed."
    re.compile(rb"(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>.*?):? ?Assertion `(?P<text>.*)' failed\."),
    # musl: "Assertion failed: x > 0 (file.c: function: 12)"
    re.compile(rb"Assertion failed: (?P<text>.*) \((?P<file>[^()]+): (?P<function>[^()]*): (?P<line>\d+)\)"),
    # the drivers of single tests (probe/tests): "file.c:12: check failed: x == 3"
    re.compile(rb"(?P<file>[^\s:]+):(?P<line>\d+): check failed: (?P<text>.*)(?P<function>)"),
)


def judge(case: Case, result: RunResult) -> Outcome:
    """Return the outcome of a case's run. The case must have an expectation (``case.expected``)."""
    if result.deadlocked:
        return Outcome(Kind.TIMEOUT, "deadlock: all threads wait for each other")
    if result.timed_out:
        return Outcome(Kind.TIMEOUT, f"still running after {result.wall:.1f} s")
    if result.too_many_processes:
        return Outcome(Kind.CRASH, "made more processes than the limit allows")
    if case.failing_output and (found := re.search(case.failing_output.encode(), result.stdout + result.stderr, re.M)):
        return Outcome(Kind.WRONG_STATUS, f"its output says `{found[0].decode(errors='replace')}`")
    if case.rule in (Rule.TAP, Rule.AUTOMAKE, Rule.JUNIT):
        return _judge_report(case, result)
    if case.skip_statuses and result.code in case.skip_statuses:
        return Outcome(Kind.SKIPPED, f"exit status {result.code}")
    expected = case.expected or Expected()
    if result.signal and expected.status != result.code and result.signal != signal.SIGXFSZ:
        return _judge_signal(result)
    if result.signal == signal.SIGXFSZ and expected.status != result.code:
        return _judge_flood(case.comparison, expected, result)
    return _judge_outputs(case.comparison, expected, result) or _judge_status(expected, result)


def _judge_signal(result: RunResult) -> Outcome:
    if result.signal == signal.SIGABRT and (assertion := find_assertion(result.stderr)):
        return Outcome(Kind.ASSERTION, assertion.sentence, assertion=assertion)
    return Outcome(Kind.CRASH, f"killed by {signal_name(result.signal)}")


def _judge_flood(how: Comparison, expected: Expected, result: RunResult) -> Outcome:
    """A run that the limit of output has ended."""
    wrong = _judge_outputs(how, expected, result)
    return replace(wrong or Outcome(Kind.TIMEOUT, "wrote more than the limit allows"), flooded=True)


def _judge_outputs(how: Comparison, expected: Expected, result: RunResult) -> Outcome | None:
    if how.status_only:
        return None
    outcome = _judge_stream(STDOUT, result.stdout, expected, how)
    if outcome is None and how.stderr:
        outcome = _judge_stream(STDERR, result.stderr, expected, how)
    for stream in range(FIRST_FILE, FIRST_FILE + len(expected.files) * how.files):
        outcome = outcome or _judge_file(stream, result, expected, how)
    return outcome


def _judge_file(stream: int, result: RunResult, expected: Expected, how: Comparison) -> Outcome | None:
    """What is wrong with a file; one that is missing, or that should be, is wrong from its first byte on."""
    left, right = result.files.get(expected.files[stream - FIRST_FILE][0]), expected.text(stream)
    if left is not None and right is not None:
        return _judge_stream(stream, left.content, expected, how)
    if left is None and right is None:
        return None
    text = f"{expected.name(stream)} is {'missing' if left is None else 'there, and should not be'}"
    return Outcome(Kind.WRONG_OUTPUT, text, stream, Difference(0, 0))


def _judge_stream(stream: int, actual: bytes, right: Expected, how: Comparison) -> Outcome | None:
    expected = right.text(stream)
    if expected is None:
        return None
    difference = first_difference(actual, expected, how)
    if difference is None:
        return None
    name = right.name(stream)
    if difference.actual >= len(actual):
        text = f"{name} ends after {plural(len(actual), 'byte')}, more was expected"
    else:
        line = actual.count(b"\n", 0, difference.actual) + 1
        text = f"{name} differs from byte {difference.actual + 1:,} on (line {line})"
    return Outcome(Kind.WRONG_OUTPUT, text, stream, difference)


def _judge_status(expected: Expected, result: RunResult) -> Outcome:
    if expected.status is None or expected.status == result.code:
        return PASSED
    return Outcome(Kind.WRONG_STATUS, f"exit status {result.code}, expected {expected.status}")


def _judge_report(case: Case, result: RunResult) -> Outcome:
    """The verdict of a test suite that reports on its output; a run that breaks off has failed."""
    if case.rule is Rule.TAP:
        verdict, text = tap_verdict(result.stdout, result.code)
    elif case.rule is Rule.JUNIT:
        verdict, text = junit_verdict(result.stdout, case.name, result.code)
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
