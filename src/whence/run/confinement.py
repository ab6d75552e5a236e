"""What a process that runs a program must not do to others, for the kernel to refuse.

A user asks for runs of the program on cases. That an edit, an altered value or a made input has it end other programs
(``kill(-1, SIGKILL)`` in place of ``kill(0, SIGKILL)``), write to other machines, or remove files elsewhere is asked
for by nobody. The twin of ``probe/runtime/server/confine.c``; imported by the launcher, so it must stay light.
"""

# ruff: noqa: PTH112, PTH120

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
FILTER = 2  # SECCOMP_MODE_FILTER
# SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW
END, REFUSE, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
LOAD, NEGATE, RETURN = 0x20, 0x84, 0x06  # BPF_LD | BPF_W | BPF_ABS, BPF_ALU | BPF_NEG, BPF_RET | BPF_K
EQUAL, AT_LEAST = 0x15, 0x35  # BPF_JMP | BPF_JEQ | BPF_K, BPF_JMP | BPF_JGE | BPF_K
NUMBER, FIRST = 0, 16  # offsets in seccomp_data
KILL, SOCKET = {"aarch64": (129, 198)}.get(platform.machine(), (62, 41))
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
WHICH_VERSION, BENEATH = 1, 1
WRITE_REMOVE_MAKE, MOVE, CUT = 0x1FF2, 1 << 13, 1 << 14
WRITABLE = (b"/tmp", b"/dev")  # beside the sandbox: temporary files, and devices

_library = ctypes.CDLL(None, use_errno=True)


def confine(work: bytes) -> None:
    """Let this process, and those that it makes, write in the sandbox of ``work`` and signal its own processes only.

    Raises OSError where the system refuses that. Files stay writable on systems without Landlock (before Linux 5.13).
    """
    _check(_library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _refuse_foreign_files(os.path.dirname(work))
    _filter_calls(_sockets())
    _filter_calls(_foreign_signals())


def landlock_version() -> int:
    """The version of Landlock that this system has; 0: none."""
    return max(0, int(_library.syscall(CREATE_RULESET, None, 0, WHICH_VERSION)))


def _refuse_foreign_files(sandbox: bytes) -> None:
    version = landlock_version()
    if not version:
        return
    refused = WRITE_REMOVE_MAKE | (MOVE if version > 1 else 0) | (CUT if version > 2 else 0)
    handled = struct.pack("<Q", refused)
    rules = _check(_library.syscall(CREATE_RULESET, handled, len(handled), 0))
    for path in (sandbox, *WRITABLE):
        if os.path.isdir(path):
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
            _check(_library.syscall(ADD_RULE, rules, BENEATH, struct.pack("<Qi", refused, folder), 0))
            os.close(folder)
    _check(_library.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _sockets() -> list[bytes]:
    """Steps that allow sockets of this machine alone."""
    return [
        _step(LOAD, NUMBER),
        _step(EQUAL, SOCKET, 0, 3),
        _step(LOAD, FIRST),
        _step(EQUAL, socket.AF_UNIX, 1, 0),
        _step(RETURN, REFUSE | errno.EACCES),
        _step(RETURN, ALLOW),
    ]


def _foreign_signals() -> list[bytes]:
    """Steps that allow signals to the process' parent, and to processes that are not older than itself.

    Older are those with lower numbers, as far as numbers have not begun anew. A run that sends others is ended: no edit
    is praised for what would come of it.
    """
    return [
        _step(LOAD, NUMBER),
        _step(EQUAL, KILL, 0, 8),
        _step(LOAD, FIRST),
        _step(EQUAL, 0xFFFFFFFF, 5, 0),
        _step(AT_LEAST, 1 << 31, 0, 1),
        _step(NEGATE, 0),  # a group
        _step(EQUAL, 0, 3, 0),
        _step(EQUAL, os.getppid(), 2, 0),
        _step(AT_LEAST, os.getpid(), 1, 0),
        _step(RETURN, END),
        _step(RETURN, ALLOW),
    ]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _filter_calls(steps: list[bytes]) -> None:
    text = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(text))
    _check(_library.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
