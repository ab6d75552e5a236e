"""A case is altered only where its unaltered run ends as the program's own does."""

from __future__ import annotations

import numpy as np
import pytest
from altering import case_of, change, site_at
from snippets import Snippet, snippet

from whence.alter.changes import Batch, Op, Verdict
from whence.alter.faithful import NEED_NONE, FailureSignature, Unusable, difference
from whence.alter.session import Session
from whence.alter.streams import Request
from whence.alter.work import Work
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.compare import Comparison
from whence.run.outcome import Expected
from whence.run.result import RunResult
from whence.subject.runs import run_all
from whence.subject.subject import with_cases

OTHER_WITHOUT_A_SERVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char place[4096] = "";
    if (readlink("/proc/self/exe", place, sizeof place - 1) < 0) return 3;
    int is_plain = !strstr(place, "/variants/"), number = atoi(argv[argc - 1]);
    if (!strcmp(argv[1], "fails") && is_plain) number++; // stands for what layout or stale memory decides
    if (!strcmp(argv[1], "differs")) number += 1 + is_plain;
    if (!strcmp(argv[1], "always")) number++;
    printf("%d\n", number);
    return 0;
}
"""


def outcome_of(
    stdout: bytes = b"", status: int | None = 0, signal: int = 0, timed_out: bool = False
) -> FailureSignature:
    """The ending of a run that should print ``right``."""
    case = case_of(expected=b"one\nright\nlast\n")
    return FailureSignature.of(case, RunResult(case, status, signal, timed_out, False, stdout, b"", 0.1, 1))


RIGHT = b"one\nright\nlast\n"


@pytest.mark.parametrize(
    ("plain", "altered", "told"),
    [
        (outcome_of(b"one\nwrong\nlast\n"), outcome_of(RIGHT), "wrong output in the program, but pass in"),
        (outcome_of(b"one\nwrong\n"), outcome_of(b"one\nrwong\n"), "wrong from byte 5 on, but in .* from 6 on"),
        (outcome_of(b"one\nwrong\n"), outcome_of(b"one\nwring\n"), '"wrong", but "wring"'),
        (outcome_of(b"one\nwrong\nlast\n"), outcome_of(b"one\nwrong\nlost\n"), ""),
        (outcome_of(status=None, signal=11), outcome_of(status=None, signal=6), "by SIGSEGV .* by SIGABRT"),
        (outcome_of(status=None, signal=11), outcome_of(b"x", status=None, signal=11), ""),
        (outcome_of(RIGHT, 1), outcome_of(RIGHT, 2), "exit status 1 in the program, but exit status 2"),
        (outcome_of(RIGHT, timed_out=True), outcome_of(timed_out=True), ""),
        (outcome_of(RIGHT, timed_out=True), outcome_of(RIGHT), "timeout in the program, but pass"),
    ],
)
def test_what_two_runs_that_fail_in_the_same_way_have_in_common(
    plain: FailureSignature, altered: FailureSignature, told: str
) -> None:
    import re

    found = difference(plain, altered)
    assert re.search(told, found) if told else not found


def test_places_are_not_compared_where_a_tolerance_is() -> None:
    case = Case("case", expected=Expected(b"1.0\n"), comparison=Comparison(tolerance=0.1))
    runs = [RunResult(case, 0, 0, False, False, text, b"", 0.1, 1) for text in (b"2.0\n", b"1.5 \n")]
    assert difference(*(FailureSignature.of(case, run) for run in runs)) == ""


@pytest.fixture(scope="module")
def made() -> Snippet:
    return snippet(OTHER_WITHOUT_A_SERVER)


def case(kind: str) -> Case:
    return Case(kind, (kind, "4"), expected=Expected(b"4\n"))


@pytest.mark.parametrize("knows_runs", [True, False])
def test_nothing_is_run_of_a_case_that_fails_in_the_program_alone(made: Snippet, knows_runs: bool) -> None:
    cases = [case(kind) for kind in ("always", "fails", "differs", "passes")]
    subject = with_cases(made.subject, cases)
    runs = run_all(with_cases(made.subject, [cases[0], cases[3]])) if knows_runs else None
    site = site_at(made, 14, Role.ARGUMENT, "argument 2")
    request = [Request(one, Batch.single(change(subject, site, Op.ADD, -1))) for one in cases]
    with Work(subject, runs, workers=1, fresh=True) as work:
        verdicts = [int(found.records["verdict"][0]) for found in work.run(request)]
        whys = work.why_not(cases)
        seen = work.observe(cases, limit=0)
    assert verdicts == [Verdict.PASS, Verdict.NOT_RUN, Verdict.NOT_RUN, Verdict.WRONG_OUTPUT]
    assert [why.partition(" in the program")[0] for why in whys[:2]] == ["", "wrong output"]
    assert '"6", but "5"' in whys[2] and not whys[3]
    assert [one.unusable for one in seen] == whys
    assert work.unusable == {"fails": whys[1], "differs": whys[2]} and work.left_out == 0


def test_a_session_alone_refuses_too(made: Snippet) -> None:
    site = site_at(made, 14, Role.ARGUMENT, "argument 2")
    batch = Batch.single(change(made.subject, site, Op.ADD, -1))
    with made.subject.runner() as runner:
        plain = FailureSignature.of(case("fails"), runner.run_case(case("fails")))
    with Session(made.subject, case("fails"), plain=plain) as session, pytest.raises(Unusable, match="but pass in"):
        session.run(batch)
    with Session(made.subject, case("fails")) as session:
        assert np.array_equal(session.run(batch).records["verdict"], [Verdict.WRONG_OUTPUT])


def test_what_cannot_be_altered_comes_with_what_helps() -> None:
    assert Unusable("fails", "its run ended with signal 25 while it was observed").hint == NEED_NONE
    assert Unusable("fails", "it runs a command", "take it apart").hint == "take it apart"
