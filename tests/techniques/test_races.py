"""Data races: each small program's race is found in its lines, with each way to order threads; its twin has none."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder
from trace_readers import record, subject_of

from bench.threads.programs import PROGRAMS, Program
from whence.project import open_sources
from whence.run.cases import Case
from whence.run.outcome import Expected, Kind
from whence.run.schedule import DEFAULT, Schedule
from whence.subject.recorder import Recorder
from whence.techniques.races.check import Checked, Checker
from whence.techniques.races.other_order import HARMFUL, OtherOrder, recorded_by
from whence.techniques.races.technique import DataRaces

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


PAUSES = """\
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int shared;
static volatile int work;
static void *set(void *how)
{
    switch (*(char *)how) {
    case 's': sleep(1); break;
    case 'u': usleep(1000); usleep(2000); break;
    case 'n': nanosleep(&(struct timespec){0, 1000000}, NULL); break;
    case 'y': for (int i = 0; i < 4; i++) sched_yield(); break;
    case 'l': for (int i = 0; i < 30000; i++) work += i; break;
    }
    shared = 1;
    return how;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, argv[1]);
    int seen = shared;
    pthread_join(thread, NULL);
    return seen;
}
"""


@pytest.mark.parametrize("how", "sunyl")
def test_who_pauses_before_his_access_is_waited_for_in_the_other_order(how: str) -> None:
    subject = subject_of(PAUSES)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case("case", (how,), expected=Expected(), schedule=DEFAULT))
        (race,) = Checker(subject).check(recording.trace).races
        harm = OtherOrder(subject, recorded_by(recorder, recording), recording).harm(race)
        assert harm.text.endswith("the run ends otherwise: exit status 1, expected 0")
        again = recorder.record(Case("case", (how,), expected=Expected(), schedule=Schedule(harm.points)))
    assert again.outcome.kind is Kind.WRONG_STATUS


def test_a_race_that_no_order_one_after_another_shows_is_found_in_some_order() -> None:
    thread = """
static void *{name}(void *unused)
{{
    for (volatile int i = 0; i < 300; i++)
        ;
    pthread_mutex_lock(&{first});
    pthread_mutex_unlock(&{first});
    shared++;
    pthread_mutex_lock(&{second});
    pthread_mutex_unlock(&{second});
    return unused;
}}
"""
    text = f"""\
#include <pthread.h>
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static int shared;
{thread.format(name="left", first="door", second="gate")}
{thread.format(name="right", first="gate", second="door")}
int main(void)
{{
    pthread_t one, two;
    pthread_create(&one, NULL, left, NULL);
    pthread_create(&two, NULL, right, NULL);
    pthread_join(one, NULL);
    return pthread_join(two, NULL);
}}
"""
    folder = subject_folder("races-two-doors", p_c=text)
    with open_sources([folder / "p.c"], fails=(), passes=[""], flags=["-pthread"]) as project:
        assert not project.find(DataRaces(orders=1)).ranking
        assert [entry.statement.line for entry in project.find(DataRaces()).ranking] == [11, 24]
