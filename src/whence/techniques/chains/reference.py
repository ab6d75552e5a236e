"""The run that a failing run is compared with (section 4.1): itself, patched so that it passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Op
from whence.dependence.predicate_switching import Failing, switch
from whence.findings import Statement

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.run.cases import Case
    from whence.subject.subject import Subject

NEVER = 1 << 62  # a clock that no run comes to


class Kind(StrEnum):
    """Where a reference run comes from, as results name it."""

    SWITCH = "switch"  # the failing run, a branch instance of it sent the other way
    PAIR = "pair"  # the same, a value at one instance another one
    RULE = "rule"  # the same, one site changed at all its instances
    VERSION = "version"  # a good version of the program, given the same input
    CASE = "case"  # a passing case


@dataclass(slots=True, frozen=True)
class Reference:
    """A reference run: the failing run with ``changes`` (CHANGE), that of a ``version``, or of a ``case``.

    ``text`` follows "compared with".
    """

    kind: Kind
    text: str
    changes: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, CHANGE))
    statement: Statement | None = None
    version: Subject | None = None
    case: Case | None = None


def first_critical(work: Work, failing: Failing) -> tuple[Reference | None, int]:
    """The failing run patched by its first critical predicate, in order of time; and how many were switched.

    None where none of those that there was time for makes the run pass.
    """
    for found in switch(work, [failing]):
        rows = found.rows[found.critical]
        if not len(rows):
            return None, found.tried
        first = rows[np.lexsort((rows["side"], rows["event"]))][:1]
        predicates = failing.predicates
        statement = predicates.statement(first[0])
        where = f" on line {statement.line}" if statement else ""
        sides = predicates.branches[int(first["branch"][0])].sides
        text = f"itself, `{predicates.text(first[0])}`{where} sent to {sides[int(first['side'][0])].text}"
        return Reference(Kind.SWITCH, text, predicates.changes(first), statement), found.tried
    return None, 0


def unchanged(sites: NDArray[np.void]) -> NDArray[np.void]:
    """A change that is never made: with it a run is recorded as the patched one is."""
    made = np.zeros(1, CHANGE)
    made["clock"], made["op"] = NEVER, Op.SET
    made["block"], made["width"], made["form"] = (sites[name][0] for name in ("block", "width", "form"))
    return made
