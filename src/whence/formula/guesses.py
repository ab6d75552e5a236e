"""Tries of conditions: one unknown has other values than in the run, thousands at once, as arrays.

An unknown floating-point number is found by narrowing down: from numbers of all sizes on to those between which the
conditions change, and so on. What is computed from it may be rounded, so that no formula says what it has to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.formula.arrays import evaluate
from whence.formula.floats import bits_of
from whence.formula.terms import Term, Terms

ROUNDS = 5  # of narrowing down
EACH = 128  # numbers between two neighbours at which the conditions differ
DIGITS = 16  # behind the point, up to which a rounder number is tried in place of the one that was found
MOST_GAPS = 6  # pairs of such neighbours that are looked into
FLOATING = frozenset({"fadd", "fsub", "fmul", "fdiv", "fle", "flt", "feq", "fconvert", "ftosi", "ftoui"})
MOST_OPERATIONS = 32  # of floating point in the conditions: each takes a millisecond a round
SIZES = np.logspace(-6, 12, 400)  # of the numbers that are tried first


Columns = dict[Term, NDArray[Any]]


@dataclass
class Guesses:
    """``varied`` are the unknowns that are tried, one at a time; ``recorded`` the values of all unknowns in the run.

    ``cone`` are the terms of the conditions.
    """

    terms: Terms
    conditions: Sequence[Term]
    cone: Sequence[Term]
    varied: Sequence[Term]
    recorded: dict[Term, int]

    @cached_property
    def floats(self) -> list[Term]:
        """The varied unknowns that floating-point operations take as doubles; none where there are many of these."""
        operations = [term for term in self.cone if self.terms.operations[term] in FLOATING]
        if len(operations) > MOST_OPERATIONS:
            return []
        operands = {operand for term in operations for operand in self.terms.operands(term)}
        return [symbol for symbol in self.varied if symbol in operands and self.terms.widths[symbol] == 64]

    def tried(self, rows: Sequence[tuple[Term, int]]) -> dict[Term, int] | None:
        """The values of all unknowns in the first row (unknown, value) with which the conditions hold, if any."""
        columns = {symbol: self._column(symbol, rows) for symbol in self.recorded}
        together = self._together(columns, len(rows)).all(axis=0)
        if not together.any():
            return None
        symbol, value = rows[int(np.argmax(together))]
        return {**self.recorded, symbol: value}

    def narrowed(self, symbol: Term) -> dict[Term, int] | None:
        """The values of all unknowns, one double being what makes the conditions hold, if that is found."""
        own = float(np.array(self.recorded[symbol], np.uint64).view(np.float64))
        numbers = np.unique(np.concatenate([-SIZES, [0.0, own if np.isfinite(own) else 0.0], SIZES]))
        for _ in range(ROUNDS):
            columns: Columns = {s: np.full(len(numbers), v, self._kind(s)) for s, v in self.recorded.items()}
            columns[symbol] = numbers.view(np.uint64)
            holds = self._together(columns, len(numbers))
            together = np.flatnonzero(holds.all(axis=0))
            if len(together):
                nearest = together[np.argmin(np.abs(numbers[together] - own))] if np.isfinite(own) else together[0]
                rounded = [round(float(numbers[nearest]), digits) for digits in range(DIGITS)]
                return self.tried([(symbol, bits_of(number, 64)) for number in [*rounded, float(numbers[nearest])]])
            gaps = np.flatnonzero((holds[:, 1:] != holds[:, :-1]).any(axis=0))[:MOST_GAPS]
            if not len(gaps):
                return None
            numbers = np.unique(np.concatenate([np.linspace(numbers[g], numbers[g + 1], EACH) for g in gaps]))
        return None

    def _together(self, columns: Columns, count: int) -> NDArray[np.bool_]:
        """For each conjunct and row whether it holds."""
        found = evaluate(self.terms, self._conjuncts, columns)
        return np.array([np.broadcast_to(found[conjunct] == 1, count) for conjunct in self._conjuncts], bool)

    @cached_property
    def _conjuncts(self) -> list[Term]:
        """What the conditions are conjunctions of: bounds from both sides, say, which hold at different places."""
        found: dict[Term, None] = {}
        pending = list(self.conditions)
        while pending:
            term = pending.pop()
            if self.terms.operations[term] == "and":
                pending += self.terms.arguments[term]
            else:
                found[term] = None
        return list(found)

    def _column(self, symbol: Term, rows: Sequence[tuple[Term, int]]) -> NDArray[Any]:
        """An unknown's value in each row."""
        own = self.recorded[symbol]
        return np.array([value if symbol == varied else own for varied, value in rows], self._kind(symbol))

    def _kind(self, symbol: Term) -> type:
        return object if self.terms.widths[symbol] > 64 else np.uint64
