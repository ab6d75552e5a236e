"""Source locations from debug metadata: ``!dbg !N`` to file, line, column and scope.

A ``DILocation`` names the place inside the innermost scope itself; where code was inlined, ``inlinedAt`` only
adds the call's place, so the node's own line and scope are the answer.
"""

from __future__ import annotations

import hashlib
import os.path
import re
from collections.abc import Mapping
from pathlib import Path

from whence.program.model import Location

_LOCATION = re.compile(r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)")
_FILE_OF = re.compile(r"[( ]file: !(\d+)")
_SCOPE_OF = re.compile(r"[( ]scope: !(\d+)")
_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_CHECKSUM = re.compile(r'checksumkind: CSK_MD5, checksum: "([0-9a-f]{32})"')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|\\)")


def unescape(text: str) -> str:
    """The string that LLVM printed as ``text``: hexadecimal escapes undone, bytes read as UTF-8."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)), text)
    try:
        return raw.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # characters above U+00FF were printed as they are
        return raw


class Locations:
    """Looks up locations and files in a module's metadata, each once."""

    def __init__(self, metadata: Mapping[int, str]) -> None:
        self._metadata = metadata
        self._locations: dict[str, Location | None] = {}
        self._scopes: dict[int, str] = {}

    def at(self, number: str) -> Location | None:
        """The location of node ``!number``; None when that node is no location."""
        if number not in self._locations:
            self._locations[number] = self._read(self._metadata.get(int(number), ""))
        return self._locations[number]

    def _read(self, text: str) -> Location | None:
        match = _LOCATION.search(text)
        if match is None:
            return None
        scope = int(match[3])
        return Location(self.file_of_scope(scope), int(match[1]), int(match[2] or 0), scope)

    def file_of_scope(self, scope: int) -> str:
        """The path of the file in which a scope (or any node with ``file:``) lies; "" when unknown."""
        path = self._scopes.get(scope)
        if path is None:
            text = self._metadata.get(scope, "")
            if file := _FILE_OF.search(text):
                path = self.file(int(file[1]))
            else:
                parent = _SCOPE_OF.search(text)
                path = self.file_of_scope(int(parent[1])) if parent else ""
            self._scopes[scope] = path
        return path

    def file(self, number: int) -> str:
        """The path that a ``DIFile`` node names, made absolute with its directory; "" when it is none."""
        match = _FILE.search(self._metadata.get(number, ""))
        if match is None:
            return ""
        return os.path.normpath(os.path.join(unescape(match[2]), unescape(match[1])))  # noqa: PTH118


def checksums(metadata: Mapping[int, str]) -> dict[str, str]:
    """The MD5 of each source file of a module when it was compiled, as far as debug information has it."""
    locations = Locations(metadata)
    found = ((number, match[1]) for number, text in metadata.items() if (match := _CHECKSUM.search(text)))
    return {file: checksum for number, checksum in found if (file := locations.file(number))}


def is_as_compiled(file: str, checksum: str) -> bool:
    """Whether a source file still holds what was compiled."""
    try:
        return hashlib.md5(Path(file).read_bytes(), usedforsecurity=False).hexdigest() == checksum
    except OSError:
        return False
