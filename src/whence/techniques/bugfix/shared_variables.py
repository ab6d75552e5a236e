"""The variables of other files that a file of C uses: what their types are, debug information tells.

Headers declare them, often by a macro (``EXTERN int scale;``) that a file's syntax alone does not see through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whence.program.debug import describe

if TYPE_CHECKING:
    from whence.program.debug import CType
    from whence.program.model import Module

_QUALIFIERS = frozenset(("const", "volatile", "restrict", "atomic"))


def shared_variables(modules: Sequence[Module], number: int) -> dict[str, str]:
    """The variables that a module uses and another one defines, each with its type as the syntax tells types.

    That is the name of what is declared, with a star for each level of pointer or array: ``struct item *``.
    """
    info, found = describe(modules)[number], dict[str, str]()
    for name, text in modules[number].globals.items():
        variable = info.global_variable(name) if text.startswith("external ") else None
        if variable is not None and variable.type is not None and (written := _written(variable.type)):
            found[name] = written
    return found


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
