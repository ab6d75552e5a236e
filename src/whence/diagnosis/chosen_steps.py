"""The steps that ``locate`` is made of, and which of them are taken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

COMPARING_STEPS = ("slice", "memory", "warnings", "races", "invariants", "weights")
ALTERING_STEPS = ("causes", "rules", "operators", "switch", "values", "formula", "edits", "confirmation", "chain")
# Steps that can be left out; warnings: of the compiler, operators: rules that change one, edits: changes of the source,
# weights: the learned ranking for the fixed order.
STEPS = (*COMPARING_STEPS, *ALTERING_STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSteps:
    """How ``locate`` is done.

    ``formula``: of suspiciousness. ``alter``: failing runs are altered, in the time that is left. ``generate``: inputs
    close to the failing one are made where no case passes. ``without``: steps that are left out, of STEPS.
    ``knowledge``: files of fixes that were made; None: what is shipped, and what lies in the subject's folder.
    """

    formula: str = "op2"
    alter: bool = True
    generate: bool = True
    without: tuple[str, ...] = ()
    knowledge: tuple[Path, ...] | None = None

    def has(self, *steps: str) -> bool:
        """Whether one of these steps is taken."""
        return any(step not in self.without and (self.alter or step in COMPARING_STEPS) for step in steps)
