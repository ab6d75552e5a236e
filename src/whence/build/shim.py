"""The shim that stands in for a program while a test suite runs (``probe/capture``): compiled once, set for each place.

What it starts and where it keeps what it sees is written into its executable, since a test may clear the environment.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from whence.build.own_programs import PROBE, own_program

SOURCES = PROBE / "capture"
MARK = b"##WHENCE-CAPTURE-SHIM##"
MARK_FIELD, TEXT_FIELD = 32, 4096  # bytes of the fields in ``struct settings`` (touched.h)
LIMITS = struct.Struct("<QQ")


def shim() -> bytes:
    """The executable, without its settings. Raises BuildError with clang's first message where it cannot be made."""
    return own_program("shim", sorted(SOURCES.glob("*.c"))).read_bytes()


def place_shim(place: Path, program: Path, kept: Path, work: Path, most: int, together: int) -> None:
    """Write an executable that stands in for ``program``, and makes a folder in ``kept`` for each invocation.

    Files below ``work`` are copied: at most ``most`` bytes of one, and ``together`` for an invocation.
    """
    content = bytearray(shim())
    at = content.index(MARK) + MARK_FIELD
    for path in (program, kept, work):
        content[at : at + TEXT_FIELD] = os.fsencode(path).ljust(TEXT_FIELD, b"\0")
        at += TEXT_FIELD
    content[at : at + LIMITS.size] = LIMITS.pack(most, together)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    place.chmod(0o755)
