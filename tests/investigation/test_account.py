"""What is told where no case fails, and where all fail for one reason."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from whence.investigation.account import how_to_fail, pass_against_word, summary
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import PASSED, Expected, Rule
from whence.run.result import RunResult
from whence.subject.runs import TIME_OVER, Runs, Tested


def runs_of(output: bytes, **settings: object) -> Runs:
    """One test of a suite that ended with status 0 and printed this."""
    case = Case("indent", expected=Expected(), **{"command": "sh indent", "rule": Rule.STATUS, **settings})  # type: ignore[arg-type]
    result = RunResult(case, 0, 0, False, False, output, b"", 0.0, 0)
    return Runs([Tested(case, result, PASSED)], np.zeros((1, 1), np.uint32), [])


@pytest.mark.parametrize(
    "output, word",
    [(b"one   OK\ntwo   FAIL\n", "FAIL"), (b"not ok 3 - two\n", "not ok"), (b"2 tests FAILED\n", "FAILED")],
)
def test_a_suite_that_prints_failures_and_ends_with_status_0(output: bytes, word: str) -> None:
    told = how_to_fail(runs_of(output))
    assert told.startswith("`indent` ends with status 0, but prints `")
    assert told.endswith(f'failing_output = "{word}" says so')


@pytest.mark.parametrize("output", [b"# FAIL:  0\n", b"# XFAIL: 3\n", b"FAILED 0\n", b"fails\n"])
def test_what_tells_of_no_failure(output: bytes) -> None:
    assert "failing_output" not in how_to_fail(runs_of(output))


def test_a_case_that_there_was_no_time_for_wants_more_of_it() -> None:
    runs = runs_of(b"fine\n")
    runs.left_out.append(f"hangs: {TIME_OVER}")
    assert "--budget" in how_to_fail(runs) and "--timeout" in how_to_fail(runs)


def of_statuses(*statuses: int, right: int = 0) -> Runs:
    """Cases with the expected output that end with these exit statuses."""
    tested = []
    for number, status in enumerate(statuses):
        case = Case(str(number), expected=Expected(b"yes\n", status=right))
        result = RunResult(case, status, 0, False, False, b"yes\n", b"", 0.0, 0)
        tested.append(Tested(case, result, judge(case, result)))
    return Runs(tested, np.zeros((len(tested), 1), np.uint32), [])


def ended(*ends: tuple[int, bytes, bytes]) -> Runs:
    """Cases that pass, with the statuses, output and standard error with which they end."""
    tested = []
    for number, (status, out, err) in enumerate(ends):
        case = Case(str(number), expected=Expected(out, status=status))
        tested.append(Tested(case, RunResult(case, status, 0, False, False, out, err, 0.0, 0), PASSED))
    return Runs(tested, np.zeros((len(tested), 1), np.uint32), [])


def test_runs_that_all_end_with_an_error_may_lack_their_files() -> None:
    told = how_to_fail(ended((1, b"", b"no tables in: t\nbye\n"), (1, b"", b"no tables in: u\n")))
    assert told.startswith("every run ends with status 1 and prints `no tables in: t`: if files are lacking, name them")


@pytest.mark.parametrize("other", [(0, b"", b"x"), (2, b"", b"x"), (1, b"y", b"x")])
def test_an_error_of_some_runs_says_nothing_of_files(other: tuple[int, bytes, bytes]) -> None:
    assert "are lacking" not in how_to_fail(ended((1, b"", b"x"), other)) + how_to_fail(ended((1, b"", b"")))


def told_of(runs: Runs) -> list[str]:
    subject = SimpleNamespace(capture=SimpleNamespace(modules=[], uncaptured=[]), remarks=[], others=())
    return [line for line in summary(subject, runs) if "expected output" in line]  # type: ignore[arg-type]


def test_cases_that_are_right_but_for_the_same_status() -> None:
    (line,) = told_of(of_statuses(1, 1, 1))
    assert line.startswith("3 of 3 cases give the expected output, and exit status 1: if that is right, say so")


@pytest.mark.parametrize("runs", [of_statuses(1), of_statuses(1, 2), of_statuses(1, 1, 0), of_statuses(1, 1, right=1)])
def test_a_status_that_is_wrong_in_some_cases_is_just_wrong(runs: Runs) -> None:
    assert told_of(runs) == []


def test_a_report_is_believed() -> None:
    assert "failing_output" not in how_to_fail(runs_of(b"not ok 1 # TODO\n", rule=Rule.TAP))


def test_a_case_that_is_said_to_fail_and_passes_is_told() -> None:
    assert pass_against_word(runs_of(b"", said_to_fail=True)) == [
        "`indent` passes, and counts as a passing case: say with --expect what is right, or use --passes"
    ]
    assert pass_against_word(runs_of(b"")) == []
