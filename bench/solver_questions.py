"""The questions that cause trees ask a solver, recorded, and solvers that answer them one by one, for `bench.solvers`.

A question is conditions that are to hold together; where they cannot, the solver has to say which. *Fresh* solvers are
made for each question over terms translated once, as `Decider` does; those that *stay* get all conditions of a question
as assumptions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from unittest.mock import patch

import cvc5  # type: ignore[import-not-found,import-untyped,unused-ignore]
import z3

from bench.cvc5_terms import Cvc5
from bench.incremental import Incremental
from whence.findings import Symptom
from whence.formula import bitvectors
from whence.formula.decide import Decider, Status
from whence.formula.satisfiability import Satisfiability
from whence.formula.smt import Smt
from whence.formula.terms import Term, Terms
from whence.subject.recorder import Recording
from whence.subject.trace_reader import TraceReader
from whence.techniques.cause_tree.findings import Options, build

Question = tuple[Term, ...]


@dataclass(slots=True, frozen=True)
class Recorded:
    """The questions of one tree, without and with floating point."""

    terms: Terms
    whole: list[Question]
    floating: list[Question]


def recorded(reader: TraceReader, symptom: Symptom, recording: Recording, budget: float) -> Recorded:
    """The questions that a solver gets while the tree of a failing run is made, each once.

    Raises SubjectError where the symptom has no place in the trace.
    """
    asked: dict[Question, None] = {}
    original = Decider._ask

    def ask(decider: Decider, conditions: list[Term]) -> tuple[Status, list[int]]:
        before = decider.queries
        answer = original(decider, conditions)
        if decider.queries > before:  # too much floating point is not asked about
            asked[tuple(conditions)] = None
        return answer

    with patch.object(Decider, "_ask", ask):
        terms = build(reader, symptom, recording, Options(budget=budget)).path.terms
    operations = bitvectors.OPERATIONS
    floats = {q for q in asked if any(terms.operations[term] not in operations for term in terms.cone(q))}
    return Recorded(terms, [q for q in asked if q not in floats], [q for q in asked if q in floats])


class Solver(Protocol):
    """What answers questions over some terms, each in ``seconds`` at most."""

    def __init__(self, terms: Terms, seconds: float) -> None: ...

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold together; if not, the positions of some that cannot."""


class FreshBitwuzla:
    """bitwuzla, as `Decider` uses it."""

    def __init__(self, terms: Terms, seconds: float) -> None:
        self._vectors, self._seconds = bitvectors.BitVectors(terms), seconds

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold together; if not, the positions of some that cannot."""
        answer, core = self._vectors.check(self._vectors.holds(assumptions), self._seconds)
        return {True: Status.SATISFIABLE, False: Status.UNSATISFIABLE, None: Status.UNKNOWN}[answer], core


class FreshZ3:
    """z3's solver of bit-vectors and floats."""

    def __init__(self, terms: Terms, seconds: float, logic: str) -> None:
        self._domain, self._seconds, self._logic = Smt(terms), seconds, logic

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold together; if not, the positions of some that cannot."""
        solver = z3.SolverFor(self._logic)
        solver.set("timeout", max(1, int(self._seconds * 1000)))
        names = [z3.Bool(f"condition {number}") for number in range(len(assumptions))]
        for name, condition in zip(names, self._domain.bools(assumptions), strict=True):
            solver.add(z3.Implies(name, condition))
        answer = solver.check(*names)
        if answer != z3.unsat:
            return (Status.SATISFIABLE if answer == z3.sat else Status.UNKNOWN), []
        core = {str(name) for name in solver.unsat_core()}
        return Status.UNSATISFIABLE, [k for k, name in enumerate(names) if str(name) in core]


class FreshCvc5:
    """cvc5 on bit-vectors and floats."""

    def __init__(self, terms: Terms, seconds: float, logic: str) -> None:
        self._domain, self._seconds, self._logic = Cvc5(terms), seconds, logic

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether conditions can hold together; if not, the positions of some that cannot."""
        solver = cvc5.Solver(self._domain.manager)
        solver.setLogic(self._logic)
        solver.setOption("produce-unsat-assumptions", "true")
        solver.setOption("tlimit-per", str(max(1, int(self._seconds * 1000))))
        expressions = [self._domain.of(condition) for condition in assumptions]
        for definition in self._domain.needed(assumptions):
            solver.assertFormula(definition)
        answer = solver.checkSatAssuming(*expressions)
        if not answer.isUnsat():
            return (Status.SATISFIABLE if answer.isSat() else Status.UNKNOWN), []
        core = set(solver.getUnsatAssumptions())
        return Status.UNSATISFIABLE, [k for k, expression in enumerate(expressions) if expression in core]


SOLVERS: dict[str, Callable[[Terms, float], Solver]] = {
    "bitwuzla, fresh": FreshBitwuzla,
    "z3, fresh": partial(FreshZ3, logic="QF_BV"),
    "cvc5, fresh": partial(FreshCvc5, logic="QF_BV"),
    "bitwuzla that stays": Incremental,
    "minisat22 that stays": partial(Satisfiability, solver="minisat22"),
}
FLOATING: dict[str, Callable[[Terms, float], Solver]] = {
    "z3, fresh": partial(FreshZ3, logic="QF_BVFP"),
    "cvc5, fresh": partial(FreshCvc5, logic="QF_BVFP"),
}


@dataclass(slots=True, frozen=True)
class Reply:
    """What a solver said, and the processor's seconds for it, translation of new terms included."""

    status: Status
    seconds: float


def replies(
    make: Callable[[Terms, float], Solver], terms: Terms, questions: list[Question], limit: float
) -> list[Reply]:
    """A solver's answers to questions of one tree; what a library does once in a process is not counted."""
    trivial = Terms()
    make(trivial, limit).check([trivial.symbol(1)])
    solver, found = make(terms, limit), []
    for question in questions:
        began = time.process_time()
        status, _ = solver.check(question)
        found.append(Reply(status, time.process_time() - began))
    return found
