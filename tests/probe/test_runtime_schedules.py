"""Runs under a schedule that was given: the same in every run and in every variant, whatever it asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from snippets import Snippet, snippet

from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.result import RunResult
from whence.run.runner import TraceRequest
from whence.run.schedule import DEFAULT, End, Point, Schedule, Way
from whence.trace.steps import Steps

COUNTER = """
#include <pthread.h>
#include <stdio.h>
static int counter;
static void *work(void *p)
{
    for (int i = 0; i < 3; i++)
        counter++; //?
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\\n", counter);
    return 0;
}
"""
BETWEEN = Schedule((Point(1, 2, 2),))  # the first thread has read the counter, and not written it
CASE = Case("case", expected=Expected())


@pytest.fixture(scope="module")
def counter() -> Snippet:
    return snippet(COUNTER, "-pthread")


def run(program: Snippet, schedule: Schedule, variant: Variant = Variant.COVER) -> RunResult:
    return program.runner(variant).run_case(replace(CASE, schedule=schedule))


def recorded(program: Snippet, schedule: Schedule) -> tuple[RunResult, bytes, Steps]:
    runner = program.runner(Variant.RECORD)
    path = runner.sandbox.new_path("trace")
    result = runner.run_case(replace(CASE, schedule=schedule), TraceRequest(path, 1 << 26))
    return result, path.read_bytes(), Steps(program.open(path))


def test_a_point_between_a_read_and_its_write_loses_what_others_wrote(counter: Snippet) -> None:
    assert run(counter, DEFAULT).stdout == b"6\n"
    assert run(counter, BETWEEN).stdout == b"3\n"


def test_record_and_cover_variant_do_the_same_under_every_schedule(counter: Snippet) -> None:
    for seed in range(12):
        way = Way.CHANCE if seed % 2 else Way.PRIORITIES
        schedule = Schedule(way=way, seed=seed, chance=20_000, changes=2, length=20)
        chosen = run(counter, schedule)
        assert chosen.followed is not None and chosen.followed.considered
        again = Schedule(chosen.followed.points)
        first, units, _ = recorded(counter, again)
        second, same, _ = recorded(counter, again)
        assert units == same
        assert chosen.stdout == first.stdout == second.stdout == run(counter, again).stdout
        assert first.followed is not None and first.followed.points == chosen.followed.points


def test_steps_of_a_trace_are_those_of_schedules(counter: Snippet) -> None:
    _, _, steps = recorded(counter, BETWEEN)
    threads = steps.thread[steps.is_step].tolist()
    turn = threads.index(2)
    assert threads.count(1) == threads.count(2) == 6
    assert threads[turn - 1] == 1 and steps.number[steps.is_step][turn - 1] == 1  # its step 2 came later
    assert np.flatnonzero(np.diff(threads) != 0).size == 4


def test_moments_tell_what_there_was_to_choose_from(counter: Snippet) -> None:
    followed = run(counter, Schedule(moments=100)).followed
    assert followed is not None and followed.moments is not None
    steps = [m for m in followed.moments if m["thread"] == 1 and not m["at"] & 1]
    assert [int(m["at"]) >> 1 for m in steps] == list(range(1, 7))[-len(steps) :]
    assert all(m["ready"] == 0b110 and m["next"] == 1 for m in steps)


DEADLOCK = """
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *p)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    return 0;
}
"""


def test_a_deadlock_is_told_at_once() -> None:
    program = snippet(DEADLOCK, "-pthread")
    assert run(program, DEFAULT).status == 0
    found = [run(program, Schedule(way=Way.CHANCE, seed=seed, chance=30_000)) for seed in range(40)]
    stuck = [result for result in found if result.deadlocked]
    assert stuck and all(result.status == 0 for result in found if not result.deadlocked)
    assert stuck[0].timed_out and stuck[0].wall < 5
    assert stuck[0].followed is not None and stuck[0].followed.end is End.DEADLOCK


SPINNING = """
#include <pthread.h>
#include <unistd.h>
static volatile int flag;
static void *set(void *p) { flag = 1; return p; }
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    while (!flag)
        if (argc > 1)
            sleep(5);
    pthread_join(thread, NULL);
    return 0;
}
"""


@pytest.mark.parametrize("arguments", [(), ("sleeps",)])
@pytest.mark.parametrize("way", list(Way))
def test_who_spins_or_sleeps_lets_the_others_go_on(arguments: tuple[str, ...], way: Way) -> None:
    program = snippet(SPINNING, "-pthread")
    case = replace(CASE, arguments=arguments, schedule=Schedule(way=way, chance=1, changes=1, length=5))
    result = program.runner(Variant.COVER).run_case(case)
    assert result.status == 0 and result.wall < 4
