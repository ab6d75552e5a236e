"""Conditions that a place can have: those that the file has elsewhere, and comparisons of the terms of the place.

A missing check mostly compares what its statement speaks of, with a constant that the program compares such things
with, with another value of the same type, or with NULL; or it is a check that stands elsewhere.

Key idea: of each form there are so many that a place could have, and so many that were there where a condition was
taken away (``bench/conditions.py``). A condition costs the negative logarithm of that share, rounded, and the cheap
ones come first: a flag of the file is likelier than one of the hundred comparisons of two numbers of the function.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import combinations, permutations, product
from math import inf
from typing import TYPE_CHECKING

from whence.program.c_source import walk
from whence.techniques.bugfix.expression_types import (
    BOOLS,
    CHARACTERS,
    FLOATS,
    TRUTHS,
    are_alike,
    is_integer,
    is_number,
    is_pointer,
)
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.terms import Near, Term, Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_PAIRED, MOST_CONSTANTS, MOST_STRINGS, MOST_RENAMED, MOST_BOUNDS, MOST_FAR = 12, 12, 5, 12, 6, 24
TIERS = (4, 8, 16, 32, 64, 128, 200)  # how many conditions are of the first tier, of the first two, ..., and all
HERE, SHARING, ELSEWHERE = 3.9, 4.2, 5.5  # in this function, in another one about what the statement names, or not
RENAMED = 5.6  # a comparison of the statement, about another variable
TURNED = 0.5  # what it costs more that it is the opposite
# ... and of terms, by how near they are: of the statement, around it, of the function, of the file
FLAG = (3.6, 3.6, 3.8, 5.8)
POINTER = (3.7, 4.6, 6.7, 9.0)
COMPARED = (4.2, 4.6, 5.9, 7.0)  # as it is elsewhere
CONSTANT = (4.7, 5.2, 6.7, 7.2)  # a number
NAMED = (4.0, 5.2, 6.2, 6.2)  # ... of an enumeration, or a character
SIGN = (5.3, 5.4, 6.4, 8.2)
SIZE = (4.9, 6.5, 7.8, 9.0)  # of an array of the statement
BOUND = (6.3, 8.5, 9.0, 9.0)  # a constant that is the bound of something else
NUMBERS = (5.3, 6.2, 7.9, 9.0)
POINTERS = (4.8, 5.6, 6.4, 7.0)
STRINGS = (4.6, 4.6, 6.0, 9.0)
UNUSED = 4.5  # what names a function or a constant that nothing else does
STRING_END = (5.0, 5.5, 9.0, 9.0)
_COMPARED = re.compile(r"(.+?) ?(==|!=|<=|>=|<|>) ?(.+)")
_NAMED = re.compile(r"\*?[A-Za-z_][\w.\[\]]*(?:->[\w.\[\]]+)*")
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_SMALLER_LARGER = ("<", ">", ">=", "<=")
_ORDERING = (*_SMALLER_LARGER, "!=", "==")
_LIBRARY = frozenset(
    [
        *("strcmp", "strncmp", "strlen", "strchr", "memcmp", "isdigit", "isspace", "isalpha", "isalnum", "isupper"),
        *("islower", "ispunct", "isfinite", "isnan", "NULL", "EOF"),
    ]
)
_PREDICATES = {
    "math.h": ("isfinite",),
    "ctype.h": ("isdigit", "isspace", "isalpha", "isalnum", "isupper", "islower", "ispunct"),
}
_CONDITIONS = frozenset(("binary_expression", "call_expression", "unary_expression", "identifier", "field_expression"))


Costing = tuple[str, float]  # a condition, and what it costs


class Conditions:
    """The conditions that places of one file can have."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._terms = scope, scope.source, terms
        self._found: dict[int, list[str]] = {}
        self._of_term: dict[Term, list[Costing]] = {}  # which many statements have

    def near(self, node: Node) -> list[tuple[str, int]]:
        """Conditions for a node with their tiers (from 1), the likely ones first."""
        return [(text, 1 + bisect_right(TIERS, n)) for n, text in enumerate(self._likely(node)[: TIERS[-1]])]

    def all(self, node: Node) -> list[str]:
        """All conditions that are known for a node, the likely ones first: also such as compare what is further apart.

        They are too many to be tried one by one.
        """
        terms = self._terms.at(statement_of(node))
        near = [term for term in terms if term.near <= Near.AROUND][:MOST_PAIRED]
        far = [term for term in terms if term.near is Near.FUNCTION][:MOST_FAR]
        apart = (text for pair in product(near, far) for text, _ in self._pair(*pair))
        beside = (text for pair in permutations(near, 2) for text in _shifted(*pair))
        told = (text for term in (*near, *far) for text in self._predicates(term))
        return list(dict.fromkeys([*self._likely(node), *told, *apart, *beside]))

    def _likely(self, node: Node) -> list[str]:
        statement = statement_of(node)
        if statement.start_byte not in self._found:
            costs: dict[str, float] = {}
            for text, cost in (*self._elsewhere_at(statement), *self._renamed(statement), *self._compared(statement)):
                if cost < costs.get(text, inf):
                    costs[text] = cost
            self._found[statement.start_byte] = sorted(costs, key=costs.__getitem__)
        return self._found[statement.start_byte]

    # ---- Conditions that stand elsewhere -----------------------------------------------------------------------------

    def _elsewhere_at(self, statement: Node) -> Iterator[Costing]:
        visible = self._scope.variables(statement)
        function, later = self._source.function_at(statement.start_byte), self._scope.later(statement.start_byte)
        own = function.start_byte if function is not None else -1
        names = {self._source.name(n) for n in walk(statement) if n.type == "identifier"}
        known = visible.keys() | self._scope.functions.keys() | self._scope.constant_names | _LIBRARY
        for place, conditions in self._elsewhere.items():
            for texts, used in conditions:
                if used <= known and not used & later:
                    cost = HERE if place == own else SHARING if used & names else ELSEWHERE
                    yield from ((text, cost + TURNED * number) for number, text in enumerate(texts))

    def _renamed(self, statement: Node) -> Iterator[Costing]:
        """The comparisons of a statement, about other variables of the same type."""
        visible = self._scope.variables(statement)
        for node in walk(statement):
            left = node.child_by_field_name("left")
            if left is None or left.type != "identifier" or node.type != "binary_expression" or not decides(node):
                continue
            rest = self._source.text[left.end_byte : node.end_byte].decode("latin-1")
            type_, own = visible.get(self._source.name(left)), self._names(node)
            others = [other for other, its in visible.items() if its == type_ and other not in own]
            yield from ((f"{other}{rest}", RENAMED) for other in others[:MOST_RENAMED])

    @cached_property
    def _elsewhere(self) -> dict[int, list[tuple[list[str], frozenset[str]]]]:
        """The conditions of each function (by its start), each with its opposite and the names that it uses."""
        found = {}
        for function in self._source.functions:
            nodes = {self._source.name(n): n for n in walk(function) if n.type in _CONDITIONS and decides(n)}
            found[function.start_byte] = [([text, opposite(text)], self._names(n)) for text, n in nodes.items()]
        return found

    def _names(self, node: Node) -> frozenset[str]:
        return frozenset(self._source.name(n) for n in walk(node) if n.type == "identifier")

    # ---- Comparisons -------------------------------------------------------------------------------------------------

    def _compared(self, statement: Node) -> Iterator[Costing]:
        """Comparisons of the terms of a place."""
        terms = self._terms.at(statement)
        for term in terms:
            if term not in self._of_term:
                self._of_term[term] = list(self._usual(term))
            yield from self._of_term[term]
        near = [term for term in terms if term.near <= Near.AROUND][:MOST_PAIRED]
        near += self._terms.unread(statement)
        strings = [term for term in terms if term.type == "char *" and term.near <= Near.FUNCTION][:MOST_STRINGS]
        pointers = [term for term in terms if is_pointer(term.type)]
        own = [term for term in pointers if term.near is Near.STATEMENT][:MOST_PAIRED]
        far = [term for term in pointers if term.near > Near.AROUND]
        for one, other in (*combinations(near, 2), *combinations(strings, 2), *product(own, far)):
            yield from self._pair(one, other)
        yield from self._string_ends(near)
        yield from self._bounds(statement, near)
        yield from self._unused(statement, near)

    def _usual(self, term: Term) -> Iterator[Costing]:
        """Comparisons of a term with the constants that it has elsewhere, or that its type has."""
        text, type_, near = term.text, term.type, term.near
        is_flag = type_ in BOOLS or (is_integer(type_) and term.is_place and term.key in self._terms.flags)
        if is_flag:
            yield from ((text, FLAG[near]), (f"!{text}", FLAG[near]))
        elif is_pointer(type_):
            yield from ((f"{text} {operator} NULL", POINTER[near]) for operator in ("!=", "=="))
        known = self._terms.conditions_on(term.key)
        for operator, constant in known:
            yield f"{text} {operator} {constant}", COMPARED[near]
            yield f"{text} {OPPOSITE[operator]} {constant}", COMPARED[near] + TURNED
        enumerators = self._terms.types.enumerators(type_)
        costs = NAMED if enumerators or type_ in CHARACTERS else CONSTANT
        constants = dict.fromkeys([*(constant for _, constant in known), *enumerators])
        constants |= {other: None for constant in list(constants) for other in self._scope.siblings(constant)}
        if type_ in CHARACTERS:
            constants["'\\0'"] = None
        for constant in list(constants)[:MOST_CONSTANTS]:
            yield from ((f"{text} {operator} {constant}", costs[near]) for operator in ("==", "!="))
        if is_number(type_) and type_ not in CHARACTERS and not is_flag:
            yield from ((f"{text} {operator} 0", SIGN[near]) for operator in _ORDERING)

    def _predicates(self, term: Term) -> Iterator[str]:
        """What the C library tells of characters and numbers, where the file includes its declarations."""
        header = "math.h" if term.type in FLOATS else "ctype.h"
        if is_number(term.type) and header in self._headers and (term.type in FLOATS or term.near <= Near.AROUND):
            for name in _PREDICATES[header]:
                yield from (f"{name}({term.text})", f"!{name}({term.text})")

    @cached_property
    def _headers(self) -> set[str]:
        return {name for text in self._scope.texts for name, _ in text.included}

    def _string_ends(self, near: list[Term]) -> Iterator[Costing]:
        """Whether a string ends where a number says, as what was compared in its first characters alone leaves open."""
        strings = [term for term in near if term.type == "char *"][:MOST_STRINGS]
        lengths = [term for term in near if is_integer(term.type) and term.type not in CHARACTERS][:MOST_STRINGS]
        for string, length in product(strings, lengths):
            text, cost = f"{string.text}[{length.text}]", STRING_END[max(string.near, length.near)]
            yield from ((f"{text} {operator} '\\0'", cost) for operator in ("==", "!="))

    def _unused(self, statement: Node, near: list[Term]) -> Iterator[Costing]:
        """What functions say that nothing calls, and comparisons with constants that nothing names."""
        for call in self._terms.uncalled(statement):
            if is_pointer(call.type):
                yield from ((f"{call.text} {operator} NULL", UNUSED) for operator in ("==", "!="))
            elif is_number(call.type) or call.type in BOOLS:
                yield from ((call.text, UNUSED), (f"!{call.text}", UNUSED))
        numbers = [term for term in near if is_integer(term.type) and term.type not in CHARACTERS][:MOST_BOUNDS]
        for constant in sorted(self._scope.constant_names & self._terms.unused.macros):
            yield from ((f"{one.text} {word} {constant}", UNUSED) for one in numbers for word in _SMALLER_LARGER)

    def _pair(self, one: Term, other: Term) -> Iterator[Costing]:
        """Comparisons of two terms."""
        a, b, near = one.text, other.text, max(one.near, other.near)
        if one.type == other.type == "char *" and self._scope.compares_strings:
            yield from ((f"strcmp({min(a, b)}, {max(a, b)}) {word} 0", STRINGS[near]) for word in ("==", "!="))
        if is_pointer(one.type) and one.type == other.type:
            yield from ((f"{a} {operator} {b}", POINTERS[near]) for operator in ("==", "!="))
        elif one.type in BOOLS and other.type in BOOLS:
            yield f"{a} != {b}", NUMBERS[near]
        elif are_alike(one.type, other.type) and (is_integer(one.type) or one.type in FLOATS):
            yield from ((f"{a} {operator} {b}", NUMBERS[near]) for operator in _ORDERING)

    def _bounds(self, statement: Node, near: list[Term]) -> Iterator[Costing]:
        """Numbers against the sizes of the statement's arrays, and against constants that bound other numbers."""
        named = {self._source.name(n) for n in walk(statement) if n.type in ("identifier", "field_identifier")}
        sizes = [size for name in sorted(named) for size in self._scope.sizes.get(name, ())]
        bounds = self._terms.bounds[:MOST_BOUNDS]
        for term in (term for term in near if is_integer(term.type) and term.type not in CHARACTERS):
            text = term.text
            yield from ((f"{text} {word} {size}", SIZE[term.near]) for size in sizes for word in (">=", "<", "=="))
            yield from ((f"{text} {word} {bound}", BOUND[term.near]) for bound in bounds for word in _SMALLER_LARGER)


def _shifted(one: Term, other: Term) -> Iterator[str]:
    """Whether a number is, or is below, the one before another: the last place of something."""
    integers = all(is_integer(term.type) and term.type not in CHARACTERS for term in (one, other))
    if integers and other.is_place:
        yield from (f"{one.text} {operator} {other.text} - 1" for operator in ("<", ">=", "==", "!="))


@lru_cache(maxsize=1 << 15)  # the same comparison could stand at many places
def split(condition: str) -> tuple[str, str, str] | None:
    """The operands of a comparison with its operator between them; None where it is none."""
    match = _COMPARED.fullmatch(condition.replace("->", "\0"))
    if match is None or any(side.count("(") != side.count(")") for side in match.groups()):
        return None
    left, operator, right = (side.replace("\0", "->") for side in match.groups())
    return (left, operator, right) if not set("&|<>=?!") & set(f"{left}{right}".replace("->", "")) else None


def opposite(condition: str) -> str:
    """A condition that holds where another one does not."""
    if sides := split(condition):
        return f"{sides[0]} {OPPOSITE[sides[1]]} {sides[2]}"
    if condition.startswith("!") and _is_tight(condition[1:]):
        return condition[1:]
    return f"!{condition}" if _is_tight(condition) else f"!({condition})"


def _is_tight(text: str) -> bool:
    """Whether an expression is a name, a member, an element, what a pointer leads to, or one call."""
    name = _NAMED.match(text)
    rest = text[name.end() :] if name else text
    depth = 0
    for at, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth and at < len(rest) - 1:
            return False
    return name is not None and not depth


def decides(node: Node) -> bool:
    """Whether a node is a condition of its own: compared, or an operand of ``&&`` or ``||``, or tested."""
    own = node.child_by_field_name("operator")
    if node.type == "binary_expression":
        return own is not None and own.type in TRUTHS - {"&&", "||"} and b"\n" not in (node.text or b"")
    parent = node.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    joined = operator is not None and operator.type in ("&&", "||")
    tested = parent is not None and parent.type == "parenthesized_expression" and parent.parent is not None
    whole = tested and parent is not None and parent.parent is not None and parent.parent.type.endswith("_statement")
    return (joined or whole) and (node.type != "unary_expression" or (own is not None and own.type == "!"))


def statement_of(node: Node) -> Node:
    """The statement or declaration that a node is part of; of a ``for`` its condition or its step, which can name more.

    (Variables that are declared in the head.)
    """
    at, below = node, node
    while not at.type.endswith(("_statement", "declaration")):
        if at.parent is None:
            return node
        at, below = at.parent, at
    return below if at.type == "for_statement" else at
