"""Which failing cases fail in the same way."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder

from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.alike import failing_alike, others_alike
from whence.subject.recorder import Recorder
from whence.subject.runs import Runs, run_all
from whence.subject.subject import Subject, subject_from_sources

TEXT = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int *nothing = NULL, way = argv[1][0];
    assert(way != 'a' && way != 'A');
    if (way == 'b')
        assert(argc > 5);
    if (way == 'n' || way == 'N')
        return *nothing;
    if (way == 'm')
        *nothing = argc;
    puts(way == 'w' ? "wrong" : way == 'W' ? "also wrong" : "right");
    return way == 's' ? 3 : 0;
}
"""
WAYS = "aAbnNmMwWs"


@pytest.fixture(scope="module")
def ran() -> tuple[Subject, Runs]:
    folder = subject_folder("alike", p_c=TEXT)
    cases = [Case(way, (way,), expected=Expected(stdout=b"right\n")) for way in WAYS]
    subject = subject_from_sources([folder / "p.c"], ["-w"], cases, DEFAULT_LIMITS)
    return subject, run_all(subject)


@pytest.mark.parametrize(
    ("first", "alike"), [("a", "aA"), ("b", "b"), ("n", "nN"), ("m", "m"), ("w", "wW"), ("s", "s"), ("N", "Nn")]
)
def test_failures_of_one_kind_and_place_are_alike(ran: tuple[Subject, Runs], first: str, alike: str) -> None:
    subject, runs = ran
    rows = {tested.case.name: row for row, tested in enumerate(runs.tested) if tested.outcome.failed}
    order = [rows[first], *(row for name, row in rows.items() if name != first)]
    with Recorder(subject) as recorder:
        found = failing_alike(runs, order, recorder, most=5)
        assert "".join(runs.tested[row].case.name for row in found) == alike
        assert failing_alike(runs, order, recorder, most=1) == [rows[first]]


def test_other_failing_cases_fail_as_one_of_those_that_are_known(ran: tuple[Subject, Runs]) -> None:
    _, runs = ran
    rows = {tested.case.name: row for row, tested in enumerate(runs.tested) if tested.outcome.failed}

    def others(known: str, most: int) -> str:
        found = others_alike(runs, [rows[name] for name in known], most)
        return "".join(runs.tested[row].case.name for row in found)

    assert others("a", 5) == "A"
    assert others("nw", 5) == "NmW"  # m crashes at another place, for which nothing is recorded
    assert others("nw", 2) == "Nm"
    assert others("s", 5) == ""
    assert others("w", 0) == ""
