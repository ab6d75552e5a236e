"""Copies of folders, brought back to what they were."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.run.brought_back import bring_back, state_of

NAMES = ["a", "b", "d/a", "d/b", "d/e/a", "x", "x/y"]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["write", "same", "remove", "folder", "link", "mode"]), st.sampled_from(NAMES))
)


def filled(folder: Path) -> Path:
    """A folder with files, folders and a link."""
    (folder / "d/e").mkdir(parents=True)
    for name in ("a", "d/a", "d/e/a"):
        (folder / name).write_text(name)
    (folder / "b").symlink_to("a")
    os.utime(folder / "a", ns=(10**18, 10**18))
    return folder


def shown(folder: Path) -> dict[str, object]:
    """All that is in a folder, with contents, modes and times of change."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        text = str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (about.st_mode, text, 0 if path.is_symlink() else about.st_mtime_ns)
    return found


def change(folder: Path, how: str, name: str) -> None:
    """What a program may do to a name."""
    path = folder / name
    if not path.parent.is_dir() or path.parent.is_symlink():
        return
    is_file = path.is_file() or path.is_symlink()
    if how in ("remove", "folder", "link") and (is_file or path.is_dir()):
        path.unlink() if is_file else shutil.rmtree(path)
    if how == "folder" and not path.exists():
        path.mkdir()
    elif how == "link" and not os.path.lexists(path):
        path.symlink_to("nowhere")
    elif how == "write" and not path.is_dir():
        path.write_text("other")
    elif how == "same" and path.is_file():
        path.write_text(path.read_text())
    elif how == "mode" and path.is_file():
        path.chmod(0o600)


@settings(max_examples=60, deadline=None)
@given(CHANGES)
def test_whatever_was_done_is_undone(tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str]]) -> None:
    base = tmp_path_factory.mktemp("brought")
    right, copy = filled(base / "right"), base / "copy"
    shutil.copytree(right, copy, symlinks=True)
    before, known = state_of(copy), shown(copy)
    for how, name in changes:
        change(copy, how, name)

    def put(name: str) -> None:
        shutil.copy2(right / name, copy / name, follow_symlinks=False)

    after = bring_back(copy, before, put)
    assert shown(copy) == known
    assert after == state_of(copy)


def test_only_what_has_changed_is_copied(tmp_path: Path) -> None:
    right, copy = filled(tmp_path / "right"), tmp_path / "copy"
    shutil.copytree(right, copy, symlinks=True)
    before, copied = state_of(copy), list[str]()
    (copy / "d/a").write_text("d/a")  # what it was; but it was written
    os.utime(copy / "d/a", ns=(before["d/a"][-1], before["d/a"][-1]))

    def put(name: str) -> None:
        copied.append(name)
        shutil.copy2(right / name, copy / name, follow_symlinks=False)

    bring_back(copy, before, put)
    assert copied == ["d/a"]


def test_another_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    copy = filled(tmp_path / "copy")
    before = state_of(copy)
    copy.rename(tmp_path / "away")
    filled(copy)
    with pytest.raises(OSError, match="is another folder"):
        bring_back(copy, before, lambda name: None)
