"""How jobs travel to a fork server: the messages that ``server.py`` sends and a server answers.

The server is ``probe/runtime/server/server.c``: linked into instrumented programs, where a job is a fork, and into the
launcher (``probe/launcher``) for everything else, where a job is a fork and an exec. The parent writes jobs ahead
(pipelining); the server runs them one at a time, in order, and answers each. All numbers are little endian.

    hello    8 bytes magic ``WHNCSRV1``, u32 version, u32 0, u64 number of coverage counters
    job      u32 length of the message, u32 id, u32 wall limit in ms, u32 CPU limit in s, u64 address space,
             u64 file size, u32 processes, u32 flags, u64 trace limit in bytes, i64 row of the coverage matrix
             (-1: none), u32 number of arguments, u32 number of environment variables; then strings, each
             ended by a NUL: the ten paths of ``Job`` in their order, the arguments, the variables
             (``NAME=value``)
    reply    u32 id, u32 flags, i32 exit status, i32 signal, i32 errno, u32 stage, u64 wall time in µs, u64
             largest resident size in KiB

A limit of 0 is none. The working folder exists and is empty between jobs; with ``PREPARED`` the spare folder
is moved there for the run. What a run leaves in it is moved to the spare folder (``SPARE_USED``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields

HELLO = struct.Struct("<8sIIQ")
HEADER = struct.Struct("<IIIIQQIIQqII")
REPLY = struct.Struct("<IIiiiIQQ")
MAGIC = b"WHNCSRV1"
VERSION = 4

MESSAGE_MAX = 4 << 20  # as in server/server.c
STRINGS_MAX = (1 << 16) - 16

# Flags of a job. END_AT_LIMIT: when the trace is full, the run ends; CONFINED: see ``server/confine.c``.
PREPARED, RING, END_AT_LIMIT, CONFINED = 1, 2, 4, 8
TIMED_OUT, SPARE_USED, TOO_MANY_PROCESSES, DEADLOCKED = 1, 2, 4, 8  # flags of a reply
START_FAILED = 125  # exit status of a child that could not be set up, as in server.h

STAGES = (
    "",
    "enter the working folder",
    "open standard input",
    "open the output file",
    "open the error file",
    "record a trace",
    "set the limits",
    "start the program",
    "make a process",
    "pass the arguments and environment",
    "save the coverage",
    "open the session",
    "use the schedule",
)
(
    AT_FOLDER,
    AT_INPUT,
    AT_OUTPUT,
    AT_ERRORS,
    AT_TRACE,
    AT_LIMITS,
    AT_PROGRAM,
    AT_FORK,
    AT_MESSAGE,
    AT_MATRIX,
    AT_SESSION,
    AT_SCHEDULE,
) = range(1, len(STAGES))


@dataclass(slots=True)
class Paths:
    """The paths of a job. ``trace``, ``matrix``, ``session`` and ``schedule`` may be empty (``b""``).

    ``session``: the file of a session of altered runs; or, behind a colon, the number of one continuation of it.
    ``schedule``: the file that says how threads take turns (``schedule.py``). ``start``: the folder in the working
    folder in which the program is started; empty: the working folder itself.
    """

    work: bytes
    spare: bytes
    stdin: bytes
    stdout: bytes
    stderr: bytes
    trace: bytes = b""
    matrix: bytes = b""
    session: bytes = b""
    schedule: bytes = b""
    start: bytes = b""


PATH_FIELDS = tuple(f.name for f in fields(Paths))


@dataclass(slots=True)
class Job:
    """One run of the program: all that the server needs to know. Limits of 0 are none."""

    paths: Paths
    arguments: list[bytes]  # from argv[0] on
    variables: list[bytes]  # b"NAME=value"
    id: int = 0
    wall_ms: int = 10_000
    cpu_s: int = 0
    memory: int = 0
    output: int = 0
    processes: int = 0
    flags: int = 0
    trace_limit: int = 0
    row: int = -1

    def encode(self) -> bytes:
        """Return the message. Raises ValueError when it is longer than a server takes, or a string holds a NUL."""
        strings = [*(getattr(self.paths, name) for name in PATH_FIELDS), *self.arguments, *self.variables]
        if any(b"\0" in string for string in strings):
            raise ValueError("an argument or variable cannot hold a NUL byte")
        body = b"\0".join([*strings, b""])
        length = HEADER.size + len(body)
        if length > MESSAGE_MAX or len(self.arguments) + len(self.variables) > STRINGS_MAX:
            raise ValueError(f"arguments and environment take {length} bytes, at most {MESSAGE_MAX} are possible")
        header = HEADER.pack(
            length,
            self.id,
            self.wall_ms,
            self.cpu_s,
            self.memory,
            self.output,
            self.processes,
            self.flags,
            self.trace_limit,
            self.row,
            len(self.arguments),
            len(self.variables),
        )
        return header + body


@dataclass(slots=True)
class Reply:
    """How a run ended: an exit status or a signal; ``error`` and ``stage`` tell of a set-up that failed."""

    id: int
    flags: int = 0
    status: int = 0
    signal: int = 0
    error: int = 0
    stage: int = 0
    wall_us: int = 0
    max_rss_kb: int = 0
