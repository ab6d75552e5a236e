"""Which values of a function follow from what a compact trace of it records.

A recording need not hold what can be worked out from the rest of it: the address of ``a[i]`` follows from ``a`` and
``i``, the value that ``i++`` stores from the one that was stored before. A value is *computable* if it is a constant,
the address of a variable, what a recorded load or call gave, what a private local holds that is surely assigned, or
what an operation makes of such values. Only operations count whose result is the same bits wherever they are done.

What is computable is decided here, block by block in an order in which definitions come before uses; ``recipes.py``
says how it is computed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from whence.errors import ProgramError
from whence.probe.layout import (
    ADDRESS_UNITS,
    NO_SLOT,
    RETURNS_TWICE,
    Kind,
    Layout,
    Site,
    is_frame_local,
    is_probed_call,
)
from whence.program.cfg import postorder, predecessors, successors
from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.syntax import struct_members
from whence.program.types import alloc_size_of, member_offset

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "ptr": 64, "float": 32, "double": 64}  # bits
INTEGERS = frozenset({"i1", "i8", "i16", "i32", "i64", "ptr"})
ARITHMETIC = frozenset(
    {"add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem", "icmp", "select"}
)
MOVES = frozenset({"zext", "trunc", "sext", "ptrtoint", "inttoptr", "bitcast", "freeze"})
FLOATING = frozenset({"fadd", "fsub", "fmul", "fdiv", "fneg", "fpext", "fptrunc", "fcmp", "sitofp", "uitofp", "fptosi"})
_LICENCE = re.compile(r"\b(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)\b")
_ARRAY = re.compile(r"\[(\d+) x (.*)\]", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")


def constant_bits(operand: Operand) -> int | None:
    """The bits of a scalar constant, zero-extended; None for anything else (``undef`` and ``poison`` as well)."""
    text, width = operand.text, WIDTHS.get(operand.type)
    if width is None:
        return None
    if operand.type in {"float", "double"}:
        return _floating_bits(operand)
    if text in {"null", "false"}:
        return 0
    if text == "true":
        return 1
    return int(text) & ((1 << width) - 1) if _NUMBER.fullmatch(text) else None


def _floating_bits(operand: Operand) -> int | None:
    """The bits of a floating-point constant; LLVM writes those of a float as a double, too."""
    text = operand.text
    try:
        value = struct.unpack("<d", int(text, 16).to_bytes(8, "little"))[0] if text.startswith("0x") else float(text)
        packed = struct.pack("<f" if operand.type == "float" else "<d", value)
    except (ValueError, OverflowError):
        return None
    return int.from_bytes(packed, "little")


def address_terms(instruction: Instruction, module: Module) -> tuple[int, list[tuple[Operand, int]]] | None:
    """What a ``getelementptr`` adds to its base: constant bytes, and indices with the bytes of each.

    None where that is not known of its type.
    """
    constant, terms = 0, list[tuple[Operand, int]]()
    type_text = instruction.element_type
    try:
        for number, index in enumerate(instruction.operands[1:]):
            body = module.types.get(type_text, type_text)
            if number and (fields := struct_members(body)) is not None:
                member = int(index.text)
                constant, type_text = constant + member_offset(type_text, member, module), fields[member]
                continue
            if number:
                if not (match := _ARRAY.fullmatch(body)):
                    return None
                type_text = match[2]
            size = alloc_size_of(type_text, module)
            if _NUMBER.fullmatch(index.text):
                constant += int(index.text) * size
            elif index.type in {"i8", "i16", "i32", "i64"} and size < 1 << 31:
                terms.append((index, size))
            else:
                return None
    except ProgramError:
        return None
    return constant, terms


class Computed:
    """What of one function can be computed: ``values`` are its registers ("%x"), ``omitted`` the units that need not be
    recorded, by segment: (first unit, units, operand) of each address and value. ``branches`` are the blocks whose side
    can be foretold, by the operand of their branch.

    ``variables`` gives the number of each static variable that the function's module can name.
    """

    def __init__(self, layout: Layout, module: Module, variables: Mapping[str, int]) -> None:
        self.layout, self.module, self.variables = layout, module, variables
        self.function: Function = layout.function
        self.definitions = {i.result: i for i in self.function.instructions() if i.result}
        self.sites = {(s.instruction.index, s.kind): s for g in layout.segments for s in g.sites}
        self._located = {local.result for local, _ in layout.segments[0].places if is_frame_local(local)}
        self.values: set[str] = set()
        self.omitted: list[list[tuple[int, int, Operand]]] = [[] for _ in layout.segments]
        self.branches: dict[int, Operand] = {}
        if not any(i.callee in RETURNS_TWICE for i in self.function.instructions() if i.opcode == "call"):
            self._find()

    def computable(self, operand: Operand) -> bool:
        """Whether an operand's bits can be computed where it is used."""
        if operand.type not in WIDTHS:
            return False
        if operand.is_register:
            return operand.text in self.values
        return constant_bits(operand) is not None or self.variable(operand) is not None

    def variable(self, operand: Operand) -> int | None:
        """The number of the static variable whose address an operand is."""
        return self.variables.get(operand.text[1:]) if operand.text.startswith("@") else None

    def _find(self) -> None:
        graph = successors(self.function)
        order = postorder(graph, [0])[::-1]  # each block before those that it dominates
        assigned = self._assigned(graph, order)
        for number in order:
            known = assigned[number]
            for instruction in self.function.blocks[number].instructions:
                if instruction.result and self._is_computable(instruction, known):
                    self.values.add(instruction.result)
                known |= self._stored(instruction)
        reached = set(order)
        for number, segment in enumerate(self.layout.segments):
            if segment.block in reached:
                self.omitted[number] = [found for site in segment.sites for found in self._omitted(site)]
        for number in order:
            branch = self.function.blocks[number].terminator
            if branch.opcode == "br" and branch.operands and self.computable(branch.operands[0]):
                self.branches[number] = branch.operands[0]

    def _omitted(self, site: Site) -> list[tuple[int, int, Operand]]:
        """The units of a site that need not be recorded, each with the operand that they hold."""
        if site.kind not in {Kind.LOAD, Kind.STORE} or not site.units:
            return []
        operands, unit, units = site.instruction.operands, site.unit, site.units
        found = []
        if site.aux == NO_SLOT:
            if self.computable(operands[-1]):
                found.append((unit, ADDRESS_UNITS, operands[-1]))
            unit, units = unit + ADDRESS_UNITS, units - ADDRESS_UNITS
        if site.kind is Kind.STORE and units in {1, 2} and self.computable(operands[0]):
            found.append((unit, units, operands[0]))
        return found

    def _is_computable(self, instruction: Instruction, assigned: int) -> bool:
        """Whether an instruction's result can be computed, with these private locals surely assigned."""
        opcode = instruction.opcode
        if opcode == "alloca":
            return instruction.result in self._located
        if instruction.type not in WIDTHS:
            return False
        if opcode == "load":
            site = self.sites[instruction.index, Kind.LOAD]
            return bool(assigned >> site.aux & 1) if site.aux != NO_SLOT else site.units > ADDRESS_UNITS
        if opcode == "call":
            result = self.sites.get((instruction.index, Kind.RESULT)) if is_probed_call(instruction) else None
            return result is not None and result.units in {1, 2}
        if opcode == "getelementptr":
            terms = address_terms(instruction, self.module)
            return terms is not None and all(map(self.computable, (instruction.operands[0], *(o for o, _ in terms[1]))))
        return self._is_operation(instruction) and all(map(self.computable, instruction.operands))

    def _is_operation(self, instruction: Instruction) -> bool:
        """Whether an instruction makes the same bits wherever it is done."""
        opcode = instruction.opcode
        if opcode in FLOATING:
            return not _LICENCE.search(instruction.text.partition(", !")[0].partition("=")[2].partition("%")[0])
        if opcode in MOVES:
            return True
        return opcode in ARITHMETIC and not (opcode == "select" and _LICENCE.search(instruction.text))

    def _stored(self, instruction: Instruction) -> int:
        """The private local, as a bit, that an instruction assigns; its value is known in full."""
        if instruction.opcode != "store":
            return 0
        site = self.sites[instruction.index, Kind.STORE]
        return 1 << site.aux if site.aux != NO_SLOT and instruction.type in WIDTHS else 0

    def _assigned(self, graph: list[list[int]], order: list[int]) -> dict[int, int]:
        """For each block that can be reached the private locals, as bits, that are assigned on all ways to it."""
        everything = (1 << len(self.layout.slots)) - 1
        before, own = predecessors(graph), [self._assigns(block) for block in self.function.blocks]
        found = {number: 0 if number == 0 else everything for number in order}
        changed = True
        while changed:
            changed = False
            for number in order[1:]:
                known = everything
                for block in before[number]:
                    known &= found[block] | own[block] if block in found else everything
                changed |= known != found[number]
                found[number] = known
        return found

    def _assigns(self, block: Block) -> int:
        bits = 0
        for instruction in block.instructions:
            bits |= self._stored(instruction)
        return bits
