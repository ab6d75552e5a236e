"""Ways to find all minimal correction sets of a formula up to a size, for `bench.solvers`.

Two families: implicit hitting sets (``correction_sets``) over a solver that is asked which groups can be dropped, and
algorithms that a library brings along, on clauses or on z3's terms. In all of them a group's equations are implied by
its selector.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import cvc5  # type: ignore[import-not-found,import-untyped,unused-ignore]
import z3
from pysat.card import CardEnc
from pysat.examples.lbx import LBX
from pysat.examples.mcsls import MCSls
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from bench.cvc5_terms import Cvc5
from bench.incremental import Incremental
from whence.formula.clauses import Clauses
from whence.formula.decide import Status
from whence.formula.satisfiability import Satisfiability
from whence.formula.smt import Smt
from whence.formula.terms import Term, Terms
from whence.techniques.formula_based.correction_sets import Groups, correction_sets

NO_LIMIT = 3600.0  # seconds for one question: the process that works is ended from outside
SAT = ("cadical153", "glucose4", "minisat22")


@dataclass(slots=True, frozen=True)
class Problem:
    """A formula: conditions that hold always, and the equations of each group with its selector, a symbol."""

    terms: Terms
    hard: list[Term]
    selectors: list[Term]
    equations: list[list[Term]]

    def implied(self) -> Iterator[Term]:
        """Each equation where its group's selector holds, as a condition."""
        for selector, equations in zip(self.selectors, self.equations, strict=True):
            without = self.terms.negate(selector)
            yield from (self.terms.apply("or", 1, without, equation) for equation in equations)


@dataclass(slots=True, frozen=True)
class Answer:
    """All minimal sets; the processor's seconds to build the solver and to the last set, and the questions asked."""

    sets: frozenset[Groups]
    build: float
    seconds: float
    questions: int


Way = Callable[[Problem, int], Answer]


def warmed(way: Way, problem: Problem, size: int) -> Answer:
    """A way's answer without what a library does once in a process: it meets a formula of one equation before."""
    terms = Terms()
    selector, number = terms.symbol(1), terms.symbol(8)
    three, four = (terms.equal(number, terms.constant(value, 8)) for value in (3, 4))
    way(Problem(terms, [three], [selector], [[four]]), 1)
    return way(problem, size)


# ---- Implicit hitting sets -------------------------------------------------------------------------------------------


class Asked(Protocol):
    """A solver that keeps its conditions: whence's own interface."""

    questions: int

    def add(self, conditions: Iterator[Term] | Sequence[Term]) -> None:
        """Let conditions hold from now on."""

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether assumptions can hold besides; if not, the positions of some that cannot."""


class Z3:
    """z3's incremental solver of bit-vectors."""

    def __init__(self, terms: Terms) -> None:
        self._domain, self.questions = Smt(terms), 0
        self._solver = z3.SolverFor("QF_BV")

    def add(self, conditions: Iterator[Term] | Sequence[Term]) -> None:
        """Let conditions hold from now on."""
        self._solver.add(*self._domain.bools(conditions))

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether assumptions can hold besides; if not, the positions of some that cannot."""
        self.questions += 1
        expressions = self._domain.bools(assumptions)
        if self._solver.check(*expressions) == z3.sat:
            return Status.SATISFIABLE, []
        core = {expression.get_id() for expression in self._solver.unsat_core()}
        return Status.UNSATISFIABLE, [k for k, expression in enumerate(expressions) if expression.get_id() in core]


class Cvc5Incremental:
    """cvc5 with assumptions."""

    def __init__(self, terms: Terms) -> None:
        self._domain, self.questions = Cvc5(terms), 0
        self._solver = cvc5.Solver(self._domain.manager)
        self._solver.setLogic("QF_BV")
        self._solver.setOption("incremental", "true")
        self._solver.setOption("produce-unsat-assumptions", "true")

    def add(self, conditions: Iterator[Term] | Sequence[Term]) -> None:
        """Let conditions hold from now on."""
        for condition in conditions:
            self._solver.assertFormula(self._domain.of(condition))

    def check(self, assumptions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether assumptions can hold besides; if not, the positions of some that cannot."""
        self.questions += 1
        expressions = [self._domain.of(assumption) for assumption in assumptions]
        if self._solver.checkSatAssuming(*expressions).isSat():
            return Status.SATISFIABLE, []
        core = set(self._solver.getUnsatAssumptions())
        return Status.UNSATISFIABLE, [k for k, expression in enumerate(expressions) if expression in core]


def hitting(solver: Callable[[Terms], Asked], problem: Problem, size: int) -> Answer:
    """Implicit hitting sets over an incremental solver."""
    began = time.process_time()
    asked = solver(problem.terms)
    asked.add(problem.hard)
    asked.add(problem.implied())
    built = time.process_time()

    def question(dropped: Groups) -> tuple[Status, Groups]:
        kept = [group for group in range(len(problem.selectors)) if group not in dropped]
        status, core = asked.check([problem.selectors[group] for group in kept])
        return status, frozenset(kept[index] for index in core)

    found = correction_sets(question, [1.0] * len(problem.selectors), size)
    if found.undecided:
        raise RuntimeError(f"{len(found.undecided)} sets undecided without a limit")
    sets = frozenset([frozenset[int]()]) if found.possible else frozenset(found.sets)
    return Answer(sets, built - began, time.process_time() - began, asked.questions)


# ---- Libraries' own algorithms ---------------------------------------------------------------------------------------


def weighted(problem: Problem, size: int) -> Any:
    """python-sat's partial MaxSAT formula; group n's selector is soft clause n, and ``size`` may be false at most."""
    clauses, formula = Clauses(problem.terms), WCNF()
    for condition in (*problem.hard, *problem.implied()):
        clauses.require(condition)
    softs = [clauses.literal(selector) for selector in problem.selectors]
    few = CardEnc.atmost([-soft for soft in softs], bound=size, top_id=clauses.variables)
    formula.hard = [*clauses.clauses, *few.clauses]
    formula.nv = max(clauses.variables, few.nv)
    for soft in softs:
        formula.append([soft], weight=1)
    return formula


def counted(oracle: Any) -> list[int]:
    """A list that gets longer with each question to one of python-sat's solvers."""
    questions: list[int] = []

    def counting(ask: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            questions.append(1)
            return ask(*arguments, **options)

        return counted

    oracle.solve, oracle.solve_limited = counting(oracle.solve), counting(oracle.solve_limited)
    return questions


def optima(problem: Problem, size: int) -> Answer:
    """RC2: one optimum after the other, each without what holds an earlier one."""
    began = time.process_time()
    formula = weighted(problem, size)
    found = set[Groups]()
    with RC2(formula, solver="minisat22") as solver:
        built, questions = time.process_time(), counted(solver.oracle)
        for model in solver.enumerate(block=-1):
            true = set(model)
            found.add(frozenset(n for n, (soft,) in enumerate(formula.soft) if soft not in true))
            if frozenset() in found:
                break
    return Answer(frozenset(found), built - began, time.process_time() - began, len(questions))


def subsets(algorithm: str, problem: Problem, size: int) -> Answer:
    """LBX or MCSls: one minimal correction set after the other, each without what holds an earlier one."""
    began = time.process_time()
    formula = weighted(problem, size)
    found = set[Groups]()
    with {"LBX": LBX, "MCSls": MCSls}[algorithm](formula, solver_name="minisat22") as solver:
        built, questions = time.process_time(), counted(solver.oracle)
        for numbers in solver.enumerate():
            found.add(frozenset(number - 1 for number in numbers))
            if not numbers:
                break
            solver.block(numbers)
    return Answer(frozenset(found), built - began, time.process_time() - began, len(questions))


def optimised(problem: Problem, size: int) -> Answer:
    """z3.Optimize: one optimum after the other, each without what holds an earlier one."""
    began = time.process_time()
    domain, solver = Smt(problem.terms), z3.Optimize()
    solver.add(*domain.bools(problem.hard), *domain.bools(problem.implied()))
    selectors = domain.bools(problem.selectors)
    solver.add(z3.AtMost(*(z3.Not(selector) for selector in selectors), size))
    for selector in selectors:
        solver.add_soft(selector, 1)
    built = time.process_time()
    found, questions = set[Groups](), 1
    while frozenset() not in found and solver.check() == z3.sat:
        model, questions = solver.model(), questions + 1
        dropped = [n for n, s in enumerate(selectors) if not z3.is_true(model.eval(s, model_completion=True))]
        found.add(frozenset(dropped))
        solver.add(z3.Or(*(selectors[n] for n in dropped)))
    return Answer(frozenset(found), built - began, time.process_time() - began, questions)


WAYS: dict[str, Way] = {
    "hitting sets, bitwuzla": partial(hitting, lambda terms: Incremental(terms, NO_LIMIT)),
    **{
        f"hitting sets, {name}": partial(hitting, partial(Satisfiability, seconds=NO_LIMIT, solver=name))
        for name in SAT
    },
    "hitting sets, z3": partial(hitting, Z3),
    "hitting sets, cvc5": partial(hitting, Cvc5Incremental),
    "RC2": optima,
    "LBX": partial(subsets, "LBX"),
    "MCSls": partial(subsets, "MCSls"),
    "z3.Optimize": optimised,
}
