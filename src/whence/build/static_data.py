"""Where the initial values of static variables lie in an executable file, as its table of symbols says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    found: dict[str, list[Stored]] = {}
    try:
        with executable.open("rb") as file:
            elf = ELFFile(file)
            table = elf.get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
                if symbol["st_info"]["type"] != "STT_OBJECT" or not isinstance(symbol["st_shndx"], int):
                    continue
                section = elf.get_section(symbol["st_shndx"])
                if section["sh_type"] == NOTHING_STORED:
                    continue
                offset = section["sh_offset"] + symbol["st_value"] - section["sh_addr"]
                found.setdefault(symbol.name, []).append(Stored(offset, symbol["st_size"]))
    except (OSError, ELFError) as error:
        raise BuildError(f"{executable}: its variables cannot be read: {error}") from error
    return found
