"""The section ``.whence``: what an object, archive member or executable says of its own build.
 Key idea: records are ELF notes (the standard form: name, type, text), so whatever merges sections of one
name (a link, ``ld -r``) concatenates them, in link order. Linkers keep notes under ``--gc-sections``, and
since the section is loaded with the program, no ``strip`` removes it. How it gets there costs next to
nothing: the content hash is known only after the IR compile, which runs beside the plain one, so the section
is appended to the finished object: the new section, the section names and the section headers are written
behind the file's end, and the ELF header is pointed at them last. That takes a fraction of a millisecond,
needs no assembler directive (whose text would have to be known before), no extra header file (which would
appear in dependency files), and works for assembled objects too.

Records are lines of three fields, separated by tabs:

    module   <SHA-256 of the bitcode>-<hash of the capture's entry>  <source>      a captured module
    missing  <reason>                  <source>      a source without IR
    link     <hash of the link entry>  <output>      the link of an executable or shared library
    partial  <hash of the link entry>  <output>      a link into another object (-r)

Only little-endian 64-bit ELF is written and read. This module is imported by ``whence-cc`` on every call.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

SECTION = b".whence"
_NOTE = struct.Struct("<III")  # Elf64_Nhdr: sizes of name and text, type
_NOTE_NAME = b"whence\0\0"  # padded to a multiple of 4; its size is counted without the padding
_VERSION = 1  # the notes' type
_ELF = b"\x7fELF\x02\x01\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_SHN_XINDEX = 0xFFFF
_PROGBITS, _STRTAB, _SHT_NOTE, _NOBITS = 1, 3, 7, 8
_ALLOC = 0x2
_RELOCATABLE = 1  # e_type of an object


class Record:
    """One record: ``kind`` (``module``, ``missing``, ``link``, ``partial``), ``key`` (hash or reason),
    ``path``.
    """

    __slots__ = ("key", "kind", "path")

    def __init__(self, kind: str, key: str, path: str) -> None:
        self.kind = kind
        self.key = key
        self.path = path

    @property
    def digest(self) -> str:
        """The SHA-256 of a module's bitcode, which builds with other flags may share."""
        return self.key.partition("-")[0]

    @property
    def entry(self) -> str:
        """The key of what the store knows of a module's capture: this object's own compiler call."""
        return self.key.rpartition("-")[2]

    def encode(self) -> bytes:
        """The record as a note."""
        fields = (self.kind, self.key, self.path)
        text = "\t".join(f.replace("\t", " ") for f in fields).encode("utf-8", "surrogateescape")
        return _NOTE.pack(7, len(text), _VERSION) + _NOTE_NAME + text + bytes(-len(text) % 4)


def decode(content: bytes) -> list[Record]:
    """The records of a section's content, in order; notes of other versions are not ours and are left out."""
    records = []
    position = 0
    while position + _NOTE.size <= len(content):
        name_size, size, version = _NOTE.unpack_from(content, position)
        start = position + _NOTE.size + (name_size + 3 & ~3)
        fields = content[start : start + size].decode("utf-8", "surrogateescape").split("\t")
        if version == _VERSION and len(fields) == 3:
            records.append(Record(*fields))
        position = start + (size + 3 & ~3)
    return records


class Elf:
    """The section headers of an ELF file, read from ``file`` at ``start`` (an archive's members lie within
    it).
    """

    __slots__ = ("end", "file", "header", "names", "sections", "start")

    def __init__(self, file: BinaryIO, start: int = 0) -> None:
        """Raise ``ValueError`` where no little-endian 64-bit ELF file starts."""
        self.file = file
        self.start = start
        self.end = file.seek(0, 2)
        raw = self.bytes_at(0, _HEADER.size)
        if not raw.startswith(_ELF):
            raise ValueError("not a little-endian 64-bit ELF file")
        self.header = list(_HEADER.unpack(raw))
        self.sections = self._headers(self.header[6], self.header[12])
        index = self.header[13] if self.header[13] != _SHN_XINDEX else self.sections[0][6]
        self.names = self.content(index) if self.sections else b""

    def _headers(self, offset: int, count: int) -> list[tuple[int, ...]]:
        if not offset:
            return []
        if not count:  # more than 65279 sections: the count is the size of section 0
            count = _SECTION.unpack(self.bytes_at(offset, _SECTION.size))[5]
        return list(_SECTION.iter_unpack(self.bytes_at(offset, count * _SECTION.size)))

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Bytes of the file; raises ``ValueError`` where it has not so many."""
        if self.start + offset + size > self.end:
            raise ValueError("a truncated or damaged ELF file")
        self.file.seek(self.start + offset)
        return self.file.read(size)

    def content(self, index: int) -> bytes:
        """The bytes of a section."""
        section = self.sections[index]
        return b"" if section[1] == _NOBITS else self.bytes_at(section[4], section[5])

    def find(self, name: bytes) -> int | None:
        """The index of the first section of this name."""
        for index, section in enumerate(self.sections):
            if self.names[section[0] : self.names.find(b"\0", section[0])] == name:
                return index
        return None


def read_records(file: BinaryIO, start: int = 0) -> list[Record]:
    """The records of an ELF file; none where it holds no section ``.whence`` or is no such file."""
    try:
        elf = Elf(file, start)
        index = elf.find(SECTION)
    except (ValueError, IndexError, struct.error):
        return []
    return [] if index is None else decode(elf.content(index))


def names_whole_module(file: BinaryIO) -> bool:
    """Whether a file is an object as ``append_section`` leaves one that names a module: all its code has IR.

    What other tools write anew (``ld -r``, ``objcopy``) has tables of symbols behind the section.
    """
    try:
        elf = Elf(file)
        index = elf.find(SECTION)
    except (ValueError, IndexError, struct.error):
        return False
    is_last = index is not None and index == len(elf.sections) - 1 and elf.header[1] == _RELOCATABLE
    return is_last and any(record.kind == "module" for record in decode(elf.content(len(elf.sections) - 1)))


def append_section(file: BinaryIO, content: bytes) -> None:
    """Add the section ``.whence`` to an ELF file that is open for update; raise ``ValueError`` if it is no
    such file.

    The new section is number *n*, the new names keep the offsets of the old, so nothing else in the file
    changes.
    """
    elf = Elf(file)
    count = len(elf.sections)
    if not count or count + 1 >= 0xFF00:
        raise ValueError("the object has no room for another section")
    names = elf.names + SECTION + b"\0"
    end = file.seek(0, 2)
    sections = list(elf.sections)
    at_content = end + (-end % 4)
    at_names = at_content + len(content)
    sections[elf.header[13]] = _moved(sections[elf.header[13]], at_names, len(names))
    sections.append((len(elf.names), _SHT_NOTE, _ALLOC, 0, at_content, len(content), 0, 0, 4, 0))
    at_headers = (at_names + len(names) + 7) & ~7
    padding = bytes(at_headers - at_names - len(names))
    file.write(bytes(at_content - end) + content + names + padding + b"".join(_SECTION.pack(*s) for s in sections))
    elf.header[6], elf.header[12] = at_headers, count + 1
    file.seek(0)
    file.write(_HEADER.pack(*elf.header))


def _moved(section: tuple[int, ...], offset: int, size: int) -> tuple[int, ...]:
    return (*section[:4], offset, size, *section[6:])


def relocatable(content: bytes, machine: int) -> bytes:
    """A relocatable ELF file that holds nothing but the section ``.whence``; ``machine`` as in
    ``e_machine``.
    """
    names = b"\0.shstrtab\0.note.GNU-stack\0" + SECTION + b"\0"
    at_names = _HEADER.size + len(content)
    at_headers = (at_names + len(names) + 7) & ~7
    sections = [
        (0,) * 10,
        (names.index(SECTION), _SHT_NOTE, _ALLOC, 0, _HEADER.size, len(content), 0, 0, 4, 0),
        (names.index(b".note"), _PROGBITS, 0, 0, at_names, 0, 0, 0, 1, 0),  # or the stack becomes executable
        (1, _STRTAB, 0, 0, at_names, len(names), 0, 0, 1, 0),
    ]
    count = len(sections)
    header = _HEADER.pack(
        *(_ELF.ljust(16, b"\0"), _RELOCATABLE, machine, 1, 0, 0, at_headers, 0),
        *(_HEADER.size, 0, 0, _SECTION.size, count, count - 1),
    )
    padding = bytes(at_headers - at_names - len(names))
    return header + content + names + padding + b"".join(_SECTION.pack(*s) for s in sections)
