"""Changes of declarations: another type, also of what a function gives, a first value, a larger array.

Each needs a build of its own.

A declaration does nothing, so no ranking has it: what a suspicious statement names is declared wrongly, if anything is,
a variable, a parameter, a member or a function. Types that hold more, or keep the sign, are what real fixes mostly
write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import declared_name, walk
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.expression_types import BOOLS, CHARACTERS, FLOATS, ExpressionTypes, is_integer, is_number
from whence.techniques.bugfix.scope import Scope

if TYPE_CHECKING:
    from tree_sitter import Node

_DECLARING = ("declaration", "parameter_declaration", "field_declaration", "function_definition")
_OF_SMALL = ("int", "unsigned", "long", "size_t")
_OTHERS = {  # what a type is mended into most; those that are not listed are small
    **dict.fromkeys(("char", "signed char"), ("int", "unsigned char", "long", "size_t")),
    "int": ("long", "unsigned", "double", "size_t"),
    **dict.fromkeys(("unsigned", "size_t", "unsigned long"), ("int", "long", "unsigned long", "size_t")),
    **dict.fromkeys(("long", "double"), ("int", "long", "double", "unsigned long")),
    "float": ("double",),
    **dict.fromkeys(BOOLS, ("int", "long", "double")),
}
_SMALL = CHARACTERS | BOOLS | {"float", "short", "unsigned short", "int8_t", "uint8_t", "int16_t", "uint16_t"}
_UNSIGNED, _SIGNED = frozenset(("unsigned", "size_t", "unsigned long")), frozenset(("int", "long"))
LOSING, WIDER, LIKELY, POSSIBLE = -1, 0, 1, 2  # tiers; LOSING: the old type loses a part of the values


class DeclarationChanges:
    """The changes of the declarations in one file."""

    def __init__(self, scope: Scope, types: ExpressionTypes) -> None:
        self._source, self._resolved, self._type_of = scope.source, types.resolved, types.of

    def losing(self) -> Iterator[Part]:
        """Other types of variables whose own lose a part of what they are given."""
        for node in self._all:
            yield from (part for part, tier in self.of(node) if tier == LOSING)

    def on(self, line: int) -> Iterator[tuple[Part, int]]:
        """The changes of the declarations that begin on a line, each with its tier."""
        for node in self._all:
            if node.start_point[0] + 1 == line:
                yield from self.of(node)

    def named(self, node: Node) -> list[Node]:
        """The declarations in the file of what a node names, in the order of the names."""
        function = self._source.function_at(node.start_byte)
        own = function.start_byte if function is not None else -1
        found: dict[int, Node] = {}
        for name in (n for n in walk(node) if n.type in ("identifier", "field_identifier")):
            text = self._source.name(name)
            places = [-1] if name.type == "field_identifier" else [own, -1]
            declared = next((self._by_name[place, text] for place in places if self._by_name[place, text]), [])
            found |= {one.start_byte: one for one in declared}
        return list(found.values())

    def of(self, node: Node) -> Iterator[tuple[Part, int]]:
        """The changes of a declaration, each with its tier."""
        declarators = node.children_by_field_name("declarator")
        kind = node.child_by_field_name("type")
        if kind is None or not declarators:
            return
        texts = ["array_declarator"] if self._resolved(self._source.name(kind)) in CHARACTERS else []
        indirect = ("pointer_declarator", *texts)
        is_function = node.type == "function_definition"
        inside = [[one] if is_function else list(walk(one)) for one in declarators]
        points = all(any(n.type in indirect for n in nodes) for nodes in inside)
        yield from ((part, WIDER) for part in self._uncast(kind, declarators))
        given = [] if points else list(dict.fromkeys(self._as_given(node, kind, declarators)))
        yield from ((_text(kind, new), LOSING) for new in given)
        tests = is_function and self._resolved(self._source.name(kind)) in BOOLS  # which is what it is there for
        others = self._types(self._source.name(kind), points) if not tests else ()
        yield from ((_text(kind, new), tier) for new, tier in others if new not in given)
        for declarator in declarators if not is_function else ():
            if declarator.type in ("identifier", "pointer_declarator") and self._has_no_value(node):
                yield _text(declarator, f"{self._source.name(declarator)} = 0"), LIKELY
            sizes = (n.child_by_field_name("size") for n in walk(declarator) if n.type == "array_declarator")
            for size in sizes:
                if size is not None:
                    yield from ((_text(size, new), POSSIBLE) for new in self._larger(self._source.name(size)))

    def _uncast(self, kind: Node, declarators: list[Node]) -> Iterator[Part]:
        """One variable, with the type of what is cast to its own: ``double x = y;`` for ``long x = (long)y;``."""
        value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
        to, inner = (value.child_by_field_name(name) if value is not None else None for name in ("type", "value"))
        if value is None or to is None or inner is None or value.type != "cast_expression":
            return
        own, type_ = self._resolved(self._source.name(kind)), self._resolved(self._type_of(inner))
        if self._resolved(self._source.name(to)) == own != type_ and is_number(type_):
            between = self._source.text[kind.end_byte : value.start_byte]
            plain = inner.named_children[0] if inner.type == "parenthesized_expression" else inner
            yield Part(Kind.TEXT, kind.start_byte, value.end_byte, type_.encode() + between + self._source.of(plain))

    def _as_given(self, node: Node, kind: Node, declarators: list[Node]) -> Iterator[str]:
        """The types of values that variables of a function are given, or returned as, and that theirs lose a part of.

        Of a fraction what is behind the point; of a difference, in a type without a sign, that it is below 0; of a
        larger number, in a small type that the function gives as a larger one.
        """
        own, function = self._resolved(self._source.name(kind)), self._source.function_at(node.start_byte)
        if function is None or node.type != "declaration" or not is_integer(own):
            return
        names = {declared_name(self._source, one) for one in declarators}
        for name, value in self._given(function):
            type_ = self._resolved(self._type_of(value))
            if name in names and type_ in FLOATS:
                yield "double"
            elif name in names and own in _UNSIGNED and type_ in _SIGNED and _is_difference(value):
                yield type_
        result = function.child_by_field_name("type")
        if result is not None and names & self._returned(function):
            type_ = self._resolved(self._source.name(result))
            if type_ in FLOATS:
                yield "double"
            elif own in _SMALL and is_integer(type_) and type_ not in _SMALL:
                yield self._source.name(result)

    def _given(self, function: Node) -> Iterator[tuple[str, Node]]:
        """The variables of a function with the values that they are given."""
        for node in walk(function):
            left = node.child_by_field_name("left" if node.type == "assignment_expression" else "declarator")
            value = node.child_by_field_name("right" if node.type == "assignment_expression" else "value")
            if left is not None and left.type == "identifier" and value is not None:
                yield self._source.name(left), value

    def _returned(self, function: Node) -> set[str]:
        """The variables that a function returns as they are."""
        returns = (n for n in walk(function) if n.type == "return_statement" and n.named_children)
        return {self._source.name(n.named_children[0]) for n in returns}

    def _has_no_value(self, node: Node) -> bool:
        """Whether what a declaration declares has any value at first."""
        storage = {self._source.name(child) for child in node.children if child.type == "storage_class_specifier"}
        is_local = node.type == "declaration" and self._source.function_at(node.start_byte) is not None
        return is_local and storage.isdisjoint(("static", "extern"))

    def _types(self, written: str, points: bool) -> Iterator[tuple[str, int]]:
        """Other types than one, as it is written, each with its tier.

        What pointers lead to, and a text, becomes another kind of character alone.
        """
        old = self._resolved(" ".join(written.split()))
        if not is_number(old) and old not in BOOLS:
            return
        signs = old in CHARACTERS  # which they may have been given by mistake, too
        wider = 1 + signs if old in _SMALL and not points else 0
        for new in _OTHERS.get(old, _OF_SMALL):
            if new not in (old, written) and (not points or {old, new} <= CHARACTERS):
                yield new, WIDER if wider > 0 else LIKELY
                wider -= 1

    def _larger(self, size: str) -> tuple[str, ...]:
        """Larger sizes of an array."""
        return (str(int(size) + 1), str(2 * int(size))) if size.isdigit() else (f"{size} + 1",)

    @cached_property
    def _all(self) -> list[Node]:
        return [node for node in walk(self._source.root) if node.type in _DECLARING and not node.has_error]

    @cached_property
    def _by_name(self) -> dict[tuple[int, str], list[Node]]:
        """By function (by where it begins; -1: none, or a member) and name the declarations."""
        found: dict[tuple[int, str], list[Node]] = defaultdict(list)
        for node in self._all:
            is_of_file = node.type in ("field_declaration", "function_definition")
            function = self._source.function_at(node.start_byte) if not is_of_file else None
            place = function.start_byte if function is not None else -1
            for declarator in node.children_by_field_name("declarator"):
                found[place, declared_name(self._source, declarator)].append(node)
        return found


def _is_difference(value: Node) -> bool:
    operator = value.child_by_field_name("operator")
    return value.type == "binary_expression" and operator is not None and operator.type == "-"


def _text(node: Node, new: str) -> Part:
    return Part(Kind.TEXT, node.start_byte, node.end_byte, new.encode("latin-1"))
