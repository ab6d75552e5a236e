"""The domain of plain integers: what each operation of a term yields on numbers.

An operation takes the result's width, the width of its last operand, and its operands as unsigned numbers (``extract``
the lowest bit besides). These functions are what folds constants, and what a run's recorded values are compared with.
"""

from __future__ import annotations

from collections.abc import Callable

from whence.formula.floats import FLOATS

Operation = Callable[..., int]


def signed(value: int, width: int) -> int:
    """The number that ``width`` bits mean in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


def _wrapped(compute: Callable[[int, int], int]) -> Operation:
    return lambda w, n, a, b: compute(a, b) & (1 << w) - 1


def _signed_division(w: int, n: int, a: int, b: int) -> int:
    left, right = signed(a, w), signed(b, w)
    if right == 0:
        return 1 if left < 0 else (1 << w) - 1
    quotient = abs(left) // abs(right)
    return (quotient if (left < 0) == (right < 0) else -quotient) & (1 << w) - 1


def _signed_remainder(w: int, n: int, a: int, b: int) -> int:
    left, right = signed(a, w), signed(b, w)
    if right == 0:
        return a
    rest = abs(left) % abs(right)
    return (-rest if left < 0 else rest) & (1 << w) - 1


def _shift_left(w: int, n: int, a: int, b: int) -> int:
    return (a << b) & (1 << w) - 1 if b < w else 0


def _shift_signed(w: int, n: int, a: int, b: int) -> int:
    return (signed(a, w) >> min(b, w - 1)) & (1 << w) - 1


OPERATIONS: dict[str, Operation] = {
    "add": _wrapped(lambda a, b: a + b),
    "sub": _wrapped(lambda a, b: a - b),
    "mul": _wrapped(lambda a, b: a * b),
    "udiv": lambda w, n, a, b: a // b if b else (1 << w) - 1,
    "urem": lambda w, n, a, b: a % b if b else a,
    "sdiv": _signed_division,
    "srem": _signed_remainder,
    "and": lambda w, n, a, b: a & b,
    "or": lambda w, n, a, b: a | b,
    "xor": lambda w, n, a, b: a ^ b,
    "shl": _shift_left,
    "lshr": lambda w, n, a, b: a >> b if b < w else 0,
    "ashr": _shift_signed,
    "eq": lambda w, n, a, b: int(a == b),
    "ult": lambda w, n, a, b: int(a < b),
    "ule": lambda w, n, a, b: int(a <= b),
    "slt": lambda w, n, a, b: int(signed(a, n) < signed(b, n)),
    "sle": lambda w, n, a, b: int(signed(a, n) <= signed(b, n)),
    "ite": lambda w, n, c, a, b: a if c else b,
    "concat": lambda w, n, a, b: a << n | b,
    "zext": lambda w, n, a: a,
    "sext": lambda w, n, a: signed(a, n) & (1 << w) - 1,
    "extract": lambda w, n, a, low: a >> low & (1 << w) - 1,
    **FLOATS,
}
