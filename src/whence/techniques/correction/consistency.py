"""Whether a statement's new values can be a function of what it reads: the same operands, the same new value.

A repaired statement computes its result from the same operands in each run. In passing cases its results were right, so
where its operands are those of a passing case, its value has to be the one that it had there. With that as a condition,
a statement whose formula cannot hold any more can only be repaired by reading something else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from whence.formula.decide import Status
from whence.formula.encoder import Encoder
from whence.formula.terms import Term, Terms
from whence.subject.recorder import Recording
from whence.techniques.correction.formula import CUT, Run, TraceFormula, inputs_of
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences
from whence.trace.trace import Trace

MOST_ROWS = 200  # of one site in the table, and conditions of one statement's instance
MOST_EVENTS = 20_000  # of a passing run that is looked at

Operands = tuple[int, ...]


@dataclass(slots=True)
class Table:
    """What was right: for each site (of the recording's plan), the value that it gave to some operands.

    ``contradicted`` are the sites that gave different values to equal operands: what they read is not all there is.
    """

    rows: dict[int, dict[Operands, int]] = field(default_factory=lambda: defaultdict(dict))
    contradicted: set[int] = field(default_factory=set)

    def add(self, recording: Recording, encoder: Encoder) -> None:
        """Enter what a passing run computed; one that is too long is left out."""
        trace = recording.trace
        if trace.events > MOST_EVENTS:
            return
        encoding = encoder.encode(trace, inputs_of(recording.case))
        values = {i.event: encoding.evaluation.value(i.term) for i in encoding.instances if i.term >= 0}
        for instance in encoding.instances:
            value = values.get(instance.event)
            if instance.kind not in CUT or value is None:
                continue
            operands = _values(values.get(event) for event in operands_of(trace, instance.event))
            if operands is not None:
                self._enter(trace.site(instance.event), operands, value)

    def _enter(self, site: int, operands: Operands, value: int) -> None:
        known = self.rows[site]
        if known.get(operands, value) != value:
            self.contradicted.add(site)
        elif operands in known or len(known) < MOST_ROWS:
            known[operands] = value


def operands_of(trace: Trace, event: int) -> list[int]:
    """The events whose values an event was computed from, one step back: loads, arguments, results, phis."""
    edges = dependences(trace.plan, trace.columns, event + 1, control=False)
    return [target - 1 for target, kind in edges if kind is Edge.VALUE and target > 0]


def _values(found: Iterable[int | None]) -> Operands | None:
    values = tuple(found)
    return None if None in values else tuple(value for value in values if value is not None)


def is_consistent(formula: TraceFormula, group: int, table: Table) -> bool | None:
    """Whether a one-statement set's values can be those of passing cases where the operands are theirs; None: unknown.

    ``group`` is the statement's number in the formula.
    """
    status, _ = formula.question(frozenset({group}), conditions(formula, group, table))
    return {Status.SATISFIABLE: True, Status.UNSATISFIABLE: False, Status.UNKNOWN: None}[status]


def conditions(formula: TraceFormula, group: int, table: Table) -> list[Term]:
    """That the statement's values are those of the table where its operands are, and equal for equal operands."""
    run, terms = formula.run, formula.run.encoding.terms
    found: list[Term] = []
    seen: dict[int, list[tuple[list[Term], Term]]] = defaultdict(list)
    for instance in formula.members[formula.statements[group]]:
        operands = _terms(run, instance.event)
        if operands is None:
            continue
        site = run.story.trace.site(instance.event)
        if site not in table.contradicted:
            for values, value in table.rows.get(site, {}).items():
                same = [_is(terms, operand, number) for operand, number in zip(operands, values, strict=True)]
                found.append(_implied(terms, same, _is(terms, instance.term, value)))
        for others, result in seen[site][:MOST_ROWS]:
            same = [terms.equal(one, other) for one, other in zip(operands, others, strict=True)]
            found.append(_implied(terms, same, terms.equal(instance.term, result)))
        seen[site].append((operands, instance.term))
    return [condition for condition in found if terms.value(condition) != 1]


def _terms(run: Run, event: int) -> list[Term] | None:
    """The terms of an event's operands; None where one has none."""
    found = [run.by_event.get(operand) for operand in operands_of(run.story.trace, event)]
    return None if None in found else [instance.term for instance in found if instance is not None]


def _is(terms: Terms, term: Term, value: int) -> Term:
    return terms.equal(term, terms.constant(value, terms.widths[term]))


def _implied(terms: Terms, conditions: Iterable[Term], consequence: Term) -> Term:
    return terms.apply("or", 1, terms.negate(terms.both(conditions)), consequence)
