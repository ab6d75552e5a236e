"""Ctrl-C, SIGTERM and SIGHUP at several moments of ``whence locate``: children ended, temporary files gone.

What has been found by then is shown.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import as_from_a_shell

from whence.build.toolchain import whence_home

SOURCE = """
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    usleep(400000);
    printf("%d %s\\n", argc, argv[0] ? "x" : "");
    return 0;
}
"""
PATIENCE = 120.0  # seconds, on a busy machine


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home of its own, which shares the compiled runtime and kernels."""
    folder = tmp_path_factory.mktemp("interrupt")
    (folder / "home").mkdir()
    for name in ("objects", "kernels"):
        shared = Path(whence_home()) / name
        shared.mkdir(parents=True, exist_ok=True)
        (folder / "home" / name).symlink_to(shared)
    (folder / "tmp").mkdir()
    (folder / "slow.c").write_text(SOURCE)
    return folder


@pytest.fixture
def session(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    own = {"WHENCE_HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
    program = "import sys; from whence.cli import main; sys.argv[0] = 'whence'; main()"
    words = [sys.executable, "-c", program, "locate", "slow.c", "--fails", "1", "--expect", "y"]
    process = subprocess.Popen(
        words,
        cwd=place,
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=as_from_a_shell,
    )
    yield process
    process.kill()
    process.communicate()


# ---- Moments ---------------------------------------------------------------------------------------------------------

Stat = tuple[int, str]  # process and its start, which tells it from a later one of the same number


def processes() -> dict[Stat, tuple[int, str]]:
    """Parent and command line of every process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(folder.name), fields[19]] = (int(fields[1]), words)
    return found


def descendants(top: int) -> dict[Stat, str]:
    """All processes below one, with their command lines."""
    everything = processes()
    found: dict[Stat, str] = {}
    tops = {top}
    while True:
        more = {p: w for p, (parent, w) in everything.items() if parent in tops and p not in found}
        if not more:
            return found
        found |= more
        tops |= {pid for pid, _ in more}


def open_files(pid: int) -> list[Path]:
    """The descriptors of a process, as links."""
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def sandboxes(pid: int) -> dict[Path, int]:
    """Folders that a process or one that it has started holds locked for its runs, with their inodes."""
    found = {}
    links = [link for one in (pid, *(p for p, _ in descendants(pid))) for link in open_files(one)]
    for link in links:
        try:
            target = link.readlink()
            if target.name.startswith("whence-") and target.suffix == ".lock":
                found[target.with_suffix("")] = target.with_suffix("").stat().st_ino
        except OSError:
            continue
    return found


def compiling(pid: int) -> bool:
    return any("zig" in words for words in descendants(pid).values())


def running(pid: int) -> bool:
    work = {str(root / "work") for root in sandboxes(pid)}
    for child, _ in descendants(pid):
        try:
            if str(Path(f"/proc/{child}/cwd").readlink()) in work:
                return True
        except OSError:
            continue
    return False


def recording(pid: int) -> bool:
    try:
        return any(list(root.glob("trace*")) for root in sandboxes(pid))
    except OSError:  # a sandbox that has just gone
        return False


def starting(pid: int) -> bool:
    """Python has set up its handlers: from there on Ctrl-C is an exception."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = int(next(line for line in lines if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught & 1 << (signal.SIGTERM - 1))


def await_moment(process: subprocess.Popen[bytes], reached: Callable[[int], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached(process.pid):
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "moment, number",
    [
        (starting, signal.SIGINT),
        (compiling, signal.SIGINT),
        (running, signal.SIGINT),
        (running, signal.SIGTERM),
        (running, signal.SIGHUP),
        (compiling, signal.SIGTERM),
        (recording, signal.SIGINT),
        (recording, signal.SIGTERM),
    ],
)
def test_nothing_is_left(
    place: Path, session: subprocess.Popen[bytes], moment: Callable[[int], bool], number: signal.Signals
) -> None:
    await_moment(session, moment)
    children, folders = descendants(session.pid), sandboxes(session.pid)
    if number is signal.SIGINT:
        os.killpg(session.pid, number)  # as a terminal does
    else:
        session.send_signal(number)
    output, errors = session.communicate(timeout=PATIENCE)
    if b"most suspicious statements" in output:  # there was a ranking already
        assert session.returncode == 0 and b"interrupted" in output
    else:
        assert session.returncode == 128 + number
        assert errors.decode().strip().splitlines()[-1].startswith(("whence: interrupted", "whence: nothing was found"))
    assert "Traceback" not in errors.decode()
    deadline = time.monotonic() + PATIENCE
    while (left := children.keys() & processes().keys()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left
    for root, inode in folders.items():
        assert not root.exists() or root.stat().st_ino != inode
    assert not list((place / "tmp").iterdir())
    temporary = place / "home/tmp"
    assert not temporary.exists() or not list(temporary.iterdir())
