"""The run that a failing run is compared with (section 4.1): itself, patched so that it passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Op
from whence.dependence.predicate_switching import Failing, switch
from whence.errors import SubjectError
from whence.findings import Statement
from whence.probe.sites import Role

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from whence.alter.work import Work
    from whence.run.cases import Case
    from whence.subject.subject import Subject

NEVER = 1 << 62  # a clock that no run comes to


class ReferenceFails(SubjectError):
    """The run that a failing one was to be compared with fails, too."""


class Kind(StrEnum):
    """Where a reference run comes from, as results name it."""

    SWITCH = "switch"  # the failing run, a branch instance of it sent the other way
    PAIR = "pair"  # the same, a value at one instance another one
    RULE = "rule"  # the same, one site changed at all its instances
    EDIT = "edit"  # the program with its source edited, given the same input
    VERSION = "version"  # a good version of the program, given the same input
    CASE = "case"  # a passing case


@dataclass(slots=True, frozen=True)
class Reference:
    """A reference run: the failing run with ``changes`` (CHANGE), that of a ``version``, or of a ``case``.

    A program that was edited is a version, too, ``made_in`` a folder that is there as long as the reference.
    ``text`` follows "compared with".
    """

    kind: Kind
    text: str
    changes: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, CHANGE))
    statement: Statement | None = None
    version: Subject | None = None
    case: Case | None = None
    made_in: TemporaryDirectory[str] | None = None


def critical(work: Work, failing: Failing, most: int, is_one_enough: bool = False) -> tuple[list[Reference], int]:
    """The failing run patched by its critical predicates, and how many were switched.

    In order of time, the first one among them (section 4.1); of more than ``most`` some that lie evenly between it and
    the last one. Empty where none of those that there was time for makes the run pass. ``is_one_enough``: no more are
    switched once one was found.
    """
    for found in switch(work, [failing], first=is_one_enough):
        rows = found.rows[found.critical]
        rows = rows[np.lexsort((rows["side"], rows["event"]))]
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64))
        return [_switched(failing, rows[place : place + 1]) for place in chosen.tolist()], found.tried
    return [], 0


def _switched(failing: Failing, row: NDArray[np.void]) -> Reference:
    """The failing run with a branch instance sent the other way."""
    predicates = failing.predicates
    statement = predicates.statement(row[0])
    where = f" on line {statement.line}" if statement else ""
    sides = predicates.branches[int(row["branch"][0])].sides
    text = f"itself, `{predicates.text(row[0])}`{where} sent to {sides[int(row['side'][0])].text}"
    return Reference(Kind.SWITCH, text, predicates.changes(row), statement)


def unchanged(sites: NDArray[np.void]) -> NDArray[np.void]:
    """A change that is never made: with it a run is recorded as the patched one is."""
    made, site = np.zeros(1, CHANGE), int(np.argmax(sites["role"] != Role.CALL))  # a call has nothing that can be set
    made["clock"], made["site"], made["op"] = NEVER, site, Op.SET
    made["block"], made["width"], made["form"] = (sites[name][site] for name in ("block", "width", "form"))
    return made
