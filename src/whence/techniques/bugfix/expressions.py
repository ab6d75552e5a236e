"""Changes of expressions: another operator, constant, name or term, a condition negated, widened or narrowed.

Each is a *splice* of a unit's text: a range, the new text, and a tier: 0 are the changes that real fixes are most
often, 2 those of which there are most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

from whence.program.c_source import Place, Unit, walk
from whence.techniques.bugfix.scope import NUMBER, Scope, kind_of

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_NAMES, MOST_VARIABLES, MOST_LITERALS, MOST_ATOMS = 16, 24, 10, 40
GROUPS = (
    ("<", "<=", ">", ">=", "==", "!="),
    ("&&", "||"),
    ("+", "-", "*", "/", "%"),
    ("&", "|", "^"),
    ("<<", ">>"),
    ("&", "&&"),
    ("|", "||"),
)
_ORDERING, _EQUATING = ("<", "<=", ">", ">="), ("==", "!=")
_ODD = frozenset(
    (
        *(frozenset(pair) for pair in product(_ORDERING, _EQUATING)),
        *(frozenset(pair) for pair in product(("+", "-"), ("*", "/", "%"))),
    )
)
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=")
_TRUTHS = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")
_EXPONENT = re.compile(r"([\d.]+[eE])([+-]?\d+)(.*)")
_LOOSE = frozenset(("conditional_expression", "assignment_expression", "comma_expression"))
_TERMED = frozenset(("identifier", "field_expression", "subscript_expression", "call_expression", "binary_expression"))
_CASTS = ("long", "double", "unsigned", "unsigned char", "int")


@dataclass(frozen=True, slots=True)
class Splice:
    """``text`` in place of the bytes from ``start`` to ``end``."""

    start: int
    end: int
    text: bytes
    tier: int


class ExpressionChanges:
    """The changes of the expressions in one file."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._source = scope, scope.source
        self._atoms = Atoms(scope)
        self._by_type: dict[str, Callable[[Node], Iterator[tuple[Node, str, int]]]] = {
            "binary_expression": self._binary,
            "number_literal": self._number,
            "char_literal": self._character,
            "identifier": self._identifier,
            "field_identifier": self._member,
            "call_expression": self._call,
            "unary_expression": self._unary,
            "update_expression": self._update,
            "assignment_expression": self._assignment,
            "cast_expression": self._cast,
            "conditional_expression": self._conditional,
        }

    def of(self, unit: Unit) -> Iterator[Splice]:
        """The changes of a unit."""
        for node in walk(unit.node):
            change = self._by_type.get(node.type)
            for at, text, tier in change(node) if change else ():
                yield Splice(at.start_byte, at.end_byte, text.encode("latin-1"), tier)
            for text, tier in self._terms(node):
                yield Splice(node.start_byte, node.end_byte, text.encode("latin-1"), tier)
            if _is_truth(node, unit):
                yield from self._conditions(node, unit)

    def _text(self, node: Node | None) -> str:
        return self._source.name(node) if node is not None else ""

    # ---- Operators ---------------------------------------------------------------------------------------------------

    def _binary(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        left, right, operator = (node.child_by_field_name(n) for n in ("left", "right", "operator"))
        if left is None or right is None or operator is None:
            return
        old = self._text(operator)
        for new in dict.fromkeys(new for group in GROUPS if old in group for new in group):
            if new != old:
                yield operator, new, 1 if frozenset((old, new)) in _ODD else 0
        yield node, self._text(left), 0
        yield node, self._text(right), 0
        if old in ("-", "/", "%"):
            yield node, f"{self._operand(right)} {old} {self._operand(left)}", 0
        if old in ("+", "-", "*", "/", "<<"):
            for side in (left, right):
                for cast in _CASTS:
                    yield side, f"({cast}){self._operand(side)}", 2

    def _operand(self, node: Node) -> str:
        text = self._text(node)
        return f"({text})" if node.type in _LOOSE | {"binary_expression"} else text

    def _unary(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if self._text(operator) in ("!", "-", "~"):
            yield node, self._text(argument), 0

    def _update(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if operator is None or argument is None:
            return
        yield operator, "--" if self._text(operator) == "++" else "++", 0
        is_prefix = operator.start_byte < argument.start_byte
        text, sign = self._text(argument), self._text(operator)
        yield node, f"{text}{sign}" if is_prefix else f"{sign}{text}", 1

    def _assignment(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator = node.child_by_field_name("operator")
        if operator is not None:
            for new in _ASSIGNING:
                if new != self._text(operator):
                    yield operator, new, 0 if "=" in (new, self._text(operator)) or new[0] in "+-" else 1

    def _cast(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind is not None and value is not None:
            yield node, self._text(value), 1
            for cast in _CASTS:
                if cast != self._text(kind):
                    yield kind, cast, 1

    def _conditional(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        condition, first, second = (node.child_by_field_name(n) for n in ("condition", "consequence", "alternative"))
        if first is not None and second is not None:
            yield node, f"{self._text(condition)} ? {self._text(second)} : {self._text(first)}", 0
            yield node, self._text(first), 1
            yield node, self._text(second), 1

    # ---- Constants and names -----------------------------------------------------------------------------------------

    def _number(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old = self._text(node)
        for tier, texts in enumerate((_near(old), self._scope.literals(node)[:MOST_LITERALS])):
            yield from ((node, text, tier) for text in texts if text != old)
        yield from ((node, name, 2) for name in self._scope.constants[:MOST_NAMES])

    def _character(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old = self._text(node)
        yield from ((node, t, 1) for t in self._scope.literals(node)[:MOST_LITERALS] if t != old)

    def _identifier(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old, parent = self._text(node), node.parent
        if parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == node:
            arity = self._scope.functions.get(old)
            out = {old, "main"} | self._scope.later(node.start_byte)
            same = [n for n, number in self._scope.functions.items() if number == arity and n not in out]
            yield from ((node, name, 1) for name in same[:MOST_NAMES])
            return
        if self._scope.is_constant(old):
            others = self._scope.siblings.get(old) or self._scope.constants
            yield from ((node, name, 0) for name in others[:MOST_NAMES] if name != old)
            return
        visible = self._scope.variables(node)
        if old in visible:
            wanted = visible[old] if kind_of(visible[old]) != NUMBER else NUMBER
            same = [n for n, t in visible.items() if n != old and wanted in (t, kind_of(t))]
            yield from ((node, name, 0) for name in self._likely(node, old, same))

    def _likely(self, node: Node, old: str, names: list[str]) -> list[str]:
        """The names that are most likely meant: those of the function first, then those that look like the old one."""
        from rapidfuzz.distance import Indel

        function = self._source.function_at(node.start_byte)
        near = (
            {self._source.name(n) for n in walk(function) if n.type == "identifier"} if function is not None else set()
        )
        order = sorted(names, key=lambda name: (name not in near, Indel.normalized_distance(old, name)))
        return order[:MOST_VARIABLES]

    def _member(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        for name in self._scope.siblings.get(self._text(node), [])[:MOST_NAMES]:
            yield node, name, 0

    def _call(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        listed = node.child_by_field_name("arguments")
        given = [child for child in listed.named_children if child.type != "comment"] if listed is not None else []
        for first, second in combinations(given, 2):
            texts = [self._text(a) for a in given]
            one, two = given.index(first), given.index(second)
            texts[one], texts[two] = texts[two], texts[one]
            if listed is not None and texts[one] != texts[two]:
                yield listed, f"({', '.join(texts)})", 1
        for argument in given:
            for other in dict.fromkeys(self._text(a) for a in given if a != argument):
                if other != self._text(argument):
                    yield argument, other, 1

    # ---- Terms and conditions ----------------------------------------------------------------------------------------

    def _terms(self, node: Node) -> Iterator[tuple[str, int]]:
        """The node with 1 added or taken away, where a number may be used as a whole."""
        if node.type not in _TERMED or not _is_whole(node):
            return
        operator = node.child_by_field_name("operator")
        if node.type == "binary_expression" and self._text(operator) in _TRUTHS | {"&", "|", "^", "<<", ">>"}:
            return
        yield f"{self._text(node)} + 1", 0
        yield f"{self._text(node)} - 1", 0

    def _conditions(self, node: Node, unit: Unit) -> Iterator[Splice]:
        """A condition negated, forced, and with another one beside it."""
        text, start, end = self._text(node), node.start_byte, node.end_byte
        tight = node.type in ("identifier", "call_expression", "parenthesized_expression", "field_expression")
        negated = f"!{text}" if tight else f"!({text})"
        yield Splice(start, end, negated.encode("latin-1"), 0)
        if node == unit.node:
            yield from (Splice(start, end, forced, 1) for forced in (b"1", b"0"))
        for atom, tier in self._atoms.near(node):
            if atom != text:
                for operator in ("&&", "||"):
                    joined = f"{_within(node, text, operator)} {operator} {atom}"
                    yield Splice(start, end, joined.encode("latin-1"), tier)


def _within(node: Node, text: str, operator: str) -> str:
    """A condition as the left operand of ``&&`` or ``||``."""
    own = node.child_by_field_name("operator")
    joins = own is not None and own.type in ("&&", "||") and own.type != operator
    return f"({text})" if joins or node.type in _LOOSE else text


def _near(text: str) -> list[str]:
    """Constants near a number: one more or less, none, one, twice and half of it, a digit more or less."""
    if found := _INTEGER.fullmatch(text):
        base, number = (16, int(found[1], 16)) if found[1][:2] in ("0x", "0X") else (10, int(found[1]))
        near = [
            number + 1,
            number - 1,
            0,
            1,
            number * 2,
            number // 2,
            number * 10,
            number // 10,
            number + 2,
            number - 2,
        ]
        shown = [f"{'-' if n < 0 else ''}{hex(abs(n)) if base == 16 else abs(n)}{found[2]}" for n in near]
        return [shown for shown in dict.fromkeys(shown) if shown != text]
    if found := _EXPONENT.fullmatch(text):
        return [f"{found[1]}{int(found[2]) + step}{found[3]}" for step in (1, -1, 2, -2, 3, -3, 4, -4)]
    return []


def _is_whole(node: Node) -> bool:
    """Whether a node is a whole index, argument, operand of a comparison, value that is assigned or returned."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "binary_expression":
        operator = parent.child_by_field_name("operator")
        return operator is not None and operator.type in ("<", "<=", ">", ">=", "==", "!=")
    if parent.type in ("assignment_expression", "init_declarator"):
        return node in (parent.child_by_field_name("right"), parent.child_by_field_name("value"))
    if parent.type == "subscript_expression":
        return node == parent.child_by_field_name("index")
    return parent.type in ("argument_list", "return_statement")


def _is_truth(node: Node, unit: Unit) -> bool:
    """Whether only the truth of a node counts."""
    parent = node.parent
    if node == unit.node:
        return unit.place is Place.CONDITION
    if not node.is_named or node.type == "comment":
        return False
    if parent is not None and parent.type == "conditional_expression":
        return node == parent.child_by_field_name("condition")
    operator = parent.child_by_field_name("operator") if parent is not None else None
    joined = operator is not None and operator.type in ("&&", "||", "!")
    own = node.child_by_field_name("operator")
    returned = parent is not None and parent.type in ("return_statement", "init_declarator", "assignment_expression")
    return joined or (returned and own is not None and own.type in _TRUTHS)


class Atoms:
    """Conditions that a place can have: those that the file has elsewhere, and simple ones of the variables there."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._source = scope, scope.source
        self._known: dict[int, list[tuple[str, frozenset[str]]]] = {}

    def near(self, node: Node) -> list[tuple[str, int]]:
        """Conditions for a node with their tiers, those first that share names with it."""
        visible = self._scope.variables(node)
        function, later = self._source.function_at(node.start_byte), self._scope.later(node.start_byte)
        own = function.start_byte if function is not None else -1
        names = {self._source.name(n) for n in walk(_statement_of(node)) if n.type == "identifier"}
        known = visible.keys() | self._scope.functions.keys() | set(self._scope.constants) | {"NULL"} | _LIBRARY
        found: dict[str, tuple[int, int]] = {}
        for place, conditions in self._elsewhere.items():
            for text, used in conditions:
                if used <= known and not used & later:
                    rank = (place != own, -len(used & names))
                    found[text] = min(found.get(text, rank), rank)
        elsewhere = sorted(found, key=lambda text: found[text])[:MOST_ATOMS]
        simple = [text for text in self._simple(names, visible) if text not in found][:MOST_ATOMS]
        return [*((text, 1) for text in elsewhere), *((text, 2) for text in simple)]

    def _simple(self, names: set[str], visible: dict[str, str]) -> Iterator[str]:
        used = [(name, kind_of(type_)) for name, type_ in visible.items() if name in names]
        for name, kind in used:
            if kind == "pointer":
                yield from (f"{name} != NULL", f"{name} == NULL")
            elif kind == NUMBER:
                yield from (f"{name} {op} 0" for op in ("!=", "==", ">", "<", ">=", "<="))
        numbers = [name for name, type_ in visible.items() if kind_of(type_) == NUMBER]
        for name, kind in used:
            for other in numbers if kind == NUMBER else ():
                if other != name:
                    yield from (f"{name} {op} {other}" for op in ("<", ">", "!=", "==", "<=", ">="))

    @property
    def _elsewhere(self) -> dict[int, list[tuple[str, frozenset[str]]]]:
        """The conditions of each function (by its start), each with the names that it uses."""
        if not self._known:
            for function in self._source.functions:
                found = {self._source.name(n): n for n in walk(function) if n.type in _CONDITIONS and _decides(n)}
                self._known[function.start_byte] = [(text, self._names(n)) for text, n in found.items()]
        return self._known

    def _names(self, node: Node) -> frozenset[str]:
        return frozenset(self._source.name(n) for n in walk(node) if n.type == "identifier")


_LIBRARY = frozenset(("strcmp", "strncmp", "strlen", "strchr", "memcmp", "isdigit", "isspace", "isalpha", "isalnum"))
_CONDITIONS = frozenset(("binary_expression", "call_expression", "unary_expression", "identifier", "field_expression"))


def _decides(node: Node) -> bool:
    """Whether a node is a condition of its own: compared, or an operand of ``&&`` or ``||``, or tested."""
    own = node.child_by_field_name("operator")
    if node.type == "binary_expression":
        return own is not None and own.type in _TRUTHS - {"&&", "||"} and "\n" not in str(node.text)
    parent = node.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    joined = operator is not None and operator.type in ("&&", "||")
    tested = parent is not None and parent.type == "parenthesized_expression" and parent.parent is not None
    whole = tested and parent is not None and parent.parent is not None and parent.parent.type.endswith("_statement")
    return (joined or whole) and (node.type != "unary_expression" or (own is not None and own.type == "!"))


def _statement_of(node: Node) -> Node:
    """The statement or declaration that a node is part of."""
    at: Node | None = node
    while at is not None and not at.type.endswith(("_statement", "declaration")):
        at = at.parent
    return at or node
