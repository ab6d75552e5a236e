"""Where a run can be altered: the sites of the alter variant, numbered, with their types."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import RETURNS_TWICE, is_probed_call
from whence.program.debug import DebugInfo, describe
from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.program import FunctionRef, Program, plain_name


class Role(IntEnum):
    """What a site's value is. Of a call: its arguments, the call (which can be skipped), its result."""

    LOAD = 1
    STORE = 2
    BRANCH = 3  # the condition of a two-way branch: 0 or 1
    SWITCH = 4  # the value that a switch looks at
    ARGUMENT = 5
    CALL = 6
    RESULT = 7
    RETURN = 8
    BINARY = 9  # the result of an arithmetic operation
    COMPARE = 10  # the result of a comparison


class Form(IntEnum):
    """How the bits of a value are meant."""

    INTEGER = 0
    FLOAT = 1
    POINTER = 2


class Operation(IntEnum):
    """What a BINARY or COMPARE site computes. From 51 on it compares floating point."""

    ADD = 1
    SUB = 2
    MUL = 3
    SDIV = 4
    UDIV = 5
    SREM = 6
    UREM = 7
    SHL = 8
    LSHR = 9
    ASHR = 10
    AND = 11
    OR = 12
    XOR = 13
    FADD = 21
    FSUB = 22
    FMUL = 23
    FDIV = 24
    FREM = 25
    EQ = 31
    NE = 32
    SLT = 33
    SLE = 34
    SGT = 35
    SGE = 36
    ULT = 37
    ULE = 38
    UGT = 39
    UGE = 40
    OEQ = 51  # ordered comparisons of floating point are false where an operand is no number
    UNE = 52  # unordered ones are true there
    OLT = 53
    OLE = 54
    OGT = 55
    OGE = 56
    UEQ = 57
    ONE = 58
    FULT = 59  # unordered comparisons whose names are those of unsigned integers
    FULE = 60
    FUGT = 61
    FUGE = 62
    ORD = 63
    UNO = 64


LEFT_CONSTANT, RIGHT_CONSTANT = 1, 2  # bits of a site's `constant`
NO_SLOT = -1

SITE = np.dtype(
    [
        ("instruction", "<i8"),
        ("block", "<i4"),
        ("function", "<i4"),
        ("role", "u1"),
        ("form", "u1"),
        ("width", "u1"),
        ("operand", "<i2"),
        ("operation", "u1"),
        ("constant", "u1"),
        ("left", "<u8"),
        ("right", "<u8"),
        ("slot", "<i4"),
    ]
)
VARIABLE = np.dtype([("function", "<i4"), ("slot", "<i4"), ("form", "u1"), ("width", "u1")])


class AlterPlan(NamedTuple):
    """The sites of a program, and the variables that its functions can be given the values of.

    ``sites`` (SITE) is one row a site, in order of number: the program's numbers of its instruction, block and
    function; its ``role``; ``form`` and ``width`` (bits) of its value. A COMPARE's value is one bit always, so there
    they are those of its operands. A CALL's are those of the result (width 0: there is none). ``operand`` is the
    argument's number (ARGUMENT; else -1), ``operation`` the ``Operation`` (BINARY, COMPARE; else 0). ``constant``
    says which operands are numbers of the program's text, ``left`` and ``right`` are their bits: of BINARY and
    COMPARE both operands, of other roles ``left`` the value that is used. ``slot`` is the variable that is loaded or
    stored, -1 where it is none.

    ``variables`` (VARIABLE) are, function by function, the scalar locals and parameters of the function and the
    scalar globals that it mentions; slots count from 0 in each function. Those of function ``f`` are the rows
    ``functions[f]`` up to ``functions[f + 1]``; ``variable_names`` are their names in C ("": made by the compiler).
    """

    sites: NDArray[np.void]
    functions: NDArray[np.int64]
    variables: NDArray[np.void]
    variable_names: list[str]


class Point(NamedTuple):
    """A site within its instruction: ``operand`` is the number of the operand altered, -1 where it is none.

    ``type`` is the LLVM type of the value (COMPARE: of the operands); "void" of a call without a result.
    """

    role: Role
    type: str
    operand: int = -1


class Slot(NamedTuple):
    """A frame variable: the register or global that points to it ("%x", "@g"), and its type."""

    pointer: str
    type: str


TYPES: dict[str, tuple[Form, int]] = {
    "i1": (Form.INTEGER, 1),
    "i8": (Form.INTEGER, 8),
    "i16": (Form.INTEGER, 16),
    "i32": (Form.INTEGER, 32),
    "i64": (Form.INTEGER, 64),
    "ptr": (Form.POINTER, 64),
    "float": (Form.FLOAT, 32),
    "double": (Form.FLOAT, 64),
}
_NOTHING = (Form.INTEGER, 0)

_LOADS = {t: (Point(Role.LOAD, t),) for t in TYPES}
_STORES = {t: (Point(Role.STORE, t, 0),) for t in TYPES}
_BINARIES = {t: (Point(Role.BINARY, t),) for t in TYPES}
_COMPARISONS = {t: (Point(Role.COMPARE, t),) for t in TYPES}
_BRANCHES = {"i1": (Point(Role.BRANCH, "i1", 0),)}
_SWITCHES = {t: (Point(Role.SWITCH, t, 0),) for t, (form, _) in TYPES.items() if form is Form.INTEGER}
_RETURNS = {t: (Point(Role.RETURN, t, 0),) for t in TYPES}
_NO_POINTS: tuple[Point, ...] = ()

_BINARY = frozenset(o.name.lower() for o in Operation if o <= Operation.FREM)
_OPERATIONS = {
    **{(name, ""): Operation[name.upper()] for name in _BINARY},
    **{("icmp", o.name.lower()): o for o in Operation if Operation.EQ <= o <= Operation.UGE},
    **{("fcmp", o.name.lower().removeprefix("f")): o for o in Operation if o >= Operation.OEQ},
}

_COPIES = ("byval(", "sret(", "inalloca(")  # these arguments are structures, not pointers that one may choose
_GROUP = re.compile(r" #(\d+)(?= |,|$)")
_ATTRIBUTES = re.compile(r"attributes #(\d+) = \{.* returns_twice ")
_GLOBAL = re.compile(r"([a-z_ ]*)\bglobal (i1|i8|i16|i32|i64|ptr|float|double)(?: |,|$)")


class Finder:
    """Finds the sites and the frame variables of a module's functions."""

    def __init__(self, module: Module) -> None:
        self._globals = dict(_scalar_globals(module))
        lines = (chunk for chunk in module.chunks if isinstance(chunk, str))
        self._twice = frozenset(match[1] for line in lines if (match := _ATTRIBUTES.match(line)))

    def points(self, block: Block) -> list[tuple[Point, ...]]:
        """For each instruction of the block its sites, in order of execution."""
        following: Sequence[Instruction | None] = [*block.instructions[1:], None]
        found: list[tuple[Point, ...]] = []
        tail = False  # behind a musttail call nothing may stand but its return
        for instruction, behind in zip(block.instructions, following, strict=True):
            if is_probed_call(instruction):
                found.append(tuple(self._call_points(instruction, behind)))
                tail = instruction.text.find("musttail call ") >= 0
            else:
                found.append(_NO_POINTS if tail else _plain_points(instruction))
        return found

    def _call_points(self, call: Instruction, behind: Instruction | None) -> Iterator[Point]:
        """The sites of a call. One that ends its block for good is not skipped: there is no code to go on with."""
        for index, argument in enumerate(call.operands):
            if argument.type in TYPES and not any(a.startswith(_COPIES) for a in argument.attributes):
                yield Point(Role.ARGUMENT, argument.type, index)
        if "musttail call " in call.text or (behind is not None and behind.opcode == "unreachable"):
            return
        if (call.type == "void" or call.type in TYPES) and not self._returns_twice(call):
            yield Point(Role.CALL, call.type)
        if call.type in TYPES:
            yield Point(Role.RESULT, call.type)

    def _returns_twice(self, call: Instruction) -> bool:
        """Whether it may return a second time (setjmp, vfork)."""
        return call.callee in RETURNS_TWICE or not self._twice.isdisjoint(_GROUP.findall(call.text))

    def frame(self, function: Function) -> list[Slot]:
        """The function's frame variables: scalar locals in order, then the scalar globals that it mentions, by name."""
        found: list[Slot] = []
        for instruction in function.blocks[0].instructions:
            if instruction.opcode != "alloca":
                break
            scalar = not instruction.operands and instruction.element_type in TYPES
            if scalar and instruction.result and instruction.type == "ptr":
                found.append(Slot(instruction.result, instruction.element_type))
        used = {o.text for b in function.blocks for i in b.instructions for o in i.operands}
        return found + [Slot(name, self._globals[name]) for name in sorted(used & self._globals.keys())]


def _plain_points(instruction: Instruction) -> tuple[Point, ...]:
    """The sites of an instruction that is no call."""
    opcode = instruction.opcode
    if opcode == "load":
        return _LOADS.get(instruction.type, _NO_POINTS)
    if opcode == "store":
        return _STORES.get(instruction.type, _NO_POINTS)
    if opcode in _BINARY:
        return _BINARIES.get(instruction.type, _NO_POINTS)
    if not instruction.operands:
        return _NO_POINTS
    used = instruction.operands[0].type
    if opcode in {"icmp", "fcmp"}:
        return _COMPARISONS.get(used, _NO_POINTS) if operation_of(instruction) else _NO_POINTS
    if opcode == "br":
        return _BRANCHES.get(used, _NO_POINTS)
    if opcode == "switch":
        return _SWITCHES.get(used, _NO_POINTS)
    return _RETURNS.get(used, _NO_POINTS) if opcode == "ret" else _NO_POINTS


def operation_of(instruction: Instruction) -> int:
    """The ``Operation`` that an instruction computes; 0: none."""
    return _OPERATIONS.get((instruction.opcode, instruction.predicate), 0)


def _scalar_globals(module: Module) -> Iterator[tuple[str, str]]:
    """Name ("@g") and type of the module's variables that a function can read or write: scalars of all threads."""
    for name, text in module.globals.items():
        if (match := _GLOBAL.match(text)) and not {"thread_local", "extern_weak"} & set(match[1].split()):
            yield f"@{name}", match[2]


def constant_bits(operand: Operand) -> int | None:
    """The bits, zero-extended, of an operand that is a number in the text; None for registers, addresses, undef."""
    text, form_width = operand.text, TYPES.get(operand.type)
    if form_width is None or text[0] in "%@":
        return None
    form, width = form_width
    if text in _WORDS:
        return _WORDS[text]
    if form is Form.FLOAT:
        return _float_bits(text, width) if text[0] in "-0123456789" else None
    return int(text) & (1 << width) - 1 if text.lstrip("-").isdigit() else None


_WORDS = {"true": 1, "false": 0, "null": 0}


def _float_bits(text: str, width: int) -> int:
    """Bits of a float or double from LLVM's notation: decimal, or 0x and the bits of a double for both."""
    if text.startswith("0x"):
        bits = int(text[2:], 16)
        return bits if width == 64 else _narrowed(bits)
    return int.from_bytes(struct.pack("<d" if width == 64 else "<f", float(text)), "little")


def _narrowed(bits: int) -> int:
    """The bits of a float whose value is that of a double, exactly; what a NaN says is kept."""
    if bits >> 52 & 0x7FF == 0x7FF:
        return bits >> 63 << 31 | 0xFF << 23 | bits >> 29 & (1 << 23) - 1
    number = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return int.from_bytes(struct.pack("<f", number), "little")


class _Tables:
    """Grows the plan's tables function by function.

    Rows stand one behind the other in lists of numbers: a hundred thousand tuples would keep the collector busy.
    """

    def __init__(self) -> None:
        self._sites: list[int] = []  # the fields of SITE in order, but for left and right, which take all 64 bits:
        self._constants: list[int] = []
        self._functions: list[int] = []
        self._variables: list[int] = []
        self._names: list[str] = []

    def plan(self) -> AlterPlan:
        """The finished tables."""
        constants = np.array(self._constants, np.uint64).reshape(-1, 2)
        sites = np.zeros(len(constants), SITE)
        sites["left"], sites["right"] = constants.T
        _fill(sites, [name for name in SITE.names or () if name not in ("left", "right")], self._sites)
        variables = np.zeros(len(self._names), VARIABLE)
        _fill(variables, VARIABLE.names or (), self._variables)
        return AlterPlan(sites, np.array([*self._functions, len(variables)], np.int64), variables, self._names)

    def add_function(self, ref: FunctionRef, finder: Finder, debug: DebugInfo) -> None:
        """Append one function's variables and sites."""
        frame = finder.frame(ref.function)
        self._functions.append(len(self._names))
        for number, slot in enumerate(frame):
            self._variables += (ref.id, number, *TYPES[slot.type])
            self._names.append(_name_in_c(debug, ref.function, slot))
        slots: dict[tuple[str, str], int] = {slot: number for number, slot in enumerate(frame)}
        for block_number, block in enumerate(ref.function.blocks, ref.first_block):
            for instruction, points in zip(block.instructions, finder.points(block), strict=True):
                for point in points:
                    self._sites += (ref.first_instruction + instruction.index, block_number, ref.id)
                    self._add_site(instruction, point, slots)

    def _add_site(self, instruction: Instruction, point: Point, slots: dict[tuple[str, str], int]) -> None:
        """Append a site's fields from its role on."""
        role, type_text, operand = point
        form, width = TYPES.get(type_text, _NOTHING)
        operation = constant = left = right = 0
        slot = NO_SLOT
        if role is Role.LOAD:
            slot = slots.get((instruction.operands[0].text, type_text), NO_SLOT)
        elif role is Role.BINARY or role is Role.COMPARE:
            operation = operation_of(instruction)
            constant, left, right = _constants(*instruction.operands)
        elif operand >= 0:
            constant, left, _ = _constants(instruction.operands[operand])
            if role is Role.STORE:
                slot = slots.get((instruction.operands[1].text, type_text), NO_SLOT)
        argument = operand if role is Role.ARGUMENT else -1
        self._sites += (role, form, width, argument, operation, constant, slot)
        self._constants += (left, right)


def _fill(table: NDArray[np.void], names: Sequence[str], numbers: list[int]) -> None:
    """Put numbers, row behind row, into some fields of a table."""
    for name, column in zip(names, np.array(numbers, np.int64).reshape(-1, len(names)).T, strict=True):
        table[name] = column


def _constants(*operands: Operand) -> tuple[int, int, int]:
    """Which of one or two operands are constants (LEFT_CONSTANT, RIGHT_CONSTANT), and the bits of both."""
    left = constant_bits(operands[0])
    right = constant_bits(operands[1]) if len(operands) > 1 else None
    return LEFT_CONSTANT * (left is not None) | RIGHT_CONSTANT * (right is not None), left or 0, right or 0


def _name_in_c(debug: DebugInfo, function: Function, slot: Slot) -> str:
    """The variable's name; "" for what the compiler made up, and for registers that hold a variable's address.

    A library's variable, which nothing describes, has the name that the linker knows.
    """
    variable = debug.variable_at(function, slot.pointer)
    if variable is None:
        return plain_name(slot.pointer[1:]) if slot.pointer.startswith("@") else ""
    return "" if variable.artificial or variable.indirect else variable.name


def make_alter_plan(program: Program) -> AlterPlan:
    """The sites and variables of a program; sites are numbered in the order of its functions and of their text."""
    tables = _Tables()
    finders = [Finder(module) for module in program.modules]
    debug = describe(program.modules)
    for ref in program.functions:
        tables.add_function(ref, finders[ref.module], debug[ref.module])
    return tables.plan()
