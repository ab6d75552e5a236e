"""Statements that a file's own text asks for: what it says in one place is not kept to in another.

Source: contradictions within a program as signs of faults, Engler et al.: Bugs as deviant behavior, 2001. A value that
is kept and never given back, members or elements that are not set where those beside them are, a variable that stays as
it is while its twin changes, a depth that only grows, a flag that is never set: each may be right, and there are few of
them. No run is needed for that. (All that is counted up and never down, and members that are read and never set, were
tried as well: programs have hundreds of such.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from whence.program.c_source import CSource, declared_name, is_leaf, is_listed, lines_of, walk
from whence.program.source_edits import Kind
from whence.techniques.bugfix.conditions import statement_of
from whence.techniques.bugfix.expression_types import constant, is_pointer
from whence.techniques.bugfix.flags import never_changed
from whence.techniques.bugfix.nesting import only_counted_up
from whence.techniques.bugfix.number_rows import lacking
from whence.techniques.bugfix.put_in import Change, put_in
from whence.techniques.bugfix.scope import Scope, declared
from whence.techniques.bugfix.statements import is_last
from whence.techniques.bugfix.terms import Terms
from whence.techniques.bugfix.twins import letters_apart

if TYPE_CHECKING:
    from tree_sitter import Node

SIBLINGS = 3  # members that are set in one list of statements, for another one to be missing there
NOTHINGS = 2  # ... where they are set to nothing, and most of the structure's
GIVEN_BACK = 12  # places at which a kept value may be given back
PARALLEL = 2  # arrays of one size of which a list sets the same element
TWIN_NAME, BESIDE = 3, 12  # letters of a variable that has a twin, at least, and places beside the twin's change
NOTHING = frozenset(("0", "NULL", "0.0", "false"))
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLACES = frozenset(("identifier", "field_expression", "subscript_expression"))


class _Access(NamedTuple):
    """A use of a member: its object as it is written in front of the name, with the arrow or the point."""

    object: str
    type: str
    member: str
    is_set: bool
    is_nothing: bool  # what it is set to: 0 or NULL, also by an assignment of several
    statement: Node


class _Element(NamedTuple):
    """A use of an array's element ``at`` the value of a variable."""

    array: str
    at: str
    is_set: bool
    statement: Node


class Contradictions:
    """The statements that one file asks for."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._types = scope, scope.source, terms.types

    def changes(self) -> Iterator[Change]:
        """The statements with where they can be put in."""
        for function in self._source.functions:
            yield from self._given_back(function)
            yield from self._unchanged(function)
            yield from self._parallel(function)
            yield from self._flagged(function)
            yield from lacking(self._source, function)
        for function, place in only_counted_up(self._source):
            yield from self._counted_down(function, place)
        accesses = [(function, list(self._accesses(function))) for function in self._source.functions]
        read = {(one.type, one.member) for _, found in accesses for one in found if not one.is_set}
        for _, found in accesses:
            yield from self._siblings(found, read)

    def _given_back(self, function: Node) -> Iterator[Change]:
        """A place whose value a variable keeps, which nothing uses, gets it back: first where the function is left."""
        names = [self._source.name(n) for n in walk(function) if n.type == "identifier"]
        for node in (n for n in walk(function) if n.type == "init_declarator"):
            declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            name = declared_name(self._source, declarator) if declarator is not None else ""
            if value is None or value.type not in _PLACES or names.count(name) > 1:
                continue
            later = (n for n in self._source.statements if node.end_byte < n.start_byte < function.end_byte)
            inside = [n for n in later if name in self._scope.variables(n)]
            inside.sort(key=lambda n: n.type != "return_statement")
            for statement in inside[:GIVEN_BACK]:
                yield put_in(Kind.BEFORE, statement, f"{self._source.name(value)} = {name};")

    def _counted_down(self, function: Node, place: str) -> Iterator[Change]:
        """What a function that comes to itself counts up is counted down where it is left."""
        body, named = function.child_by_field_name("body"), set(_NAME.findall(place)[:1])
        for statement in self._source.inside(function):
            if not named <= self._scope.variables(statement).keys():
                continue
            if statement.type == "return_statement":
                yield put_in(Kind.BEFORE, statement, f"{place}--;")
            elif statement.parent == body and is_last(statement):
                yield put_in(Kind.BEHIND, statement, f"{place}--;")

    def _flagged(self, function: Node) -> Iterator[Change]:
        """A flag that its function tests, and that always has the same value, gets the other one somewhere in it."""
        inside = self._source.inside(function)
        for name, value in never_changed(self._source, function):
            for statement in (n for n in inside if name in self._scope.variables(n)):
                yield from _put_in_beside(statement, f"{name} = {value};")

    def _unchanged(self, function: Node) -> Iterator[Change]:
        """A variable that its function reads and never steps changes as its twin does, near where that does.

        Where one is a parameter and the other is not, they are no twins: ``argc`` is none of ``argn``.
        """
        changes: dict[str, list[Node]] = defaultdict(list)
        for node in walk(function):
            if (place := _stepped(node)) is not None and place.type == "identifier":
                changes[self._source.name(place)].append(node)
        known = {self._source.name(node) for node in walk(function) if node.type == "identifier"} - changes.keys()
        parameters = (node for node in walk(function) if node.type == "parameter_declaration")
        given = {name for node in parameters for name, _ in declared(self._source, node)}
        inside = self._source.inside(function)
        for name, twin in product(changes, sorted(known)):
            for node in changes[name] if _are_twins(name, twin) and (name in given) is (twin in given) else ():
                if len(lines_of(node)) > 1:
                    continue
                line, text = lines_of(node).start, _renamed(self._source, node, name, twin)
                for statement in sorted(inside, key=lambda n: abs(lines_of(n).start - line))[:BESIDE]:
                    visible = self._scope.variables(statement)
                    if twin in visible and visible[twin] == visible.get(name):
                        yield from _put_in_beside(statement, text)

    def _parallel(self, function: Node) -> Iterator[Change]:
        """Of arrays of one size whose elements are set side by side another one, too: its element becomes nothing.

        One of which the function sets and reads other elements: what it kept from an earlier time is still there.
        """
        elements = [one for node in walk(function) if (one := self._element(node)) is not None]
        lists: dict[tuple[int, str], dict[str, Node]] = defaultdict(dict)
        for one in elements:
            node = one.statement
            if one.is_set and is_leaf(node) and is_listed(node) and node.parent is not None:
                lists[node.parent.id, one.at][one.array] = node
        is_set, is_read = ({one.array for one in elements if one.is_set is way} for way in (True, False))
        cleared = {(one.array, one.at) for one in elements if one.is_set}
        for (_, at), beside in lists.items():
            sizes = {tuple(self._scope.sizes.get(array, ())) for array in beside}
            if len(beside) < PARALLEL or len(sizes) > 1 or () in sizes:
                continue
            last = list(beside.values())[-1]
            visible = self._scope.variables(last)
            for other in sorted((is_set & is_read) - beside.keys()):
                type_ = self._types.resolved(visible.get(other, ""))
                nothing = constant(type_.removesuffix("*").rstrip(), 0) if is_pointer(type_) else None
                is_like = tuple(self._scope.sizes.get(other, ())) in sizes and (other, at) not in cleared
                if is_like and nothing is not None:
                    yield put_in(Kind.BEHIND, last, f"{other}[{at}] = {nothing};")

    def _element(self, node: Node) -> _Element | None:
        """The use of an element that a node is: of an array, by a variable."""
        if node.type != "subscript_expression":
            return None
        array, index = node.child_by_field_name("argument"), node.child_by_field_name("index")
        if array is None or index is None or not array.type == index.type == "identifier":
            return None
        return _Element(self._source.name(array), self._source.name(index), _is_set(node), statement_of(node))

    def _siblings(self, accesses: list[_Access], read: set[tuple[str, str]]) -> Iterator[Change]:
        """Of an object whose members a function sets one by one, others that the file reads become nothing, too."""
        known = {(one.object, one.member) for one in accesses}
        lists: dict[tuple[int, str, str], dict[str, _Access]] = defaultdict(dict)
        for one in accesses:
            at = one.statement
            if one.is_set and is_leaf(at) and is_listed(at) and at.parent is not None:
                lists[at.parent.id, one.object, one.type][one.member] = one
        for (_, object_, type_), set_ in lists.items():
            members = self._types.members(type_)
            missing = [name for name in members if (object_, name) not in known and (type_, name) in read]
            if not _are_siblings(set_.values(), len(missing)):
                continue
            for member in missing:
                nothing = constant(self._types.resolved(members[member]), 0)
                if nothing is not None:
                    yield put_in(Kind.BEHIND, list(set_.values())[-1].statement, f"{object_}{member} = {nothing};")

    def _accesses(self, function: Node) -> Iterator[_Access]:
        """The uses of members in a function, in order of the text."""
        for node in (n for n in walk(function) if n.type == "field_expression"):
            argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
            if argument is not None and field is not None:
                type_ = self._types.resolved(self._types.of(argument)).rstrip("* ")
                object_ = self._source.text[node.start_byte : field.start_byte].decode("latin-1")
                name, nothing = self._source.name(field), self._is_nothing(node)
                yield _Access(object_, type_, name, _is_set(node), nothing, statement_of(node))

    def _is_nothing(self, node: Node) -> bool:
        """Whether what a member is set to is 0 or NULL."""
        value = node.parent
        while value is not None and value.type == "assignment_expression":
            value = value.child_by_field_name("right")
        return value is not None and self._source.name(value) in NOTHING


def _are_siblings(set_: Collection[_Access], missing: int) -> bool:
    """Whether members that are set one beside the other let those that are missing be expected there, too."""
    cleared = sum(one.is_nothing for one in set_)
    return len(set_) >= SIBLINGS or (cleared >= NOTHINGS and len(set_) > missing)


def _is_set(node: Node) -> bool:
    """Whether a member, or an element of it, is given a value that does not depend on the one before."""
    parent = node.parent
    while parent is not None and parent.type == "subscript_expression" and node == parent.named_children[0]:
        node, parent = parent, parent.parent
    if parent is None or parent.type != "assignment_expression" or parent.child_by_field_name("left") != node:
        return False
    operator = parent.child_by_field_name("operator")
    return operator is not None and operator.type == "="


def _stepped(node: Node) -> Node | None:
    """What a node changes by what it was, as a step does; None where it is no such change."""
    if node.type == "update_expression":
        return node.child_by_field_name("argument")
    operator = node.child_by_field_name("operator") if node.type == "assignment_expression" else None
    return node.child_by_field_name("left") if operator is not None and operator.type != "=" else None


def _are_twins(one: str, other: str) -> bool:
    """Whether two names differ in one letter; short ones do by chance."""
    return min(len(one), len(other)) >= TWIN_NAME and letters_apart(one, other) == 1


def _renamed(source: CSource, node: Node, name: str, new: str) -> str:
    """The text of a node, as a statement, with another name for a variable."""
    return re.sub(rf"(?<![\w.>]){name}\b", new, source.name(node)) + ";"


def _put_in_beside(statement: Node, text: str) -> Iterator[Change]:
    """What is put in in front of a statement, and behind it where nothing else stands there."""
    yield put_in(Kind.BEFORE, statement, text)
    if is_last(statement):
        yield put_in(Kind.BEHIND, statement, text)
