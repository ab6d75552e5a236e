"""Continuations that read memory and values where they stop, in the variant whose addresses are those of recordings."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np
import pytest
from altering import case_of
from compared import Change, compared
from numpy.typing import NDArray
from routes import routes

from whence.alter.changes import Batch, Flag, Op, Verdict, Way
from whence.alter.file import SessionFile
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.layout import Kind
from whence.run.runner import RunLost, Runner
from whence.techniques.chains.compared_run import Moment

BOTH = (Way.SNAPSHOT, Way.FORK)
TICKS = 1 << 16
Changes = NDArray[np.void]


@cache
def session(way: Way) -> Session:
    return Session(routes().made.subject, case_of(b"", "4", expected=b"right\n"), way, variant=Variant.REPLAY)


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    for way in BOTH:
        session(way).close()


def event(mark: str, kind: Kind, nth: int = 0) -> int:
    return routes().events(mark, kind)[nth]


def moment(mark: str, kind: Kind, nth: int = 0) -> Moment:
    return routes().failing.moment_of(event(mark, kind, nth))


def change(at: Moment, op: Op, value: int = 0, address: int = 0, size: int = 0) -> Changes:
    return routes().failing.change(at, op, value, address, size)


def table(element: int = 0) -> int:
    """The recorded address of an element of the table."""
    return routes().failing.trace.address(event("TABLE", Kind.STORE, element))


def read(way: Way, *changes: Changes, ticks: int = TICKS) -> tuple[np.void, bytes]:
    records, found = session(way).read(Batch.of([np.concatenate(changes)]), ticks)
    return records[0], found[0]


def integers(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def poke_table(element: int, value: int, at: Moment) -> Changes:
    return change(at, Op.POKE, value, table(element), 4)


SUM_LOAD = 1  # of the loads of the line: `kept`, then `table[1]`


@pytest.mark.parametrize("way", BOTH)
def test_memory_at_the_addresses_of_a_recording(way):
    at = moment("SUM", Kind.STORE)
    block = routes().failing.trace.address(event("BLOCK", Kind.STORE))
    end = moment("END", Kind.LOAD)
    record, found = read(way, change(at, Op.READ, 12, table()), change(end, Op.READ, 4, block), change(end, Op.STOP))
    assert record["verdict"] == Verdict.REACHED and record["way"] == way
    assert integers(found) == [8, 10, 12, 15]


def test_recorded_addresses_and_values_are_those_of_the_session():
    run = routes().failing
    stores = [e for e in range(run.trace.events) if run.trace.kind(e) is Kind.STORE and run.moment(e) is not None]
    assert len(stores) > 8
    batch = []
    for store in stores:
        after = run.moment(store)
        assert after is not None
        length = int(run.writes.length[np.searchsorted(run.writes.event, store)])
        reading = run.change(after, Op.READ, length, run.trace.address(store))
        batch.append(np.concatenate([reading, run.change(after, Op.STOP)]))
    records, found = session(Way.SNAPSHOT).read(Batch.of(batch), TICKS)
    assert (records["verdict"] == Verdict.REACHED).all()
    assert [int.from_bytes(data, "little") for data in found] == [run.trace.value(store) for store in stores]


@pytest.mark.parametrize("way", BOTH)
def test_the_value_of_a_site(way):
    at = moment("TABLE", Kind.RESULT, 2)
    record, found = read(way, change(at, Op.READ_VALUE), change(at, Op.STOP))
    assert record["verdict"] == Verdict.REACHED and found == (12).to_bytes(8, "little")


@pytest.mark.parametrize("way", BOTH)
def test_a_poke_at_a_load_is_what_is_loaded(way):
    load, stop = moment("SUM", Kind.LOAD, SUM_LOAD), moment("BRANCH", Kind.BRANCH)
    sum_at = routes().failing.trace.address(event("SUM", Kind.STORE))
    poke = poke_table(1, 30, load)
    assert poke["flags"][0] == Flag.RELOAD
    rest = (change(load, Op.READ_VALUE), change(stop, Op.READ, 4, sum_at), change(stop, Op.STOP))
    _, found = read(way, poke, *rest)
    assert (int.from_bytes(found[:8], "little"), integers(found[8:])) == (30, [35])
    late = poke.copy()
    late["flags"] = 0  # memory changes, what had been loaded from it does not
    _, found = read(way, late, change(load, Op.READ, 4, table(1)), *rest)
    assert integers(found[:4]) == [30] and integers(found[12:]) == [15]


@pytest.mark.parametrize("way", BOTH)
def test_a_stop_behind_a_call_in_a_block_that_began_before_it(way):
    store = moment("TABLE", Kind.STORE)
    assert store.now > store.clock  # the callee's blocks lie between
    inside = routes().failing.moment_of(routes().events("WAY", Kind.BRANCH)[0])
    assert store.clock < inside.clock <= store.now
    record, found = read(way, change(inside, Op.READ, 4, table()), change(store, Op.READ_VALUE), change(store, Op.STOP))
    assert record["verdict"] == Verdict.REACHED
    assert integers(found[:4]) == [0] and int.from_bytes(found[4:], "little") == 8


@pytest.mark.parametrize("way", BOTH)
def test_another_way_is_told_by_its_hash(way):
    run, at, stop = routes().failing, moment("SUM", Kind.STORE), moment("END", Kind.LOAD)
    straight, _ = read(way, change(at, Op.READ, 4, table()), change(stop, Op.STOP))
    assert int(straight["first_wrong"]) == run.path.hash(at.now, stop.now)
    load = moment("BRANCH", Kind.LOAD)
    other = Moment(stop.clock + 1, stop.site, stop.now + 1)  # `puts` is one block more
    sum_at = run.trace.address(event("SUM", Kind.STORE))
    record, found = read(
        way, change(load, Op.POKE, 60, sum_at, 4), change(other, Op.READ, 4, sum_at), change(other, Op.STOP)
    )
    assert record["verdict"] == Verdict.REACHED and integers(found) == [60]
    assert int(record["first_wrong"]) != run.path.hash(load.now, stop.now)


@pytest.mark.parametrize("way", BOTH)
def test_what_was_read_before_a_crash_is_kept(way):
    at, stop = moment("CRASH", Kind.LOAD), moment("END", Kind.LOAD)
    record, found = read(way, poke_table(2, 77, at), change(at, Op.READ, 4, table(2)), change(stop, Op.STOP))
    assert record["verdict"] == Verdict.CRASH and integers(found) == [77]


@pytest.mark.parametrize("way", BOTH)
def test_memory_that_is_not_there(way):
    at = moment("SUM", Kind.STORE)
    record, found = read(way, change(at, Op.READ, 4, table()), change(at, Op.READ, 4, 16), change(at, Op.STOP))
    assert record["verdict"] not in (Verdict.REACHED, Verdict.RUNNING, Verdict.NOT_RUN)
    record, found = read(way, change(at, Op.READ, 4, table()), change(at, Op.STOP))  # and the session lives on
    assert record["verdict"] == Verdict.REACHED and integers(found) == [8]


@pytest.mark.parametrize("way", BOTH)
def test_one_that_never_gets_there_ends_by_its_ticks(way):
    at, stop = moment("ENDLESS", Kind.LOAD), moment("END", Kind.LOAD)
    record, found = read(way, poke_table(2, 78, at), change(stop, Op.READ, 4, table()), change(stop, Op.STOP))
    assert record["verdict"] == Verdict.TIMEOUT and not found
    assert record["length"] <= 2 * TICKS


def test_one_that_ends_before_its_stop():
    at, stop = moment("SUM", Kind.STORE), moment("END", Kind.LOAD)
    late = Moment(stop.clock + 1000, stop.site, stop.now + 1000)
    record, found = read(Way.SNAPSHOT, change(at, Op.READ, 4, table()), change(late, Op.STOP))
    assert record["verdict"] == Verdict.PASS and integers(found) == [8]  # its output is not judged


@pytest.mark.parametrize("way", BOTH)
def test_continuations_of_a_batch_keep_apart_what_they_read(way):
    load, stop = moment("SUM", Kind.LOAD, SUM_LOAD), moment("BRANCH", Kind.BRANCH)
    sum_at = routes().failing.trace.address(event("SUM", Kind.STORE))
    values = [20, 21, 22, 23]
    batch = [
        np.concatenate([poke_table(1, value, load), change(stop, Op.READ, 4, sum_at), change(stop, Op.STOP)])
        for value in values
    ]
    records, found = session(way).read(Batch.of(batch), TICKS)
    assert (records["verdict"] == Verdict.REACHED).all()
    assert [integers(data) for data in found] == [[value + 5] for value in values]


GROWING = """\
#include <stdio.h>
#include <stdlib.h>
static int first, second;
int main(int argc, char **argv)
{
    char *block = malloc(1 << 20);
    first = atoi(argv[1]); /* FIRST */
    if (first > 4) /* SWITCH */
        first++;
    block = realloc(block, 4 << 20);
    second = first + 2; /* SECOND */
    printf("%d\\n", second); /* END */
    return block == NULL;
}
"""


def test_what_was_read_in_a_snapshot_that_did_not_serve_is_read_once():
    """A block that is moved by the system cannot be taken back: the continuation is done again in a forked process."""
    both = compared(GROWING, "4", "right\n", Change("SWITCH"))
    first, second = (both.events(mark, Kind.STORE)[0] for mark in ("FIRST", "SECOND"))
    begin, end = (both.failing.moment_of(event) for event in (first, second))
    places = [both.failing.trace.address(event) for event in (first, second)]
    one = [both.failing.change(begin, Op.READ, 4, places[0]), both.failing.change(end, Op.STOP)]
    seen = both.failing.moment(second)
    assert seen is not None
    two = [one[0], both.failing.change(seen, Op.READ, 4, places[1]), both.failing.change(seen, Op.STOP)]
    records, found = both.session.read(Batch.of([np.concatenate(two), np.concatenate(one), np.concatenate(two)]), TICKS)
    assert (records["verdict"] == Verdict.REACHED).all() and (records["way"] == Way.FORK).all()
    assert [integers(data) for data in found] == [[0, 6], [0], [0, 6]]  # the store to `first` is still to come


@pytest.mark.parametrize(("ended", "verdict"), [(0, Verdict.REACHED), (1, Verdict.REACHED), (2, Verdict.LOST)])
@pytest.mark.parametrize("has_begun", [False, True])
def test_what_ends_by_no_fault_of_its_own_is_run_again(monkeypatch, ended, verdict, has_begun):
    """A job may end since its server was killed, before a continuation has begun or while one is running."""
    at = moment("SUM", Kind.STORE)
    one = np.concatenate([change(at, Op.READ, 12, table()), change(at, Op.STOP)])
    job, jobs = Session._job, []

    def interrupted(self: Session, runner: Runner, file: SessionFile) -> object:
        jobs.append(len(jobs))
        if len(jobs) > ended:
            return job(self, runner, file)
        if has_begun:
            file.results[0]["verdict"], file.results[0]["output_length"] = Verdict.RUNNING, 12
            file.head["events_count"] = 12
        raise RunLost("the server was killed")

    with monkeypatch.context() as patched:
        patched.setattr(Session, "_job", interrupted)
        records, found = session(Way.SNAPSHOT).read(Batch.of([one, one]), TICKS)
    assert records["verdict"][0] == verdict
    assert records["verdict"][1] == (Verdict.REACHED if has_begun else verdict)  # another one's fault is not its own
    assert [integers(found[n]) for n in range(2) if records["verdict"][n] == Verdict.REACHED] == [[8, 10, 12]] * sum(
        records["verdict"] == Verdict.REACHED
    )
