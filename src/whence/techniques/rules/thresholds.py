"""Other constants to compare with, from the values that were compared: between two of these it makes no difference.

A wrong limit seldom has the right one near it in the source, but runs whose verdict depends on it come to values on
both sides of the right one. The values that were next to the limit stand for all the limits between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
NOTHING = np.zeros(0, np.int64)
_SIGNED = {Operation.SLT: "<", Operation.SLE: "<=", Operation.SGT: ">", Operation.SGE: ">="}
_UNSIGNED = {Operation.ULT: "<", Operation.ULE: "<=", Operation.UGT: ">", Operation.UGE: ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Compared:
    """The values that comparisons had, in the runs of a profile."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self._program, self._sites, self._profile = subject.program, subject.alter_plan.sites, profile

    def with_constant(self, ref: FunctionRef, operands: Operands, instruction: Instruction) -> NDArray[Any]:
        """What a comparison's operand was, in ascending order (int64 or float64); a long loop gives a million values.

        Nothing where none or both of the operands are constants.
        """
        others = [operand for operand in instruction.operands if constant(operand) is None]
        maker = operands.maker(others[0]) if len(others) == 1 else None
        is_magnitude = maker is not None and (maker.callee or "").startswith(MAGNITUDE)
        if maker is not None and is_magnitude:  # it is no site: the compiler makes an instruction of it
            maker = operands.maker(maker.operands[0])
        site = None if maker is None else self._site(ref.first_instruction + maker.index)
        if site is None or self._sites["form"][site] == Form.POINTER:
            return NOTHING
        bits, width = self._profile.values(site), int(self._sites["width"][site])
        if self._sites["form"][site] == Form.FLOAT:
            values = bits.astype(f"<u{width // 8}").view(f"<f{width // 8}").astype(np.float64)
            return np.unique(np.abs(values)) if is_magnitude else values
        if operands.is_zero_extended(others[0]):
            return np.sort(bits.view(np.int64))
        return np.asarray((bits << np.uint64(64 - width)).view(np.int64) >> (64 - width))

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
        number, compared = (
            from_bits(value, width, Form.INTEGER),
            self.with_constant(ref, Operands(ref.function), instruction),
        )
        if operation in _UNSIGNED:
            number, compared = value, np.sort(compared.view(np.uint64) & np.uint64((1 << width) - 1))
        return _alike(number, sign if op is Op.RIGHT_SET else _MIRRORED[sign], compared)

    def _site(self, number: int) -> int | None:
        """The site of what the instruction of a number makes."""
        first, last = np.searchsorted(self._sites["instruction"], [number, number + 1]).tolist()
        return next((at for at in range(first, last) if self._sites["role"][at] in ROLES), None)


def thresholds(number: Number, compared: NDArray[Any]) -> list[Number]:
    """The values, of those that were compared with a number (ascending), that may stand in its place, nearest first.

    Farther away fewer are taken.
    """
    first, behind = (int(np.searchsorted(compared, number, side)) for side in ("left", "right"))
    places = [*(first - away for away in AWAY), *(behind + away - 1 for away in AWAY)]
    chosen = [compared[place].item() for place in places if 0 <= place < len(compared)]
    return sorted(chosen, key=lambda value: abs(value - number))


def _alike(number: Number, sign: str, compared: NDArray[Any]) -> list[int]:
    """The least and the greatest number for which ``value < number``, or another sign, is the same for all values.

    Empty: there is no other one, or no end.
    """
    includes = sign in ("<", ">=")  # a value that is the number itself stands with the greater ones
    above = int(np.searchsorted(compared, compared.dtype.type(number), "left" if includes else "right"))
    if not 0 < above < len(compared):
        return []
    below, over = int(compared[above - 1]), int(compared[above])
    least, greatest = (below + 1, over) if includes else (below, over - 1)
    return [least, greatest] if least < greatest else []
