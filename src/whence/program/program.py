"""A whole program: its modules under one numbering.

Functions, blocks and instructions get consecutive numbers in the order of the modules and of their text.
Numbers of one function are consecutive, so a sorted table of firsts and a binary search lead back from any
number; no object is made for a block or an instruction.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from whence.program.locations import unescape
from whence.program.model import Block, Function, Instruction, Location, Module
from whence.program.printer import print_module

_ALIAS = re.compile(r'\balias .*@("[^"]*"|[-\w$.]+)[^@]*$')
_WEAK = re.compile(r"define (?:weak|linkonce)")
_COPY = "define available_externally "


@dataclass(slots=True, frozen=True)
class FunctionRef:
    """A function of the program: its number, its module, and where the numbers of its blocks and instructions
    begin."""

    id: int
    module: int
    function: Function
    first_block: int
    first_instruction: int

    @property
    def name(self) -> str:
        """The name as C and the linker know it."""
        return plain_name(self.function.name)


class Program:
    """The modules of one executable, numbered.

    ``functions`` is indexed by function number. ``block_starts[b]`` is the number of the first instruction of
    block ``b``, with one more entry for the end (64-bit integers; NumPy reads the array without a copy).
    """

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = tuple(modules)
        self.functions: list[FunctionRef] = []
        self.block_starts = array("q")
        self._first_blocks: list[int] = []
        self._external: dict[str, int] = {}
        self._own: list[dict[str, int]] = []
        count = 0
        for number, module in enumerate(self.modules):
            self._own.append({})
            for function in module.functions.values():
                count = self._add(number, function, count)
        self.block_starts.append(count)
        for number, module in enumerate(self.modules):
            self._add_aliases(number, module)

    def _add(self, module: int, function: Function, instruction: int) -> int:
        """Number one function; the answer is the number of the next one's first instruction."""
        ref = FunctionRef(len(self.functions), module, function, len(self.block_starts), instruction)
        self.functions.append(ref)
        self._first_blocks.append(ref.first_block)
        for block in function.blocks:
            self.block_starts.append(instruction)
            instruction += len(block.instructions)
        self._own[module][function.name] = ref.id
        if not function.internal and self._rank(function) > self._rank_of(function.name):
            self._external[function.name] = ref.id
        return instruction

    def _add_aliases(self, number: int, module: Module) -> None:
        for name, text in module.globals.items():
            match = _ALIAS.search(text)
            target = self.resolve(number, match[1]) if match else None
            if target is None:
                continue
            self._own[number][name] = target
            if not text.startswith(("internal ", "private ")):
                self._external.setdefault(name, target)

    @staticmethod
    def _rank(function: Function) -> int:
        """Which definition the linker takes: a strong one before a weak one before an inline copy."""
        if function.header.startswith(_COPY):
            return 1
        return 2 if _WEAK.match(function.header) else 3

    def _rank_of(self, name: str) -> int:
        found = self._external.get(name)
        return 0 if found is None else self._rank(self.functions[found].function)

    @property
    def block_count(self) -> int:
        """Number of blocks."""
        return len(self.block_starts) - 1

    @property
    def instruction_count(self) -> int:
        """Number of instructions."""
        return self.block_starts[-1]

    @property
    def defined_names(self) -> frozenset[str]:
        """Names (as in IR, without "@") of the functions that the program defines for all of its modules."""
        return frozenset(self._external)

    def resolve(self, module: int, name: str) -> int | None:
        """The number of the function that ``name`` (without "@") means in a module; None: the program defines
        none."""
        own = self._own[module].get(name)
        if own is not None and self.functions[own].function.internal:
            return own
        return self._external.get(name, own)

    def function_of_block(self, block: int) -> FunctionRef:
        """The function that a block belongs to."""
        return self.functions[bisect_right(self._first_blocks, block) - 1]

    def block(self, block: int) -> Block:
        """The block with this number."""
        ref = self.function_of_block(block)
        return ref.function.blocks[block - ref.first_block]

    def block_of_instruction(self, instruction: int) -> int:
        """The number of the block in which an instruction stands."""
        return bisect_right(self.block_starts, instruction, 0, self.block_count) - 1

    def function_of_instruction(self, instruction: int) -> FunctionRef:
        """The function that an instruction belongs to."""
        return self.function_of_block(self.block_of_instruction(instruction))

    def instruction(self, instruction: int) -> Instruction:
        """The instruction with this number."""
        block = self.block_of_instruction(instruction)
        return self.block(block).instructions[instruction - self.block_starts[block]]

    def location(self, instruction: int) -> Location | None:
        """Where an instruction stands in the source; None where the compiler gave no place."""
        return self.instruction(instruction).location

    def fingerprint(self) -> int:
        """A 64-bit number that changes with any change to the program's IR or numbering."""
        digest = hashlib.sha256()
        for module in self.modules:
            text = print_module(module).encode("utf-8", "surrogateescape")
            digest.update(len(text).to_bytes(8, "little"))
            digest.update(text)
        return int.from_bytes(digest.digest()[:8], "little")


def plain_name(name: str) -> str:
    """An IR name without its quotes, escapes and the mark ``\\01`` that keeps the linker's name as it is."""
    return unescape(name[1:-1]).removeprefix("\x01") if name.startswith('"') else name
