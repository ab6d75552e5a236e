"""Compiled kernels are kept; what was damaged is compiled again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import empty, garble, truncate
from numba import types

from whence.trace.kernels import lean

MODULE = """
import sys
import numba
from whence.trace import kernels
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
    assert run(folder, folder / "cache") == "45 45 0"
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


@lean
def _item(numbers: Any, place: Any, more: Any) -> Any:
    return numbers[place] + more


@lean
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
    ((_, place, more),) = _item.overloads
    assert place == more == types.int64


def test_addresses_and_numbers_with_a_point_stay_what_they_are() -> None:
    @lean
    def same(value: Any) -> Any:
        return value

    @lean
    def both(numbers: Any) -> Any:
        return same(numbers[0]), same(1.5)

    largest = (1 << 64) - 1
    assert both(np.array([largest], np.uint64)) == (largest, 1.5)
    assert {args[0] for args in same.overloads} == {types.uint64, types.float64}


def test_what_only_compiled_code_calls_is_no_object_of_python() -> None:
    """The code that takes tables out of Python's objects costs more than most functions."""
    _sum_of_items(np.arange(4, dtype=np.int64))
    library = next(iter(_item.overloads.values())).library
    assert not any("cpython" in name or "cfunc" in name for name in map(str, library.get_defined_functions()))
