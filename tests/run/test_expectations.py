from __future__ import annotations

import pytest

from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.expectations import learn_expected
from whence.run.oracle import judge
from whence.run.outcome import Expected


def test_files_that_are_left_are_learned_and_compared(runner, tmp_path):
    given = (("same", tmp_path / "same"), ("data", tmp_path / "data"))
    for _, path in given:
        path.write_text("mine")
    (learned,) = learn_expected([Case("open", ("write", "data"), files=given)], runner)
    assert learned.expected.files == (("data", b"written"),)
    assert judge(learned, runner.run_case(learned)).passed
    other = Case("other", ("write", "same"), files=given, expected=learned.expected)
    outcome = judge(other, runner.run_case(other))
    assert outcome.text == "file data differs from byte 1 on (line 1)"


def test_expectations_are_learned_where_missing(served):
    given = Case("given", ("echo",), expected=Expected(b"other"))
    learned = learn_expected([given, Case("open", ("exit", "3"))], served)
    assert learned[0] is given
    assert learned[1].expected == Expected(b"", b"", 3)
    with pytest.raises(SubjectError, match=r"case bad: .* right by definition.* SIGSEGV"):
        learn_expected([Case("bad", ("crash",))], served)
