"""Changes of expressions: another operator, constant, name or term, a condition negated, widened or narrowed.

Each is a *splice* of a unit's text: a range, the new text, and a tier: 0 are the changes that real fixes are most
often, 2 those of which there are most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, Place, Unit, walk
from whence.techniques.bugfix.conditions import Conditions, statement_of
from whence.techniques.bugfix.expression_types import BOOLS, TRUTHS, are_alike, is_pointer
from whence.techniques.bugfix.followed import followed
from whence.techniques.bugfix.scope import NUMBER, Scope, kind_of
from whence.techniques.bugfix.terms import Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_NAMES, MOST_VARIABLES, MOST_LITERALS, MOST_ATOMS = 16, 24, 10, 40
MOST_CALLED = 8  # functions of other files and macros, each of which may be what a call should name
MOST_EXCHANGED = 10  # names of a unit, each of which is exchanged with each other
LEAST_VARIED, MOST_VARIED = 10, 25  # numbers whose neighbours are tried, and how far from them
LEAST_DIGITS = 3  # of a number in which a digit may be wrong
GROUPS = (
    ("<", "<=", ">", ">=", "==", "!="),
    ("&&", "||"),
    ("+", "-", "*", "/", "%"),
    ("&", "|", "^"),
    ("<<", ">>"),
    ("&", "&&"),
    ("|", "||"),
)
_ORDERING, _EQUATING = ("<", "<=", ">", ">="), ("==", "!=")
_ODD = frozenset(
    (
        *(frozenset(pair) for pair in product(_ORDERING, _EQUATING)),
        *(frozenset(pair) for pair in product(("+", "-"), ("*", "/", "%"))),
    )
)
_STEPS = ("=", "+=", "-=")
_ASSIGNING = (*_STEPS, "*=", "/=", "%=", "|=", "&=", "^=")
_SAME_IN_VAIN = TRUTHS | {"=", "-", "/", "%", "&", "|", "^"}
_NEUTRAL = {"+": "0", "-": "0", "|": "0", "^": "0", "<<": "0", ">>": "0", "*": "1", "/": "1"}  # as right operands
_SAME_TRUTH = {"||": "!=", "&&": "=="}
_SIGNS = "_-+.,:;/*=!?#%&|^~<>()[]{}"
_DIGITS = "0123456789abcdef"
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")
_DECIMAL = re.compile(r"(\d+\.\d*|\.\d+)([fFlL]?)")
_EXPONENT = re.compile(r"([\d.]+[eE])([+-]?\d+)(.*)")
_LOOSE = frozenset(("conditional_expression", "assignment_expression", "comma_expression"))
_TERMED = frozenset(("identifier", "field_expression", "subscript_expression", "call_expression", "binary_expression"))
_CASTS = ("long", "double", "unsigned", "unsigned char", "int")
_FAMILIES = (  # of functions of the C library that are taken for each other, and whose header declares all of them
    ("isalnum", "isalpha", "isdigit", "isxdigit", "isspace", "ispunct", "isupper", "islower", "isgraph", "isprint"),
    ("tolower", "toupper"),
    ("strchr", "strrchr"),
    ("floor", "ceil", "round", "trunc"),
)
_VALUES = frozenset(("binary_expression", "call_expression", "field_expression", "identifier", "number_literal"))


@dataclass(frozen=True, slots=True)
class Splice:
    """``text`` in place of the bytes from ``start`` to ``end``."""

    start: int
    end: int
    text: bytes
    tier: int


class ExpressionChanges:
    """The changes of the expressions in one file."""

    def __init__(self, scope: Scope, terms: Terms, conditions: Conditions) -> None:
        self._scope, self._source = scope, scope.source
        self._terms, self._given = terms, conditions
        self._by_type: dict[str, Callable[[Node], Iterator[tuple[Node, str, int]]]] = {
            "binary_expression": self._binary,
            "number_literal": self._number,
            "char_literal": self._character,
            "identifier": self._identifier,
            "field_identifier": self._member,
            "call_expression": self._call,
            "unary_expression": self._unary,
            "update_expression": self._update,
            "assignment_expression": self._assignment,
            "cast_expression": self._cast,
            "conditional_expression": self._conditional,
        }

    def of(self, unit: Unit) -> Iterator[Splice]:
        """The changes of a unit."""
        for node in walk(unit.node):
            change = self._by_type.get(node.type)
            for at, text, tier in change(node) if change else ():
                if is_degenerate(self._source, at, text):
                    continue
                yield Splice(at.start_byte, at.end_byte, text.encode("latin-1"), tier)
            for call in self._uncalled(node):
                yield Splice(node.start_byte, node.end_byte, call.encode("latin-1"), 0)
            for text, tier in _shifted(node, self._source.name(node)):
                yield Splice(node.start_byte, node.end_byte, text.encode("latin-1"), tier)
            if _is_truth(node, unit) or self._returns_truth(node):
                yield from self._conditions(node, unit)
        yield from self._exchanged(unit)

    def _text(self, node: Node | None) -> str:
        return self._source.name(node) if node is not None else ""

    # ---- Operators ---------------------------------------------------------------------------------------------------

    def _binary(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        left, right, operator = (node.child_by_field_name(n) for n in ("left", "right", "operator"))
        if left is None or right is None or operator is None:
            return
        old = self._text(operator)
        for new in dict.fromkeys(new for group in GROUPS if old in group for new in group):
            if new != old:
                yield operator, new, 1 if frozenset((old, new)) in _ODD else 0
        if old in _SAME_TRUTH:
            yield operator, _SAME_TRUTH[old], 1
        yield node, self._text(left), 0
        yield node, self._text(right), 0
        if old in ("-", "/", "%"):
            yield node, f"{self._operand(right)} {old} {self._operand(left)}", 0
        if old in ("+", "-", "*", "/", "<<"):
            for side in (left, right):
                for cast in _CASTS:
                    yield side, f"({cast}){self._operand(side)}", 2

    def _operand(self, node: Node) -> str:
        text = self._text(node)
        return f"({text})" if node.type in _LOOSE | {"binary_expression"} else text

    def _unary(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if self._text(operator) in ("!", "-", "~"):
            yield node, self._text(argument), 0

    def _update(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if operator is None or argument is None:
            return
        yield operator, "--" if self._text(operator) == "++" else "++", 0
        is_prefix = operator.start_byte < argument.start_byte
        text, sign = self._text(argument), self._text(operator)
        yield node, f"{text}{sign}" if is_prefix else f"{sign}{text}", 1

    def _assignment(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        operator, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        if operator is not None and left is not None:
            steps = is_pointer(self._terms.types.of(left))  # which a pointer takes alone
            for new in _STEPS if steps else _ASSIGNING:
                if new != self._text(operator):
                    yield operator, new, 0 if "=" in (new, self._text(operator)) or new[0] in "+-" else 1

    def _cast(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind is not None and value is not None:
            yield node, self._text(value), 1
            for cast in _CASTS:
                if cast != self._text(kind):
                    yield kind, cast, 1

    def _conditional(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        condition, first, second = (node.child_by_field_name(n) for n in ("condition", "consequence", "alternative"))
        if first is not None and second is not None:
            yield node, f"{self._text(condition)} ? {self._text(second)} : {self._text(first)}", 0
            yield node, self._text(first), 1
            yield node, self._text(second), 1

    # ---- Constants and names -----------------------------------------------------------------------------------------

    def _number(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old = self._text(node)
        if unused := self._terms.unused.at(node):
            numbers = (name for name, type_ in self._scope.variables(node).items() if kind_of(type_) == NUMBER)
            names = unused.intersection(numbers) | self._terms.unused.macros
            yield from ((node, name, 0) for name in sorted(names))
        for tier, texts in enumerate((near_numbers(old), self._scope.literals(node)[:MOST_LITERALS])):
            yield from ((node, text, tier) for text in texts if text != old)
        yield from ((node, text, 3) for text in (*numbers_around(old), *slips(old)))
        yield from ((node, name, 2) for name in self._scope.constants[:MOST_NAMES])

    def _character(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old = self._text(node)
        texts = dict.fromkeys(self._scope.literals(node)[:MOST_LITERALS], 1)
        texts |= {f"'{sign}'": 2 for sign in _SIGNS if f"'{sign}'" not in texts}
        yield from ((node, text, tier) for text, tier in texts.items() if text != old)

    def _identifier(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        old, parent = self._text(node), node.parent
        if parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == node:
            yield from ((node, name, tier) for name, tier in self._called_instead(parent, old))
            return
        if self._scope.is_constant(old):
            others = self._scope.siblings(old) or self._scope.constants
            yield from ((node, name, 0) for name in others[:MOST_NAMES] if name != old)
            return
        visible = self._scope.variables(node)
        if old in visible:
            wanted = visible[old] if kind_of(visible[old]) != NUMBER else NUMBER
            same = [n for n, t in visible.items() if n != old and wanted in (t, kind_of(t))]
            yield from ((node, name, 0) for name in self._likely(node, old, same))

    def _called_instead(self, call: Node, old: str) -> Iterator[tuple[str, int]]:
        """What a call could name instead: the file's functions, what does the like, and what is called as it is."""
        from rapidfuzz.distance import Indel

        out = {old, "main"} | self._scope.later(call.start_byte)
        arity, called = self._scope.functions.get(old), self._scope.called
        own = [name for name, number in self._scope.functions.items() if number == arity]
        family = next((names for names in _FAMILIES if old in names), ())
        like = sorted(family, key=lambda name: name not in called)
        others = [name for name, number in called.items() if number == len(_arguments(call))]
        others.sort(key=lambda name: Indel.normalized_distance(old, name))
        tiers = dict.fromkeys([*own[:MOST_NAMES], *like], 1)
        tiers |= dict.fromkeys([name for name in others if name not in tiers][:MOST_CALLED], 2)
        yield from ((name, tier) for name, tier in tiers.items() if name not in out)

    def _likely(self, node: Node, old: str, names: list[str]) -> list[str]:
        """The names that are most likely meant: those of the function first, then those that look like the old one."""
        from rapidfuzz.distance import Indel

        function = self._source.function_at(node.start_byte)
        near = (
            {self._source.name(n) for n in walk(function) if n.type == "identifier"} if function is not None else set()
        )
        order = sorted(names, key=lambda name: (name not in near, Indel.normalized_distance(old, name)))
        return order[:MOST_VARIABLES]

    def _member(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        for name in self._scope.siblings(self._text(node))[:MOST_NAMES]:
            yield node, name, 0

    def _call(self, node: Node) -> Iterator[tuple[Node, str, int]]:
        listed, given = node.child_by_field_name("arguments"), _arguments(node)
        for first, second in combinations(given, 2):
            texts = [self._text(a) for a in given]
            one, two = given.index(first), given.index(second)
            texts[one], texts[two] = texts[two], texts[one]
            if listed is not None and texts[one] != texts[two]:
                yield listed, f"({', '.join(texts)})", 1
        for argument in given:
            for other in dict.fromkeys(self._text(a) for a in given if a != argument):
                if other != self._text(argument):
                    yield argument, other, 1

    # ---- Two things exchanged ----------------------------------------------------------------------------------------

    def _exchanged(self, unit: Unit) -> Iterator[Splice]:
        """Two indices of one element, two variables of a type or two members of a structure that stand for each other.

        Not operands of one operator, nor arguments of one call: these are changes of the operator, and of the call.
        """
        nodes = list(walk(unit.node))
        indices = [pair for node in nodes if (pair := _two_indices(node)) is not None]
        leaves = [node for node in nodes if node.type in ("identifier", "field_identifier")][:MOST_EXCHANGED]
        alike = [pair for pair in combinations(leaves, 2) if self._may_be_exchanged(*pair)]
        made = dict.fromkeys(self._swap(*pair) for pair in (*indices, *alike))
        yield from (splice for splice in made if splice is not None)

    def _may_be_exchanged(self, first: Node, second: Node) -> bool:
        old, new = self._text(first), self._text(second)
        if first.type != second.type or (first.parent == second.parent and first.type == "identifier"):
            return False
        if first.type == "field_identifier":
            return new in self._scope.siblings(old)
        visible = self._scope.variables(first)
        return old in visible and new in visible and kind_of(visible[old]) == kind_of(visible[new])

    def _swap(self, first: Node, second: Node) -> Splice | None:
        """What holds two nodes, one behind the other, with these exchanged; None where that is in vain."""
        if self._is_in_vain(first, second) or self._is_in_vain(second, first):
            return None
        around = first
        while around.end_byte < second.end_byte and around.parent is not None:
            around = around.parent
        text, old, new = self._source.text, self._source.of(first), self._source.of(second)
        before, behind = text[around.start_byte : first.start_byte], text[second.end_byte : around.end_byte]
        swapped = before + new + text[first.end_byte : second.start_byte] + old + behind
        return Splice(around.start_byte, around.end_byte, swapped, 1)

    def _is_in_vain(self, node: Node, other: Node) -> bool:
        """Whether another node's text in place of a node changes nothing, or makes an operation of equal operands."""
        new = self._text(other)
        within = _of_equal_operands(self._source, node, new)
        is_changed_too = (
            within is not None and within.start_byte <= other.start_byte and other.end_byte <= within.end_byte
        )
        return self._text(node) == new or (within is not None and not is_changed_too)

    def _uncalled(self, node: Node) -> Iterator[str]:
        """What functions give that nothing calls, in place of a value of that type: first of what the value is of."""
        if node.type in _VALUES and self._terms.unused.uncalled and self._terms.is_value(node):
            type_, text = self._terms.types.of(node), self._text(node)
            calls = [one.text for one in self._terms.uncalled(statement_of(node)) if are_alike(one.type, type_)]
            yield from sorted(calls, key=lambda call: call.partition("(")[2].rstrip(")") not in text)

    # ---- Terms and conditions ----------------------------------------------------------------------------------------

    def _conditions(self, node: Node, unit: Unit) -> Iterator[Splice]:
        """A condition negated, forced, and with another one beside it."""
        text, start, end = self._text(node), node.start_byte, node.end_byte
        tight = node.type in ("identifier", "call_expression", "parenthesized_expression", "field_expression")
        negated = f"!{text}" if tight else f"!({text})"
        yield Splice(start, end, negated.encode("latin-1"), 0)
        if node == unit.node:
            yield from (Splice(start, end, forced, 1) for forced in (b"1", b"0"))
        yield from self._followed(node)
        for atom, tier in self._given.near(node):
            for operator in ("&&", "||"):
                yield from self._joined(node, unit, operator, atom, tier)

    def _followed(self, node: Node) -> Iterator[Splice]:
        """A condition with a check in front of it of each pointer that it follows."""
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("&&", "||"):
            return
        for pointer in followed(self._source, node, self._scope.sizes):
            for check, joined, tier in ((f"{pointer} != NULL", "&&", 0), (f"{pointer} == NULL", "||", 1)):
                own = _within(node, self._text(node), joined)
                yield Splice(node.start_byte, node.end_byte, f"{check} {joined} {own}".encode("latin-1"), tier)

    def _joined(self, node: Node, unit: Unit, operator: str, atom: str, tier: int) -> Iterator[Splice]:
        """A condition with another one behind it, or in front of the whole."""
        text, start, end = self._text(node), node.start_byte, node.end_byte
        if atom != text:
            own = _within(node, text, operator)
            yield Splice(start, end, f"{own} {operator} {atom}".encode("latin-1"), tier)
            if node == unit.node:
                yield Splice(start, end, f"{atom} {operator} {own}".encode("latin-1"), tier + 2)

    def joined(self, unit: Unit, operator: str, atoms: Iterable[str]) -> Iterator[Splice]:
        """The conditions of a unit with others joined to them by an operator."""
        truths = [node for node in walk(unit.node) if _is_truth(node, unit) or self._returns_truth(node)]
        for tier, atom in enumerate(atoms):
            for node in truths:
                yield from self._joined(node, unit, operator, atom, tier)

    def _returns_truth(self, node: Node) -> bool:
        """Whether a node is a whole value of type bool."""
        parent = node.parent
        is_whole = parent is not None and parent.type in ("return_statement", "init_declarator")
        return is_whole and node.is_named and self._terms.types.of(node) in BOOLS


def _two_indices(node: Node) -> tuple[Node, Node] | None:
    """The indices of an element of an array of arrays."""
    row = node.child_by_field_name("argument") if node.type == "subscript_expression" else None
    if row is None or row.type != "subscript_expression":
        return None
    first, second = row.child_by_field_name("index"), node.child_by_field_name("index")
    return (first, second) if first is not None and second is not None else None


def _shifted(node: Node, text: str) -> Iterator[tuple[str, int]]:
    """The node with 1 added or taken away, where a number may be used as a whole, or is multiplied or divided."""
    operator = node.child_by_field_name("operator")
    word = operator.type if operator is not None else ""
    if node.type not in _TERMED or (node.type == "binary_expression" and word in TRUTHS | {"&", "|", "^", "<<", ">>"}):
        return
    if is_whole(node):
        yield from ((f"{text} + 1", 0), (f"{text} - 1", 0))
    elif node.type != "binary_expression" and _factor_of(node):
        yield from ((f"({text} + 1)", 1), (f"({text} - 1)", 1))


def _factor_of(node: Node) -> bool:
    parent = node.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    return operator is not None and operator.type in ("*", "/", "%")


def is_degenerate(source: CSource, node: Node, text: str) -> bool:
    """Whether a text in place of a node makes an operator's two operands the same, or assigns a value to itself.

    Or whether it makes a right operand change nothing, as in ``n - 0``: that the term is left out is a change, too.
    """
    return _is_neutral(node, text) or _of_equal_operands(source, node, text) is not None


def _of_equal_operands(source: CSource, node: Node, text: str) -> Node | None:
    """The operation round a node whose operands a text in place of the node makes the same, where that is in vain."""
    at, new = node, text
    while (parent := at.parent) is not None and parent.type.endswith("_expression"):
        sides = parent.child_by_field_name("left"), parent.child_by_field_name("right")
        other = sides[1] if sides[0] == at else sides[0] if sides[1] == at else None
        operator = parent.child_by_field_name("operator")
        if other is not None and operator is not None and operator.type in _SAME_IN_VAIN and source.name(other) == new:
            return parent
        before = source.text[parent.start_byte : at.start_byte].decode("latin-1")
        at, new = parent, before + new + source.text[at.end_byte : parent.end_byte].decode("latin-1")
    return None


def _is_neutral(node: Node, text: str) -> bool:
    parent = node.parent
    if parent is None or parent.type != "binary_expression" or node != parent.child_by_field_name("right"):
        return False
    operator = parent.child_by_field_name("operator")
    return operator is not None and _NEUTRAL.get(operator.type) == text


def _within(node: Node, text: str, operator: str) -> str:
    """A condition as the left operand of ``&&`` or ``||``."""
    own = node.child_by_field_name("operator")
    joins = own is not None and own.type in ("&&", "||") and own.type != operator
    return f"({text})" if joins or node.type in _LOOSE else text


def near_numbers(text: str) -> list[str]:
    """Constants near a number: one more or less, none, one, twice and half of it, a digit more or less."""
    if found := _INTEGER.fullmatch(text):
        base, number = (16, int(found[1], 16)) if found[1][:2] in ("0x", "0X") else (10, int(found[1]))
        near = [
            number + 1,
            number - 1,
            0,
            1,
            number * 2,
            number // 2,
            number * 10,
            number // 10,
            number + 2,
            number - 2,
        ]
        shown = [f"{'-' if n < 0 else ''}{hex(abs(n)) if base == 16 else abs(n)}{found[2]}" for n in near]
        return [shown for shown in dict.fromkeys(shown) if shown != text]
    if found := _DECIMAL.fullmatch(text):
        value = float(found[1])
        near_ = [value + d for d in (0.5, -0.5, 1, -1, 0.1, -0.1, 0.05, -0.05)] + [2 * value, value / 2, 1 - value]
        return [f"{number:g}{found[2]}" for number in near_ if number >= 0]
    if found := _EXPONENT.fullmatch(text):
        return [f"{found[1]}{int(found[2]) + step}{found[3]}" for step in (1, -1, 2, -2, 3, -3, 4, -4)]
    return []


def numbers_around(text: str) -> Iterator[str]:
    """Other whole numbers of some size around one."""
    if text.isdigit() and int(text) >= LEAST_VARIED:
        for far in range(3, MOST_VARIED + 1):
            yield from (str(int(text) + far), str(max(0, int(text) - far)))


def slips(text: str) -> Iterator[str]:
    """A number of several digits with another digit in one place, or with one left out, twice, or exchanged."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return
    is_hexadecimal = found[1][:2] in ("0x", "0X")
    prefix, digits, suffix = found[1][: 2 * is_hexadecimal], found[1][2 * is_hexadecimal :], found[2]
    if len(digits) < LEAST_DIGITS or (digits[0] == "0" and not is_hexadecimal):
        return
    for at, old in enumerate(digits):
        for new in _DIGITS[: 16 if is_hexadecimal else 10]:
            if new != old.lower() and (at or new != "0"):
                yield f"{prefix}{digits[:at]}{new}{digits[at + 1 :]}{suffix}"
    for at, digit in enumerate(digits):
        behind = digits[at + 1 :]
        yield f"{prefix}{digits[:at]}{behind}{suffix}"
        yield f"{prefix}{digits[:at]}{digit}{digit}{behind}{suffix}"
        if behind and behind[0] != digit:
            yield f"{prefix}{digits[:at]}{behind[0]}{digit}{behind[1:]}{suffix}"


def is_whole(node: Node) -> bool:
    """Whether a node is a whole index, argument, operand of a comparison, value that is assigned or returned."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "binary_expression":
        operator = parent.child_by_field_name("operator")
        return operator is not None and operator.type in ("<", "<=", ">", ">=", "==", "!=")
    if parent.type in ("assignment_expression", "init_declarator"):
        return node in (parent.child_by_field_name("right"), parent.child_by_field_name("value"))
    if parent.type == "subscript_expression":
        return node == parent.child_by_field_name("index")
    return parent.type in ("argument_list", "return_statement")


def _is_truth(node: Node, unit: Unit) -> bool:
    """Whether only the truth of a node counts."""
    parent = node.parent
    if node == unit.node:
        return unit.place is Place.CONDITION
    if not node.is_named or node.type == "comment":
        return False
    if parent is not None and parent.type == "conditional_expression":
        return node == parent.child_by_field_name("condition")
    operator = parent.child_by_field_name("operator") if parent is not None else None
    joined = operator is not None and operator.type in ("&&", "||", "!")
    own = node.child_by_field_name("operator")
    returned = parent is not None and parent.type in ("return_statement", "init_declarator", "assignment_expression")
    return joined or (returned and own is not None and own.type in TRUTHS)


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return [child for child in listed.named_children if child.type != "comment"] if listed is not None else []
