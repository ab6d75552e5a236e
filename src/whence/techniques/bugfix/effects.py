"""Whether an expression can be evaluated once more without any effect, as far as the file tells."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, walk
from whence.techniques.bugfix.scope import declared

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_CHANGES = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--")
_LIBRARY = frozenset(
    [
        *("strcmp", "strncmp", "strlen", "strchr", "strrchr", "strstr", "memcmp", "isdigit", "isspace", "isalpha"),
        *("isalnum", "isupper", "islower", "ispunct", "isxdigit", "isprint", "iscntrl", "isfinite", "isnan", "isinf"),
        *("tolower", "toupper", "abs", "labs", "fabs", "sqrt", "floor", "ceil", "feof", "ferror", "sizeof"),
    ]
)


class Effects:
    """What the functions of one file do beside giving a value."""

    def __init__(self, source: CSource) -> None:
        self._source = source
        self._none: dict[str, bool] = {}  # of expressions that were asked for: the same could stand at many places

    def are_none(self, expression: str) -> bool:
        """Whether an expression changes nothing: it assigns nothing, and calls such functions alone."""
        if expression not in self._none:
            called = set(_CALLED.findall(expression))
            self._none[expression] = not _CHANGES.search(expression) and called <= _LIBRARY | self._pure
        return self._none[expression]

    @cached_property
    def _pure(self) -> set[str]:
        """The functions of the file that change nothing but their own variables, and call such functions alone."""
        functions = self._source.named_functions
        calls = {name: self._source.called(node) for name, node in functions.items() if self._is_tame(node)}
        pure = set(calls)
        while rest := {name for name in pure if not calls[name] <= _LIBRARY | pure}:
            pure -= rest
        return pure

    def _is_tame(self, function: Node) -> bool:
        """Whether a function itself changes its own variables alone, none of them for the next call."""
        own = {name for node in walk(function) if node.type in _DECLARING for name, _ in declared(self._source, node)}
        for node in walk(function):
            if node.type == "storage_class_specifier" and self._source.of(node) == b"static" and _is_inside(node):
                return False
            if node.type in ("assignment_expression", "update_expression"):
                changed = node.child_by_field_name("left") or node.child_by_field_name("argument")
                if changed is None or changed.type != "identifier" or self._source.name(changed) not in own:
                    return False
        return True


_DECLARING = ("declaration", "parameter_declaration")


def _is_inside(specifier: Node) -> bool:
    return specifier.parent is not None and specifier.parent.type == "declaration"
