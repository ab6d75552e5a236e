"""The fork server for programs that hold none: plain executables, and the commands of test suites.

The twin of ``probe/runtime/server/server.c``: the same protocol, limits, process groups and clean-up, with an exec
in the child. It runs in an interpreter of its own that has imported next to nothing, because the cost of a
fork grows with the memory of the process that forks.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH114, PTH208

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from pathlib import Path

from whence.run import protocol
from whence.run.confinement import confine
from whence.run.parent import end_with_parent
from whence.run.protocol import Job, Reply

PR_SET_CHILD_SUBREAPER = 36
WATCH_MS = 20
MOST_WAITING, SLEEPING, LITTLE = 10, 20, 0.75  # as in server/processes.c
CPUCLOCK_SCHED = 2  # of the number that the system has for a process' clock of processor time
REAP_TRIES = 1000
OWN_MEMORY = 128 << 20  # address space for the recorder, as in server/child.c
TRACE_HEADER = 4096
FAILURE = struct.Struct("<ii")
INTERPRETERS_OWN = (signal.SIGPIPE, signal.SIGINT, signal.SIGXFSZ)  # Python has chosen what they do

_prctl = ctypes.CDLL(None).prctl


def main() -> None:
    """Serve jobs from the socket ``argv[1]`` by running the executable ``argv[2]``, until the socket is
    closed.
    """
    _default_signals()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    _supervise(control)
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with contextlib.suppress(OSError):  # where allowed: it must get its turn among thousands of a fork bomb's processes
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        control.sendall(protocol.HELLO.pack(protocol.MAGIC, protocol.VERSION, 0, 0))
        while (header := _receive(control, 4)) is not None:
            length = int.from_bytes(header, "little")
            job = protocol.decode(header + (_receive(control, length - 4) or b""))
            control.sendall(_run_job(control, os.fsencode(sys.argv[2]), job).encode())


def _default_signals() -> None:
    """A program starts as from a shell, whatever Whence was told to ignore (under nohup, or in the background)."""
    for number in signal.valid_signals() - set(INTERPRETERS_OWN):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _supervise(control: socket.socket) -> None:
    """Go on in a child, the server. A program may kill or stop that, its parent; this process, which it does not know,
    is there to end what has been left behind then, and to let it go on.
    """
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        end_with_parent()
        return
    control.close()
    while os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]):
        os.kill(child, signal.SIGCONT)
    _reap_orphans()
    os._exit(0)


def _receive(control: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            return None
        data += part
    return data


def _run_job(control: socket.socket, executable: bytes, job: Job) -> Reply:
    reply = Reply(job.id)
    try:
        if job.flags & protocol.PREPARED:
            os.rename(job.paths.spare, job.paths.work)
        start = time.monotonic_ns()
        pid = _fork(executable, job, reply)
        reply.flags |= _await_end(control, pid, job)
        reply.wall_us = (time.monotonic_ns() - start) // 1000
        _collect(pid, reply)
        reply.flags |= _leave_folder(job)
    except OSError as error:
        reply.error = error.errno or 0
        reply.stage = reply.stage or protocol.AT_FOLDER
    return reply


# ---- The child -------------------------------------------------------------------------------------------------------


def _fork(executable: bytes, job: Job, reply: Reply) -> int:
    """Start the program; returns its process. A set-up that failed is told in the reply."""
    read_end, write_end = os.pipe()  # closed by a successful exec
    pid = os.fork()
    if pid == 0:
        _run_child(executable, job, write_end)
    os.close(write_end)
    message = os.read(read_end, FAILURE.size)
    os.close(read_end)
    if message:
        reply.error, reply.stage = FAILURE.unpack(message)
    return pid


def _run_child(executable: bytes, job: Job, failure: int) -> None:
    stage = protocol.AT_FOLDER
    try:
        os.setsid()
        end_with_parent()
        os.chdir(job.paths.work + b"/" + job.paths.start)
        new_file = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        for stage, path, flags in (
            (protocol.AT_INPUT, job.paths.stdin, os.O_RDONLY),
            (protocol.AT_OUTPUT, job.paths.stdout, new_file),
            (protocol.AT_ERRORS, job.paths.stderr, new_file),
        ):
            os.dup2(os.open(path, flags, 0o600), stage - protocol.AT_INPUT)
        stage = protocol.AT_LIMITS
        _set_limits(job)
        if job.flags & protocol.CONFINED:
            confine(job.paths.work)
        for number in INTERPRETERS_OWN:
            signal.signal(number, signal.SIG_DFL)
        stage = protocol.AT_PROGRAM
        environment = dict(variable.split(b"=", 1) for variable in job.variables)
        os.execve(executable, job.arguments, environment)
    except OSError as error:
        os.write(failure, FAILURE.pack(error.errno or 0, stage))
    os._exit(protocol.START_FAILED)


def _set_limits(job: Job) -> None:
    # An instrumented program in a test suite makes its trace under these limits.
    limits = (
        (resource.RLIMIT_CPU, job.cpu_s),
        (resource.RLIMIT_FSIZE, job.output and max(job.output, job.trace_limit + TRACE_HEADER)),
        (resource.RLIMIT_AS, job.memory and job.memory + OWN_MEMORY),
    )
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, value in limits:
        hard = resource.getrlimit(kind)[1]
        if value:
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))


# ---- Waiting ---------------------------------------------------------------------------------------------------------


def _was_kept_waiting(pid: int, job: Job, start: float) -> bool:
    """Whether a run whose time is over has had too little of it, as in ``server/processes.c``."""
    limit, passed = job.wall_ms / 1000, time.monotonic() - start
    try:
        computed = time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
    except OSError:
        return False
    return passed < MOST_WAITING * limit and computed * SLEEPING >= passed and computed < LITTLE * limit


def _await_end(control: socket.socket, pid: int, job: Job) -> int:
    """Wait until the child has ended, or end it; it stays a zombie, so that its group can be addressed."""
    start = time.monotonic()
    deadline = start + job.wall_ms / 1000
    tasks = _tasks_of_system()
    flags = 0
    end = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(end, select.POLLIN)
    poll.register(control, select.POLLRDHUP)
    try:
        while True:
            left = deadline - time.monotonic()
            events = dict(poll.poll(max(0.0, min(WATCH_MS, left * 1000))))
            if end in events:
                return flags
            if events:
                _kill_group(pid)
                _reap_orphans()
                os._exit(1)
            if not flags and left <= 0 and _was_kept_waiting(pid, job, start):
                deadline = time.monotonic() + WATCH_MS / 1000
            elif left <= 0:
                flags = flags or protocol.TIMED_OUT
            elif _too_many_processes(pid, job, tasks):
                flags = flags or protocol.TOO_MANY_PROCESSES
            if flags:
                _kill_group(pid)
    finally:
        os.close(end)


def _collect(pid: int, reply: Reply) -> None:
    _kill_group(pid)
    _, status, usage = os.wait4(pid, 0)
    _reap_orphans()
    reply.max_rss_kb = usage.ru_maxrss
    if os.WIFSIGNALED(status):
        reply.signal = os.WTERMSIG(status)
    else:
        reply.status = os.WEXITSTATUS(status)


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _reap_orphans() -> None:
    """End and collect whatever the run left behind: orphans come to this process, their subreaper."""
    for attempt in range(REAP_TRIES):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if attempt:
            for pid in _processes_with(1, os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.0002)


def _tasks_of_system() -> int:
    return int(Path("/proc/loadavg").read_bytes().split()[3].split(b"/")[1])


def _too_many_processes(pid: int, job: Job, tasks_before: int) -> bool:
    if not job.processes or _tasks_of_system() - tasks_before <= job.processes:
        return False
    return len(_processes_with(3, pid)) > job.processes


def _processes_with(field: int, value: int) -> list[int]:
    """Processes whose field after the name in ``/proc/PID/stat`` (1 parent, 2 group, 3 session) has this
    value.
    """
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                text = Path("/proc", name, "stat").read_bytes()
                if int(text[text.rindex(b")") + 2 :].split()[field]) == value:
                    found.append(int(name))
    return found


def _leave_folder(job: Job) -> int:
    """Leave an empty working folder for the next run; what this one wrote goes to the spare folder."""
    flags = 0
    if job.flags & protocol.PREPARED or not _is_removed(job.paths.work):
        if not os.path.islink(job.paths.work):
            os.chmod(job.paths.work, 0o700)
        os.rename(job.paths.work, job.paths.spare)
        flags = protocol.SPARE_USED
    os.mkdir(job.paths.work, 0o700)
    return flags


def _is_removed(folder: bytes) -> bool:
    """Remove an empty folder, as the run may have done itself; False where files or something else keep its place."""
    try:
        os.rmdir(folder)
    except OSError as error:
        return error.errno == errno.ENOENT
    return True
