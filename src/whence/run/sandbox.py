"""Where cases run: a private folder in memory, an environment that never varies, limits, and a clean end.

All runs of a sandbox happen in one folder of a fixed path, ``<root>/work``, so that what a program prints
about its folder, or places on its stack, is the same in every run. The root's own path is
``whence-<user>-<nn>`` with the first number that no living process holds (a lock file tells), so it seldom
varies between sessions, and what a killed session left behind is cleared by the next one.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock

from whence.errors import SubjectError
from whence.trace.undisturbed import signals_deferred

MEMORY_FOLDER = Path("/dev/shm")
ROOM_WANTED = 256 << 20  # bytes that must be free in memory for the sandbox to live there
ROOM_NEEDED = 1 << 20  # with less than this a run's output may have been cut off
SWEEPS, SWEEP = 10, 0.05  # times that a folder is tried to be removed, and seconds between them
ENDED = "ZX"  # states of a process that runs no more, though its number is still taken
ROOTS_MAX = 1000  # a search keeps a session open for each case and worker

PINNED = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"}
UNSET = {"LC_ALL": "", "TZ": ":/etc/localtime"}  # values that mean the same as none, where a pinned one would hold
NOT_KEPT = re.compile(r"LD_|WHENCE_|MALLOC_|GLIBC_TUNABLES$|HOME$|PWD$|OLDPWD$|TMPDIR$|SHLVL$|_$")  # a run's own
MOST_PATTERN = 254  # the C library does not fill memory with 255


@dataclass(slots=True, frozen=True)
class Limits:
    """What one run may use: seconds, bytes of address space, bytes a file, processes, bytes of trace; 0 is no
    limit. ``pattern`` is what each byte of fresh memory holds; None: what happens to be there. ``aslr``: addresses
    differ from run to run, as the system has it; False: they are the same in all.
    """

    time: float = 10.0
    memory: int = 2 << 30
    output: int = 16 << 20
    processes: int = 256
    trace: int = 4 << 30
    pattern: int | None = None
    aslr: bool = False

    def variables(self) -> dict[str, str]:
        """The environment that fills fresh memory: the C library's, which the runtime of variants reads for the stack.

        The C library fills what it allocates with the complement of this byte, and does not for 0.
        """
        return {} if self.pattern is None else {"MALLOC_PERTURB_": str(self.pattern ^ 0xFF)}


DEFAULT_LIMITS = Limits()
NOT_FIXED = "its addresses differ from run to run, so two runs cannot be compared"
FIXED = "without --aslr all runs have the same addresses, and can be altered"
LAYOUTS = 20  # times that a case is run at other addresses until its verdict is the one that is looked for


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a run that is to have the user's environment; its folders stay its own."""
    return UNSET | {name: value for name, value in environment.items() if not NOT_KEPT.match(name)}


@dataclass(slots=True)
class Slot:
    """Files of one job in flight: where its output goes, and the folder that it gets or leaves behind."""

    stdout: Path
    stderr: Path
    spare: Path
    stdout_fd: int
    stderr_fd: int

    def output(self) -> tuple[bytes, bytes]:
        """Return what the run wrote to standard output and standard error."""
        self.stdout_fd = _still_there(self.stdout_fd, self.stdout)
        self.stderr_fd = _still_there(self.stderr_fd, self.stderr)
        return _read_all(self.stdout_fd), _read_all(self.stderr_fd)


def _still_there(fd: int, path: Path) -> int:
    """The descriptor, or one of the new file that a run has got after a program had removed the old one."""
    if os.fstat(fd).st_nlink or not path.exists():
        return fd
    os.close(fd)
    return _open_output(path)


def _open_output(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _read_all(fd: int) -> bytes:
    data = os.pread(fd, 1 << 16, 0)
    while part := os.pread(fd, 1 << 24, len(data)) if len(data) >= 1 << 16 else b"":
        data += part
    return data


class Sandbox:
    """The private folder of one runner. Close it, or use it in a ``with`` statement; it also goes at exit.

    Raises SubjectError when no folder can be made, or when the disk is full.
    """

    def __init__(self) -> None:
        self._slots: list[Slot] = []
        self._inputs: dict[bytes, Path] = {}
        self._closing = RLock()
        self.root, self._lock = Path(), -1
        _OPEN.add(self)
        self.work = self.root / "work"
        with self.full_disk_is_clear():
            self.work.mkdir(0o700)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder with all that is in it; who else is about it is waited for.

        Where that is interrupted it goes on at exit: no descriptor is closed twice, and no folder removed whose number
        somebody else has got since.
        """
        with self._closing:
            with signals_deferred():
                for slot in self._slots:
                    os.close(slot.stdout_fd)
                    os.close(slot.stderr_fd)
                self._slots.clear()
            if self._lock >= 0:
                with contextlib.suppress(OSError):  # what is left is cleared by who gets the same number next
                    remove_tree(self.root)
                with signals_deferred():
                    Path(f"{self.root}.lock").unlink(missing_ok=True)
                    os.close(self._lock)
                    self._lock = -1
        _OPEN.discard(self)

    def slots(self, count: int) -> list[Slot]:
        """Return the first ``count`` slots, making those that are missing."""
        with self.full_disk_is_clear():
            while len(self._slots) < count:
                self._slots.append(self._new_slot(len(self._slots)))
        return self._slots[:count]

    def _new_slot(self, number: int) -> Slot:
        # Names of one length: a program without a server gets one in its environment, which lies above its stack.
        paths = [self.root / f"{number:03}.{kind}" for kind in ("out", "err", "spare")]
        fds = [_open_output(path) for path in paths[:2]]
        return Slot(paths[0], paths[1], paths[2], fds[0], fds[1])

    def clear(self) -> None:
        """An empty working folder and no spare ones, after runs that have not come to their end; nothing once closed.

        What such a run had begun may be tidied up as late as that.
        """
        if self._lock < 0:
            return
        with self.full_disk_is_clear():
            for path in (self.work, *(slot.spare for slot in self._slots)):
                remove_tree(path)
            self.root.mkdir(0o700, exist_ok=True)  # which a program can remove as well
            self.work.mkdir(0o700)

    def input_path(self, data: bytes) -> Path:
        """Return a file that holds these bytes; equal inputs share one."""
        if not data:
            return Path(os.devnull)
        if data not in self._inputs:
            path = self.root / f"{len(self._inputs)}.in"
            with self.full_disk_is_clear():
                path.write_bytes(data)
            self._inputs[data] = path
        return self._inputs[data]

    def new_path(self, name: str) -> Path:
        """Return a path in the sandbox that does not exist."""
        path = self.root / name
        path.unlink(missing_ok=True)
        return path

    def prepare(self, slot: Slot, fill: Callable[[Path], None]) -> None:
        """Make the slot's spare folder and fill it. Raises SubjectError when a file cannot be copied."""
        try:
            with self.full_disk_is_clear():
                remove_tree(slot.spare)
                slot.spare.mkdir(0o700)
                fill(slot.spare)
        except OSError as error:
            raise SubjectError(f"cannot copy the files of a case: {error}") from error

    def environment(self, own: Mapping[str, str]) -> list[bytes]:
        """Return the variables of a run: the pinned ones, then the user's own, as ``NAME=value``."""
        work = str(self.work)
        variables = {**PINNED, "HOME": work, "PWD": work, "TMPDIR": work, **own}
        return [os.fsencode(f"{name}={value}") for name, value in variables.items()]

    def check_room(self) -> None:
        """Raise SubjectError when the disk is so full that outputs may have been cut off."""
        room = os.statvfs(self.root)
        if room.f_bavail * room.f_frsize < ROOM_NEEDED:
            raise self.full_disk()

    @contextlib.contextmanager
    def full_disk_is_clear(self) -> Iterator[None]:
        """Turn "no space left" into an error that says where, and what to do."""
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise self.full_disk() from error

    def full_disk(self) -> SubjectError:
        """Return the error to raise when the disk is full."""
        return SubjectError(
            f"no space left in {self.root.parent}, where the cases run",
            "free some space there, or name a folder with room in TMPDIR",
        )


class _Open:
    """The sandboxes of this process, which go at its exit. Threads may go on then: they get no new ones."""

    def __init__(self) -> None:
        self._boxes: set[Sandbox] = set()
        self._turn = Lock()
        self._is_over = False
        atexit.register(self._end)

    def add(self, box: Sandbox) -> None:
        """Give a sandbox its root folder, and its lock's descriptor, of which nobody who was interrupted would know."""
        with signals_deferred(), self._turn:
            if self._is_over:
                raise SubjectError("no folder for runs is made any more: the command ends")
            box.root, box._lock = _claim_root()
            self._boxes.add(box)

    def discard(self, box: Sandbox) -> None:
        """A sandbox that is gone."""
        with self._turn:
            self._boxes.discard(box)

    def _end(self) -> None:
        with self._turn:
            self._is_over = True
            boxes = list(self._boxes)
        for box in boxes:
            box.close()


_OPEN = _Open()


# ---- The root folder -------------------------------------------------------------------------------------------------


def choose_base() -> Path:
    """Return the folder for sandboxes: memory when it has room and programs may run there, else TMPDIR."""
    with contextlib.suppress(OSError):
        room = os.statvfs(MEMORY_FOLDER)
        roomy = room.f_bavail * room.f_frsize >= ROOM_WANTED
        if roomy and not room.f_flag & os.ST_NOEXEC and os.access(MEMORY_FOLDER, os.W_OK | os.X_OK):
            return MEMORY_FOLDER
    return Path(tempfile.gettempdir())


def _claim_root() -> tuple[Path, int]:
    """Lock and empty the first free root folder; returns it with the lock's descriptor."""
    base = choose_base()
    for number in range(ROOTS_MAX):
        root = base / f"whence-{os.getuid()}-{number:03}"
        lock = _try_lock(Path(f"{root}.lock"))
        if lock is None:
            continue
        try:
            os.truncate(lock, 0)
            os.write(lock, b"%d" % os.getpid())
            remove_tree(root)
            root.mkdir(0o700)
        except OSError as error:
            os.close(lock)
            raise SubjectError(f"cannot make the folder {root}: {error.strerror}") from error
        return root, lock
    raise SubjectError(f"cannot make a folder for the runs in {base}", "name another folder in TMPDIR")


def _try_lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock, or None when another process does."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_ino == path.stat().st_ino:  # else its holder has just removed it
            return fd
    os.close(fd)
    return None


def sweep() -> None:
    """Remove the folders that processes which have been killed had no time to remove."""
    for place in choose_base().glob(f"whence-{os.getuid()}-*.lock"):
        lock = _lock_of_killed(place)
        if lock is None:
            continue
        for _ in range(SWEEPS):  # the last runs in it may be ending at this moment
            with contextlib.suppress(OSError):
                remove_tree(place.with_suffix(""))
                place.unlink(missing_ok=True)
                break
            time.sleep(SWEEP)
        os.close(lock)


def _lock_of_killed(path: Path) -> int | None:
    """Return a descriptor that holds the lock of a process that is gone, or None where another one holds it.

    What a process was about to start when it was killed holds its lock for a moment more.
    """
    for _ in range(SWEEPS):
        lock = _try_lock(path)
        if lock is not None or _is_owned(path):
            return lock
        time.sleep(SWEEP)
    return None


def _is_owned(path: Path) -> bool:
    """Whether the process that has written its number into a lock runs; one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{int(path.read_text())}/stat").read_text(errors="replace")
    except (OSError, ValueError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ENDED


def remove_tree(path: Path) -> None:
    """Remove a folder, or what a program has put in its place, whatever it has done to the permissions in it.

    One that is missing is fine. Raises OSError where it cannot be removed.
    """
    try:
        about = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(about.st_mode):
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        _remove_anyhow(path)


def _remove_anyhow(path: Path) -> None:
    """Remove a folder with closed folders in it, or with more levels than Python can descend."""
    for command in (["chmod", "-R", "u+rwx", "--", str(path)], ["rm", "-rf", "--", str(path)]):
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if path.exists():
        raise OSError(errno.ENOTEMPTY, "cannot be removed", str(path))


def copy_files(files: Iterable[tuple[str, Path]], target: Path) -> None:
    """Copy files and folders into ``target`` under their relative names, with their modes and times.

    A link that leads nowhere here, as one into the folder that a case was captured in, is copied as a link.
    """
    made = {target}
    for name, source in files:
        place = target / name
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        if source.is_dir():
            shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, place, follow_symlinks=source.exists())
