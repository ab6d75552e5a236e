"""Changes of whole statements: left out, guarded, preceded by another one, exchanged with the next; missing checks.

What is put in comes from the program itself, since what a fix needs mostly stands elsewhere in it (Martinez, Weimer,
Monperrus: Do the fix ingredients already exist?, 2014), or is one of a few simple forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import is_leaf, is_listed, lines_of, walk
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.expressions import Atoms
from whence.techniques.bugfix.scope import NUMBER, POINTER, Scope, kind_of

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_COPIES, MOST_GUARDS, MOST_CHECKS, MOST_SET = 60, 30, 16, 10
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement"))
_TYPES = (
    *("char", "signed char", "unsigned char", "short", "int", "unsigned", "long", "unsigned long"),
    *("size_t", "float", "double"),
)

Change = tuple[tuple[Part, ...], int]  # the parts of an edit, and its tier


class StatementChanges:
    """The changes of the statements in one file."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._source = scope, scope.source
        self._atoms = Atoms(scope)

    def of(self, node: Node) -> Iterator[Change]:
        """The changes of a statement."""
        start, end, listed = node.start_byte, node.end_byte, is_listed(node)

        def part(kind: Kind, text: str = "") -> Part:
            return Part(kind, start, end, text.encode("latin-1"), listed=listed)

        yield (part(Kind.DELETE),), 0
        atoms = self._atoms.near(node)
        yield from (((part(Kind.GUARD, atom),), tier) for atom, tier in atoms[:MOST_GUARDS])
        for text, tier in self._copies(node):
            yield (part(Kind.BEFORE, text),), tier
            if _is_last(node):
                yield (part(Kind.BEHIND, text),), tier
        for atom, tier in atoms[:MOST_CHECKS]:
            for leave in self._leaving(node):
                yield (part(Kind.BEFORE, f"if ({atom}) {leave}"),), max(tier, 1)
        following = _next(node)
        if following is not None and listed and is_listed(following):
            text = self._source.name(node)
            if is_leaf(node) and is_leaf(following):
                moved = Part(Kind.BEHIND, following.start_byte, following.end_byte, text.encode("latin-1"))
                yield (part(Kind.DELETE), moved), 0

    # ---- What is put in ----------------------------------------------------------------------------------------------

    def _copies(self, node: Node) -> Iterator[tuple[str, int]]:
        """Statements of the file that mean something at a place, those of its function first, and simple ones."""
        visible = self._scope.variables(node)
        known = visible.keys() | self._scope.functions.keys() | set(self._scope.constants)
        function = self._source.function_at(node.start_byte)
        own = function.start_byte if function is not None else -1
        line = lines_of(node)[0]
        later = self._scope.later(node.start_byte)
        fitting = [
            (place != own, abs(at - line), text)
            for place, at, text, used, called in self._leaves
            if used <= known and not called & later
        ]
        seen = dict.fromkeys(text for _, _, text in sorted(fitting))
        for number, text in enumerate(seen):
            if number < MOST_COPIES:
                yield text, 0 if number < MOST_COPIES // 3 else 1
        names = {self._source.name(n) for n in walk(function or node) if n.type == "identifier"}
        for name in [n for n, t in visible.items() if n in names and kind_of(t) in (NUMBER, POINTER)][:MOST_SET]:
            texts = [f"{name} = 0;", f"{name}++;", f"{name}--;"] if kind_of(visible[name]) == NUMBER else []
            yield from ((text, 1) for text in texts or [f"{name} = NULL;"] if text not in seen)

    @cached_property
    def _leaves(self) -> list[tuple[int, int, str, frozenset[str], frozenset[str]]]:
        """The simple statements of all functions: of which function, line, text, the names that it uses and calls."""
        return [
            (function.start_byte, lines_of(node)[0], self._source.name(node), self._names(node), self._called(node))
            for function in self._source.functions
            for node in walk(function)
            if node.type == "expression_statement" and not node.has_error and b"\n" not in self._source.of(node)
        ]

    def _called(self, node: Node) -> frozenset[str]:
        calls = (n.child_by_field_name("function") for n in walk(node) if n.type == "call_expression")
        return frozenset(self._source.name(function) for function in calls if function is not None)

    def _names(self, node: Node) -> frozenset[str]:
        """The names that a statement uses, but for those of functions that it calls."""
        called = {
            n.child_by_field_name("function")
            for n in walk(node)
            if n.type == "call_expression" and n.child_by_field_name("function") is not None
        }
        places = {n.start_byte for n in called if n is not None}
        used = (n for n in walk(node) if n.type == "identifier")
        return frozenset(self._source.name(n) for n in used if n.start_byte not in places)

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
            if n.type == "return_statement" and self._names(n) <= visible | {"NULL"}
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
        return list(dict.fromkeys(found))[:4]

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


def _next(node: Node) -> Node | None:
    found = node.next_named_sibling
    while found is not None and found.type == "comment":
        found = found.next_named_sibling
    return found


def _is_last(node: Node) -> bool:
    """Whether nothing stands behind a statement in its list, or it is alone."""
    return not is_listed(node) or _next(node) is None
