"""A SAT solver that keeps what it was told, and is asked again and again under other assumptions.

Terms are bit-blasted as they come. For the correction sets of a formula it takes half of the time of solvers of
bit-vectors (docs/solvers.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from whence.formula.clauses import Clauses
from whence.formula.decide import Status
from whence.formula.evaluation import Evaluation
from whence.formula.solvers import load
from whence.formula.terms import Term, Terms

Solver = load("pysat.solvers").Solver
CONFLICTS = 2000  # after which the clock is looked at: tens of milliseconds at most


class Satisfiability:
    """Conditions (terms of one bit, without floating point) that hold always; ``seconds`` limits each question.

    ``solver`` is the name of one of python-sat's that can be asked under assumptions and with a budget of conflicts.
    Raises Unmodelled (``clauses``) for floating point.
    """

    def __init__(self, terms: Terms, seconds: float, solver: str = "minisat22") -> None:
        self._terms, self._seconds = terms, seconds
        self._clauses, self._added = Clauses(terms), 0
        self._solver = Solver(name=solver)
        self._model: list[int] | None = None  # signed variables, from the first on; fetched when it is asked for
        self.questions = 0

    def add(self, conditions: Iterable[Term]) -> None:
        """Let conditions hold from now on."""
        for condition in conditions:
            self._clauses.require(condition)

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold besides; if not, the positions of some that cannot."""
        self.questions += 1
        end, self._model = time.monotonic() + self._seconds, None
        literals = [self._clauses.literal(assumption) for assumption in assumptions]
        self._add_clauses()
        answer = self._ask(literals, end)
        if answer is None:
            return Status.UNKNOWN, []
        if answer:
            return Status.SATISFIABLE, []
        core = set(self._solver.get_core() or ())
        return Status.UNSATISFIABLE, [k for k, literal in enumerate(literals) if literal in core]

    def value(self, term: Term) -> int:
        """The unsigned number that a term is in the model of the last answer, which was satisfiable."""
        if self._terms.operations[term] == "symbol":
            return self._number(term)
        evaluation = Evaluation(self._terms)
        for symbol in self._terms.symbols([term]):
            evaluation.set(symbol, self._number(symbol))
        found = evaluation.value(term)
        assert found is not None, "all symbols have values"
        return found

    def _number(self, symbol: Term) -> int:
        """A symbol's value in the model; 0 where the solver has not heard of it."""
        if self._model is None:
            self._model = self._solver.get_model()
        known = len(self._model)
        return sum((bit <= known and self._model[bit - 1] > 0) << k for k, bit in enumerate(self._clauses.bits(symbol)))

    def _add_clauses(self) -> None:
        """Give the solver the clauses that are new."""
        clauses = self._clauses.clauses
        self._solver.append_formula(clauses[self._added :], no_return=True)
        self._added = len(clauses)

    def _ask(self, literals: Sequence[int], end: float) -> bool | None:
        """The solver's answer, by as many conflicts as there is time for."""
        while True:
            self._solver.conf_budget(CONFLICTS)
            answer: bool | None = self._solver.solve_limited(literals)
            if answer is not None or time.monotonic() >= end:
                return answer
