from __future__ import annotations

import pytest
from run_programs import LIMITS

from whence.errors import SubjectError
from whence.run.cases import Case
from whence.run.expectations import learn_expected, learn_from_reference
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


def test_a_case_in_which_the_reference_crashes_or_does_not_end_is_left_out(served):
    given = Case("given", ("echo",), expected=Expected(b"other"))
    open_, bad, endless = Case("open", ("exit", "3")), Case("bad", ("crash",)), Case("endless", ("spin",))
    cases, told = learn_from_reference([given, bad, open_, endless], served)
    assert [case.name for case in cases] == ["given", "open"] and cases[0] is given
    assert cases[1].expected == Expected(b"", b"", 3)
    assert told[0] == "case bad is left out: the reference program was killed by SIGSEGV"
    assert told[1].startswith("case endless is left out: the reference program was still running after ")
    assert learn_from_reference([open_], served)[1] == []
    with pytest.raises(SubjectError, match=r"case bad: the reference program was killed by SIGSEGV, as in every other"):
        learn_from_reference([bad], served)


def test_a_reference_that_takes_its_time_is_waited_for(served, monkeypatch):
    monkeypatch.setattr("whence.run.expectations.SOON", 0.1)
    slow, quick = Case("slow", ("compute",)), Case("quick", ("exit", "0"))
    for cases in ([slow], [slow, quick]):
        learned, told = learn_from_reference(cases, served)
        assert told == [] and [case.expected.status for case in learned] == [0] * len(cases)
    monkeypatch.setattr("whence.run.expectations.AT_LEAST", 0.1)
    monkeypatch.setattr("whence.run.expectations.FAR", 1.0)
    learned, (told,) = learn_from_reference([slow, quick], served)
    assert [case.name for case in learned] == ["quick"] and told.startswith("case slow is left out")
    assert served.limits == LIMITS
