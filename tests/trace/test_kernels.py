"""Compiled kernels are kept; what was damaged is compiled again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import empty, garble, truncate
from numba import njit, types
from processes import as_from_a_shell

from whence.trace.kernels import lean

MODULE = """
import sys
import numba
from whence.trace import compiled, kernels
numba.config.CACHE_DIR = sys.argv[1]

@kernels.lean
def total(n):
    found = 0
    for i in range(n):
        found += i
    return found

print(total(10), total(10.0), sum(total.called.stats.cache_hits.values()))
"""


def run(folder: Path, cache: Path) -> str:
    """What the module prints: two results, and how many of its two kernels came from the cache."""
    command = [sys.executable, str(folder / "module.py"), str(cache)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "module.py").write_text(MODULE)
    assert run(folder, folder / "cache") == "45 45 1"  # the first one was compiled by another process
    return folder


@pytest.mark.parametrize(
    "pattern, damage", [("*.nbi", empty), ("*.nbi", garble), ("*.nbc", truncate), ("*.nbc", garble)]
)
def test_damaged_kernels_are_compiled_again(
    compiled: Path, tmp_path: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    cache = shutil.copytree(compiled / "cache", tmp_path / "cache")
    for path in cache.rglob(pattern):
        damage(path)
    assert run(compiled, cache) == "45 45 0"
    assert run(compiled, cache) == "45 45 2"


def test_a_kept_kernel_is_loaded_without_what_compiling_needs(compiled: Path, tmp_path: Path) -> None:
    """Numba's library of implementations takes longer to load than the kernels of a command."""
    look = "import sys, module; print('numba.cpython.listobj' in sys.modules)"

    def loads_it(cache: Path) -> bool:
        command = [sys.executable, "-c", look, str(cache)]
        return "True" in subprocess.run(command, cwd=compiled, capture_output=True, text=True, check=True).stdout

    assert not loads_it(compiled / "cache")
    assert loads_it(tmp_path / "empty")


@lean
def _item(numbers: Any, place: Any, more: Any) -> Any:
    return numbers[place] + more


@njit
def _sum_of_items(numbers: Any) -> Any:
    """Asks for an item with constants, a truth value, and integers of other widths."""
    return (
        _item(numbers, 0, True)
        + _item(numbers, np.int32(1), 1)
        + _item(numbers, np.uint8(2), -1)
        + _item(numbers, 3, np.int64(5))
    )


def test_a_function_is_compiled_once_for_all_integers() -> None:
    assert _sum_of_items(np.arange(4, dtype=np.int64)) == 0 + 1 + 2 + 3 + 1 + 1 - 1 + 5
    ((_, place, more),) = _item.compiled.overloads
    assert place == more == types.int64


def test_addresses_and_numbers_with_a_point_stay_what_they_are() -> None:
    @lean
    def same(value: Any) -> Any:
        return value

    @njit
    def both(numbers: Any) -> Any:
        return same(numbers[0]), same(1.5)

    largest = (1 << 64) - 1
    assert both(np.array([largest], np.uint64)) == (largest, 1.5)
    assert {args[0] for args in same.compiled.overloads} == {types.uint64, types.float64}


def test_what_only_compiled_code_calls_is_no_object_of_python() -> None:
    """The code that takes tables out of Python's objects costs more than most functions."""
    _sum_of_items(np.arange(4, dtype=np.int64))
    library = next(iter(_item.compiled.overloads.values())).library
    assert not any("cpython" in name or "cfunc" in name for name in map(str, library.get_defined_functions()))


SLOW = """
import os, sys, time
import numba
from whence.trace import compiled, kernels
numba.config.CACHE_DIR = sys.argv[1]

@kernels.lean
def total(n):
    return n + 1

compile = total.called.compile
def slowly(types):
    time.sleep(float(sys.argv[2]))
    return compile(types)
total.called.compile = slowly
print(total(1), sum(total.called.stats.cache_hits.values()), flush=True)
"""


def kept(cache: Path) -> bool:
    """Whether compiled code lies there before long."""
    return any(any(cache.rglob("*.nbc")) or time.sleep(0.1) for _ in range(300))


def test_compiling_goes_on_when_the_command_has_ended(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SLOW)
    command = [sys.executable, str(tmp_path / "module.py"), str(tmp_path / "cache")]
    process = subprocess.Popen([*command, "8"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    wait_for_lock(tmp_path / "cache")
    assert not any(tmp_path.rglob("*.nbc"))
    os.killpg(process.pid, signal.SIGKILL)
    assert process.communicate(timeout=60) == (b"", b"")
    assert not any(tmp_path.rglob("*.nbc"))  # nothing of the pipes is held open by what goes on
    assert kept(tmp_path / "cache")
    assert subprocess.run([*command, "0"], capture_output=True, text=True, check=True).stdout == "2 1\n"


def test_waiting_for_it_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(SLOW)
    command = [sys.executable, str(tmp_path / "module.py"), str(tmp_path / "cache"), "8"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, preexec_fn=as_from_a_shell, **pipes)
    wait_for_lock(tmp_path / "cache")
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert not any(tmp_path.rglob("*.nbc")) and kept(tmp_path / "cache")


def wait_for_lock(cache: Path) -> None:
    """Until the process that compiles has begun."""
    assert any(any(cache.rglob("*.lock")) or time.sleep(0.02) for _ in range(1500))


def test_who_waits_is_told(tmp_path: Path) -> None:
    told = "from whence.trace.compiling import Waiting\nWaiting.told = print\n"
    (tmp_path / "module.py").write_text(SLOW.replace("print(", told + "print("))
    command = [sys.executable, str(tmp_path / "module.py"), str(tmp_path / "cache"), "0"]
    printed = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert printed == ["True\nFalse\n2 1\n", "2 1\n"]
