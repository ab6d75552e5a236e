"""Compiling at the first use, by a process that goes on when the command that began it has ended.

Nothing interrupts compiling once it has begun, and half of a kernel is of no use. A command waits for that process, so
its time is kept, it can be stopped, and its next steps or the next command find what has been compiled since then.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whence.build.toolchain import whence_home

PACKAGE = Path(__file__).resolve().parents[1]
KEPT = "kernels"  # the folder for what has been compiled
LOOK = 0.02  # seconds between two looks whether it has been done
WHILE_COMPILING = "while the analysis was compiled at its first use"
MOST = 900  # seconds after which a process that compiles is ended: who waits for its lock must not wait for ever

Told = Callable[[bool], None]  # called when waiting begins (True), and when the kernel is there (False)


class Waiting:
    """Who is told that the analysis is being compiled, and what else is begun with once one has to wait for a kernel.

    What lacks one kernel lacks most of them: commands whose time ends as they wait would get one further each.
    """

    told: Told = staticmethod(lambda begins: None)
    rest: Callable[[], object] | None = None


def kernels_folder() -> Path:
    """Where compiled kernels are kept: in the virtual environment, so that whoever uses it finds them.

    They are those of its interpreter and packages, and go with it. Where ``$WHENCE_HOME`` is set, or the environment is
    none of ours to write to, they are kept in Whence's own folder.
    """
    is_own = sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK)
    if is_own and not os.environ.get("WHENCE_HOME"):
        return Path(sys.prefix, "var", "whence", KEPT)
    return Path(whence_home(), KEPT)


def shipped_kernels() -> Path:
    """Where a wheel brings compiled kernels along, if it does: archives by what they were compiled of
    (``hatch_build.py``).
    """
    return PACKAGE / KEPT


def lay_kernels(installed: Path, own: Path) -> None:
    """Copy what was compiled before (a folder, or an archive of it) to where kernels are kept from now on.

    Nothing is copied where something is there.

    Another process may do so at the same time. Raises OSError where the copy cannot be written or read.
    """
    if own.exists() or not installed.exists():
        return
    own.parent.mkdir(parents=True, exist_ok=True)
    half = own.with_name(f"{own.name}.{os.getpid()}")
    if installed.is_dir():
        shutil.copytree(installed, half, ignore=shutil.ignore_patterns("*.lock"))
    else:
        _unpack(installed, half)
    try:
        half.rename(own)
    except OSError:  # the other process was first
        shutil.rmtree(half)


def _unpack(archive: Path, into: Path) -> None:
    """Unpack an archive that a wheel brought. Raises OSError where it is damaged."""
    import lzma
    import tarfile  # which takes as long to import as all the rest, and is needed once

    try:
        with tarfile.open(archive) as packed:
            packed.extractall(into, filter="data")
    except (tarfile.TarError, EOFError, lzma.LZMAError) as error:
        shutil.rmtree(into, ignore_errors=True)
        raise OSError(f"{archive} is damaged: {error}") from error


def is_first_use() -> bool:
    """Whether nothing has ever been compiled for this installation; asked for without loading numba."""
    return not kernels_folder().exists() and not shipped_kernels().exists()


def compile_apart(kernel: Any, given: tuple[Any, ...], is_done: Callable[[], bool]) -> None:
    """Wait until another process has compiled and kept a kernel (numba's object) for arguments of these types.

    Where that failed nothing is kept, and the caller gets the error when it compiles the kernel itself. What is raised
    while it waits (its time is up, it is stopped) leaves that process to its work. Another one begins with
    ``Waiting.rest``, at the first wait, since the command may be ended by force.
    """

    def work() -> None:
        with _turn(Path(kernel.stats.cache_path), kernel.py_func.__qualname__):
            if not is_done():
                kernel.compile(given)

    child = leave_to_another_process(work)
    if rest := Waiting.rest:
        Waiting.rest = None
        leave_to_another_process(rest)
    Waiting.told(True)
    try:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(LOOK)
    except KeyboardInterrupt as stop:
        stop.add_note(WHILE_COMPILING)
        raise
    Waiting.told(False)


def leave_to_another_process(work: Callable[[], object]) -> int:
    """Have something done by a process that goes on when this one ends, for MOST seconds; its number.

    It has nothing that somebody waits for the end of: no pipe, terminal or group.
    """
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(MOST)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        Waiting.told = staticmethod(lambda begins: None)  # who was told is told by the process that it is
        Waiting.rest = None
        gc.disable()  # it keeps nearly all that it makes until it ends: looking for garbage is a seventh of its time
        work()
    finally:
        os._exit(0)


def _turn(folder: Path, name: str) -> Any:
    """A file that is locked while a process compiles a kernel: another one that wants it waits, as it may be long."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / f"{name}.lock").open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
