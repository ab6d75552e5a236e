"""The pointers that a place follows: what a missing check asks of them has to come before."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, walk

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 4
_ASKED_AGAIN = frozenset(("identifier", "field_expression", "subscript_expression", "pointer_expression"))
_CHANGING = frozenset(("assignment_expression", "update_expression", "call_expression"))


def followed(source: CSource, node: Node, arrays: Collection[str]) -> list[str]:
    """The pointers that a node goes through, in the order of the text, each once; ``arrays`` are the names of none.

    Such alone as can be asked for once more without effect. Of many none: they were checked before.
    """
    found = dict.fromkeys(
        source.name(pointer)
        for one in walk(node)
        if (pointer := _pointer(source, one)) is not None and _can_be_asked(pointer)
    )
    pointers = [text for text in found if text not in arrays and not text.startswith("&") and "\n" not in text]
    return pointers if len(pointers) <= MOST else []


def _pointer(source: CSource, node: Node) -> Node | None:
    """What a node follows; None: it is no such expression."""
    operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    is_followed = (
        (node.type == "field_expression" and operator is not None and operator.type == "->")
        or (node.type == "pointer_expression" and source.of(node).startswith(b"*"))
        or node.type == "subscript_expression"
    )
    while is_followed and argument is not None and argument.type == "parenthesized_expression":
        argument = next(iter(argument.named_children), None)
    return argument if is_followed else None


def _can_be_asked(pointer: Node) -> bool:
    return pointer.type in _ASKED_AGAIN and not any(node.type in _CHANGING for node in walk(pointer))
