"""Decides conjunctions of terms: z3 on the SMT domain, with a time limit for each question.

What the terms' own simplification settles needs no solver, and is not counted as a query.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum

from whence.formula.terms import Term, Terms


class Status(Enum):
    """What became of a question."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"  # the time ran out


class Decider:
    """Answers whether conditions (terms of one bit) can hold together.

    ``queries`` counts the questions that the solver got, ``conditions`` the conditions in them, ``seconds`` its time.
    ``limit`` is the time for one question in seconds.
    """

    def __init__(self, terms: Terms, limit: float = 2.0) -> None:
        self._terms, self.limit = terms, limit
        self.queries = self.conditions = 0
        self.seconds = 0.0

    def check(self, conditions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether the conditions can hold together; if not, the positions of some that cannot (not a least set)."""
        constants = [self._terms.value(condition) for condition in conditions]
        if 0 in constants:
            return Status.UNSATISFIABLE, [constants.index(0)]
        open_ones = [position for position, value in enumerate(constants) if value is None]
        if not open_ones:
            return Status.SATISFIABLE, []
        return self._ask(conditions, open_ones)

    def minimal(self, conditions: Sequence[Term], chosen: list[int], kept: int) -> tuple[list[int], bool]:
        """A least set among ``chosen`` that cannot hold together: without any one of them the others can.

        Deletion, one by one, ``kept`` last, so that it stays where there is a choice. The second result tells whether
        all questions were answered; one that was not keeps its condition.
        """
        decided, core = True, sorted(chosen, key=lambda position: (position == kept, -position))
        for position in list(core):
            if position not in core:
                continue
            others = [p for p in core if p != position]
            status, smaller = self.check([conditions[p] for p in others])
            decided = decided and status is not Status.UNKNOWN
            if status is Status.UNSATISFIABLE:
                core = [others[index] for index in sorted(smaller)]
        return sorted(core), decided

    def _ask(self, conditions: Sequence[Term], open_ones: list[int]) -> tuple[Status, list[int]]:
        import z3

        from whence.formula.smt import Smt

        began = time.perf_counter()
        domain = Smt(self._terms)
        solver = z3.SolverFor("QF_BVFP", ctx=domain.context)
        solver.set("timeout", max(1, int(self.limit * 1000)))
        names = [z3.Bool(f"c{position}", domain.context) for position in open_ones]
        for name, position in zip(names, open_ones, strict=True):
            solver.add(z3.Implies(name, domain.of(conditions[position])))
        answer = solver.check(*names)
        self.queries += 1
        self.conditions += len(open_ones)
        self.seconds += time.perf_counter() - began
        if answer == z3.sat:
            return Status.SATISFIABLE, []
        if answer == z3.unknown:
            return Status.UNKNOWN, []
        core = {str(name) for name in solver.unsat_core()}
        return Status.UNSATISFIABLE, [p for p, name in zip(open_ones, names, strict=True) if str(name) in core]
