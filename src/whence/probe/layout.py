"""Where a function is probed: its blocks cut into segments, and the sites of each segment.

The key idea: a stretch of a block without a call (a *segment*) executes as a whole, so one reservation at its start holds
the words of all its events at fixed offsets. A block is one segment, and one more after each call. What a segment's words mean is
therefore static, and only the segment's number is written at run time.

A *site* is an instruction's point that becomes an event when it executes: a load, a store, each argument of a call, the call, its
result, a conditional branch, a return, a phi. Pure instructions are no sites: ``leaves`` finds the sites behind an operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.types import size_of

MAX_SEGMENT_SITES = 1000  # keeps a segment's size within the 16 bits of its header and far below a chunk
RETURNS_TWICE = frozenset({"@setjmp", "@_setjmp", "@sigsetjmp", "@__sigsetjmp", "@vfork"})
POINTER_BYTES = 8


class Kind(IntEnum):
    """What a site does; the numbers are those of the plan's ``site_kind`` column."""

    LOAD = 1
    STORE = 2
    RMW = 3  # atomicrmw, cmpxchg: loads and stores
    COPY = 4  # llvm.memcpy, llvm.memmove, llvm.va_copy
    SET = 5  # llvm.memset
    VASTART = 6
    ARG = 7
    CALL = 8
    RESULT = 9
    BRANCH = 10
    RET = 11
    PHI = 12
    BYVAL = 13  # the callee's copy of a structure argument, made by the call


class Role(IntEnum):
    """How an event uses what it depends on."""

    VALUE = 0
    ADDRESS = 1


@dataclass(slots=True)
class Site:
    """One site: ``word`` is its first word in the segment (0: none), ``words`` how many it has.

    ``size`` is the number of bytes accessed (loads, stores, byval copies), ``aux`` the argument or parameter
    number (ARG, BYVAL) or the number of arguments (CALL).
    """

    kind: Kind
    instruction: Instruction
    word: int = 0
    words: int = 0
    size: int = 0
    aux: int = 0


@dataclass(slots=True)
class Segment:
    """A stretch of a block: its sites in order, and the words that it reserves (header included).

    ``entry``: starts the function. ``address``: word 1 holds the function's address. ``frame``: the next word
    holds the frame's address, so that a return by longjmp finds its frame. ``after`` is the call behind which the segment
    starts (None: the block's start or a cut without a call).
    """

    block: int
    first: bool
    entry: bool = False
    address: bool = False
    frame: bool = False
    after: Instruction | None = None
    words: int = 1
    sites: list[Site] = field(default_factory=list)

    def add(self, kind: Kind, instruction: Instruction, words: int, size: int = 0, aux: int = 0) -> None:
        """Append a site and reserve its words."""
        self.sites.append(Site(kind, instruction, self.words if words else 0, words, size, aux))
        self.words += words


@dataclass(slots=True)
class Layout:
    """A function's segments in the order of its text."""

    function: Function
    segments: list[Segment]


def is_probed_call(instruction: Instruction) -> bool:
    """Whether a call may run recorded code or have effects outside: intrinsics and inline assembly do not count."""
    callee = instruction.callee or ""
    return instruction.opcode == "call" and callee != "asm" and not callee.startswith("@llvm.")


def value_words(type_text: str, module: Module) -> int:
    """Words that a value of the type takes in the trace: 0 for aggregates and vectors, 2 above 8 bytes."""
    if type_text in {"void", "metadata", "token", "label"} or type_text[0] in "{[<%":
        return 0
    return 1 if size_of(type_text, module) <= POINTER_BYTES else 2


def lay_out(function: Function, module: Module, address_taken: bool) -> Layout:
    """Cut the function into segments; ``address_taken`` makes its entry record its address."""
    returns_twice = any(i.callee in RETURNS_TWICE for i in function.instructions() if i.opcode == "call")
    segments: list[Segment] = []
    for number, block in enumerate(function.blocks):
        segments.extend(_cut(block, number, module, returns_twice))
    entry = segments[0]
    entry.entry = True
    _shift(entry, address=address_taken, frame=returns_twice)
    for index, parameter in enumerate(function.parameters):
        if any(a.startswith("byval(") for a in parameter.attributes):
            _add_byval(entry, function, module, index)
    return Layout(function, segments)


def _shift(entry: Segment, address: bool, frame: bool) -> None:
    """Make room for the entry's own words in front of its sites."""
    entry.address, entry.frame = address, frame
    extra = int(address) + int(frame)
    entry.words += extra
    for site in entry.sites:
        site.word += extra if site.words else 0


def _add_byval(entry: Segment, function: Function, module: Module, index: int) -> None:
    """Let the entry record where the copy of parameter ``index`` lies."""
    attribute = next(a for a in function.parameters[index].attributes if a.startswith("byval("))
    size = size_of(attribute[len("byval(") : -1], module)
    entry.sites.insert(0, Site(Kind.BYVAL, function.blocks[0].instructions[0], entry.words, 1, size, index))
    entry.words += 1


def _cut(block: Block, number: int, module: Module, returns_twice: bool) -> Iterator[Segment]:
    """The segments of one block."""
    segment = Segment(number, first=True)
    for instruction in block.instructions:
        if len(segment.sites) >= MAX_SEGMENT_SITES and instruction.opcode != "phi":
            yield segment
            segment = Segment(number, first=False)
        if is_probed_call(instruction):
            _add_call(segment, instruction, module)
            yield segment
            segment = Segment(number, first=False, after=instruction)
            if returns_twice and instruction.callee in RETURNS_TWICE:
                segment.frame = True
                segment.words += 1
            segment.add(Kind.RESULT, instruction, value_words(instruction.type, module))
        else:
            _add_site(segment, instruction, module)
    yield segment


def _add_call(segment: Segment, call: Instruction, module: Module) -> None:
    """A site for each argument, then the call's own; an indirect call records where it goes."""
    for index, argument in enumerate(call.operands):
        segment.add(Kind.ARG, call, value_words(argument.type, module), aux=index)
    indirect = not (call.callee or "").startswith("@")
    segment.add(Kind.CALL, call, int(indirect), aux=len(call.operands))


def _add_site(segment: Segment, instruction: Instruction, module: Module) -> None:
    """The site of an instruction that is no probed call, if it has one."""
    opcode = instruction.opcode
    if opcode in {"load", "store"}:
        kind = Kind.LOAD if opcode == "load" else Kind.STORE
        words = 1 + value_words(instruction.type, module)
        segment.add(kind, instruction, words, size_of(instruction.type, module))
    elif opcode in {"atomicrmw", "cmpxchg"}:
        segment.add(Kind.RMW, instruction, 2, size_of(instruction.operands[1].type, module))
    elif opcode == "phi":
        segment.add(Kind.PHI, instruction, 0)
    elif opcode == "ret":
        segment.add(Kind.RET, instruction, 0)
    elif opcode in {"switch", "indirectbr", "callbr"} or (opcode == "br" and instruction.operands):
        segment.add(Kind.BRANCH, instruction, 0)
    elif opcode == "call":
        _add_intrinsic(segment, instruction)


def _add_intrinsic(segment: Segment, call: Instruction) -> None:
    """Intrinsics that touch memory have a site; the rest are pure."""
    callee = call.callee or ""
    if callee.startswith(("@llvm.memcpy", "@llvm.memmove", "@llvm.va_copy")):
        segment.add(Kind.COPY, call, 3)
    elif callee.startswith("@llvm.memset"):
        segment.add(Kind.SET, call, 3)
    elif callee.startswith("@llvm.va_start"):
        segment.add(Kind.VASTART, call, 4)


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
            self._memo[name] = tuple({id(x.instruction) if x.instruction else x.parameter: x
                                      for r in registers for x in self._memo[r]}.values())
        return self._memo[register]
