"""Static archives (the common ``ar`` format): their members, and copies without some of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = b"!<arch>\n"
_THIN = b"!<thin>\n"


@dataclass(slots=True, frozen=True)
class Member:
    """A member: ``name``, and where it lies: ``size`` bytes at ``start`` in the file ``path``."""

    name: str
    path: Path
    start: int
    size: int

    def read(self) -> bytes:
        """The member's bytes."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)


def is_archive(path: Path) -> bool:
    """Whether the file is a static archive."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) in (_MAGIC, _THIN)


def members(path: Path) -> list[Member]:
    """The members of an archive in order, without its symbol index and its table of names."""
    with path.open("rb") as file:
        thin = file.read(len(_MAGIC)) == _THIN
        return list(_members(file, path, thin))


def _members(file: BinaryIO, path: Path, thin: bool) -> Iterator[Member]:
    names = b""
    while len(header := file.read(60)) == 60:
        raw, size = header[:16].rstrip(), int(header[48:58])
        start = file.tell()
        special = raw in (b"/", b"//", b"/SYM64/")
        if raw == b"//":
            names = file.read(size)
        elif not special and thin:  # a thin archive's members are files of their own, beside it
            name = _name(raw, names)
            yield Member(name, path.parent / name, 0, size)
        elif not special:
            yield Member(_name(raw, names), path, start, size)
        if special or not thin:
            file.seek(start + size + size % 2)


def _name(raw: bytes, names: bytes) -> str:
    if raw.startswith(b"/") and raw[1:].isdigit():  # an offset into the table of long names
        offset = int(raw[1:])
        raw = names[offset : names.index(b"\n", offset)]
    return raw.removesuffix(b"/").decode(errors="surrogateescape")
