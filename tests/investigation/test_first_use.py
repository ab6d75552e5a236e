"""What compiling takes at a first use stays within the time of its step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from whence.errors import WhenceError
from whence.investigation.clock import alarm
from whence.investigation.first_use import compile_ahead, compile_in_time


@dataclass
class Part:
    """Something to compile, or compiled already."""

    work: Callable[[], object]
    kept: bool = False

    def is_compiled(self) -> bool:
        """Whether it is."""
        return self.kept

    def compile(self) -> None:
        """Do the work."""
        self.work()


def test_it_is_compiled_once(tmp_path: Path) -> None:
    compile_in_time(Part((tmp_path / "again").touch, kept=True))
    assert not (tmp_path / "again").exists()


def test_it_is_ended_with_the_time_of_its_step(tmp_path: Path) -> None:
    def slow() -> None:
        time.sleep(1)
        (tmp_path / "late").touch()

    with pytest.raises(WhenceError, match="longer than its share") as caught, alarm(0.1):
        compile_in_time(Part(slow))
    assert caught.value.hint == "`whence doctor` does it ahead of time"
    time.sleep(1.2)
    assert not (tmp_path / "late").exists()


def test_ahead_it_is_compiled_by_a_process_of_its_own(tmp_path: Path) -> None:
    done: list[int] = []

    def slow() -> None:
        time.sleep(0.3)
        done.append(1)
        (tmp_path / "kept").touch()

    began = time.monotonic()
    compile_ahead(Part(slow))
    assert time.monotonic() - began < 0.3 and not (tmp_path / "kept").exists()
    assert any((tmp_path / "kept").exists() or time.sleep(0.02) for _ in range(500)) and not done
    compile_ahead(Part((tmp_path / "again").touch, kept=True))
    time.sleep(0.2)
    assert not (tmp_path / "again").exists()


def test_a_kernel_is_known_to_be_kept() -> None:
    from whence.trace import kernels, provenance

    class Elsewhere:
        """A kernel whose folder holds nothing of it."""

        class called:
            class stats:
                cache_path = str(Path(__file__).parent)

        py_func = staticmethod(provenance.follow.py_func)

    assert not kernels.is_kept(Elsewhere)
