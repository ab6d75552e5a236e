"""Where a function is probed: its blocks cut into segments, and the sites of each segment.

The key idea: a stretch of a block without a call (a *segment*) executes as a whole, so one reservation at its start
holds what all its events record, at fixed offsets. A block is one segment, and one more after each call. What a
segment's units (of 32 bits) mean is therefore static, and only the segment's number is written at run time.

A *private* local is a scalar whose address goes nowhere but into loads and stores of its whole type. Only its stores
can change it, so a store records the value alone and a load nothing: most of what -O0 code does costs little to
record.

A *site* is an instruction's point that becomes an event when it executes: a load, a store, each argument of a call,
the call, its result, a conditional branch, a return, a phi. Pure instructions are no sites: ``Leaves`` finds the
sites behind an operand.

In a program with threads, what another thread could notice is a *step* of its thread: an access that is not to a
private local, a call out of the program. A segment holds one at most; before it the thread's turn can end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import takewhile

from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.program import Program
from whence.program.types import holds_array, size_of

MAX_SEGMENT_SITES = 1000  # keeps a segment far below a chunk of the trace file
RETURNS_TWICE = frozenset({"@setjmp", "@_setjmp", "@sigsetjmp", "@__sigsetjmp", "@vfork"})
ADDRESS_UNITS = 2
NO_SLOT = -1
CONDITIONAL = 1
STARTERS = frozenset({"pthread_create", "thrd_create", "__kmpc_fork_call", "GOMP_parallel"})
_MEMORY = ("@llvm.memcpy", "@llvm.memmove", "@llvm.memset")


class Kind(IntEnum):
    """What a site does; the numbers are those of the plan's ``kind`` field."""

    LOAD = 1
    STORE = 2
    RMW = 3  # atomicrmw, cmpxchg: loads and stores
    COPY = 4  # llvm.memcpy, llvm.memmove, llvm.va_copy
    SET = 5  # llvm.memset
    VASTART = 6
    BYVAL = 7  # the callee's copy of a structure argument, made by the call
    ARG = 8
    CALL = 9
    RESULT = 10
    BRANCH = 11
    RET = 12
    PHI = 13


ACCESSES = frozenset(k for k in Kind if k <= Kind.BYVAL)  # the kinds that touch memory


class Way(IntEnum):
    """How an argument reaches a variadic function (System V ABI, x86-64): the low bits of an ARG site's ``size``."""

    GENERAL = 0  # in general registers while there are any, then on the stack
    VECTOR = 1  # in a vector register while there are any, then on the stack
    STACK = 2
    COPY = 3  # a structure, copied onto the stack


WAY_BITS = 2


class Role(IntEnum):
    """How an event uses what it depends on."""

    VALUE = 0
    ADDRESS = 1


@dataclass(slots=True)
class Site:
    """One site: ``unit`` is its first unit in the segment (0: none), ``units`` how many it has.

    ``size`` is the number of bytes accessed (loads, stores, byval copies), or passed (ARG: bytes << 2 | ``Way``).
    ``aux`` is the argument or parameter number (ARG, BYVAL), the number of arguments (CALL), the slot of a private
    local (LOAD, STORE; -1: not private), or CONDITIONAL (RMW: a last unit tells whether it stored).
    """

    kind: Kind
    instruction: Instruction
    unit: int = 0
    units: int = 0
    size: int = 0
    aux: int = NO_SLOT


@dataclass(slots=True)
class Segment:
    """A stretch of a block: its sites in order, and the units that it reserves (header included).

    ``entry``: starts the function. ``address``: two units hold the function's address. ``frame``: the next two
    hold the frame's address, so that a return by longjmp finds its frame. ``after`` is the call behind which the
    segment starts (None: the block's start or a cut without a call). ``places`` are the locals whose addresses it
    holds, each with its first unit: those of the frame at the entry, one of a size that varies where it is made.
    ``step``: it holds a step of its thread. ``assembles``: it holds inline assembly, which may have written anything.
    """

    block: int
    first: bool
    step: bool = False
    assembles: bool = False
    entry: bool = False
    address: bool = False
    frame: bool = False
    after: Instruction | None = None
    units: int = 1
    sites: list[Site] = field(default_factory=list)
    places: list[tuple[Instruction, int]] = field(default_factory=list)

    def add(self, kind: Kind, instruction: Instruction, units: int, size: int = 0, aux: int = NO_SLOT) -> None:
        """Append a site and reserve its units."""
        self.sites.append(Site(kind, instruction, self.units if units else 0, units, size, aux))
        self.units += units

    def place(self, local: Instruction) -> None:
        """Reserve units for a local's address, and for the number of its elements where that varies."""
        self.places.append((local, self.units))
        self.units += ADDRESS_UNITS * (2 if local.operands else 1)

    def anchor(self, block: Block) -> int | None:
        """The index of the instruction of its ``block`` before which it starts; None: behind the call it follows."""
        if self.after is not None:
            return None
        if not self.first:
            return self.sites[0].instruction.index
        for instruction in block.instructions:
            if instruction.opcode != "phi" and not (self.entry and is_frame_local(instruction)):
                return instruction.index
        raise AssertionError("a block has a terminator")


@dataclass(slots=True)
class Layout:
    """A function's segments in the order of its text, and its private locals with their slots."""

    function: Function
    segments: list[Segment]
    slots: dict[str, int]


def starts_threads(program: Program) -> bool:
    """Whether a program calls, or could call, something that starts threads."""
    return any(not STARTERS.isdisjoint(module.declarations) for module in program.modules)


def is_probed_call(instruction: Instruction) -> bool:
    """Whether a call may run recorded code or have effects outside: intrinsics and inline assembly do not count."""
    callee = instruction.callee or ""
    return instruction.opcode == "call" and callee != "asm" and not callee.startswith("@llvm.")


def value_units(type_text: str, module: Module) -> int:
    """Units that a value of the type takes in the trace: 0 for aggregates and vectors, 4 above 8 bytes."""
    if type_text in {"void", "metadata", "token", "label"} or type_text[0] in "{[<%":
        return 0
    size = size_of(type_text, module)
    return 1 if size <= 4 else 2 if size <= 8 else 4


def private_locals(function: Function) -> dict[str, str]:
    """The private locals ("%x" -> type): scalar allocas of the entry that are only loaded and stored as a whole."""
    found = {
        i.result: i.element_type
        for i in function.blocks[0].instructions
        if i.opcode == "alloca" and not i.operands and i.result and i.element_type[0] not in "{[<%"
    }
    for instruction in function.instructions():
        pointer = _plain_pointer(instruction)
        for operand in instruction.operands:
            if operand is not pointer or found.get(operand.text) != instruction.type:
                found.pop(operand.text, None)
    return found


_CONSTANT = re.compile(r"(\w+ )*constant ")
_VA_LIST = "[1 x %struct.__va_list_tag]"


def has_array(function: Function, module: Module) -> bool:
    """Whether one of the function's locals is an array, or holds one."""
    allocas = (i for i in function.instructions() if i.opcode == "alloca" and i.element_type != _VA_LIST)
    return any(i.operands or holds_array(i.element_type, module) for i in allocas)


def located(function: Function, module: Module) -> list[Instruction]:
    """The frame's locals whose addresses are recorded: arrays, structures, and what pointers may go to.

    What runs over the end of an array may go to any local.
    """
    plain = {} if has_array(function, module) else private_locals(function)
    heads = takewhile(is_frame_local, (i for i in function.blocks[0].instructions if i.opcode != "phi"))
    return [i for i in heads if i.result not in plain and i.element_type != _VA_LIST]


def is_frame_local(instruction: Instruction) -> bool:
    """Whether an instruction makes a local of a fixed size."""
    return instruction.opcode == "alloca" and not instruction.operands


def _plain_pointer(instruction: Instruction) -> Operand | None:
    """The pointer operand of an ordinary load or store."""
    if instruction.volatile or instruction.opcode not in {"load", "store"}:
        return None
    return instruction.operands[-1]


class _Cutter:
    """Cuts one function's blocks into segments."""

    def __init__(
        self, function: Function, module: Module, is_defined: Callable[[str], bool], has_private: bool, has_steps: bool
    ) -> None:
        self._module = module
        self._is_defined = is_defined
        self._has_steps = has_steps
        self._own = private_locals(function) if has_steps else {}  # of one thread alone
        self.returns_twice = any(i.callee in RETURNS_TWICE for i in function.instructions() if i.opcode == "call")
        # After a longjmp, what a local holds depends on whether it lived in memory: there all stay in memory.
        # What runs over the end of an array may write to, and read, any other local.
        in_registers = has_private and not self.returns_twice and not has_array(function, module)
        private = private_locals(function) if in_registers else {}
        self.slots = {name: slot for slot, name in enumerate(private)}

    def cut(self, block: Block, number: int) -> Iterator[Segment]:
        """The segments of one block."""
        segment = Segment(number, first=True)
        for instruction in block.instructions:
            is_step = self._has_steps and self._is_step(instruction)
            is_full = len(segment.sites) >= MAX_SEGMENT_SITES and instruction.opcode != "phi"
            if is_full or (is_step and segment.step):
                yield segment
                segment = Segment(number, first=False)
            segment.step |= is_step
            segment.assembles |= instruction.opcode == "call" and instruction.callee == "asm"
            if not is_probed_call(instruction):
                self._add_site(segment, instruction)
                if instruction.opcode == "alloca" and instruction.operands:
                    segment.place(instruction)
                continue
            self._add_call(segment, instruction)
            yield segment
            segment = Segment(number, first=False, after=instruction)
            if self.returns_twice and instruction.callee in RETURNS_TWICE:
                segment.frame = True
                segment.units += ADDRESS_UNITS
            segment.add(Kind.RESULT, instruction, value_units(instruction.type, self._module))
        yield segment

    def _is_step(self, instruction: Instruction) -> bool:
        """Whether another thread could notice what an instruction does."""
        opcode, callee = instruction.opcode, instruction.callee or ""
        if opcode in {"load", "store"}:
            pointer = instruction.operands[-1].text
            text = self._module.globals.get(pointer[1:], "") if pointer.startswith("@") else ""
            return pointer not in self._own and not _CONSTANT.match(text)
        if opcode != "call" or not is_probed_call(instruction):
            return opcode in {"atomicrmw", "cmpxchg"} or callee.startswith(_MEMORY)
        return not (callee.startswith("@") and self._is_defined(callee[1:]))

    def _add_call(self, segment: Segment, call: Instruction) -> None:
        """A site for each argument, then the call's own; an indirect call records where it goes.

        What the program's own functions are given is seen there: for them only structures passed by value record
        where they lie.
        """
        callee = call.callee or ""
        own = callee.startswith("@") and not call.element_type and self._is_defined(callee[1:])
        for index, argument in enumerate(call.operands):
            by_value = any(a.startswith("byval(") for a in argument.attributes)
            units = 0 if own and not by_value else value_units(argument.type, self._module)
            segment.add(Kind.ARG, call, units, _passed(argument, self._module), index)
        units = 0 if callee.startswith("@") else ADDRESS_UNITS
        segment.add(Kind.CALL, call, units, aux=len(call.operands))

    def _add_site(self, segment: Segment, instruction: Instruction) -> None:
        """The site of an instruction that is no probed call, if it has one."""
        opcode = instruction.opcode
        if opcode in {"load", "store"}:
            self._add_access(segment, instruction)
        elif opcode in {"atomicrmw", "cmpxchg"}:
            type_text = instruction.operands[1].type
            units = ADDRESS_UNITS + value_units(type_text, self._module)
            conditional = opcode == "cmpxchg"
            size = size_of(type_text, self._module)
            segment.add(Kind.RMW, instruction, units + conditional, size, CONDITIONAL if conditional else NO_SLOT)
        elif opcode == "phi":
            segment.add(Kind.PHI, instruction, 0)
        elif opcode == "ret":
            segment.add(Kind.RET, instruction, 0)
        elif opcode in {"switch", "indirectbr", "callbr"} or (opcode == "br" and instruction.operands):
            segment.add(Kind.BRANCH, instruction, 0)
        elif opcode == "call":
            _add_intrinsic(segment, instruction)

    def _add_access(self, segment: Segment, instruction: Instruction) -> None:
        """A load or store: of a private local, or of memory by address."""
        load = instruction.opcode == "load"
        slot = self.slots.get(instruction.operands[-1].text, NO_SLOT)
        units = value_units(instruction.type, self._module)
        if slot == NO_SLOT:
            units += ADDRESS_UNITS
        elif load:
            units = 0
        kind = Kind.LOAD if load else Kind.STORE
        segment.add(kind, instruction, units, size_of(instruction.type, self._module), slot)


def _passed(argument: Operand, module: Module) -> int:
    """The bytes and the ``Way`` of an argument."""
    structure = next((a[len("byval(") : -1] for a in argument.attributes if a.startswith("byval(")), None)
    if structure is not None:
        return size_of(structure, module) << WAY_BITS | Way.COPY
    if argument.type in {"metadata", "token"}:
        return 0
    if argument.type == "x86_fp80":
        return 16 << WAY_BITS | Way.STACK
    vector = argument.type[0] == "<" or argument.type in {"half", "bfloat", "float", "double", "fp128"}
    return size_of(argument.type, module) << WAY_BITS | (Way.VECTOR if vector else Way.GENERAL)


def lay_out(
    function: Function,
    module: Module,
    address_taken: bool,
    is_defined: Callable[[str], bool],
    has_private: bool = True,
    has_steps: bool = False,
) -> Layout:
    """Cut the function into segments.

    ``address_taken`` makes its entry record its address; ``is_defined`` tells whether the program defines the
    function that a name means in this module. Without ``has_private`` no local is private: where a run is altered,
    more than the function's own stores can change one. ``has_steps``: its program has threads.
    """
    cutter = _Cutter(function, module, is_defined, has_private, has_steps)
    segments = [s for number, block in enumerate(function.blocks) for s in cutter.cut(block, number)]
    entry = segments[0]
    entry.entry = True
    _shift(entry, address=address_taken, frame=cutter.returns_twice)
    for index, parameter in enumerate(function.parameters):
        if any(a.startswith("byval(") for a in parameter.attributes):
            _add_byval(entry, function, module, index)
    for local in located(function, module):
        entry.place(local)
    return Layout(function, segments, cutter.slots)


def _shift(entry: Segment, address: bool, frame: bool) -> None:
    """Make room for the entry's own units in front of its sites."""
    entry.address, entry.frame = address, frame
    extra = ADDRESS_UNITS * (int(address) + int(frame))
    entry.units += extra
    for site in entry.sites:
        site.unit += extra if site.units else 0


def _add_byval(entry: Segment, function: Function, module: Module, index: int) -> None:
    """Let the entry record where the copy of parameter ``index`` lies."""
    attribute = next(a for a in function.parameters[index].attributes if a.startswith("byval("))
    size = size_of(attribute[len("byval(") : -1], module)
    site = Site(Kind.BYVAL, function.blocks[0].instructions[0], entry.units, ADDRESS_UNITS, size, index)
    entry.sites.insert(0, site)
    entry.units += ADDRESS_UNITS


def _add_intrinsic(segment: Segment, call: Instruction) -> None:
    """Intrinsics that touch memory have a site (three addresses or lengths, four for va_start); the rest are pure."""
    callee = call.callee or ""
    if callee.startswith(("@llvm.memcpy", "@llvm.memmove", "@llvm.va_copy")):
        segment.add(Kind.COPY, call, 3 * ADDRESS_UNITS)
    elif callee.startswith("@llvm.memset"):
        segment.add(Kind.SET, call, 3 * ADDRESS_UNITS)
    elif callee.startswith("@llvm.va_start"):
        segment.add(Kind.VASTART, call, 4 * ADDRESS_UNITS)


# The operands behind which a site's dependences lie, by role.


def uses(site: Site) -> list[tuple[Role, Operand]]:
    """The operands that an event of the site uses, with their roles (a phi's are found by its predecessor)."""
    instruction, operands = site.instruction, site.instruction.operands
    value, address = Role.VALUE, Role.ADDRESS
    if site.kind is Kind.LOAD:
        return [(address, operands[0])]
    if site.kind is Kind.STORE:
        return [(value, operands[0]), (address, operands[1])]
    if site.kind is Kind.RMW:
        return [(address, operands[0])] + [(value, o) for o in operands[1:]]
    if site.kind in {Kind.COPY, Kind.SET, Kind.VASTART}:
        return [(address if o.type == "ptr" else value, o) for o in operands]
    if site.kind is Kind.ARG:
        return [(value, operands[site.aux])]
    if site.kind is Kind.CALL:
        callee = instruction.callee or ""
        return [(address, Operand("ptr", callee))] if callee.startswith("%") else []
    if site.kind in {Kind.BRANCH, Kind.RET}:
        return [(value, o) for o in operands if o.is_register]
    return []


@dataclass(slots=True, frozen=True)
class Leaf:
    """What a pure expression bottoms out in: a parameter, or the site of an instruction."""

    parameter: int  # -1 for a site
    instruction: Instruction | None = None


SITE_OPCODES = frozenset({"load", "atomicrmw", "cmpxchg", "phi"})


class Leaves:
    """Finds, once for each value of a function, the leaves of the pure expression behind it."""

    def __init__(self, function: Function) -> None:
        self._definitions = {i.result: i for b in function.blocks for i in b.instructions if i.result}
        self._memo: dict[str, tuple[Leaf, ...]] = {}
        for index, parameter in enumerate(function.parameters):
            by_value = any(a.startswith("byval(") for a in parameter.attributes)
            self._memo[parameter.text] = () if by_value else (Leaf(index),)

    def of(self, register: str) -> tuple[Leaf, ...]:
        """The leaves behind ``register`` ("%x"), each once, in order of first use."""
        pending = [register]
        while pending:
            name = pending[-1]
            if name in self._memo:
                pending.pop()
                continue
            instruction = self._definitions[name]
            if instruction.opcode in SITE_OPCODES or is_probed_call(instruction):
                self._memo[name] = (Leaf(-1, instruction),)
                continue
            if instruction.opcode == "alloca":
                self._memo[name] = ()
                continue
            registers = [o.text for o in instruction.operands if o.is_register]
            missing = [r for r in registers if r not in self._memo]
            if missing:
                pending.extend(missing)
                continue
            self._memo[name] = tuple(
                {
                    id(x.instruction) if x.instruction else x.parameter: x for r in registers for x in self._memo[r]
                }.values()
            )
        return self._memo[register]
