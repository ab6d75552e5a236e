"""Changes of whole statements: left out, guarded, preceded by another one, moved; missing checks; guards taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from whence.program.c_source import declared_name, is_leaf, is_listed, is_statement, walk
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.conditions import Conditions
from whence.techniques.bugfix.expression_types import BOOLS, is_pointer
from whence.techniques.bugfix.ingredients import Ingredients
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_CHECKS, MOST_LEAVES, MOST_CALLS, MOST_MOVES = 70, 4, 12, 6
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement"))
_TYPES = (
    *("char", "signed char", "unsigned char", "short", "int", "unsigned", "long", "unsigned long"),
    *("size_t", "float", "double"),
)

Change = tuple[tuple[Part, ...], int]  # the parts of an edit, and its tier


class StatementChanges:
    """The changes of the statements in one file."""

    def __init__(self, scope: Scope, terms: Terms, conditions: Conditions) -> None:
        self._scope, self._source = scope, scope.source
        self._terms, self._conditions = terms, conditions
        self._ingredients = Ingredients(scope, terms)

    def of(self, node: Node) -> Iterator[Change]:
        """The changes of a statement."""
        start, end, listed = node.start_byte, node.end_byte, is_listed(node)

        def part(kind: Kind, text: str = "") -> Part:
            return Part(kind, start, end, text.encode("latin-1"), listed=listed)

        yield (part(Kind.DELETE),), 0
        conditions = self._conditions.near(node)
        yield from (((part(Kind.GUARD, condition),), tier) for condition, tier in conditions)
        for text, tier in self._ingredients.at(node):
            yield (part(Kind.BEFORE, text),), tier
            if is_last(node):
                yield (part(Kind.BEHIND, text),), tier
        leaves = self._leaving(node)
        for condition, tier in conditions[:MOST_CHECKS]:
            for leave in leaves:
                yield (part(Kind.BEFORE, f"if ({condition}) {leave}"),), tier + 1
        if node.type == "expression_statement":
            yield from (((part(Kind.REPLACE, text),), 1) for text in self._ingredients.calls_at(node)[:MOST_CALLS])
        if node.type == "if_statement":
            yield from self._branches(node, part)
        yield from self._moved(node, part(Kind.DELETE))

    def behind(self, node: Node) -> Iterator[Change]:
        """What can be put behind a statement, the last one of its block."""
        for text, tier in self._ingredients.at(node):
            part = Part(Kind.BEHIND, node.start_byte, node.end_byte, text.encode("latin-1"), listed=is_listed(node))
            yield (part,), tier

    def _branches(self, node: Node, part: Callable[[Kind, str], Part]) -> Iterator[Change]:
        """The body without its condition; another branch that sets or counts what the body changes."""
        body, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if body is None or other is not None:
            return
        inner = body.named_children if body.type == "compound_statement" else [body]
        if len(inner) == 1 and is_statement(inner[0]):
            yield (part(Kind.REPLACE, self._source.name(inner[0])),), 0
        changed = [n.child_by_field_name("left") or n.child_by_field_name("argument") for n in walk(body) if _sets(n)]
        for left in {self._source.name(n): n for n in changed if n is not None}.values():
            name, type_ = self._source.name(left), self._terms.types.of(left)
            for value in ("false", "true") if type_ in BOOLS else ("NULL",) if is_pointer(type_) else ("0", "1"):
                yield (part(Kind.REPLACE, f"{self._source.name(node)} else {name} = {value};"),), 1

    def _moved(self, node: Node, deleted: Part) -> Iterator[Change]:
        """The statement moved to another place of its list."""
        if not (is_leaf(node) and is_listed(node) and node.parent is not None):
            return
        others = [n for n in node.parent.named_children if is_statement(n) and n != node]
        text, at = self._source.of(node), node.start_byte
        others.sort(key=lambda other: abs(other.start_byte - at))
        for number, other in enumerate(others[: 2 * MOST_MOVES]):
            kind = Kind.BEHIND if other.start_byte > at else Kind.BEFORE
            yield (deleted, Part(kind, other.start_byte, other.end_byte, text)), min(number // 2, 1)

    # ---- Leaving -----------------------------------------------------------------------------------------------------

    def _leaving(self, node: Node) -> list[str]:
        """Ways to leave early: what the function returns elsewhere, and out of a loop."""
        function = self._source.function_at(node.start_byte)
        if function is None:
            return []
        returns = [self._source.name(n) for n in walk(function) if n.type == "return_statement"]
        visible = self._scope.variables(node).keys() | set(self._scope.constants) | self._scope.functions.keys()
        found = [
            t
            for n in walk(function)
            if n.type == "return_statement" and self._ingredients.names(n) <= visible | {"NULL"}
            for t in [self._source.name(n)]
            if "\n" not in t
        ]
        declared = function.child_by_field_name("type")
        if not returns and declared is not None and self._source.of(declared) == b"void":
            found.append("return;")
        loop = node.parent
        while loop is not None and loop.type not in _LOOPS and loop.type != "function_definition":
            loop = loop.parent
        if loop is not None and loop.type in _LOOPS:
            found = ["continue;", "break;", *found]
        kind = self._terms.types.result(declared_name(self._source, _declarator(function)))
        found += ["return false;", "return true;"] if kind in BOOLS else ["return NULL;"] if is_pointer(kind) else []
        return list(dict.fromkeys(found))[:MOST_LEAVES]

    # ---- Declarations ------------------------------------------------------------------------------------------------

    def of_declaration(self, node: Node) -> Iterator[Change]:
        """Another type of what is declared, and a first value of a variable that has none."""
        kind = node.child_by_field_name("type")
        if kind is None:
            return
        words = [kind, *(c for c in node.children if c.type == "type_qualifier")]
        old = self._source.name(kind)
        if old in _TYPES or kind.type in ("primitive_type", "sized_type_specifier", "type_identifier"):
            for new in _TYPES if len(words) else ():
                if new != old and not any(c.type == "struct_specifier" for c in node.children):
                    yield (Part(Kind.TEXT, kind.start_byte, kind.end_byte, new.encode()),), 1
        for declarator in node.children_by_field_name("declarator"):
            if declarator.type in ("identifier", "pointer_declarator") and node.type == "declaration":
                text = self._source.of(declarator) + b" = 0"
                yield (Part(Kind.TEXT, declarator.start_byte, declarator.end_byte, text),), 1


def _declarator(function: Node) -> Node:
    return function.child_by_field_name("declarator") or function


def _sets(node: Node) -> bool:
    return node.type in ("assignment_expression", "update_expression")


def _next(node: Node) -> Node | None:
    found = node.next_named_sibling
    while found is not None and found.type == "comment":
        found = found.next_named_sibling
    return found


def is_last(node: Node) -> bool:
    """Whether nothing stands behind a statement in its list, or it is alone."""
    return not is_listed(node) or _next(node) is None
