"""Correction values: what the statements of a correction set had to compute.

That is a model of what is left of the formula without them, as near to the run as there is one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from whence.formula.bitvectors import is_decidable
from whence.formula.decide import Decider, Status
from whence.formula.encoding import Instance
from whence.formula.satisfiability import Satisfiability
from whence.formula.terms import Term
from whence.techniques.formula_based.correction_sets import Groups
from whence.techniques.formula_based.trace_formula import TraceFormula

DISTANCES = (1, 10, 100, 10_000)  # from the recorded value in which another one is looked for first


@dataclass(slots=True, frozen=True)
class Change:
    """An instance that had to have another value: its event, the bits it had and those it had to have.

    ``only``: no other value would do, everything else of the statement being as found.
    """

    event: int
    was: int
    right: int
    only: bool


def correction_values(formula: TraceFormula, dropped: Groups, deadline: float = float("inf")) -> list[Change]:
    """What the instances of some groups, a correction set, had to be; as many as possible are as they were.

    Empty where the solver does not answer in time, or the set is none. ``deadline`` is of ``time.monotonic``.
    """
    return CorrectionValues(formula, dropped).changes(deadline)


class CorrectionValues:
    """What the instances of some groups of a formula had to be.

    About one statement a solver of its own is asked, which knows what is left for it to meet.
    """

    def __init__(self, formula: TraceFormula, dropped: Groups) -> None:
        self._formula, self._dropped, self._terms = formula, dropped, formula.run.encoding.terms
        members = [i for group in dropped for i in formula.members[formula.statements[group]]]
        self._members = sorted(members, key=lambda i: i.event)
        self._alone: Satisfiability | None = None
        self._left: list[Term] = []  # what is left for one statement to meet, where there is floating point in it
        if len(dropped) == 1:
            conditions, _ = formula.without(formula.statements[next(iter(dropped))])
            if is_decidable(self._terms, conditions):
                self._alone = Satisfiability(self._terms, formula.seconds)
                self._alone.add(conditions)
            else:
                self._left = conditions

    def changes(self, deadline: float) -> list[Change]:
        """What had to be another value; as many instances as possible are as they were."""
        return self._guessed() if self._left else self._solved(deadline)

    def _guessed(self) -> list[Change]:
        """One value that makes the run right, where a try finds one."""
        decider = Decider(self._terms, self._formula.run.encoding.evaluation.value)
        decider.guess(self._left)
        return [
            Change(i.event, was, right, only=False)
            for i in self._members
            if (was := self._was(i)) is not None and (right := decider.model.get(i.term, was)) != was
        ]

    def _solved(self, deadline: float) -> list[Change]:
        kept = list[Term]()
        status, model = self._model(kept)
        for instance in self._members:
            same = self._same(instance)
            if status is not Status.SATISFIABLE or same is None or time.monotonic() >= deadline:
                break
            if model[instance.event] == self._was(instance):
                kept.append(same)
                continue
            found, other = self._model([*kept, same])
            if found is Status.SATISFIABLE:
                model = other
                kept.append(same)
        if time.monotonic() < deadline:
            model = self._near(kept, model)
        return [
            Change(i.event, was, model[i.event], self._is_only(kept, i, model[i.event], deadline))
            for i in self._members
            if (was := self._was(i)) is not None and model.get(i.event, was) != was
        ]

    def _near(self, kept: list[Term], model: dict[int, int]) -> dict[int, int]:
        """A model in which the changed values are close to the recorded ones, where there is one."""
        terms = self._terms
        for instance in self._members:
            was, width = self._was(instance), terms.widths[instance.term]
            if was is None or width == 1 or model.get(instance.event, was) == was:
                continue
            for distance in DISTANCES:
                low = terms.constant(was - distance, width)
                moved = terms.apply("sub", width, instance.term, low)
                near = terms.apply("ule", 1, moved, terms.constant(2 * distance, width))
                status, found = self._model([*kept, near])
                if status is Status.SATISFIABLE:
                    model = found
                    break
        return model

    def _is_only(self, kept: Sequence[Term], instance: Instance, value: int, deadline: float) -> bool:
        if time.monotonic() >= deadline:
            return False
        width = self._terms.widths[instance.term]
        other = self._terms.negate(self._terms.equal(instance.term, self._terms.constant(value, width)))
        return self._ask([*kept, other]) is Status.UNSATISFIABLE

    def _model(self, also: Sequence[Term]) -> tuple[Status, dict[int, int]]:
        status = self._ask(also)
        if status is not Status.SATISFIABLE:
            return status, {}
        solver = self._alone or self._formula.solver
        return status, {i.event: solver.value(i.term) for i in self._members}

    def _ask(self, also: Sequence[Term]) -> Status:
        if self._alone is not None:
            return self._alone.check(also)[0]
        return self._formula.question(self._dropped, also)[0]

    def _was(self, instance: Instance) -> int | None:
        return self._formula.run.encoding.evaluation.value(instance.term)

    def _same(self, instance: Instance) -> Term | None:
        was = self._was(instance)
        if was is None:
            return None
        return self._terms.equal(instance.term, self._terms.constant(was, self._terms.widths[instance.term]))
