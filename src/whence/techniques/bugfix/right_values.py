"""Edits that follow from right values: what a statement gave, and what it should have given in the failing runs.

Value replacement finds values that mend a failing run, and a formula those with which it is right. Where the same
number would have been right in all of them, or one that is as far from what was there, that number says what to write:
in place of a constant or of a whole value, or added to one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from whence.findings import Statement
from whence.program.c_source import CSource, Unit, walk
from whence.techniques.bugfix.expressions import Splice, is_whole

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 6  # values, and distances, of a statement
_SHOWN = re.compile(r"(?:'.+' \()?(-?\d+(?:\.\d+)?)\)?")  # 5, -0.5, 'a' (97)
_DECIMAL = re.compile(r"(?:0|[1-9]\d*)(?:\.\d+)?")  # a literal: 017 is another number
_NAME = re.compile(r"[A-Za-z_]\w*")  # an enumerator, NULL
_PLACE = re.compile(r"\*?[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[\w+\])*")
_PLAIN = frozenset(("identifier", "field_expression", "subscript_expression", "call_expression", "number_literal"))


@dataclass(frozen=True, slots=True)
class RightValues:
    """Of one statement: numbers that would have been right, and how far right ones are from what was there.

    Those come first that more failing cases share.
    """

    values: tuple[Fraction, ...] = ()
    distances: tuple[Fraction, ...] = ()


def right_assignments(pairs: Iterable[Mapping[str, Any]]) -> list[tuple[Statement, str, str]]:
    """What could have been assigned before: for pairs of values the statement, the place and the value, as C has them.

    Those with which a whole run passes come first.
    """
    ordered = sorted((row for row in pairs if not row["further"]), key=lambda row: bool(row["relaxed"]))
    found = ((_at(row), row["name"], _literal(row["alternate"])) for row in ordered if _PLACE.fullmatch(row["name"]))
    return list(dict.fromkeys((at, name, value) for at, name, value in found if value))


def _literal(shown: str) -> str:
    """A value that C prints, as an expression of C; empty: it has none that is known."""
    if (number := _number(shown)) is not None:
        return _written(number)
    return {"true": "1", "false": "0"}.get(shown, shown if _NAME.fullmatch(shown) else "")


def right_values(
    pairs: Iterable[Mapping[str, Any]], diagnoses: Iterable[Mapping[str, Any]]
) -> dict[Statement, RightValues]:
    """What pairs of values (the part ``pairs``) and correction sets of one statement (``diagnoses``) say.

    Values that correct the first wrong line of the output alone count as well: they come behind the others.
    """
    changes: list[tuple[Statement, str, str, str, float]] = [
        (_at(row), row["original"], row["alternate"], row["case"], 0.5 if row["relaxed"] else 1.0)
        for row in pairs
        if not row["further"]
    ]
    for row in diagnoses:
        if len(row["statements"]) == 1:
            at = _at(row["statements"][0])
            changes += [(at, value["was"], value["right"], row["case"], 1.0) for value in row["values"]]
    weights: dict[Statement, dict[tuple[str, Fraction], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for at, old, new, case, weight in changes:
        was, right = _number(old), _number(new)
        if was is not None and right is not None and was != right:
            for key in (("value", right), ("distance", right - was)):
                cases = weights[at][key]
                cases[case] = max(cases.get(case, 0.0), weight)
    return {at: _of(found) for at, found in weights.items()}


def _of(found: Mapping[tuple[str, Fraction], Mapping[str, float]]) -> RightValues:
    counts = Counter({key: sum(cases.values()) for key, cases in found.items()})
    ordered = sorted(counts, key=lambda key: (-counts[key], abs(key[1]), key))
    kinds = [tuple(number for kind, number in ordered if kind == name)[:MOST] for name in ("value", "distance")]
    return RightValues(*kinds)


def _at(row: Mapping[str, Any]) -> Statement:
    return Statement(row["file"], row["line"])


def _number(shown: str) -> Fraction | None:
    """The number that a value is shown as; None: it is no number, or one without end."""
    found = _SHOWN.fullmatch(shown)
    return Fraction(found[1]) if found else None


def splices(source: CSource, unit: Unit, right: RightValues) -> Iterator[Splice]:
    """The changes of a unit that the numbers stand for."""
    for node in walk(unit.node):
        if not node.is_named or node.type not in _PLAIN | {"binary_expression", "conditional_expression"}:
            continue
        whole = is_whole(node) or node == unit.node
        texts = list(_of_node(source, node, right, whole))
        for text in dict.fromkeys(texts):
            yield Splice(node.start_byte, node.end_byte, text.encode("latin-1"), 0)


def _of_node(source: CSource, node: Node, right: RightValues, whole: bool) -> Iterator[str]:
    old = source.name(node)
    if node.type == "number_literal":
        if _DECIMAL.fullmatch(old):
            yield from (_written(Fraction(old) + distance) for distance in right.distances)
    elif whole:
        text = old if node.type in _PLAIN else f"({old})"
        signed = ((text, "-" if distance < 0 else "+", _written(abs(distance))) for distance in right.distances)
        yield from (f"{first} {sign} {number}" for first, sign, number in signed)
    if whole or node.type == "number_literal":
        yield from (_written(value) for value in right.values)


def _written(number: Fraction) -> str:
    """A number in C."""
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
