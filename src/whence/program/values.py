"""Values as C prints them, from raw bits and a C type."""

from __future__ import annotations

import math
import struct
from decimal import Context, Decimal
from fractions import Fraction

from whence.program.debug import CType

_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
_WIDE_DIGITS = {63: 21, 112: 36}  # by bits of fraction: enough to tell any two numbers apart
_FLOAT_SIZES = {"half": 2, "float": 4, "double": 8, "x86_fp80": 16, "fp128": 16}


def format_value(raw: int, ctype: CType | None) -> str:
    """The value whose bits, zero-extended, are ``raw``, as C would show it.

    ``'a' (97)`` for a char, ``true``, ``RED``, ``A | B`` for a combination of flags, ``0x7ffe10`` and
    ``NULL`` for pointers, the shortest decimal that means the same floating-point number. Without a
    type: the bits as a number.
    """
    if ctype is None:
        return str(raw)
    plain = ctype.plain
    if plain.kind == "char":
        number = to_integer(raw, plain)
        return f"{format_char(number, plain.size)} ({number})"
    return format_constant(raw, plain)


def format_untyped(raw: int, llvm_type: str) -> str:
    """The value of a register whose C type is not known, by its LLVM type: integers are signed."""
    if llvm_type in _FLOAT_SIZES:
        return format_quad(raw) if llvm_type == "fp128" else format_float(raw, _FLOAT_SIZES[llvm_type])
    if llvm_type.startswith("ptr"):
        return hex(raw) if raw else "NULL"
    if not llvm_type.startswith("i") or llvm_type == "i1":
        return str(raw)
    bits = int(llvm_type[1:])
    return str(raw - (1 << bits) if raw >> (bits - 1) else raw)


def format_constant(raw: int, ctype: CType) -> str:
    """Like ``format_value``, but as a constant in C code: a char is ``'a'`` alone."""
    plain = ctype.plain
    if plain.kind == "char":
        return format_char(to_integer(raw, plain), plain.size)
    if plain.kind == "bool":
        return "true" if raw & 1 else "false"
    if plain.kind == "enum":
        return format_enum(to_integer(raw, plain), plain)
    if plain.kind == "float":
        return format_quad(raw) if plain.is_quad else format_float(raw, plain.size)
    if plain.kind in ("pointer", "array", "function"):
        return hex(raw) if raw else "NULL"
    return str(to_integer(raw, plain))


def to_integer(raw: int, ctype: CType) -> int:
    """The number that the low bits of ``raw`` mean in an integer, char or enum type."""
    plain = ctype.plain
    signed = plain.signed
    if plain.kind == "enum":
        stored = plain.target
        signed = min(plain.enumerators, default=0) < 0 or (stored.plain.signed if stored else False)
    bits = 8 * plain.size
    if not bits:
        return raw
    raw &= (1 << bits) - 1
    return raw - (1 << bits) if signed and raw >> (bits - 1) else raw


def format_char(code: int, size: int = 1) -> str:
    """A character constant: ``'a'``, ``'\\n'``, ``'\\x80'``."""
    if code == 39:
        return "'\\''"
    code &= (1 << (8 * max(size, 1))) - 1
    if code in _ESCAPES:
        return f"'{_ESCAPES[code]}'"
    return f"'{chr(code)}'" if 32 <= code < 127 else f"'\\x{code:02x}'"


def format_string(data: bytes, limit: int = 40) -> str:
    """A string constant: bytes other than printable ASCII are escaped, those beyond ``limit`` left out."""
    quotes = {34: '\\"', 39: "'"}
    shown = "".join(quotes.get(byte) or format_char(byte)[1:-1] for byte in data[:limit])
    return f'"{shown}"' + ("..." if len(data) > limit else "")


def format_enum(number: int, ctype: CType) -> str:
    """The enumerator's name, a combination of flags that gives the number exactly, or the number."""
    names = ctype.enumerators
    if number in names:
        return names[number]
    chosen, rest = [], number
    for value in sorted((v for v in names if v > 0), reverse=True):
        if rest > 0 and value & rest == value:
            chosen.append(names[value])
            rest -= value
    return " | ".join(reversed(chosen)) if chosen and rest == 0 else str(number)


def format_float(raw: int, size: int) -> str:
    """A floating-point number of ``size`` bytes (2, 4, 8; 10, 12 or 16: x87 extended) from its bits."""
    if size == 8:
        return _decimal(_unpack("d", raw, 8))
    if size == 4:
        return _shortest(_unpack("f", raw, 4), "f", 9)
    if size == 2:
        return _shortest(_unpack("e", raw, 2), "e", 5)
    return format_extended(raw)


def format_extended(raw: int) -> str:
    """An x87 80-bit number: sign, 15 bits of exponent, 64 bits of significand with its leading bit."""
    return _wide(raw >> 79 & 1, raw >> 64 & 0x7FFF, raw & (1 << 64) - 1, 63)


def format_quad(raw: int) -> str:
    """An IEEE binary128 number: sign, 15 bits of exponent, 112 bits of fraction without the leading bit."""
    exponent = raw >> 112 & 0x7FFF
    return _wide(raw >> 127 & 1, exponent, raw & (1 << 112) - 1 | (min(exponent, 1) << 112), 112)


def _wide(sign: int, exponent: int, significand: int, fraction_bits: int) -> str:
    """A number wider than double, by ``significand * 2 ** (exponent - bias - fraction_bits)``."""
    minus = "-" if sign else ""
    if exponent == 0x7FFF:
        return f"{minus}inf" if significand & (1 << fraction_bits) - 1 == 0 else f"{minus}nan"
    last = Fraction(2) ** (max(exponent, 1) - 16383 - fraction_bits)
    exact = Fraction(significand) * last
    if exact < Fraction(2) ** 1023 and Fraction(nearest := float(exact)) == exact:
        text = _decimal(nearest)  # short, but it may be nearer to another one of the wider numbers
        if abs(Fraction(text) - exact) <= last / 2:
            return minus + text
    context = Context(prec=_WIDE_DIGITS[fraction_bits])
    quotient = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return minus + str(quotient).lower()


def _unpack(code: str, raw: int, size: int) -> float:
    number: float = struct.unpack(f"<{code}", (raw & (1 << 8 * size) - 1).to_bytes(size, "little"))[0]
    return number


def _shortest(number: float, code: str, digits: int) -> str:
    """The shortest decimal that a narrower format still reads as the same number."""
    if not math.isfinite(number):
        return _decimal(number)
    candidates = (float(f"{number:.{precision}g}") for precision in range(1, digits + 1))
    return _decimal(next(c for c in candidates if _rounded(c, code) == number))


def _rounded(number: float, code: str) -> float:
    """The number in a narrower format; infinite when it is too large for it."""
    try:
        rounded: float = struct.unpack(code, struct.pack(code, number))[0]
    except OverflowError:
        return math.inf
    return rounded


def _decimal(number: float) -> str:
    if math.isnan(number):
        return "-nan" if math.copysign(1.0, number) < 0 else "nan"
    return repr(number)
