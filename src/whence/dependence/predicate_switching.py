"""Predicate switching: which branch instance, sent the other way, makes a failing run pass.

Every branch instance of a failing run is switched, one in each altered run. One whose switch makes the run pass is
*critical*: either the faulty statement is not executed then, or the flow is back where it would have been without the
fault. (Zhang, Gupta and Gupta, "Locating faults through automated predicate switching", 2006; Sumner and Zhang,
"Automatic failure inducing chain computation through aligned execution comparison", section 4.1, which takes the run
with the first critical predicate as the run to compare with.)

The first paper has two orders: the last executed is switched first; or those that the failure depends on come first, by
the number of dependence edges, and then the others, the last executed first. The second is the order by default.

Beyond the papers, what a long run does as a passing one does it, up to where it departs from that, is switched last;
and a switch that corrects more of the output, but not all of it, is kept as weaker evidence, since a fault often spoils
several places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import NOWHERE, RESULT, Batch, Observed, Verdict
from whence.alter.streams import Request
from whence.dependence.predicates import Predicates
from whence.dependence.slices import compute
from whence.findings import Statement
from whence.run.cases import Case
from whence.subject.departure import Departure
from whence.subject.trace_reader import TraceReader

if TYPE_CHECKING:
    from whence.alter.work import Work

MOST = 1 << 20  # alternatives of one run that are tried, the first in order
FIRST_PART = 64  # alternatives that are tried before it is looked whether one makes the run pass; then twice as many
PART = 1 << 13  # alternatives that are asked for at once where all are wanted; then twice as many

Array = NDArray[np.void]


@dataclass(slots=True)
class Failing:
    """A failing run to search: its case, and its branch instances."""

    case: Case
    predicates: Predicates
    departure: Departure | None = None

    @classmethod
    def of(
        cls, reader: TraceReader, case: Case, references: Sequence[int], departure: Departure | None = None
    ) -> Failing:
        """From the recorded run; ``references`` are where its failure shows (a ``Start``'s), which may be nowhere.

        What is in common with a passing run before the ``departure`` from it is switched last.
        """
        predicates = Predicates(reader)
        if references:
            predicates.measure(compute(reader.trace, references))
        return cls(case, predicates, departure)

    def ordered(self, order: str = "dependence") -> Array:
        """The alternatives (ALTERNATIVE) in the order in which they are switched, at most ``MOST``."""
        rows = self.predicates.rows
        keys = [rows["side"], -rows["event"]]
        if order == "dependence":
            keys.append(rows["depth"])
            if self.departure is not None:
                keys.append(rows["event"] < self.departure.event)
        return np.asarray(rows[np.lexsort(keys)][:MOST])


@dataclass
class Switched:
    """What became of a failing run's alternatives: ``results`` (RESULT), parallel to ``rows`` (ALTERNATIVE).

    Those that were not tried are NOT_RUN. ``observed`` is the unaltered run, without its events.
    """

    failing: Failing
    rows: Array
    results: Array
    observed: Observed

    @cached_property
    def critical(self) -> NDArray[np.bool_]:
        """Which make the run pass."""
        return np.asarray(self.results["verdict"] == Verdict.PASS)

    @cached_property
    def corrected(self) -> NDArray[np.bool_]:
        """Which correct more of the output, but not all of it."""
        return corrected(self.results, self.observed.result)

    @property
    def tried(self) -> int:
        """How many were tried."""
        return int(np.count_nonzero(self.results["verdict"] != Verdict.NOT_RUN))

    @property
    def astray(self) -> int:
        """How many instances the altered run never came to: the run is not the same each time."""
        return int(np.count_nonzero(self.results["verdict"] == Verdict.NOT_REACHED))


@dataclass(slots=True, frozen=True)
class Patch:
    """A failing run patched: with ``changes`` (CHANGE) its case passes. ``row`` (ALTERNATIVE) is what was switched.

    ``Session.trace(patch.changes)`` records the patched run.
    """

    case: Case
    changes: Array
    row: np.void
    statement: Statement | None


def corrected(results: Array, unaltered: Array) -> NDArray[np.bool_]:
    """For each altered run (RESULT) that fails whether more of its output is right than of the unaltered run's.

    That is: its first wrong byte comes later, or all of the output is right and only the status is wrong.
    """
    later = (results["verdict"] == Verdict.WRONG_OUTPUT) & (results["first_wrong"] > unaltered["first_wrong"])
    right = (results["verdict"] == Verdict.WRONG_STATUS) & (unaltered["first_wrong"] != NOWHERE)
    return np.asarray(later | right)


# ---- The search ------------------------------------------------------------------------------------------------------


def switch(work: Work, failing: Sequence[Failing], order: str = "dependence", first: bool = False) -> list[Switched]:
    """Switch every branch instance of each run, or with ``first`` only up to the first that makes it pass."""
    observed = work.observe([run.case for run in failing], limit=0)
    found = [
        Switched(run, rows, np.zeros(len(rows), RESULT), seen)
        for run, seen in zip(failing, observed, strict=True)
        for rows in [run.ordered(order)]
        if seen.result["verdict"] != Verdict.PASS and not seen.unusable
    ]
    done, size = 0, FIRST_PART if first else PART
    while not work.stopped and (parts := [s for s in found if done < len(s.rows) and not (first and _passes(s))]):
        answers = work.run([_request(part, done, done + size) for part in parts])
        for part, answer in zip(parts, answers, strict=True):
            part.results[done : done + size] = answer.records
        done, size = done + size, 2 * size
    return found


def _passes(switched: Switched) -> bool:
    """Whether one has been found so far (``critical`` is kept from its first use on)."""
    return bool((switched.results["verdict"] == Verdict.PASS).any())


def _request(switched: Switched, start: int, stop: int) -> Request:
    run = switched.failing
    return Request(run.case, Batch.single(run.predicates.changes(switched.rows[start:stop])))


def first_patch(work: Work, failing: Failing, order: str = "dependence") -> Patch | None:
    """The patch by the first critical predicate in the order; None where there is none, or the search was stopped."""
    for found in switch(work, [failing], order, first=True):
        for index in np.flatnonzero(found.critical)[:1].tolist():
            row = found.rows[index]
            changes = failing.predicates.changes(found.rows[index : index + 1])
            return Patch(failing.case, changes, row, failing.predicates.statement(row))
    return None
