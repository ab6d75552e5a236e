from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from trace_readers import subject_of

from whence.errors import NoTime, SubjectError
from whence.run import runner
from whence.run.outcome import Kind
from whence.run.runner import Runner
from whence.run.schedule import DEFAULT
from whence.subject.runs import _where_apart, blocks_executed, counters, coverage, run_all
from whence.subject.subject import with_cases

PROGRAM = """\
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    if (n > 2 && n != 4)
        return 1;
    while (n == 2)
        ;
    for (int i = 0; i < n; i++)
        argc++;
    return 0;
}
"""


WAITS = """
#include <unistd.h>
int main(void)
{
    return usleep(500000);
}
"""


@pytest.fixture(scope="module")
def runs():
    return run_all(subject_of(PROGRAM, "0", "1", "2", "3", time=0.3))


def subject():
    return subject_of(PROGRAM, "0", "1", "2", "3", time=0.3)


def test_verdicts(runs):
    assert [t.outcome.kind for t in runs.tested] == [Kind.PASS, Kind.PASS, Kind.TIMEOUT, Kind.WRONG_STATUS]
    assert (runs.passing, runs.failing, runs.left_out) == ([0, 1], [2, 3], [])


def test_runs_without_an_end_do_not_use_up_the_time_of_the_others():
    endless_first = subject_of(PROGRAM, "2", "2", "0", "1", "3", time=6.0)
    found = run_all(endless_first, deadline=time.monotonic() + 20)
    kinds = [t.outcome.kind for t in found.tested]
    assert kinds[0] is Kind.TIMEOUT and kinds[-3:] == [Kind.PASS, Kind.PASS, Kind.WRONG_STATUS]


def test_a_run_that_goes_on_when_the_time_is_over_counts_as_endless():
    found = run_all(subject_of(PROGRAM, "2", "0", "1", time=60.0), deadline=time.monotonic() + 12)
    assert [t.outcome.kind for t in found.tested] == [Kind.TIMEOUT, Kind.PASS, Kind.PASS]
    (told,) = found.cut_short
    assert told.startswith("`2` counts as endless: ended after ")
    assert told.endswith("of the 60 s that [limits] time allows")


def test_runs_without_an_end_take_a_share_of_the_time():
    begin = time.monotonic()
    found = run_all(subject_of(PROGRAM, "2", "0", "1", time=60.0), deadline=begin + 30)
    assert [t.outcome.kind for t in found.tested] == [Kind.TIMEOUT, Kind.PASS, Kind.PASS]
    assert time.monotonic() - begin < 12  # and not half of the time, 15 s
    assert "of the 60 s that [limits] time allows" in found.cut_short[0]


def test_a_run_that_is_alone_counts_as_endless_too():
    found = run_all(subject_of(PROGRAM, "2", time=60.0), deadline=time.monotonic() + 12)
    assert [t.outcome.kind for t in found.tested] == [Kind.TIMEOUT]


def test_where_no_run_ends_in_time_nothing_is_said_of_them():
    with pytest.raises(NoTime):
        run_all(subject_of(PROGRAM, "2", "2 ", time=60.0), deadline=time.monotonic() + 4)


def test_a_slow_run_is_no_timeout(monkeypatch):
    monkeypatch.setattr("whence.subject.runs.QUICK", 1e-4)
    found = run_all(subject_of(PROGRAM, "0", "1", time=60.0))
    assert [t.outcome.kind for t in found.tested] == [Kind.PASS, Kind.PASS]


def test_a_program_that_always_takes_long_is_begun_twice_at_most(monkeypatch):
    given = []

    def iterate(runner, cases, *others, **named):
        given.append((len(cases), runner.limits.time))
        return original(runner, cases, *others, **named)

    original = Runner.iterate
    monkeypatch.setattr(Runner, "iterate", iterate)
    monkeypatch.setattr("whence.subject.runs.QUICK", 0.05)
    found = run_all(subject_of(WAITS, "0", "1", time=60.0))
    assert len(found.passing) == 2 and given[:2] == [(2, 0.05), (2, 60.0)]


def test_a_captured_case_that_passed_then_does_not_fail_now():
    subject = subject_of(PROGRAM, "0", "1", "3", "4", time=0.3)
    passed = with_cases(subject, [replace(case, passed=case.arguments in {("0",), ("3",)}) for case in subject.cases])
    found = run_all(passed)
    assert [tested.case.arguments for tested in found.tested] == [("0",), ("1",), ("4",)] and not found.failing
    assert len(found.left_out) == 1
    assert found.left_out[0].endswith("flaky: it passed when it was captured from its test")


def test_counters_count_executions(runs):
    named = counters(subject())
    column = next(n for n, c in enumerate(named) if not c.side and [s.line for s in c.statements] == [11])
    assert runs.counts[:, column].tolist() == [0, 1, 0, 0]
    sides = {(c.statements[0].line, c.column, c.side): n for n, c in enumerate(named) if c.side and c.statements}
    test = min(key for key in sides if key[0] == 6)[1]
    assert runs.counts[:, sides[6, test, "true"]].tolist() == [0, 0, 0, 1]


def test_coverage_has_only_what_stands_in_the_source(runs):
    found = coverage(subject(), runs)
    assert all(site.statements for site in found.sites)
    assert found.failed.tolist() == [False, False, True, True]
    assert found.counts.shape == (4, len(found.sites)) and list(found.names) == ["0", "1", "2", "3"]


def test_endless_runs_are_the_longest(runs):
    lengths = blocks_executed(subject(), runs)
    assert lengths.argmax() == 2 and np.all(lengths[[0, 1, 3]] < 20)


def test_progress_goes_up_to_its_total():
    told = []
    run_all(subject_of(PROGRAM, "0", "3"), lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4) and told == sorted(told)


def test_no_cases():
    with pytest.raises(SubjectError, match="no cases"):
        run_all(with_cases(subject(), []))


TO_ITS_PARENT = """\
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int signal = atoi(argv[1]);
    if (signal && getppid() > 1)
        kill(getppid(), signal);
    return signal != 0;
}
"""


def test_a_case_that_ends_its_server_is_left_out_alone():
    found = run_all(subject_of(TO_ITS_PARENT, "0", "9", "00"))
    assert [t.outcome.kind for t in found.tested] == [Kind.PASS, Kind.PASS]
    assert found.left_out == ["9: the fork server was ended by the program it ran"]


def test_a_case_that_stops_its_server_is_run_as_others_are():
    begun = time.monotonic()
    found = run_all(subject_of(TO_ITS_PARENT, "0", "19", "00"))
    assert [t.outcome.kind for t in found.tested] == [Kind.PASS, Kind.WRONG_STATUS, Kind.PASS]
    assert time.monotonic() - begun < runner.PATIENCE


def test_nothing_but_cases_that_end_their_server():
    with pytest.raises(SubjectError, match="no case can be used: 9: the fork server was ended"):
        run_all(subject_of(TO_ITS_PARENT, "9"))


IN_ITS_FOLDER = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    FILE *file = fopen("here", "w");
    return !file || (*argv[1] == '1' && system("rm -rf -- \\"${PWD%/work}\\""));
}
"""


def test_a_case_that_removes_the_folder_around_it_is_left_out_alone():
    found = run_all(subject_of(IN_ITS_FOLDER, "0", "1", "00"))
    assert [t.case.name for t in found.tested if t.outcome.passed] == ["0", "00"]
    assert [line.partition(":")[0] for line in found.left_out] == ["1"]


STUCK = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return p; }
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, work, NULL);
    if (**++argv == 'p')
        pthread_mutex_unlock(&lock);
    return pthread_join(thread, NULL);
}
"""


def test_a_deadlock_counts_though_its_run_is_ended_at_once():
    subject = subject_of(STUCK, "stuck", "passes")
    scheduled = with_cases(subject, [replace(case, schedule=DEFAULT) for case in subject.cases])
    runs = run_all(scheduled)
    assert [tested.outcome.kind for tested in runs.tested] == [Kind.TIMEOUT, Kind.PASS] and not runs.left_out


def test_where_two_runs_write_otherwise_is_told_also_of_a_file_that_one_of_them_lacks():
    assert _where_apart((b"a\nb 1", {}), (b"a\nb 2", {"t": b""})).startswith("in standard output from line 2 on; ")
    for one, other in (({}, {"t": b"1"}), ({"t": b"1"}, {}), ({"t": b"1", "s": b""}, {"t": b"2", "s": b""})):
        assert _where_apart((b"a", one), (b"a", other)).startswith("in file t from line 1 on; ")
