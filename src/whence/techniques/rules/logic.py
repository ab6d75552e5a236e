"""The operators ``&&`` and ``||`` in the control flow of functions, and how a run can exchange one for the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from whence.probe.sites import Role, constant_bits
from whence.program.model import Block, Instruction
from whence.program.program import FunctionRef

if TYPE_CHECKING:
    from whence.subject.subject import Subject

_RIGHT = re.compile(r"(land|lor)\.(?:lhs\.true|lhs\.false|rhs)\d*")  # clang's names of right operands' blocks
_OPERATORS = {"land": "&&", "lor": "||"}


class Exchange(NamedTuple):
    """A branch on the left operand of ``operator``, whose right operand is the value of the site ``right``.

    Where the left operand is ``forced`` the right one is computed; where that is ``decides`` the outcome is the same as
    where the left operand is not ``forced``.
    """

    operator: str
    forced: int
    right: int
    decides: int


class Logic:
    """Finds operators whose two operands are one condition each."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._blocks: dict[int, dict[str, Block]] = {}
        self._entries: dict[int, dict[str, list[Block]]] = {}

    def operator(self, site: int) -> str:
        """``&&`` or ``||`` of a branch on a left operand; empty: it is none, or cannot be exchanged."""
        found = self.exchange(site)
        return found.operator if found else ""

    def exchange(self, site: int) -> Exchange | None:
        """How the operator at a branch is exchanged; None where the site is no such branch."""
        row = self._subject.alter_plan.sites[site]
        if row["role"] != Role.BRANCH:
            return None
        ref = self._subject.program.functions[int(row["function"])]
        own = ref.function.blocks[int(row["block"]) - ref.first_block]
        if_true, if_false = own.instructions[-1].labels
        for forced, label, skip in ((1, if_true, if_false), (0, if_false, if_true)):
            match = _RIGHT.fullmatch(label)
            if match and len(self._entries_of(ref)[label]) == 1 and self._is_plain(ref, own, skip, match[1]):
                decided = self._decided(ref, own, self._named(ref)[label], skip)
                return decided and Exchange(_OPERATORS[match[1]], forced, *decided)
        return None

    def _decided(self, ref: FunctionRef, own: Block, right: Block, skip: str) -> tuple[int, int] | None:
        """The site of the right operand, and the value with which it leads to where the left one alone may lead."""
        end = right.instructions[-1]
        if end.opcode != "br":
            return None
        if len(end.labels) == 2:
            site = self.site(ref, end, Role.BRANCH) if skip in end.labels else None
            return None if site is None else (site, int(end.labels[0] == skip))
        phi = self._named(ref)[skip].instructions[0]
        if end.labels[0] != skip or phi.opcode != "phi" or phi.type != "i1":
            return None
        values = dict(zip(phi.labels, phi.operands, strict=True))
        decides, register = constant_bits(values[own.label]), values[right.label].text
        maker = next((one for one in right.instructions if one.result == register), None)
        if decides is None or maker is None:
            return None
        site = self.site(ref, maker, Role.COMPARE, Role.BINARY)
        return None if site is None else (site, decides)

    def site(self, ref: FunctionRef, instruction: Instruction, *roles: Role) -> int | None:
        """The site of an instruction with one of these roles."""
        sites, number = self._subject.alter_plan.sites, ref.first_instruction + instruction.index
        at = int(np.searchsorted(sites["instruction"], number))
        fits = at < len(sites) and sites["instruction"][at] == number and sites["role"][at] in roles
        return at if fits else None

    def _named(self, ref: FunctionRef) -> dict[str, Block]:
        """The blocks of a function by label."""
        if ref.id not in self._blocks:
            self._blocks[ref.id] = {block.label: block for block in ref.function.blocks}
        return self._blocks[ref.id]

    def _is_plain(self, ref: FunctionRef, own: Block, skip: str, kind: str) -> bool:
        """Whether the left operand is no negated one of two conditions, as in ``!(a || b) && c``."""
        match = _RIGHT.fullmatch(own.label)
        before = self._entries_of(ref)[own.label]
        return match is None or match[1] == kind or all(skip not in one.instructions[-1].labels for one in before)

    def _entries_of(self, ref: FunctionRef) -> dict[str, list[Block]]:
        """The blocks that jump to a block, by its label."""
        if ref.id not in self._entries:
            entries = self._entries[ref.id] = {label: [] for label in self._named(ref)}
            for block in ref.function.blocks:
                for label in block.instructions[-1].labels:
                    entries[label].append(block)
        return self._entries[ref.id]
