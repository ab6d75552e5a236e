"""A point at which a failure shows, and the words for addresses and bytes found there."""

from __future__ import annotations

import json
import os
import string
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.findings import Statement
from whence.trace.fault import is_canonical

if TYPE_CHECKING:
    from whence.program.model import Location

SHOWN = 60  # characters of a line of output
LEAST_TEXT = 4  # characters that make a pointer a text
MAPPED = (0x55, 0x56, 0x75, 0x76, 0x7F)  # bits 40 and up where programs and their memory lie: letters by chance
PRINTABLE = frozenset(string.printable.encode()) - frozenset(b"\x0b\x0c")


@dataclass(slots=True)
class Point:
    """Where a failure shows: an event (-1: unknown), what to slice from, and words for people."""

    event: int = -1
    criteria: list[int] = field(default_factory=list)
    text: str = ""
    label: str = ""  # what happened at the event's place in the source
    details: dict[str, Any] = field(default_factory=dict)
    location: Location | None = None  # where it is not the event's own
    more: str = ""  # what only the text says, behind the label


def statement_of(location: Location | None, folder: Path) -> Statement | None:
    """The statement at a location, its file relative to ``folder`` where it lies there; None without a line."""
    if location is None or not location.line:
        return None
    path = Path(os.path.normpath(location.file))
    file = path.relative_to(folder) if path.is_relative_to(folder) else path
    return Statement(str(file), location.line)


def quoted(text: str) -> str:
    """``text`` in quotes, unprintable characters escaped, cut to a length that a line can show."""
    shown = text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
    return json.dumps(shown, ensure_ascii=False)


def pointer_text(value: int) -> str:
    """A pointer's value, with what its bytes look like where that is no address."""
    if value == 0:
        return "a null pointer"
    kind = _likeness(value.to_bytes(8, "little"))
    if not kind and not is_canonical(value):
        kind = "which no address can be"
    return f"{value:#x}, {kind}" if kind else f"{value:#x}"


def is_odd(value: int) -> bool:
    """Whether a pointer's value shows that something else was written in its place."""
    return not is_canonical(value) or bool(_likeness(value.to_bytes(8, "little")))


def _likeness(data: bytes) -> str:
    text = data.rstrip(b"\0")
    if int.from_bytes(data, "little") >> 40 in MAPPED:
        return ""
    if len(text) >= LEAST_TEXT and PRINTABLE.issuperset(text):
        return f"which is the text {quoted(text.decode())}"
    if len(set(data)) == 1 and data[0]:
        return f"which is the byte {data[0]:#04x} eight times"
    number = struct.unpack("<d", data)[0]
    if 1e-6 < abs(number) < 1e12 and len(repr(number)) <= 8:
        return f"which is the number {number!r}"
    return ""
