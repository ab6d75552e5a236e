"""What a run's scalar variables were at its events: the globals, and the locals of the function that an event is in."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from whence.formula.encoding import Instance, SymbolKind
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.techniques.formula_based.trace_formula import Run

GLOBAL = -1  # in place of a function

Variable = tuple[int, int]  # function and slot, or GLOBAL and the symbol of its address; the same in all runs


class Variables:
    """The variables of a run by the stores to them; those that are written through pointers alone are not seen."""

    def __init__(self, run: Run) -> None:
        self._run, self._trace = run, run.reader.trace
        self._stores: dict[int, dict[Variable, tuple[list[int], list[Term]]]] = defaultdict(dict)  # by frame, or GLOBAL
        for instance in run.encoding.instances:
            if instance.kind is Kind.STORE:
                frame, variable = self._stored(instance)
                if variable is not None:
                    events, terms = self._stores[frame].setdefault(variable, ([], []))
                    events.append(instance.event)
                    terms.append(instance.term)

    def at(self, event: int) -> dict[Variable, Term]:
        """The term of each variable that had been stored to before an event."""
        return {variable: terms[last] for variable, _, terms, last in self._before(event)}

    def name(self, variable: Variable, event: int) -> str:
        """What C calls a variable at an event; empty where it has no name."""
        for known, events, _, last in self._before(event):
            if known == variable and (seen := self._run.reader.named(events[last])) is not None:
                return seen.name
        return ""

    def _before(self, event: int) -> Iterator[tuple[Variable, list[int], list[Term], int]]:
        """Of each variable its stores, and the place of the last one before an event."""
        for frame in (GLOBAL, self._frame(event)):
            for variable, (events, terms) in self._stores.get(frame, {}).items():
                last = bisect_left(events, event) - 1
                if last >= 0:
                    yield variable, events, terms, last

    def _stored(self, store: Instance) -> tuple[int, Variable | None]:
        """The frame and the variable that a store goes to."""
        if not store.pointers:
            frame = self._frame(store.event)
            function = int(self._trace.columns.frames[frame]["function"])
            return frame, (function, int(self._trace.plan.sites[self._trace.site(store.event)]["aux"]))
        pointer = store.pointers[0][0]
        symbol = self._run.encoding.symbols.get(pointer)
        is_global = symbol is not None and symbol.kind is SymbolKind.ADDRESS and symbol.event < 0
        return GLOBAL, (GLOBAL, pointer) if is_global else None

    def _frame(self, event: int) -> int:
        columns = self._trace.columns
        return int(columns.segments[columns.events[event]["segment"]]["frame"])
