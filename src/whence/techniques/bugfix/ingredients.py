"""Statements that can be put in at a place: copies of others, as they stand or with variables renamed, and simple ones.

What a fix needs mostly stands elsewhere in the program (Martinez, Weimer, Monperrus: Do the fix ingredients already
exist?, 2014), often about another variable of the same type. The simple ones set, count and limit the terms of a place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from whence.program.c_source import lines_of, walk
from whence.techniques.bugfix.expression_types import (
    BOOLS,
    CHARACTERS,
    FLOATS,
    are_alike,
    constant,
    is_integer,
    is_number,
    is_pointer,
)
from whence.techniques.bugfix.scope import Scope, declared
from whence.techniques.bugfix.terms import Near, Term, Terms
from whence.techniques.bugfix.twins import letters_apart

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_COPIES, MOST_RENAMED, MOST_LIMITS, MOST_LENGTHS, MOST_TWINS, MOST_ALIKE, MOST_BITS = 60, 40, 30, 5, 12, 12, 12
RENAMINGS, SAME_TYPE = 4, 2  # of a statement, and variables that one can become
RENAMINGS_BESIDE, BESIDE = 12, 2  # of a statement so many lines away: what is set up in a row is so to the last
_TURNED = re.compile(r"(?<= = )(?:true|false)(?=;$)|(?<= )[+-](?==)|\+\+(?=;$)|--(?=;$)")  # what another one undoes
_OPPOSITES = {"true": "false", "false": "true", "+": "-", "-": "+", "++": "--", "--": "++"}
_BITS_SET, _BITS_CLEARED = re.compile(r"(.+?)\s*\|=\s*(.+);"), re.compile(r"(.+?)\s*&=\s*~\s*(.+);")
_SIMPLE = re.compile(r"\w+|\([^()]*\)")  # what an operator can stand before
_KEPT = re.compile(r"\w+(?:(?:->|\.)\w+)?")  # a variable, or a member of one
_UNEQUAL = frozenset(("<", "<=", ">", ">=", "!="))
_PLACES = frozenset(("identifier", "field_expression", "subscript_expression", "pointer_expression"))
_ARITHMETIC = ("+", "-", "*", "/")
_CHANGING = frozenset(("+", "-", "*", "/", "%", "&", "|", "^"))

Tiered = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A simple statement of the file: its function, line and text, the names that it uses and those that it calls.

    What a variable is declared with is one, too: an assignment. Its text begins at ``start`` in the file.
    """

    node: Node
    start: int
    function: int
    line: int
    text: str
    names: frozenset[str]
    called: frozenset[str]


class Ingredients:
    """What can be put in at the places of one file."""

    def __init__(self, scope: Scope, terms: Terms) -> None:
        self._scope, self._source, self._terms = scope, scope.source, terms
        self._visible_at: dict[int, dict[str, str]] = {}

    def at(self, statement: Node) -> list[Tiered]:
        """Statements that mean something beside another one, with their tiers."""
        found: dict[str, int] = {}
        for text, tier in (*self._copies(statement), *self._simple(statement), *self._renamed(statement)):
            found[text] = min(tier, found.get(text, tier))
        for text, tier in list(found.items()):
            found.setdefault(_undoing(text), max(tier, 1))
        return sorted(found.items(), key=lambda item: item[1])

    def calls_at(self, statement: Node) -> list[str]:
        """Calls, copied as they stand or renamed, that a statement could be instead."""
        return [text for text, _ in (*self._copies(statement), *self._renamed(statement)) if text.endswith(");")]

    def elements_at(self, loop: Node) -> Iterator[str]:
        """The elements of arrays that a loop's variable numbers, made nothing: first of arrays of as many as it counts.

        The variable is one that the head of the loop declares.
        """
        begins, condition = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
        name = next((name for name, _ in declared(self._source, begins)), "") if begins is not None else ""
        bound = self._source.name(condition) if condition is not None else ""
        arrays = [term for term in self._terms.at(loop) if is_pointer(term.type) and _KEPT.fullmatch(term.text)]
        sizes = self._scope.sizes
        for term in sorted(arrays, key=lambda term: not any(size in bound for size in sizes.get(term.key, ()))):
            nothing = constant(term.type[:-1].rstrip(), 0)
            values = () if nothing is None else (nothing, "-1") if is_number(term.type[:-1].rstrip()) else (nothing,)
            yield from (f"{term.text}[{name}] = {value};" for value in values if name)

    # ---- Copies ------------------------------------------------------------------------------------------------------

    def _copies(self, statement: Node) -> Iterator[Tiered]:
        """Statements of the file that mean something at a place, those of its function first."""
        usable, later = self._usable(statement), self._scope.later(statement.start_byte)
        own, line = self._function(statement), lines_of(statement)[0]
        fitting = [
            (leaf.function != own, abs(leaf.line - line), leaf.text)
            for leaf in self._leaves
            if leaf.names <= usable and not leaf.called & later
        ]
        copies = list(dict.fromkeys(text for _, _, text in sorted(fitting)))[:MOST_COPIES]
        yield from ((text, 0 if number < MOST_COPIES // 3 else 1) for number, text in enumerate(copies))

    def _renamed(self, statement: Node) -> Iterator[Tiered]:
        """Statements of the file that mean something once their variables are called what the place's are.

        Those of its function come first, the nearest before the others.
        """
        usable, later = self._usable(statement), self._scope.later(statement.start_byte)
        own, line = self._function(statement), lines_of(statement)[0]
        near = [term for term in self._terms.at(statement) if term.text.isidentifier() and term.near <= Near.FUNCTION]
        found: dict[str, None] = {}
        for leaf in sorted(self._leaves, key=lambda leaf: (leaf.function != own, abs(leaf.line - line))):
            if len(found) >= MOST_RENAMED:
                break
            if leaf.called & later:
                continue
            if leaf.names <= usable:
                is_beside = leaf.function == own and abs(leaf.line - line) <= BESIDE
                far, most = (Near.FUNCTION, RENAMINGS_BESIDE) if is_beside else (Near.AROUND, RENAMINGS)
                found |= dict.fromkeys(islice(self._about_others(leaf, near, far), most))
                if is_beside:
                    found |= dict.fromkeys(islice(self._about_members(leaf), RENAMINGS))
                continue
            found |= dict.fromkeys(islice(self._renamings(leaf, usable, near), RENAMINGS))
        yield from ((text, 1) for text in list(found)[:MOST_RENAMED])

    def _renamings(self, leaf: _Leaf, usable: set[str], near: list[Term]) -> Iterator[str]:
        visible = self._visible(leaf)
        foreign = [name for name in sorted(leaf.names) if name not in usable]
        if any(name not in visible for name in foreign):
            return
        ways = []
        for name in foreign:
            type_ = self._terms.types.resolved(visible[name])
            ways.append([term.text for term in near if term.type == type_][:SAME_TYPE])
        for chosen in product(*ways):
            yield self._with(leaf, dict(zip(foreign, chosen, strict=True)))

    def _visible(self, leaf: _Leaf) -> dict[str, str]:
        """The variables that can be named where a statement of the file stands, with their types."""
        start = leaf.node.start_byte
        if start not in self._visible_at:
            self._visible_at[start] = self._scope.variables(leaf.node)
        return self._visible_at[start]

    def _about_others(self, leaf: _Leaf, near: list[Term], far: Near) -> Iterator[str]:
        """A call that means something at the place, about another variable of it, no farther than that."""
        types = {term.text: term.type for term in near}
        for name in sorted(leaf.names & types.keys()) if leaf.called else ():
            for term in near:
                if term.type == types[name] and term.text != name and term.near <= far:
                    yield self._with(leaf, {name: term.text})

    def _about_members(self, leaf: _Leaf) -> Iterator[str]:
        """A statement that means something at the place, about other members of the same type."""
        members = dict.fromkeys(self._source.name(n) for n in walk(leaf.node) if n.type == "field_identifier")
        for member in members:
            for other in self._terms.types.alike_members(member):
                yield re.sub(rf"(?<=[.>]){member}\b", other, leaf.text)

    def _twins(self, statement: Node) -> list[str]:
        """What statements of its function do about one variable, done about its twin: of the nearest names first."""
        usable, own, line = self._usable(statement), self._function(statement), lines_of(statement)[0]
        near = [term for term in self._terms.at(statement) if term.text.isidentifier() and term.near <= Near.FUNCTION]
        mine = [leaf for leaf in self._leaves if leaf.function == own and leaf.names <= usable and not leaf.called]
        twins: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for one, other in product(near, near):
            if one.type == other.type and (apart := letters_apart(one.text, other.text)):
                twins[one.text].append((apart, other.text))
        found: dict[str, tuple[int, int]] = {}
        ways = ((leaf, name, *way) for leaf in mine for name in leaf.names & twins.keys() for way in twins[name])
        for leaf, name, apart, twin in ways:
            if twin not in leaf.names:
                text, cost = self._with(leaf, {name: twin}), (apart, abs(leaf.line - line))
                found[text] = min(cost, found.get(text, cost))
        known = {leaf.text for leaf in mine}
        return sorted(found.keys() - known, key=lambda text: (found[text], text))

    def _with(self, leaf: _Leaf, names: dict[str, str]) -> str:
        """The text of a statement with other names."""
        text, start = leaf.text, leaf.start
        for node in reversed([n for n in walk(leaf.node) if n.type == "identifier"]):
            new = names.get(self._source.name(node))
            if new is not None:
                text = text[: node.start_byte - start] + new + text[node.end_byte - start :]
        return text

    @cached_property
    def _leaves(self) -> list[_Leaf]:
        nodes = ((f.start_byte, node) for f in self._source.functions for node in walk(f) if not node.has_error)
        found = ((function, node, self._begin(node)) for function, node in nodes)
        return [
            _Leaf(node, start, function, lines_of(node)[0], text, self.names(node), self._source.called(node))
            for function, node, start in found
            if start is not None and "\n" not in (text := self._statement_from(node, start))
        ]

    def _begin(self, node: Node) -> int | None:
        """Where a simple statement begins, or the name that a declaration gives a single value; None for others."""
        if node.type == "expression_statement":
            return node.start_byte if node.named_children else None  # not a semicolon alone
        declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if node.type != "init_declarator" or value is None or value.type == "initializer_list":
            return None
        while declarator is not None and declarator.type == "pointer_declarator":
            declarator = declarator.child_by_field_name("declarator")
        return declarator.start_byte if declarator is not None and declarator.type == "identifier" else None

    def _statement_from(self, node: Node, start: int) -> str:
        text = self._source.text[start : node.end_byte].decode("latin-1")
        return text if node.type == "expression_statement" else f"{text};"

    def names(self, node: Node) -> frozenset[str]:
        """The names that a statement uses, but for those of functions that it calls; a pointer to one is a variable."""
        pointers = self._scope.function_pointers(node)
        called = {n.child_by_field_name("function") for n in walk(node) if n.type == "call_expression"}
        functions = (n for n in called if n is not None and n.type == "identifier")
        places = {n.start_byte for n in functions if self._source.name(n) not in pointers}
        used = (n for n in walk(node) if n.type == "identifier")
        return frozenset(self._source.name(n) for n in used if n.start_byte not in places)

    def _usable(self, statement: Node) -> set[str]:
        visible = self._scope.variables(statement)
        return {*visible, *self._scope.functions, *self._scope.constants, "NULL", "true", "false"}

    def _function(self, statement: Node) -> int:
        function = self._source.function_at(statement.start_byte)
        return function.start_byte if function is not None else -1

    # ---- Simple statements -------------------------------------------------------------------------------------------

    def _simple(self, statement: Node) -> Iterator[Tiered]:
        """Terms set, counted, made to what others are, and limited."""
        yield from ((text, 0) for text in (*self._remembered(statement), *self._uncalled(statement)))
        terms = self._terms.at(statement)
        places = [term for term in terms if term.is_place and term.near < Near.FILE]
        for term in places:
            yield from ((text, 1 + (term.near > Near.AROUND)) for text in self._set(term))
        for term in (term for term in places if term.near <= Near.AROUND):
            for other in (o for o in terms if o.type == term.type and o.text != term.text and o.near < Near.FILE):
                yield f"{term.text} = {other.text};", 1 + max(term.near, other.near)
                if is_integer(term.type) and term.type not in CHARACTERS:
                    yield f"{term.text} += {other.text};", 2 + max(term.near, other.near)
        yield from self._unread(statement, places)
        yield from ((text, 0) for text in self._twins(statement)[:MOST_TWINS])
        yield from ((text, 1) for text in islice(self._called_alike(statement), MOST_ALIKE))
        yield from ((text, 1) for text in islice(self._bits([p for p in places if p.near <= Near.AROUND]), MOST_BITS))
        yield from islice(self._limits([term for term in terms if term.near <= Near.AROUND]), MOST_LIMITS)
        yield from self._ended([term for term in terms if term.near < Near.FILE], self._function(statement))
        yield from self._reckoned(statement)

    def _uncalled(self, statement: Node) -> Iterator[str]:
        """Calls of functions that nothing calls, alone, or giving their result to what has its type."""
        places = [term for term in self._terms.at(statement) if term.is_place and term.near <= Near.AROUND]
        for call in self._terms.uncalled(statement):
            yield f"{call.text};"
            yield from (f"{place.text} = {call.text};" for place in places if place.type == call.type)

    def _called_alike(self, statement: Node) -> Iterator[str]:
        """Members that variables or other structures' members of the same name are kept in: ``task->work = work;``."""
        places = [term for term in self._terms.at(statement) if term.is_place and term.near <= Near.FUNCTION]
        named: dict[str, list[Term]] = defaultdict(list)
        for term in places:
            if _KEPT.fullmatch(term.text):
                named[term.key].append(term)
        for kept in places:
            if "[" not in kept.text and kept.text != kept.key:
                others = (one for one in named[kept.key] if one.text != kept.text and are_alike(one.type, kept.type))
                yield from (f"{kept.text} = {other.text};" for other in others)

    def _bits(self, places: list[Term]) -> Iterator[str]:
        """Bits set and cleared in places, each of which the file sets or clears in one of that name."""
        for place in places:
            for bit in self._known_bits[place.key]:
                yield from (f"{place.text} &= ~{bit};", f"{place.text} |= {bit};")

    @cached_property
    def _known_bits(self) -> dict[str, list[str]]:
        """The constants that the file sets or clears in variables and members, by the names of these."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for leaf in self._leaves:
            if _BITS_SET.fullmatch(leaf.text) or _BITS_CLEARED.fullmatch(leaf.text):
                left = leaf.node.named_children[0].child_by_field_name("left")
                if left is not None:
                    found[self._terms.key(left)] |= dict.fromkeys(sorted(leaf.names & self._scope.constant_names))
        return defaultdict(list, {key: list(bits) for key, bits in found.items()})

    def _unread(self, statement: Node, places: list[Term]) -> Iterator[Tiered]:
        """What nothing reads given to places, and numbers changed by it, or by a macro, whose type is not known.

        They are changed as the function changes others first.
        """
        function = self._source.function_at(statement.start_byte)
        text = self._source.of(function) if function is not None else b""
        usual = {"+", *(sign for sign in _ARITHMETIC if f"{sign}=".encode() in text)}
        for value, place in product(self._terms.unread(statement), places):
            if place.type == value.type and place.text != value.text:
                yield f"{place.text} = {value.text};", 0
                if is_number(value.type) and value.type not in CHARACTERS:
                    yield from ((f"{place.text} {sign}= {value.text};", int(sign not in usual)) for sign in _ARITHMETIC)
        numbers = [place for place in places if is_integer(place.type) and place.near <= Near.AROUND]
        for macro, place in product(sorted(self._terms.unused.macros), numbers):
            yield from ((f"{place.text} {operator}= {macro};", 0) for operator in ("", *sorted(_CHANGING)))

    def _remembered(self, statement: Node) -> Iterator[str]:
        """What the conditions around a statement compared, made equal: the largest so far, the last one that differs.

        Equal types are not asked for: an element is often smaller than the variable that keeps it.
        """
        inner = statement
        while (at := inner.parent) is not None and at.type != "function_definition":
            condition = at.child_by_field_name("condition") if at.type == "if_statement" else None
            if condition is not None and at.child_by_field_name("consequence") == inner:
                yield from self._made_equal(condition)
            inner = at

    def _made_equal(self, condition: Node) -> Iterator[str]:
        """Assignments of one side of a comparison to the other; first to a variable, then to an element or member."""
        for node in walk(condition):
            operator = node.child_by_field_name("operator")
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None or operator is None or operator.type not in _UNEQUAL:
                continue
            if {left.type, right.type} <= _PLACES and not self._source.called(node):
                swapped = right.type == "identifier" != left.type
                for to, value in ((right, left), (left, right)) if swapped else ((left, right), (right, left)):
                    yield f"{self._source.name(to)} = {self._source.name(value)};"

    def _set(self, term: Term) -> Iterator[str]:
        text, type_ = term.text, term.type
        if type_ in BOOLS:
            yield from (f"{text} = false;", f"{text} = true;")
        elif is_pointer(type_):
            yield f"{text} = NULL;"
            if is_integer(type_[:-1].rstrip()) and type_[:-1].rstrip() not in CHARACTERS:
                yield from (f"++*{text};", f"--*{text};", f"*{text} = 0;")
        elif type_ in FLOATS:
            yield f"{text} = 0;"
        elif is_number(type_) and type_ not in CHARACTERS:
            steps = (f"++{text};", f"--{text};") if text.startswith("*") else (f"{text}++;", f"{text}--;")
            yield from (f"{text} = 0;", *steps, f"{text} = 1;")
        yield from (f"{text} = {constant};" for constant in self._terms.types.enumerators(type_))
        same = (constant for word, constant in self._terms.conditions_on(term.key) if word == "==")
        yield from (f"{text} = {constant};" for constant in same)

    def _limits(self, terms: list[Term]) -> Iterator[Tiered]:
        """Checks that keep a number below another one, or at least at 0."""
        numbers = [term for term in terms if is_integer(term.type)]
        for term in numbers:
            if term.is_place:
                yield f"if ({term.text} < 0) {term.text} = 0;", 2
        for term, bound in product(numbers, numbers):
            if term.is_place and term.text != bound.text:
                yield f"if ({term.text} >= {bound.text}) {term.text} = {bound.text} - 1;", 2
                yield f"if ({term.text} > {bound.text}) {term.text} = {bound.text};", 2

    def _ended(self, terms: list[Term], function: int) -> Iterator[Tiered]:
        """Ends of the strings whose characters the function, which begins there, sets one by one."""
        lengths = [term.text for term in terms if is_integer(term.type) and term.type not in CHARACTERS][:MOST_LENGTHS]
        for string in (term.text for term in terms if term.type == "char *" and term.key in self._filled[function]):
            yield from ((f"{string}[{length}] = '\\0';", 1) for length in lengths)

    @cached_property
    def _filled(self) -> dict[int, set[str]]:
        """By function (by where it begins) the names of the arrays whose elements it sets."""
        found: dict[int, set[str]] = defaultdict(set)
        for function in self._source.functions:
            for node in walk(function):
                left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
                if left is not None and left.type == "subscript_expression":
                    found[function.start_byte].add(self._terms.key(left))
        return found

    def _reckoned(self, statement: Node) -> Iterator[Tiered]:
        """What is reckoned from a value in the function, made to be its new one: ``n -= 2 * cut;`` from n - 2 * cut."""
        function, usable = self._source.function_at(statement.start_byte), self._usable(statement)
        places = {term.text for term in self._terms.at(statement) if term.is_place}
        for node in walk(function) if function is not None else ():
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if node.type != "binary_expression" or left is None or right is None or operator is None:
                continue
            text = f"{self._source.name(left)} {operator.type}= {self._source.name(right)};"
            if operator.type in _CHANGING and self._source.name(left) in places and self.names(right) <= usable:
                yield text, 1


def _undoing(text: str) -> str:
    """The statement that undoes what another one did; that one itself, where there is none."""
    if (bits := _BITS_SET.fullmatch(text)) is not None:
        mask = bits[2] if _SIMPLE.fullmatch(bits[2]) else f"({bits[2]})"
        return f"{bits[1]} &= ~{mask};"
    if (bits := _BITS_CLEARED.fullmatch(text)) is not None:
        return f"{bits[1]} |= {bits[2]};"
    return _TURNED.sub(lambda turned: _OPPOSITES[turned[0]], text, count=1)
