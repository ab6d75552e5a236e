"""Where the initial values of a static variable stand in the source: which line gives which of its bytes.

The compiler tells the line of a variable alone. Its initialiser is read from the syntax tree, by the rules of C for
braces, braces left out, and designators, over the type that debug information describes. What the preprocessor would
change there (included files, conditions) cannot be read so: then all bytes are given by the whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name

if TYPE_CHECKING:
    from tree_sitter import Node

    from whence.program.debug import CType, Variable

# What can be a whole structure (by a macro, say) or, with its braces left out, the first of its members: tried in turn.
WHOLES = (frozenset(("call_expression", "identifier", "compound_literal_expression")), frozenset(("call_expression",)))


# Nodes, most of a file, in which no variable is declared.
_DECLARING = ("struct_specifier", "enum_specifier", "type_definition", "function_declarator", "comment")
_WITHOUT = frozenset(
    ["expression_statement", "return_statement", "parenthesized_expression", "preproc_def", "preproc_function_def"]
).union(_DECLARING)


@dataclass(slots=True, frozen=True)
class Initialiser:
    """What gives ``size`` bytes of a variable, from byte ``start`` on: its ``line``, and the number that it is.

    ``value`` is None where it is no plain integer constant and no enumerator. Its ``text`` stands from byte ``at`` of
    the source on.
    """

    start: int
    size: int
    line: int
    value: int | None = None
    text: str = ""
    at: int = 0


class _Unreadable(Exception):
    """The initialiser is not what the type says."""


def initialised(source: CSource) -> dict[str, list[Node]]:
    """The declarators with an initialiser of a file, by the name that they declare."""
    found: dict[str, list[Node]] = {}
    waiting = [source.root]
    while waiting:
        node = waiting.pop()
        if node.type == "init_declarator":
            found.setdefault(declared_name(source, node), []).append(node)
        elif node.type not in _WITHOUT:
            waiting += node.named_children
    return found


def initialisers(source: CSource, declarator: Node, variable: Variable) -> list[Initialiser]:
    """What a variable's initialiser gives, in order of the bytes; ``declarator`` is one of ``initialised``."""
    value, ctype = declarator.child_by_field_name("value"), variable.type
    if value is None or ctype is None or ctype.size <= 0:
        return []
    for wholes in WHOLES:
        try:
            given = _Reader(source, wholes).given(ctype, 0, value)
            return sorted(given, key=lambda one: (one.start, one.size))
        except _Unreadable:
            continue
    return [Initialiser(0, ctype.size, _line(declarator))]


@dataclass(slots=True, frozen=True)
class _Reader:
    """Reads an initialiser; an item of one of the types ``wholes`` gives an aggregate as a whole."""

    source: CSource
    wholes: frozenset[str]

    def given(self, ctype: CType, start: int, value: Node) -> Iterator[Initialiser]:
        """What one initialiser gives of an object of a type that begins at a byte."""
        if value.type != "initializer_list":
            number = None if ctype.is_aggregate else _value(self.source, ctype, value)
            text = "" if number is None else self.source.name(value)
            yield Initialiser(start, ctype.size, _line(value), number, text, value.start_byte)
            return
        if any(child.type.startswith("preproc") or child.is_error for child in value.children):
            raise _Unreadable
        items = deque(child for child in value.named_children if child.type != "comment")
        if ctype.is_aggregate:
            yield from self._members(ctype, start, items, in_braces=True)
        elif items:
            yield from self.given(ctype, start, items.popleft())
        if items:
            raise _Unreadable

    def _members(self, ctype: CType, start: int, items: deque[Node], in_braces: bool) -> Iterator[Initialiser]:
        """What the next items give of the members or elements of an object, one after the other."""
        number = 0
        while items:
            if items[0].type == "initializer_pair":
                if not in_braces:
                    return
                number = yield from self._designated(ctype, start, items.popleft())
                continue
            part = _part(ctype, number)
            if part is None:
                return
            inner, offset = part
            if inner.is_aggregate and not self._is_whole(items[0], inner):
                yield from self._members(inner, start + offset, items, in_braces=False)
            else:
                yield from self.given(inner, start + offset, items.popleft())
            number += 1

    def _designated(self, ctype: CType, start: int, pair: Node) -> Generator[Initialiser, None, int]:
        """What an item with designators gives; returns the number of the member or element behind it."""
        designators = [child for child in pair.named_children if child.type.endswith("designator")]
        value = pair.child_by_field_name("value")
        if value is None or not designators:
            raise _Unreadable
        inner, at, following = ctype, start, 0
        for depth, designator in enumerate(designators):
            number = self._designated_number(inner, designator)
            part = _part(inner, number)
            if part is None:
                raise _Unreadable
            following = number + 1 if depth == 0 else following
            inner, at = part[0], at + part[1]
        if inner.is_aggregate and not self._is_whole(value, inner):
            raise _Unreadable
        yield from self.given(inner, at, value)
        return following

    def _designated_number(self, ctype: CType, designator: Node) -> int:
        inside = designator.named_children[0]
        if designator.type == "field_designator":
            names = [member.name for member in ctype.plain.members]
            if self.source.name(inside) in names:
                return names.index(self.source.name(inside))
        elif (number := _number(self.source, inside)) is not None:
            return number
        raise _Unreadable  # a range, an enumerator, a member of an anonymous structure

    def _is_whole(self, item: Node, ctype: CType) -> bool:
        """Whether an item gives the whole of an aggregate, rather than the first of its members."""
        if item.type == "initializer_list" or item.type in self.wholes:
            return True
        element = ctype.plain.element if ctype.plain.kind == "array" else None
        is_text = item.type in ("string_literal", "concatenated_string")
        return is_text and element is not None and element.plain.kind in ("char", "int")


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _part(ctype: CType, number: int) -> tuple[CType, int] | None:
    """The type and the first byte of an object's element or member by its number; None: there is none."""
    plain = ctype.plain
    if plain.kind == "array":
        element, count = plain.element, plain.counts[0] if plain.counts else -1
        if element is None or element.size <= 0 or not (number >= 0 and (count < 0 or number < count)):
            return None
        return element, number * element.size
    members = plain.members[:1] if plain.kind == "union" else plain.members
    return (members[number].type, members[number].offset // 8) if 0 <= number < len(members) else None


def _value(source: CSource, ctype: CType, node: Node) -> int | None:
    """The value of a constant that is a number or an enumerator of its type; None: it is something else."""
    if node.type == "identifier" and ctype.plain.kind == "enum":
        name = source.name(node)
        return next((value for value, known in ctype.plain.enumerators.items() if known == name), None)
    return _number(source, node)


_CHARACTERS = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}


def _number(source: CSource, node: Node) -> int | None:
    """The value of an integer constant; None: it is something else."""
    text = source.name(node)
    if node.type == "unary_expression" and text.startswith("-"):
        inner = _number(source, node.named_children[0])
        return None if inner is None else -inner
    if node.type == "char_literal":
        inside = text.strip("'")
        return ord(inside) if len(inside) == 1 else _CHARACTERS.get(inside[1:]) if inside[:1] == "\\" else None
    if node.type != "number_literal":
        return None
    digits = text.rstrip("uUlL").lower()
    try:
        return int(digits, 8) if digits[0] == "0" and digits.isdigit() else int(digits, 0)
    except ValueError:
        return None
