"""Which memory a crash was about, from the registers and the instruction that the header of a trace holds.

The kernel gives the address of a page fault. For an address that is not canonical (its upper bits are no copy of bit
47, as in a pointer overwritten by text) it gives 0: then the operands of the faulting instruction are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)), "rip")
FRAME = "rbp"  # of functions that are compiled with a frame pointer, as those of variants are
LARGEST_STACK = 1 << 32  # bytes
PAGE_FAULT = 14  # the only trap for which the kernel knows the address
FETCH = 16  # bit of a page fault's error code: an instruction was to be fetched
MASK = (1 << 64) - 1
CANONICAL_BITS = 47
WORD = 8


@dataclass(slots=True, frozen=True)
class Access:
    """An operand in memory: where it lies, and how many bytes it has."""

    address: int
    size: int


@dataclass(frozen=True)
class Fault:
    """The processor's state at a fault: ``reported`` is the kernel's address, ``top`` the word at the stack pointer,
    ``code`` the bytes of the instruction (empty where it cannot be read), ``registers`` in the order of ``REGISTERS``.
    """

    trap: int
    error: int
    reported: int
    top: int
    code: bytes
    registers: tuple[int, ...]

    @cached_property
    def address(self) -> int:
        """The address that was accessed, or to which control was to go; 0 where it is not known, too."""
        if self.trap == PAGE_FAULT:
            return self.reported
        if self.is_return:
            return self.top
        if not is_canonical(self.register("rip")):
            return self.register("rip")
        wild = [place.address for place in self.accesses if not is_canonical(place.address)]
        return next(iter([*wild, *self._targets, *(place.address for place in self.accesses)]), 0)

    @property
    def return_slot(self) -> int:
        """Where the return address lay, if a return was what failed."""
        return self.register("rsp") - (0 if self.is_return else WORD) & MASK

    @property
    def is_fetch(self) -> bool:
        """Whether control went to where no code is."""
        fetched = self.trap == PAGE_FAULT and (self.error & FETCH or self.reported == self.register("rip"))
        return bool(fetched) or not is_canonical(self.register("rip"))

    @cached_property
    def is_return(self) -> bool:
        """Whether the instruction is a return, to an address that is none."""
        from capstone import CS_GRP_RET

        return self.trap != PAGE_FAULT and any(i.group(CS_GRP_RET) for i in self._instruction())

    @cached_property
    def is_frame_lost(self) -> bool:
        """Whether the access was to the function's own frame, by a frame pointer that leads far away from the stack."""
        from capstone.x86 import X86_OP_MEM

        bases = [i.reg_name(o.mem.base) for i in self._instruction() for o in i.operands if o.type == X86_OP_MEM]
        return FRAME in bases and abs(self.register(FRAME) - self.register("rsp")) > LARGEST_STACK

    @cached_property
    def accesses(self) -> list[Access]:
        """The instruction's operands in memory."""
        from capstone.x86 import X86_OP_MEM

        return [
            Access(self._address_of(i, operand.mem), operand.size)
            for i in self._instruction()
            for operand in i.operands
            if operand.type == X86_OP_MEM
        ]

    @property
    def _targets(self) -> Iterator[int]:
        """The register that a call or jump goes to, where that is no address."""
        from capstone.x86 import X86_GRP_CALL, X86_GRP_JUMP, X86_OP_REG

        for i in self._instruction():
            if i.group(X86_GRP_CALL) or i.group(X86_GRP_JUMP):
                values = [self.register(i.reg_name(o.reg)) for o in i.operands if o.type == X86_OP_REG]
                yield from (value for value in values if not is_canonical(value))

    def register(self, name: str) -> int:
        """A general register's value; 0 of others (segments start at 0, but for those of threads)."""
        return self.registers[REGISTERS.index(name)] if name in REGISTERS else 0

    def _address_of(self, instruction: Any, memory: Any) -> int:
        base, index = (instruction.reg_name(number) or "" for number in (memory.base, memory.index))
        behind = len(instruction.bytes) if base == "rip" else 0
        return int(self.register(base) + self.register(index) * memory.scale + memory.disp + behind) & MASK

    def _instruction(self) -> list[Any]:
        """The instruction, decoded; nothing where it cannot be."""
        from capstone import CS_ARCH_X86, CS_MODE_64, Cs

        decoder = Cs(CS_ARCH_X86, CS_MODE_64)
        decoder.detail = True
        return list(decoder.disasm(self.code, self.register("rip"), 1))


def is_canonical(address: int) -> bool:
    """Whether the processor takes a 64-bit number for an address."""
    return address >> CANONICAL_BITS in (0, MASK >> CANONICAL_BITS)
