"""The domain of clauses: terms bit-blasted for a SAT solver, each gate by Tseitin's translation and each once.

A bit is a literal; ``TRUE`` is the literal that the first clause makes true, so constants fold away as they come.
Floating-point operations have no clauses here: ``Unmodelled``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from whence.formula.terms import Term, Terms

TRUE = 1
Bits = tuple[int, ...]  # literals, lowest bit first
_SPLIT = frozenset({"and", "or", "eq"})  # conditions that hold by clauses without a gate of their own


class Unmodelled(Exception):
    """An operation that the domain cannot express."""


class Clauses:
    """A growing set of clauses over the terms that were asked for.

    ``clauses`` only grows: an incremental solver is given what is new. ``variables`` is the highest variable.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.clauses: list[tuple[int, ...]] = [(TRUE,)]  # tuples of numbers: nothing for the garbage collector
        self.variables = TRUE
        self._made: dict[Term, Bits] = {}
        self._gates: dict[tuple[int, ...], int] = {}
        self._quotients: dict[tuple[Bits, int], tuple[Bits, Bits]] = {}

    def literal(self, condition: Term) -> int:
        """The literal of a term of one bit."""
        return self.bits(condition)[0]

    def require(self, condition: Term, *unless: int) -> None:
        """Let a condition hold unless one of some literals does; an equation needs no gates, two clauses a bit."""
        terms = self._terms
        required = [(condition, unless)]
        while required:  # a conjunction may be as deep as a run is long
            condition, unless = required.pop()
            operation = terms.operations[condition]
            if TRUE in unless:
                continue
            if operation == "and":
                required += [(part, unless) for part in reversed(terms.operands(condition))]
            elif operation == "or":
                parts = sorted(terms.operands(condition), key=lambda part: terms.operations[part] in _SPLIT)
                required.append((parts[1], (self.literal(parts[0]), *unless)))
            elif operation == "eq":
                left, right = (self.bits(operand) for operand in terms.operands(condition))
                self._require_same(left, right, unless)
            else:
                self._require_one(self.literal(condition), unless)

    def _require_same(self, a: Bits, b: Bits, unless: tuple[int, ...]) -> None:
        """Let bits be the same unless one of some literals holds."""
        for x, y in zip(a, b, strict=True):
            if abs(x) == TRUE:
                x, y = y, x
            if abs(y) == TRUE:
                self._require_one(x if y == TRUE else -x, unless)
            elif x != y:
                self.clauses += ((-x, y, *unless), (x, -y, *unless))

    def _require_one(self, literal: int, unless: tuple[int, ...]) -> None:
        if literal != TRUE:
            self.clauses.append((literal, *unless))

    def new(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def bits(self, term: Term) -> Bits:
        """The literals of a term; raises Unmodelled for floating point."""
        return self._terms.translate(term, self._made, self._translate)

    def _translate(self, term: Term) -> Bits:
        terms = self._terms
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            return _bits(arguments[0], width)
        if operation == "symbol":
            return tuple(self.new() for _ in range(width))
        operands = [self._made[o] for o in terms.operands(term)]
        if operation == "extract":
            return operands[0][arguments[1] : arguments[1] + width]
        build = _TABLE.get(operation)
        if build is None:
            raise Unmodelled(operation)
        return build(self, width, *operands)

    # ---- Gates -------------------------------------------------------------------------------------------------------

    def and_(self, a: int, b: int) -> int:
        """Both."""
        if a == -TRUE or b == -TRUE or a == -b:
            return -TRUE
        if a in (TRUE, b):
            return b
        if b == TRUE:
            return a
        key = (min(a, b), max(a, b))
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.new()
            self.clauses += ((-found, a), (-found, b), (found, -a, -b))
        return found

    def all(self, literals: Iterable[int]) -> int:
        """All of them."""
        bits = set(literals) - {TRUE}
        if -TRUE in bits or any(-bit in bits for bit in bits):
            return -TRUE
        if len(bits) <= 2:
            return self.and_(*bits, *[TRUE] * (2 - len(bits)))
        key = (0, *sorted(bits))
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.new()
            self.clauses += (*((-found, bit) for bit in bits), (found, *(-bit for bit in bits)))
        return found

    def or_(self, a: int, b: int) -> int:
        """Either."""
        return -self.and_(-a, -b)

    def xor(self, a: int, b: int) -> int:
        """Not the same."""
        x, y = abs(a), abs(b)
        if x == TRUE:
            return -b if a == TRUE else b
        if y == TRUE:
            return -a if b == TRUE else a
        if x == y:
            return -TRUE if a == b else TRUE
        key = (x, y, 0) if x < y else (y, x, 0)
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.new()
            self.clauses += ((-found, x, y), (-found, -x, -y), (found, -x, y), (found, x, -y))
        return found if (a > 0) == (b > 0) else -found

    def choose(self, condition: int, yes: int, no: int) -> int:
        """One of two bits."""
        if abs(condition) == TRUE or yes == no:
            return yes if condition == TRUE or yes == no else no
        yes, no = self._under(condition, yes), self._under(-condition, no)
        if abs(yes) == TRUE:
            return self.or_(condition, no) if yes == TRUE else self.and_(-condition, no)
        if abs(no) == TRUE:
            return self.or_(-condition, yes) if no == TRUE else self.and_(condition, yes)
        key = (condition, yes, no)
        found = self._gates.get(key)
        if found is None:
            found = self._gates[key] = self.new()
            self.clauses += (
                (-condition, -yes, found),
                (-condition, yes, -found),
                (condition, -no, found),
                (condition, no, -found),
            )
        return found

    def _under(self, condition: int, bit: int) -> int:
        """What a bit is where a condition holds."""
        if abs(bit) != abs(condition):
            return bit
        return TRUE if bit == condition else -TRUE

    # ---- Vectors -----------------------------------------------------------------------------------------------------

    def add(self, a: Bits, b: Bits, carry: int = -TRUE) -> tuple[Bits, int]:
        """The sum and the carry out."""
        out = []
        for x, y in zip(a, b, strict=True):
            half = self.xor(x, y)
            out.append(self.xor(half, carry))
            carry = self.choose(half, carry, x)
        return tuple(out), carry

    def less(self, a: Bits, b: Bits) -> int:
        """Whether ``a`` is less than ``b``, unsigned: what the highest bit in which they differ says."""
        found = -TRUE
        for x, y in zip(a, b, strict=True):
            found = self.choose(self.xor(x, y), y, found)
        return found

    def equal(self, a: Bits, b: Bits) -> int:
        """Whether all bits are the same."""
        return self.all(-self.xor(x, y) for x, y in zip(a, b, strict=True))

    def select(self, condition: int, yes: Bits, no: Bits) -> Bits:
        """One of two vectors."""
        return tuple(self.choose(condition, x, y) for x, y in zip(yes, no, strict=True))

    def negate(self, a: Bits) -> Bits:
        """The two's complement."""
        return self.add(_inverted(a), (-TRUE,) * len(a), TRUE)[0]

    def multiply(self, a: Bits, b: Bits) -> Bits:
        """The product, cut to the operands' width."""
        if sum(abs(x) == TRUE for x in b) < sum(abs(x) == TRUE for x in a):
            a, b = b, a
        total: Bits = (-TRUE,) * len(a)
        for place, bit in enumerate(b):
            if bit != -TRUE:
                row = (-TRUE,) * place + tuple(self.and_(bit, x) for x in a[: len(a) - place])
                total = self.add(total, row)[0]
        return total

    def divide(self, a: Bits, b: Bits) -> tuple[Bits, Bits]:
        """Quotient and remainder, unsigned, by restoring division; SMT-LIB's answers for a divisor of 0."""
        width, divisor = len(a), _constant(b)
        if divisor:
            return self._divide_by(a, divisor)
        rest: Bits = (-TRUE,) * (width + 1)
        quotient = []
        for bit in reversed(a):
            rest = (bit, *rest[:-1])
            difference, fits = self.add(rest, _inverted((*b, -TRUE)), TRUE)
            rest = self.select(fits, difference, rest)
            quotient.append(fits)
        return tuple(reversed(quotient)), rest[:width]

    def _divide_by(self, a: Bits, divisor: int) -> tuple[Bits, Bits]:
        """Quotient and remainder by a constant: the only ones whose product and sum, without overflow, are ``a``.

        That takes an addition for each 1 of the divisor, where restoring division takes one for each bit of ``a``.
        """
        key = a, divisor
        if key not in self._quotients:
            width, digits = len(a), divisor.bit_length()
            quotient = tuple(self.new() for _ in range(width - digits + 1)) + (-TRUE,) * digits  # one bit wider than a
            rest = tuple(self.new() for _ in range(digits)) + (-TRUE,) * (width + 1 - digits)
            self._require_one(self.less(rest, _bits(divisor, width + 1)), ())
            total, _ = self.add(self.multiply(quotient, _bits(divisor, width + 1)), rest)
            self._require_same(total, (*a, -TRUE), ())
            self._quotients[key] = quotient[:width], rest[:width]
        return self._quotients[key]

    def shift(self, a: Bits, amount: Bits, left: bool, fill: int) -> Bits:
        """A shift by a vector; bits that come in are ``fill``."""
        width, found = len(a), a
        for place, bit in enumerate(amount):
            distance = min(1 << min(place, 20), width)
            empty = (fill,) * distance
            moved = empty + found[: width - distance] if left else found[distance:] + empty
            found = self.select(bit, moved, found)
        return found


def _bits(number: int, width: int) -> Bits:
    return tuple(TRUE if number >> k & 1 else -TRUE for k in range(width))


def _constant(bits: Bits) -> int | None:
    """The number that bits are, None where one of them is not known."""
    return sum((bit == TRUE) << k for k, bit in enumerate(bits)) if all(abs(bit) == TRUE for bit in bits) else None


def _inverted(bits: Bits) -> Bits:
    return tuple(-b for b in bits)


def _signed_division(clauses: Clauses, width: int, a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """Division of absolute values; the quotient's sign is both operands', the remainder's the dividend's."""
    left = clauses.select(a[-1], clauses.negate(a), a)
    right = clauses.select(b[-1], clauses.negate(b), b)
    quotient, rest = clauses.divide(left, right)
    signs = clauses.xor(a[-1], b[-1])
    return (
        clauses.select(signs, clauses.negate(quotient), quotient),
        clauses.select(a[-1], clauses.negate(rest), rest),
    )


def _flip_sign(bits: Bits) -> Bits:
    return (*bits[:-1], -bits[-1])


def _bitwise(gate: Callable[[Clauses, int, int], int]) -> Callable[..., Bits]:
    return lambda c, w, a, b: tuple(gate(c, x, y) for x, y in zip(a, b, strict=True))


_TABLE: dict[str, Callable[..., Bits]] = {
    "add": lambda c, w, a, b: c.add(a, b)[0],
    "sub": lambda c, w, a, b: c.add(a, _inverted(b), TRUE)[0],
    "mul": lambda c, w, a, b: c.multiply(a, b),
    "udiv": lambda c, w, a, b: c.divide(a, b)[0],
    "urem": lambda c, w, a, b: c.divide(a, b)[1],
    "sdiv": lambda c, w, a, b: _signed_division(c, w, a, b)[0],
    "srem": lambda c, w, a, b: _signed_division(c, w, a, b)[1],
    "and": _bitwise(Clauses.and_),
    "or": _bitwise(Clauses.or_),
    "xor": _bitwise(Clauses.xor),
    "shl": lambda c, w, a, b: c.shift(a, b, left=True, fill=-TRUE),
    "lshr": lambda c, w, a, b: c.shift(a, b, left=False, fill=-TRUE),
    "ashr": lambda c, w, a, b: c.shift(a, b, left=False, fill=a[-1]),
    "eq": lambda c, w, a, b: (c.equal(a, b),),
    "ult": lambda c, w, a, b: (c.less(a, b),),
    "ule": lambda c, w, a, b: (-c.less(b, a),),
    "slt": lambda c, w, a, b: (c.less(_flip_sign(a), _flip_sign(b)),),
    "sle": lambda c, w, a, b: (-c.less(_flip_sign(b), _flip_sign(a)),),
    "ite": lambda c, w, condition, a, b: c.select(condition[0], a, b),
    "concat": lambda c, w, a, b: (*b, *a),
    "zext": lambda c, w, a: (*a, *(-TRUE,) * (w - len(a))),
    "sext": lambda c, w, a: (*a, *(a[-1],) * (w - len(a))),
}
