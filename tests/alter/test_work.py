"""Altered runs on all cores: order, duplicates, sizes of parts, stops, going on, sessions that die, clusters."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from altered import FakeSubject, Sessions, batch, case, changes, expected, not_run
from hypothesis import given
from hypothesis import strategies as st

from whence.alter.changes import Batch, Verdict
from whence.alter.run_cache import digests, found_folder
from whence.alter.streams import CUT, LEAST, LONG, PROBE, SHORT, Request, first_of_equals, part_size
from whence.alter.work import Work
from whence.alter.worker import IDLE, ROOMS, cancel_room
from whence.errors import BuildError, SubjectError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Whence's own for each test."""
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No room and no worker is left."""
    yield
    assert not ROOMS
    assert not [t for t in threading.enumerate() if t.name.startswith("whence")]


def open_work(sessions: Sessions, subject: FakeSubject | None = None, **options: Any) -> Work:
    stand_in: Any = subject or FakeSubject()
    return Work(stand_in, opener=sessions, **{"workers": 2, **options})


# ---- Results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_those_of_one_after_the_other(workers: int) -> None:
    one, two = case("one"), case("three")
    mixed = Batch.of([changes(1, 2), changes(3), changes(2, 1), changes(1, 2), changes(1, 2, 3)])
    requests = [
        Request(one, batch(*range(3000))),
        Request(two, mixed),
        Request(one, batch(5, 4000, 3, 4000)),
        Request(one, batch(1, 2), budget=3.0),
        Request(two, batch(*range(100))),
        Request(two, batch()),
    ]
    with open_work(Sessions(), workers=workers) as work:
        found = work.run(requests)
        again = work.run(requests)
    for request, results, repeated in zip(requests, found, again, strict=True):
        assert np.array_equal(results.records, expected(request.case, request.batch, request.budget))
        assert np.array_equal(results.records, repeated.records)
        assert results.outputs is None
    assert work.stopped == "" and work.left_out == work.lost == 0


def test_outputs_belong_to_their_continuations() -> None:
    with open_work(Sessions()) as work:
        work.run([Request(case("a"), batch(1, 2))])
        (found,) = work.run([Request(case("a"), batch(7, 1, 7, 400), outputs=True)])
        (again,) = work.run([Request(case("a"), batch(400, 1), outputs=True)])
    assert found.outputs == [(b"8", b"a"), (b"2", b"a"), (b"8", b"a"), (b"401", b"a")]
    assert again.outputs == [(b"401", b"a"), (b"2", b"a")]


def test_equal_continuations_run_once() -> None:
    sessions = Sessions()
    with open_work(sessions) as work:
        work.run([Request(case("a"), batch(1, 2, 1, 1)), Request(case("a"), batch(2, 3)), Request(case("b"), batch(1))])
        assert set(sessions.ran.values()) == {1}
        assert sessions.continuations == 4 == work.done
        work.run([Request(case("a"), batch(3, 2, 9))])
        assert sessions.continuations == 5
        work.run([Request(case("a"), batch(3), budget=2.0), Request(case("a"), batch(3), outputs=True)])
        assert sessions.continuations == 7  # other options, other results
    assert work.known == 2


def test_equal_content_is_one_case_whatever_its_name() -> None:
    sessions = Sessions()
    with open_work(sessions) as work:
        work.run([Request(case("a", "1"), batch(1)), Request(case("b", "1"), batch(1))])
    assert sessions.continuations == 1


def test_observed_runs_are_in_order() -> None:
    cases = [case("x" * length) for length in (5, 1, 3, 2)]
    with open_work(Sessions()) as work:
        assert [len(o.events) for o in work.observe(cases)] == [10, 2, 6, 4]


def test_progress_reaches_the_total() -> None:
    told: list[tuple[int, int]] = []
    with open_work(Sessions(), progress=lambda done, total: told.append((done, total))) as work:
        work.run([Request(case("a"), batch(*range(1000), 5, 6))])
        work.run([Request(case("b"), batch(*range(500)))])
    assert told == sorted(told)
    assert told[-1] == (1500, 1500)
    assert {total for _, total in told} == {1000, 1500}


@given(st.lists(st.integers(0, 20), max_size=60))
def test_equals_are_found_as_by_a_dictionary(values: list[int]) -> None:
    names = digests(batch(*values), "")
    first: dict[int, int] = {}
    wanted = [first.setdefault(value, row) for row, value in enumerate(values)]
    assert first_of_equals(names).tolist() == wanted
    assert first_of_equals(names[::-1]).tolist() == [values[::-1].index(value) for value in values[::-1]]


# ---- Parts -----------------------------------------------------------------------------------------------------------


def test_sizes_of_parts() -> None:
    assert part_size(0.0, 10**6, 2) == LEAST  # the first, to measure
    assert part_size(100_000, 10**6, 2) == LONG * 100_000
    assert part_size(100_000, 150_000, 2) == 37_500  # towards the end all get a share
    assert part_size(100_000, 30_000, 2) == SHORT * 100_000
    assert part_size(500, 10**6, 2) == 500
    assert part_size(500, 100, 2) == LEAST  # what waits is less than that
    assert part_size(20, 10**6, 2) == 20
    assert part_size(0.01, 10**6, 2) == 1


def test_parts_adapt_to_how_long_continuations_take() -> None:
    sessions = Sessions(seconds=0.0001)
    with open_work(sessions) as work:
        begun = time.monotonic()
        work.run([Request(case("a"), batch(*range(16000)))])
        rate = 16000 / (time.monotonic() - begun)
    sizes = [count for _, count in sessions.parts]
    assert sizes[0] == LEAST
    assert all(size >= LEAST for size in sizes[:-1])
    assert max(sizes) > 2 * LEAST
    assert max(sizes) < 2 * rate * LONG
    assert max(sizes[-2:]) < max(sizes)


def test_slow_continuations_are_shared_all_the_same() -> None:
    sessions = Sessions(seconds=0.05)
    with open_work(sessions) as work:
        begun = time.monotonic()
        (found,) = work.run([Request(case("a"), batch(*range(120)))])
        took = time.monotonic() - begun
    assert not not_run(found.records) and set(sessions.ran.values()) == {1}
    assert len(sessions.parts) > 3  # the first one was cut off, the rest cut smaller
    assert took < 0.05 * 120 * 0.9


def test_one_that_takes_longer_than_a_part_may_is_given_more_time() -> None:
    sessions = Sessions(least=4 * CUT)
    with open_work(sessions, workers=1) as work:
        (found,) = work.run([Request(case("a"), batch(1))])
    assert sessions.given == [PROBE, CUT, 2 * CUT, 4 * CUT]
    assert not not_run(found.records)


def test_cases_share_the_workers_and_keep_their_sessions() -> None:
    sessions = Sessions(seconds=0.0002)
    with open_work(sessions) as work:
        work.run([Request(case(name), batch(*range(2000))) for name in "abcd"])
        work.run([Request(case(name), batch(*range(2000, 2100))) for name in "abcd"])
    assert len(sessions.opened) <= 6  # one for each case, and some more when fewer cases than workers are left
    assert sorted(sessions.closed) == sorted(sessions.opened)


def test_few_sessions_are_kept_open() -> None:
    sessions = Sessions()
    open_at_once: list[int] = []
    sessions.before = lambda: open_at_once.append(len(sessions.opened) - len(sessions.closed))
    with open_work(sessions) as work:
        work.run([Request(case(f"case {n}"), batch(1)) for n in range(3 * IDLE)])
    assert max(open_at_once) <= IDLE + 2
    assert len(sessions.closed) == 3 * IDLE


# ---- Stops -----------------------------------------------------------------------------------------------------------


def test_a_deadline_stops_the_search() -> None:
    sessions = Sessions(seconds=0.001)
    requests = [Request(case("a"), batch(*range(20000))), Request(case("b"), batch(1))]
    begun = time.monotonic()
    with open_work(sessions, deadline=begun + 0.7) as work:
        found, _ = work.run(requests)
        assert time.monotonic() - begun < 2.0
        assert work.stopped == "budget"
        (later,) = work.run([Request(case("c"), batch(1, 2))])
        (observed,) = work.observe([case("c")])
    done = len(found.records) - not_run(found.records)
    assert 100 < done < 2000
    ran = found.records["verdict"] != Verdict.NOT_RUN
    assert np.array_equal(found.records[ran], expected(case("a"), batch(*np.flatnonzero(ran).tolist())))
    assert not_run(later.records) == 2
    assert len(observed.events) == 0 and observed.cut and observed.result["verdict"] == Verdict.NOT_RUN
    assert work.left_out == 20003 - sessions.continuations == 20003 - work.done
    assert sorted(sessions.closed) == sorted(sessions.opened)


def test_a_session_that_was_cancelled_serves_no_more_though_its_run_had_ended() -> None:
    sessions = Sessions()
    with open_work(sessions) as work:
        work.run([Request(case("a"), batch(1))])
        (room,), seat = ROOMS.values(), work._seat(case("a"))
        room.use(seat, lambda _: room.cancel())
        assert len(room.use(seat, lambda session: session.observe(0)).events) == 2
    assert sorted(sessions.closed) == sorted(sessions.opened) and not sessions.torn


def test_an_observation_that_is_cancelled_by_the_end_of_another_is_made_again() -> None:
    sessions, first = Sessions(), iter([True])
    with open_work(sessions, workers=1) as work:
        sessions.before = lambda: next(first, False) and cancel_room(work._token)
        (observed,) = work.observe([case("abc")])
    assert len(observed.events) == 6
    assert sorted(sessions.closed) == sorted(sessions.opened) and not sessions.torn


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[float], None]]:
    """Presses Ctrl-C after so many seconds."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def press(seconds: float) -> None:
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield press
    for timer in timers:
        timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_search_and_lets_what_was_found_be_told(ctrl_c: Callable[[float], None]) -> None:
    sessions = Sessions(seconds=0.001)
    with open_work(sessions) as work:
        ctrl_c(0.6)
        begun = time.monotonic()
        (found,) = work.run([Request(case("a"), batch(*range(20000)))])
        assert time.monotonic() - begun < 0.6 + CUT + 1.0
    assert work.stopped == "interrupt"
    assert 100 < len(found.records) - not_run(found.records) < 8000
    assert work.left_out == not_run(found.records)
    assert sorted(sessions.closed) == sorted(sessions.opened)


def test_ctrl_c_between_two_steps_of_a_technique_counts_too(ctrl_c: Callable[[float], None]) -> None:
    with open_work(Sessions()) as work:
        os.kill(os.getpid(), signal.SIGINT)
        (found,) = work.run([Request(case("a"), batch(1))])
    assert work.stopped == "interrupt" and not_run(found.records) == 1


def test_ctrl_c_ends_long_work_without_altered_runs_at_once(ctrl_c: Callable[[float], None]) -> None:
    with open_work(Sessions()) as work:
        ctrl_c(0.2)
        begun = time.monotonic()
        with work.interruptible():
            time.sleep(20)
        assert time.monotonic() - begun < 10
        (found,) = work.run([Request(case("a"), batch(1))])
    assert work.stopped == "interrupt" and not_run(found.records) == 1


def test_the_second_ctrl_c_ends_everything(ctrl_c: Callable[[float], None]) -> None:
    sessions = Sessions(seconds=0.004)  # so that a part is at work when the second one comes
    with pytest.raises(KeyboardInterrupt), open_work(sessions) as work:
        ctrl_c(0.2)
        ctrl_c(0.5)
        work.run([Request(case("a"), batch(*range(20000)))])
    assert sorted(sessions.closed) == sorted(sessions.opened)


@pytest.mark.parametrize("times", [1, 2])
def test_sessions_that_do_not_answer_are_cancelled_and_closed_by_their_threads(
    times: int, ctrl_c: Callable[[float], None]
) -> None:
    sessions = Sessions()
    sessions.before = lambda: sessions.cancelling.wait(20)  # type: ignore[assignment, return-value]
    for press in range(times):
        ctrl_c(0.2 + 0.2 * press)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt) if times == 2 else nullcontext(), open_work(sessions) as work:
        (found,) = work.run([Request(case("a"), batch(*range(1000)))])
        assert not_run(found.records) == 1000 == work.left_out
    assert time.monotonic() - begun < 3.0
    assert sorted(sessions.opened) == sorted(sessions.closed)
    assert not sessions.torn


def test_what_was_cancelled_can_be_asked_for_again() -> None:
    sessions = Sessions()
    sessions.before = lambda: sessions.cancelling.wait(20)  # type: ignore[assignment, return-value]
    with open_work(sessions, deadline=time.monotonic() + 60) as work:
        with work.share(0.2 / 60):
            (nothing,) = work.run([Request(case("a"), batch(*range(1000)))])
        (found,) = work.run([Request(case("a"), batch(*range(1000)))])
    assert not_run(nothing.records) == 1000 and not not_run(found.records)
    assert sorted(sessions.opened) == sorted(sessions.closed) and not sessions.torn


# ---- Going on --------------------------------------------------------------------------------------------------------


def test_a_stopped_search_goes_on() -> None:
    request = Request(case("a"), batch(*range(3000)))
    first = Sessions(seconds=0.001)
    with open_work(first, deadline=time.monotonic() + 0.5) as work:
        work.run([request])
    done = first.continuations
    assert 0 < done < 3000
    second = Sessions()
    with open_work(second) as work:
        (found,) = work.run([Request(case("a"), batch(*reversed(range(3000))))])  # cut into other parts
    assert work.known == done and second.continuations == 3000 - done
    assert not first.ran.keys() & second.ran.keys()
    assert np.array_equal(found.records[::-1], expected(request.case, request.batch))


def test_nothing_is_kept_for_another_program_or_with_fresh(home: Path) -> None:
    request = Request(case("a"), batch(1, 2, 3))
    counts = []
    for version, fresh in [(1, False), (1, False), (2, False), (1, True), (1, False)]:
        sessions = Sessions()
        with open_work(sessions, FakeSubject(version), fresh=fresh) as work:
            work.run([request])
        counts.append(sessions.continuations)
    assert counts == [3, 0, 3, 3, 0]
    assert len(list(found_folder().iterdir())) == 2


def test_a_torn_file_only_costs_what_was_torn() -> None:
    for row in range(3):
        with open_work(Sessions()) as work:
            work.run([Request(case("a"), batch(row))])
    (path,) = found_folder().iterdir()
    path.write_bytes(path.read_bytes()[:-7])
    sessions = Sessions()
    with open_work(sessions) as work:
        work.run([Request(case("a"), batch(0, 1, 2))])
    assert work.known == 2 and sessions.continuations == 1


def test_what_cannot_be_kept_is_told(home: Path) -> None:
    found_folder().write_text("no folder")
    with open_work(Sessions()) as work:
        (found,) = work.run([Request(case("a"), batch(1))])
    assert not not_run(found.records)
    assert str(found_folder()) in work.trouble


# ---- Sessions that die -----------------------------------------------------------------------------------------------


def test_a_session_that_dies_is_opened_again() -> None:
    sessions = Sessions(dies=lambda _, number: number in (0, 3))
    with open_work(sessions) as work:
        (found,) = work.run([Request(case("a"), batch(*range(1500)))])
    assert np.array_equal(found.records, expected(case("a"), batch(*range(1500))))
    assert work.lost == 0
    assert len(sessions.opened) >= 3
    assert sorted(sessions.closed) == sorted(sessions.opened)


def test_where_it_dies_again_the_part_is_lost_and_the_search_goes_on() -> None:
    sessions = Sessions(dies=lambda name, _: name == "bad")
    with open_work(sessions) as work:
        bad, good = work.run([Request(case("bad"), batch(*range(300))), Request(case("good"), batch(*range(300)))])
        assert set(bad.records["verdict"].tolist()) == {Verdict.LOST}
        assert np.array_equal(good.records, expected(case("good"), batch(*range(300))))
        assert work.lost == 300 and work.left_out == 0
        sessions.dies = lambda _, __: False
        (again,) = work.run([Request(case("bad"), batch(*range(300)))])  # nothing of it was kept
        assert np.array_equal(again.records, expected(case("bad"), batch(*range(300))))


def test_where_a_run_cannot_be_observed_the_others_are_and_why_is_told() -> None:
    sessions = Sessions(dies=lambda name, _: name == "bad")
    with open_work(sessions) as work:
        good, bad = work.observe([case("good"), case("bad")])
        assert len(good.events) == 8 and not good.unusable
        assert bad.unusable == "its run cannot be observed: the server has ended" == work.unusable["bad"]
        (found,) = work.run([Request(case("bad"), batch(1, 2))])
        assert not_run(found.records) == 2 and work.left_out == 0
        assert work.why_not([case("good"), case("bad")]) == ["", bad.unusable]
    assert sorted(sessions.closed) == sorted(sessions.opened) == ["bad", "bad", "good"]


class Refusing(Sessions):
    """Sessions that cannot be opened for one case."""

    def __call__(self, subject: object, case: Any, way: Any, plain: Any = None, reach: int = 0) -> Any:
        if case.name == "bad":
            raise SubjectError("case bad: no such file")
        return super().__call__(subject, case, way)


def test_where_a_case_cannot_be_opened_the_others_are_run_and_why_is_told() -> None:
    sessions = Refusing()
    requests = [Request(case("good"), batch(*range(2000))), Request(case("bad"), batch(*range(2000)))]
    with open_work(sessions) as work:
        good, bad = work.run(requests)
    assert not not_run(good.records) and not_run(bad.records) == 2000
    assert work.unusable == {"bad": "no such file"} and work.left_out == 0
    assert set(sessions.opened) == {"good"}


def test_a_program_that_cannot_be_opened_is_an_error() -> None:
    class Broken(Sessions):
        def __call__(self, *_: Any) -> Any:
            raise BuildError("the variant does not link")

    with pytest.raises(BuildError, match="does not link"), open_work(Broken()) as work:
        work.observe([case("a")])


def test_where_a_file_is_missing_that_is_told_of_its_case(tmp_path: Path) -> None:
    gone = replace(case("a"), stdin=tmp_path / "gone")
    with open_work(Sessions()) as work:
        lost, found = work.run([Request(gone, batch(1)), Request(case("b"), batch(1))])
        (seen,) = work.observe([gone])
    assert not_run(lost.records) == 1 and not not_run(found.records)
    assert seen.unusable.startswith("cannot read") and seen.unusable.endswith("gone: No such file or directory")
