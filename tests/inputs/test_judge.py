"""What becomes of inputs in place of a failing one, by each oracle."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import pytest
from inputs_programs import brackets, failing, right_sum, sums
from trace_readers import subject_of

from whence.errors import SubjectError, UsageError
from whence.inputs.channel import Channel, find_channel
from whence.inputs.judge import Judge, Verdict
from whence.inputs.oracle import Criteria, pattern
from whence.run.cases import Case, Suite
from whence.run.outcome import Expected, Rule
from whence.subject.subject import Subject

GOOD, SAME, OTHER, REJECTED = Verdict.GOOD, Verdict.SAME, Verdict.OTHER, Verdict.REJECTED


def judge(subject: Subject, case: Case, criteria: Criteria | None = None, **more: object) -> Judge:
    return Judge(subject, case, find_channel(case), criteria or Criteria(), workers=1, **more)


def test_a_crash_tells_by_itself():
    with judge(brackets(), failing(b"(a))")) as judging:
        found = judging.judge([b"()", b")", b"]", b"!", b"()) "])
        assert found == [GOOD, SAME, OTHER, REJECTED, SAME]
        assert judging.oracle.kind == "detector" and judging.tried == 5
        assert judging.counts == {GOOD: 1, SAME: 2, OTHER: 1, REJECTED: 1}
        assert "shows no crash" in judging.notes[0]


def test_an_assertion_is_no_crash():
    with judge(brackets(), failing(b"]")) as judging:
        assert judging.judge([b"x]", b")", b"[]"]) == [SAME, OTHER, GOOD]


def test_a_wrong_status_is_a_symptom():
    with judge(brackets(), failing(b"a!")) as judging:
        assert judging.judge([b"!", b"a", b"]"]) == [SAME, GOOD, OTHER]


def test_what_does_not_end_is_a_symptom():
    subject = replace(brackets(), limits=replace(brackets().limits, time=0.4))
    with judge(subject, failing(b"a@")) as judging:
        assert judging.judge([b"@", b"a", b")"]) == [SAME, GOOD, OTHER]


def test_candidates_that_do_not_end_cost_little_time():
    with judge(brackets(), failing(b")")) as judging:
        began = time.monotonic()
        assert judging.judge([b"@", b"@@"]) == [OTHER, OTHER]
        assert time.monotonic() - began < judging.subject.limits.time  # which one run may take


def test_a_reference_tells_what_is_right():
    with judge(sums(), Case("it", (), b"7 120", expected=Expected(b"sum 127\n"))) as judging:
        assert judging.oracle.kind == "reference"
        assert judging.judge([b"7", b"120", b"x", b"7 x", b""]) == [GOOD, SAME, REJECTED, REJECTED, GOOD]
        answer = judging.settle(b"3 100")
        assert answer.case.expected == Expected(b"sum 103\n", b"", 0) and answer.result.stdout == b"sum 3\n"


def test_a_reference_of_the_users_choice():
    plain = replace(sums(), reference=None)
    case = Case("it", (), b"7 120", expected=Expected(b"sum 127\n"))
    with judge(plain, case, Criteria(reference=right_sum())) as judging:
        assert judging.judge([b"120", b"1"]) == [SAME, GOOD]
    with pytest.raises(SubjectError, match="no reference program"):
        judge(plain, case, Criteria(reference=right_sum().with_name("none"))).__enter__()


def test_messages_can_refuse():
    case = Case("it", (), b"7 120", expected=Expected(b"sum 127\n"))
    criteria = Criteria(rejects=(pattern("--rejects", "^sum 5$"),))
    with judge(sums(), case, criteria) as judging:
        assert judging.judge([b"5", b"6", b"15"]) == [REJECTED, GOOD, GOOD]


def test_a_wrong_output_alone_tells_nothing():
    case = Case("it", (), b"7 120", expected=Expected(b"sum 127\n"))
    with pytest.raises(SubjectError, match="nothing tells what is right") as error:
        judge(replace(sums(), reference=None), case).__enter__()
    assert "--reference" in error.value.hint and "--still" in error.value.hint


def test_a_pattern_says_what_is_wrong():
    case = Case("it", (), b"7 120", expected=Expected(b"sum 127\n"))
    criteria = Criteria(still=pattern("--still", "27"))
    with judge(replace(sums(), reference=None), case, criteria) as judging:
        assert judging.judge([b"27", b"20 7", b"1", b"327"]) == [SAME, SAME, GOOD, SAME]
        assert judging.is_same(b"27")
        answer = judging.settle(b"27")
        assert answer.case.expected == Expected(b"sum \n", None, 0) and answer.outcome.failed
        assert judging.settle(b"3").outcome.passed
    with pytest.raises(UsageError, match="has no match"):
        judge(replace(sums(), reference=None), case, Criteria(still=pattern("--still", "nowhere"))).__enter__()


def test_a_pattern_may_match_on_standard_error():
    case = Case("it", (), b"7 x", expected=Expected(b"", None, 0))
    criteria = Criteria(still=pattern("--still", "not a number"))
    with judge(replace(sums(), reference=None), case, criteria) as judging:
        assert judging.judge([b"x", b"7"]) == [SAME, GOOD] and judging.oracle.stream == 2


def test_a_command_judges_by_itself(tmp_path):
    (tmp_path / "in.txt").write_text("(a))")
    suite = Suite(tmp_path, "p")
    case = Case("it", expected=Expected(), rule=Rule.STATUS, command="./p in.txt", suite=suite)
    case = replace(case, skip_statuses=(3,))
    judging = Judge(brackets(), case, Channel("file", "in.txt"), workers=1)
    with judging:
        assert judging.judge([b")", b"()", b"!"]) == [SAME, GOOD, REJECTED]
        assert judging.oracle.kind == "command"
    assert (tmp_path / "in.txt").read_text() == "(a))"


def test_two_workers_say_the_same():
    candidates = [b"%d" % n + b")" * (n % 2) for n in range(100)]
    with Judge(brackets(), failing(b")"), Channel("stdin"), workers=2) as judging:
        assert judging.judge(candidates) == [GOOD, SAME] * 50 and judging.executions >= 100


def test_equal_inputs_run_once():
    with judge(brackets(), failing(b")")) as judging:
        assert judging.judge([b"x", b"x", b")"]) == [GOOD, GOOD, SAME]
        assert judging.judge([b"x"]) == [GOOD] and judging.tried == 1


def test_what_the_place_cannot_hold_is_rejected_unseen():
    case = failing(b"", "a)")
    with judge(brackets(), case) as judging:
        assert judging.judge([b"x", b"x\0", b"(\0)\0"]) == [REJECTED, GOOD, GOOD] and judging.tried == 2


TWO_PLACES = """
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    if (strchr(argv[1], 'a'))
        abort();
    if (strchr(argv[1], 'b'))
        abort();
    return 0;
}
"""


def test_the_same_symptom_shows_at_the_same_statement():
    with judge(subject_of(TWO_PLACES), failing(b"", "xay")) as judging:
        assert judging.judge([b"b\0", b"a\0"]) == [SAME, SAME]
        assert judging.is_same(b"a\0") and not judging.is_same(b"b\0") and not judging.is_same(b"x\0")
        assert judging.symptom is not None and judging.symptom.statement is not None


def test_budgets_end_the_work():
    with judge(brackets(), failing(b")"), runs=3) as judging:
        verdicts = judging.judge([b"%d" % n for n in range(5)])
        assert verdicts == [GOOD] * 3 + [Verdict.UNKNOWN] * 2 and judging.stopped == "runs"
    with judge(brackets(), failing(b")"), deadline=time.monotonic()) as judging:
        assert judging.judge([b"a"]) == [Verdict.UNKNOWN] and judging.stopped == "time"


def test_candidates_that_do_not_end_keep_to_the_budget():
    with judge(brackets(), failing(b")")) as judging:
        began = time.monotonic()
        judging.deadline = began + 1.5
        judging.spend(1.0)
        verdicts = judging.judge([b"@" * n for n in range(1, 30)])  # a second or two each
        assert time.monotonic() - began < 4
        assert verdicts[-1] is Verdict.UNKNOWN and judging.stopped == "time"
        judging.deadline = time.monotonic() + 30
        judging.spend(1.0)
        assert judging.judge([b"@"]) == [OTHER]  # what was cut short counts for nothing, and may be run again


def test_shares_of_a_budget():
    with judge(brackets(), failing(b")"), runs=10) as judging:
        judging.spend(0.5)
        judging.judge([b"%d" % n for n in range(20)])
        assert judging.tried == 5 and judging.stopped == "runs"
        judging.spend(1.0)
        judging.judge([b"%d" % n for n in range(20)])
        assert judging.tried == 10


def test_an_interrupt_keeps_what_was_found(ctrl_c_works):
    with judge(brackets(), failing(b")")) as judging:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        verdicts = judging.judge([b"%d" % n for n in range(20_000)])
        assert judging.stopped == "interrupted" and verdicts[-1] is Verdict.UNKNOWN
        assert judging.settle(b"x").verdict is GOOD
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_case_that_does_not_fail():
    with pytest.raises(SubjectError, match="does not fail"):
        judge(brackets(), failing(b"()")).__enter__()
    with pytest.raises(SubjectError, match="does not fail by the reference program"):
        judge(sums(), Case("it", (), b"7", expected=Expected(b"sum 8\n"))).__enter__()


MOVING = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld\\n", now.tv_nsec);
    return 1 + now.tv_nsec / 7 % 199;
}
"""


def test_a_symptom_that_moves():
    with pytest.raises(SubjectError, match="moves from run to run"):
        judge(subject_of(MOVING), failing(b"x")).__enter__()


def test_an_input_that_is_itself_rejected():
    criteria = Criteria(rejects=(pattern("--rejects", "sum"),))
    with pytest.raises(SubjectError, match="itself rejected"):
        judge(sums(), Case("it", (), b"7 120", expected=Expected(b"sum 127\n")), criteria).__enter__()


def test_patterns_that_are_none():
    with pytest.raises(UsageError, match="--still \\(: no regular expression"):
        pattern("--still", "(")
