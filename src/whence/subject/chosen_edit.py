"""How a run says which of the edits in its program it has."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from whence.run.cases import Case

CHOSEN = "WHENCE_EDIT"  # as probe/edits/choose.c has it


def choosing(case: Case, number: int, busy: float = 0.0) -> Case:
    """The case, for a program that chooses one of the edits in it; it may be ``busy`` for so many seconds (0: any)."""
    return replace(case, environment={**case.environment, CHOSEN: f"{number}:{ceil(busy * 1000)}"})
