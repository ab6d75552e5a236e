"""A copy of a test suite's folder in which its tests run as they would there.

Builds write the absolute path of their folder into what they make (Automake's makefiles, CTest's lists of tests), and
tests would run the user's program by it, in the user's folder. So text files that hold this path get that of the copy.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import cached_property
from pathlib import Path

HISTORY = shutil.ignore_patterns(".git", ".hg", ".svn")  # large, and no part of a program
LONGEST = 4 << 20  # bytes of a text file
HEAD = 1024  # bytes that tell whether it is one


class SuiteCopy:
    """Copies one folder, any number of times; what of it holds its own path is looked up once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = re.compile(re.escape(os.fsencode(folder)) + rb"(?![\w.-])")

    def make(self, target: Path, work: Path) -> None:
        """Copy the folder to ``target``, from where it is moved to ``work`` for the run."""
        shutil.copytree(self._folder, target, symlinks=True, dirs_exist_ok=True, ignore=HISTORY)
        for name in self._naming:
            self._move(target / name, work)

    def make_one(self, name: str, target: Path, work: Path) -> None:
        """Copy one file or link of it, as ``make`` does."""
        shutil.copy2(self._folder / name, target / name, follow_symlinks=False)
        if name in self._naming:
            self._move(target / name, work)

    def _move(self, place: Path, work: Path) -> None:
        """Let a file of the copy name the folder in which that is run."""
        times = place.stat()
        text = place.read_bytes()
        place.chmod(times.st_mode | 0o200)
        place.write_bytes(self._path.sub(lambda _: os.fsencode(work), text))
        place.chmod(times.st_mode)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))  # make must not think that anything has changed

    @cached_property
    def _naming(self) -> set[str]:
        """The text files that hold the folder's path."""
        found = set[str]()
        for place, folders, files in os.walk(self._folder):
            folders[:] = [name for name in folders if name not in HISTORY(place, folders)]
            paths = [Path(place, name) for name in files]
            found |= {str(path.relative_to(self._folder)) for path in paths if self._is_naming(path)}
        return found

    def _is_naming(self, path: Path) -> bool:
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST:
                return False
            text = path.read_bytes()
        except OSError:  # nor can it be copied, which is told then
            return False
        return b"\0" not in text[:HEAD] and self._path.search(text) is not None
