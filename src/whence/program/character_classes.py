"""``isdigit(c)`` and its like: the C library's macros look up the classes of ``c`` in a table, as bits of one entry.

The names and the order of the bits are those of glibc on little-endian machines; in other libraries these are calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whence.program.model import Function, Instruction

TABLE = "__ctype_b_loc"  # the function that gives the table
_BITS = {
    256: "isupper", 512: "islower", 1024: "isalpha", 2048: "isdigit", 4096: "isxdigit", 8192: "isspace",
    16384: "isprint", 32768: "isgraph", 1: "isblank", 2: "iscntrl", 4: "ispunct", 8: "isalnum",
}  # fmt: skip
_ENTRY = re.compile(rf"\(\*{TABLE}\(\)\)\[(.+)\]")


def class_asked_for(entry: str, mask: str) -> str | None:
    """The macro's call, such as ``isdigit(c)``, of the text of a table's entry and a bit; None: it is none."""
    found = _ENTRY.fullmatch(entry)
    name = _BITS.get(int(mask)) if mask.isdigit() else None
    return f"{name}({found[1]})" if found and name else None


def class_entries(function: Function) -> Iterator[Instruction]:
    """The loads of whole entries: bits of all classes, of which a program looks at one; as numbers they say nothing."""
    derived: set[str] = set()
    for instruction in function.instructions():
        base = instruction.operands[0].text if instruction.operands else ""
        if instruction.opcode == "call" and instruction.callee == f"@{TABLE}" and instruction.result:
            derived.add(instruction.result)
        elif base in derived and instruction.opcode == "load" and instruction.type != "ptr":
            yield instruction
        elif base in derived and instruction.opcode in ("load", "getelementptr") and instruction.result:
            derived.add(instruction.result)
