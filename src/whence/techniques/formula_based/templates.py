"""Small changes of one statement that make all runs right at once, failing and passing, in one formula.

A template says what an instruction computes instead: another comparison of the same operands, one side moved by a
constant, the result moved by a constant, another operation. The constant is an unknown, the same in all runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from whence.findings import Statement
from whence.formula.bitvectors import is_decidable
from whence.formula.decide import Status
from whence.formula.encoding import Instance
from whence.formula.integers import signed
from whence.formula.rewriting import Rewriting
from whence.formula.satisfiability import Satisfiability
from whence.formula.terms import Term, Terms
from whence.techniques.formula_based.correction_values import DISTANCES
from whence.techniques.formula_based.trace_formula import TraceFormula

FAR = 1 << 31  # a constant that nobody would write: what it mends are addresses
COMPARISONS = {"slt": ("slt", "sle"), "sle": ("slt", "sle"), "eq": ("slt", "sle"), "ult": ("ult", "ule")}
COMPARISONS["ule"] = COMPARISONS["ult"]
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*"}
MOST_SITES = 6  # of one statement that are tried

Make = Callable[[Terms, Term, Term], "Term | None"]  # (graph, meaning, the unknown constant) -> what is there instead


@dataclass(slots=True, frozen=True)
class Template:
    """A change in words, with ``{}`` for the constant where it has one."""

    text: str
    make: Make


class Templates:
    """Tries templates; ``passing`` are the formulas of runs that have to stay right. Limits as in ``Consistency``."""

    def __init__(
        self, terms: Terms, passing: Sequence[TraceFormula], seconds: float, deadline: float = float("inf")
    ) -> None:
        self._terms, self._passing, self._seconds, self._deadline = terms, passing, seconds, deadline

    def repairs(self, statement: Statement, failing: Sequence[TraceFormula]) -> list[str]:
        """The templates that repair all of some failing runs and keep the passing ones right, in words."""
        solver = Satisfiability(self._terms, self._seconds)
        members: dict[int, list[tuple[Rewriting, TraceFormula, Instance]]] = {}
        for formula in [*failing, *self._passing]:
            held, rewriting = formula.without(statement)
            impossible = any(self._terms.value(condition) == 0 for condition in held)
            if impossible or not is_decidable(self._terms, held):
                return []
            solver.add(held)
            for instance in formula.members.get(statement, ()):
                site = formula.run.events.trace.site(instance.event)
                members.setdefault(site, []).append((rewriting, formula, instance))
        found = (text for site in list(members)[:MOST_SITES] for text in self._of_site(solver, members, site))
        return list(dict.fromkeys(found))

    def _of_site(
        self, solver: Satisfiability, members: dict[int, list[tuple[Rewriting, TraceFormula, Instance]]], changed: int
    ) -> Iterator[str]:
        """The templates of one site that repair, the other sites of the statement being as they are.

        None for a pointer: that another address would have been right tells no change of source.
        """
        _, first, instance = members[changed][0]
        if first.run.events.static(instance.event).instruction.type == "ptr":
            return
        meaning = members[changed][0][2].meaning
        constant = self._terms.symbol(_operand_width(self._terms, meaning))
        for template in applicable(self._terms, meaning):
            if time.monotonic() >= self._deadline:
                return
            conditions: list[Term] = []
            for site, instances in members.items():
                for rewriting, formula, instance in instances:
                    term: Term | None = instance.meaning
                    if site == changed:
                        term = template.make(self._terms, instance.meaning, constant)
                    if term is None:
                        return
                    conditions.append(self._terms.equal(instance.term, rewriting.of(formula.known(term))))
            if not is_decidable(self._terms, conditions):
                return
            if 0 not in map(self._terms.value, conditions) and solver.check(conditions)[0] is Status.SATISFIABLE:
                uses = any(constant in set(self._terms.symbols([condition])) for condition in conditions)
                value = self._least(solver, conditions, constant) if uses else 0
                if value is not None and abs(value) < FAR:
                    yield template.text.format(f"{'+' if value >= 0 else '-'} {abs(value)}")

    def _least(self, solver: Satisfiability, conditions: list[Term], constant: Term) -> int | None:
        """A small value of the constant under satisfiable conditions, else any; None: not answered in time."""
        terms, width = self._terms, self._terms.widths[constant]
        for distance in DISTANCES:
            moved = terms.apply("add", width, constant, terms.constant(distance, width))
            near = terms.apply("ule", 1, moved, terms.constant(2 * distance, width))
            if solver.check([*conditions, near])[0] is Status.SATISFIABLE:
                return signed(solver.value(constant), width)
        if solver.check(conditions)[0] is not Status.SATISFIABLE:  # the same question took longer this time
            return None
        return signed(solver.value(constant), width)


# ---- What there is to try --------------------------------------------------------------------------------------------


def applicable(terms: Terms, meaning: Term) -> Iterator[Template]:
    """The templates for what an instruction computes."""
    core, _ = _core(terms, meaning)
    operation = terms.operations[core]
    if operation in COMPARISONS:
        less, equal = COMPARISONS[operation]
        for name in (less, equal, "eq"):
            yield from (Template("another comparison of the same values", _compare(name, turn)) for turn in (0, 1))
        yield Template("a side of the comparison {}", _moved_side)
    elif terms.widths[core] > 1:
        yield Template("the value {}", _moved)
        if operation in ARITHMETIC:
            others = [(name, sign) for name, sign in ARITHMETIC.items() if name != operation]
            yield from (Template(f"`{sign}` as the operation", _operate(name)) for name, sign in others)
    else:
        yield Template("the opposite", lambda graph, term, _: graph.negate(term))


def _core(terms: Terms, term: Term) -> tuple[Term, bool]:
    """A condition without its negations and extensions, and whether it was negated."""
    negated = False
    while True:
        operation, arguments = terms.operations[term], terms.arguments[term]
        if operation == "zext" and terms.widths[arguments[0]] == 1:
            term = arguments[0]
        elif operation == "xor" and terms.widths[term] == 1 and terms.value(arguments[1]) == 1:
            term, negated = arguments[0], not negated
        else:
            return term, negated


def _operand_width(terms: Terms, meaning: Term) -> int:
    core, _ = _core(terms, meaning)
    return terms.widths[terms.arguments[core][0]] if terms.operations[core] in COMPARISONS else terms.widths[core]


def _compare(operation: str, turn: int) -> Make:
    """Another comparison; ``turn``: its opposite. Of two values each of the six is one of these."""

    def make(terms: Terms, meaning: Term, _: Term) -> Term | None:
        core, _negated = _core(terms, meaning)
        if terms.operations[core] not in COMPARISONS:
            return None
        found = terms.apply(operation, 1, *terms.arguments[core])
        return terms.resize(terms.negate(found) if turn else found, terms.widths[meaning])

    return make


def _moved_side(terms: Terms, meaning: Term, constant: Term) -> Term | None:
    core, negated = _core(terms, meaning)
    if terms.operations[core] not in COMPARISONS:
        return None
    left, right = terms.arguments[core]
    if terms.widths[left] != terms.widths[constant]:
        return None
    moved = terms.apply("add", terms.widths[right], right, constant)
    found = terms.apply(terms.operations[core], 1, left, moved)
    return terms.resize(terms.negate(found) if negated else found, terms.widths[meaning])


def _moved(terms: Terms, meaning: Term, constant: Term) -> Term | None:
    if terms.widths[meaning] != terms.widths[constant]:
        return None
    return terms.apply("add", terms.widths[meaning], meaning, constant)


def _operate(operation: str) -> Make:
    def make(terms: Terms, meaning: Term, _: Term) -> Term | None:
        if terms.operations[meaning] not in ARITHMETIC:
            return None
        return terms.apply(operation, terms.widths[meaning], *terms.arguments[meaning])

    return make
