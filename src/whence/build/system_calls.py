"""The names of system calls, from the headers that the compiler brings along."""

from __future__ import annotations

import re
from pathlib import Path

from whence.build.toolchain import find_toolchain
from whence.errors import WhenceError

HEADER = "lib/libc/include/x86-linux-any/asm/unistd_64.h"


def system_call_name(number: int) -> str:
    """What a system call of x86-64 is called, such as ``socket``; its number as text where no name is known."""
    try:
        text = (Path(find_toolchain().command[0]).parent / HEADER).read_text()
    except (OSError, WhenceError):
        return str(number)
    found = re.search(rf"^#define __NR_(\w+) {number}$", text, re.MULTILINE)
    return found[1] if found else str(number)
