"""Variables and members that a file half uses: nothing reads what one gets, or nothing changes what it begins with.

What is missing is often the other half. Right programs have hardly any such names (docs/fix.md), so each is a sign:
a value that is worked out and never read, a variable that begins with a literal and is never changed, or one that is
read before anything was put into it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name, walk

if TYPE_CHECKING:
    from tree_sitter import Node

FEW = 3  # half-used names of one kind in a function, or members in a file, at most, for them to mean something
_LITERAL = re.compile(r"-?\s*(?:\d[\w.]*|'.+'|true|false|TRUE|FALSE|NULL)")
_STATEMENTS = frozenset(("expression_statement", "comma_expression", "for_statement"))
_WRAPPED = frozenset(("parenthesized_expression", "subscript_expression"))
_MACRO = re.compile(r"[A-Z_][A-Z0-9_]*|va_\w+")
_READ, _MEMBER_READ = rb"(?<![\w.>])%s\b(?!\s*=[^=])", rb"(?:\.|->)\s*%s\b(?!\s*=[^=])"
_SET = rb"\b%s\b\s*(?:[-+*/%%&|^]|<<|>>)?=(?!=)|\b%s\b\s*(?:\+\+|--)|(?:\+\+|--|&)\s*%s\b"
_SKIPPED = frozenset(("array_declarator", "function_declarator"))
_NO_OWN = frozenset(("static", "extern", "const", "volatile"))


@dataclass(slots=True)
class _Uses:
    """How often a name is read, changed, or given to something that may do both; whether a literal is its first value.

    ``is_begun``: it has a first value. ``is_read_first``: it is read where the text first mentions it.
    """

    read: int = 0
    changed: int = 0
    handed: int = 0
    is_begun: bool = False
    has_literal: bool = False
    is_read_first: bool = False
    literals: int = 0  # statements that give it a literal

    @property
    def keeps_a_literal(self) -> bool:
        """Whether a literal is all that it ever is: its first value, or what one statement gives it."""
        if self.is_begun:
            return self.has_literal and not self.changed
        return self.changed == self.literals == 1 and not self.is_read_first


@dataclass(frozen=True, slots=True)
class Half:
    """What a function, or the file, half uses: names that nothing reads, that nothing changes, that are read unset."""

    unread: frozenset[str] = field(default_factory=frozenset)
    unchanged: frozenset[str] = field(default_factory=frozenset)
    unset: frozenset[str] = field(default_factory=frozenset)


class HalfUsed:
    """What one file half uses."""

    def __init__(self, source: CSource) -> None:
        self._source = source
        self._found: dict[int, Half] = {}

    def of(self, function: Node) -> Half:
        """What a function half uses of its own variables, numbers and pointers alone."""
        if function.start_byte not in self._found:
            self._found[function.start_byte] = self._in(function)
        return self._found[function.start_byte]

    def _in(self, function: Node) -> Half:
        uses = self._own(function)
        mentions = (n for n in walk(function) if n.type == "identifier" and self._source.name(n) in uses)
        for node in sorted(mentions, key=_when):
            self._note(uses[self._source.name(node)], node, self._source.name(node))
        unread = {name for name, one in uses.items() if not one.read + one.handed and one.changed + one.is_begun}
        kept = {name for name, one in uses.items() if one.read and not one.handed and one.keeps_a_literal}
        unset = {name for name, one in uses.items() if one.is_read_first and not one.is_begun}
        return Half(_few(unread), _few(kept), _few(unset))

    def _own(self, function: Node) -> dict[str, _Uses]:
        """The variables of a function's blocks that are scalars, each declared once."""
        found: dict[str, _Uses] = {}
        again = set[str]()
        body = function.child_by_field_name("body")
        for node in (n for n in walk(body) if n.type == "declaration") if body is not None else ():
            words = {self._source.name(child) for child in node.children}
            scalar = node.child_by_field_name("type")
            for declarator in node.children_by_field_name("declarator"):
                name = declared_name(self._source, declarator)
                if name in found:
                    again.add(name)
                is_aggregate = scalar is not None and scalar.type in ("struct_specifier", "union_specifier")
                points = any(n.type == "pointer_declarator" for n in walk(declarator))
                is_array = any(n.type in _SKIPPED for n in walk(declarator))
                if words & _NO_OWN and not (words & _NO_OWN == {"const"} and points):
                    continue
                if name and not is_array and (points or not is_aggregate):
                    found[name] = self._begun(declarator)
        return {name: one for name, one in found.items() if name not in again}

    def _begun(self, declarator: Node) -> _Uses:
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        text = self._source.name(value) if value is not None else ""
        return _Uses(is_begun=value is not None, has_literal=_LITERAL.fullmatch(text) is not None)

    @cached_property
    def members(self) -> frozenset[str]:
        """The members that are declared in the file, and set in it, and that nothing in it reads."""
        names = {
            declared_name(self._source, declarator)
            for node in walk(self._source.root)
            if node.type == "field_declaration"
            for declarator in node.children_by_field_name("declarator")
        }
        uses: dict[str, _Uses] = defaultdict(_Uses)
        for node in (n for n in walk(self._source.root) if n.type == "field_expression"):
            member = node.child_by_field_name("field")
            if member is not None:
                self._note(uses[self._source.name(member)], node, "")
        return _few({n for n, one in uses.items() if n in names and one.changed and not one.read + one.handed})

    def _note(self, uses: _Uses, node: Node, name: str) -> None:
        """Enter one mention of a variable or member."""
        read, changed, handed = self._way(node, name)
        if not (uses.read or uses.changed or uses.handed):
            uses.is_read_first = (read and not changed) or (changed and not _is_plain(node))
        uses.literals += self._gives_a_literal(node)
        uses.read, uses.changed, uses.handed = uses.read + read, uses.changed + changed, uses.handed + handed

    def _way(self, node: Node, name: str) -> tuple[bool, bool, bool]:
        """Whether a mention reads, changes, or hands on what may do both."""
        inner, at = node, node.parent
        while at is not None and at.type in _WRAPPED and at.named_children[0] == inner:
            inner, at = at, at.parent
        if at is None or (at.type.endswith("declarator") and at.child_by_field_name("value") != inner):
            return False, False, False
        if at.type in ("declaration", "sizeof_expression") or _is_measured(at):
            return False, False, False
        operator = at.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        if (at.type == "pointer_expression" and sign == "&") or (at.type == "field_expression" and sign == "."):
            return False, False, True
        if at.type == "argument_list":
            return (False, False, True) if self._is_macro(at) else (True, False, False)
        used = at.parent is not None and at.parent.type not in _STATEMENTS
        if at.type == "update_expression":
            return used, True, False
        if at.type == "assignment_expression" and at.child_by_field_name("left") == inner:
            return used, True, False
        return not self._feeds_itself(at, name), False, False

    def _gives_a_literal(self, node: Node) -> bool:
        """Whether a mention is the left side of a statement that assigns a literal."""
        at = node.parent
        if at is None or not _is_plain(node) or at.child_by_field_name("left") != node:
            return False
        right = at.child_by_field_name("right")
        is_statement = at.parent is not None and at.parent.type == "expression_statement"
        return is_statement and right is not None and _LITERAL.fullmatch(self._source.name(right)) is not None

    def _is_macro(self, arguments: Node) -> bool:
        call = arguments.parent
        called = call.child_by_field_name("function") if call is not None else None
        return called is None or _MACRO.fullmatch(self._source.name(called)) is not None

    def _feeds_itself(self, node: Node, name: str) -> bool:
        """Whether a value is only used to make the next one of the same variable."""
        at: Node | None = node
        while at is not None and at.type.endswith("expression"):
            left = at.child_by_field_name("left")
            if at.type == "assignment_expression" and left is not None and self._source.name(left) == name != "":
                return at.parent is not None and at.parent.type in _STATEMENTS
            if at.type == "call_expression":
                return False
            at = at.parent
        return False


def _is_measured(node: Node) -> bool:
    """Whether a mention stands in ``sizeof``, which reads nothing."""
    at: Node | None = node
    while at is not None and at.type in (*_WRAPPED, "pointer_expression", "field_expression"):
        at = at.parent
    return at is not None and at.type == "sizeof_expression"


def _when(node: Node) -> tuple[bool, int]:
    """Orders mentions as they are come to: what a loop does behind its body, and what is set, come late."""
    place, inner, at = node.start_byte, node, node.parent
    while at is not None and at.type.endswith("expression"):
        if at.type == "assignment_expression" and at.child_by_field_name("left") == inner:
            place = at.end_byte
        inner, at = at, at.parent
    is_behind = at is not None and at.type == "for_statement" and at.child_by_field_name("update") == inner
    return is_behind, place


def _is_plain(node: Node) -> bool:
    """Whether what is changed gets a value that does not depend on the one before."""
    at = node.parent
    while at is not None and at.type in _WRAPPED:
        at = at.parent
    operator = at.child_by_field_name("operator") if at is not None and at.type == "assignment_expression" else None
    return operator is not None and operator.type == "="


def reads(text: bytes, names: frozenset[str], are_members: bool = False) -> bool:
    """Whether a text that is put in reads one of some variables, or members."""
    pattern = _MEMBER_READ if are_members else _READ
    return any(re.search(pattern % name.encode(), text) for name in names)


def sets(text: bytes, names: frozenset[str]) -> bool:
    """Whether a text that is put in changes one of some names, or hands its address on."""
    return any(re.search(_SET % (name.encode(), name.encode(), name.encode()), text) for name in names)


def _few(names: set[str]) -> frozenset[str]:
    """Names that are few enough to be signs."""
    return frozenset(names) if len(names) <= FEW else frozenset()
