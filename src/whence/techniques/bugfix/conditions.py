"""Conditions that a place can have: those that the file has elsewhere, and comparisons of the terms of the place.

A missing check mostly compares what its statement speaks of, with a constant that the program compares such things
with, with another value of the same type, or with NULL; or it is a check that stands elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

from whence.program.c_source import walk
from whence.techniques.bugfix.expression_types import (
    BOOLS,
    CHARACTERS,
    FLOATS,
    TRUTHS,
    are_alike,
    is_integer,
    is_number,
    is_pointer,
)
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Near, Term, Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_PAIRED, MOST_CONSTANTS, MOST_STRINGS = 12, 8, 5
TIERS = (45, 110, 240)  # how many conditions are of the first tier, of the first two, and all of them
_APART = 0.3  # what it costs that a condition stands in another function (twice that), or is the opposite of one
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_ORDERING = ("<", ">", ">=", "<=", "!=", "==")
_LIBRARY = frozenset(
    [
        *("strcmp", "strncmp", "strlen", "strchr", "memcmp", "isdigit", "isspace", "isalpha", "isalnum", "isupper"),
        *("islower", "ispunct", "isfinite", "isnan", "NULL", "EOF"),
    ]
)
_CONDITIONS = frozenset(("binary_expression", "call_expression", "unary_expression", "identifier", "field_expression"))


class Conditions:
    """The conditions that places of one file can have."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._terms = scope, scope.source, terms
        self._found: dict[int, list[tuple[str, int]]] = {}

    def near(self, node: Node) -> list[tuple[str, int]]:
        """Conditions for a node with their tiers (from 1), the likely ones first."""
        statement = statement_of(node)
        if statement.start_byte not in self._found:
            costs: dict[str, float] = {}
            for text, cost in (*self._elsewhere_at(statement), *self._compared(statement)):
                costs[text] = min(cost, costs.get(text, cost))
            order = sorted(costs, key=lambda text: costs[text])[: TIERS[-1]]
            self._found[statement.start_byte] = [(t, 1 + bisect_right(TIERS, n)) for n, t in enumerate(order)]
        return self._found[statement.start_byte]

    # ---- Conditions that stand elsewhere -----------------------------------------------------------------------------

    def _elsewhere_at(self, statement: Node) -> Iterator[tuple[str, float]]:
        visible = self._scope.variables(statement)
        function, later = self._source.function_at(statement.start_byte), self._scope.later(statement.start_byte)
        own = function.start_byte if function is not None else -1
        names = {self._source.name(n) for n in walk(statement) if n.type == "identifier"}
        known = visible.keys() | self._scope.functions.keys() | set(self._scope.constants) | _LIBRARY
        found: dict[str, tuple[int, int]] = {}
        for place, conditions in self._elsewhere.items():
            for texts, used in conditions:
                if used <= known and not used & later:
                    for number, text in enumerate(texts):
                        rank = (2 * (place != own) + number, -len(used & names))
                        found[text] = min(found.get(text, rank), rank)
        for text, (place, shared) in found.items():
            yield text, _APART * place + (0.0 if shared else 1.0)

    @cached_property
    def _elsewhere(self) -> dict[int, list[tuple[list[str], frozenset[str]]]]:
        """The conditions of each function (by its start), each with its opposite and the names that it uses."""
        found = {}
        for function in self._source.functions:
            nodes = {self._source.name(n): n for n in walk(function) if n.type in _CONDITIONS and decides(n)}
            found[function.start_byte] = [(self._ways(n), self._names(n)) for text, n in nodes.items()]
        return found

    def _ways(self, node: Node) -> list[str]:
        text, operator = self._source.name(node), node.child_by_field_name("operator")
        if node.type == "binary_expression" and operator is not None and operator.type in OPPOSITE:
            start, end = operator.start_byte - node.start_byte, operator.end_byte - node.start_byte
            return [text, text[:start] + OPPOSITE[operator.type] + text[end:]]
        return [text, text[1:] if text.startswith("!") else f"!{text}"]

    def _names(self, node: Node) -> frozenset[str]:
        return frozenset(self._source.name(n) for n in walk(node) if n.type == "identifier")

    # ---- Comparisons -------------------------------------------------------------------------------------------------

    def _compared(self, statement: Node) -> Iterator[tuple[str, float]]:
        """Comparisons of the terms of a place, with what they cost."""
        terms = self._terms.at(statement)
        for term in terms:
            yield from ((text, term.near + 0.5) for text in self._usual(term))
        near = [term for term in terms if term.near <= Near.AROUND][:MOST_PAIRED]
        for one, other in combinations(near, 2):
            yield from ((text, max(one.near, other.near) + 0.6) for text in self._pair(one, other))
        strings = [term for term in terms if term.type == "char *" and term.near <= Near.FUNCTION][:MOST_STRINGS]
        for one, other in combinations(strings, 2):
            yield from ((text, max(one.near, other.near) + 0.2) for text in self._pair(one, other))
        yield from self._string_ends(near)
        pointers = [term for term in terms if is_pointer(term.type)]
        for one, other in product([t for t in pointers if t.near is Near.STATEMENT][:MOST_PAIRED], pointers):
            if other.near > Near.AROUND:
                yield from ((text, other.near + 0.4) for text in self._pair(one, other))
        for term in terms:
            if is_number(term.type) and term.type not in CHARACTERS and term.near < Near.FILE:
                yield from ((f"{term.text} {operator} 0", term.near + 0.7) for operator in _ORDERING)

    def _usual(self, term: Term) -> Iterator[str]:
        """Comparisons of a term with the constants that it has elsewhere, or that its type has."""
        text, type_ = term.text, term.type
        if type_ in BOOLS:
            yield from (text, f"!{text}")
        elif is_pointer(type_):
            yield from (f"{text} != NULL", f"{text} == NULL")
        known = self._terms.conditions_on(term.key)
        for operator, constant in known:
            yield from (f"{text} {operator} {constant}", f"{text} {OPPOSITE[operator]} {constant}")
        constants = dict.fromkeys([*(constant for _, constant in known), *self._terms.types.enumerators(type_)])
        constants |= {other: None for constant in list(constants) for other in self._scope.siblings.get(constant, ())}
        if type_ in CHARACTERS:
            constants["'\\0'"] = None
        for constant in list(constants)[:MOST_CONSTANTS]:
            yield from (f"{text} == {constant}", f"{text} != {constant}")

    def _string_ends(self, near: list[Term]) -> Iterator[tuple[str, float]]:
        """Whether a string ends where a number says, as what was compared in its first characters alone leaves open."""
        strings = [term for term in near if term.type == "char *"][:MOST_STRINGS]
        lengths = [term for term in near if is_integer(term.type) and term.type not in CHARACTERS][:MOST_STRINGS]
        for string, length in product(strings, lengths):
            text, cost = f"{string.text}[{length.text}]", max(string.near, length.near) + 0.5
            yield from ((f"{text} {operator} '\\0'", cost) for operator in ("==", "!="))

    def _pair(self, one: Term, other: Term) -> Iterator[str]:
        """Comparisons of two terms."""
        a, b = one.text, other.text
        if one.type == other.type == "char *" and self._scope.compares_strings:
            yield from (f"strcmp({min(a, b)}, {max(a, b)}) {operator} 0" for operator in ("==", "!="))
        if is_pointer(one.type) and one.type == other.type:
            yield from (f"{a} {operator} {b}" for operator in ("==", "!="))
        elif one.type in BOOLS and other.type in BOOLS:
            yield f"{a} != {b}"
        elif are_alike(one.type, other.type) and (is_integer(one.type) or one.type in FLOATS):
            yield from (f"{a} {operator} {b}" for operator in _ORDERING)


def decides(node: Node) -> bool:
    """Whether a node is a condition of its own: compared, or an operand of ``&&`` or ``||``, or tested."""
    own = node.child_by_field_name("operator")
    if node.type == "binary_expression":
        return own is not None and own.type in TRUTHS - {"&&", "||"} and b"\n" not in (node.text or b"")
    parent = node.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    joined = operator is not None and operator.type in ("&&", "||")
    tested = parent is not None and parent.type == "parenthesized_expression" and parent.parent is not None
    whole = tested and parent is not None and parent.parent is not None and parent.parent.type.endswith("_statement")
    return (joined or whole) and (node.type != "unary_expression" or (own is not None and own.type == "!"))


def statement_of(node: Node) -> Node:
    """The statement or declaration that a node is part of."""
    at: Node | None = node
    while at is not None and not at.type.endswith(("_statement", "declaration")):
        at = at.parent
    return at or node
