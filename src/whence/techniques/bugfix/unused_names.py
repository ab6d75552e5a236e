"""Names that a file declares and uses nowhere: what is missing is often what would have used them.

Of faults planted as real ones are made, one missing statement or condition in eight leaves such a name behind, while
correct programs have few of them (docs/fix.md). Compilers warn of some: of functions, variables and parameters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name, tokens, walk
from whence.techniques.bugfix.scope import declared

if TYPE_CHECKING:
    from tree_sitter import Node

FEW = 3  # unused names of a kind in a file, at most, for them to mean something
_WORD = re.compile(r"[A-Za-z_]\w*")
_STRINGS = frozenset(("string_literal", "char_literal", "number_literal", "system_lib_string"))


def words(text: bytes) -> list[str]:
    """The names and keywords in a text."""
    return _WORD.findall(text.decode("latin-1"))


def mentions(text: bytes, names: frozenset[str], are_members: bool = False) -> bool:
    """Whether a text mentions one of some names: of members, or of anything else."""
    pattern = rb"(?:\.|->)\s*%s\b" if are_members else rb"(?<![\w.>])%s\b"
    return any(re.search(pattern % name.encode(), text) for name in names)


class UnusedNames:
    """The names of one file that are declared in it, and mentioned nowhere else in it.

    Other files can use what is not static, unless it ``is_alone``.
    """

    def __init__(self, source: CSource, is_alone: bool = False) -> None:
        self._source, self._is_alone = source, is_alone
        self._of_functions: dict[tuple[int, str], frozenset[str]] = {}  # by where one begins, and kind of declaration

    def at(self, node: Node) -> frozenset[str]:
        """Those that a node can name: of its function, and of the file."""
        return self.but_parameters(node) | self._of_function(node, "parameter_declaration")

    def but_parameters(self, node: Node) -> frozenset[str]:
        """... without parameters, which a function can have because others of its kind need them."""
        return self.of_file | self._of_function(node, "declaration")

    def _of_function(self, node: Node, kind: str) -> frozenset[str]:
        """The names that the function around a node declares in one way."""
        function = self._source.function_at(node.start_byte)
        if function is None:
            return frozenset()
        key = function.start_byte, kind
        if key not in self._of_functions:
            mentioned = self._mentioned(function)
            names = (name for n in walk(function) if n.type == kind for name, _ in declared(self._source, n))
            self._of_functions[key] = frozenset(name for name in names if mentioned[name] == 1)
        return self._of_functions[key]

    @cached_property
    def of_file(self) -> frozenset[str]:
        """Functions, variables, macros, and members; of an enumeration often not all constants are used."""
        return self.uncalled | self.macros | self.members | self._few(self._variables())

    @cached_property
    def members(self) -> frozenset[str]:
        """The members among them."""
        return self._few(self._members())

    @cached_property
    def uncalled(self) -> frozenset[str]:
        """The functions among them, which may be declared once more before they are defined."""
        return self._few(self._functions())

    @cached_property
    def macros(self) -> frozenset[str]:
        """The macros without parameters among them."""
        names = (n.child_by_field_name("name") for n in walk(self._source.root) if n.type == "preproc_def")
        return self._few(self._source.name(name) for name in names if name is not None)

    def is_left(self, name: str) -> bool:
        """Whether a name of the file, a constant's, say, is mentioned where it is declared, and nowhere else."""
        return self._in_file[name] == 1

    def _few(self, names: Iterable[str]) -> frozenset[str]:
        """Those of some names that nothing else mentions; none where they are many, as in parts of programs."""
        unused = frozenset(name for name in names if self._in_file[name] == 1)
        return unused if len(unused) <= FEW else frozenset()

    @cached_property
    def _in_file(self) -> Counter[str]:
        return self._mentioned(self._source.root)

    def _members(self) -> Iterator[str]:
        for node in (n for n in walk(self._source.root) if n.type == "field_declaration"):
            names = (declared_name(self._source, one) for one in node.children_by_field_name("declarator"))
            yield from filter(None, names)

    def _variables(self) -> Iterator[str]:
        for node in self._source.root.children:
            if node.type == "declaration" and self._is_own(node):
                yield from (name for name, _ in declared(self._source, node))

    def _functions(self) -> Iterator[str]:
        for function in self._source.functions:
            declarator = function.child_by_field_name("declarator")
            name = declared_name(self._source, declarator) if declarator is not None else ""
            if name not in ("", "main") and self._is_own(function):
                yield name

    def _is_own(self, declaration: Node) -> bool:
        """Whether no other file can use what is declared."""
        return self._is_alone or any(self._source.of(one) == b"static" for one in declaration.children)

    def _mentioned(self, node: Node) -> Counter[str]:
        """How often each name stands in a node, but for strings, comments, and declarations of functions."""
        found: Counter[str] = Counter()
        for token in tokens(node):
            if token.type not in _STRINGS and not _is_prototype(token):
                found.update(words(self._source.of(token)))
        return found


def _is_prototype(token: Node) -> bool:
    """Whether a token is the name in a declaration of a function that does not define it."""
    parent = token.parent
    if parent is None or parent.type != "function_declarator" or parent.child_by_field_name("declarator") != token:
        return False
    while parent is not None and parent.type not in ("declaration", "function_definition"):
        parent = parent.parent
    return parent is not None and parent.type == "declaration"
