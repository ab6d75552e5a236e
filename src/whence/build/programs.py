"""The programs below a folder: which there are, and which of them whence-cc has linked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from whence.build.records import read_records

SKIPPED = {".git", ".hg", ".svn", "CMakeFiles"}


def programs(folder: Path) -> Iterator[tuple[Path, int]]:
    """The executables below a folder, with the times of their last change in ns."""
    for path in files_below(folder):
        if os.access(path, os.X_OK) and path.is_file() and not path.is_symlink():
            yield path, path.stat().st_mtime_ns


def files_below(folder: Path) -> Iterator[Path]:
    """All that lies below a folder and is no folder, but for what tools keep for themselves."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        yield from (Path(place, name) for name in files)


def captured_modules(path: Path) -> int:
    """How many captured modules a program holds; 0 where it was not linked by whence-cc, or cannot be read."""
    try:
        with path.open("rb") as file:
            kinds = [record.kind for record in read_records(file)]
    except OSError:  # a program may be there to be run alone
        return 0
    return kinds.count("module") if "link" in kinds else 0
