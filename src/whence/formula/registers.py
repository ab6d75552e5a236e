"""Frames of the run, and the terms of registers in them.

A register that an event made (a load, a call, a phi) is put into its frame when the event is encoded. Pure instructions
are no events: their terms are made when something asks for them, once for each run of their block.
"""

from __future__ import annotations

from collections.abc import Callable

from whence.formula.constants import Constants, UnknownConstant
from whence.formula.encoding import SymbolKind
from whence.formula.instructions import meaning_of
from whence.formula.terms import Term, Terms
from whence.formula.vectors import width_of
from whence.probe.layout import SITE_OPCODES, is_probed_call
from whence.program.model import Instruction, Module, Operand
from whence.program.program import FunctionRef, Program
from whence.program.types import alloc_size_of

Content = tuple[list[dict[str, Term]], dict[int, Term], dict[int, Term], int, tuple[int, Term] | None, dict[int, int]]


class Frame:
    """One activation of a function.

    ``blocks`` holds, for each block's number in the function, the registers of its latest run; ``arguments`` the
    parameters' terms; ``locals`` the private locals' by slot. ``passed`` are the arguments of its latest call, which
    ended segment ``call``; ``returned`` is what its latest callee returned, with the event; ``rows`` the latest segment
    of each block.
    """

    __slots__ = ("arguments", "blocks", "call", "locals", "passed", "returned", "rows")

    def __init__(self, blocks: int, arguments: list[Term]) -> None:
        self.blocks: list[dict[str, Term]] = [{} for _ in range(blocks)]
        self.arguments = arguments
        self.locals: dict[int, Term] = {}
        self.passed: dict[int, Term] = {}
        self.call = -1
        self.returned: tuple[int, Term] | None = None
        self.rows: dict[int, int] = {}

    def content(self) -> Content:
        """What it holds now; registers that pure instructions make later count as part of it."""
        return list(self.blocks), dict(self.locals), dict(self.passed), self.call, self.returned, dict(self.rows)

    def restore(self, content: Content) -> None:
        """Hold what it held then."""
        blocks, slots, passed, self.call, self.returned, rows = content
        self.blocks, self.locals, self.passed, self.rows = list(blocks), dict(slots), dict(passed), dict(rows)


Getter = Callable[[Frame], Term]
NewSymbol = Callable[[SymbolKind, str, int, str], Term]  # kind, name, width, note (or "")
NewLocal = Callable[[str, int, Term | None], Term]  # name, size of an element in bytes, number of elements


class Registers:
    """Compiles operands of a program's functions to getters of their terms.

    ``new_symbol`` makes the symbol of a register that nothing made, ``new_local`` that of a local's address.
    """

    def __init__(
        self, program: Program, terms: Terms, constants: Constants, new_symbol: NewSymbol, new_local: NewLocal
    ) -> None:
        self._program, self._terms, self._constants = program, terms, constants
        self._new_symbol, self._new_local = new_symbol, new_local
        self._getters: dict[tuple[int, str], Getter] = {}
        self._definitions: dict[int, dict[str, tuple[int, Instruction]]] = {}

    def operand(self, ref: FunctionRef, operand: Operand) -> Getter:
        """The getter of an operand of one of the function's instructions."""
        if not operand.is_register:
            return self._constant(ref, operand)
        key = (ref.id, operand.text)
        if key not in self._getters:
            self._getters[key] = self._register(ref, operand.text)
        return self._getters[key]

    def _constant(self, ref: FunctionRef, operand: Operand) -> Getter:
        try:
            term = self._constants.of(ref.module, operand)
        except UnknownConstant:
            width, note = width_of(operand.type, self._program.modules[ref.module]), "constant not modelled"
            return lambda frame: self._new_symbol(SymbolKind.OPAQUE, operand.text, width, f"{note}: {operand.text}")
        return lambda frame: term

    def _register(self, ref: FunctionRef, name: str) -> Getter:
        for index, parameter in enumerate(ref.function.parameters):
            if parameter.text == name:
                return lambda frame: frame.arguments[index]
        block, instruction = self._definition(ref, name)
        make = self._maker(ref, instruction)

        def get(frame: Frame) -> Term:
            registers = frame.blocks[block]
            found = registers.get(name)
            if found is None:
                found = registers[name] = make(frame)
            return found

        return get

    def _definition(self, ref: FunctionRef, name: str) -> tuple[int, Instruction]:
        if ref.id not in self._definitions:
            self._definitions[ref.id] = {
                i.result: (number, i)
                for number, block in enumerate(ref.function.blocks)
                for i in block.instructions
                if i.result
            }
        return self._definitions[ref.id][name]

    def _maker(self, ref: FunctionRef, instruction: Instruction) -> Getter:
        """What makes a register that is not there: a pure instruction, or a symbol."""
        module = self._program.modules[ref.module]
        if instruction.opcode == "alloca":
            return self._local(ref, instruction, module)
        if instruction.opcode in SITE_OPCODES or is_probed_call(instruction):
            return self._symbol(SymbolKind.FREE, instruction, module)
        meaning = meaning_of(instruction, module)
        if meaning is None:
            what = instruction.callee if instruction.opcode == "call" else instruction.opcode
            return self._symbol(SymbolKind.OPAQUE, instruction, module, f"instruction not modelled: {what}")
        compute, terms = meaning, self._terms
        getters = [self.operand(ref, o) for o in instruction.operands if o.type != "metadata"]
        if len(getters) == 1:
            only = getters[0]
            return lambda frame: compute(terms, only(frame))
        if len(getters) == 2:
            left, right = getters
            return lambda frame: compute(terms, left(frame), right(frame))
        return lambda frame: compute(terms, *[get(frame) for get in getters])

    def _local(self, ref: FunctionRef, alloca: Instruction, module: Module) -> Getter:
        new_local, name = self._new_local, (alloca.result or "").removeprefix("%")
        size = alloc_size_of(alloca.element_type, module)
        if not alloca.operands:
            return lambda frame: new_local(name, size, None)
        count = self.operand(ref, alloca.operands[0])
        return lambda frame: new_local(name, size, count(frame))

    def _symbol(self, kind: SymbolKind, instruction: Instruction, module: Module, note: str = "") -> Getter:
        width, new_symbol = width_of(instruction.type, module), self._new_symbol
        name = (instruction.result or instruction.opcode).removeprefix("%")
        return lambda frame: new_symbol(kind, name, width, note)
