"""Values of LLVM types as bit-vectors: their widths, and parts of them replaced."""

from __future__ import annotations

import re
from collections.abc import Callable

from whence.formula.terms import Term, Terms
from whence.program.model import Module
from whence.program.types import size_of

Meaning = Callable[..., Term]  # (terms, *operand terms) -> term
FLOAT_WIDTHS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
SOLVED = frozenset({"float", "double"})  # the floating-point types that have operations of terms
_INTEGER = re.compile(r"i(\d+)")


def is_integer(type_text: str) -> bool:
    """Whether a type is that of integers of some width."""
    return _INTEGER.fullmatch(type_text) is not None


def is_scalar(type_text: str) -> bool:
    """Whether a type is that of integers or pointers."""
    return type_text == "ptr" or is_integer(type_text)


def width_of(type_text: str, module: Module) -> int:
    """The width in bits of a value of a type; aggregates and vectors as they lie in memory."""
    if match := _INTEGER.fullmatch(type_text):
        return int(match[1])
    if type_text in FLOAT_WIDTHS:
        return FLOAT_WIDTHS[type_text]
    return 8 * size_of(type_text, module)


def replaced(terms: Terms, whole: Term, low: int, part: Term) -> Term:
    """A vector with the bits from ``low`` on replaced."""
    end, width = low + terms.widths[part], terms.widths[whole]
    if low:
        part = terms.concat(part, terms.extract(whole, 0, low))
    return terms.concat(terms.extract(whole, end, width - end), part) if end < width else part
