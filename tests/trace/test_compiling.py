"""The process that compiles: it is not left to hang, since others wait for its lock."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from whence.trace import compiling


def test_a_process_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "MOST", 1)
    kernel = SimpleNamespace(
        stats=SimpleNamespace(cache_path=str(tmp_path)),
        py_func=test_a_process_that_hangs_is_ended,
        compile=lambda given: time.sleep(100),
    )
    began = time.monotonic()
    compiling.compile_apart(kernel, (), lambda: False)
    assert 0.9 < time.monotonic() - began < 30
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
