"""Run one command under a watchdog, and tell how it ended and what it left: ``python keeper.py JOB.json``.

The job names the words, folders, environment and patience, and the file for the answer. In name spaces of its own (see
``__main__.py``) this is process 1, so that every process of the command is one of its own, and ``/dev/shm`` is a file
system of its own; elsewhere it adopts orphans, and compares the names in ``/dev/shm``.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
MEMORY = Path("/dev/shm")
POLL, SAMPLE = 0.02, 0.5  # seconds
GRACE = 0.5  # seconds in which what has been told to end must be gone
LAST = 10.0  # seconds that a command has to end after a request
MOST = 10 << 30  # bytes of memory at which a command is ended


def keep(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job's command; returns what is known about it then."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getpid() == 1:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6g,mode=1777", "tmpfs", str(MEMORY)], check=True)
    known = set(MEMORY.glob("*"))
    answer = _run(job)
    answer["processes"] = _survivors()
    answer["memory"] = sorted(str(path) for path in MEMORY.glob("*") if path not in known)
    answer["shared_bytes"] = _shared() if os.getpid() == 1 else 0
    answer["temporary"] = sorted(str(path) for path in Path(job["environment"]["TMPDIR"]).rglob("*"))
    return answer


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """The command's status, seconds by the clock and of the processor, most memory, and why it was ended if it was."""
    with Path(job["stdout"]).open("wb") as out, Path(job["stderr"]).open("wb") as err:
        start = time.monotonic()
        child = subprocess.Popen(
            [os.fsencode(word) for word in job["words"]],
            cwd=job["folder"],
            env=job["environment"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        ended, most, sampled, status = "", 0, start, None
        while status is None:
            time.sleep(POLL)
            status = _reap(child.pid)
            now = time.monotonic()
            if status is None and now - sampled > SAMPLE:
                most, sampled = max(most, _resident() + _shared()), now
            why = "too long" if now - start > job["patience"] else "too much memory" if most > MOST else ""
            if why and not ended:
                ended, job["patience"] = why, now - start + LAST
                child.send_signal(signal.SIGTERM)
            elif ended and now - start > job["patience"]:
                ended += ", and not by SIGTERM"
                child.kill()
                status = _wait(child.pid)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = usage.ru_utime + usage.ru_stime
        return {"status": status, "seconds": now - start, "processor": used, "peak": most, "ended": ended}


def _reap(wanted: int) -> int | None:
    """Collect processes that have ended; the exit status of the one wanted, negative for a signal."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == wanted:
                return os.waitstatus_to_exitcode(found[1])
    except ChildProcessError:
        pass
    return None


def _wait(wanted: int) -> int:
    while (status := _reap(wanted)) is None:
        time.sleep(POLL)
    return status


def _processes() -> dict[int, list[str]]:
    """The processes below this one, or in its name space: fields of their ``stat``, from the state on."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            text = (place / "stat").read_text(errors="replace")
        except OSError:
            continue
        found[int(place.name)] = text.rpartition(")")[2].split()
    if os.getpid() != 1:
        below = {os.getpid()}
        while more := {pid for pid, fields in found.items() if int(fields[1]) in below} - below:
            below |= more
        found = {pid: fields for pid, fields in found.items() if pid in below}
    return {pid: fields for pid, fields in found.items() if pid != os.getpid()}


def _resident() -> int:
    """Bytes of memory of the processes, without what they share."""
    pages = 0
    for pid in _processes():
        try:
            fields = Path(f"/proc/{pid}/statm").read_text().split()
        except OSError:
            continue
        pages += int(fields[1]) - int(fields[2])
    return pages * os.sysconf("SC_PAGESIZE")


def _shared() -> int:
    """Bytes in the file system in memory, where that is our own."""
    room = os.statvfs(MEMORY)
    return (room.f_blocks - room.f_bfree) * room.f_frsize if os.getpid() == 1 else 0


def _survivors() -> list[str]:
    """The processes that are left, which are ended then."""
    until = time.monotonic() + GRACE
    while (left := _living()) and time.monotonic() < until:
        time.sleep(POLL)
    names = [f"{pid} {fields[0]} {_words(pid)}" for pid, fields in left.items()]
    while left := _living():
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        time.sleep(POLL)
    return names


def _living() -> dict[int, list[str]]:
    _reap(-1)
    return {pid: fields for pid, fields in _processes().items() if fields[0] not in "ZX"}


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return ""


if __name__ == "__main__":
    order = json.loads(Path(sys.argv[1]).read_text())
    Path(order["answer"]).write_text(json.dumps(keep(order)))
