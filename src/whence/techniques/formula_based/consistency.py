"""Whether a statement's new values can be a function of what it reads: the same operands, the same new value.

All failing and passing runs in one formula, one statement free: its values can be anything, but the same wherever its
operands are the same, in all runs; the failing ones have to become right, and the passing ones stay it. Where that
cannot be, a test of one more visible variable may make the difference: a conjunct is missing, say. (The value of any
variable would not do: one that differs in all runs makes a function of anything.)
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from whence.findings import Statement
from whence.formula.bitvectors import BitVectors, is_decidable
from whence.formula.integers import signed
from whence.formula.rewriting import Rewriting
from whence.formula.terms import Term, Terms
from whence.techniques.formula_based.trace_formula import Run, TraceFormula
from whence.techniques.formula_based.variables import Variable, Variables
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences
from whence.trace.trace import Trace

MOST_PAIRS = 2000  # of instances whose operands are compared by the solver, for one site
MOST_ASKED = 12  # tests about which the solver is asked, for one statement
LARGEST = 32  # bits of a variable that is tested: no pointers
SUPPORT = 2  # runs in which a test has each of its outcomes

Operands = tuple[Term, ...]
_Key = tuple[Operands, bool]  # operands, and the outcome of a test


class Function(NamedTuple):
    """Whether new values can be a function of operands (None: not answered in time).

    ``also``: only with a test of one more variable, in C. ``level`` is what to rank by.
    """

    holds: bool | None
    also: str = ""

    @property
    def level(self) -> int:
        """2: of the statement's own operands; 1: with a test of one more variable; 0: neither, or not known."""
        return 0 if not self.holds else 1 if self.also else 2


@dataclass(eq=False)
class _Seen:
    """An instance of the statement: what it reads, its result, and (asked for seldom) the variables around it."""

    event: int
    operands: Operands
    result: Term
    formula: TraceFormula
    rewriting: Rewriting
    variables: Variables

    @cached_property
    def around(self) -> dict[Variable, int]:
        """The variables around it whose values do not depend on the statement itself; as signed numbers."""
        terms, found = self.formula.run.encoding.terms, {}
        for variable, term in self.variables.at(self.event).items():
            told = self.rewriting.of(self.formula.as_encoded(term))
            if (value := terms.value(told)) is not None and terms.widths[told] <= LARGEST:
                found[variable] = signed(value, terms.widths[told])
        return found


@dataclass(slots=True, frozen=True)
class Test:
    """Whether a variable equals a number, or (``above``) whether it is more."""

    variable: Variable
    above: bool
    number: int

    def of(self, seen: _Seen) -> bool:
        """Its outcome at an instance."""
        value = seen.around[self.variable]
        return value > self.number if self.above else value == self.number

    def text(self, seen: _Seen) -> str:
        """The test in C."""
        name = seen.variables.name(self.variable, seen.event)
        return f"{name} {'>' if self.above else '=='} {self.number}"


Pair = tuple[_Seen, _Seen]


class Consistency:
    """Answers for many statements; all formulas are over one graph of terms, ``passing`` are in each question.

    ``seconds`` limits a question to the solver; after ``deadline`` (of ``time.monotonic``) none is asked.
    """

    def __init__(
        self, terms: Terms, passing: Sequence[TraceFormula], seconds: float, deadline: float = float("inf")
    ) -> None:
        self._terms, self._passing, self._seconds, self._deadline = terms, passing, seconds, deadline
        self._vectors = BitVectors(terms)
        self._variables: dict[int, Variables] = {}

    def function(self, statement: Statement, failing: Sequence[TraceFormula]) -> Function:
        """Whether the statement's new values can be a function of its operands, or of these and a test."""
        held: list[Term] = []
        sites: dict[int, list[_Seen]] = defaultdict(list)
        for formula in [*failing, *self._passing]:
            conditions, rewriting = formula.without(statement)
            held += conditions
            for site, event, operands, result in _instances(formula, statement):
                read = tuple(rewriting.of(operand) for operand in operands)
                variables = self._variables_of(formula.run)
                sites[site].append(_Seen(event, read, result, formula, rewriting, variables))
        holds, core = self._ask(held, sites, None)
        if holds is not False or not core:
            return Function(holds)
        return self._with_test(held, sites, core)

    def _with_test(self, held: list[Term], sites: dict[int, list[_Seen]], core: list[Pair]) -> Function:
        """Whether a test of one more variable makes a function; it has to tell apart a pair of each core known."""
        cores, seen, asked = [core], [one for instances in sites.values() for one in instances], 0
        for test in _tests(seen):
            if not all(any(test.of(one) != test.of(other) for one, other in pairs) for pairs in cores):
                continue
            holds, core = self._ask(held, sites, test)
            if holds:
                return Function(True, test.text(seen[0]))
            asked += 1
            if asked == MOST_ASKED or time.monotonic() >= self._deadline:
                return Function(None)
            cores += [core] if core else []
        return Function(False)

    def _ask(
        self, held: list[Term], sites: dict[int, list[_Seen]], test: Test | None
    ) -> tuple[bool | None, list[Pair]]:
        """Whether all can hold; if not, the pairs of instances that were in the way (none: there is another reason)."""
        together: dict[Term, Pair | None] = dict.fromkeys(held)
        for instances in sites.values():
            for term, pair in self._same(instances, test):
                together.setdefault(term, pair)
        asked = [term for term in together if self._terms.value(term) != 1]
        false = [term for term in asked if self._terms.value(term) == 0]
        holds, core = (False, [asked.index(false[0])]) if false else self._check(asked)
        found = (together[asked[index]] for index in core)
        return holds, [pair for pair in found if pair is not None]

    def _check(self, conditions: Sequence[Term]) -> tuple[bool | None, list[int]]:
        if not is_decidable(self._terms, conditions):
            return None, []
        return self._vectors.check(self._vectors.holds(conditions), self._seconds)

    def _same(self, instances: Sequence[_Seen], test: Test | None) -> Iterator[tuple[Term, Pair]]:
        """That equal operands give equal values: at once where they are numbers, else the solver compares them."""
        first: dict[_Key, _Seen] = {}
        for seen in instances:
            known = first.setdefault(_read(seen, test), seen)
            if known.result != seen.result:
                yield self._terms.equal(known.result, seen.result), (known, seen)
        distinct = list(first.items())
        pairs = ((one, other) for n, one in enumerate(distinct) for other in distinct[:n])
        yield from itertools.islice(self._implied(pairs), MOST_PAIRS)

    def _implied(self, pairs: Iterator[tuple[tuple[_Key, _Seen], tuple[_Key, _Seen]]]) -> Iterator[tuple[Term, Pair]]:
        """That two results are equal if their operands are; pairs whose operands differ are passed over."""
        terms = self._terms
        for ((left, outcome), one), ((right, other_outcome), other) in pairs:
            same = terms.both(terms.equal(a, b) for a, b in zip(left, right, strict=True))
            if outcome == other_outcome and terms.value(same) != 0:
                yield terms.apply("or", 1, terms.negate(same), terms.equal(one.result, other.result)), (one, other)

    def _variables_of(self, run: Run) -> Variables:
        if id(run) not in self._variables:
            self._variables[id(run)] = Variables(run)
        return self._variables[id(run)]


def _read(seen: _Seen, test: Test | None) -> _Key:
    """What an instance reads, with the outcome of the test: instances of different outcomes have nothing in common."""
    return seen.operands, test is not None and test.of(seen)


def _tests(seen: Sequence[_Seen]) -> Iterator[Test]:
    """Whether a variable that all instances can see equals or exceeds a number that it was in one; few values first.

    Only tests of which either outcome is seen in several runs: one that picks out a single run makes a function of
    anything.
    """
    shared = set.intersection(*(set(one.around) for one in seen))
    values = {variable: sorted({one.around[variable] for one in seen}) for variable in shared}
    for variable in sorted((v for v in shared if len(values[v]) > 1), key=lambda v: (len(values[v]), v)):
        equals = (Test(variable, False, number) for number in values[variable])
        above = (Test(variable, True, number) for number in values[variable][1:-1])
        yield from (test for test in itertools.chain(equals, above) if _has_support(test, seen))


def _has_support(test: Test, seen: Sequence[_Seen]) -> bool:
    """Whether each outcome of a test is that of several runs."""
    runs: dict[bool, set[int]] = {True: set(), False: set()}
    for one in seen:
        runs[test.of(one)].add(id(one.formula.run))
    return min(map(len, runs.values())) >= SUPPORT


def _instances(formula: TraceFormula, statement: Statement) -> Iterator[tuple[int, int, list[Term], Term]]:
    """A statement's instances in a formula: site, event, operands, result."""
    run = formula.run
    for instance in formula.members.get(statement, ()):
        operands = [run.path.results.get(event, -1) for event in operands_of(run.reader.trace, instance.event)]
        if -1 not in operands:
            known = [formula.known(operand) for operand in operands]
            yield run.reader.trace.site(instance.event), instance.event, known, instance.term


def operands_of(trace: Trace, event: int) -> list[int]:
    """The events whose values an event was computed from, one step back: loads, arguments, results, phis."""
    edges = dependences(trace.plan, trace.columns, event + 1, control=False)
    return [target - 1 for target, kind in edges if kind is Edge.VALUE and target > 0]
