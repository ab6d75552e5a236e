"""What LLVM's intrinsics without side effects compute, as terms: those that C compiled at -O0 makes use of."""

from __future__ import annotations

import re

from whence.formula.terms import Term, Terms
from whence.formula.vectors import SOLVED, Meaning, is_scalar, replaced, width_of
from whence.program.model import Instruction, Module
from whence.program.types import member_offset


def intrinsic(instruction: Instruction, module: Module) -> Meaning | None:
    """The meaning of a call of an intrinsic without side effects; None where it is not modelled."""
    name = (instruction.callee or "").removeprefix("@llvm.")
    stem = name.rpartition(".")[0]
    width = width_of(instruction.type, module)
    if stem == "fabs" and instruction.type in SOLVED:
        return lambda terms, a: terms.apply("and", width, a, terms.constant((1 << width - 1) - 1, width))
    if stem == "sqrt" and instruction.type in SOLVED:
        return lambda terms, a: terms.apply("fsqrt", width, a)
    if stem in _ROUNDINGS and instruction.type in SOLVED:
        return lambda terms, a: terms.apply(_ROUNDINGS[stem], width, a)
    if stem == "is.fpclass" and instruction.operands[0].type in SOLVED:
        return _float_class(int(instruction.operands[1].text))
    if stem == "fmuladd" and instruction.type in SOLVED:  # not fused: programs are built without contraction
        return lambda terms, a, b, c: terms.apply("fadd", width, terms.apply("fmul", width, a, b), c)
    if stem in {"expect", "expect.with.probability", "ssa.copy", "threadlocal.address"}:
        return lambda terms, a, *_: a
    if match := re.fullmatch(r"([su])(add|sub|mul)\.with\.overflow", stem):
        return _with_overflow(match[2], match[1] == "s", instruction, module)
    if match := re.fullmatch(r"([su])(min|max)", stem):
        return _extreme(match[1] + "lt", match[2] == "max", width)
    if stem == "abs" and is_scalar(instruction.type):
        return lambda terms, a, *_: absolute(terms, a)
    if stem == "bswap":
        return swapped_bytes
    return _count_bits if stem == "ctpop" else None


_ROUNDINGS = {
    "floor": "ffloor",
    "ceil": "fceil",
    "trunc": "ftrunc",
    "rint": "feven",
    "nearbyint": "feven",
    "roundeven": "feven",
    "round": "faway",
}


def _float_class(mask: int) -> Meaning:
    """Whether a float is of one of the classes in a mask, whose bits stand for: signalling and quiet not-a-number, then
    negative infinite, normal, subnormal, zero, then positive zero, subnormal, normal, infinite.
    """

    def test(terms: Terms, a: Term, _: Term) -> Term:
        width = terms.widths[a]
        fraction_bits = 52 if width == 64 else 23
        fraction = terms.extract(a, 0, fraction_bits)
        exponent = terms.extract(a, fraction_bits, width - 1 - fraction_bits)
        highest = terms.equal(exponent, terms.constant(-1, width - 1 - fraction_bits))
        lowest = terms.equal(exponent, terms.constant(0, width - 1 - fraction_bits))
        empty = terms.equal(fraction, terms.constant(0, fraction_bits))
        quiet = terms.extract(fraction, fraction_bits - 1, 1)
        full, negative = terms.negate(empty), terms.extract(a, width - 1, 1)
        normal = terms.negate(terms.apply("or", 1, highest, lowest))
        shapes = [[highest, empty], [normal], [lowest, full], [lowest, empty]]
        classes = [[highest, full, terms.negate(quiet)], [highest, full, quiet]]
        classes += [[negative, *shape] for shape in shapes] + [[terms.negate(negative), *s] for s in reversed(shapes)]
        found = terms.constant(0, 1)
        for number, conditions in enumerate(classes):
            if mask >> number & 1:
                found = terms.apply("or", 1, found, terms.both(conditions))
        return found

    return test


def absolute(terms: Terms, a: Term) -> Term:
    """The absolute value; that of the least number is itself."""
    width = terms.widths[a]
    zero = terms.constant(0, width)
    return terms.choose(terms.apply("slt", 1, a, zero), terms.apply("sub", width, zero, a), a)


def swapped_bytes(terms: Terms, a: Term) -> Term:
    """The bytes in the opposite order."""
    whole = terms.extract(a, 0, 8)
    for low in range(8, terms.widths[a], 8):
        whole = terms.concat(whole, terms.extract(a, low, 8))
    return whole


def _count_bits(terms: Terms, a: Term) -> Term:
    width = terms.widths[a]
    total = terms.constant(0, width)
    for bit in range(width):
        total = terms.apply("add", width, total, terms.resize(terms.extract(a, bit, 1), width))
    return total


def _extreme(order: str, greater: bool, width: int) -> Meaning:
    def choose(terms: Terms, a: Term, b: Term) -> Term:
        less = terms.apply(order, 1, a, b)
        return terms.choose(less, b, a) if greater else terms.choose(less, a, b)

    return choose


def _with_overflow(operation: str, signed: bool, instruction: Instruction, module: Module) -> Meaning | None:
    """The wrapped result, and whether the exact one, in twice the width and a bit, is another."""
    type_text = instruction.operands[0].type
    if not is_scalar(type_text):
        return None
    width, total = width_of(type_text, module), width_of(instruction.type, module)
    flag = 8 * member_offset(instruction.type, 1, module)

    def compute(terms: Terms, a: Term, b: Term) -> Term:
        wide = 2 * width + 1
        exact = terms.apply(operation, wide, terms.resize(a, wide, signed), terms.resize(b, wide, signed))
        result = terms.extract(exact, 0, width)
        over = terms.negate(terms.equal(exact, terms.resize(result, wide, signed)))
        return replaced(terms, replaced(terms, terms.constant(0, total), 0, result), flag, over)

    return compute
