"""The domain of arrays: the values of terms for many cases at once.

A vector of up to 64 bits is an array of uint64, a wider one an array of Python integers. Operations without an entry in
the table are done number by number, as ``integers`` does them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from whence.formula.integers import OPERATIONS
from whence.formula.terms import Term, Terms

Array = Any  # of uint64, or of objects where the vector is wider
_Operation = Callable[..., Array]


def evaluate(terms: Terms, roots: Iterable[Term], symbols: Mapping[Term, Array]) -> dict[Term, Array]:
    """The values of terms, given those of their symbols: uint64 arrays of one length; a constant's has one element.

    KeyError where a symbol has no value.
    """
    roots = list(roots)
    with np.errstate(all="ignore"):  # arithmetic that wraps, numbers that are none: as the program's own
        values = _evaluated(terms, roots, symbols)
    return {root: values[root] for root in roots}


def _evaluated(terms: Terms, roots: list[Term], symbols: Mapping[Term, Array]) -> dict[Term, Array]:
    values: dict[Term, Array] = {}
    for term in terms.cone(roots):
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            values[term] = np.array([arguments[0]], object if width > 64 else np.uint64)
        elif operation == "symbol":
            values[term] = np.asarray(symbols[term], object if width > 64 else np.uint64)
        else:
            operands = terms.operands(term)
            widths = [terms.widths[o] for o in operands]
            given = [values[o] for o in operands]
            values[term] = _apply(operation, width, widths, given, arguments[len(operands) :])
    return values


def _apply(operation: str, width: int, widths: list[int], operands: list[Array], low: tuple[int, ...]) -> Array:
    function = _TABLE.get(operation)
    if function is None or max(width, *widths) > 64:
        one = partial(OPERATIONS[operation], width, widths[-1])
        wide = [operand.astype(object) for operand in operands]
        found = np.frompyfunc(lambda *values: one(*values, *low), len(wide), 1)(*wide)
        return found.astype(object if width > 64 else np.uint64)
    return function(width, widths[-1], *operands, *low)


def _mask(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _signed(values: Array, width: int) -> Array:
    """As int64."""
    shift = np.int64(64 - width)
    return values.view(np.int64) << shift >> shift


def _cut(compute: _Operation) -> _Operation:
    return lambda w, n, a, b: compute(a, b) & _mask(w)


def _flag(compute: _Operation) -> _Operation:
    return lambda w, n, a, b: compute(a, b).astype(np.uint64)


def _signed_flag(compute: _Operation) -> _Operation:
    return lambda w, n, a, b: compute(_signed(a, n), _signed(b, n)).astype(np.uint64)


def _shift_left(w: int, n: int, a: Array, b: Array) -> Array:
    return np.where(b < w, a << np.minimum(b, np.uint64(63)), np.uint64(0)) & _mask(w)


def _shift_right(w: int, n: int, a: Array, b: Array) -> Array:
    return np.where(b < w, a >> np.minimum(b, np.uint64(63)), np.uint64(0))


def _shift_signed(w: int, n: int, a: Array, b: Array) -> Array:
    amount = np.minimum(b, np.uint64(w - 1)).view(np.int64)
    return (_signed(a, w) >> amount).view(np.uint64) & _mask(w)


def _divide(w: int, n: int, a: Array, b: Array) -> Array:
    return np.where(b == 0, _mask(w), a // np.maximum(b, np.uint64(1)))


def _remainder(w: int, n: int, a: Array, b: Array) -> Array:
    return np.where(b == 0, a, a % np.maximum(b, np.uint64(1)))


_TABLE: dict[str, _Operation] = {
    "add": _cut(np.add),
    "sub": _cut(np.subtract),
    "mul": _cut(np.multiply),
    "and": _cut(np.bitwise_and),
    "or": _cut(np.bitwise_or),
    "xor": _cut(np.bitwise_xor),
    "udiv": _divide,
    "urem": _remainder,
    "shl": _shift_left,
    "lshr": _shift_right,
    "ashr": _shift_signed,
    "eq": _flag(np.equal),
    "ult": _flag(np.less),
    "ule": _flag(np.less_equal),
    "slt": _signed_flag(np.less),
    "sle": _signed_flag(np.less_equal),
    "ite": lambda w, n, c, a, b: np.where(c != 0, a, b),
    "concat": lambda w, n, a, b: a << np.uint64(n) | b,
    "zext": lambda w, n, a: a,
    "sext": lambda w, n, a: _signed(a, n).view(np.uint64) & _mask(w),
    "extract": lambda w, n, a, low: a >> np.uint64(low) & _mask(w),
}
