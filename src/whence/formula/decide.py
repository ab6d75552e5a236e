"""Decides conjunctions of terms, the cheapest way first.

What the terms' own simplification settles needs no solver. Most conditions that can hold do so when one unknown has
another value than it had in the run: a few thousand such values are tried at once, as arrays. What is left goes to a
solver: bitwuzla where there is no floating point, else z3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from whence.formula.guesses import Guesses
from whence.formula.terms import Term, Terms

if TYPE_CHECKING:
    from whence.formula.bitvectors import BitVectors

VARIED = 16  # unknowns of the first condition that are tried with other values
GUESSES = 2048  # values that are tried at once
LARGEST = 4000  # terms of conditions that are evaluated for guesses
MOST_FLOATS = 4  # operations on floating-point numbers in one question; more of them take z3 minutes
ALL_VALUES = 8  # bits up to which an unknown gets every value


class Status(Enum):
    """What became of a question."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"  # the time ran out, or there is too much floating point, or too many products


class Decider:
    """Answers whether conditions (terms of one bit) can hold together.

    ``value`` gives what a symbol was in the run, None where that is not known. ``limit`` is the time for one question
    in seconds. ``queries`` counts the questions that a solver got, ``conditions`` the conditions in them, ``seconds``
    the time for them; ``guessed`` those for which a try sufficed; ``model`` has the values of symbols in the last of
    these.
    """

    def __init__(self, terms: Terms, value: Callable[[Term], int | None], limit: float = 0.2) -> None:
        self._terms, self._value, self.limit = terms, value, limit
        self.model: dict[Term, int] = {}
        self.queries = self.conditions = self.guessed = 0
        self.seconds = 0.0

    def check(self, conditions: Sequence[Term]) -> tuple[Status, list[int]]:
        """Whether the conditions can hold together; if not, the positions of some that cannot (not a least set)."""
        constants = [self._terms.value(condition) for condition in conditions]
        if 0 in constants:
            return Status.UNSATISFIABLE, [constants.index(0)]
        positions = [position for position, value in enumerate(constants) if value is None]
        if not positions:
            return Status.SATISFIABLE, []
        asked = [conditions[position] for position in positions]
        if self.guess(asked):
            self.guessed += 1
            return Status.SATISFIABLE, []
        answer, core = self._ask(asked)
        return answer, [positions[index] for index in core]

    def minimal(self, conditions: Sequence[Term], chosen: Sequence[int], kept: int) -> tuple[list[int], bool]:
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
                core = [others[index] for index in smaller]
        return sorted(core), decided

    # ---- Guesses -----------------------------------------------------------------------------------------------------

    def guess(self, conditions: Sequence[Term]) -> bool:
        """Whether the conditions hold when one unknown of the first has another value, all else being as in the run.

        ``model`` has the values with which they do.
        """
        guesses = self._guesses(conditions)
        if guesses is None:
            return False
        constants = {v for term in guesses.cone if (v := self._terms.value(term)) is not None}
        rows = [(symbol, value) for symbol in guesses.varied for value in self._others(symbol, constants)]
        found = guesses.tried(rows[:GUESSES]) or next(filter(None, map(guesses.narrowed, guesses.floats)), None)
        self.model = found or {}
        return found is not None

    def _guesses(self, conditions: Sequence[Term]) -> Guesses | None:
        recorded = {symbol: self._value(symbol) for symbol in self._terms.symbols(conditions)}
        known = {symbol: value for symbol, value in recorded.items() if value is not None}
        varied = [s for s in self._terms.symbols(conditions[:1]) if self._terms.widths[s] <= 64][-VARIED:]
        cone = self._terms.cone(conditions)
        if len(known) < len(recorded) or len(cone) > LARGEST or not varied:
            return None
        return Guesses(self._terms, conditions, cone, varied, known)

    def _others(self, symbol: Term, constants: set[int]) -> Iterator[int]:
        """Values to try for a symbol: all of a narrow one, else those near to its own and to constants."""
        width = self._terms.widths[symbol]
        if width <= ALL_VALUES:
            yield from range(1 << width)
            return
        mask = (1 << width) - 1
        near = {number + step & mask for number in (self._value(symbol) or 0, 0, *constants) for step in (0, 1, -1)}
        yield from list(near)[: GUESSES // VARIED]

    # ---- Solvers -----------------------------------------------------------------------------------------------------

    @cached_property
    def _bit_vectors(self) -> BitVectors:
        from whence.formula.bitvectors import BitVectors

        return BitVectors(self._terms)

    def _ask(self, conditions: list[Term]) -> tuple[Status, list[int]]:
        from whence.formula.bitvectors import OPERATIONS, is_decidable

        began = time.perf_counter()
        floats = sum(self._terms.operations[term] not in OPERATIONS for term in self._terms.cone(conditions))
        if floats > MOST_FLOATS or not (floats or is_decidable(self._terms, conditions)):
            return Status.UNKNOWN, []
        if not floats:
            vectors = self._bit_vectors
            answer, core = vectors.check(vectors.holds(conditions), self.limit)
        else:
            answer, core = self._ask_z3(conditions)
        self.queries += 1
        self.conditions += len(conditions)
        self.seconds += time.perf_counter() - began
        return {True: Status.SATISFIABLE, False: Status.UNSATISFIABLE, None: Status.UNKNOWN}[answer], core

    def _ask_z3(self, conditions: list[Term]) -> tuple[bool | None, list[int]]:
        from whence.formula.smt import Smt, z3

        domain = Smt(self._terms)
        solver = z3.SolverFor("QF_BVFP", ctx=domain.context)
        solver.set("timeout", max(1, int(self.limit * 1000)))
        names = [z3.Bool(f"condition {number}", domain.context) for number in range(len(conditions))]
        for name, condition in zip(names, conditions, strict=True):
            solver.add(z3.Implies(name, domain.of(condition)))
        answer = solver.check(*names)
        if answer != z3.unsat:
            return (True if answer == z3.sat else None), []
        core = {str(name) for name in solver.unsat_core()}
        return False, [number for number, name in enumerate(names) if str(name) in core]
