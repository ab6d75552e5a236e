"""Processes that tests start and end by signals."""

from __future__ import annotations

import signal
from pathlib import Path


def as_from_a_shell() -> None:
    """For ``preexec_fn``: signals end the process, though the tests themselves may run in the background."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def below(process: int) -> list[int]:
    """The processes that one has started, those that they have started, and so on, each after the one that did."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if fields := _fields(int(path.name)):
            children.setdefault(int(fields[1]), []).append(int(path.name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def lives(process: int) -> bool:
    """Whether a process has not ended."""
    fields = _fields(process)
    return bool(fields) and fields[0] != "Z"


def _fields(process: int) -> list[str]:
    """What the kernel tells of a process behind its name (state, parent, ...); nothing where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
