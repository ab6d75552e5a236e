"""The process that compiles: it is not left to hang, since others wait for its lock."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from whence.trace import compiling
from whence.trace.compiling import lay_kernels


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


def test_kernels_are_kept_with_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    assert compiling.kernels_folder() == tmp_path / "home" / "kernels"
    monkeypatch.delenv("WHENCE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling.sys, "prefix", str(tmp_path))
    assert compiling.kernels_folder() == tmp_path / "var" / "whence" / "kernels"
    monkeypatch.setattr(compiling.sys, "base_prefix", str(tmp_path))  # no virtual environment
    assert compiling.kernels_folder() == tmp_path / "cache" / "whence" / "kernels"


def test_no_kernels_are_kept_where_the_environment_is_none_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WHENCE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling.sys, "prefix", str(tmp_path / "gone"))
    assert compiling.kernels_folder() == tmp_path / "cache" / "whence" / "kernels"


def test_kernels_of_the_installation_are_laid_into_the_cache_of_the_tests(tmp_path: Path) -> None:
    installed, own = tmp_path / "installed", tmp_path / "own" / "kernels"
    lay_kernels(installed, own)
    assert not own.parent.exists()
    (installed / "hash").mkdir(parents=True)
    for name in ("a.nbc", "a.lock"):
        (installed / "hash" / name).write_text(name)
    lay_kernels(installed, own)
    lay_kernels(installed, own)
    assert [path.relative_to(own.parent) for path in own.parent.rglob("*.*")] == [Path("kernels/hash/a.nbc")]


def test_kernels_that_a_wheel_brings_are_unpacked_and_a_damaged_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.nbc").write_text("code")
    archive, own = tmp_path / "hash.tar.xz", tmp_path / "kernels" / "hash"
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(tmp_path / "a.nbc", "trace/a.nbc")
    whole = archive.read_bytes()
    for damaged in (whole[:40], b"no archive"):
        archive.write_bytes(damaged)
        with pytest.raises(OSError, match="is damaged"):
            lay_kernels(archive, own)
        assert list(own.parent.iterdir()) == []
    archive.write_bytes(whole)
    lay_kernels(archive, own)
    assert (own / "trace/a.nbc").read_text() == "code"
