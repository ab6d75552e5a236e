"""Flags: variables of a function that it tests, and gives one value only, so that each test always comes out alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, walk
from whence.techniques.bugfix.scope import declared

if TYPE_CHECKING:
    from tree_sitter import Node

OTHER_VALUE = {"0": "1", "1": "0", "false": "true", "true": "false", "FALSE": "TRUE", "TRUE": "FALSE"}
_TESTS = frozenset(("if_statement", "while_statement", "do_statement", "for_statement", "conditional_expression"))
_EQUALITY, _LOGIC = frozenset(("==", "!=")), frozenset(("&&", "||"))


def never_changed(source: CSource, function: Node) -> Iterator[tuple[str, str]]:
    """The flags of a function that keep their value, each with the value that it never gets.

    What is counted, has its address taken, or stands in a call, which may be a macro that sets it, counts for nothing.
    """
    own = {name for node in walk(function) if node.type == "declaration" for name, _ in declared(source, node)}
    given, tested, other = defaultdict[str, set[str]](set), set[str](), set[str]()
    for node in (node for node in walk(function) if node.type == "identifier" and source.name(node) in own):
        name, value = source.name(node), _given(source, node)
        if value is not None:
            given[name].add(value)
        elif _is_tested(node):
            tested.add(name)
        elif not _is_declared(node):
            other.add(name)
    for name in sorted(tested - other):
        first, *others = given[name] or {""}
        if first in OTHER_VALUE and not others:
            yield name, OTHER_VALUE[first]


def _given(source: CSource, node: Node) -> str | None:
    """The value that a name gets where it stands; None where it gets none."""
    parent = node.parent
    if parent is None or parent.type not in ("init_declarator", "assignment_expression"):
        return None
    place, value = ("declarator", "value") if parent.type == "init_declarator" else ("left", "right")
    right = parent.child_by_field_name(value)
    operator = parent.child_by_field_name("operator")
    is_plain = operator is None or operator.type == "="
    if parent.child_by_field_name(place) != node or right is None:
        return None
    return source.name(right) if is_plain else ""


def _is_declared(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "declaration"


def _is_tested(node: Node) -> bool:
    """Whether all that matters of a name is whether it is 0, or equal to something."""
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        node, parent = parent, parent.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    if parent is None:
        return False
    if parent.type == "binary_expression" and operator is not None:
        return operator.type in _EQUALITY | _LOGIC
    if parent.type == "unary_expression" and operator is not None:
        return operator.type == "!"
    return parent.type in _TESTS and parent.child_by_field_name("condition") == node
