"""The parent's side of a fork server: start it, hand out jobs ahead of time, collect replies in order.

See ``protocol.py`` for the messages. A server dies with its parent: it watches the socket, and ends the run
at hand when that is closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import mmap
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from whence.build.own_programs import launcher
from whence.errors import SubjectError
from whence.run import protocol
from whence.run.protocol import Job, Reply

MARK = b"##WHENCE-FORK-SERVER-1##"  # in executables that main.c is linked into
ADDR_NO_RANDOMIZE = 0x0040000
PERSONALITY_QUERY = 0xFFFFFFFF
HELLO_SECONDS = 30.0
END_SECONDS = 5.0


def has_server(executable: Path) -> bool:
    """Whether the executable holds a fork server. Raises SubjectError when it cannot be read."""
    try:
        with executable.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(MARK) >= 0
    except (OSError, ValueError) as error:
        raise SubjectError(f"cannot read the program {executable}: {error}") from error


@contextlib.contextmanager
def fixed_addresses(are_random: bool = False) -> Iterator[bool]:
    """Switch off address randomisation for programs started inside; yields whether the system allows that.

    With ``are_random`` it is left as the system has it.
    """
    if are_random:
        yield False
        return
    personality = ctypes.CDLL(None).personality
    before = personality(PERSONALITY_QUERY)
    allowed = before >= 0 and personality(before | ADDR_NO_RANDOMIZE) >= 0
    try:
        yield bool(allowed)
    finally:
        if allowed:
            personality(before)


class Server:
    """A running fork server, which ``greet`` has to be called for before jobs are sent.

    With ``native`` the executable is its own server, else the launcher runs it. ``environment``
    (``NAME=value``) is that of the server; jobs bring their own. Its addresses may be ``random``. ``sites`` is the
    number of coverage counters (0: none). Raises SubjectError when the program does not start, BuildError where there
    is no launcher.

    One thread uses and closes a server; another one may ``abort`` it.
    """

    def __init__(
        self, executable: Path, native: bool, name: str, environment: list[bytes], log: Path, random: bool = False
    ) -> None:
        self.sites = 0
        self.is_lost = False  # it has ended by itself
        self._executable, self._log = executable, log
        self._next_id = 0
        self._closing = threading.Lock()
        parent, child = socket.socketpair()
        self._control = parent
        try:
            with child, log.open("wb") as errors, fixed_addresses(random):
                self._process = self._start(executable, native, name, environment, child.fileno(), errors.fileno())
        except BaseException:
            parent.close()
            raise

    def _start(
        self, executable: Path, native: bool, name: str, environment: list[bytes], control: int, errors: int
    ) -> subprocess.Popen[bytes]:
        variables = dict(variable.split(b"=", 1) for variable in environment)
        command, served = [name], executable
        if native:
            variables |= {b"WHENCE_CONTROL": b"%d" % control, b"LD_BIND_NOW": b"1"}
        else:
            command, served = ["launcher", str(control), str(executable)], launcher()
        try:
            return subprocess.Popen(
                command,
                executable=served,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[control],
                start_new_session=True,
            )
        except OSError as error:
            raise SubjectError(f"cannot start {executable}: {error.strerror}") from error

    def greet(self) -> None:
        """Wait until the server is there. Raises SubjectError where it does not come."""
        self._control.settimeout(HELLO_SECONDS)
        try:
            hello = self._receive(protocol.HELLO.size)
            self._control.settimeout(None)
        except (TimeoutError, EOFError, OSError) as error:
            raise SubjectError(f"{self._executable} did not start its fork server{self._last_words()}") from error
        magic, version, _, self.sites = protocol.HELLO.unpack(hello)
        if (magic, version) != (protocol.MAGIC, protocol.VERSION):
            raise SubjectError(f"{self._executable} holds a fork server of another version", "build the variant again")

    def _last_words(self) -> str:
        try:
            words = self._log.read_bytes().decode(errors="replace").strip()
        except OSError:  # the subject's processes may have removed it
            return ""
        return f": {words.splitlines()[-1]}" if words else ""

    def send(self, job: Job) -> None:
        """Hand out a job. Raises ValueError when it is too large, EOFError when the server has ended."""
        job.id = self._next_id
        message = job.encode()
        try:
            self._control.sendall(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            self.is_lost = True
            raise EOFError from error
        self._next_id += 1

    def receive(self, deadline: float = math.inf) -> Reply:
        """Return the reply to the oldest job without one.

        Raises EOFError when the server has ended, TimeoutError when there is none by ``deadline`` (of
        ``time.monotonic``), after which the server has to be closed.
        """
        left = deadline - time.monotonic()
        self._control.settimeout(None if deadline == math.inf else max(left, 1e-3))
        return Reply(*protocol.REPLY.unpack(self._receive(protocol.REPLY.size)))

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                part = self._control.recv(size - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                self.is_lost = True
                raise EOFError
            data += part
        return data

    def abort(self) -> None:
        """Let the server end with whatever it runs, from any thread: who waits for its reply gets EOFError."""
        with self._closing, contextlib.suppress(OSError):  # it is closed, or has ended by itself
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the server and whatever it runs; once more does no harm."""
        self.abort()
        with self._closing:
            self._control.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def addresses_can_be_fixed() -> bool:
    """Whether this system lets address randomisation be switched off."""
    with fixed_addresses() as allowed:
        return allowed
