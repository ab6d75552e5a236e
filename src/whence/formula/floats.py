"""IEEE arithmetic on the bits of 32- and 64-bit floats, as x86-64 computes it (to nearest, ties to even).

A 32-bit operation is that of 64 bits, rounded once more: with 53 bits of significand that gives the right 32-bit result
for sums, products, quotients and square roots (Figueroa, *When is double rounding innocuous?*, 1995).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

_CODES = {32: ("<f", "<I"), 64: ("<d", "<Q")}
_NOT_A_NUMBER = {32: 0xFFC00000, 64: 0xFFF8 << 48}  # what an invalid operation yields
_INFINITY = {32: 0x7F800000, 64: 0x7FF0 << 48}


def number_of(bits: int, width: int) -> float:
    """The number that bits mean."""
    real, integer = _CODES[width]
    found: float = struct.unpack(real, struct.pack(integer, bits))[0]
    return found


def bits_of(number: float, width: int) -> int:
    """The bits of a number, rounded to the width."""
    real, integer = _CODES[width]
    if math.isnan(number):
        return _NOT_A_NUMBER[width]
    try:
        found: int = struct.unpack(integer, struct.pack(real, number))[0]
    except OverflowError:
        return _INFINITY[width] | (1 << width - 1 if number < 0 else 0)
    return found


def is_nan(bits: int, width: int) -> bool:
    """Whether bits mean no number."""
    return bits & (1 << width - 1) - 1 > _INFINITY[width]


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def _arithmetic(compute: Callable[[float, float], float]) -> Callable[..., int]:
    def operation(w: int, n: int, a: int, b: int) -> int:
        for operand in (a, b):  # the first operand that is no number, made quiet, is the result
            if is_nan(operand, w):
                return operand | 1 << (51 if w == 64 else 22)
        return bits_of(compute(number_of(a, w), number_of(b, w)), w)

    return operation


def _comparison(compare: Callable[[float, float], bool]) -> Callable[..., int]:
    return lambda w, n, a, b: int(compare(number_of(a, n), number_of(b, n)))


def _square_root(w: int, n: int, a: int) -> int:
    if is_nan(a, w):
        return a
    number = number_of(a, w)
    return bits_of(math.sqrt(number) if number >= 0 else math.nan, w)


def _rounding(round_: Callable[[float], float]) -> Callable[..., int]:
    """To an integer as a float, with the sign of zero kept."""

    def operation(w: int, n: int, a: int) -> int:
        if is_nan(a, w):
            return a | 1 << (51 if w == 64 else 22)
        number = number_of(a, w)
        return bits_of(math.copysign(round_(number), number), w) if math.isfinite(number) else a

    return operation


def _away(number: float) -> float:
    """The nearest integer, ties away from zero."""
    whole = math.trunc(number)
    return whole + (math.copysign(1, number) if abs(number - whole) >= 0.5 else 0)


def _convert(w: int, n: int, a: int) -> int:
    if is_nan(a, n):  # sign and the first bits of the payload are kept
        payload = a & (1 << 51) - 1 if n == 64 else (a & (1 << 22) - 1) << 29
        wide = a >> n - 1 << 63 | 0x7FF8 << 48 | payload
        return wide if w == 64 else (wide >> 63 << 31) | 0x7FC00000 | payload >> 29
    return bits_of(number_of(a, n), w)


def _to_signed(w: int, n: int, a: int) -> int:
    """Out of range, the processor's conversion to 32 or 64 bits gives the least number."""
    native = 64 if w > 32 else 32
    number = number_of(a, n)
    if math.isfinite(number) and -(1 << native - 1) <= math.trunc(number) < 1 << native - 1:
        return math.trunc(number) & (1 << w) - 1
    return (1 << native - 1) & (1 << w) - 1


def _to_unsigned(w: int, n: int, a: int) -> int:
    """32 bits and fewer go through a signed conversion, to 32 bits where 16 are enough."""
    number = number_of(a, n)
    if w > 32 and math.isfinite(number) and 1 << 63 <= number < 1 << 64:
        return int(number)
    return _to_signed(w if w <= 16 else 64, n, a) & (1 << w) - 1


def _from_integer(number: int, w: int) -> int:
    """Rounded once, not by way of a wider float."""
    if w == 64:
        return bits_of(float(number), 64)
    length = abs(number).bit_length()
    if length > 53:  # the bits that a double would round away only matter as "something is there"
        shift = length - 53
        sticky = (abs(number) & (1 << shift) - 1) != 0
        magnitude = (abs(number) >> shift | sticky) << shift
        number = -magnitude if number < 0 else magnitude
    return bits_of(float(number), 32)


FLOATS: dict[str, Callable[..., int]] = {
    "fadd": _arithmetic(lambda a, b: a + b),
    "fsub": _arithmetic(lambda a, b: a - b),
    "fmul": _arithmetic(lambda a, b: a * b),
    "fdiv": _arithmetic(_divide),
    "frem": _arithmetic(_remainder),
    "fsqrt": _square_root,
    "ffloor": _rounding(math.floor),
    "fceil": _rounding(math.ceil),
    "ftrunc": _rounding(math.trunc),
    "feven": _rounding(round),
    "faway": _rounding(_away),
    "feq": _comparison(lambda a, b: a == b),
    "flt": _comparison(lambda a, b: a < b),
    "fle": _comparison(lambda a, b: a <= b),
    "fconvert": _convert,
    "ftosi": _to_signed,
    "ftoui": _to_unsigned,
    "sitof": lambda w, n, a: _from_integer(a - (1 << n) if a >> n - 1 else a, w),
    "uitof": lambda w, n, a: _from_integer(a, w),
}
