"""Folders that building needs for a moment. A killed process leaves its own: whoever waits for it removes them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def scratch(purpose: str) -> tempfile.TemporaryDirectory[str]:
    """An empty folder that tells in its name which process it belongs to; used with ``with``, or cleaned up."""
    return tempfile.TemporaryDirectory(prefix=f"{_prefix(os.getpid())}{purpose}-", ignore_cleanup_errors=True)


def remove_scratch(process: int) -> None:
    """Remove the folders of a process of this user that has been killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix(process)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(process: int) -> str:
    return f"whence-{process}-"
