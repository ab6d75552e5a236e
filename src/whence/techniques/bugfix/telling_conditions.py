"""Conditions that tell failing runs from passing ones, by what was observed where they could stand.

Source: angelic values and synthesis from observed values, Xuan et al.: Nopol, 2017, with the values of all runs in
place of a solver's. A check that is missing refuses what only failing runs come to the place with: where a condition
never held in a passing run, and did in each failing one, a check of it changes no passing run. So of the thousands of
conditions that a place can have a few are left to be tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.program.observation import Expression, Spot, Values
from whence.techniques.bugfix.conditions import split

MOST_EXPRESSIONS = 96  # that are observed at a place
OFTEN = 0.5  # of the passing runs that come to a place: a condition that holds in more tells nothing
ALIKE, OF_ONE = 8, 2  # conditions that held at the same times, and of these such as compare the same expression
MOST = 24  # ... and all, that are taken of a place
_OPERATORS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition with the columns of what it compares; without an operator the left one decides."""

    text: str
    left: int
    operator: str = ""
    right: int = 0


@dataclass(slots=True)
class Asked:
    """The conditions that a place could have, the likely ones first, and the expressions that decide them."""

    expressions: list[Expression] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Told:
    """Conditions that tell failing runs from passing ones at a place: they held in those.

    Of a condition that is observed: those that do where it held, and those that do ``where_not``. ``usual``: by
    expression the one value that it has in passing runs, where failing ones have others.
    """

    where: list[str]
    where_not: list[str] = field(default_factory=list)
    usual: dict[str, float] = field(default_factory=dict)


def asked(conditions: Iterable[str], real: Mapping[str, bool]) -> Asked:
    """What has to be observed for conditions; ``real``: of expressions whether they are no whole numbers."""
    found, columns = Asked(), dict[str, int]()

    def column(text: str) -> int:
        place = columns.get(text, -1)
        if place < 0 and len(columns) < MOST_EXPRESSIONS:
            place = columns[text] = len(columns)
            found.expressions.append(Expression(text, real.get(text, _is_real(text))))
        return place

    for text in conditions:
        left, operator, right = split(text) or (text, "", "")
        first = column(left)
        second = column(right) if operator and first >= 0 else first
        if second >= 0:
            found.comparisons.append(Comparison(text, first, operator, second))
    return found


def _is_real(text: str) -> bool:
    return re.fullmatch(r"-?\d*\.\d*(e-?\d+)?", text) is not None


def told(place: Sequence[Comparison], spot: Spot, failing: Sequence[Values], passing: Sequence[Values]) -> Told:
    """What was observed at a place, ``spot``, tells of the conditions that it could have."""
    if not spot.tests:
        return Told(telling(place, failing, passing), usual=usual(spot.expressions, failing, passing))
    return Told(telling(place, failing, passing, True), telling(place, failing, passing, False))


def telling(
    comparisons: Sequence[Comparison], failing: Sequence[Values], passing: Sequence[Values], outcome: bool | None = None
) -> list[str]:
    """The conditions that held at some time in each failing run, and in few passing ones that come to the place.

    First those that never did in a passing run, in their order; then those that did in the fewest, in at most half of
    them: not all that should have been refused need show. With an ``outcome`` only those times count at which the
    condition that is observed came to it. Those that had no value at some time are none.
    """
    parts = [_counted(one, outcome) for one in (*failing, *passing)]
    came = [len(values) > 0 for values, _ in parts]
    if not failing or not all(came[: len(failing)]) or not any(came[len(failing) :]):
        return []  # where no passing run comes any condition would do
    parts = [part for part, is_there in zip(parts, came, strict=True) if is_there]
    values = np.concatenate([values for values, _ in parts])
    known = np.concatenate([mask for _, mask in parts])
    starts = np.cumsum([0, *(len(mine) for mine, _ in parts[:-1])])
    found, alike, of_one = list[tuple[float, str]](), Counter[bytes](), Counter[tuple[bytes, int]]()
    for one in comparisons:
        if not (known[:, one.left].all() and known[:, one.right].all()):
            continue
        held = _held(one, values)
        runs = np.logical_or.reduceat(held, starts)
        share = float(runs[len(failing) :].mean())
        if not runs[: len(failing)].all() or share > OFTEN:
            continue
        times = held.tobytes()
        if alike[times] < ALIKE and of_one[times, one.left] < OF_ONE:
            alike[times] += 1
            of_one[times, one.left] += 1
            found.append((share, one.text))
    never = [text for share, text in found if not share][:MOST]
    return never + [text for share, text in sorted(found, key=lambda one: one[0]) if share][:MOST]


def usual(expressions: Sequence[Expression], failing: Sequence[Values], passing: Sequence[Values]) -> dict[str, float]:
    """The expressions that always have one value in passing runs, and at some time another in each failing one.

    What else has that value there was set anew before. With the value, in their order; without what had none at some
    time, and where fewer than two passing runs come to the place.
    """
    came = [one for one in passing if len(one.values)]
    if len(came) < 2 or not failing or not all(len(one.values) for one in failing):
        return {}
    first, others = came[0].values[0], np.ones(len(expressions), np.bool_)
    for one in (*failing, *came):
        others &= one.known.all(axis=0)
    for one in came:
        others &= (one.values == first).all(axis=0)
    for one in failing:
        others &= (one.values != first).any(axis=0)
    known = zip(expressions, others.tolist(), first.tolist(), strict=True)
    return {expression.text: value for expression, is_told, value in known if is_told}


def _counted(one: Values, outcome: bool | None) -> tuple[NDArray[np.float64], Truths]:
    """The times that count; a condition that ended the program might have come to anything."""
    if outcome is None:
        return one.values, one.known
    rows = ((one.values[:, -1] != 0) == outcome) | ~one.known[:, -1]
    return one.values[rows], one.known[rows]


def _held(one: Comparison, values: NDArray[np.float64]) -> Truths:
    if not one.operator:
        return np.asarray(values[:, one.left] != 0)
    return np.asarray(_OPERATORS[one.operator](values[:, one.left], values[:, one.right]))
