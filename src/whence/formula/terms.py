"""Terms: bit-vectors of any width over symbols, as a graph in which equal terms are one.

A term is a number; ``Terms`` holds for each its operation, width and arguments. Arguments have smaller numbers than the
term, so whoever walks the numbers upwards meets arguments first: every domain (integers, arrays of cases, clauses, SMT)
is a table of operations applied in that order. Booleans are vectors of one bit, floating-point numbers the vectors of
their IEEE bits; an aggregate is one vector in the order of memory, its first byte lowest.

The operations, by name, with ``w`` for the result's width and ``n`` for that of the last operand:

    const symbol                                  a number, an unknown; args hold the value, the symbol's number
    add sub mul udiv urem sdiv srem and or xor    operands of width w; arithmetic wraps, division as in SMT-LIB
    shl lshr ashr                                 amounts of w or more shift everything out
    eq ult ule slt sle                            w = 1
    ite concat zext sext extract                  concat's first operand is the higher one; extract's last argument is
                                                  the lowest bit, a number
    fadd fsub fmul fdiv frem fsqrt                IEEE, to nearest, ties to even, of w bits (32, 64)
    ffloor fceil ftrunc feven faway               to an integer as a float: down, up, towards zero, to nearest with ties
                                                  to even, or away from zero
    feq flt fle                                   w = 1; false where an operand is not a number
    fconvert                                      from n to w bits
    ftosi ftoui sitof uitof                       float to integer towards zero, integer to float
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from whence.formula.integers import OPERATIONS

Term = int
Made = TypeVar("Made")
LEAVES = frozenset({"const", "symbol"})
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "eq"})


class Terms:
    """A growing graph of terms; all methods that make one answer its number.

    ``operations[t]``, ``widths[t]`` and ``arguments[t]`` describe term ``t``.
    """

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.widths: list[int] = []
        self.arguments: list[tuple[int, ...]] = []
        self._known: dict[tuple[str, int, tuple[int, ...]], Term] = {}
        self._applied: dict[tuple[str, int, tuple[int, ...]], Term] = {}
        self._constants: dict[tuple[int, int], Term] = {}
        self._symbols = 0

    def __len__(self) -> int:
        return len(self.operations)

    def constant(self, value: int, width: int) -> Term:
        """The number ``value``, cut to ``width`` bits."""
        found = self._constants.get((value, width))
        if found is None:
            found = self._constants[value, width] = self._make("const", width, (value & (1 << width) - 1,))
        return found

    def symbol(self, width: int) -> Term:
        """An unknown of its own; symbols are numbered from 0 in the order in which they are made."""
        number = self._symbols
        self._symbols += 1
        return self._make("symbol", width, (number,))

    def operands(self, term: Term) -> tuple[Term, ...]:
        """The terms among the arguments."""
        operation, arguments = self.operations[term], self.arguments[term]
        if operation in LEAVES:
            return ()
        return arguments[:1] if operation == "extract" else arguments

    def value(self, term: Term) -> int | None:
        """The number that a constant is; None for any other term."""
        return self.arguments[term][0] if self.operations[term] == "const" else None

    def apply(self, operation: str, width: int, *operands: Term) -> Term:
        """An operation on terms, simplified where that takes no search."""
        key = (operation, width, operands)
        found = self._applied.get(key)
        if found is None:
            found = self._applied[key] = self._simplified(operation, width, operands)
        return found

    def _simplified(self, operation: str, width: int, operands: tuple[Term, ...]) -> Term:
        simplify = _SIMPLIFY.get(operation)
        if simplify is not None and (found := simplify(self, width, operands)) is not None:
            return found
        values = [self.value(operand) for operand in operands]
        if None not in values:
            return self.constant(OPERATIONS[operation](width, self.widths[operands[-1]], *values), width)
        if operation in _COMMUTATIVE and (values[0] is not None or (values[1] is None and operands[0] > operands[1])):
            operands = operands[1], operands[0]
        return self._make(operation, width, operands)

    def extract(self, term: Term, low: int, width: int) -> Term:
        """``width`` bits from bit ``low`` on."""
        operation, arguments = self.operations[term], self.arguments[term]
        if width == self.widths[term]:
            return term
        if operation == "const":
            return self.constant(arguments[0] >> low, width)
        if operation == "extract":
            return self.extract(arguments[0], arguments[1] + low, width)
        if operation == "concat":
            split = self.widths[arguments[1]]
            if low >= split:
                return self.extract(arguments[0], low - split, width)
            if low + width <= split:
                return self.extract(arguments[1], low, width)
        if operation in {"zext", "sext"} and low + width <= self.widths[arguments[0]]:
            return self.extract(arguments[0], low, width)
        if operation == "zext" and low >= self.widths[arguments[0]]:
            return self.constant(0, width)
        return self._make("extract", width, (term, low))

    def concat(self, high: Term, low: Term) -> Term:
        """The bits of ``high`` above those of ``low``; neighbouring parts of one term become one part."""
        width = self.widths[high] + self.widths[low]
        source, start = self._part(low)
        above, end = self._part(high)
        if source == above and start + self.widths[low] == end and self.operations[source] != "const":
            return self.extract(source, start, width)
        return self.apply("concat", width, high, low)

    def _part(self, term: Term) -> tuple[Term, int]:
        if self.operations[term] == "extract":
            return self.arguments[term][0], self.arguments[term][1]
        return term, 0

    def resize(self, term: Term, width: int, signed: bool = False) -> Term:
        """The number extended or cut to ``width`` bits."""
        own = self.widths[term]
        if width <= own:
            return self.extract(term, 0, width)
        return self.apply("sext" if signed else "zext", width, term)

    def equal(self, left: Term, right: Term) -> Term:
        """Whether two terms are the same number."""
        return self.apply("eq", 1, left, right)

    def negate(self, condition: Term) -> Term:
        """The opposite of a condition."""
        return self.apply("xor", 1, condition, self.constant(1, 1))

    def both(self, conditions: Iterable[Term]) -> Term:
        """Whether all conditions hold."""
        found = self.constant(1, 1)
        for condition in conditions:
            found = self.apply("and", 1, found, condition)
        return found

    def choose(self, condition: Term, yes: Term, no: Term) -> Term:
        """One of two terms of the same width."""
        return self.apply("ite", self.widths[yes], condition, yes, no)

    def cone(self, roots: Iterable[Term]) -> list[Term]:
        """The roots and all that they are made of, in ascending order."""
        seen: set[Term] = set()
        pending = list(roots)
        while pending:
            term = pending.pop()
            if term not in seen:
                seen.add(term)
                pending.extend(self.operands(term))
        return sorted(seen)

    def translate(self, root: Term, made: dict[Term, Made], translation: Callable[[Term], Made]) -> Made:
        """What ``made`` has for a term, once all that is missing of its cone has been translated, arguments first."""
        pending = [root]
        while pending:
            term = pending[-1]
            missing = [] if term in made else [operand for operand in self.operands(term) if operand not in made]
            if missing:
                pending += missing
                continue
            pending.pop()
            if term not in made:
                made[term] = translation(term)
        return made[root]

    def symbols(self, roots: Iterable[Term]) -> Iterator[Term]:
        """The symbols that some terms are made of."""
        return (term for term in self.cone(roots) if self.operations[term] == "symbol")

    def _make(self, operation: str, width: int, arguments: tuple[int, ...]) -> Term:
        key = (operation, width, arguments)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.operations)
            self.operations.append(operation)
            self.widths.append(width)
            self.arguments.append(arguments)
        return found


# Simplifications: each answers a term, or None where it does not apply.

_Rule = Callable[[Terms, int, tuple[Term, ...]], "Term | None"]


def _neutral(*numbers: int, on_left: bool = True) -> _Rule:
    """An operation that leaves the other operand as it is where one is the given number (-1: all bits)."""

    def simplify(terms: Terms, width: int, operands: tuple[Term, ...]) -> Term | None:
        left, right = operands
        neutral = {number & (1 << width) - 1 for number in numbers}
        if terms.value(right) in neutral:
            return left
        return right if on_left and terms.value(left) in neutral else None

    return simplify


def _sum(terms: Terms, width: int, operands: tuple[Term, ...]) -> Term | None:
    """Numbers added one after the other are added at once."""
    left, right = operands
    number = terms.value(right)
    if number and terms.operations[left] == "add":
        inner, other = terms.arguments[left]
        if (first := terms.value(other)) is not None:
            return terms.apply("add", width, inner, terms.constant(first + number, width))
    return _ZERO(terms, width, operands)


def _exclusive(terms: Terms, width: int, operands: tuple[Term, ...]) -> Term | None:
    left, right = operands
    if left == right:
        return terms.constant(0, width)
    if width == 1 and terms.operations[left] == "xor" and right in terms.arguments[left]:  # a condition negated twice
        return next(a for a in terms.arguments[left] if a != right)
    return _ZERO(terms, width, operands)


def _equal(terms: Terms, width: int, operands: tuple[Term, ...]) -> Term | None:
    """Equality with itself; that of an extended condition or character with a number, in its own width."""
    left, right = operands
    if left == right:
        return terms.constant(1, 1)
    if terms.value(left) is not None:
        left, right = right, left
    number = terms.value(right)
    if number is None or terms.operations[left] != "zext":
        return terms.negate(left) if number == 0 and terms.widths[left] == 1 else None
    narrow = terms.arguments[left][0]
    if number >> terms.widths[narrow]:
        return terms.constant(0, 1)
    return terms.equal(narrow, terms.constant(number, terms.widths[narrow]))


def _conditional(terms: Terms, width: int, operands: tuple[Term, ...]) -> Term | None:
    condition, yes, no = operands
    known = terms.value(condition)
    if known is not None:
        return yes if known else no
    if yes == no:
        return yes
    if width == 1 and terms.value(yes) == 1 and terms.value(no) == 0:
        return condition
    return None


_ZERO = _neutral(0)
_SIMPLIFY: dict[str, _Rule] = {
    "add": _sum,
    "or": _ZERO,
    "xor": _exclusive,
    "sub": _neutral(0, on_left=False),
    "shl": _neutral(0, on_left=False),
    "lshr": _neutral(0, on_left=False),
    "ashr": _neutral(0, on_left=False),
    "mul": _neutral(1),
    "and": _neutral(-1),
    "eq": _equal,
    "ite": _conditional,
}
