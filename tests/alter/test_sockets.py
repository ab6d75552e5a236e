"""Sockets in altered runs: the C library's search for a server that keeps names is none; a server that is there is."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from altering import change, site_at
from snippets import snippet

from whence.alter.changes import Batch, Op, Verdict, Way
from whence.alter.session import Session
from whence.build.system_calls import system_call_name
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected

ASKING = r"""
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int reached(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    int answer = connect(fd, (struct sockaddr *)&to, sizeof to);
    close(fd);
    return answer == 0;
}

int main(int argc, char **argv)
{
    int number = atoi(argv[1]);
    int before = number + 1;
    struct passwd *user = getpwuid(0);
    int is_there = argc > 2 && reached(argv[2]);
    int behind = number + 1;
    int fd = open("/dev/null", O_RDONLY); /* the next number: none was left open */
    printf("%d %d %s %d %d\n", before, behind, user ? user->pw_name : "nobody", is_there, fd);
    return 0;
}
"""


@pytest.fixture
def server() -> Iterator[str]:
    """The path of a server's socket, which has to be short."""
    with TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as one:
        one.bind(f"{folder}/server")
        one.listen()
        yield f"{folder}/server"


def asked(*more: str) -> tuple[str, list[int], set[int]]:
    """Why altered runs begin anew, and the verdicts and ways of four: before and behind, with the value and another."""
    made = snippet(ASKING)
    with made.subject.runner() as runner:
        output = runner.run_case(Case("plain", ("3", *more))).stdout
    case = Case("asking", ("3", *more), expected=Expected(stdout=output))
    lines = [n for n, text in enumerate(ASKING.splitlines(), 1) if "number + 1" in text]
    sites = [site_at(made, line, Role.BINARY) for line in lines]
    batch = Batch.of([change(made.subject, site, Op.SET, value) for site in sites for value in (4, 5)])
    with Session(made.subject, case) as session:
        observed = session.observe()
        found = session.run(batch).records
    return observed.refusal, found["verdict"].tolist(), set(found["way"].tolist())


EXPECTED = [Verdict.PASS, Verdict.WRONG_OUTPUT] * 2


@pytest.mark.skipif(Path("/var/run/nscd/socket").exists(), reason="a server keeps names here")
def test_looking_for_names_lets_runs_be_altered_in_place() -> None:
    refusal, verdicts, ways = asked()
    assert not refusal and verdicts == EXPECTED and Way.RESTART not in ways


def test_a_server_that_is_not_there_lets_runs_be_altered_in_place(tmp_path: Path) -> None:
    refusal, verdicts, ways = asked(str(tmp_path / "nothing"))
    assert not refusal and verdicts == EXPECTED and Way.RESTART not in ways


def test_with_a_server_that_is_there_runs_begin_anew(server: str) -> None:
    refusal, _, ways = asked(server)
    assert refusal.startswith("it makes the system call `connect` at clock ") and ways == {Way.RESTART}


def test_names_of_system_calls() -> None:
    assert [system_call_name(number) for number in (0, 41, 435, 100_000)] == ["read", "socket", "clone3", "100000"]
