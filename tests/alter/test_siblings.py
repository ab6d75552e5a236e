"""Isolation: continuations never see or harm one another, and what must not happen to others does not."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from altering import altered, case_of, change, instances, site_at
from snippets import snippet

from whence.alter.changes import Batch, Op, Results, Verdict, Way
from whence.alter.session import Session
from whence.errors import SubjectError, UsageError
from whence.probe.instrument import Variant
from whence.probe.sites import Role
from whence.run.cases import Case

SIBLINGS = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[64], kept[64] = "";
    FILE *notes = fopen("notes", "w+");
    if (!notes || !fgets(line, sizeof line, stdin)) return 1;
    fprintf(notes, "first %s", line);
    fflush(notes);
    for (int i = 0; i < 200; i++) {
        int which = i; // altered
        if (which < 0) {
            fprintf(notes, "sibling %d\n", which);
            rewind(notes);
            while (fgets(kept, sizeof kept, notes)) fputs(kept, stdout);
            while (fgets(line, sizeof line, stdin)) fputs(line, stdout);
            fclose(notes);
            remove("notes");
            return 0;
        }
    }
    while (fgets(line, sizeof line, stdin)) fputs(line, stdout);
    return 0;
}
"""


@pytest.fixture(scope="module")
def siblings() -> Results:
    """Two hundred continuations, each from its own turn of the loop, that write a file and read what is left."""
    made = snippet(SIBLINGS)
    case = case_of(b"one\ntwo\nthree\n", expected=b"two\nthree\n")
    line = next(n for n, text in enumerate(SIBLINGS.splitlines(), 1) if "// altered" in text)
    with Session(made.subject, case) as session:
        site = site_at(made, line, Role.STORE)
        clocks = instances(session.observe(), site)
        changes = [change(made.subject, site, Op.SET, -1 - n, clock=clock) for n, clock in enumerate(clocks)]
        return session.run(Batch.of(changes), outputs=True)


def test_two_hundred_siblings_write_and_read_as_a_run_from_the_start_would(siblings):
    assert len(siblings.records) == 200
    for number, (stdout, _) in enumerate(siblings.outputs or []):
        assert stdout.decode() == f"first one\nsibling {-1 - number}\ntwo\nthree\n"
    assert (siblings.records["verdict"] == Verdict.WRONG_OUTPUT).all()


NASTY = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static void handler(int number) { printf("signal %d\n", number); fflush(stdout); _exit(3); }
static int deep(int n) { volatile char room[4096]; room[0] = (char)n; return n < 0 ? 0 : deep(n + 1) + room[0]; }
int main(void)
{
    volatile int way = 0; // altered
    setvbuf(stdout, NULL, _IONBF, 0);
    if (way == 1) for (;;) printf("x");
    if (way == 2) for (;;) {}
    if (way == 3) for (;;) if (!memset(malloc(1 << 20), 1, 1 << 20)) break;
    if (way == 4) for (;;) fork();
    if (way == 5) *(volatile int *)16 = 1;
    if (way == 6) abort();
    if (way == 7) { signal(SIGUSR1, handler); raise(SIGUSR1); }
    if (way == 8) return deep(0);
    if (way == 9) printf("%d", socket(AF_INET, SOCK_STREAM, 0) < 0);
    if (way == 10) printf("%d", open("/dev/tty", O_RDWR) < 0);
    if (way == 11) { alarm(1); pause(); }
    if (way == 12) { sleep(1000); puts("slept"); }
    if (way == 13) printf("%d", system("exit 7") >> 8);
    if (way == 14) { close(1); puts("lost"); }
    if (way == 15) _exit(9);
    if (way == 16) printf("%d%d%d%d", kill(-1, 0), kill(1, 0), kill(2, 0), kill(-2, 0));
    if (way == 17) printf("%d%d%d", kill(0, 0), kill(getpid(), 0), kill(-getpgrp(), 0));
    if (way == 18) { int c = fork(); if (!c) for (;;) pause(); kill(c, SIGKILL); wait(&c); printf("%d", c); }
    puts("right");
    return 0;
}
"""
WAYS_OUT = {
    1: {Verdict.WRONG_OUTPUT, Verdict.CRASH},
    2: {Verdict.TIMEOUT},
    3: {Verdict.CRASH, Verdict.TIMEOUT},
    4: {Verdict.CRASH, Verdict.TIMEOUT, Verdict.REFUSED},
    5: {Verdict.CRASH},
    6: {Verdict.CRASH},
    7: {Verdict.WRONG_OUTPUT},
    8: {Verdict.CRASH},
    9: {Verdict.WRONG_OUTPUT},
    10: {Verdict.WRONG_OUTPUT},
    11: {Verdict.CRASH, Verdict.TIMEOUT},
    12: {Verdict.WRONG_OUTPUT, Verdict.TIMEOUT},
    13: {Verdict.WRONG_OUTPUT},
    14: {Verdict.WRONG_OUTPUT},
    15: {Verdict.WRONG_OUTPUT},
}


@pytest.fixture(scope="module")
def nasty():
    """The program, and its site to alter."""
    made = snippet(NASTY)
    line = next(n for n, text in enumerate(NASTY.splitlines(), 1) if "// altered" in text)
    return made, site_at(made, line, Role.STORE)


@pytest.mark.parametrize("number", WAYS_OUT)
def test_what_a_continuation_does_ends_with_it(nasty, number):
    """Between two harmless ones, whatever happens: these pass all the same."""
    made, site = nasty
    case = case_of(expected=b"right\n")
    harmless = change(made.subject, site, Op.SET, 100)
    with Session(made.subject, case) as session:
        done = session.run(Batch.of([harmless, change(made.subject, site, Op.SET, number), harmless]))
    verdicts = [Verdict(v) for v in done.records["verdict"]]
    assert verdicts[0] is verdicts[2] is Verdict.PASS
    assert verdicts[1] in WAYS_OUT[number]


def test_sockets_are_refused_and_there_is_no_terminal(nasty):
    made, site = nasty
    changes = [change(made.subject, site, Op.SET, number) for number in (9, 10)]
    results, _ = altered(made, case_of(expected=b"right\n"), changes, Way.AUTO)
    assert [out for out, _ in results.outputs or []] == [b"1right\n", b"1right\n"]


def test_signals_stay_within_the_run(nasty):
    """A number of a process that is altered (0 to -1) must not end all that the user has."""
    made, site = nasty
    changes = [change(made.subject, site, Op.SET, number) for number in (16, 17, 18)]
    results, _ = altered(made, case_of(expected=b"right\n"), changes, Way.RESTART)
    assert [out for out, _ in results.outputs or []] == [b"-1-1-1-1right\n", b"000right\n", b"9right\n"]


def test_no_process_is_left(nasty):
    made, site = nasty

    def running() -> set[str]:
        own, names = made.subject.variant(Variant.ALTER).resolve(), set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                names |= {process.name} if (process / "exe").resolve() == own else set()
            except OSError:  # it has ended
                continue
        return names

    with Session(made.subject, case_of(expected=b"right\n")) as session:
        session.run(Batch.of([change(made.subject, site, Op.SET, number) for number in (2, 4, 12)]))
        seen = running()
        assert seen
    end = time.monotonic() + 10  # those of another worker that runs a test of this program go, too
    while (left := seen & running()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left


def test_an_instance_that_the_run_never_reaches_is_told(nasty):
    made, site = nasty
    with Session(made.subject, case_of(expected=b"right\n")) as session:
        done = session.run(Batch.of([change(made.subject, site, Op.SET, 1, clock=1 << 40)]))
    assert done.records["verdict"].tolist() == [Verdict.NOT_REACHED]


def test_changes_that_make_no_sense_are_refused(nasty):
    made, site = nasty
    too_large = change(made.subject, site, Op.SET, 1)
    too_large["value"] = 1 << 40
    unknown = change(made.subject, site, Op.SET, 1)
    unknown["site"] = 1 << 30
    skips = change(made.subject, site, Op.SKIP)
    with Session(made.subject, case_of(expected=b"right\n")) as session:
        for wrong in (too_large, unknown, skips):
            with pytest.raises((UsageError, SubjectError)):
                session.run(Batch.of([wrong]))


def test_a_case_that_is_a_command_is_refused(nasty):
    made, _ = nasty
    with pytest.raises(SubjectError, match="runs a command"):
        Session(made.subject, Case("suite", command="make check"))


def test_budget_ends_a_loop_with_hooks(nasty):
    """By the clock, so quickly, and at a length that the budget says."""
    made, site = nasty
    with Session(made.subject, case_of(expected=b"right\n")) as session:
        done = session.run(Batch.of([change(made.subject, site, Op.SET, 2)]), budget=3.0)
    record = done.records[0]
    assert record["verdict"] == Verdict.TIMEOUT and record["microseconds"] < 1_000_000
    assert np.uint64(10_000) <= record["length"] < np.uint64(20_000)
