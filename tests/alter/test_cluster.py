"""Altered runs on a Dask cluster of two workers give what this machine gives; and what can go wrong with a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from altered import not_run
from snippets import snippet

from whence.alter.changes import CHANGE, Batch, Observed, Op, Verdict
from whence.alter.session import Session
from whence.alter.streams import Request
from whence.alter.work import Work
from whence.alter.worker import ROOMS, Place, close_room, room_of
from whence.errors import SubjectError, UsageError
from whence.probe.instrument import Variant
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int weigh(int a, int b)
{
    int sum = 0;
    for (int i = 0; i < a; i++)
        if (i % 3 == b)
            sum += i;
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), total = 0;
    for (int k = 0; k < n; k++)
        total += weigh(k, k % 3);
    printf("%d\n", total);
    return 0;
}
"""
CASES = [Case(f"n is {n}", (str(n),), expected=Expected(b"12\n")) for n in (5, 6, 7)]


@pytest.fixture(scope="module")
def subject() -> Subject:
    made = snippet(PROGRAM).subject
    made.variant(Variant.ALTER)
    return made


def local_cluster(workers: int = 2) -> Any:
    """A scheduler with so many worker processes."""
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0")


@pytest.fixture(scope="module")
def pids(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file for each process that runs a sluggish part."""
    folder = tmp_path_factory.mktemp("pids")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_TEST_PIDS", str(folder))
        yield folder


@pytest.fixture(scope="module")
def cluster(pids: Path) -> Iterator[Any]:
    """Two worker processes that tests share."""
    with local_cluster() as made:
        yield made


def added(subject: Subject, observed: Observed, most: int) -> Batch:
    """Every loaded and stored value of a run, with -``most`` to ``most`` added to it."""
    sites = subject.alter_plan.sites[observed.events["site"]]
    chosen = np.isin(sites["role"], [Role.LOAD, Role.STORE]) & (sites["width"] == 32)
    found = np.zeros((2 * most + 1, int(chosen.sum())), CHANGE)
    for name in ("clock", "site"):
        found[name] = observed.events[name][chosen]
    for name in ("block", "width", "form"):
        found[name] = sites[name][chosen]
    found["op"], found["value"] = Op.ADD, np.arange(-most, most + 1).astype(np.uint64)[:, None]
    return Batch.single(found.ravel())


def search(subject: Subject, home: Path, **options: Any) -> tuple[Work, list[np.ndarray], list[Any]]:
    """All results of the cases, with an empty folder of what was found before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whence.alter.work.found_folder", lambda: home)
        patch.setattr("whence.alter.run_cache.found_folder", lambda: home)
        with Work(subject, **options) as work:
            observed = work.observe(CASES)
            requests = [Request(c, added(subject, o, 4)) for c, o in zip(CASES, observed, strict=True)]
            results = work.run([*requests, Request(CASES[0], requests[0].batch.part(0, 50), outputs=True)])
    return work, [r.records for r in results], [r.outputs for r in results]


def told(records: list[np.ndarray]) -> list[Any]:
    """What of results does not depend on where and when they ran."""
    names = ["verdict", "length", "first_wrong", "applied", "status", "signal"]
    return [r[names].tolist() for r in records]


def test_one_worker_two_and_a_cluster_find_the_same(subject: Subject, cluster: Any, tmp_path: Path) -> None:
    one, alone, texts = search(subject, tmp_path / "1", workers=1)
    two, both, texts_of_two = search(subject, tmp_path / "2", workers=2)
    far, spread, texts_of_far = search(subject, tmp_path / "3", cluster=cluster.scheduler_address)
    assert told(alone) == told(both) == told(spread)
    assert texts == texts_of_two == texts_of_far and texts[-1] is not None
    assert one.done == two.done == far.done > 3000
    verdicts = set(np.concatenate(alone)["verdict"].tolist())
    assert {Verdict.PASS, Verdict.WRONG_OUTPUT} <= verdicts and Verdict.LOST not in verdicts


def test_work_gives_what_a_session_gives(subject: Subject, tmp_path: Path) -> None:
    with Session(subject, CASES[0]) as session:
        batch = added(subject, session.observe(), 1)
        direct = session.run(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whence.alter.work.found_folder", lambda: tmp_path)
        with Work(subject, workers=2) as work:
            (spread,) = work.run([Request(CASES[0], batch)])
    assert told([direct.records]) == told([spread.records])


def test_workers_of_a_cluster_close_their_sessions(subject: Subject, cluster: Any, tmp_path: Path) -> None:
    search(subject, tmp_path, cluster=cluster.scheduler_address)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        assert set(client.run(_rooms).values()) == {0}


def _rooms() -> int:
    return len(ROOMS)


# ---- What can go wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["", "nonsense", "http://localhost:8786", "tcp://localhost", "tcp://a b:1"])
def test_what_is_no_address(subject: Subject, address: str) -> None:
    with pytest.raises(UsageError, match="is no address of a cluster") as error, Work(subject, cluster=address):
        pass
    assert "\n" not in str(error.value) and "tcp://HOST:PORT" in error.value.hint


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://127.0.0.1:99999", "tcp://nowhere.invalid:8786"])
def test_where_nobody_answers(subject: Subject, address: str, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr("whence.alter.executors.CONNECTING", 0.5)
    with pytest.raises(UsageError, match=f"no cluster answers at {address}"), Work(subject, cluster=address):
        pass
    assert capfd.readouterr() == ("", "")


def test_a_cluster_without_workers(subject: Subject) -> None:
    with (
        local_cluster(0) as empty,
        pytest.raises(UsageError, match="has no worker"),
        Work(subject, cluster=empty.scheduler_address),
    ):
        pass


def test_dask_is_asked_for_only_when_it_is_needed(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as error, Work(subject, cluster="tcp://127.0.0.1:1"):
        pass
    assert "whence[cluster]" in error.value.hint


def place(subject: Subject, **changed: Any) -> Place:
    limits, executable = subject.limits, subject.executable.absolute()
    plain = Place("test", subject.folder, executable, subject.name, limits, subject.fingerprint, Session)
    return replace(plain, **changed)


def test_a_worker_that_sees_another_program_says_so(subject: Subject, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for changed, message in [
        ({"fingerprint": 1}, "worker .* sees another program at "),
        ({"executable": tmp_path / "gone"}, "worker .* cannot open .*gone"),
        ({"executable": tmp_path / "text"}, "worker .* cannot open .*text"),
    ]:
        with pytest.raises(SubjectError, match=message):
            room_of(place(subject, **changed))
    assert not ROOMS


def test_a_room_opens_the_subject_by_its_place(subject: Subject) -> None:
    try:
        assert room_of(place(subject)) is room_of(place(subject))
        assert room_of(place(subject)).subject.program.fingerprint() == subject.fingerprint
    finally:
        close_room("test")
    assert not ROOMS


class Sluggish(Session):
    """A session that takes half a second more for each part; it says where it runs."""

    def run(self, batch: Batch, **options: Any) -> Any:
        Path(os.environ["WHENCE_TEST_PIDS"], str(os.getpid())).touch()
        time.sleep(0.5)
        return super().run(batch, **options)


def long_requests(subject: Subject, work: Work) -> list[Request]:
    return [Request(c, added(subject, o, 2)) for c, o in zip(CASES, work.observe(CASES), strict=True)]


def after_a_part(pids: Path, action: Any) -> threading.Thread:
    """Do something with the process that begins the next part, as soon as it does."""
    for old in pids.iterdir():
        old.unlink()

    def wait() -> None:
        while not (found := list(pids.iterdir())):
            time.sleep(0.02)
        action(int(found[0].name))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_search_on_a_cluster_stops_at_its_deadline(subject: Subject, cluster: Any) -> None:
    def end_soon(done: int, _: int) -> None:  # once a part is done, which may take long on a busy machine
        if done and work.deadline is None:
            work.deadline = time.monotonic() + 0.1

    address = cluster.scheduler_address
    with Work(subject, cluster=address, fresh=True, opener=Sluggish, progress=end_soon) as work:
        requests = long_requests(subject, work)
        results = work.run(requests)
        assert work.deadline is not None
        took = time.monotonic() - work.deadline
    assert took < 1.5
    assert work.stopped == "budget"
    left = sum(not_run(r.records) for r in results)
    assert 0 < left == work.left_out < sum(len(r.batch) for r in requests)


def test_a_worker_that_is_killed_is_replaced(subject: Subject, cluster: Any, pids: Path) -> None:
    with Work(subject, cluster=cluster.scheduler_address, fresh=True, opener=Sluggish) as work:
        requests = long_requests(subject, work)
        thread = after_a_part(pids, lambda pid: os.kill(pid, signal.SIGKILL))
        results = work.run(requests)
        thread.join(10)
    assert work.lost == 0 and not any(not_run(r.records) for r in results)


class Deadly(Session):
    """A session that ends the worker's process with one of the cases."""

    def run(self, batch: Batch, **options: Any) -> Any:
        if self.case.name == CASES[0].name:
            os._exit(1)
        return super().run(batch, **options)


def test_a_part_that_kills_its_workers_is_lost(subject: Subject) -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster() as own,
        Work(subject, cluster=own.scheduler_address, fresh=True, opener=Deadly) as work,
    ):
        observed = work.observe(CASES[:2])
        bad, good = (Request(c, added(subject, o, 1).part(0, 20)) for c, o in zip(CASES, observed, strict=False))
        (fine,) = work.run([good])
        (dead,) = work.run([bad])
        assert set(dead.records["verdict"].tolist()) == {Verdict.LOST}
        assert work.lost == 20 and work.stopped == ""
        (other,) = work.run([Request(CASES[1], added(subject, observed[1], 1).part(20, 40))])
    assert not {Verdict.LOST, Verdict.NOT_RUN} & {*fine.records["verdict"], *other.records["verdict"]}


def test_a_worker_that_does_not_answer_keeps_nobody_waiting(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.alter.executors.ANSWERING", 0.5)
    with local_cluster(1) as own:
        (pid,) = [worker.pid for worker in own.workers.values()]
        with Work(subject, cluster=own.scheduler_address, fresh=True) as work:
            work.observe(CASES[:1])
            os.kill(pid, signal.SIGSTOP)
            began = time.monotonic()
        took = time.monotonic() - began
        os.kill(pid, signal.SIGCONT)
    assert took < 10


def test_a_cluster_that_goes_away_is_an_error(subject: Subject, pids: Path) -> None:
    own = local_cluster()
    with (
        pytest.raises(SubjectError, match=r"the cluster at .* went away"),
        Work(subject, cluster=own.scheduler_address, fresh=True, opener=Sluggish) as work,
    ):
        requests = long_requests(subject, work)
        thread = after_a_part(pids, lambda _: own.close())
        work.run(requests)
    thread.join(10)
