"""One reader for each opcode: from an instruction's printed text to an ``Instruction``.

Operands are cached by their text ("i32 %0" occurs thousands of times), which saves most of the time and of
the objects of a large module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from whence.program.model import Instruction, Operand
from whence.program.syntax import (
    NAME,
    Unreadable,
    closing,
    member_type,
    parse_operand,
    skip_to_type,
    split,
    type_end,
    vector_like,
)

_FLAG_WORDS = (
    "nuw nsw exact disjoint nneg samesign inbounds nusw inalloca swifterror "
    "fast nnan ninf nsz arcp contract afn reassoc"
)
_FLAGS = frozenset(_FLAG_WORDS.split())
_ORDERING = re.compile(r'(?: syncscope\("[^"]*"\))?(?: (?:unordered|monotonic|acquire|release|acq_rel|seq_cst)){1,2}$')
_FENCE = re.compile(r'(?:syncscope\("[^"]*"\) )?(?:acquire|release|acq_rel|seq_cst)')
_LABEL = re.compile(r'label %("[^"]*"|[-\w$.]+)')
_CASE = re.compile(r'    (i\d+ \S+), label %("[^"]*"|[-\w$.]+)')
_ASSEMBLY = re.compile(r'asm(?: [a-z]+)* "[^"]*", "[^"]*"')
_CONSTANT = re.compile(r"(getelementptr|inttoptr|ptrtoint|bitcast|addrspacecast)((?: [a-z]+)*) \((.*)\)")
_CONSTANT_CALLEE = re.compile(r"[a-z_]+(?: [a-z_]+)*( ?)")


class InstructionReader:
    """Reads the instructions of one module; ``types`` maps its named types to their bodies."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self._operands: dict[str, Operand] = {}

    def read(self, text: str) -> Instruction:
        """The instruction written in ``text``, which has neither indentation nor metadata attachments.

        Raises Unreadable (or ValueError, IndexError where a part is missing) when it is not understood.
        ``text``, ``location`` and ``index`` of the answer are left to the caller.
        """
        result = None
        if text[0] == "%":
            end = text.index('" = ', 2) + 1 if text[1] == '"' else text.index(" = ")
            result, text = text[:end], text[end + 3 :]
        opcode, _, rest = text.partition(" ")
        reader = _READERS.get(opcode)
        if reader is None:
            raise Unreadable(f"unknown opcode {opcode!r}")
        return reader(self, opcode, rest, result)

    def constant(self, text: str) -> Instruction | None:
        """A constant expression as the instruction that it stands for; None for other constants."""
        match = _CONSTANT.fullmatch(text)
        try:
            return self.read(f"{match[1]}{match[2]} {match[3]}") if match else None
        except Unreadable:  # a form that only constants have, such as inrange(...)
            return None

    def operand(self, text: str) -> Operand:
        """The operand "type attributes value"."""
        found = self._operands.get(text)
        if found is None:
            found = self._operands[text] = parse_operand(text)
            if not found.text:
                raise Unreadable("a value is expected")
        return found

    def operands(self, text: str) -> tuple[Operand, ...]:
        """The operands of a list."""
        return tuple(map(self.operand, split(text)))

    def typed(self, type_: str, text: str) -> Operand:
        """The operand ``text`` whose type is known from another operand."""
        return self.operand(f"{type_} {text}")


def _without_flags(rest: str) -> str:
    while True:
        word, _, tail = rest.partition(" ")
        if word not in _FLAGS:
            return rest
        rest = tail


def _access(rest: str) -> tuple[list[str], bool]:
    """The parts of a memory access without "atomic", "volatile" and orderings, and whether it is volatile."""
    atomic = rest.startswith("atomic ")
    rest = rest.removeprefix("atomic ")
    volatile = rest.startswith("volatile ")
    parts = split(rest.removeprefix("volatile "))
    if atomic:
        parts[1] = _ORDERING.sub("", parts[1])
    return parts, volatile


def _load(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    parts, volatile = _access(rest)
    return Instruction("", opcode, result, parts[0], (reader.operand(parts[1]),), volatile=volatile)


def _store(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    parts, volatile = _access(rest)
    value = reader.operand(parts[0])
    return Instruction("", opcode, result, value.type, (value, reader.operand(parts[1])), volatile=volatile)


def _binary(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    left_text, right_text = split(_without_flags(rest))
    left = reader.operand(left_text)
    return Instruction("", opcode, result, left.type, (left, reader.typed(left.type, right_text)))


def _unary(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    value = reader.operand(_without_flags(rest))
    return Instruction("", opcode, result, value.type, (value,))


def _compare(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    predicate, _, rest = _without_flags(rest).partition(" ")
    left_text, right_text = split(rest)
    left = reader.operand(left_text)
    operands = (left, reader.typed(left.type, right_text))
    return Instruction("", opcode, result, vector_like(left.type, "i1"), operands, predicate=predicate)


def _convert(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    value, separator, type_ = _without_flags(rest).rpartition(" to ")
    if not separator:
        raise Unreadable("a conversion needs a type")
    return Instruction("", opcode, result, type_, (reader.operand(value),))


def _getelementptr(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    element, *parts = split(_without_flags(rest))
    operands = tuple(map(reader.operand, parts))
    base = operands[0].type
    vector = next((o.type for o in operands if o.type.startswith("<")), "")
    type_ = base if base.startswith("<") else vector_like(vector, base)
    return Instruction("", opcode, result, type_, operands, element_type=element)


def _select(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    operands = reader.operands(_without_flags(rest))
    return Instruction("", opcode, result, operands[1].type, operands)


def _phi(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    rest = _without_flags(rest)
    end = type_end(rest)
    type_ = rest[:end]
    pairs = [split(part[2:-2]) for part in split(rest[end + 1 :])]
    operands = tuple(reader.typed(type_, value) for value, _ in pairs)
    return Instruction("", opcode, result, type_, operands, tuple(label[1:] for _, label in pairs))


def _branch(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    labels = tuple(_LABEL.findall(rest))
    condition = () if rest.startswith("label ") else (reader.operand(split(rest)[0]),)
    if len(labels) != 1 + len(condition):
        raise Unreadable("a branch needs one label, or a condition and two")
    return Instruction("", opcode, result, "void", condition, labels)


def _switch(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    head, *cases, last = rest.split("\n")
    default = _LABEL.search(head)
    matches = [_CASE.fullmatch(case) for case in cases]
    if default is None or last != "  ]" or None in matches:
        raise Unreadable("a switch needs a default and cases")
    constants = tuple(reader.operand(match[1]) for match in matches if match)
    labels = (default[1], *(match[2] for match in matches if match))
    return Instruction("", opcode, result, "void", (reader.operand(split(head)[0]), *constants), labels)


def _indirect_branch(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    address, targets = split(rest)
    return Instruction("", opcode, result, "void", (reader.operand(address),), tuple(_LABEL.findall(targets)))


def _return(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    value = () if rest == "void" else (reader.operand(rest),)
    return Instruction("", opcode, result, "void", value)


def _unreachable(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    return Instruction("", opcode, result, "void")


def _marked_call(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    """``tail call``, ``musttail call`` and ``notail call``."""
    if not rest.startswith("call "):
        raise Unreadable("a call is expected")
    return _call(reader, "call", rest[5:], result)


def _call(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    """``call``, and ``callbr`` and ``invoke`` with their labels behind the arguments."""
    start = skip_to_type(rest)
    end = type_end(rest, start)
    type_, element = rest[start:end], ""
    if rest.startswith(" (", end):
        end = closing(rest, end + 1)
        element = rest[start:end]
    callee, opening = _callee(rest, end + 1)
    close = closing(rest, opening)
    arguments = reader.operands(rest[opening + 1 : close - 1]) if close > opening + 2 else ()
    labels = tuple(_LABEL.findall(rest, close)) if opcode != "call" else ()
    return Instruction("", opcode, result, type_, arguments, labels, callee, element_type=element)


def _callee(text: str, start: int) -> tuple[str, int]:
    """What is called, and the index of the parenthesis that opens the arguments."""
    if match := NAME.match(text, start):
        callee, end = match.group(), match.end()
    elif match := _ASSEMBLY.match(text, start):
        callee, end = "asm", match.end()
    elif match := _CONSTANT_CALLEE.match(text, start):
        end = closing(text, match.end()) if match[1] else match.end()
        callee = text[start:end]
    else:
        raise Unreadable("a callee is expected")
    if not text.startswith("(", end):
        raise Unreadable("arguments are expected")
    return callee, end


def _alloca(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    element, *parts = split(_without_flags(rest))
    count = tuple(reader.operand(p) for p in parts if not p.startswith(("align ", "addrspace(")))
    space = next((f" {p}" for p in parts if p.startswith("addrspace(")), "")
    return Instruction("", opcode, result, f"ptr{space}", count, element_type=element)


def _atomicrmw(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    volatile = rest.startswith("volatile ")
    operation, _, rest = rest.removeprefix("volatile ").partition(" ")
    pointer, value_text, *_ = split(rest)
    value = reader.operand(_ORDERING.sub("", value_text))
    operands = (reader.operand(pointer), value)
    return Instruction("", opcode, result, value.type, operands, predicate=operation, volatile=volatile)


def _cmpxchg(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    rest = rest.removeprefix("weak ")
    volatile = rest.startswith("volatile ")
    pointer, expected, new_text, *_ = split(rest.removeprefix("volatile "))
    new = reader.operand(_ORDERING.sub("", new_text))
    operands = (reader.operand(pointer), reader.operand(expected), new)
    return Instruction("", opcode, result, f"{{ {new.type}, i1 }}", operands, volatile=volatile)


def _fence(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    if not _FENCE.fullmatch(rest):
        raise Unreadable("an ordering is expected")
    return Instruction("", opcode, result, "void")


def _va_arg(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    pointer, type_ = split(rest)
    return Instruction("", opcode, result, type_, (reader.operand(pointer),))


def _extractvalue(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    aggregate_text, *indices = split(rest)
    aggregate = reader.operand(aggregate_text)
    type_ = aggregate.type
    for index in indices:
        type_ = member_type(type_, int(index), reader.types)
    return Instruction("", opcode, result, type_, (aggregate,))


def _insertvalue(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    aggregate_text, value, *_ = split(rest)
    aggregate = reader.operand(aggregate_text)
    return Instruction("", opcode, result, aggregate.type, (aggregate, reader.operand(value)))


def _extractelement(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    vector, index = reader.operands(rest)
    return Instruction("", opcode, result, member_type(vector.type, 0, reader.types), (vector, index))


def _insertelement(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    operands = reader.operands(rest)
    return Instruction("", opcode, result, operands[0].type, operands)


def _shufflevector(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    left, right, mask = reader.operands(rest)
    type_ = vector_like(mask.type, member_type(left.type, 0, reader.types))
    return Instruction("", opcode, result, type_, (left, right, mask))


def _landingpad(reader: InstructionReader, opcode: str, rest: str, result: str | None) -> Instruction:
    return Instruction("", opcode, result, rest[: type_end(rest)])


_Reader = Callable[[InstructionReader, str, str, "str | None"], Instruction]
_BINARY = "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem"
_CONVERSIONS = (
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast addrspacecast"
)
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(_BINARY.split(), _binary),
    **dict.fromkeys(_CONVERSIONS.split(), _convert),
    **dict.fromkeys(("tail", "musttail", "notail"), _marked_call),
    **dict.fromkeys(("call", "callbr", "invoke"), _call),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("fneg", "freeze"), _unary),
    **dict.fromkeys(("ret", "resume"), _return),
    "load": _load,
    "store": _store,
    "getelementptr": _getelementptr,
    "select": _select,
    "phi": _phi,
    "br": _branch,
    "switch": _switch,
    "indirectbr": _indirect_branch,
    "unreachable": _unreachable,
    "alloca": _alloca,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "fence": _fence,
    "va_arg": _va_arg,
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "landingpad": _landingpad,
}
