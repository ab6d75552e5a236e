"""The domain of cvc5's terms, for `bench.solvers`: bit-vectors of true width and IEEE floats; one bit is a Boolean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cvc5  # type: ignore[import-not-found,import-untyped,unused-ignore]
from cvc5 import Kind, RoundingMode

from whence.formula.terms import Term, Terms

Expression = Any  # a cvc5 term

_LOGIC = {"and": Kind.AND, "or": Kind.OR, "xor": Kind.XOR, "add": Kind.XOR, "sub": Kind.XOR}
_COMPARISONS = {
    "ult": Kind.BITVECTOR_ULT,
    "ule": Kind.BITVECTOR_ULE,
    "slt": Kind.BITVECTOR_SLT,
    "sle": Kind.BITVECTOR_SLE,
}
_VECTORS = {
    "add": Kind.BITVECTOR_ADD,
    "sub": Kind.BITVECTOR_SUB,
    "mul": Kind.BITVECTOR_MULT,
    "udiv": Kind.BITVECTOR_UDIV,
    "urem": Kind.BITVECTOR_UREM,
    "sdiv": Kind.BITVECTOR_SDIV,
    "srem": Kind.BITVECTOR_SREM,
    "and": Kind.BITVECTOR_AND,
    "or": Kind.BITVECTOR_OR,
    "xor": Kind.BITVECTOR_XOR,
    "shl": Kind.BITVECTOR_SHL,
    "lshr": Kind.BITVECTOR_LSHR,
    "ashr": Kind.BITVECTOR_ASHR,
    "concat": Kind.BITVECTOR_CONCAT,
}
_EXTENSIONS = {"zext": Kind.BITVECTOR_ZERO_EXTEND, "sext": Kind.BITVECTOR_SIGN_EXTEND}
_ARITHMETIC = {
    "fadd": Kind.FLOATINGPOINT_ADD,
    "fsub": Kind.FLOATINGPOINT_SUB,
    "fmul": Kind.FLOATINGPOINT_MULT,
    "fdiv": Kind.FLOATINGPOINT_DIV,
}
_ORDER = {"feq": Kind.FLOATINGPOINT_EQ, "flt": Kind.FLOATINGPOINT_LT, "fle": Kind.FLOATINGPOINT_LEQ}
_ROUNDING = {
    "ffloor": RoundingMode.ROUND_TOWARD_NEGATIVE,
    "fceil": RoundingMode.ROUND_TOWARD_POSITIVE,
    "ftrunc": RoundingMode.ROUND_TOWARD_ZERO,
    "feven": RoundingMode.ROUND_NEAREST_TIES_TO_EVEN,
    "faway": RoundingMode.ROUND_NEAREST_TIES_TO_AWAY,
}
_FORMATS = {32: (8, 24), 64: (11, 53)}  # bits of exponent and significand


class Cvc5:
    """Translates terms to cvc5's, each once; ``manager`` owns them.

    cvc5 cannot turn a float back into bits: a result is an unknown vector whose float it is, which ``definitions``
    collects; they have to be told to the solver with the conditions.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms, self.manager = terms, cvc5.TermManager()
        self.definitions: dict[Expression, Expression] = {}  # unknown -> that it has its value
        self._made: dict[Term, Expression] = {}
        self._one, self._zero = (self.manager.mkBitVector(1, bit) for bit in (1, 0))

    def of(self, term: Term) -> Expression:
        """The expression of a term: Boolean for one bit, else a bit-vector."""
        return self._terms.translate(term, self._made, self._translate)

    def needed(self, conditions: Iterable[Term]) -> list[Expression]:
        """The definitions that some conditions rest on."""
        made = (self._made.get(term) for term in self._terms.cone(conditions))
        return [self.definitions[expression] for expression in made if expression in self.definitions]

    def _translate(self, term: Term) -> Expression:
        terms, make = self._terms, self.manager.mkTerm
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            value = arguments[0]
            return self.manager.mkBoolean(bool(value)) if width == 1 else self._vector_of(value, width)
        if operation == "symbol":
            return self._unknown(width)
        operands = [self._made[o] for o in terms.operands(term)]
        if width == 1 and operation in _LOGIC:
            return make(_LOGIC[operation], *operands)
        if operation in ("eq", "ite"):
            return make(Kind.EQUAL if operation == "eq" else Kind.ITE, *operands)
        vectors = [self._bits(operand) for operand in operands]
        if operation in _COMPARISONS:
            return make(_COMPARISONS[operation], *vectors)
        if operation in _ORDER:
            return make(_ORDER[operation], *map(self._float, vectors))
        found = self._vector(operation, width, vectors, arguments)
        return make(Kind.EQUAL, found, self._one) if width == 1 else found

    def _vector(self, operation: str, width: int, operands: list[Expression], arguments: tuple[int, ...]) -> Expression:
        make, convert = self.manager.mkTerm, self.manager.mkOp
        if operation in _VECTORS:
            return make(_VECTORS[operation], *operands)
        if operation == "extract":
            return make(convert(Kind.BITVECTOR_EXTRACT, arguments[1] + width - 1, arguments[1]), *operands)
        if operation in _EXTENSIONS:
            return make(convert(_EXTENSIONS[operation], width - self._terms.widths[arguments[0]]), *operands)
        if operation in ("ftosi", "ftoui"):
            return self._integer(width, arguments[0], operation == "ftosi")
        return self._back(self._computed(operation, width, operands), width)

    # ---- Floats ------------------------------------------------------------------------------------------------------

    def _computed(self, operation: str, width: int, operands: list[Expression]) -> Expression:
        """The float that an operation gives."""
        make, nearest = self.manager.mkTerm, self._mode(RoundingMode.ROUND_NEAREST_TIES_TO_EVEN)
        if operation in _ARITHMETIC:
            return make(_ARITHMETIC[operation], nearest, *map(self._float, operands))
        if operation == "fsqrt":
            return make(Kind.FLOATINGPOINT_SQRT, nearest, self._float(operands[0]))
        if operation in _ROUNDING:
            return make(Kind.FLOATINGPOINT_RTI, self._mode(_ROUNDING[operation]), self._float(operands[0]))
        if operation == "frem":
            return self._remainder(width, *map(self._float, operands))
        if operation == "fconvert":
            return make(self._to(Kind.FLOATINGPOINT_TO_FP_FROM_FP, width), nearest, self._float(operands[0]))
        kinds = {"sitof": Kind.FLOATINGPOINT_TO_FP_FROM_SBV, "uitof": Kind.FLOATINGPOINT_TO_FP_FROM_UBV}
        return make(self._to(kinds[operation], width), nearest, operands[0])

    def _remainder(self, width: int, a: Expression, b: Expression) -> Expression:
        """C's fmod, which truncates; cvc5's remainder rounds the quotient to nearest."""
        make, nearest = self.manager.mkTerm, self._mode(RoundingMode.ROUND_NEAREST_TIES_TO_EVEN)
        x, y = (make(Kind.FLOATINGPOINT_ABS, number) for number in (a, b))
        rest = make(Kind.FLOATINGPOINT_REM, x, y)
        below = make(Kind.FLOATINGPOINT_LT, rest, self.manager.mkFloatingPointPosZero(*_FORMATS[width]))
        positive = make(Kind.ITE, below, make(Kind.FLOATINGPOINT_ADD, nearest, rest, y), rest)
        negative = make(Kind.FLOATINGPOINT_NEG, positive)
        return make(Kind.ITE, make(Kind.FLOATINGPOINT_IS_NEG, a), negative, positive)

    def _integer(self, width: int, source: Term, signed: bool) -> Expression:
        """Towards zero; what the width cannot hold gives the processor's answer, the least number."""
        number = self._float(self._made[source])
        make, zero = self.manager.mkTerm, self._mode(RoundingMode.ROUND_TOWARD_ZERO)
        native = 64 if width > 32 or (not signed and width > 16) else 32
        least = self._vector_of(1 << native - 1, native)
        size = self._terms.widths[source]
        limit = make(self._to(Kind.FLOATINGPOINT_TO_FP_FROM_UBV, size), zero, least)
        whole = make(Kind.FLOATINGPOINT_RTI, zero, number)
        below = make(Kind.FLOATINGPOINT_LT, whole, limit)
        fits = make(Kind.AND, make(Kind.FLOATINGPOINT_LEQ, make(Kind.FLOATINGPOINT_NEG, limit), whole), below)
        wide = make(self.manager.mkOp(Kind.FLOATINGPOINT_TO_SBV, native), zero, number)
        found = make(Kind.ITE, fits, wide, least)
        if not signed and width > 32:
            unsigned = make(self.manager.mkOp(Kind.FLOATINGPOINT_TO_UBV, native), zero, number)
            nearest = self._mode(RoundingMode.ROUND_NEAREST_TIES_TO_EVEN)
            end = make(Kind.FLOATINGPOINT_ADD, nearest, limit, limit)
            above = make(Kind.AND, make(Kind.FLOATINGPOINT_GEQ, whole, limit), make(Kind.FLOATINGPOINT_LT, whole, end))
            found = make(Kind.ITE, above, unsigned, found)
        return make(self.manager.mkOp(Kind.BITVECTOR_EXTRACT, width - 1, 0), found)

    def _back(self, number: Expression, width: int) -> Expression:
        """The bits of a float: an unknown that is told to be it."""
        found = self._unknown(width)
        self.definitions[found] = self.manager.mkTerm(Kind.EQUAL, self._float(found), number)
        return found

    def _float(self, bits: Expression) -> Expression:
        width = bits.getSort().getBitVectorSize()
        return self.manager.mkTerm(self._to(Kind.FLOATINGPOINT_TO_FP_FROM_IEEE_BV, width), bits)

    def _to(self, kind: Kind, width: int) -> Any:
        return self.manager.mkOp(kind, *_FORMATS[width])

    def _mode(self, mode: RoundingMode) -> Expression:
        return self.manager.mkRoundingMode(mode)

    # ---- Vectors -----------------------------------------------------------------------------------------------------

    def _unknown(self, width: int) -> Expression:
        manager = self.manager
        return manager.mkConst(manager.getBooleanSort() if width == 1 else manager.mkBitVectorSort(width))

    def _vector_of(self, value: int, width: int) -> Expression:
        return self.manager.mkBitVector(width, str(value), 10)

    def _bits(self, value: Expression) -> Expression:
        return self.manager.mkTerm(Kind.ITE, value, self._one, self._zero) if value.getSort().isBoolean() else value
