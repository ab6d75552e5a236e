"""A copy of a folder in which a test has run, brought back to what it was, by what has changed in it since.

A suite's folder may hold thousands of files, of which a test touches a few: to copy them all anew for each test takes
most of its time. What a program did to a file shows in the time at which its status changed last (``st_ctime``), which
no program can set.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from whence.run.sandbox import remove_tree

Stamp = tuple[int, ...]
State = dict[str, Stamp]  # of all that is in a folder, by its path there


def state_of(folder: Path) -> State:
    """What is in a folder, each with what tells whether it has changed. Raises OSError where it cannot be read."""
    found: State = {"": _stamp(folder.lstat())}
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                name, about = os.path.join(inside, entry.name), entry.stat(follow_symlinks=False)  # noqa: PTH118
                found[name] = _stamp(about)
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(name)
    return found


def bring_back(folder: Path, before: State, copy: Callable[[str], None]) -> State:
    """Let a folder hold again what it held; ``copy`` puts the file or link with a path there. Returns its state then.

    Raises OSError where that is not possible.
    """
    now = state_of(folder)
    if now[""][1] != before[""][1]:
        raise OSError(f"{folder} is another folder")
    folder.chmod(stat.S_IMODE(before[""][0]))
    lost = [name for name in sorted(now.keys() - {""}) if _as_folder(now[name]) != _as_folder(before.get(name, ()))]
    for name in lost:  # what is new, and what has become a folder or is one no more
        remove_tree(folder / name)
    now = state_of(folder) if lost else now
    changed = [name for name in sorted(before) if now.get(name) != before[name]]
    for name in changed:
        place, is_folder = folder / name, stat.S_ISDIR(before[name][0])
        if is_folder and name not in now:
            place.mkdir()
            place.chmod(stat.S_IMODE(before[name][0]))
        elif not is_folder:
            place.unlink(missing_ok=True)
            copy(name)
    touched = {*changed, *(os.path.dirname(name) for name in changed)}  # noqa: PTH120 (paths of a state)
    for name in touched:  # behind what was put into them
        if stat.S_ISDIR(before[name][0]):
            os.utime(folder / name, ns=(before[name][-1], before[name][-1]))
    return {**before, **{name: _stamp((folder / name).lstat()) for name in touched}}


def _as_folder(stamp: Stamp) -> Stamp:
    """What a folder must be to be the same one; of others that they are there, and none."""
    return stamp[:2] if stamp and stat.S_ISDIR(stamp[0]) else stamp[:0] if stamp else (-1,)


def _stamp(about: os.stat_result) -> Stamp:
    if stat.S_ISDIR(about.st_mode):
        return about.st_mode, about.st_ino, about.st_mtime_ns
    return about.st_mode, about.st_ino, about.st_size, about.st_ctime_ns
