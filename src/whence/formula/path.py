"""A run as assignments and assumptions: what each event defines, and the conditions that hold on the way.

An event's result is a symbol, its definition a term over symbols of earlier events. At a *step* i of the backward walk
the events from i on are known as definitions, so a term *unfolds*: their symbols are replaced by what defines them,
those of earlier events stay free. A branch that was taken and an address that was accessed are *assumptions* (table I
of Yi et al.). The input is no statement's doing, so its values are known at every step, as are the addresses of
variables: which transforming instances a cause has does not depend on that, but the formulas become far smaller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from whence.formula.encoding import Encoding, SymbolKind
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.trace.trace import Trace

START = -1  # the step before all events
NEVER = -2  # of a symbol whose value nothing tells
ALWAYS = 1 << 62
GIVEN = frozenset({SymbolKind.INPUT, SymbolKind.INITIAL, SymbolKind.ADDRESS})


@dataclass(slots=True, frozen=True, eq=False)
class Assumption:
    """A condition (a term of one bit) that held at an event: a branch's way, or an address; a path has each once."""

    event: int
    term: Term
    symbols: tuple[Term, ...]


class Path:
    """The executed path of an encoding in which all kinds of events are cut.

    ``sources(event)`` gives the events whose results an event's library call or unmodelled instruction depends on: its
    result counts as an unknown function of theirs. ``results`` holds each event's symbol, ``born[symbol]`` the highest
    step at which the symbol is a number: all that it is made of is known from there on.
    """

    def __init__(self, encoding: Encoding, trace: Trace, sources: Callable[[int], Iterable[int]]) -> None:
        self.encoding, self.terms = encoding, encoding.terms
        self._trace, self._sources = trace, sources
        self.results: dict[int, Term] = {}
        self.meanings: dict[Term, Term] = {}
        for instance in encoding.instances:
            if instance.term >= 0:
                self.results[instance.event] = instance.term
                if instance.term != instance.meaning:
                    self.meanings[instance.term] = instance.meaning
        self.parts: dict[Term, tuple[Term, ...]] = {}
        self.born: dict[Term, int] = {}
        self.users: dict[Term, list[Term]] = defaultdict(list)
        self.events = {symbol: known.event for symbol, known in encoding.symbols.items()}
        for symbol in sorted(encoding.symbols):
            self._enter(symbol)

    def _enter(self, symbol: Term) -> None:
        """Note what a symbol is made of, and when it becomes a number; symbols come in the order of the run."""
        known = self.encoding.symbols[symbol]
        self.parts[symbol] = self._parts(symbol)
        for part in self.parts[symbol]:
            self.users[part].append(symbol)
        inner = [self.born[part] for part in self.parts[symbol]]
        if self.encoding.evaluation.value(symbol) is None:
            self.born[symbol] = NEVER
        elif known.kind in GIVEN or known.event < 0:
            self.born[symbol] = ALWAYS
        else:
            self.born[symbol] = min([known.event, *inner])

    def _parts(self, symbol: Term) -> tuple[Term, ...]:
        known = self.encoding.symbols[symbol]
        if symbol in self.meanings:
            return tuple(self.terms.symbols([self.meanings[symbol]]))
        if known.event < 0 or known.kind in GIVEN:
            return ()
        found = [self.results[event] for event in self._sources(known.event) if event in self.results]
        return tuple(part for part in self.terms.symbols(found) if part < symbol)

    def born_of(self, symbols: Iterable[Term], event: int) -> int:
        """The highest step, ``event`` at most, at which all of some symbols are numbers."""
        return min((self.born[symbol] for symbol in symbols), default=event)

    def first_definition(self, symbols: Iterable[Term]) -> int:
        """The earliest event that defines some symbols, or any that they are made of; START where none does."""
        seen, pending = set(symbols), list(symbols)
        while pending:
            parts = self.parts[pending.pop()]
            pending += [part for part in parts if part not in seen]
            seen.update(parts)
        return min((self.events[s] for s in seen if s in self.meanings), default=START)

    # ---- Assumptions -------------------------------------------------------------------------------------------------

    @cached_property
    def assumptions(self) -> list[Assumption]:
        """All assumptions of the run that are not constant, in order of time."""
        terms, found = self.terms, []
        for instance in self.encoding.instances:
            held = [terms.equal(pointer, terms.constant(address, 64)) for pointer, address in instance.pointers]
            if instance.event in self.branches:
                held.append(self.way(instance.event))
            for term in held:
                if terms.value(term) is None:
                    found.append(Assumption(instance.event, term, tuple(terms.symbols([term]))))
        return found

    @cached_property
    def branches(self) -> frozenset[int]:
        """The events of branches of which it is known where they went."""
        instances = [i for i in self.encoding.instances if i.value is not None and i.term >= 0]
        events = np.array([i.event for i in instances], np.int64)
        kinds = self._trace.plan.sites["kind"][self._trace.sites(events)]
        return frozenset(events[kinds == Kind.BRANCH].tolist())

    def way(self, event: int) -> Term:
        """The condition that a branch goes the way it went."""
        term = self.results[event]
        return term if self.encoding.evaluation.value(term) else self.terms.negate(term)

    @cached_property
    def about(self) -> dict[Term, list[Assumption]]:
        """The assumptions by the symbols in them."""
        found: dict[Term, list[Assumption]] = defaultdict(list)
        for assumption in self.assumptions:
            for symbol in assumption.symbols:
                found[symbol].append(assumption)
        return found

    def relevant(self, symbols: Iterable[Term], step: int, event: int, most: float = inf) -> list[Assumption]:
        """The assumptions of the events from ``step`` to ``event`` that say something about some symbols.

        That is, at that step they share a free symbol with them, or with others that do (section 4.3). The search ends
        when there are more than ``most``.
        """
        found: dict[Assumption, None] = {}
        seen, pending = set(symbols), list(symbols)
        while pending and len(found) <= most:
            symbol = pending.pop()
            if self.born[symbol] >= step:
                continue
            near = list(self.users.get(symbol, ()))
            if self._is_defined(symbol, step):
                near += self.parts[symbol]
            for assumption in self.about.get(symbol, ()):
                if step <= assumption.event < event and assumption not in found:
                    found[assumption] = None
                    near += assumption.symbols
            for other in near:
                if other not in seen and self.events[other] < event:
                    seen.add(other)
                    pending.append(other)
        return list(found)

    def _is_defined(self, symbol: Term, step: int) -> bool:
        """Whether the symbol's definition is known at a step."""
        return self.events[symbol] >= step and symbol in self.meanings

    # ---- Unfolding ---------------------------------------------------------------------------------------------------

    def unfold(self, roots: Iterable[Term], step: int) -> list[Term]:
        """Terms as they read at a step: symbols that are numbers there as such, others by their definitions."""
        roots = list(roots)
        made: dict[Term, Term] = {}
        for term in self._closure(roots, step):
            made[term] = self._rewritten(term, step, made)
        return [made[root] for root in roots]

    def _closure(self, roots: list[Term], step: int) -> list[Term]:
        """The terms that have to be rewritten, what they are made of first."""
        seen: set[Term] = set()
        pending = list(roots)
        while pending:
            term = pending.pop()
            if term in seen:
                continue
            seen.add(term)
            if self.terms.operations[term] != "symbol":
                pending += self.terms.operands(term)
            elif self.born[term] < step and self._is_defined(term, step):
                pending.append(self.meanings[term])
        return sorted(seen)

    def _rewritten(self, term: Term, step: int, made: dict[Term, Term]) -> Term:
        terms = self.terms
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            return term
        if operation == "symbol":
            if self.born[term] >= step:
                value = self.encoding.evaluation.value(term)
                assert value is not None
                return terms.constant(value, width)
            return made[self.meanings[term]] if self._is_defined(term, step) else term
        if operation == "extract":
            return terms.extract(made[arguments[0]], arguments[1], width)
        if operation == "concat":
            return terms.concat(made[arguments[0]], made[arguments[1]])
        return terms.apply(operation, width, *(made[argument] for argument in arguments))
