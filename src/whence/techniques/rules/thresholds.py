"""Other constants to compare with, from the values that were compared: between two of these it makes no difference.

A wrong limit seldom has the right one near it in the source, but runs whose verdict depends on it come to values on
both sides of the right one. The values that were next to the limit stand for all the limits between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.profile import Profile
from whence.probe.sites import Form, Role
from whence.techniques.rules.operands import Number, Operands, constant, from_bits

if TYPE_CHECKING:
    from whence.program.model import Instruction
    from whence.program.program import FunctionRef
    from whence.subject.subject import Subject

AWAY = (1, 2, 3, 5, 8, 13)  # the first, second ... value on each side of a constant that are tried in its place
ROLES = (Role.LOAD, Role.RESULT, Role.BINARY)  # of sites whose values are compared
MAGNITUDE = "@llvm.fabs."


class Compared:
    """The values that comparisons had, in the runs of a profile."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self._sites, self._profile = subject.alter_plan.sites, profile

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
