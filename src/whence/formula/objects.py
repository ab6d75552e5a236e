"""Accesses through a pointer that could be another one: what they would do to the other cells of the object.

Without this a load has the terms of the recorded address only, under the condition that the pointer is that address.
Here it is a choice between all cells of the object in steps of the pointer's, and a store changes each cell if the
pointer is its address. So a formula can say what a wrong index would have had to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from whence.formula.encoding import SymbolKind
from whence.formula.integers import signed
from whence.formula.state import State
from whence.formula.terms import Term


@dataclass(frozen=True, slots=True)
class Cells:
    """Where an access could go: for each address in the object whether the pointer is it; the recorded one is among."""

    conditions: dict[int, Term]
    recorded: int


class Objects:
    """Finds the cells of accesses; ``most`` is how many an object may have (0: only the recorded one counts)."""

    def __init__(self, state: State, most: int) -> None:
        self._state, self._most = state, most
        self._pointers: dict[Term, tuple[Term, int]] = {}  # symbols that are pointers: what they point into, their step
        if most:
            state.on_cut = self._cut

    def _cut(self, symbol: Term, meaning: Term) -> None:
        """A pointer that was cut still points into what it is made of."""
        terms = self._state.terms
        if terms.widths[symbol] != 64:
            return
        bases, rest, step = self._parts(meaning)
        if len(bases) != 1:
            return
        moved = [signed(terms.value(part) or 0, 64) for part in rest]  # a pointer moved on by a constant steps by it
        self._pointers[symbol] = bases[0], gcd(step, *moved)

    def cells(self, pointer: Term, address: int, size: int) -> Cells | None:
        """The cells that an access through the pointer could go to; None where it is one only, or nothing is known."""
        if not self._most:
            return None
        state, terms = self._state, self._state.terms
        bases, rest, step = self._parts(pointer)
        if len(bases) != 1 or not step:
            return None
        start, extent = state.evaluation.value(bases[0]), state.extents.get(bases[0], 0)
        if start is None or not start <= address <= start + extent - size:
            return None
        offsets = range((address - start) % step, extent - size + 1, step)
        if not 1 < len(offsets) <= self._most:
            return None
        offset = terms.constant(0, 64)
        for part in rest:
            offset = terms.apply("add", 64, offset, part)
        conditions = {start + o: terms.equal(offset, terms.constant(o, 64)) for o in offsets}
        return Cells(conditions, address)

    def _parts(self, pointer: Term) -> tuple[list[Term], list[Term], int]:
        """A pointer as a sum: bases, the other terms, and what these step by (0: all of them are constant)."""
        terms, symbols = self._state.terms, self._state.encoding.symbols
        bases: list[Term] = []
        rest: list[Term] = []
        steps: list[int] = []
        pending = [pointer]
        while pending:
            term = pending.pop()
            operation, arguments = terms.operations[term], terms.arguments[term]
            if operation == "add":
                pending += arguments
                continue
            if operation == "symbol" and symbols[term].kind is SymbolKind.ADDRESS:
                bases.append(term)
                continue
            if term in self._pointers:
                base, step = self._pointers[term]
                bases.append(base)
                rest.append(terms.apply("sub", 64, term, base))
                steps.append(step)
                continue
            rest.append(term)
            if operation != "const":
                scale = terms.value(arguments[1]) if operation == "mul" else None
                steps.append(scale or 1)
        return bases, rest, gcd(*steps)

    def readable(self, cells: Cells, size: int) -> Cells:
        """Those of the cells whose contents are known; the recorded one is."""
        read = self._state.memory.read
        known = {a: c for a, c in cells.conditions.items() if a == cells.recorded or read(a, size) is not None}
        return Cells(known, cells.recorded)

    def load(self, cells: Cells, size: int, found: Term) -> Term:
        """What a load of readable cells gives: of the recorded one ``found``, else the bytes that the pointer is at."""
        terms = self._state.terms
        for address, condition in cells.conditions.items():
            other = self._state.memory.read(address, size)
            if other is not None and address != cells.recorded:
                found = terms.choose(condition, other, found)
        return found

    def store(self, cells: Cells, term: Term, event: int) -> None:
        """Change each cell if the pointer is its address; unknown contents become symbols."""
        terms, memory = self._state.terms, self._state.memory
        size = terms.widths[term] >> 3
        for address, condition in cells.conditions.items():
            old = self._state.load(event, address, size, None, "before")
            memory.write(address, terms.choose(condition, term, old))

    def pair(self, cells: Cells, pointer: Term) -> tuple[Term, int]:
        """The pointer pair of an instance: equal where the pointer is any of the cells' addresses."""
        terms = self._state.terms
        inside = terms.constant(0, 1)
        for condition in cells.conditions.values():
            inside = terms.apply("or", 1, inside, condition)
        return terms.choose(inside, terms.constant(cells.recorded, 64), pointer), cells.recorded
