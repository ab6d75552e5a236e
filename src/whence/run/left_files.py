"""Files that a run has left in its working folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from whence.run.result import LeftFile

MOST_FILES, MOST_BYTES = 1000, 64 << 20  # that are looked at where no names are given
FILE_KEY = 1 << 39  # as in probe/runtime/library/stream.c


def left_files(folder: Path, names: Iterable[str] | None) -> dict[str, LeftFile]:
    """The files of these names in a folder, without those that are missing; None: all of them, or none of too many.

    What a link leads to is no file of the folder.
    """
    found, room = {}, MOST_BYTES
    for name in _names_below(folder) if names is None else names:
        left = _read(folder / name)
        if left is None:
            continue
        found[name] = left
        room -= len(left.content)
        if names is None and (room < 0 or len(found) > MOST_FILES):
            return {}
    return found


def _names_below(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            yield os.path.relpath(os.path.join(place, name), folder)  # noqa: PTH118 - a thousand of them


def _read(path: Path) -> LeftFile | None:
    """None where it is no file, or cannot be read. A pipe is not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            return None
        return LeftFile(file.read(), FILE_KEY | ((about.st_dev << 24 ^ about.st_ino) & (FILE_KEY - 1)))


def changed_files(given: Iterable[tuple[str, Path]], left: Mapping[str, LeftFile]) -> set[str]:
    """The names of files that a run has made, changed or removed, of all those that it was given and that it left.

    Nothing is known of a run that left none.
    """
    if not left:
        return set()
    before = dict(_contents(given))
    after = {name: file.content for name, file in left.items()}
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def _contents(given: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, bytes]]:
    for name, source in given:
        inside = _names_below(source) if source.is_dir() else [""]
        for place in inside:
            path = source / place if place else source
            with suppress(OSError):
                if path.is_file() and (not place or not path.is_symlink()):
                    yield os.path.normpath(f"{name}/{place}"), path.read_bytes()
