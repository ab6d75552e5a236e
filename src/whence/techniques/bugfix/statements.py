"""Changes of whole statements: left out, guarded, preceded by another one, moved; missing checks; guards taken away.

A statement behind an ``if`` may lack an ``else`` in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, beside, declared_name, is_leaf, is_listed, is_statement, walk
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.conditions import Conditions, decides
from whence.techniques.bugfix.expression_types import BOOLS, is_integer, is_pointer
from whence.techniques.bugfix.fitting import Fitting
from whence.techniques.bugfix.followed import followed
from whence.techniques.bugfix.ingredients import Ingredients
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Terms
from whence.techniques.bugfix.unused_names import FEW

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_CHECKS, MOST_LEAVES, MOST_CALLS, MOST_MOVES, MOST_ELEMENTS = 70, 5, 12, 6, 12
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement"))
_ENDING = frozenset(("return_statement", "break_statement", "continue_statement"))

Change = tuple[tuple[Part, ...], float]  # the parts of an edit, and its tier


class StatementChanges:
    """The changes of the statements in one file."""

    def __init__(self, scope: Scope, terms: Terms, conditions: Conditions) -> None:
        self._scope, self._source = scope, scope.source
        self._terms, self._conditions = terms, conditions
        self._ingredients, self._fitting = Ingredients(scope, terms), Fitting(scope.source)

    def of(self, node: Node) -> Iterator[Change]:
        """The changes of a statement."""
        start, end, listed = node.start_byte, node.end_byte, is_listed(node)

        def part(kind: Kind, text: str = "") -> Part:
            return Part(kind, start, end, text.encode("latin-1"), listed=listed)

        yield (part(Kind.DELETE),), 0
        conditions = self._conditions.near(node)
        yield from self._checked(node, part)
        if not is_all_of_a_branch(node):
            yield from (((part(Kind.GUARD, condition),), tier) for condition, tier in conditions)
        fitting = self._fitting.tiers(node, False, self._ingredients.at(node))
        yield from (((part(Kind.BEFORE, text),), tier) for text, tier in fitting)
        if is_last(node):
            yield from self.behind(node)
        ways = self.leaving(node)
        for condition, tier in conditions[:MOST_CHECKS]:
            for leave in ways:
                yield (part(Kind.BEFORE, f"if ({condition}) {leave}"),), tier + 1
        if node.type == "expression_statement":
            yield from (((part(Kind.REPLACE, text),), 1) for text in self._ingredients.calls_at(node)[:MOST_CALLS])
        if node.type == "if_statement":
            yield from self._branches(node, part)
        yield from self._moved(node, part(Kind.DELETE))

    def _checked(self, node: Node, part: Callable[[Kind, str], Part]) -> Iterator[Change]:
        """The statement done only if a pointer that it follows leads somewhere, or left early if it does not."""
        pointers = followed(self._source, node, self._scope.sizes) if is_leaf(node) else []
        if not is_all_of_a_branch(node):
            yield from (((part(Kind.GUARD, f"{pointer} != NULL"),), 0) for pointer in pointers)
        for pointer in pointers:
            for leave in self.leaving(node):
                yield (part(Kind.BEFORE, f"if ({pointer} == NULL) {leave}"),), 1

    def behind(self, node: Node) -> Iterator[Change]:
        """What can be put behind a statement, the last one of its block."""
        ways = self.leaving(node) if not leaves(node) else []
        fitting = self._fitting.tiers(node, True, self._ingredients.at(node))
        for text, tier in (*fitting, *((leave, 1) for leave in ways)):
            part = Part(Kind.BEHIND, node.start_byte, node.end_byte, text.encode("latin-1"), listed=is_listed(node))
            yield (part,), tier

    def filling(self, block: Node) -> list[str]:
        """What can stand in an empty block, the likeliest first."""
        fitting = self._fitting.tiers(block, False, self._ingredients.at(block))
        found = [*fitting, *((leave, 1.0) for leave in self.leaving(block))]
        loop = block.parent if block.parent is not None and block.parent.type == "for_statement" else None
        elements = list(self._ingredients.elements_at(loop))[:MOST_ELEMENTS] if loop is not None else []
        return [*elements, *(text for text, _ in sorted(found, key=lambda one: one[1]))]

    def _branches(self, node: Node, part: Callable[[Kind, str], Part]) -> Iterator[Change]:
        """The body without its condition; another branch that sets or counts what the body changes."""
        body, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if body is None or other is not None:
            return
        inner = body.named_children if body.type == "compound_statement" else [body]
        if len(inner) == 1 and is_statement(inner[0]):
            yield (part(Kind.REPLACE, self._source.name(inner[0])),), 0
        changed = [n.child_by_field_name("left") or n.child_by_field_name("argument") for n in walk(body) if _sets(n)]
        counted = [n.child_by_field_name("argument") for n in walk(body) if n.type == "update_expression"]
        for left in {self._source.name(n): n for n in changed if n is not None}.values():
            name, type_ = self._source.name(left), self._terms.types.of(left)
            for value in ("false", "true") if type_ in BOOLS else ("NULL",) if is_pointer(type_) else ("0", "1"):
                tier = int(left not in counted)  # a count often begins anew
                yield (part(Kind.REPLACE, f"{self._source.name(node)} else {name} = {value};"),), tier

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

    def as_else(self, node: Node) -> tuple[tuple[Part, ...], Part] | None:
        """A statement done only where the ``if`` in front of it does nothing: how it is chosen, and how it is written.

        Chosen, the ``if`` is written whole with the statement in it, which is left out where it stands.
        """
        before = beside(node, -1) if is_listed(node) and is_statement(node) else None
        if before is None or not _takes_an_else(before) or any(_is_labelled(one) for one in (before, node)):
            return None
        whole = b"%s else %s" % (_uncommented(self._source, before), _uncommented(self._source, node))
        chosen = Part(Kind.REPLACE, before.start_byte, before.end_byte, whole)
        left_out = Part(Kind.DELETE, node.start_byte, node.end_byte)
        return (chosen, left_out), Part(Kind.TEXT, node.start_byte, node.start_byte, b"else ")

    def jumping(self) -> Iterator[tuple[Node, Part]]:
        """What becomes of a jump behind which others stand in its list, which nothing comes to: it has a condition.

        Or it should not be there.
        """
        for node in (n for n in self._source.statements if n.type in _ENDING and is_listed(n)):
            behind = beside(node, 1)
            if behind is not None and is_statement(behind) and not (leaves(behind) or _is_labelled(behind)):
                start, end = node.start_byte, node.end_byte
                yield node, Part(Kind.DELETE, start, end)
                for condition, _ in self._conditions.near(node):
                    yield node, Part(Kind.GUARD, start, end, condition.encode("latin-1"))

    def standing_alone(self) -> Iterator[tuple[Node, Part]]:
        """What becomes of a block that stands alone, by its first statement: it has a condition."""
        for block in self._source.blocks_alone if len(self._source.blocks_alone) <= FEW else ():
            first = next(node for node in block.named_children if node.type != "comment")
            pointers = followed(self._source, block, self._scope.sizes)
            conditions = [f"{pointer} != NULL" for pointer in pointers]
            for condition in dict.fromkeys([*conditions, *(text for text, _ in self._conditions.near(block))]):
                yield first, Part(Kind.GUARD, block.start_byte, block.end_byte, condition.encode("latin-1"))

    # ---- Leaving -----------------------------------------------------------------------------------------------------

    def leaving(self, node: Node) -> list[str]:
        """Ways to leave early: out of a loop or a switch, and out of the function."""
        function = self._source.function_at(node.start_byte)
        if function is None:
            return []
        around, at = list[str](), node.parent
        while at is not None and at.type != "function_definition":
            around.append(at.type)
            at = at.parent
        is_looped, is_chosen = not _LOOPS.isdisjoint(around), "switch_statement" in around
        out = ["continue;"] * is_looped + ["break;"] * (is_looped or is_chosen)
        return list(dict.fromkeys([*out, *self._returns(function, node)]))[:MOST_LEAVES]

    def _returns(self, function: Node, node: Node) -> Iterator[str]:
        """Returns that a place of a function can have: what its callers ask for, and what it returns elsewhere."""
        name = declared_name(self._source, _declarator(function))
        kind, own = self._terms.types.result(name), [n for n in walk(function) if n.type == "return_statement"]
        if is_integer(kind):
            for operator, value in self._terms.conditions_on(name):
                if operator in ("==", "!=", "<"):  # a number below 0 is mostly this one
                    yield "return -1;" if operator == "<" else f"return {value};"
        visible = self._scope.variables(node).keys() | self._scope.constant_names | self._scope.functions.keys()
        texts = (self._source.name(n) for n in own if self._ingredients.names(n) <= visible | {"NULL"})
        yield from (text for text in texts if "\n" not in text)
        declared = function.child_by_field_name("type")
        if not own and declared is not None and self._source.of(declared) == b"void":
            yield "return;"
        yield from ("return false;", "return true;") if kind in BOOLS else ("return NULL;",) if is_pointer(kind) else ()
        if is_integer(kind) and name in self._tested:
            yield from ("return 0;", "return 1;")

    @cached_property
    def _tested(self) -> set[str]:
        """The functions of which the file asks whether they give 0."""
        calls = (n for function in self._source.functions for n in walk(function) if n.type == "call_expression")
        called = (n.child_by_field_name("function") for n in calls if _is_tested(n))
        return {self._source.name(node) for node in called if node is not None}


def _declarator(function: Node) -> Node:
    return function.child_by_field_name("declarator") or function


def _is_tested(node: Node) -> bool:
    parent = node.parent
    is_negated = parent is not None and parent.type == "unary_expression" and decides(parent)
    return is_negated or decides(node)


def _sets(node: Node) -> bool:
    return node.type in ("assignment_expression", "update_expression")


def leaves(node: Node) -> bool:
    """Whether nothing comes behind a statement when it was done."""
    return node.type in _ENDING


def _takes_an_else(node: Node) -> bool:
    """Whether a statement is an ``if``, with others behind it or none, that an ``else`` can follow."""
    at: Node | None = node
    while at is not None and at.type == "if_statement" and not at.has_error:
        other, body = at.child_by_field_name("alternative"), at.child_by_field_name("consequence")
        if other is None:
            return body is not None and (body.type == "compound_statement" or is_leaf(body))
        at = other.named_children[-1] if other.named_children else None
    return False


def _is_labelled(node: Node) -> bool:
    """Whether a statement has a name that can stand once in a function, or is a part of a ``switch``."""
    return any(n.type in ("labeled_statement", "case_statement") for n in walk(node))


def _uncommented(source: CSource, node: Node) -> bytes:
    """The text of a node without its comments."""
    text, start = source.of(node), node.start_byte
    for one in reversed([n for n in walk(node) if n.type == "comment"]):
        text = text[: one.start_byte - start] + b" " + text[one.end_byte - start :]
    return text


def is_last(node: Node) -> bool:
    """Whether nothing stands behind a statement in its list, or it is alone."""
    return not is_listed(node) or beside(node, 1) is None


def is_all_of_a_branch(node: Node) -> bool:
    """Whether a statement is all that an ``if`` without ``else`` does: to guard it is to add to that condition."""
    body = node.parent
    if body is not None and body.type == "compound_statement":
        inner = [child for child in body.named_children if child.type != "comment"]
        body = body.parent if inner == [node] else None
    if body is None or body.type != "if_statement" or body.has_error:
        return False
    return body.child_by_field_name("alternative") is None
