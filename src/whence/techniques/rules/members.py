"""Members of structures that can be read in one another's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from whence.program import types
from whence.program.debug import Member
from whence.program.model import Instruction
from whence.program.program import FunctionRef

if TYPE_CHECKING:
    from whence.subject.subject import Subject

MEMBERS = 16  # that are tried in another one's place


class Beside(NamedTuple):
    """Another member of the structure: its name, and how many bytes behind (or, negative, before) it lies."""

    name: str
    distance: int


class Members:
    """What loads read of structures of a subject."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def own(self, ref: FunctionRef, load: Instruction) -> str:
        """The name of the member that a load reads; empty where it is none."""
        found = self._found(ref, load)
        return found[0].name if found else ""

    def beside(self, ref: FunctionRef, load: Instruction) -> list[Beside]:
        """The other members of the same type; none for anything but the load of a member."""
        found = self._found(ref, load)
        if found is None:
            return []
        own, others = found
        fits = [m for m in others if m.offset != own.offset and m.type.spelling == own.type.spelling]
        return [Beside(m.name, (m.offset - own.offset) // 8) for m in fits][:MEMBERS]

    def _found(self, ref: FunctionRef, load: Instruction) -> tuple[Member, list[Member]] | None:
        """The member that a load reads, and all named members of its structure that are no bit-fields."""
        if load.opcode != "load":
            return None
        explainer, pointer = self._subject.expressions[ref.module], load.operands[0].text
        is_local = pointer.startswith("%")
        step = explainer.definition(ref.function, pointer) if is_local else explainer.paths.constant(pointer)
        if step is None or step.opcode != "getelementptr" or len(step.operands) != 3:
            return None
        structure = explainer.debug.tagged(step.element_type)
        if structure is None or structure.plain.kind != "struct" or not step.operands[2].text.isdigit():
            return None
        members = [m for m in structure.plain.members if m.name and not m.bits]
        offset = types.member_offset(step.element_type, int(step.operands[2].text), explainer.module)
        own = next((m for m in members if m.offset == 8 * offset), None)
        return None if own is None else (own, members)
