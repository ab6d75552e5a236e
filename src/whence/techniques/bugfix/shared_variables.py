"""The variables of other files that a file of C uses: what their types are, debug information tells.

Headers declare them, often by a macro (``EXTERN int scale;``) that a file's syntax alone does not see through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.program.c_source import CSource

if TYPE_CHECKING:
    from whence.program.debug import CType, DebugInfo

_WORD = re.compile(rb"[A-Za-z_]\w*")
_QUALIFIERS = frozenset(("const", "volatile", "restrict", "atomic"))


def shared_variables(infos: Sequence[DebugInfo], number: int, headers: Sequence[CSource] = ()) -> dict[str, str]:
    """The variables of other modules that a module uses or its headers name, each with its type.

    ``infos`` describe the program's modules.

    The type is written as the syntax tells types: the name of what is declared, with a star for each level of pointer
    or array (``struct item *``).
    """
    own, found = infos[number], dict[str, str]()
    used = {name for name, text in own.module.globals.items() if text.startswith("external ")}
    named = {word for header in headers for word in _words(header)}
    defined = {name for info in infos for name in info.module.globals} - own.module.globals.keys()
    for name in sorted(used | (named & defined)):
        variable = own.global_variable(name)
        if variable is not None and variable.type is not None and (written := _written(variable.type)):
            found[name] = written
    return found


@lru_cache(maxsize=1024)  # of a header, for all files that include it
def _words(header: CSource) -> frozenset[str]:
    return frozenset(word.decode("latin-1") for word in _WORD.findall(header.text))


def _written(type_: CType) -> str:
    """A type as ``Scope`` writes it; empty: it has no such name."""
    at: CType | None = type_
    stars = 0
    while at is not None and (at.kind in _QUALIFIERS or at.kind in ("pointer", "array")):
        stars += len(at.counts) if at.kind == "array" else at.kind == "pointer"
        at = at.target
    if at is None:
        return f"void {'*' * stars}" if stars else ""
    if at.kind == "function" or not at.name:
        return ""
    word = f"{at.kind} " if at.kind in ("struct", "union", "enum") else ""
    return f"{word}{at.name} {'*' * stars}".strip()
