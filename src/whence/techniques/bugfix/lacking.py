"""Places at which a condition may be missing: what to observe there, and what becomes of conditions that are told.

A statement may lack one in front of it, the last one of a block also behind it; a condition may lack a part; so may a
truth that is returned or kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from whence.program.c_source import Place, Unit, is_listed
from whence.program.observation import Spot
from whence.program.source_edits import Kind, Part
from whence.techniques.bugfix.conditions import Conditions, opposite, split, statement_of
from whence.techniques.bugfix.effects import Effects
from whence.techniques.bugfix.expression_types import FLOATS, constant
from whence.techniques.bugfix.expressions import ExpressionChanges, Splice
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.statements import StatementChanges, is_all_of_a_branch, is_last, leaves
from whence.techniques.bugfix.telling_conditions import Comparison, Told, asked
from whence.techniques.bugfix.terms import Terms

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_ASKED = 1_500  # conditions that are looked at at a place


@dataclass(frozen=True, slots=True)
class Lacking:
    """A place on a line at which a condition may be missing: at a statement, or in a ``unit``.

    ``spot`` is what has to be observed there so that it can be told which of the ``comparisons`` hold.
    """

    line: int
    spot: Spot
    comparisons: list[Comparison]
    node: Node
    unit: Unit | None = None


class LackingConditions:
    """What the places of one file lack."""

    def __init__(
        self,
        scope: Scope,
        terms: Terms,
        conditions: Conditions,
        expressions: ExpressionChanges,
        statements: StatementChanges,
    ) -> None:
        self._source, self._terms, self._conditions = scope.source, terms, conditions
        self._expressions, self._statements = expressions, statements
        self._effects = Effects(scope.source)

    def at(self, line: int, statement: Node) -> Iterator[Lacking]:
        """In front of a statement, and behind it where it is the last one of its block."""
        yield self._lacking(line, statement)
        if is_last(statement) and not leaves(statement):
            yield self._lacking(line, statement, behind=True)

    def of(self, line: int, unit: Unit) -> Iterator[Lacking]:
        """In a condition, and where a variable is declared with a value."""
        if unit.place is Place.CONDITION:
            yield self._lacking(line, unit.node, unit)
        elif unit.place is Place.INITIALISER:
            declaration = statement_of(unit.node)
            if declaration.parent is not None and declaration.parent.type == "compound_statement":
                yield self._lacking(line, declaration, unit)

    def _lacking(self, line: int, node: Node, unit: Unit | None = None, behind: bool = False) -> Lacking:
        known = islice(filter(self._effects.are_none, self._conditions.all(node)), MOST_ASKED)
        real = {term.text: term.type in FLOATS for term in self._terms.at(statement_of(node))}
        what = asked(known, real)
        tests = unit is not None and unit.place is Place.CONDITION
        effects = tests and not self._effects.are_none(self._source.name(node))
        listed = unit is not None or is_listed(node)
        spot = Spot(node.start_byte, node.end_byte, tuple(what.expressions), tests, effects, listed, behind)
        return Lacking(line, spot, what.comparisons, node, unit)

    def parts(self, place: Lacking, told: Told) -> Iterator[tuple[Part, ...]]:
        """The edits of a statement with conditions that were told: it is guarded, left early, or comes to a limit."""
        if place.unit is None:
            if not (place.spot.behind or is_all_of_a_branch(place.node)):
                yield from ((self._part(place, Kind.GUARD, opposite(condition)),) for condition in told.where)
            for condition in told.where:
                for leave in self._statements.leaving(place.node):
                    yield (self._put_in(place, f"if ({condition}) {leave}"),)
            yield from ((self._put_in(place, text),) for text in self._limits(place, told.where))
            yield from ((self._put_in(place, text),) for text in self._usual(place, told.usual))

    def splices(self, place: Lacking, unit: Unit, told: Told) -> Iterator[Splice]:
        """The conditions of a unit at a place with those joined to them that were told."""
        added = told.where_not if place.spot.tests else told.where
        for operator, conditions in (("&&", [opposite(text) for text in told.where]), ("||", added)):
            yield from self._expressions.joined(unit, operator, conditions)

    def _limits(self, place: Lacking, told: Sequence[str]) -> Iterator[str]:
        """What a comparison tells to be too much, or too little, becomes its other side."""
        places = {term.text for term in self._terms.at(place.node) if term.is_place}
        for condition in told:
            left, operator, right = split(condition) or ("", "", "")
            for name, value in ((left, right), (right, left)):
                if name in places and operator in ("<", ">"):
                    yield f"if ({condition}) {name} = {value};"

    def _usual(self, place: Lacking, values: Mapping[str, float]) -> Iterator[str]:
        """What has other values in failing runs is set to the one that it has in passing ones."""
        for term in self._terms.at(place.node):
            text = constant(term.type, values[term.text]) if term.is_place and term.text in values else None
            if text is not None:
                yield f"{term.text} = {text};"

    def _put_in(self, place: Lacking, text: str) -> Part:
        return self._part(place, Kind.BEHIND if place.spot.behind else Kind.BEFORE, text)

    def _part(self, place: Lacking, kind: Kind, text: str) -> Part:
        return Part(kind, place.spot.start, place.spot.end, text.encode("latin-1"), listed=place.spot.listed)
