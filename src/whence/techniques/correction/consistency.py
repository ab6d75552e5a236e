"""Whether a statement's new values can be a function of what it reads: the same operands, the same new value.

All failing and passing runs in one formula, one statement free: its values can be anything, but the same wherever its
operands are the same, in all runs; the failing ones have to become right, and the passing ones stay it. Where that
cannot be, the statement has to read something else, or is not the faulty one.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from whence.findings import Statement
from whence.formula.bitvectors import BitVectors
from whence.formula.terms import Term, Terms
from whence.techniques.correction.formula import TraceFormula
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences
from whence.trace.trace import Trace

MOST_PAIRS = 2000  # of instances whose operands are compared by the solver, for one site

Operands = tuple[Term, ...]


class Consistency:
    """Answers for many statements; all formulas are over one graph of terms, ``passing`` are in each question."""

    def __init__(self, terms: Terms, passing: Sequence[TraceFormula], seconds: float) -> None:
        self._terms, self._passing, self._seconds = terms, passing, seconds
        self._vectors = BitVectors(terms)

    def is_consistent(self, statement: Statement, failing: Sequence[TraceFormula]) -> bool | None:
        """Whether the statement's new values can be a function of its operands; None: not answered in time."""
        conditions: list[Term] = []
        found: dict[int, list[tuple[Operands, Term]]] = defaultdict(list)
        for formula in [*failing, *self._passing]:
            held, rewriting = formula.without(statement)
            conditions += held
            for site, operands, result in _instances(formula, statement):
                found[site].append((tuple(rewriting.of(operand) for operand in operands), result))
        for instances in found.values():
            conditions += self._function(instances)
        if any(self._terms.value(condition) == 0 for condition in conditions):
            return False
        asked = [condition for condition in dict.fromkeys(conditions) if self._terms.value(condition) != 1]
        return self._vectors.check(self._vectors.holds(asked), self._seconds)[0]

    def _function(self, instances: Sequence[tuple[Operands, Term]]) -> Iterator[Term]:
        """That equal operands give equal values: at once where they are numbers, else the solver compares them."""
        first: dict[Operands, Term] = {}
        for operands, result in instances:
            if first.setdefault(operands, result) != result:
                yield self._terms.equal(first[operands], result)
        distinct = list(first.items())
        pairs = ((one, other) for n, one in enumerate(distinct) for other in distinct[:n])
        yield from itertools.islice((c for pair in pairs if (c := self._implied(*pair)) is not None), MOST_PAIRS)

    def _implied(self, one: tuple[Operands, Term], other: tuple[Operands, Term]) -> Term | None:
        """That two results are equal if their operands are; None where the operands differ."""
        terms = self._terms
        same = terms.both(terms.equal(a, b) for a, b in zip(one[0], other[0], strict=True))
        if terms.value(same) == 0:
            return None
        return terms.apply("or", 1, terms.negate(same), terms.equal(one[1], other[1]))


def _instances(formula: TraceFormula, statement: Statement) -> Iterator[tuple[int, list[Term], Term]]:
    """A statement's instances in a formula: site, operands, result."""
    run = formula.run
    for instance in formula.members.get(statement, ()):
        operands = [run.path.results.get(event, -1) for event in operands_of(run.story.trace, instance.event)]
        if -1 not in operands:
            known = [formula.known(operand) for operand in operands]
            yield run.story.trace.site(instance.event), known, instance.term


def operands_of(trace: Trace, event: int) -> list[int]:
    """The events whose values an event was computed from, one step back: loads, arguments, results, phis."""
    edges = dependences(trace.plan, trace.columns, event + 1, control=False)
    return [target - 1 for target, kind in edges if kind is Edge.VALUE and target > 0]
