"""What the operands of instructions are: constants, or values that an instruction with a site of its own makes."""

from __future__ import annotations

import struct

from whence.probe.sites import TYPES, Form, constant_bits
from whence.program.model import Function, Instruction, Operand

Number = int | float

_FLOAT_CODES = {32: "<f", 64: "<d"}
_MAKERS = frozenset(
    {"load", "call", "icmp", "fcmp", "add", "fadd", "sub", "fsub", "mul", "fmul", "sdiv", "udiv", "fdiv"}
    | {"srem", "urem", "frem", "shl", "lshr", "ashr", "and", "or", "xor"}
)
_TRANSPARENT = frozenset({"zext", "sext"})
_LAYOUT = frozenset({"alloca", "getelementptr"})  # whose constants are sizes and members


class Operands:
    """The operands of one function's instructions."""

    def __init__(self, function: Function) -> None:
        self._makers: dict[str, Instruction] = {}
        self._users: dict[str, list[Instruction]] = {}
        self._constants: dict[Number, None] = {}
        for instruction in function.instructions():
            if instruction.result:
                self._makers[instruction.result] = instruction
            for operand in instruction.operands:
                self._users.setdefault(operand.text, []).append(instruction)
            if instruction.opcode not in _LAYOUT:
                self._constants |= dict.fromkeys(n for o in instruction.operands if (n := constant(o)) is not None)

    @property
    def constants(self) -> list[Number]:
        """The numbers that the function's instructions use, in the order of the text."""
        return list(self._constants)

    def is_used(self, instruction: Instruction) -> bool:
        """Whether anything uses an instruction's result."""
        return bool(instruction.result) and instruction.result in self._users

    def decides(self, instruction: Instruction) -> bool:
        """Whether an instruction's result is used by a branch, and by nothing else."""
        users = self._users.get(instruction.result or "", [])
        return len(users) == 1 and users[0].opcode == "br"

    def only_call(self, instruction: Instruction) -> Instruction | None:
        """The call that takes an instruction's result as an argument, where nothing else uses that."""
        users = self._users.get(instruction.result or "", [])
        return users[0] if len(users) == 1 and users[0].opcode == "call" else None

    def maker(self, operand: Operand) -> Instruction | None:
        """The instruction with a site that makes an operand for this one use, where there is one.

        Widening between the two changes no number, and is passed over.
        """
        found = self._makers.get(operand.text) if len(self._users.get(operand.text, [])) == 1 else None
        if found is not None and found.opcode in _TRANSPARENT:
            return self.maker(found.operands[0])
        return found if found is not None and found.opcode in _MAKERS else None

    def is_zero_extended(self, operand: Operand) -> bool:
        """Whether an operand is a narrower number whose highest bit is no sign."""
        found = self._makers.get(operand.text)
        return found is not None and found.opcode == "zext"


def constant(operand: Operand) -> Number | None:
    """The number that an operand is; None for registers, addresses and null."""
    bits = constant_bits(operand)
    form, width = TYPES.get(operand.type, (Form.POINTER, 64))
    return None if bits is None or form is Form.POINTER else from_bits(bits, width, form)


def to_bits(number: Number, width: int, form: Form) -> int | None:
    """A number's bits, zero-extended; None where it does not fit."""
    if form is Form.FLOAT:
        try:
            return int.from_bytes(struct.pack(_FLOAT_CODES[width], number), "little")
        except OverflowError:
            return None
    fits = isinstance(number, int) and -(1 << width - 1) <= number < 1 << width
    return int(number) & (1 << width) - 1 if fits else None


def from_bits(bits: int, width: int, form: Form) -> Number:
    """The number that bits mean; integers are signed, and a condition is 0 or 1."""
    if form is Form.FLOAT:
        number: float = struct.unpack(_FLOAT_CODES[width], bits.to_bytes(width // 8, "little"))[0]
        return number
    return bits - (1 << width) if form is Form.INTEGER and width > 1 and bits >> width - 1 else bits
