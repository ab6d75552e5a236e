"""What disks and careless hands do to files."""

from __future__ import annotations

from pathlib import Path


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for position in range(len(content) // 3, len(content), 7):
        content[position] ^= 0x5A
    path.write_bytes(bytes(content))


def remove(path: Path) -> None:
    path.unlink()


DAMAGES = (truncate, empty, garble, remove)
