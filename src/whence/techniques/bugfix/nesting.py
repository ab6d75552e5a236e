"""Depths: what functions that come to themselves count up, and keep within a limit.

Who comes back out of a function has to count down again, or the limit is reached by what only comes one behind the
other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, walk
from whence.techniques.bugfix.scope import declared

if TYPE_CHECKING:
    from tree_sitter import Node

_PLACES = frozenset(("identifier", "field_expression"))
_ORDERING = frozenset(("<", "<=", ">", ">="))
_DECLARING = frozenset(("declaration", "parameter_declaration"))


def only_counted_up(source: CSource) -> Iterator[tuple[Node, str]]:
    """The functions that come to themselves, each with what it counts up, as it is written there.

    Such variables and members as something compares, and as the file neither counts down nor sets to anything but 0.
    """
    nodes = [node for function in source.functions for node in walk(function)]
    lowered = {_key(source, place) for node in nodes if (place := _lowered(source, node)) is not None}
    limited = {_key(source, place) for node in nodes for place in _compared(node)}
    for function in _coming_back(source):
        own = {name for node in walk(function) if node.type in _DECLARING for name, _ in declared(source, node)}
        counted = [place for node in walk(function) if (place := _counted(node, "++")) is not None]
        named = {source.name(place): _key(source, place) for place in counted}
        yield from ((function, name) for name, key in named.items() if key in limited - lowered and name not in own)


def _coming_back(source: CSource) -> list[Node]:
    """The functions of a file that call themselves, or others that come to them."""
    functions = source.named_functions
    comes_to = {name: source.called(node) & functions.keys() for name, node in functions.items()}
    is_more = True
    while is_more:
        is_more = False
        for name, called in comes_to.items():
            further = called.union(*(comes_to[one] for one in called))
            is_more |= further != called
            comes_to[name] = further
    return [node for name, node in functions.items() if name in comes_to[name]]


def _counted(node: Node, sign: str) -> Node | None:
    """The variable or member that a node counts up or down, by the sign of that."""
    operator = node.child_by_field_name("operator") if node.type == "update_expression" else None
    place = node.child_by_field_name("argument") if operator is not None and operator.type == sign else None
    return place if place is not None and place.type in _PLACES else None


def _lowered(source: CSource, node: Node) -> Node | None:
    """What a node counts down, makes less, or sets to anything but 0."""
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if node.type != "assignment_expression" or operator is None or left is None or right is None:
        return _counted(node, "--")
    is_less = operator.type == "-=" or (operator.type == "=" and source.of(right) != b"0")
    return left if is_less and left.type in _PLACES else None


def _compared(node: Node) -> Iterator[Node]:
    """The variables and members that a node compares by size, also where they are counted in it."""
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    for name in ("left", "right") if operator is not None and operator.type in _ORDERING else ():
        side = node.child_by_field_name(name)
        place = side.child_by_field_name("argument") if side is not None and side.type == "update_expression" else side
        if place is not None and place.type in _PLACES:
            yield place


def _key(source: CSource, place: Node) -> str:
    """What a variable or a member is called."""
    return source.name(place.child_by_field_name("field") or place)
