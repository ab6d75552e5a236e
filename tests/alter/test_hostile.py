"""Whatever altered runs do to their process, folder or server: the search ends in time, and nothing is left."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from altering import change, instances, site_at
from snippets import Snippet, snippet

from whence.alter.changes import Batch, Op, Verdict, Way
from whence.alter.session import Session
from whence.alter.streams import Request
from whence.alter.work import GRACE, Work
from whence.probe.instrument import Variant
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import choose_base
from whence.subject.runs import Runs, run_all
from whence.subject.subject import with_cases

HOSTILE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void *lock(void *m) { pthread_mutex_lock(m); pthread_mutex_lock(m); return 0; }
static void wait_for_oneself(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;
    pthread_create(&t, 0, lock, &m);
    pthread_join(t, 0);
}
static void leave_a_process(void)
{
    if (!fork()) {
        setsid();
        for (;;) sleep(1);
    }
}
static int gives_way(void)
{
    int before = getpriority(PRIO_PROCESS, 0), status = 0;
    if (!fork())
        _exit(getpriority(PRIO_PROCESS, 0) > before);
    return wait(&status) > 0 && WEXITSTATUS(status);
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 50; i++) {
        int kind = atoi(argv[1]); // altered
        if (kind == 1) __asm__ volatile("1: jmp 1b"); // meets no hook
        if (kind == 2) for (;;) fork();
        if (kind == 3) wait_for_oneself();
        if (kind == 4) { leave_a_process(); kill(getppid(), SIGKILL); for (;;) sleep(1); }
        if (kind == 5) { leave_a_process(); for (;;) sleep(1); }
        if (kind == 6) { chmod(".", 0); system("rm -rf ../*.out ../*.err ../*.in ../*.spare ../work"); }
        if (kind == 7) { for (int s = 1; s < 64; s++) signal(s, SIG_IGN); for (;;) pause(); }
        if (kind == 8) { for (int d = 0; d < 100; d++) close(d); for (;;) fork() ? pause() : pause(); }
        if (kind == 9 && gives_way()) { printf("right\n"); return 0; }
    }
    printf("wrong\n");
    return 0;
}
"""
LATE = 1.0  # seconds after a deadline that a busy machine may take beyond what is waited for
CASE = Case("case", ("0",), expected=Expected(b"right\n"))


@pytest.fixture(scope="module")
def made() -> Snippet:
    return snippet(HOSTILE, "-pthread")


@pytest.fixture(scope="module")
def runs(made: Snippet) -> Runs:
    return run_all(with_cases(made.subject, [CASE]))


@pytest.fixture(autouse=True)
def nothing_left(made: Snippet) -> Iterator[None]:
    """No process of the program is left, nor a folder that one has run in."""
    folders = _folders()
    yield
    executable = made.subject.variant(Variant.ALTER)
    end = time.monotonic() + 5
    while (left := _processes_of(executable)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left
    assert not {path for path in _folders() - folders if _is_ours(path)}


def _processes_of(executable: Path) -> list[str]:
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):
            if link.readlink() == executable:
                found.append(link.parent.name)
    return found


def _folders() -> set[Path]:
    return {path for path in choose_base().glob(f"whence-{os.getuid()}-*") if path.suffix != ".lock"}


def _is_ours(folder: Path) -> bool:
    """Whether no other process has the lock."""
    try:
        with Path(f"{folder}.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return folder.exists()


@pytest.mark.parametrize("kind", range(1, 9))
def test_a_search_ends_in_time(made: Snippet, runs: Runs, kind: int) -> None:
    line = next(n for n, text in enumerate(HOSTILE.splitlines(), 1) if "// altered" in text)
    site = site_at(made, line, Role.STORE)
    with Work(made.subject, runs, workers=2, fresh=True) as work:
        (observed,) = work.observe([CASE])
        batch = Batch.of([change(made.subject, site, Op.SET, kind, clock=c) for c in instances(observed, site)])
        work.deadline = time.monotonic() + 1.2
        (found,) = work.run([Request(CASE, batch)])
        took = time.monotonic() - work.deadline
    assert took < 2 * GRACE + LATE and time.monotonic() - work.deadline < 2 * GRACE + 2 * LATE
    verdicts = set(found.records["verdict"].tolist())
    assert verdicts <= {Verdict.NOT_RUN, Verdict.WRONG_OUTPUT, Verdict.TIMEOUT, Verdict.CRASH, Verdict.LOST}
    if Verdict.NOT_RUN in verdicts:
        assert work.stopped == "budget"
    elif work.stopped:  # the last run has ended just then
        assert work.stopped == "budget" and took >= 0
    assert work.lost == 0 and work.unusable == {}


def test_what_comes_behind_a_run_that_killed_its_server_is_run(made: Snippet, runs: Runs) -> None:
    """Of runs from the start each is one of its own, whatever the others do."""
    line = next(n for n, text in enumerate(HOSTILE.splitlines(), 1) if "// altered" in text)
    site = site_at(made, line, Role.STORE)
    changes = [change(made.subject, site, Op.SET, kind) for kind in (4, 0, 6, 0, 4, 0)]
    with Session(made.subject, CASE, Way.RESTART) as session:
        found = session.run(Batch.of(changes), outputs=True)
    wrong, lost = Verdict.WRONG_OUTPUT, Verdict.LOST
    assert found.records["verdict"].tolist() == [lost, wrong, wrong, wrong, lost, wrong]
    assert found.outputs is not None and [text for text, _ in found.outputs[1::2]] == [b"wrong\n"] * 3


def test_processes_that_an_altered_run_makes_give_way(made: Snippet) -> None:
    """Else a fork bomb, which a change may make, leaves those no processor who are to end it."""
    line = next(n for n, text in enumerate(HOSTILE.splitlines(), 1) if "// altered" in text)
    with Session(made.subject, CASE, Way.RESTART) as session:
        found = session.run(Batch.of([change(made.subject, site_at(made, line, Role.STORE), Op.SET, 9)]))
    assert found.records["verdict"].tolist() == [Verdict.PASS]
