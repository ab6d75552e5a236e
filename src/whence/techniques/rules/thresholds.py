"""Other constants to compare with, from the values that were compared: between two of these it makes no difference.

A wrong limit seldom has the right one near it in the source, but runs whose verdict depends on it come to values on
both sides of the right one. The values that were next to the limit stand for all the limits between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.changes import Op
from whence.alter.profile import Profile
from whence.probe.sites import Form, Operation, Role
from whence.techniques.rules.operands import Number, Operands, constant, from_bits

if TYPE_CHECKING:
    from whence.program.model import Instruction
    from whence.program.program import FunctionRef
    from whence.subject.subject import Subject

AWAY = (1, 2, 3, 5, 8, 13)  # the first, second ... value on each side of a constant that are tried in its place
ROLES = (Role.LOAD, Role.RESULT, Role.BINARY)  # of sites whose values are compared
MAGNITUDE = "@llvm.fabs."
_SIGNED = {Operation.SLT: "<", Operation.SLE: "<=", Operation.SGT: ">", Operation.SGE: ">="}
_UNSIGNED = {Operation.ULT: "<", Operation.ULE: "<=", Operation.UGT: ">", Operation.UGE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Compared:
    """The values that comparisons had, in the runs of a profile."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self._program, self._sites, self._profile = subject.program, subject.alter_plan.sites, profile

    def with_constant(self, ref: FunctionRef, operands: Operands, instruction: Instruction) -> list[Number]:
        """What a comparison's operand was, in ascending order; nothing where none or both of the two are constants."""
        others = [operand for operand in instruction.operands if constant(operand) is None]
        if len(others) != 1:
            return []
        maker = operands.maker(others[0])
        is_magnitude = maker is not None and (maker.callee or "").startswith(MAGNITUDE)
        if maker is not None and is_magnitude:  # it is no site: the compiler makes an instruction of it
            maker = operands.maker(maker.operands[0])
        site = None if maker is None else self._site(ref.first_instruction + maker.index)
        if site is None or self._sites["form"][site] == Form.POINTER:
            return []
        width, form = int(self._sites["width"][site]), Form(int(self._sites["form"][site]))
        bits: list[int] = self._profile.values(site).tolist()
        if operands.is_zero_extended(others[0]):
            return sorted(bits)
        values = [from_bits(one, width, form) for one in bits]
        return sorted({abs(value) for value in values}) if is_magnitude else values

    def alike(self, site: int, op: Op, operation: int, value: int) -> list[int]:
        """The least and the greatest integer that can stand in a constant's place with the effect of ``value``'s bits.

        ``op`` says which operand of the comparison at a site becomes that, ``operation`` is what it computes. As far as
        the runs tell: none of them compares a number between. Empty: they tell it, or it has no such end.
        """
        row = self._sites[site]
        if row["role"] != Role.COMPARE or row["form"] != Form.INTEGER or op not in (Op.LEFT_SET, Op.RIGHT_SET):
            return []
        sign, width = {**_SIGNED, **_UNSIGNED}.get(Operation(operation)), int(row["width"])
        if sign is None:
            return []
        ref = self._program.functions[int(row["function"])]
        instruction = self._program.instruction(int(row["instruction"]))
        compared = [int(one) for one in self.with_constant(ref, Operands(ref.function), instruction)]
        number = int(from_bits(value, width, Form.INTEGER))
        if operation in _UNSIGNED:
            number, compared = value, [one & (1 << width) - 1 for one in compared]
        return _alike(number, sign if op is Op.RIGHT_SET else _MIRRORED[sign], compared)

    def _site(self, number: int) -> int | None:
        """The site of what the instruction of a number makes."""
        first, last = np.searchsorted(self._sites["instruction"], [number, number + 1]).tolist()
        return next((at for at in range(first, last) if self._sites["role"][at] in ROLES), None)


def thresholds(number: Number, compared: Sequence[Number]) -> list[Number]:
    """The values, of those that were compared with a number, that may stand in its place: the nearest ones first.

    Farther away fewer are taken.
    """
    below = [value for value in reversed(compared) if value < number]
    above = [value for value in compared if value > number]
    chosen = [side[away - 1] for side in (below, above) for away in AWAY if away <= len(side)]
    return sorted(chosen, key=lambda value: abs(value - number))


def _alike(number: int, sign: str, compared: Sequence[int]) -> list[int]:
    """The least and the greatest number for which ``value < number``, or another sign, is the same for all values."""
    includes = sign in ("<", ">=")  # a value that is the number itself stands with the greater ones
    below = [value for value in compared if value < number or (value == number and not includes)]
    above = [value for value in compared if value > number or (value == number and includes)]
    if not below or not above:
        return []
    least, greatest = (max(below) + 1, min(above)) if includes else (max(below), min(above) - 1)
    return [least, greatest] if least < greatest else []
