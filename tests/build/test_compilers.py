"""Calls of compilers: they keep to a time, and none outlives whoever wanted it."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whence.build import variant
from whence.build.compilers import Compilers
from whence.build.toolchain import Toolchain, find_toolchain
from whence.errors import BuildError


class Slow(Toolchain):
    """A compiler that takes a minute, and says by a file that it is at work."""

    def __init__(self, folder: Path) -> None:
        chosen = find_toolchain("bundled")
        super().__init__(chosen.kind, chosen.command)
        self.folder = folder

    def call(self, arguments: list[str]) -> list[str]:
        return ["sh", "-c", 'echo $$ >"$0/$$"; exec sleep 60', str(self.folder)]

    def at_work(self, count: int) -> list[int]:
        """The numbers of its processes, once there are so many."""
        end = time.monotonic() + 30
        while len(found := [path for path in self.folder.iterdir() if path.read_text()]) < count:
            assert time.monotonic() < end
            time.sleep(0.01)
        return [int(path.name) for path in found]


def is_there(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


def test_none_is_at_work_behind_its_time(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    with pytest.raises(TimeoutError):
        Compilers(slow).call([], tmp_path, deadline=time.monotonic() + 0.5)
    assert not any(map(is_there, slow.at_work(1)))


def test_all_are_ended_and_no_other_begins(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    compilers = Compilers(slow)
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compilers.call, [], tmp_path) for _ in range(2)]
        numbers = slow.at_work(2)
        compilers.end()
        assert [job.result().returncode for job in jobs] == [-signal.SIGKILL] * 2
    assert not any(map(is_there, numbers))
    with pytest.raises(BuildError):
        compilers.call([], tmp_path)


def test_an_interrupt_ends_the_build_of_a_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c_works: None
) -> None:
    slow = Slow(tmp_path)
    monkeypatch.setattr(variant, "find_toolchain", lambda _: slow)

    def interrupt() -> None:
        slow.at_work(2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        variant.compile_texts([f"@n = global i32 {n}\n" for n in range(9)], [str(n) for n in range(9)])
    assert time.monotonic() - began < 40
    assert not any(map(is_there, slow.at_work(2)))


class Spinning(Toolchain):
    """A compiler that never comes to an end where it optimises."""

    def call(self, arguments: list[str]) -> list[str]:
        return super().call(arguments) if "-O0" in arguments else ["sh", "-c", "while :; do :; done"]


def test_what_takes_long_to_optimise_is_compiled_without(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = find_toolchain("bundled")
    monkeypatch.setattr(variant, "find_toolchain", lambda _: Spinning(chosen.kind, chosen.command))
    monkeypatch.setattr(variant, "LEAST", 0.5)
    (found,) = variant.compile_texts([f"@never{os.getpid()} = global i32 7\n"], ["spinning"])
    assert f"never{os.getpid()}".encode() in found.read_bytes()
