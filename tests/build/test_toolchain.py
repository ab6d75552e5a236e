from pathlib import Path

import pytest

from whence.build.store import Store
from whence.build.toolchain import Toolchain, find_toolchain, whence_home
from whence.errors import BuildError


def fake_clang(folder: Path, says: str) -> Path:
    path = folder / "clang-x"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_the_bundled_compiler_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHENCE_CLANG", raising=False)
    toolchain = find_toolchain()
    assert Path(toolchain.command[0]).name == "zig"
    assert toolchain.version.startswith("22.")
    toolchain.check()
    assert repr(toolchain) == repr(find_toolchain())  # others make keys of it


def test_a_clang_by_path_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_clang(tmp_path, "Debian clang version 16.0.6 (15)")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("WHENCE_CLANG", "clang-x")
    toolchain = find_toolchain()
    assert (toolchain.kind, toolchain.command, toolchain.version) == ("clang", (str(path),), "16.0.6")
    toolchain.check()
    assert find_toolchain("zig").kind == "zig"
    assert find_toolchain(str(path)).command == (str(path),)


@pytest.mark.parametrize("says", ["clang version 14.0.0", "clang version 23.1"])
def test_a_clang_that_llvm_cannot_read(tmp_path: Path, says: str) -> None:
    with pytest.raises(BuildError, match="needs clang 15 to 22"):
        find_toolchain(str(fake_clang(tmp_path, says))).check()


def test_something_else_than_a_clang(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="is not a clang"):
        find_toolchain(str(fake_clang(tmp_path, "gcc 12"))).check()
    with pytest.raises(BuildError, match="no compiler 'nowhere-clang'"):
        find_toolchain("nowhere-clang")
    with pytest.raises(BuildError, match="cannot be run"):
        Toolchain("clang", (str(tmp_path / "gone"),)).check()


def test_home_and_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path))
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    assert whence_home() == str(tmp_path)
    assert find_toolchain("zig").environment()["ZIG_GLOBAL_CACHE_DIR"] == str(tmp_path / "zig")
    monkeypatch.delenv("WHENCE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert Store().root == "/cache/whence/store"


def test_store_names_by_content_and_writes_at_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    temporary = Path(store.temporary(".bc"))
    temporary.write_bytes(b"abc")
    digest = store.adopt_bitcode(str(temporary))
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert Path(store.bitcode(digest)).read_bytes() == b"abc"
    entry = {"source": "a\udcff.c", "arguments": ["x y"]}
    store.write_entry("captures", digest, entry)
    assert store.read_entry("captures", digest) == entry
    assert list((tmp_path / "store" / "tmp").iterdir()) == []
    with pytest.raises(FileNotFoundError):
        store.read_entry("links", digest)
