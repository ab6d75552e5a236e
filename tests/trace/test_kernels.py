"""Compiled kernels are kept; what was damaged is compiled again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import empty, garble, truncate

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

print(total(10), total(10.0), sum(total.stats.cache_hits.values()))
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
