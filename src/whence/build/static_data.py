"""Where initial values of static variables lie in an executable file, and functions in memory, by its symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.errors import BuildError

NOTHING_STORED = "SHT_NOBITS"  # a section whose bytes are all zero stands in no file


@dataclass(frozen=True, slots=True)
class Stored:
    """The initial bytes of a variable: from byte ``offset`` of the file on, ``size`` of them."""

    offset: int
    size: int


def stored_variables(executable: Path) -> dict[str, list[Stored]]:
    """The variables of an executable with initial bytes, by name: static ones of several files can share one.

    Empty where the symbols were taken away. Raises BuildError where the file cannot be read.
    """
    found: dict[str, list[Stored]] = {}
    for elf, symbol in _symbols(executable, "STT_OBJECT"):
        section = elf.get_section(symbol["st_shndx"])
        if section["sh_type"] == NOTHING_STORED:
            continue
        offset = section["sh_offset"] + symbol["st_value"] - section["sh_addr"]
        found.setdefault(symbol.name, []).append(Stored(offset, symbol["st_size"]))
    return found


def places_of_functions(executable: Path) -> dict[str, int]:
    """Where the functions of an executable begin, from where it is loaded, by name; without names that several have.

    Empty where the symbols were taken away. Raises BuildError where the file cannot be read.
    """
    found: dict[str, set[int]] = {}
    for _, symbol in _symbols(executable, "STT_FUNC"):
        found.setdefault(symbol.name, set()).add(int(symbol["st_value"]))
    return {name: min(places) for name, places in found.items() if len(places) == 1}


def _symbols(executable: Path, kind: str) -> Iterator[tuple[Any, Any]]:
    """The symbols of a kind that an executable defines, each with the ELF file."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    try:
        with executable.open("rb") as file:
            elf = ELFFile(file)
            table = elf.get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
                if symbol["st_info"]["type"] == kind and isinstance(symbol["st_shndx"], int):
                    yield elf, symbol
    except (OSError, ELFError) as error:
        raise BuildError(f"{executable}: its symbols cannot be read: {error}") from error
