"""Files that a right run would ask for, where the captured one went wrong before it came to that.

Of an invocation those files are kept that its program named. One that went wrong may have ended before it opened what
its input tells it to open, and a program that is mended would find nothing there. So those files of the suite are kept
as well that lie where it ran, and whose names stand in what it was given.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from whence.run.invocations import Invocation
from whence.run.suite_copy import HISTORY

MOST, MOST_FOLDERS, LARGEST = 64, 500, 1 << 20  # files, folders that are looked at, bytes of a file
WORD = re.compile(rb"[\w.+-]+")


def named_files(invocation: Invocation, work: Path, folder: Path) -> list[tuple[str, Path]]:
    """The files of the suite's ``folder``, of which ``work`` was the copy, that lie below the one where an invocation
    began and are named in its words, its standard input or the files that it read: names from the folder on, and paths.

    Those that it named itself are not among them.
    """
    inside = os.path.relpath(invocation.folder, work)
    if inside.startswith(os.pardir):
        return []
    names, known = _names(invocation), {*invocation.files, *invocation.written}
    found: list[tuple[str, Path]] = []
    for number, (place, folders, files) in enumerate(os.walk(folder / inside)):
        folders[:] = sorted(set(folders) - set(HISTORY(place, folders)))
        for path in (Path(place, name) for name in sorted(files) if os.fsencode(name) in names):
            name = os.path.relpath(path, folder)
            if str(work / name) not in known and _is_usable(path, folder):
                found.append((name, path))
        if number >= MOST_FOLDERS or len(found) >= MOST:
            break
    return found[:MOST]


def _is_usable(path: Path, folder: Path) -> bool:
    """Whether a file is small, and does not hold the folder's own path, by which a run would leave its copy."""
    if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
        return False
    return os.fsencode(folder) not in path.read_bytes()


def _names(invocation: Invocation) -> set[bytes]:
    """All that may be the name of a file in what an invocation was given."""
    given = [*map(os.fsencode, invocation.words[1:]), invocation.stdin[:LARGEST]]
    for copy in invocation.files.values():
        with copy.open("rb") as file:
            given.append(file.read(LARGEST))
    return {word for text in given for word in WORD.findall(text)}
