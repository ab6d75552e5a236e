from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_programs import PLAIN, SERVED, subject

from whence.errors import SubjectError
from whence.run import protocol
from whence.run.protocol import Job, Paths
from whence.run.sandbox import Sandbox
from whence.run.server import (
    Server,
    addresses_can_be_fixed,
    fixed_addresses,
    has_server,
)

texts = st.binary(max_size=8).map(lambda text: text.replace(b"\0", b""))
counts = st.integers(0, 2**32 - 1)
sizes = st.integers(0, 2**63 - 1)
paths = st.builds(Paths, *[texts] * 7)
jobs = st.builds(
    Job,
    paths,
    st.lists(texts, min_size=1),
    st.lists(texts),
    *[counts] * 3,
    *[sizes] * 2,
    *[counts] * 2,
    sizes,
    st.integers(-1, 2**40),
)


def decoded(message: bytes) -> Job:
    """As ``server.c`` reads it."""
    _, number, *numbers, arguments, variables = protocol.HEADER.unpack_from(message)
    strings = message[protocol.HEADER.size : -1].split(b"\0")
    first = len(protocol.PATH_FIELDS)
    last = first + arguments
    found = Job(Paths(*strings[:first]), strings[first:last], strings[last : last + variables], number, *numbers)
    assert len(strings) == last + variables
    return found


@given(jobs)
def test_jobs_survive_the_message(job):
    message = job.encode()
    assert int.from_bytes(message[:4], "little") == len(message)
    assert decoded(message) == job


def test_messages_have_their_sizes():
    assert protocol.REPLY.size == 40
    assert protocol.HEADER.size == 64
    assert len(protocol.STAGES) == protocol.AT_SCHEDULE + 1


def test_which_programs_hold_a_server(tmp_path):
    assert has_server(subject(SERVED))
    assert not has_server(subject(PLAIN))
    (tmp_path / "empty").touch()
    with pytest.raises(SubjectError, match="cannot read the program"):
        has_server(tmp_path / "empty")


def test_randomisation_is_restored():
    def own() -> str:
        return Path("/proc/self/personality").read_text()

    before = own()
    with fixed_addresses() as allowed:
        assert allowed == (own() != before)
    assert own() == before
    assert addresses_can_be_fixed() == allowed


@pytest.fixture(params=[SERVED, PLAIN])
def server(request):
    with Sandbox() as box:
        native = request.param == SERVED
        environment = box.environment({}) if native else []
        made = Server(subject(request.param), native, "prog", environment, box.root / "log")
        made.greet()
        yield made, box
        made.close()


def job(box: Sandbox, *arguments: str) -> Job:
    slot = box.slots(1)[0]
    places = (box.work, slot.spare, "/dev/null", slot.stdout, slot.stderr)
    return Job(Paths(*(os.fsencode(place) for place in places)), [b"prog", *map(os.fsencode, arguments)], [])


def test_jobs_are_answered_in_order(server):
    made, box = server
    for status in (3, 0, 5):
        made.send(job(box, "exit", str(status)))
    replies = [made.receive() for _ in range(3)]
    assert [(reply.id, reply.status, reply.stage) for reply in replies] == [(0, 3, 0), (1, 0, 0), (2, 5, 0)]


def test_what_a_run_leaves_is_handed_over(server):
    made, box = server
    made.send(job(box, "write", "left"))
    assert made.receive().flags == protocol.SPARE_USED
    assert (box.slots(1)[0].spare / "left").read_text() == "written"
    assert list(box.work.iterdir()) == []


def test_setup_that_fails_is_told(server):
    made, box = server
    wrong = job(box, "echo")
    wrong.paths.stdin = b"/nowhere/in"
    made.send(wrong)
    made.send(job(box, "exit", "4"))
    assert (made.receive().stage, made.receive().status) == (protocol.AT_INPUT, 4)


def test_the_server_ends_when_the_socket_is_closed(server):
    made, box = server
    made.send(job(box, "sleep"))
    made.close()
    assert made._process.returncode is not None
    with pytest.raises(OSError):
        made.send(job(box, "echo"))


def test_a_program_that_does_not_start_says_why(tmp_path):
    path = tmp_path / "prog"
    path.write_text("#!/bin/sh\necho 'library missing' >&2\n")
    path.chmod(0o755)
    with pytest.raises(SubjectError, match="did not start its fork server: library missing"):
        Server(path, True, "prog", [b"PATH=/bin:/usr/bin"], tmp_path / "log").greet()
