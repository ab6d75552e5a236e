"""Data races: each small program's race is found in its lines, with each way to order threads; its twin has none."""

from __future__ import annotations

import pytest
from trace_readers import record, subject_of

from bench.threads.programs import PROGRAMS, Program
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.schedule import DEFAULT
from whence.subject.recorder import Recorder
from whence.techniques.races.check import Checked, Checker
from whence.techniques.races.other_order import HARMFUL, OtherOrder, recorded_by

RACES = [program for program in PROGRAMS if program.kind in {"race", "harmless"} and program.name != "c11_condition"]
OTHERS = [program for program in PROGRAMS if program.kind in {"atomicity", "order"}]


def checked(text: str) -> Checked:
    subject = subject_of(text)
    return Checker(subject).check(record(subject).trace)


def lines(found: Checked) -> list[tuple[int, int]]:
    places = [[found.trace.location(a.event) for a in (race.first, race.second)] for race in found.races]
    return [(one.line, other.line) for one, other in places if one is not None and other is not None]


@pytest.mark.parametrize("program", RACES, ids=lambda program: program.name)
def test_a_race_is_found_in_its_lines(program: Program) -> None:
    found = lines(checked(program.text))
    assert found
    assert {line for pair in found for line in pair} <= program.lines


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_correct_twin_has_none(program: Program) -> None:
    assert lines(checked(program.right)) == []


@pytest.mark.parametrize("program", OTHERS, ids=lambda program: program.name)
def test_errors_of_order_are_no_races(program: Program) -> None:
    assert lines(checked(program.text)) == []


def test_the_other_order_is_run_as_far_as_the_accesses_lie_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.subject.recorder.ENDLESS", 1 << 20)
    text = """\
#include <pthread.h>
static volatile int work;
static int shared;
static void *write(void *unused) { shared = 1; return unused; }
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 100000; i++)
        work += i;
    pthread_create(&thread, NULL, write, NULL);
    int seen = shared;
    pthread_join(thread, NULL);
    return seen;
}
"""
    subject = subject_of(text)
    case = Case("case", (), expected=Expected(), schedule=DEFAULT)
    with Recorder(subject) as recorder:
        recording = recorder.record(case)
        assert recording.trace.bytes_used > 1 << 20
        (race,) = Checker(subject).check(recording.trace).races
        harm = OtherOrder(subject, recorded_by(recorder, recording), recording).harm(race)
    assert harm.verdict == HARMFUL
    assert harm.text.endswith("the run ends otherwise: exit status 1, expected 0")
