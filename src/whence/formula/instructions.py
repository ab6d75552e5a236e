"""What each pure instruction of LLVM computes, as a term over the terms of its operands.

``meaning_of`` covers the instructions without side effects of the LLVM language reference. Widths are true widths. A
shift by more than the width does what x86-64 does with the amount that the program had. What is left out (vector
arithmetic, floats of other than 32 and 64 bits) is answered with None, so that the caller can take the recorded value
and say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from whence.formula.intrinsics import intrinsic
from whence.formula.terms import Term, Terms
from whence.formula.vectors import FLOAT_WIDTHS, SOLVED, Meaning, is_integer, is_scalar, replaced, width_of
from whence.program.model import Instruction, Module
from whence.program.syntax import struct_members
from whence.program.types import alloc_size_of, member_offset

_INDICES = re.compile(r"(?:, \d+)+$")


def meaning_of(instruction: Instruction, module: Module) -> Meaning | None:
    """The function from operand terms to the result's term; None for what is not modelled."""
    builder = _BUILDERS.get(instruction.opcode)
    return builder(instruction, module) if builder else None


# ---- Integers --------------------------------------------------------------------------------------------------------


def _binary(instruction: Instruction, module: Module) -> Meaning | None:
    if not is_scalar(instruction.type):
        return None
    operation, width = instruction.opcode, width_of(instruction.type, module)
    return lambda terms, a, b: terms.apply(operation, width, a, b)


def _shift(instruction: Instruction, module: Module) -> Meaning | None:
    """The processor looks at the lowest 5 bits of the amount, 6 for 64-bit numbers.

    A constant amount that is too large makes the compiler choose any result, so that is not modelled.
    """
    if not is_scalar(instruction.type):
        return None
    operation, width = instruction.opcode, width_of(instruction.type, module)
    if instruction.operands[1].text.lstrip("-").isdigit() and not 0 <= int(instruction.operands[1].text) < width:
        return None
    mask = max(width, 32) - 1

    def shift(terms: Terms, a: Term, b: Term) -> Term:
        amount = terms.apply("and", width, b, terms.constant(mask, width)) if width >= 8 else b
        return terms.apply(operation, width, a, amount)

    return shift


_ORDERS = {  # predicate -> operation, whether operands are swapped
    "ult": ("ult", False),
    "ule": ("ule", False),
    "ugt": ("ult", True),
    "uge": ("ule", True),
    "slt": ("slt", False),
    "sle": ("sle", False),
    "sgt": ("slt", True),
    "sge": ("sle", True),
}


def _compare(instruction: Instruction, module: Module) -> Meaning | None:
    predicate = instruction.predicate
    if not is_scalar(instruction.operands[0].type):
        return None
    if predicate == "eq":
        return lambda terms, a, b: terms.equal(a, b)
    if predicate == "ne":
        return lambda terms, a, b: terms.negate(terms.equal(a, b))
    operation, swapped = _ORDERS[predicate]
    if swapped:
        return lambda terms, a, b: terms.apply(operation, 1, b, a)
    return lambda terms, a, b: terms.apply(operation, 1, a, b)


def _resized(signed: bool) -> Callable[[Instruction, Module], Meaning | None]:
    def build(instruction: Instruction, module: Module) -> Meaning | None:
        if not (is_scalar(instruction.type) and is_scalar(instruction.operands[0].type)):
            return None
        width = width_of(instruction.type, module)
        return lambda terms, a: terms.resize(a, width, signed)

    return build


def _same(instruction: Instruction, module: Module) -> Meaning | None:
    if width_of(instruction.type, module) != width_of(instruction.operands[0].type, module):
        return None
    return lambda terms, a: a


def _select(instruction: Instruction, module: Module) -> Meaning | None:
    if instruction.operands[0].type != "i1":
        return None
    return lambda terms, condition, yes, no: terms.choose(condition, yes, no)


# ---- Floating point --------------------------------------------------------------------------------------------------


def _float_binary(instruction: Instruction, module: Module) -> Meaning | None:
    return _binary_of(instruction.opcode, instruction.type)


def _binary_of(operation: str, type_text: str) -> Meaning | None:
    if type_text not in SOLVED:
        return None
    width = FLOAT_WIDTHS[type_text]
    return lambda terms, a, b: terms.apply(operation, width, a, b)


def _float_negate(instruction: Instruction, module: Module) -> Meaning | None:
    width = FLOAT_WIDTHS.get(instruction.type)
    if width is None:
        return None
    return lambda terms, a: terms.apply("xor", width, a, terms.constant(1 << width - 1, width))


def _less_or_greater(terms: Terms, a: Term, b: Term) -> Term:
    return terms.apply("or", 1, terms.apply("flt", 1, a, b), terms.apply("flt", 1, b, a))


def _ordered(terms: Terms, a: Term, b: Term) -> Term:
    return terms.apply("and", 1, terms.apply("feq", 1, a, a), terms.apply("feq", 1, b, b))


_FLOAT_ORDERS: dict[str, Meaning] = {
    "oeq": lambda terms, a, b: terms.apply("feq", 1, a, b),
    "olt": lambda terms, a, b: terms.apply("flt", 1, a, b),
    "ole": lambda terms, a, b: terms.apply("fle", 1, a, b),
    "ogt": lambda terms, a, b: terms.apply("flt", 1, b, a),
    "oge": lambda terms, a, b: terms.apply("fle", 1, b, a),
    "one": _less_or_greater,
    "ord": _ordered,
    "false": lambda terms, a, b: terms.constant(0, 1),
}
_OPPOSITES = {
    "une": "oeq",
    "uge": "olt",
    "ugt": "ole",
    "ule": "ogt",
    "ult": "oge",
    "ueq": "one",
    "uno": "ord",
    "true": "false",
}


def _float_compare(instruction: Instruction, module: Module) -> Meaning | None:
    if instruction.operands[0].type not in SOLVED:
        return None
    predicate = instruction.predicate
    if predicate in _FLOAT_ORDERS:
        return _FLOAT_ORDERS[predicate]
    opposite = _FLOAT_ORDERS[_OPPOSITES[predicate]]
    return lambda terms, a, b: terms.negate(opposite(terms, a, b))


def _convert(operation: str) -> Callable[[Instruction, Module], Meaning | None]:
    def build(instruction: Instruction, module: Module) -> Meaning | None:
        types = {instruction.type, instruction.operands[0].type}
        if not all(t in SOLVED or is_integer(t) for t in types):
            return None
        width = width_of(instruction.type, module)
        widest = max(width, width_of(instruction.operands[0].type, module))
        return (lambda terms, a: terms.apply(operation, width, a)) if widest <= 64 else None

    return build


# ---- Addresses and aggregates ----------------------------------------------------------------------------------------


def _getelementptr(instruction: Instruction, module: Module) -> Meaning | None:
    """The base plus each index times the size of what it counts."""
    if instruction.type != "ptr" or any(not is_scalar(o.type) for o in instruction.operands):
        return None
    scales: list[int] = []
    offsets: list[int] = []
    type_text = ""
    for place, operand in enumerate(instruction.operands[1:]):
        scale, offset = 0, 0
        if place == 0:
            type_text = instruction.element_type
            scale = alloc_size_of(type_text, module)
        elif (fields := struct_members(module.types.get(type_text, type_text))) is not None:
            offset = member_offset(type_text, int(operand.text), module)
            type_text = fields[int(operand.text)]
        else:
            type_text = type_text[1:-1].split(" x ", 1)[1]
            scale = alloc_size_of(type_text, module)
        scales.append(scale)
        offsets.append(offset)
    constant = sum(offsets)
    indices_used = [o.text != "0" for o in instruction.operands[1:]]
    scaled = [(place, scale) for place, scale in enumerate(scales) if scale and indices_used[place]]

    def address(terms: Terms, base: Term, *indices: Term) -> Term:
        for place, scale in scaled:
            wide = terms.resize(indices[place], 64, signed=True)
            base = terms.apply("add", 64, base, terms.apply("mul", 64, wide, terms.constant(scale, 64)))
        return terms.apply("add", 64, base, terms.constant(constant, 64)) if constant else base

    return address


def _member(instruction: Instruction, module: Module) -> tuple[int, int]:
    """First bit and width of the member that ``extractvalue`` and ``insertvalue`` name."""
    match = _INDICES.search(instruction.text.partition(", !")[0])
    type_text, offset = instruction.operands[0].type, 0
    for index in map(int, match[0][2:].split(", ") if match else []):
        fields = struct_members(module.types.get(type_text, type_text))
        if fields is not None:
            offset += member_offset(type_text, index, module)
            type_text = fields[index]
        else:
            type_text = type_text[1:-1].split(" x ", 1)[1]
            offset += index * alloc_size_of(type_text, module)
    return 8 * offset, width_of(type_text, module)


def _extract_value(instruction: Instruction, module: Module) -> Meaning | None:
    low, width = _member(instruction, module)
    return lambda terms, aggregate: terms.extract(aggregate, low, width)


def _insert_value(instruction: Instruction, module: Module) -> Meaning | None:
    low, _ = _member(instruction, module)
    return lambda terms, aggregate, value: replaced(terms, aggregate, low, value)


def _element(instruction: Instruction, module: Module) -> tuple[int, int] | None:
    """First bit and width of a vector's element with a constant index."""
    vector, index = instruction.operands[0], instruction.operands[-1]
    width = width_of(vector.type[1:-1].split(" x ", 1)[1], module)
    return (width * int(index.text), width) if index.text.isdigit() else None


def _extract_element(instruction: Instruction, module: Module) -> Meaning | None:
    place = _element(instruction, module)
    return (lambda terms, vector, _: terms.extract(vector, *place)) if place else None


def _insert_element(instruction: Instruction, module: Module) -> Meaning | None:
    place = _element(instruction, module)
    return (lambda terms, vector, value, _: replaced(terms, vector, place[0], value)) if place else None


_BUILDERS: dict[str, Callable[[Instruction, Module], Meaning | None]] = {
    **dict.fromkeys(("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor"), _binary),
    **dict.fromkeys(("shl", "lshr", "ashr"), _shift),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem"), _float_binary),
    **dict.fromkeys(("trunc", "zext", "ptrtoint", "ptrtoaddr", "inttoptr"), _resized(signed=False)),
    **dict.fromkeys(("bitcast", "addrspacecast", "freeze"), _same),
    "sext": _resized(signed=True),
    "icmp": _compare,
    "select": _select,
    "fneg": _float_negate,
    "fcmp": _float_compare,
    "fptrunc": _convert("fconvert"),
    "fpext": _convert("fconvert"),
    "fptosi": _convert("ftosi"),
    "fptoui": _convert("ftoui"),
    "sitofp": _convert("sitof"),
    "uitofp": _convert("uitof"),
    "getelementptr": _getelementptr,
    "extractvalue": _extract_value,
    "insertvalue": _insert_value,
    "extractelement": _extract_element,
    "insertelement": _insert_element,
    "call": intrinsic,
}
