"""What git knows of the files below a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

from whence.errors import UsageError


def changed_since(folder: Path, since: str, *patterns: str) -> dict[str, bytes]:
    """The files of these patterns below the folder that were changed since a version, with what they were then.

    Files that were added or removed since then are not among them. Raises UsageError where git cannot tell.
    """
    short_revision(folder, since)  # which is no option
    words = ("diff", "--name-only", "-z", "--relative", "--diff-filter=M", since, "--", *patterns)
    names = [name for name in git(folder, *words).decode(errors="surrogateescape").split("\0") if name]
    return {name: git(folder, "show", f"{since}:./{name}") for name in names}


def short_revision(folder: Path, since: str) -> str:
    """The short hash of a version. Raises UsageError where there is none."""
    return git(folder, "rev-parse", "--verify", "--short", "--end-of-options", since).decode().strip()


def git(folder: Path, *words: str) -> bytes:
    """What a command of git prints. Raises UsageError where git is not there, or refuses it."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except OSError as error:
        raise UsageError("git is needed to see what was changed", "it is not installed") from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"git cannot tell what was changed: {reason[0] if reason else 'no reason given'}")
    return done.stdout
