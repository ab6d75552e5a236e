"""LLVM's numeric constants as C writes them."""

from __future__ import annotations

from collections.abc import Callable

from whence.program.debug import CType
from whence.program.values import format_constant, format_extended, format_float, format_quad, to_integer


def integer_constant(number: int, llvm_type: str, expected: CType | None, unsigned: bool = False) -> str:
    """An integer constant as C would write it where a type is expected, or an unsigned number.

    A type too narrow for the constant says nothing about it.
    """
    raw = number & (1 << int(llvm_type[1:])) - 1
    integral = expected is not None and expected.plain.kind in ("bool", "enum", "int", "char")
    if expected is None or not integral or to_integer(raw, expected) not in (raw, number):
        return str(raw if unsigned else number)
    return format_constant(raw, expected)


def floating_constant(text: str) -> str:
    """A floating-point constant from LLVM's notation: decimal, or ``0x``, a format's letter, and bits."""
    if not text.startswith("0x"):
        return repr(float(text))
    if text[2] in _FLOAT_FORMATS:
        return _FLOAT_FORMATS[text[2]](int(text[3:], 16))
    return format_float(int(text[2:], 16), 8)


_FLOAT_FORMATS: dict[str, Callable[[int], str]] = {
    "K": format_extended,
    "L": lambda raw: format_quad((raw & (1 << 64) - 1) << 64 | raw >> 64),  # the low word is printed first
    "H": lambda raw: format_float(raw, 2),
    "R": lambda raw: format_float(raw << 16, 4),
}
