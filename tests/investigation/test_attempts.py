"""Steps under a net: one that fails costs a line, and the next one goes on."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import whence
from whence.errors import SubjectError
from whence.investigation.attempts import Attempts
from whence.investigation.clock import Clock, OutOfTime, alarm
from whence.investigation.first_use import begin_compiling
from whence.investigation.watcher import Watcher
from whence.run.runner import Interrupted
from whence.trace.compiling import Waiting, compile_apart


def with_time(seconds: float = 600.0) -> Attempts:
    clock = Clock()
    clock.start(seconds)
    return Attempts(clock, Watcher())


def failing(error: BaseException) -> Attempts:
    """Attempts of which the first one raised this, and the second one was done or not."""

    def step() -> int:
        raise error

    attempts = with_time()
    assert attempts.take("rules", "trying rules", step) is None
    return attempts


def test_a_step_gives_what_it_found():
    attempts = with_time()
    assert attempts.take("rules", "trying rules", lambda: 3) == 3
    assert attempts.lines == [] and not attempts.stopped


def test_an_internal_error_is_saved_and_the_next_step_taken():
    attempts = failing(ZeroDivisionError("nothing to share"))
    (told,) = attempts.lines
    path = Path(re.fullmatch(r"rules: internal error \(ZeroDivisionError\), see (.*)", told)[1])
    saved = path.read_text()
    assert "nothing to share" in saved and "Traceback" in saved and "Python 3" in saved
    assert attempts.take("switch", "switching", lambda: 4) == 4


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SubjectError("no case fails"), "rules: no case fails"),
        (SubjectError("no room", "free some\nor not"), "rules: no room (free some)"),
        (MemoryError(), "rules: out of memory; record less: --window 64M, or a lower --trace-limit"),
        (RecursionError("deep"), "rules: internal error (RecursionError)"),
    ],
)
def test_what_fails_costs_a_line(error, told):
    attempts = failing(error)
    assert attempts.lines[0].startswith(told) and not attempts.stopped


def test_what_overruns_its_share_is_ended():
    attempts = with_time()

    def endless() -> None:
        while True:
            time.sleep(0.001)

    began = time.monotonic()
    assert attempts.take("rules", "trying rules", endless, 0.2) is None
    assert time.monotonic() - began < 5
    assert attempts.lines == ["rules: not done in its share of the time, 0.2 s: --budget 5m"]
    assert attempts.take("switch", "switching", lambda: 4) == 4


def test_what_an_alarm_has_become_on_its_way_is_no_interrupt():
    """A batch of runs that is interrupted raises an error of its own, with the runs that were done."""

    def step() -> None:
        try:
            raise OutOfTime
        except KeyboardInterrupt as stop:
            raise Interrupted([]) from stop

    attempts = with_time()
    assert attempts.take("invariants", "comparing values", step) is None
    assert attempts.lines[0].startswith("invariants: not done in its share") and not attempts.stopped


def test_a_step_that_waited_for_the_compiler_says_so(tmp_path: Path) -> None:
    waiting = SimpleNamespace(
        stats=SimpleNamespace(cache_path=str(tmp_path)),
        py_func=test_a_step_that_waited_for_the_compiler_says_so,
        compile=lambda given: time.sleep(2),
    )
    attempts = with_time()
    assert attempts.take("no trace", "recording", lambda: compile_apart(waiting, (), lambda: False), 0.2) is None
    assert "compiled at its first use, which took the 0.2 s" in attempts.lines[0]
    assert "run the same command again" in attempts.lines[0] and not attempts.stopped


def test_once_a_step_has_to_wait_the_rest_is_compiled_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Waiting, "rest", lambda: os.open(tmp_path / "begun", os.O_CREAT | os.O_EXCL))
    kernel = SimpleNamespace(
        stats=SimpleNamespace(cache_path=str(tmp_path)), py_func=with_time, compile=lambda given: time.sleep(5)
    )
    attempts = with_time()
    for name in ("no trace", "invariants"):
        attempts.take(name, "recording", lambda: compile_apart(kernel, (), lambda: False), 0.1)
    assert len(attempts.lines) == 2
    assert any((tmp_path / "begun").exists() or time.sleep(0.02) for _ in range(500))
    assert Waiting.rest is None


def test_a_command_says_what_the_rest_is(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int main(int argc, char **argv)\n{\n    return argc > 1 && *argv[1];\n}\n")
    with whence.open_sources([tmp_path / "one.c"], fails=[("1", None)]):
        assert Waiting.rest is begin_compiling


def test_after_an_interrupt_no_step_is_taken():
    attempts = failing(KeyboardInterrupt())
    assert attempts.stopped
    assert attempts.take("switch", "switching", lambda: 4) is None
    assert attempts.lines == ["interrupted while trying rules; what would have followed was left out"]


def test_without_time_a_step_is_not_taken():
    attempts = with_time(1e-6)
    assert attempts.take("rules", "trying rules", lambda: 4) is None
    assert attempts.lines == ["rules: no time was left: --budget 5m"]


# ---- Alarms ----------------------------------------------------------------------------------------------------------


def test_an_outer_alarm_goes_off_after_an_inner_one_that_did_not():
    with pytest.raises(OutOfTime), alarm(0.3):
        with alarm(600):
            pass
        time.sleep(5)


def test_an_alarm_that_is_over_does_not_ring():
    rang = False
    try:
        with alarm(0.05):
            pass
        time.sleep(0.2)
    except OutOfTime:
        rang = True
    assert not rang


def test_cleaning_up_after_an_alarm_is_not_disturbed():
    done = False
    try:
        with alarm(0.05):
            try:
                time.sleep(5)
            finally:
                time.sleep(1.2)  # it rings twice meanwhile
                done = True
    except OutOfTime:
        pass
    assert done


def test_the_time_for_building_does_not_count():
    clock = Clock()
    clock.start(10.0)
    before = clock.left
    with clock.standing():
        time.sleep(0.5)
    assert clock.left > before - 0.4


def test_what_is_built_within_a_step_takes_nothing_of_its_time() -> None:
    """Also where it takes longer than the step may, and the step has steps of its own."""
    clock = Clock()
    clock.start(60.0)
    done, left = [], clock.left
    with alarm(0.6):
        with alarm(0.3):
            with clock.standing(), clock.standing():
                time.sleep(0.8)
            done.append("built")
            time.sleep(0.1)
        done.append("inner")
        time.sleep(0.1)
        done.append("outer")
    assert done == ["built", "inner", "outer"]
    assert 0.8 <= clock.stood < 1.5 and clock.left > left - 0.6


def test_after_building_a_step_still_ends_with_its_time() -> None:
    clock, began = Clock(), time.monotonic()
    with pytest.raises(OutOfTime), alarm(0.3):
        with clock.standing():
            time.sleep(0.5)
        time.sleep(5)
    assert 0.75 < time.monotonic() - began < 3


def test_other_threads_stop_no_alarm() -> None:
    clock = Clock()

    def build() -> None:
        with clock.standing():
            time.sleep(1.5)

    thread = threading.Thread(target=build)
    began = time.monotonic()
    with pytest.raises(OutOfTime), alarm(0.3):
        thread.start()
        time.sleep(5)
    assert time.monotonic() - began < 1.4
    thread.join()


def test_a_part_of_the_time_is_all_that_there_is_inside() -> None:
    clock = Clock()
    clock.start(100.0)
    before = clock.left
    with clock.part(0.5):
        assert before / 2 - 1 < clock.left <= before / 2
        with clock.part(0.1), clock.standing():
            time.sleep(0.4)
        assert before / 2 - 1 < clock.left <= before / 2
        with clock.standing():
            time.sleep(0.4)
        assert before / 2 - 0.3 < clock.left
    assert before - 0.3 < clock.left <= before


def test_a_part_of_time_without_an_end_has_none() -> None:
    clock = Clock()
    with clock.part(0.5):
        assert clock.left == float("inf")
    assert clock.left == float("inf")
