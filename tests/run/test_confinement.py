"""What nobody asked for by itself harms no other process, file or machine: in variants, and in plain programs."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from snippets import snippet

from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.confinement import landlock_version
from whence.run.result import RunResult
from whence.run.runner import Runner
from whence.run.sandbox import Limits

PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static int child_of_mine(void)
{
    pid_t child = fork();
    if (!child)
        for (;;) pause();
    int failed = kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    return failed;
}
static int written(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    return fd < 0 ? -1 : close(fd);
}
int main(int argc, char **argv)
{
    const char *act = argv[1], *path = argv[2];
    char own[] = "/tmp/confinedXXXXXX";
    int result = 99;
    if (!strcmp(act, "signal to all")) result = kill(-1, 0);
    if (!strcmp(act, "signal to an older one")) result = kill(atoi(argv[4]), 0);
    if (!strcmp(act, "signal to its group")) result = kill(0, 0);
    if (!strcmp(act, "signal to itself")) result = kill(getpid(), 0);
    if (!strcmp(act, "signal to a child")) result = child_of_mine();
    if (!strcmp(act, "socket")) result = socket(AF_INET, SOCK_STREAM, 0) < 0 ? -1 : 0;
    if (!strcmp(act, "local socket")) result = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? -1 : 0;
    if (!strcmp(act, "write")) result = written(path, O_WRONLY);
    if (!strcmp(act, "cut")) result = truncate(path, 0);
    if (!strcmp(act, "remove")) result = unlink(path);
    if (!strcmp(act, "make")) result = mkdir(argv[3], 0700);
    if (!strcmp(act, "move")) result = rename(path, argv[3]);
    if (!strcmp(act, "read")) result = written(path, O_RDONLY);
    if (!strcmp(act, "own file"))
        result = written("a", O_WRONLY | O_CREAT) || rename("a", "b") || truncate("b", 9) || unlink("b");
    if (!strcmp(act, "own folder"))
        result = mkdir("f", 0700) || written("f/a", O_WRONLY | O_CREAT) || rename("f/a", "a");
    if (!strcmp(act, "temporary")) { result = close(mkstemp(own)); unlink(own); }
    if (!strcmp(act, "device")) result = written("/dev/null", O_WRONLY);
    printf("%d\n", result ? errno : 0);
    return 0;
}
"""

OLDER = "signal to an older one"
ENDED = ("signal to all", "signal to an older one")
REFUSED = ("socket",)
FILES = ("write", "cut", "remove", "make", "move")
ALLOWED = (
    "signal to its group",
    "signal to itself",
    "signal to a child",
    "local socket",
    "read",
    "own file",
    "own folder",
    "temporary",
    "device",
)
KINDS = (None, Variant.COVER)


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A file of the user's, not among temporary ones."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    (folder / "file").write_text("text")
    yield folder / "file"
    shutil.rmtree(folder)


def said(kind: Variant | None, act: str, file: Path, confined: bool = True) -> int:
    """The error number of the act, 0 where it was done."""
    return int(ran(kind, act, file, confined).stdout)


def ran(kind: Variant | None, act: str, file: Path, confined: bool = True) -> RunResult:
    if act == OLDER and not numbers_go_up():
        pytest.skip("the numbers of processes have begun anew")
    subject = snippet(PROGRAM).subject
    executable = subject.executable if kind is None else subject.variant(kind)
    case = Case("case", (act, str(file), f"{file}-new", str(os.getpid())))
    with Runner(executable, Limits(time=20.0), confined=confined) as runner:
        return runner.run_case(case)


def numbers_go_up() -> bool:
    """Whether a new process has a higher number than this one."""
    with subprocess.Popen(["true"]) as process:
        return process.pid > os.getpid()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", ENDED)
def test_a_run_that_signals_others_is_ended(kind, act, elsewhere):
    assert ran(kind, act, elsewhere).signal == signal.SIGSYS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", REFUSED)
def test_others_are_left_alone(kind, act, elsewhere):
    assert said(kind, act, elsewhere) == errno.EACCES


@pytest.mark.skipif(not landlock_version(), reason="the system has no Landlock")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", FILES)
def test_files_elsewhere_are_left_alone(kind, act, elsewhere):
    assert said(kind, act, elsewhere) == errno.EACCES
    assert elsewhere.read_text() == "text" and [p.name for p in elsewhere.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", ALLOWED)
def test_what_a_program_needs_is_allowed(kind, act, elsewhere):
    assert said(kind, act, elsewhere) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", ["write", "make", "signal to an older one"])
def test_what_the_user_asked_for_is_not_confined(kind, act, elsewhere):
    assert said(kind, act, elsewhere, confined=False) == 0
