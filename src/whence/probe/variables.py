"""Static variables: the addresses that a recording begins with.

Constants count as well, since what runs over the end of a string's text may be wrong, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whence.program.model import Module

# An initialised or tentative variable of the module's own, in memory that all threads share.
_DEFINED = re.compile(r"(?!external |extern_weak |available_externally |appending )[^\"]*?\b(?:global|constant) ")


def variables(module: Module) -> list[str]:
    """The names (without "@") of the variables and constants that a module defines, in order of the text."""
    return [
        name
        for name, text in module.globals.items()
        if (found := _DEFINED.match(text)) and "thread_local" not in found[0] and not name.startswith("llvm.")
    ]


def address_table(module: Module, index: int) -> str:
    """The module's table: how many variables there are, and their addresses."""
    names = variables(module)
    items = "".join(f", ptr @{name}" for name in names)
    types = "".join(", ptr" for _ in names)
    return f"@__whence_variables_{index} = hidden constant {{ i64{types} }} {{ i64 {len(names)}{items} }}"


def address_tables(modules: int) -> Iterator[str]:
    """What one module says about all tables."""
    for index in range(modules - 1):
        yield f"@__whence_variables_{index} = external hidden constant i8"
    tables = ", ".join(f"ptr @__whence_variables_{index}" for index in range(modules))
    yield f"@__whence_variables = hidden constant [{modules} x ptr] [{tables}]"
    yield f"@__whence_modules = hidden constant i64 {modules}"
