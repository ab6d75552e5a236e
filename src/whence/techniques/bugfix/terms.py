"""What an expression at a place can be made of: the *terms* that can stand there, with their types, the nearest first.

Terms are variables, members, elements, what pointers lead to, and results of calls. A fix mostly speaks of what its
statement speaks of, then of what stands around it, then of what the rest of the function does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from whence.program.c_source import lines_of, walk
from whence.techniques.bugfix.expression_types import BOOLS, ExpressionTypes, are_alike, is_number, is_pointer
from whence.techniques.bugfix.half_used import Half, HalfUsed
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.unused_names import UnusedNames

if TYPE_CHECKING:
    from tree_sitter import Node

OWN, AROUND = 4, 4  # lines of a statement that count as its own, and lines around it
MOST_CONSTANTS = 12
FITTING, CALLS = 6, 24  # terms that can be one argument, and calls of one function that nothing calls
_TERMS = frozenset(["identifier", "field_expression", "subscript_expression", "pointer_expression", "call_expression"])
_CHANGING = frozenset(("assignment_expression", "update_expression"))
_NAMED_BY = {
    **{"field_expression": "field", "call_expression": "function"},
    **dict.fromkeys(("pointer_declarator", "array_declarator"), "declarator"),
}
_GIVING = _CHANGING | {"init_declarator"}
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!="))


class Near(IntEnum):
    """How near a term is to a place."""

    STATEMENT, AROUND, FUNCTION, FILE = range(4)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression; ``key`` is what it is called: the variable's, member's, array's or function's name."""

    text: str
    type: str
    key: str
    is_place: bool  # whether a value can be assigned to it
    near: Near


@dataclass(frozen=True, slots=True)
class _Known:
    """A term where it stands in the file."""

    text: str
    type: str
    key: str
    names: frozenset[str]
    is_place: bool
    line: int
    start: int
    function: int


class Terms:
    """The terms of one file."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._source = scope, scope.source
        self.types, self.unused = ExpressionTypes(scope), UnusedNames(scope.source, scope.is_alone)
        self.half_used = HalfUsed(scope.source)
        self._found: dict[int, list[Term]] = {}

    def at(self, statement: Node) -> list[Term]:
        """The terms that can stand in a statement, the nearest first."""
        start = statement.start_byte
        if start not in self._found:
            self._found[start] = list(self._at(statement))
        return self._found[start]

    def _at(self, statement: Node) -> Iterator[Term]:
        visible = self._scope.variables(statement)
        usable = visible.keys() | self._scope.functions.keys() | self._scope.constant_names
        usable -= self._scope.later(statement.start_byte)
        function = self._source.function_at(statement.start_byte)
        own, lines = function.start_byte if function is not None else -1, lines_of(statement)[:OWN]

        plain = list(self._visible(visible))
        here = {term.text for term in plain}
        mentioned = {self._source.name(n) for n in walk(statement) if n.type == "identifier"}

        def near(one: _Known) -> tuple[Near, int]:
            far = max(lines.start - one.line, one.line - lines.stop + 1, 0)
            if one.function != own:
                own_names = one.names - self._scope.globals
                is_own = own_names and (own_names <= mentioned or one.text in own_names or one.text in here)
                return (Near.FUNCTION if is_own else Near.FILE), len(one.text)
            if statement.start_byte <= one.start < statement.end_byte and one.line in lines:
                return Near.STATEMENT, 0
            return (Near.AROUND if far <= AROUND else Near.FUNCTION), far

        ordered = sorted((one for one in self._known if one.names <= usable), key=near)
        seen = set[str]()
        for one in ordered:
            if one.text not in seen:
                seen.add(one.text)
                yield Term(one.text, one.type, one.key, one.is_place, near(one)[0])
        for term in plain:
            if term.text not in seen:
                seen.add(term.text)
                yield term

    def _visible(self, visible: dict[str, str]) -> Iterator[Term]:
        """The variables that a place can name, and their members."""
        for name, type_ in visible.items():
            resolved = self.types.resolved(type_)
            if is_number(resolved) or is_pointer(resolved) or resolved in BOOLS or self.types.enumerators(resolved):
                yield Term(name, resolved, name, True, Near.FUNCTION)
            word = "->" if is_pointer(resolved) else "."
            if resolved.count("*") < 2:
                for member, kind in self.types.members(resolved, name).items():
                    yield Term(f"{name}{word}{member}", self.types.resolved(kind), member, True, Near.FUNCTION)

    def conditions_on(self, key: str) -> list[tuple[str, str]]:
        """Operators and constants with which the file compares what has a name, or that it assigns to it."""
        return self._compared[key][:MOST_CONSTANTS]

    @cached_property
    def bounds(self) -> list[str]:
        """The constants that numbers of the file are kept below or above, the most frequent first; no plain 0 or 1."""
        ordering = ("<", "<=", ">", ">=")
        said = (one for function in self._source.functions for node in walk(function) for one in self._said(node))
        found = Counter(value for _, operator, value in said if operator in ordering and value not in ("0", "1"))
        return [value for value, _ in found.most_common()]

    @cached_property
    def flags(self) -> set[str]:
        """The names to which the file gives 1, or whether something holds, and nothing else but 0."""
        given: dict[str, set[str]] = defaultdict(set)
        for node in (node for function in self._source.functions for node in walk(function)):
            if node.type in _GIVING:
                name = self.key(node.child_by_field_name("left") or node.child_by_field_name("declarator") or node)
                given[name].add(self._given(node))
        return {name for name, values in given.items() if values <= {"0", "1"} and "1" in values}

    def _given(self, node: Node) -> str:
        """The value that a node gives: 0, 1 where it is that or whether something holds, empty where it is another."""
        operator, value = node.child_by_field_name("operator"), node.child_by_field_name("value")
        value = value or node.child_by_field_name("right")
        if value is None or (operator is not None and operator.type != "="):
            return ""
        text = self._source.name(value)
        return text if text in ("0", "1") else "1" if self.types.of(value) in BOOLS else ""

    def like(self, statement: Node, type_: str) -> list[Term]:
        """The terms at a statement that may stand for one of a type."""
        return [term for term in self.at(statement) if are_alike(term.type, type_)]

    def half(self, node: Node) -> Half:
        """What the function around a node half uses."""
        function = self._source.function_at(node.start_byte)
        return self.half_used.of(function) if function is not None else Half()

    def half_names(self, node: Node) -> frozenset[str]:
        """The names that are half used where a node stands."""
        half = self.half(node)
        return half.unread | half.unchanged | self.half_used.members

    def unread(self, statement: Node) -> list[Term]:
        """The terms at a statement that nothing reads: variables of its function, and members."""
        names = self.unused.at(statement) | self.half(statement).unread
        members = self.unused.members | self.half_used.members
        places = [term for term in self.at(statement) if term.is_place] if names or members else []
        return [one for one in places if one.text in names or (one.text != one.key and one.key in members)]

    def uncalled(self, statement: Node) -> Iterator[Term]:
        """Calls of the functions that the file defines for itself and does not call, with the nearest fitting terms."""
        own = self._source.function_at(statement.start_byte)
        others = (name for name in self.unused.uncalled if self._source.named_functions.get(name) != own)
        for name in sorted(set(others) - self._scope.later(statement.start_byte)):
            types = [self.types.resolved(type_) for type_ in self._scope.parameters.get(name, ())]
            ways = [[term.text for term in self.like(statement, type_)][:FITTING] for type_ in types]
            for chosen in islice(product(*ways), CALLS):
                yield Term(f"{name}({', '.join(chosen)})", self.types.result(name), name, False, Near.FUNCTION)

    # ---- The file ----------------------------------------------------------------------------------------------------

    @cached_property
    def _known(self) -> list[_Known]:
        return [one for function in self._source.functions for one in self._in(function)]

    def _in(self, function: Node) -> Iterator[_Known]:
        for node in walk(function):
            if node.type not in _TERMS or not self.is_value(node):
                continue
            if any(n.type in _CHANGING for n in walk(node)):
                continue
            type_ = self.types.of(node)
            if not type_ or type_ == "void":
                continue
            names = frozenset(self._source.name(n) for n in walk(node) if n.type == "identifier")
            place = node.type != "call_expression" and not self._source.of(node).startswith(b"&")
            text, key = self._source.name(node), self.key(node)
            if "\n" not in text and not self._scope.is_constant(text):
                yield _Known(text, type_, key, names, place, lines_of(node)[0], node.start_byte, function.start_byte)

    def is_value(self, node: Node) -> bool:
        """Whether a node is a value, and neither a name that is declared nor a function that is called."""
        parent = node.parent
        if parent is None or parent.child_by_field_name("function") == node:
            return False
        return not (parent.type.endswith(("declarator", "declaration")) and parent.child_by_field_name("value") != node)

    def key(self, node: Node | None) -> str:
        """What a term is called."""
        while node is not None and node.type not in ("identifier", "field_identifier"):
            name = _NAMED_BY.get(node.type, "argument")
            node = node.child_by_field_name(name)
        return self._source.name(node) if node is not None else ""

    @cached_property
    def _compared(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        for function in self._source.functions:
            for node in walk(function):
                for key, operator, value in self._said(node):
                    found[key][operator, value] = None
        return defaultdict(list, {key: list(known) for key, known in found.items()})

    def _said(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """What a node says of the values of a name: of which, by which operator, and which constant."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        word = operator.type if operator is not None else ""
        if node.type == "binary_expression" and word in _COMPARING and self._is_constant(right):
            yield self.key(left), word, self._source.name(right) if right is not None else ""
        elif node.type == "assignment_expression" and word == "=" and self._is_constant(right):
            yield self.key(left), "==", self._source.name(right) if right is not None else ""
        elif node.type == "switch_statement":
            chosen = node.child_by_field_name("condition")
            inner = chosen.named_children[0] if chosen is not None and chosen.named_children else None
            for case in walk(node):
                value = case.child_by_field_name("value") if case.type == "case_statement" else None
                if value is not None:
                    yield self.key(inner), "==", self._source.name(value)

    def _is_constant(self, node: Node | None) -> bool:
        if node is None:
            return False
        if node.type in ("number_literal", "char_literal"):
            return True
        return node.type == "identifier" and self._scope.is_constant(self._source.name(node))
