"""Patterns in the values of a statement as situation descriptors: in mapping pairs, and in failing and passing runs.

Source: Jeffrey's dissertation (2009), section 8.2.1, figures 8.4 and 8.5. A *value set* holds the values of one
instance of a statement, in the order of their names (``Def``, ``Use1``, ``Use2``). A pattern is a comparison that comes
out the same way in all sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

Number = int | float
ValueSet = Sequence[Number]
Pair = tuple[ValueSet, ValueSet]  # an original set and the alternate one

OTHER_BRANCH, ONE_TO_ANY, ANY_TO_ONE = "OTHER-BRANCH", "ONE-TO-ANY", "ANY-TO-ONE"
ALL_FAIL_SMALLER, ALL_FAIL_LARGER = "ALL-FAIL-SMALLER", "ALL-FAIL-LARGER"
ONE_FAIL_VALUE, ONE_PASS_VALUE = "ONE-FAIL-VALUE", "ONE-PASS-VALUE"


def pair_patterns(names: Sequence[str], pairs: Sequence[Pair], branches: Sequence[str] = ()) -> set[str]:
    """The descriptors of mapping pairs (figure 8.4); ``branches`` are those of the names that are branch outcomes."""
    if not pairs:
        return set()
    originals, alternates = [old for old, _ in pairs], [new for _, new in pairs]
    found = {*_within("orig", names, originals), *_within("alt", names, alternates)}
    for column, name in enumerate(names):
        compared = {_relation(old[column], new[column]) for old, new in pairs}
        if len(compared) == 1:
            found.add(f"orig{name} {compared.pop()} alt{name}")
    found |= set(_special(names, pairs, branches))
    return found


def _special(names: Sequence[str], pairs: Sequence[Pair], branches: Sequence[str]) -> Iterator[str]:
    """The three special patterns; only a value that changes in every pair can show one."""
    for column, name in enumerate(names):
        changes = [(old[column], new[column]) for old, new in pairs]
        if any(old == new for old, new in changes):
            continue
        if name in branches:
            yield OTHER_BRANCH
        elif len(changes) > 1:
            if len({old for old, _ in changes}) == 1:
                yield ONE_TO_ANY
            if len({new for _, new in changes}) == 1:
                yield ANY_TO_ONE


def value_patterns(names: Sequence[str], failing: Sequence[ValueSet], passing: Sequence[ValueSet]) -> set[str]:
    """The descriptors of the values in failing and in passing runs (figure 8.5)."""
    found = {*_within("fail", names, failing), *_within("pass", names, passing)}
    for column in range(len(names)):
        bad, good = [row[column] for row in failing], [row[column] for row in passing]
        if bad and good and max(bad) < min(good):
            found.add(ALL_FAIL_SMALLER)
        if bad and good and min(bad) > max(good):
            found.add(ALL_FAIL_LARGER)
        if len(bad) > 1 and len(set(bad)) == 1:
            found.add(ONE_FAIL_VALUE)
        if len(good) > 1 and len(set(good)) == 1:
            found.add(ONE_PASS_VALUE)
    return found


def _within(prefix: str, names: Sequence[str], rows: Sequence[ValueSet]) -> Iterator[str]:
    """The comparisons between two values of a set that come out the same way in all sets."""
    for (one, first), (two, second) in combinations(enumerate(names), 2):
        relations = {_relation(row[one], row[two]) for row in rows}
        if len(relations) == 1:
            yield f"{prefix}{first} {relations.pop()} {prefix}{second}"


def _relation(one: Number, two: Number) -> str:
    if one == two:
        return "="
    return "<" if one < two else ">" if one > two else "?"
