"""Changes of expressions by the terms of their place: another one, one more, one wrapped; arguments of other calls.

Which terms can stand for each other is decided by their types, as far as the source tells them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, Unit, declared_name, walk
from whence.techniques.bugfix.conditions import Conditions, statement_of
from whence.techniques.bugfix.expression_types import CHARACTERS, are_alike, is_integer, is_number, is_pointer
from whence.techniques.bugfix.expressions import Splice, is_degenerate, is_whole
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Near, Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_TERMS, MOST_ADDED, MOST_WRAPPED, MOST_CALLS, MOST_CHOSEN, MOST_TAILS, MOST_SIZES = 14, 8, 6, 8, 8, 6, 4
MOST_RECKONED, MOST_PARTNERS = 6, 4
_TERMS = frozenset(("identifier", "field_expression", "subscript_expression", "pointer_expression", "call_expression"))


_RECKONING = frozenset(("+", "-", "*", "/", "%", "<<", ">>"))
_MEASURING = frozenset(("+", "-", "<", "<=", ">", ">=", "==", "!="))


class TermChanges:
    """The changes by terms of the expressions in one file."""

    def __init__(self, scope: Scope, terms: Terms, conditions: Conditions) -> None:
        self._scope, self._source = scope, scope.source
        self._terms, self._conditions = terms, conditions

    def of(self, unit: Unit) -> Iterator[Splice]:
        """The changes of a unit."""
        statement = statement_of(unit.node)
        for node in walk(unit.node):
            for text, tier in self._changes(node, statement):
                if text != self._source.name(node) and not is_degenerate(self._source, node, text):
                    yield Splice(node.start_byte, node.end_byte, text.encode("latin-1"), tier)
        if unit.name:
            yield from self._chosen(unit.node, statement)

    def _changes(self, node: Node, statement: Node) -> Iterator[tuple[str, int]]:
        if node.type in _TERMS and self._terms.is_value(node):
            yield from self._term(node, statement)
        elif node.type == "number_literal":
            yield from self._number(node, statement)
        elif node.type == "sizeof_expression":
            yield from ((f"sizeof {text}", 1) for text in self._sized(statement))
        elif node.type == "argument_list":
            yield from self._arguments(node)
        elif node.type == "assignment_expression":
            right = node.child_by_field_name("right")
            for splice in self._chosen(right, statement) if right is not None else ():
                before = self._source.text[node.start_byte : splice.start]
                yield (before + splice.text).decode("latin-1"), splice.tier
        if node.is_named and (is_whole(node) or _is_branch(node)):
            yield from self._more(node, statement)

    # ---- Terms -------------------------------------------------------------------------------------------------------

    def _term(self, node: Node, statement: Node) -> Iterator[tuple[str, int]]:
        """Another term in place of one, a function of it, another type."""
        text, type_ = self._source.name(node), self._terms.types.of(node)
        if not type_ or (self._is_assigned(node) and node.type == "identifier"):
            return
        others = [t for t in self._terms.like(statement, type_) if t.near < Near.FILE and t.text != text]
        others.sort(key=lambda t: (t.near > Near.AROUND, t.type != type_))
        for term in others[:MOST_TERMS]:
            if not (node.type == "identifier" and term.text.isidentifier()):  # which expressions.py does
                yield term.text, 1 if term.near <= Near.AROUND else 2
        if self._is_assigned(node):
            return
        later = self._scope.later(node.start_byte)
        for name in islice((n for n in self._fitting(type_) if n not in later), MOST_WRAPPED):
            yield f"{name}({text})", 2
        if type_ in CHARACTERS:
            yield f"(unsigned char){text}", 1

    def _fitting(self, type_: str) -> Iterator[str]:
        """The functions of the file that make a value of a type from one."""
        for name, types in self._taken.items():
            if len(types) == 1 and are_alike(types[0], type_) and are_alike(self._terms.types.result(name), type_):
                yield name

    @cached_property
    def _taken(self) -> dict[str, list[str]]:
        """For each function of the file the types of its parameters."""
        resolved = self._terms.types.resolved
        return {name: [resolved(type_) for type_ in types] for name, types in self._scope.parameters.items()}

    def _is_assigned(self, node: Node) -> bool:
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "assignment_expression":
            return parent.child_by_field_name("left") == node
        return parent.type == "update_expression" or (
            parent.type == "pointer_expression" and self._source.of(parent).startswith(b"&")
        )

    # ---- Numbers -----------------------------------------------------------------------------------------------------

    def _number(self, node: Node, statement: Node) -> Iterator[tuple[str, int]]:
        """A term in place of an index, the size of what a pointer leads to in place of a number that is passed."""
        parent = node.parent
        if parent is None:
            return
        near = [term for term in self._terms.at(statement) if term.near < Near.FILE]
        if parent.type == "subscript_expression":
            yield from ((t.text, 1) for t in [t for t in near if is_integer(t.type)][:MOST_TERMS])
        if parent.type == "argument_list":
            yield from ((f"sizeof {text}", 2) for text in self._sized(statement) if text.startswith("*"))

    def _sized(self, statement: Node) -> Iterator[str]:
        """What a size at a statement could be that of: what its pointers lead to, and its arrays as a whole."""
        own = declared_name(self._source, statement.child_by_field_name("declarator") or statement)
        terms = (term for term in self._terms.at(statement) if term.near is Near.STATEMENT and is_pointer(term.type))
        for text in [*([own] if own else []), *(term.text for term in terms)][:MOST_SIZES]:
            yield from (f"*{text}", text)

    def _more(self, node: Node, statement: Node) -> Iterator[tuple[str, int]]:
        """A whole number as a part of what is reckoned from it elsewhere, with a term or an operator more."""
        type_ = self._terms.types.of(node)
        if not is_number(type_) or (node.parent is not None and node.parent.type == "binary_expression"):
            return
        text = self._source.name(node)
        whole = f"({text})" if node.type in ("conditional_expression", "binary_expression") else text
        own = {self._source.name(n) for n in walk(node)}
        terms = [t for t in self._terms.at(statement) if is_number(t.type) and t.near < Near.FILE and t.text not in own]
        outer = text if node.type != "conditional_expression" else whole
        for term in terms[:MOST_ADDED]:
            yield from ((f"{outer} + {term.text}", 2), (f"{outer} - {term.text}", 2))
        known = self._scope.variables(node).keys() | self._scope.constant_names
        for partner in [name for name in self._partners[_assigned_name(self._source, node)] if name in known - own]:
            yield from ((f"{outer} + {partner}", 1), (f"{outer} - {partner}", 1))
        yield from ((larger, 1) for larger in self._reckoned(node, known))
        fitting = [tail for tail, names in self._tails.items() if names <= known]
        yield from ((f"{whole} {tail}", 2) for tail in fitting[:MOST_TAILS])

    def _reckoned(self, node: Node, known: Set[str]) -> list[str]:
        """What is reckoned from a term elsewhere, such as ``done + made`` from ``made``, in this function first."""
        function = self._source.function_at(node.start_byte)
        own = function.start_byte if function is not None else -1
        fitting = [(at != own, text) for at, text, names in self._larger[self._source.name(node)] if names <= known]
        return list(dict.fromkeys(text for _, text in sorted(fitting, key=lambda one: one[0])))[:MOST_RECKONED]

    @cached_property
    def _larger(self) -> dict[str, list[tuple[int, str, frozenset[str]]]]:
        """By each term what is reckoned from it: the function (by where it begins), the expression, and its names."""
        found: dict[str, list[tuple[int, str, frozenset[str]]]] = defaultdict(list)
        for function in self._source.functions:
            for node in walk(function):
                operator = node.child_by_field_name("operator")
                if node.type != "binary_expression" or operator is None or operator.type not in _RECKONING:
                    continue
                text = self._source.name(node)
                names = frozenset(self._source.name(n) for n in walk(node) if n.type == "identifier")
                if "\n" in text or any(n.type in ("call_expression", "update_expression") for n in walk(node)):
                    continue
                for side in (node.child_by_field_name("left"), node.child_by_field_name("right")):
                    if side is not None and side.type in _TERMS:
                        found[self._source.name(side)].append((function.start_byte, text, names))
        return found

    @cached_property
    def _partners(self) -> dict[str, list[str]]:
        """By the name of a variable or member the variables that it is compared with, or added to, most often."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for function in self._source.functions:
            for node in walk(function):
                operator = node.child_by_field_name("operator")
                if node.type != "binary_expression" or operator is None or operator.type not in _MEASURING:
                    continue
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                for own, other in ((left, right), (right, left)):
                    if own is not None and other is not None and other.type == "identifier":
                        found[_last_name(self._source, own)][self._source.name(other)] += 1
        partners = {name: [other for other, _ in others.most_common(MOST_PARTNERS)] for name, others in found.items()}
        return defaultdict(list, {name: others for name, others in partners.items() if name})

    @cached_property
    def _tails(self) -> dict[str, frozenset[str]]:
        """The last operators with their operands, such as ``% MODULUS``, most frequent first, with their names."""
        found: Counter[str] = Counter()
        names: dict[str, frozenset[str]] = {}
        for function in self._source.functions:
            for node in walk(function):
                operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
                if node.type != "binary_expression" or operator is None or right is None:
                    continue
                if operator.type in ("%", "*", "/", "&") and right.type in ("identifier", "number_literal"):
                    tail = f"{operator.type} {self._source.name(right)}"
                    found[tail] += 1
                    names[tail] = frozenset([self._source.name(right)] if right.type == "identifier" else [])
        return {tail: names[tail] for tail, _ in found.most_common()}

    # ---- Calls and choices -------------------------------------------------------------------------------------------

    def _arguments(self, node: Node) -> Iterator[tuple[str, int]]:
        """The arguments of other calls of the same function, those of this function first."""
        parent = node.parent
        called = parent.child_by_field_name("function") if parent is not None else None
        known = self._scope.variables(node).keys() | self._scope.constant_names | self._scope.functions.keys()
        lists = self._calls[self._source.name(called)] if called is not None else {}
        fitting = [(abs(at - node.start_byte), text) for text, (names, at) in lists.items() if names <= known]
        yield from ((text, 1) for _, text in sorted(fitting)[:MOST_CALLS])

    @cached_property
    def _calls(self) -> dict[str, dict[str, tuple[frozenset[str], int]]]:
        """For each function that is called the lists of arguments, each with its names and where it stands."""
        found: dict[str, dict[str, tuple[frozenset[str], int]]] = defaultdict(dict)
        for function in self._source.functions:
            for node in walk(function):
                called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
                if node.type == "call_expression" and called is not None and given is not None:
                    names = frozenset(self._source.name(n) for n in walk(given) if n.type == "identifier")
                    text = self._source.name(given)
                    if names and "\n" not in text:
                        found[self._source.name(called)][text] = names, node.start_byte
        return defaultdict(dict, found)

    def _chosen(self, node: Node, statement: Node) -> Iterator[Splice]:
        """A value only where a condition holds, and else a simple one."""
        if node.type in ("number_literal", "conditional_expression", "string_literal", "initializer_list"):
            return
        type_ = self._terms.types.of(node)
        others = ("0", "1") if is_number(type_) else ("NULL",) if is_pointer(type_) else ()
        text, left = self._source.name(node), node.child_by_field_name("left")
        parts = [self._source.name(left)] if node.type == "binary_expression" and left is not None else []
        for condition, tier in self._conditions.near(node)[:MOST_CHOSEN]:
            for other in others:
                yield self._splice(node, f"{condition} ? {text} : {other}", tier + 1)
            for part in parts:
                yield self._splice(node, f"{condition} ? {part} : {text}", tier + 1)

    def _splice(self, node: Node, text: str, tier: int) -> Splice:
        return Splice(node.start_byte, node.end_byte, text.encode("latin-1"), tier)


def _is_branch(node: Node) -> bool:
    """Whether a node is one of the two values of a ``?:``."""
    parent = node.parent
    if parent is None or parent.type != "conditional_expression":
        return False
    return node in (parent.child_by_field_name("consequence"), parent.child_by_field_name("alternative"))


def _last_name(source: CSource, node: Node) -> str:
    """What tells a variable or member wherever it stands: ``expires`` of ``item->expires``; empty: it is neither."""
    if node.type == "field_expression":
        field = node.child_by_field_name("field")
        return source.name(field) if field is not None else ""
    return source.name(node) if node.type == "identifier" else ""


def _assigned_name(source: CSource, node: Node) -> str:
    """The name of what an expression is the value of, as a whole or as a branch of ``?:``; empty: there is none."""
    parent = node.parent
    while parent is not None and parent.type in ("conditional_expression", "parenthesized_expression"):
        if parent.child_by_field_name("condition") == node:
            return ""
        node, parent = parent, parent.parent
    if parent is None:
        return ""
    if parent.type == "assignment_expression" and parent.child_by_field_name("right") == node:
        left = parent.child_by_field_name("left")
        return _last_name(source, left) if left is not None else ""
    is_first = parent.type == "init_declarator" and parent.child_by_field_name("value") == node
    return (declared_name(source, parent) or "") if is_first else ""
