"""First values that are missing: a variable is read before its function puts anything into it.

What it begins with elsewhere in the file comes first, then what stands for nothing, then what else has its type there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from whence.program.c_source import beside, declared_name, is_listed, lines_of, walk
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.conditions import OPPOSITE
from whence.techniques.bugfix.expression_types import BOOLS, FLOATS, is_number, is_pointer
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 40  # first values of a variable
_GIVING = frozenset(("init_declarator", "assignment_expression"))


class FirstValue(NamedTuple):
    """A value that a variable begins with: the line at which it is ``chosen``, and how it is ``written``."""

    line: int
    chosen: Part
    written: Part
    text: str


def _leads_to(pointer: str, type_: str) -> bool:
    """Whether a type is that of pointers to another one."""
    return pointer.endswith("*") and pointer[:-1].rstrip() == type_


def _first_use(declaration: Node) -> Node | None:
    """The statement in front of which a declared variable may be set, or the loop whose head declares it."""
    around = declaration.parent
    if around is None or around.type == "for_statement":
        return around
    behind = beside(declaration, 1) if around.type == "compound_statement" else None
    while behind is not None and behind.type == "declaration":
        behind = beside(behind, 1)
    return behind


class FirstValues:
    """The first values that variables of one file lack."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._terms = scope, scope.source, terms

    def all(self) -> Iterator[FirstValue]:
        """Those of all functions, in order of the text, the likeliest of each variable first."""
        for function in self._source.functions:
            unset = self._terms.half_used.of(function).unset
            for declaration in (n for n in walk(function) if n.type == "declaration") if unset else ():
                for declarator in declaration.children_by_field_name("declarator"):
                    name = declared_name(self._source, declarator)
                    if name in unset and declarator.type in ("identifier", "pointer_declarator"):
                        yield from self._of(function, declaration, declarator, name)

    def _of(self, function: Node, declaration: Node, declarator: Node, name: str) -> Iterator[FirstValue]:
        place = _first_use(declaration)
        if place is None:
            return
        inside = place.child_by_field_name("body") if place == declaration.parent else place
        type_ = self._terms.types.resolved(self._scope.variables(inside or place).get(name, ""))
        for value in islice(dict.fromkeys(self._values(name, type_, place, function)), MOST):
            text = f"{self._source.name(declarator)} = {value}".encode("latin-1")
            written = Part(Kind.TEXT, declarator.start_byte, declarator.end_byte, text)
            loop = declaration.parent
            if loop is not None and loop.type == "for_statement":
                chosen = self._whole(loop, written)
            else:
                chosen = Part(Kind.BEFORE, place.start_byte, place.end_byte, f"{name} = {value};".encode("latin-1"))
            yield FirstValue(lines_of(place).start, chosen, written, f" = {value}")

    def _whole(self, loop: Node, written: Part) -> Part:
        """A loop with a part of its head written otherwise."""
        start, text = loop.start_byte, self._source.of(loop)
        new = text[: written.start - start] + written.text + text[written.end - start :]
        return Part(Kind.REPLACE, start, loop.end_byte, new, listed=is_listed(loop))

    def _values(self, name: str, type_: str, place: Node, function: Node) -> Iterator[str]:
        """What a variable can begin with; none where it is no number and no pointer."""
        terms = [term for term in self._terms.at(place) if term.key != name]
        usable = self._scope.variables(place).keys() | self._scope.functions.keys() | self._scope.constant_names
        if is_pointer(type_) or is_number(type_) or type_ in BOOLS:
            yield from (text for text, names in self._elsewhere[name] if names <= usable)
            yield from self._compared(name, function)
            nothing = ("NULL",) if is_pointer(type_) else ("false", "true") if type_ in BOOLS else ("0", "1", "-1")
            yield from nothing
            yield from self._terms.types.enumerators(type_)
            yield from (term.text for term in terms if term.type == type_)
            yield from (f"{term.text}[0]" for term in terms if _leads_to(term.type, type_))
            if is_pointer(type_):
                yield from (f"&{term.text}" for term in terms if _leads_to(type_, term.type))
            elif type_ not in FLOATS:
                yield from self._scope.literals(place)

    def _compared(self, name: str, function: Node) -> Iterator[str]:
        """What the function compares a variable with: a walk often ends where it began."""
        for node in (n for n in walk(function) if n.type == "binary_expression"):
            operator = node.child_by_field_name("operator")
            sides = [self._source.name(side) for side in (node.children[0], node.children[-1])]
            if operator is not None and operator.type in OPPOSITE and name in sides:
                yield sides[1 - sides.index(name)]

    @cached_property
    def _elsewhere(self) -> dict[str, list[tuple[str, frozenset[str]]]]:
        """What variables are given in the file, by their names, with the names in it."""
        found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
        for node in (n for function in self._source.functions for n in walk(function) if n.type in _GIVING):
            place, value = ("left", "right") if node.type == "assignment_expression" else ("declarator", "value")
            left, right = node.child_by_field_name(place), node.child_by_field_name(value)
            if left is not None and right is not None and left.type in ("identifier", "pointer_declarator"):
                names = frozenset(self._source.name(n) for n in walk(right) if n.type == "identifier")
                text = self._source.name(right)
                if "\n" not in text and right.type != "initializer_list":
                    found[declared_name(self._source, left)].append((text, names))
        return found
