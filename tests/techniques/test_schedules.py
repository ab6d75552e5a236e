"""The search for failing schedules: found, short, told as what they are; and none where the program is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_programs import line_of
from cli_tool import subject_folder, whence
from trace_readers import subject_of

from bench.threads.programs import PROGRAMS, Program
from whence.findings import Findings
from whence.investigation.watcher import Watcher
from whence.probe.instrument import Variant
from whence.project import open_sources
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.schedule import DEFAULT, End, Followed, Point, Schedule, Way
from whence.subject.recorder import Recorder
from whence.techniques.schedules.guide import BETWEEN, CONFLICTS, ELSE, Guide
from whence.techniques.schedules.search import Search
from whence.techniques.schedules.strategies import NAMES, strategies
from whence.techniques.schedules.technique import Schedules, _ordering
from whence.trace.accesses import SPUN, Accesses

BY_NAME = {program.name: program for program in PROGRAMS}
MOMENT = np.dtype([("thread", "<u4"), ("next", "<u4"), ("at", "<u8"), ("ready", "<u8"), ("segment", "<u4")])
KINDS = {
    "two_locks": "deadlock",
    "round_table": "deadlock",
    "join_locked": "deadlock",
    "two_semaphores": "deadlock",
    "checked_without_lock": "lost wake-up",
    "signal_first": "lost wake-up",
    "two_withdrawals": "atomicity violation",
    "set_after_start": "order violation",
    "closed_queue": "order violation",
}
POINTS = {
    "two_locks": 2,
    "signal_first": 1,
    "two_withdrawals": 1,
    "same_head_again": 3,
    "handshake": 3,
    "turn_before_flag": 3,
}


def searched(program: Program, text: str, *words: str):
    folder = subject_folder(f"{program.name}-{len(text)}", program_c=text)
    shared = ("--cflags=-pthread", "--fails", "", "--timeout", "3", "--budget", "5m", "--json")
    return whence(folder, "schedules", "program.c", *shared, *words)


@pytest.mark.parametrize("name", sorted(KINDS.keys() | POINTS.keys()))
def test_a_failing_schedule_is_found_and_told(name: str, tmp_path: Path) -> None:
    program = BY_NAME[name]
    path = tmp_path / "schedule.json"
    result = searched(program, program.text, "--output", str(path)).json
    (case,) = result["schedules"]
    found = case["found"]
    assert found["minimal"] and len(found["schedule"]) <= POINTS.get(name, 3)
    assert found["kind"] == KINDS.get(name, found["kind"])
    assert program.lines & {entry["line"] for entry in result["ranking"][:3]}
    assert path.exists()


@pytest.mark.parametrize("name", ["two_locks", "signal_first", "two_withdrawals", "handshake", "one_signal"])
def test_a_right_program_has_none(name: str) -> None:
    program = BY_NAME[name]
    done = searched(program, program.right, "--runs", "400")
    (case,) = done.json["schedules"]
    assert (done.status, case["found"]) == (1, None)
    assert sum(case["runs"].values()) > 50


def test_who_waits_for_what_is_told() -> None:
    program = BY_NAME["two_locks"]
    (case,) = searched(program, program.text).json["schedules"]
    waiting = case["found"]["waiting"]
    assert [wait["holder"] for wait in waiting] == [1, 0]
    assert all(wait["at"]["line"] in program.lines and wait["taken"]["line"] in program.lines for wait in waiting)


ALWAYS = """
    #include <pthread.h>
    static int n;
    static void *work(void *p) { n++; return p; }
    int main(void)
    {
        pthread_t one;
        pthread_create(&one, NULL, work, NULL);
        pthread_join(one, NULL);
        return n;
    }"""


def test_a_case_that_always_fails_is_told_so() -> None:
    folder = subject_folder("always", always_c=ALWAYS)
    result = whence(
        folder, "schedules", "always.c", "--cflags=-pthread", "--fails", "", "--budget", "5m", "--json"
    ).json
    (case,) = result["schedules"]
    assert case["found"]["strategy"] == "default"
    assert any("may not depend on one" in remark for remark in case["remarks"])


SILENT = """
#include <pthread.h>
#include <stdlib.h>
struct job { pthread_mutex_t lock; pthread_cond_t ended; int done, result; };
static void *run(void *given)
{
    struct job *job = given;
    pthread_mutex_lock(&job->lock);
    job->done = 1;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->lock);
    job->result = 42;                           /* 12: the job may be gone */
    return NULL;
}
int main(void)
{
    struct job *job = calloc(1, sizeof *job);
    pthread_t thread;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->ended, NULL);
    pthread_create(&thread, NULL, run, job);
    pthread_mutex_lock(&job->lock);
    while (!job->done)
        pthread_cond_wait(&job->ended, &job->lock);
    pthread_mutex_unlock(&job->lock);
    free(job);
    pthread_join(thread, NULL);
    return 0;
}
"""
CONFIGURATION = """
[program]
sources = ["p.c"]
flags = ["-pthread"]
[cases]
file = "cases.txt"
reference = "/bin/true"
"""


@pytest.mark.parametrize("compare, kind", [("[compare]\nmemory = true\n", "memory error"), ("", "pass")])
def test_a_silent_memory_error_fails_where_that_is_asked_for(compare: str, kind: str) -> None:
    folder = subject_folder(f"silent-{kind[:4]}", p_c=SILENT, whence_toml=CONFIGURATION + compare, cases_txt="one\n")
    result = whence(folder, "schedules", "--runs", "60", "--budget", "5m", "--json").json
    (case,) = result["schedules"]
    assert case["outcome"] == kind
    assert (case["found"] is not None) == bool(compare)
    if compare:
        assert result["symptom"]["kind"] == "memory-error"
        assert "p.c:12 of the block of 96 bytes" in case["found"]["failure"]


def test_a_case_that_always_fails_is_told_without_time_to_run_it_again(monkeypatch) -> None:
    monkeypatch.setattr(Search, "run", lambda *_, **__: [])
    folder = subject_folder("always", always_c=ALWAYS)
    with open_sources([folder / "always.c"], fails=[("", None)], flags=["-pthread"]) as project:
        (case,) = project.find(Schedules()).parts["schedules"]
    assert case["found"]["strategy"] == "default" and case["outcome"] == "wrong status"


NEVER_STOPPED = """\
#include <pthread.h>
#include <stdatomic.h>
static volatile int stop;
static atomic_int started;
static void *work(void *unused) { started = 1; while (!stop); return unused; }
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, work, NULL);
    if (started) /* DECIDES */
        stop = 1;
    pthread_join(one, NULL);
    return 0;
}
"""


def test_a_case_that_never_ends_by_the_default_schedule_is_compared_with_one_that_ends() -> None:
    folder = subject_folder("never-stopped", p_c=NEVER_STOPPED)
    words = ("--cflags=-pthread", "--fails", "", "--timeout", "1", "--budget", "2m", "--json")
    result = whence(folder, "schedules", "p.c", *words).json
    (case,) = result["schedules"]
    assert (case["found"]["strategy"], case["found"]["kind"]) == ("default", "order violation")
    assert result["ranking"][0]["line"] == line_of(NEVER_STOPPED, "DECIDES")


TOO_MANY = """\
#include <pthread.h>
static pthread_t threads[MANY];
static pthread_barrier_t all;
static void *meet(void *unused) { pthread_barrier_wait(&all); return unused; }
int main(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&all, NULL, MANY + 1);
    for (int i = 0; i < MANY; i++)
        if (pthread_create(threads + i, &small, meet, NULL))
            return 3;
    return 0;
}
"""


def test_that_a_run_by_default_wanted_too_many_threads_is_told() -> None:
    folder = subject_folder("too-many", p_c=TOO_MANY.replace("MANY", "4200"))
    words = ("--cflags=-pthread", "--fails", "", "--runs", "1", "--budget", "2m", "--json")
    (case,) = whence(folder, "schedules", "p.c", *words).json["schedules"]
    assert case["found"]["strategy"] == "default"
    assert any("more threads than can be held (4,096)" in remark for remark in case["remarks"])


def test_what_cannot_be_searched_gets_one_line() -> None:
    folder = subject_folder("one-thread", one_c="int main(void) { return 0; }\n")
    done = whence(folder, "schedules", "one.c", "--fails", "")
    assert (done.status, "starts no threads" in done.err) == (2, True)


# ---- Strategies ------------------------------------------------------------------------------------------------------


def moments(*rows: tuple[int, int, int, int]) -> Followed:
    """What a run tells of moments: thread, chosen, at, ready."""
    import numpy as np

    names = [("thread", "<u4"), ("next", "<u4"), ("at", "<u8"), ("ready", "<u8"), ("segment", "<u4"), ("", "<u4")]
    return Followed((), len(rows), 3, 0, moments=np.array([(*row, 0, 0) for row in rows], np.dtype(names)))  # type: ignore[arg-type]


def test_bounded_searches_try_all_schedules_of_one_point_before_those_of_two() -> None:
    (search,) = strategies(("preemptions",), Schedule())
    first = search.next()
    assert first is not None and first.points == () and search.next() is None
    search.learn(first, moments((1, 1, 2, 0b110), (1, 1, 4, 0b1110), (1, 2, 5, 0b1100)))
    tried = [schedule.points for schedule in iter(search.next, None)]
    assert {len(points) for points in tried} == {1}
    assert {point for points in tried for point in points} == {
        Point(1, 1, 2),
        Point(1, 2, 2),
        Point(1, 2, 3),
        Point(1, 2, 3, True),
    }
    schedule = Schedule((Point(1, 1, 2),))
    search.learn(schedule, moments((1, 2, 2, 0b110), (2, 2, 2, 0b110)))
    assert [s.points for s in iter(search.next, None)] == [(Point(1, 1, 2), Point(2, 1, 1))]


def test_delays_give_the_turn_to_the_next_thread_only() -> None:
    (search,) = strategies(("delays",), Schedule())
    first = search.next()
    assert first is not None
    search.learn(first, moments((1, 1, 2, 0b1111), (3, 3, 4, 0b1111)))
    assert {s.points[0].next for s in iter(search.next, None)} == {2, 0}


def test_all_strategies_have_their_way() -> None:
    ways = {search.name: search.next() for search in strategies(NAMES, Schedule(sites=b"\1"))}
    assert all(schedule is not None and schedule.sites == b"\1" for schedule in ways.values())
    assert [s.way for s in ways.values() if s] == [Way.POINTS, Way.POINTS, Way.PRIORITIES, Way.CHANCE]


CONFLICT = """\
#include <pthread.h>
static int shared, own;
static void *work(void *unused)
{
    own = shared;
    shared = own + 1;
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared != 2;
}
"""


def test_points_between_accesses_that_conflict_are_tried_first() -> None:
    subject = subject_of(CONFLICT)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case("case", (), expected=Expected(), schedule=DEFAULT))
    accesses = Accesses(recording.trace, _ordering())
    guide = Guide(accesses)
    own = accesses.table[(accesses.table["thread"] == 1) & ~accesses.table["orders"]]
    first, again = int(own["step"].min()), int(own["step"].max())
    assert guide.rank(Point(1, again, 2)) == BETWEEN  # it writes what it has read before
    assert guide.rank(Point(1, first, 2)) == CONFLICTS
    assert guide.rank(Point(1, again + 1, 2)) == guide.rank(Point(1, again, 7)) == ELSE
    (tried,) = strategies(("preemptions",), DEFAULT, guide.rank)
    moments = np.array([(1, 1, step << 1, 0b111, 0) for step in range(1, again + 3)], MOMENT)
    tried.learn(tried.next(), Followed((), 0, 3, End.NONE, moments=moments))
    assert guide.rank(tried.next().points[0]) == BETWEEN


class Kept(Watcher):
    """Keeps the best findings that it was told of."""

    def __init__(self) -> None:
        self.told: list[Findings] = []

    def best(self, findings: Findings, folder: Path) -> None:
        self.told.append(findings)


def test_a_schedule_is_known_before_its_run_is_explained(tmp_path: Path) -> None:
    folder, watcher = subject_folder("conflict", conflict_c=CONFLICT), Kept()
    path = tmp_path / "schedule.json"
    shown = {"fails": [("", None)], "flags": ["-pthread"], "watcher": watcher}
    with open_sources([folder / "conflict.c"], **shown) as project:
        found = project.find(Schedules(output=path), budget=60)
    first = watcher.told[0].parts["schedules"][0]["found"]
    assert first["schedule"] and "kind" not in first and "kind" in found.parts["schedules"][0]["found"]
    assert path.exists()


LONG = """\
#include <pthread.h>
#include <time.h>
static volatile int flag;
static void *spin(void *unused)
{
    for (int tries = 0; tries < 5000 && !flag; tries++)
        ;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    pthread_join(thread, NULL);
    while (argc > 1 && clock() < CLOCKS_PER_SEC / 3)
        ;
    return 0;
}
"""


def test_reads_by_which_a_thread_waits_are_kept_as_far_as_they_can_tell() -> None:
    subject = subject_of(LONG)
    with Recorder(subject) as recorder:
        found = Accesses(recorder.record(Case("long", schedule=DEFAULT, expected=Expected())).trace, _ordering())
    places, counts = np.unique(found.table["address"][found.table["thread"] == 1], return_counts=True)
    assert len(places) and counts.max() == SPUN


def test_a_run_that_is_only_long_is_made_again_with_all_its_time() -> None:
    subject = subject_of(LONG)
    case = Case("long", ("x",), expected=Expected())
    with subject.runner(Variant.COVER) as runner:
        search = Search(runner, case, lambda: 60.0)
        search.short = 0.05
        (short,) = search.run([DEFAULT], short=True)
        assert short.timed_out
        assert search.find(strategies(("walk",), DEFAULT), 1) is None
        assert search.tally.total == 1 and search.tally.unrepeatable == 0


@pytest.mark.parametrize("name", ["two_withdrawals", "two_locks"])
def test_locate_puts_what_decides_first_under_the_schedule_that_was_found(name: str, tmp_path: Path) -> None:
    program, path = BY_NAME[name], tmp_path / "schedule.json"
    searched(program, program.text, "--output", str(path))
    folder = subject_folder(f"{name}-{len(program.text)}", program_c=program.text)
    words = ("program.c", "--cflags=-pthread", "--fails", "", "--schedule", str(path), "--budget", "5m", "--json")
    found = whence(
        folder, "locate", *words, "--without", "invariants,causes,switch,values,formula,confirmation,chain"
    ).json
    assert found["ranking"][0]["line"] in program.lines
    assert f"{KINDS[name]}: thread " in found["ranking"][0]["evidence"]["text"]
    if KINDS[name] == "deadlock":
        assert found["symptom"]["details"]["label"] == "here a thread waits, and all others do"


EARLY = """
    #include <pthread.h>
    static int *data;
    static void *maker(void *p)
    {
        static int value = 3;
        for (volatile int i = 0; i < 100; i++)
            ;
        data = &value;
        return p;
    }
    int main(void)
    {
        pthread_t thread;
        pthread_create(&thread, NULL, maker, NULL);
        int seen = *data;
        pthread_join(thread, NULL);
        return seen != 3;
    }"""


def test_where_a_case_fails_by_itself_locate_says_whose_turn_decides() -> None:
    folder = subject_folder("early", early_c=EARLY)
    words = ("early.c", "--cflags=-pthread", "--fails", "", "--budget", "5m", "--json")
    found = whence(folder, "locate", *words, "--without", "causes,switch,values,formula,confirmation,chain,rules").json
    assert found["ranking"][0]["line"] == 16
    words = "order violation: thread 0 read `data` (NULL) on early.c:16 before any other thread came there"
    assert words in found["ranking"][0]["evidence"]["text"]
