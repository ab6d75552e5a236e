"""A bitwuzla solver that keeps what it was told, and is asked again and again under other assumptions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from whence.formula.bitvectors import BitVectors
from whence.formula.decide import Status
from whence.formula.solvers import load
from whence.formula.terms import Term, Terms

bitwuzla = load("bitwuzla")
Option = bitwuzla.Option


class Incremental:
    """Conditions (terms of one bit, without floating point) that hold always; ``seconds`` limits each question."""

    def __init__(self, terms: Terms, seconds: float) -> None:
        self._vectors = BitVectors(terms)
        options = bitwuzla.Options()
        options.set(Option.PRODUCE_MODELS, True)
        options.set(Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        options.set(Option.TIME_LIMIT_PER, max(1, int(seconds * 1000)))
        self._solver = bitwuzla.Bitwuzla(self._vectors.manager, options)
        self._seconds, self._end = seconds, float("inf")
        self._solver.configure_terminator(lambda: time.monotonic() >= self._end)  # the option spares preprocessing
        self.questions = 0

    def add(self, conditions: Iterable[Term]) -> None:
        """Let conditions hold from now on."""
        for expression in self._vectors.holds(conditions):
            self._solver.assert_formula(expression)

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold besides; if not, the positions of some that cannot."""
        self.questions += 1
        expressions = self._vectors.holds(assumptions)
        self._end = time.monotonic() + self._seconds
        answer = self._solver.check_sat(*expressions)
        if answer == bitwuzla.Result.SAT:
            return Status.SATISFIABLE, []
        if answer != bitwuzla.Result.UNSAT:
            return Status.UNKNOWN, []
        core = [k for k, expression in enumerate(expressions) if self._solver.is_unsat_assumption(expression)]
        return Status.UNSATISFIABLE, core

    def value(self, term: Term) -> int:
        """The unsigned number that a term is in the model of the last answer, which was satisfiable."""
        return int(self._solver.get_value(self._vectors.of(term)).value(2), 2)
