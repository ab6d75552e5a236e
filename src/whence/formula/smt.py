"""The domain of SMT terms: z3 expressions, bit-vectors and IEEE floats of true width. A vector of one bit is a Bool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from whence.formula.solvers import load
from whence.formula.terms import Term, Terms

z3 = load("z3")

Expression = Any  # a z3 expression; z3's own types say no more
_Operation = Callable[..., Expression]


class Smt:
    """Translates terms to z3, each once; symbol number n is called ``s<n>``. z3's main context holds all."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.context = z3.main_ctx()
        self._made: dict[Term, Expression] = {}

    def bools(self, conditions: Iterable[Term]) -> list[Expression]:
        """The expressions of terms of one bit."""
        return [self.of(condition) for condition in conditions]

    def of(self, term: Term) -> Expression:
        """The expression of a term: Bool for one bit, else BitVec."""
        return self._terms.translate(term, self._made, self._translate)

    def _translate(self, term: Term) -> Expression:
        terms = self._terms
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            return z3.BoolVal(bool(arguments[0])) if width == 1 else z3.BitVecVal(arguments[0], width)
        if operation == "symbol":
            name = f"s{arguments[0]}"
            return z3.Bool(name) if width == 1 else z3.BitVec(name, width)
        operands = [self._made[o] for o in terms.operands(term)]
        if width == 1 and operation in _LOGIC:
            return _LOGIC[operation](*operands)
        if operation == "eq":
            return operands[0] == operands[1]
        if operation == "ite":
            return z3.If(*operands)
        vectors = [self._vector(o) for o in operands]
        found = _TABLE[operation](width, *vectors, *arguments[len(operands) :])
        return found == z3.BitVecVal(1, 1) if width == 1 and not z3.is_bool(found) else found

    def _vector(self, value: Expression) -> Expression:
        if not z3.is_bool(value):
            return value
        return z3.If(value, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def script(terms: Terms, conditions: Iterable[Term]) -> str:
    """The question whether conditions can hold together, in SMT-LIB."""
    domain = Smt(terms)
    solver = z3.Solver(ctx=domain.context)
    solver.add(*domain.bools(conditions))
    return str(solver.to_smt2())


_LOGIC: dict[str, _Operation] = {
    "and": lambda a, b: z3.And(a, b),
    "or": lambda a, b: z3.Or(a, b),
    "xor": lambda a, b: z3.Xor(a, b),
    "add": lambda a, b: z3.Xor(a, b),
    "sub": lambda a, b: z3.Xor(a, b),
}


def _sort(width: int) -> Any:
    return z3.Float64() if width == 64 else z3.Float32()


def _float(bits: Expression) -> Expression:
    return z3.fpBVToFP(bits, _sort(bits.size()))


def _nearest() -> Any:
    return z3.RNE()


def _arithmetic(compute: _Operation) -> _Operation:
    return lambda w, a, b: z3.fpToIEEEBV(compute(_nearest(), _float(a), _float(b)))


def _comparison(compare: _Operation) -> _Operation:
    return lambda w, a, b: compare(_float(a), _float(b))


def _rounding(mode: Callable[[], Any]) -> _Operation:
    return lambda w, a: z3.fpToIEEEBV(z3.fpRoundToIntegral(mode(), _float(a)))


def _remainder(w: int, a: Expression, b: Expression) -> Expression:
    """C's fmod, which truncates; z3's fpRem rounds the quotient to nearest."""
    x, y = z3.fpAbs(_float(a)), z3.fpAbs(_float(b))
    nearest = z3.fpRem(x, y)
    positive = z3.If(z3.fpLT(nearest, z3.fpZero(x.sort(), False)), z3.fpAdd(_nearest(), nearest, y), nearest)
    return z3.fpToIEEEBV(z3.If(z3.fpIsNegative(_float(a)), z3.fpNeg(positive), positive))


def _to_integer(signed: bool) -> _Operation:
    """Towards zero; what the width cannot hold gives the processor's answer, the least number."""

    def convert(w: int, a: Expression) -> Expression:
        native = 64 if w > 32 or (not signed and w > 16) else 32
        number, zero = _float(a), z3.RTZ()
        wide = z3.fpToSBV(zero, number, z3.BitVecSort(native))
        limit = z3.fpToFP(zero, z3.BitVecVal(1 << native - 1, native + 1), number.sort())
        whole = z3.fpRoundToIntegral(zero, number)
        fits = z3.And(z3.fpLEQ(z3.fpNeg(limit), whole), z3.fpLT(whole, limit))
        found = z3.If(fits, wide, z3.BitVecVal(1 << native - 1, native))
        if not signed and w > 32:
            upper = z3.And(z3.fpGEQ(whole, limit), z3.fpLT(whole, z3.fpAdd(_nearest(), limit, limit)))
            found = z3.If(upper, z3.fpToUBV(zero, number, z3.BitVecSort(native)), found)
        return z3.Extract(w - 1, 0, found)

    return convert


def _convert(w: int, a: Expression) -> Expression:
    return z3.fpToIEEEBV(z3.fpToFP(_nearest(), _float(a), _sort(w)))


_TABLE: dict[str, _Operation] = {
    "add": lambda w, a, b: a + b,
    "sub": lambda w, a, b: a - b,
    "mul": lambda w, a, b: a * b,
    "udiv": lambda w, a, b: z3.UDiv(a, b),
    "urem": lambda w, a, b: z3.URem(a, b),
    "sdiv": lambda w, a, b: a / b,
    "srem": lambda w, a, b: z3.SRem(a, b),
    "and": lambda w, a, b: a & b,
    "or": lambda w, a, b: a | b,
    "xor": lambda w, a, b: a ^ b,
    "shl": lambda w, a, b: a << b,
    "lshr": lambda w, a, b: z3.LShR(a, b),
    "ashr": lambda w, a, b: a >> b,
    "ult": lambda w, a, b: z3.ULT(a, b),
    "ule": lambda w, a, b: z3.ULE(a, b),
    "slt": lambda w, a, b: a < b,
    "sle": lambda w, a, b: a <= b,
    "concat": lambda w, a, b: z3.Concat(a, b),
    "zext": lambda w, a: z3.ZeroExt(w - a.size(), a),
    "sext": lambda w, a: z3.SignExt(w - a.size(), a),
    "extract": lambda w, a, low: z3.Extract(low + w - 1, low, a),
    "fadd": _arithmetic(z3.fpAdd),
    "fsub": _arithmetic(z3.fpSub),
    "fmul": _arithmetic(z3.fpMul),
    "fdiv": _arithmetic(z3.fpDiv),
    "frem": _remainder,
    "fsqrt": lambda w, a: z3.fpToIEEEBV(z3.fpSqrt(_nearest(), _float(a))),
    "ffloor": _rounding(z3.RTN),
    "fceil": _rounding(z3.RTP),
    "ftrunc": _rounding(z3.RTZ),
    "feven": _rounding(z3.RNE),
    "faway": _rounding(z3.RNA),
    "feq": _comparison(z3.fpEQ),
    "flt": _comparison(z3.fpLT),
    "fle": _comparison(z3.fpLEQ),
    "fconvert": _convert,
    "ftosi": _to_integer(signed=True),
    "ftoui": _to_integer(signed=False),
    "sitof": lambda w, a: z3.fpToIEEEBV(z3.fpToFP(_nearest(), a, _sort(w))),
    "uitof": lambda w, a: z3.fpToIEEEBV(z3.fpToFPUnsigned(_nearest(), a, _sort(w))),
}
