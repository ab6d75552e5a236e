"""Arrays inside of structures that pointers of the program point into, as far as its text says.

``s->name`` and ``&s->name[i]`` are made for the array alone: what is accessed through them beyond it, though still in
the structure, is an error that only who asks for it is told, since some programs copy several members at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.errors import ProgramError
from whence.program.instructions import InstructionReader
from whence.program.model import Instruction, Module, Operand
from whence.program.syntax import Unreadable, member_type, struct_members
from whence.program.types import alloc_size_of, offset_of

FLEXIBLE = 4  # elements: ``char text[4]`` at the end often fills up what the alignment leaves, in a block of any size


@dataclass(frozen=True, slots=True)
class MemberArray:
    """A member array: LLVM's name of its structure, the member's number and the array's bytes.

    ``inside`` is how far behind the array's first byte the pointer points. ``offset`` is how far the array lies behind
    where the computation of the address began, and ``whole`` the bytes of the type that this points to. None where an
    index decides it.
    """

    structure: str
    member: int
    size: int
    inside: int | None
    offset: int | None
    whole: int


class MemberArrays:
    """Finds the member arrays behind the pointers of one function, whose ``definitions`` are by register."""

    def __init__(self, module: Module, definitions: Mapping[str, Instruction]) -> None:
        self._module, self._definitions = module, definitions
        self._constants = InstructionReader(module.types)

    def behind(self, pointer: Operand) -> MemberArray | None:
        """The innermost member array that a pointer points into; None: none that is known."""
        steps = list(self._steps(pointer))
        try:
            for number, step in enumerate(steps):
                if (found := self._chosen(step)) is not None:
                    return self._array(*found, steps[:number], step, steps[number + 1 :])
        except (ProgramError, Unreadable):  # of a type that has no known size
            return None
        return None

    def goes_back(self, pointer: Operand) -> bool:
        """Whether an address lies a number of bytes before a pointer, as that of a structure before its member does."""
        try:
            steps = [step for step in self._steps(pointer) if step.element_type == "i8"]
            return any((self._offset(step) or 0) < 0 for step in steps)
        except ProgramError:
            return False

    def _steps(self, pointer: Operand) -> Iterator[Instruction]:
        """The computations of an address, the last one first."""
        while True:
            made = self._definitions.get(pointer.text) or self._constants.constant(pointer.text)
            if made is None or made.opcode != "getelementptr":
                return
            yield made
            pointer = made.operands[0]

    def _chosen(self, step: Instruction) -> tuple[str, int, int] | None:
        """The innermost structure of which a computation chooses an array, the member, and how many indices do it.

        A last member of FLEXIBLE elements at most may stand for as many as there is room for.
        """
        kind, found = step.element_type, None
        for place, index in enumerate(_indices(step)[1:], 2):
            members = struct_members(self._module.types.get(kind, kind))
            member = int(index) if members is not None else 0
            inner = member_type(kind, member, self._module.types)
            if members is not None and inner.startswith("["):
                is_flexible = member == len(members) - 1 and int(inner[1:].partition(" ")[0]) <= FLEXIBLE
                found = None if is_flexible else (kind, member, place)
            kind = inner
        return found

    def _array(
        self,
        structure: str,
        member: int,
        place: int,
        behind: list[Instruction],
        step: Instruction,
        ahead: list[Instruction],
    ) -> MemberArray:
        """The array that the first indices of ``step`` choose; ``behind`` and ``ahead`` of it are other steps."""
        array, indices = member_type(structure, member, self._module.types), _indices(step)
        inside = [offset_of(array, ["0", *indices[place:]], self._module), *map(self._offset, behind)]
        offset = [offset_of(step.element_type, indices[:place], self._module), *map(self._offset, ahead)]
        whole = alloc_size_of([step, *ahead][-1].element_type, self._module)
        return MemberArray(structure, member, alloc_size_of(array, self._module), _sum(inside), _sum(offset), whole)

    def _offset(self, step: Instruction) -> int | None:
        return offset_of(step.element_type, _indices(step), self._module)


def _indices(step: Instruction) -> list[str]:
    return [operand.text for operand in step.operands[1:]]


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
