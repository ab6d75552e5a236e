"""The store: captured IR and files of links by content hash, what is known of each capture and link, and compiled
variant objects.

Key idea: every file is named by a hash of its content (or, for compiled objects, of all that went into it, with a hash
of its content at its end), is written under a temporary name and renamed. So parallel builds need no locks, a crash
leaves no half-written file, and a file that a disk or a careless hand has damaged is seen when it is read.

This module is imported by ``whence-cc`` on every compiler call, hence strings for paths and late imports.
"""
# ruff: noqa: PTH103, PTH105, PTH108, PTH113, PTH116, PTH118, PTH120, PTH123, PTH202

from __future__ import annotations

import contextlib
import os

from whence.build.toolchain import whence_home

TYPE_CHECKING = False  # `typing` itself takes as long to import as all the rest
if TYPE_CHECKING:
    from typing import Any


class Store:
    """The files below ``root`` (default: ``store`` in Whence's folder)."""

    __slots__ = ("root",)

    def __init__(self, root: str | None = None) -> None:
        self.root = root or os.path.join(whence_home(), "store")

    def path(self, kind: str, key: str, suffix: str) -> str:
        """Where the file of a ``kind`` (``ir``, ``files``, ``captures``, ``links``, ``objects``) with this key lies."""
        return os.path.join(self.root, kind, key[:2], key + suffix)

    def bitcode(self, digest: str) -> str:
        """Where the IR with this content hash lies."""
        return self.path("ir", digest, ".bc")

    def file(self, digest: str) -> str:
        """Where the file of a link with this content hash lies."""
        return self.path("files", digest, "")

    def keep(self, content: bytes) -> str:
        """Store a file of a link; returns its content hash (SHA-256, hexadecimal)."""
        digest = sha256(content)
        path = self.file(digest)
        if not (os.path.isfile(path) and os.path.getsize(path) == len(content)):
            self.write(path, content)
        return digest

    def temporary(self, suffix: str = "") -> str:
        """A fresh name in the store's own file system, for a file that will be renamed into it."""
        folder = os.path.join(self.root, "tmp")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"{os.getpid()}-{os.urandom(6).hex()}{suffix}")

    def adopt_bitcode(self, temporary: str) -> str:
        """Move freshly written IR into the store; returns its content hash (SHA-256, hexadecimal)."""
        digest = sha256(read(temporary))
        self.adopt(temporary, self.bitcode(digest))
        return digest

    def adopt(self, temporary: str, path: str) -> None:
        """Move a finished temporary file to its place."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.replace(temporary, path)

    def write(self, path: str, content: bytes) -> None:
        """Write a file at once: nobody sees a part of it."""
        temporary = self.temporary()
        try:
            with open(temporary, "wb") as file:
                file.write(content)
            self.adopt(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise

    def write_entry(self, kind: str, key: str, entry: dict[str, Any]) -> None:
        """Write what is known of a capture or a link."""
        self.write(self.path(kind, key, ".json"), sealed(encode(entry)))

    def read_entry(self, kind: str, key: str) -> dict[str, Any]:
        """What is known of a capture or a link; raises ``FileNotFoundError`` where nothing is, or it is damaged."""
        import json

        path = self.path(kind, key, ".json")
        content = unsealed(read(path))
        if content is None:
            raise FileNotFoundError(f"{path} is damaged")
        entry: dict[str, Any] = json.loads(content)
        return entry


def is_sound(path: str, digest: str) -> bool:
    """Whether a file is there and has this content hash."""
    try:
        return sha256(read(path)) == digest
    except OSError:
        return False


# ---- Files whose names do not tell their content ---------------------------------------------------------------------

_SEAL = b"\nWHENCE SEAL\n"


def sealed(content: bytes) -> bytes:
    """The content with its hash behind it, which changes the meaning of neither an object nor an executable."""
    return content + _SEAL + sha256(content).encode()


def unsealed(content: bytes) -> bytes | None:
    """What was sealed; None if that is not what is there."""
    content, _, digest = content.rpartition(_SEAL)
    return content if sha256(content).encode() == digest else None


def seal(path: str) -> None:
    """Add its hash to the end of a file."""
    digest = sha256(read(path))
    with open(path, "ab") as file:
        file.write(_SEAL + digest.encode())


_found_sealed: dict[str, tuple[int, int, int, int]] = {}  # a process asks for the runtime's objects at each variant


def is_sealed(path: str) -> bool:
    """Whether a file is there and is what was sealed; one that is as this process has found it is not read again."""
    try:
        state = os.stat(path)
        key = state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns
        if _found_sealed.get(path) == key:
            return True
        is_what_was_sealed = unsealed(read(path)) is not None
    except OSError:
        return False
    if is_what_was_sealed:
        _found_sealed[path] = key
    return is_what_was_sealed


# ---- Contents --------------------------------------------------------------------------------------------------------


def read(path: str) -> bytes:
    """The content of a file."""
    with open(path, "rb") as file:
        return file.read()


def encode(entry: dict[str, Any]) -> bytes:
    """An entry as JSON; the same entry gives the same bytes. Names that are not UTF-8 survive."""
    import json

    return json.dumps(entry, sort_keys=True).encode()


def sha256(content: bytes) -> str:
    """The SHA-256 of some content, hexadecimal."""
    import hashlib

    return hashlib.sha256(content).hexdigest()
