"""Symbols of relocatable objects: which global names they define, and a copy in which those may be
overridden.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from whence.build.records import Elf

_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym
_SYMTAB, _DYNSYM = 2, 11
_GLOBAL, _WEAK = 1, 2
_UNDEFINED, _COMMON = 0, 0xFFF2


def defined_globals(content: bytes) -> set[str]:
    """The strong global symbols that an object defines; raises ``ValueError`` if it is no 64-bit ELF
    object.
    """
    return {name for _, name in _strong(content)}


def mentioned(content: bytes) -> set[str]:
    """All names of symbols in an executable, its own and those of others."""
    elf = Elf(io.BytesIO(content))
    tables = [elf.sections[section[6]] for section in elf.sections if section[1] in (_SYMTAB, _DYNSYM)]
    texts = [content[table[4] : table[4] + table[5]] for table in tables]
    return {name.decode(errors="surrogateescape") for text in texts for name in text.split(b"\0")}


def weakened(content: bytes) -> bytes:
    """The object with each strong global definition made weak, so that another object's definition wins."""
    patched = bytearray(content)
    for position, _ in _strong(content):
        patched[position + 4] = _WEAK << 4 | patched[position + 4] & 15
    return bytes(patched)


def _strong(content: bytes) -> Iterator[tuple[int, str]]:
    """File position and name of each strong global definition."""
    elf = Elf(io.BytesIO(content))
    for section in elf.sections:
        if section[1] != _SYMTAB:
            continue
        names = elf.content(section[6])
        for position in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, info, _, index, _, _ = _SYMBOL.unpack_from(content, position)
            if info >> 4 == _GLOBAL and index not in (_UNDEFINED, _COMMON):
                yield position, names[name : names.index(b"\0", name)].decode(errors="surrogateescape")
