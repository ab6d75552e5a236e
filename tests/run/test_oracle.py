from __future__ import annotations

import pytest

from whence.run.cases import Case
from whence.run.compare import Comparison, Difference
from whence.run.oracle import find_assertion, judge
from whence.run.outcome import Assertion, Expected, Kind, Rule
from whence.run.result import RunResult
from whence.run.verdicts import FAILING, Verdict, automake_verdict, tap_names, tap_verdict


def outcome_of(
    expected: Expected | None = None,
    *,
    stdout: bytes = b"",
    stderr: bytes = b"",
    status: int | None = 0,
    signal: int = 0,
    timed_out: bool = False,
    **case: object,
):
    made = Case("c", expected=expected, **case)  # type: ignore[arg-type]
    return judge(made, RunResult(made, status, signal, timed_out, False, stdout, stderr, 0.1, 0))


def test_without_expectation_status_zero_passes():
    assert outcome_of(stdout=b"anything").passed
    outcome = outcome_of(status=3)
    assert (outcome.kind, outcome.text) == (Kind.WRONG_STATUS, "exit status 3, expected 0")


def test_wrong_output_comes_before_wrong_status_and_has_its_place():
    outcome = outcome_of(Expected(b"one\ntwo\n"), stdout=b"one\ntoo\n", status=1)
    assert outcome.kind is Kind.WRONG_OUTPUT
    assert (outcome.stream, outcome.difference) == (1, Difference(5, 5))
    assert outcome.text == "standard output differs from byte 6 on (line 2)"


def test_missing_output():
    outcome = outcome_of(Expected(b"one\ntwo\n"), stdout=b"one\n")
    assert outcome.text == "standard output ends after 4 bytes, more was expected"
    assert outcome.difference == Difference(4, 4)


def test_standard_error_counts_only_when_asked():
    assert outcome_of(Expected(b"", b"warning\n")).passed
    outcome = outcome_of(Expected(b"", b"warning\n"), comparison=Comparison(stderr=True))
    assert (outcome.kind, outcome.stream) == (Kind.WRONG_OUTPUT, 2)


def test_status_only():
    how = Comparison(status_only=True)
    assert outcome_of(Expected(b"x"), comparison=how).passed
    assert outcome_of(Expected(b"x"), status=1, comparison=how).kind is Kind.WRONG_STATUS


def test_unknown_status_is_not_compared():
    assert outcome_of(Expected(b"", status=None), status=9).passed
    assert outcome_of(Expected(b"", status=None), status=None, signal=11).kind is Kind.CRASH


def test_expected_death_by_signal():
    assert outcome_of(Expected(status=134), status=None, signal=6).passed
    assert outcome_of(Expected(status=134), status=None, signal=11).text == "killed by SIGSEGV"


def test_timeout():
    assert outcome_of(status=None, signal=9, timed_out=True).kind is Kind.TIMEOUT


@pytest.mark.parametrize(
    "message, function",
    [
        (b"prog: src/a.c:12: main: Assertion `x > 0' failed.\n", "main"),
        (b"prog: src/a.c:12: int f(int, char *): Assertion `x > 0' failed.\nAborted\n", "int f(int, char *)"),
        (b"Assertion failed: x > 0 (src/a.c: main: 12)\n", "main"),
    ],
)
def test_assertions_of_both_c_libraries(message, function):
    assert find_assertion(b"noise\n" + message) == Assertion("src/a.c", 12, function, "x > 0")
    outcome = outcome_of(status=None, signal=6, stderr=message)
    assert (outcome.kind, outcome.text) == (Kind.ASSERTION, "assertion `x > 0' failed at src/a.c:12")


def test_a_failed_check_of_a_test_that_ran_alone():
    outcome = outcome_of(status=None, signal=6, stderr=b"Running\nt/a.c:12: check failed: 3 == 4\n")
    assert (outcome.kind, outcome.text) == (Kind.ASSERTION, "a check failed at t/a.c:12: 3 == 4")


def test_abort_without_message_is_a_crash():
    assert outcome_of(status=None, signal=6, stderr=b"free(): invalid pointer\n").kind is Kind.CRASH


def test_rules_of_reports():
    assert outcome_of(rule=Rule.TAP, stdout=b"1..1\nok 1\n").passed
    assert outcome_of(rule=Rule.TAP, stdout=b"1..1\nnot ok 1 - sum\n").text == "1 of 1 test points failed: sum"
    assert outcome_of(rule=Rule.AUTOMAKE, stdout=b"SKIP: c\n").kind is Kind.SKIPPED


def test_output_that_tells_of_a_failure():
    outcome = outcome_of(rule=Rule.STATUS, stdout=b"sums: FAIL\n", failing_output="FAIL$")
    assert (outcome.kind, outcome.text) == (Kind.WRONG_STATUS, "its output says `FAIL`")
    assert outcome_of(rule=Rule.STATUS, stdout=b"FAILURES: 0\n", failing_output="FAIL$").passed


@pytest.mark.parametrize(
    "stream, status, verdict",
    [
        (b"1..2\nok 1 - a\nok 2 - b\n", 0, Verdict.PASS),
        (b"ok 1\nok 2\n1..2\n", 0, Verdict.PASS),
        (b"1..2\nok 1 - a\nnot ok 2 - b\n", 1, Verdict.FAIL),
        (b"1..2\nok 1 - a\nnot ok 2 - b # TODO later\n", 0, Verdict.PASS),
        (b"1..2\nok 1 - a\n", 0, Verdict.FAIL),
        (b"1..1\nok 1 - a # SKIP no terminal\n", 0, Verdict.SKIP),
        (b"1..0 # SKIP not here\n", 0, Verdict.SKIP),
        (b"1..2\nok 1\nBail out! no disk\n", 0, Verdict.FAIL),
        (b"1..1\nok 1\n", 3, Verdict.FAIL),
        (b"# diagnostics only\n", 0, Verdict.PASS),
        (b"1..1\n  not ok 1 - of a subtest\nok 1 - whole\n", 0, Verdict.PASS),
    ],
)
def test_tap(stream, status, verdict):
    assert tap_verdict(stream, status)[0] is verdict


def test_tap_names():
    assert tap_names(b"1..3\nok 1 - adds up\nnot ok 2 empty # TODO\nok 3\n") == [
        "adds up",
        "empty",
        "point 3",
    ]


@pytest.mark.parametrize(
    "output, status, verdict",
    [
        (b"PASS: t1\nFAIL: t2\n", 1, Verdict.PASS),
        (b"PASS: tests/t1\n", 0, Verdict.PASS),
        (b"FAIL: t1\n", 1, Verdict.FAIL),
        (b"XFAIL: t1\n", 0, Verdict.PASS),
        (b"XPASS: t1\n", 1, Verdict.FAIL),
        (b"ERROR: t1\n", 1, Verdict.FAIL),
        (b"SKIP: t1\n", 0, Verdict.SKIP),
        (b"make: nothing\n", 2, Verdict.FAIL),
        (b"make: nothing\n", 0, Verdict.PASS),
    ],
)
def test_automake(output, status, verdict):
    assert automake_verdict(output, "t1", status)[0] is verdict


@pytest.mark.parametrize(
    ("text", "fails"),
    [("FAIL: 2", True), ("FAIL: 0", False), ("3 not ok", True), ("651 passed, 1 failed", True), ("0 failed", False)],
)
def test_what_suites_say_of_failures(text: str, fails: bool) -> None:
    assert bool(FAILING.search(text.encode())) == fails
