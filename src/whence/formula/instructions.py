"""What each pure instruction of LLVM computes, as a term over the terms of its operands.

``meaning_of`` covers the instructions without side effects of the LLVM language reference. Widths are true widths. A
shift by more than the width does what x86-64 does with the amount that the program had. What is left out (vector
arithmetic, floats of other than 32 and 64 bits) is answered with None, so that the caller can take the recorded value
and say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from whence.formula.terms import Term, Terms
from whence.program.model import Instruction, Module
from whence.program.syntax import struct_members
from whence.program.types import alloc_size_of, member_offset, size_of

Meaning = Callable[..., Term]  # (terms, *operand terms) -> term
_INTEGER = re.compile(r"i(\d+)")
_FLOAT_WIDTHS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
_SOLVED = {"float", "double"}
_INDICES = re.compile(r"(?:, \d+)+$")


def width_of(type_text: str, module: Module) -> int:
    """The width in bits of a value of a type; aggregates and vectors as they lie in memory."""
    if match := _INTEGER.fullmatch(type_text):
        return int(match[1])
    if type_text in _FLOAT_WIDTHS:
        return _FLOAT_WIDTHS[type_text]
    return 8 * size_of(type_text, module)


def meaning_of(instruction: Instruction, module: Module) -> Meaning | None:
    """The function from operand terms to the result's term; None for what is not modelled."""
    builder = _BUILDERS.get(instruction.opcode)
    return builder(instruction, module) if builder else None


# ---- Integers --------------------------------------------------------------------------------------------------------


def _scalar(type_text: str) -> bool:
    return type_text == "ptr" or _INTEGER.fullmatch(type_text) is not None


def _binary(instruction: Instruction, module: Module) -> Meaning | None:
    if not _scalar(instruction.type):
        return None
    operation, width = instruction.opcode, width_of(instruction.type, module)
    return lambda terms, a, b: terms.apply(operation, width, a, b)


def _shift(instruction: Instruction, module: Module) -> Meaning | None:
    """The processor looks at the lowest 5 bits of the amount, 6 for 64-bit numbers."""
    if not _scalar(instruction.type):
        return None
    operation, width = instruction.opcode, width_of(instruction.type, module)
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
    if not _scalar(instruction.operands[0].type):
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
        if not (_scalar(instruction.type) and _scalar(instruction.operands[0].type)):
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
    if type_text not in _SOLVED:
        return None
    width = _FLOAT_WIDTHS[type_text]
    return lambda terms, a, b: terms.apply(operation, width, a, b)


def _float_negate(instruction: Instruction, module: Module) -> Meaning | None:
    width = _FLOAT_WIDTHS.get(instruction.type)
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
    if instruction.operands[0].type not in _SOLVED:
        return None
    predicate = instruction.predicate
    if predicate in _FLOAT_ORDERS:
        return _FLOAT_ORDERS[predicate]
    opposite = _FLOAT_ORDERS[_OPPOSITES[predicate]]
    return lambda terms, a, b: terms.negate(opposite(terms, a, b))


def _convert(operation: str) -> Callable[[Instruction, Module], Meaning | None]:
    def build(instruction: Instruction, module: Module) -> Meaning | None:
        types = {instruction.type, instruction.operands[0].type}
        if not all(t in _SOLVED or _INTEGER.fullmatch(t) for t in types):
            return None
        width = width_of(instruction.type, module)
        widest = max(width, width_of(instruction.operands[0].type, module))
        return (lambda terms, a: terms.apply(operation, width, a)) if widest <= 64 else None

    return build


# ---- Addresses and aggregates ----------------------------------------------------------------------------------------


def _getelementptr(instruction: Instruction, module: Module) -> Meaning | None:
    """The base plus each index times the size of what it counts."""
    if instruction.type != "ptr" or any(not _scalar(o.type) for o in instruction.operands):
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

    def address(terms: Terms, base: Term, *indices: Term) -> Term:
        for index, scale in zip(indices, scales, strict=True):
            if scale:
                wide = terms.resize(index, 64, signed=True)
                base = terms.apply("add", 64, base, terms.apply("mul", 64, wide, terms.constant(scale, 64)))
        return terms.apply("add", 64, base, terms.constant(constant, 64))

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


def replaced(terms: Terms, whole: Term, low: int, part: Term) -> Term:
    """A vector with the bits from ``low`` on replaced."""
    end, width = low + terms.widths[part], terms.widths[whole]
    if low:
        part = terms.concat(part, terms.extract(whole, 0, low))
    return terms.concat(terms.extract(whole, end, width - end), part) if end < width else part


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


# ---- Intrinsics ------------------------------------------------------------------------------------------------------


def _intrinsic(instruction: Instruction, module: Module) -> Meaning | None:
    name = (instruction.callee or "").removeprefix("@llvm.")
    stem = name.rpartition(".")[0]
    width = width_of(instruction.type, module)
    if stem == "fabs" and instruction.type in _SOLVED:
        return lambda terms, a: terms.apply("and", width, a, terms.constant((1 << width - 1) - 1, width))
    if stem == "sqrt" and instruction.type in _SOLVED:
        return lambda terms, a: terms.apply("fsqrt", width, a)
    if stem == "fmuladd" and instruction.type in _SOLVED:  # not fused: programs are built without contraction
        return lambda terms, a, b, c: terms.apply("fadd", width, terms.apply("fmul", width, a, b), c)
    if stem in {"expect", "expect.with.probability", "ssa.copy"}:
        return lambda terms, a, *_: a
    if match := re.fullmatch(r"([su])(add|sub|mul)\.with\.overflow", stem):
        return _with_overflow(match[2], match[1] == "s", instruction, module)
    if match := re.fullmatch(r"([su])(min|max)", stem):
        return _extreme(match[1] + "lt", match[2] == "max", width)
    if stem == "abs" and _scalar(instruction.type):
        return lambda terms, a, *_: absolute(terms, a)
    if stem == "bswap":
        return swapped_bytes
    return _count_bits if stem == "ctpop" else None


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
    if not _scalar(type_text):
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


_BUILDERS: dict[str, Callable[[Instruction, Module], Meaning | None]] = {
    **dict.fromkeys("add sub mul udiv sdiv urem srem and or xor".split(), _binary),
    **dict.fromkeys("shl lshr ashr".split(), _shift),
    **dict.fromkeys("fadd fsub fmul fdiv frem".split(), _float_binary),
    **dict.fromkeys("trunc zext ptrtoint ptrtoaddr inttoptr".split(), _resized(signed=False)),
    **dict.fromkeys("bitcast addrspacecast freeze".split(), _same),
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
    "call": _intrinsic,
}
