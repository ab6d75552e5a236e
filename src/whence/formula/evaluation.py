"""The values that terms have in one run, as far as they are known, and what a recorded value tells about unknowns."""

from __future__ import annotations

from whence.formula.integers import OPERATIONS
from whence.formula.terms import Term, Terms


class Evaluation:
    """Values of the terms of a growing graph, from those of its symbols.

    ``values[t]`` is term ``t``'s value where it was asked for and is known, else None.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.values: list[int | None] = []

    def set(self, symbol: Term, value: int) -> None:
        """Say what a symbol's value is."""
        self._grow()
        self.values[symbol] = value

    def value(self, term: Term) -> int | None:
        """The unsigned number that a term is; None while it depends on a symbol of unknown value."""
        values = self.values
        if term < len(values) and values[term] is not None:
            return values[term]
        self._grow()
        self._compute(term)
        return values[term]

    def _grow(self) -> None:
        missing = len(self._terms) - len(self.values)
        if missing:
            self.values.extend([None] * missing)

    def _compute(self, term: Term) -> None:
        """Evaluate what a term is made of, arguments first; unknown symbols end it at once."""
        terms, values = self._terms, self.values
        pending = [term]
        while pending:
            current = pending[-1]
            if values[current] is not None:
                pending.pop()
                continue
            operation, arguments = terms.operations[current], terms.arguments[current]
            if operation == "symbol":
                return
            needed = self._needed(operation, arguments)
            missing = [o for o in needed if values[o] is None]
            if missing:
                pending += missing
                continue
            pending.pop()
            if operation == "const":
                values[current] = arguments[0]
            elif operation == "ite":
                values[current] = values[needed[-1]]
            else:
                known = [values[o] for o in needed] + list(arguments[len(needed) :])
                values[current] = OPERATIONS[operation](terms.widths[current], terms.widths[needed[-1]], *known)

    def _needed(self, operation: str, arguments: tuple[int, ...]) -> tuple[Term, ...]:
        """The terms to know first; of a choice its condition, then the side that it chooses."""
        if operation == "const":
            return ()
        if operation == "extract":
            return arguments[:1]
        if operation != "ite":
            return arguments
        condition = self.values[arguments[0]]
        return arguments[:1] if condition is None else (arguments[0], arguments[1 if condition else 2])

    def learn(self, term: Term, value: int) -> list[Term]:
        """The symbols whose values follow from a term's value, through sums, choices, extensions and concatenations."""
        if self.value(term) is not None:
            return []
        operation, arguments = self._terms.operations[term], self._terms.arguments[term]
        if operation == "symbol":
            self.values[term] = value
            return [term]
        if operation in {"add", "sub"}:
            return self._learn_sum(term, operation == "sub", value)
        if operation in {"zext", "sext"}:
            return self.learn(arguments[0], value & (1 << self._terms.widths[arguments[0]]) - 1)
        if operation == "ite":
            condition = self.value(arguments[0])
            return [] if condition is None else self.learn(arguments[1 if condition else 2], value)
        if operation == "concat":
            split = self._terms.widths[arguments[1]]
            return self.learn(arguments[1], value & (1 << split) - 1) + self.learn(arguments[0], value >> split)
        return []

    def _learn_sum(self, term: Term, minus: bool, value: int) -> list[Term]:
        left, right = self._terms.arguments[term]
        mask = (1 << self._terms.widths[term]) - 1
        known = self.value(right)
        if known is not None:
            return self.learn(left, (value + known if minus else value - known) & mask)
        known = self.value(left)
        if known is None:
            return []
        return self.learn(right, (known - value if minus else value - known) & mask)
