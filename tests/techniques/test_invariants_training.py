"""Which good runs invariants are learned from, and what is recorded of the user's cases."""

from __future__ import annotations

import time

import pytest
from invariant_runs import Runs, case_of

from whence.errors import SubjectError
from whence.subject.recorder import Recorder
from whence.subject.runs import run_all
from whence.subject.subject import with_cases
from whence.techniques.likely_invariants import collect as collecting
from whence.techniques.likely_invariants.collect import MOST_PASSING, collect
from whence.techniques.likely_invariants.runs import Observer
from whence.techniques.likely_invariants.training import Choice, choose, edit_distance, execution_distance, input_of

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n < 10)
        puts("small");
    else if (n % 2)
        puts("odd");
    else
        puts("even");
    return n == 1234;
}
"""


def test_choices():
    runs = Runs(TEXT, ["1", "1230", "77", "123456"], ["1234"])
    failing = runs.bad[0]

    def chosen(choice: Choice, number: int = 2) -> list[str]:
        return [run.case.name for run in choose(runs.good, failing, choice, number)]

    assert chosen(Choice.EDITS) == ["1230", "123456"]
    assert execution_distance(runs.good[1], failing) == 0 < execution_distance(runs.good[0], failing)
    assert chosen(Choice.EXECUTION) == ["1230", "123456"]
    assert chosen(Choice.MIXTURE, 1) == ["1230"]
    assert sorted(chosen(Choice.MIXTURE, 9)) == sorted(chosen(Choice.RANDOM, 9)) == ["1", "1230", "123456", "77"]
    assert chosen(Choice.RANDOM) == chosen(Choice.RANDOM)


def test_edit_distance_is_of_the_whole_input(tmp_path):
    from dataclasses import replace

    file = tmp_path / "in"
    file.write_bytes(b"some text")
    one, other = case_of("a b"), replace(case_of("a b"), stdin=file)
    assert input_of(other) == b"a\0b\0some text"
    assert edit_distance(one, other) == len(b"some text")
    assert edit_distance(other, replace(one, stdin=b"some test")) == 1


def test_a_generated_run_knows_its_distance():
    runs = Runs(TEXT, ["1", "77"], ["1234"])
    runs.good[0].distance = 0
    assert choose(runs.good, runs.bad[0], Choice.EDITS, 1) == [runs.good[0]]


def collected(lines, **options):
    made = Runs(TEXT, [], [])
    subject = with_cases(made.subject, [case_of(line) for line in lines])
    runs = run_all(subject)
    with Recorder(subject) as recorder:
        return collect(Observer(subject, recorder), runs, runs.failing, 8, **options)


def test_collect():
    found = collected(["1234", "1", "2"])
    assert [run.case.name for run in found.failing] == ["1234"]
    assert [run.case.name for run in found.good] == ["1", "2"] and found.left_out == []


def test_many_passing_cases_are_thinned_out():
    found = collected(["1234", *map(str, range(MOST_PASSING + 20))])
    names = [int(run.case.name) for run in found.good]
    assert len(names) == MOST_PASSING and names[0] == 0 and names[-1] == MOST_PASSING + 19
    assert found.left_out == [f"of {MOST_PASSING + 20} passing cases {MOST_PASSING} were looked at"]


def test_long_failing_runs_are_not_all_kept(monkeypatch):
    monkeypatch.setattr(collecting, "MOST_HELD", 30)
    found = collected(["1234", "01234", "001234", "1"])
    assert len(found.failing) < 3
    assert found.left_out == [f"the failing runs are long: {len(found.failing)} of 3 were looked at"]


@pytest.mark.parametrize("short", [300.0, 0.0])
def test_no_time_left(monkeypatch, short):
    """That values differ is looked at nevertheless where it costs next to nothing."""
    monkeypatch.setattr(collecting, "SHORT", short)
    found = collected(["1234", "1", "2", "3"], deadline=time.monotonic() - 1)
    assert len(found.failing) == len(found.good) == 1
    told = ["not looked at, since the time was over: whether values differ from run to run"]
    assert found.left_out == ["the time was over: 2 further runs were not recorded", *(told if not short else [])]


def test_runs_that_cannot_be_recorded_are_named():
    loop = "    for (int i = 0; i < 200000; i++)\n        n ^= i & 1;\n    if (n < 10)"
    made = Runs(TEXT.replace("    if (n < 10)", loop), [], [])
    subject = with_cases(made.subject, [case_of("1234"), case_of("1")])
    runs = run_all(subject)
    unrecorded = pytest.raises(SubjectError, match="no failing run could")
    with Recorder(subject, limit=1 << 19) as recorder, unrecorded as raised:
        collect(Observer(subject, recorder), runs, runs.failing, 8)
    assert "reached its limit" in raised.value.hint


def test_no_good_run():
    with pytest.raises(SubjectError, match="no good run to compare"):
        collected(["1234"])
