"""What is told where no case fails."""

from __future__ import annotations

import numpy as np
import pytest

from whence.investigation.account import how_to_fail
from whence.run.cases import Case
from whence.run.outcome import PASSED, Expected, Rule
from whence.run.result import RunResult
from whence.subject.runs import Runs, Tested


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


def test_a_report_is_believed() -> None:
    assert "failing_output" not in how_to_fail(runs_of(b"not ok 1 # TODO\n", rule=Rule.TAP))
