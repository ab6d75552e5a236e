"""The profile of a run: for each site that it executed, in which bounds its values were, and which values they were.

Values are kept as keys (``readings``), whose order is that of the values. A NaN has no place in it and is noted beside
it. (Range invariants: Sahoo et al. 2013, section 3.1.1; all else is beyond the paper.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.sites import Form
from whence.techniques.likely_invariants.readings import NAN, NUMBER, Readings
from whence.trace.columns import Table
from whence.trace.kernels import inlined, lean

if TYPE_CHECKING:
    from whence.subject.subject import Subject

MOST_VALUES = 8  # distinct values of a site that are kept; one with more is no small set
LESS, EQUAL, GREATER = 1, 2, 4  # how the first value of a pair compared with the second
_INTEGER = int(Form.INTEGER)

PROFILE = np.dtype(
    [
        ("site", "<i4"),
        ("distinct", "u1"),  # how many values are kept; MOST_VALUES + 1: there are more
        ("nan", "u1"),
        ("count", "<i8"),  # instances
        ("known", "<i8"),  # instances with a value that is a number
        ("low", "<u8"),  # keys
        ("high", "<u8"),
        ("values", "<u8", MOST_VALUES),
        ("steps", "<i8"),  # instances behind one with a value
        ("step_low", "<i8"),  # least and greatest difference to the value before, of integers
        ("step_high", "<i8"),
    ]
)

PAIR = np.dtype([("first", "<i4"), ("second", "<i4")])


@dataclass(slots=True)
class Profile:
    """One run: ``rows`` (PROFILE) in order of site, those with an instance alone.

    ``orders`` (uint8) holds for each pair of sites how their values compared: LESS, EQUAL, GREATER or several.
    """

    rows: NDArray[np.void]
    orders: NDArray[np.uint8]
    cut: bool = False


def profile_of(readings: Readings, static: NDArray[np.void], pairs: NDArray[np.void]) -> Profile:
    """The profile of a run; ``static`` is what ``static_sites`` gives, ``pairs`` (PAIR) what ``pairs_of`` gives."""
    rows = np.zeros(len(static), PROFILE)
    rows["site"] = np.arange(len(static))
    last = np.zeros(len(static), np.uint64)
    _gather(readings.sites, readings.keys, readings.state, static, rows, last)
    orders = np.zeros(len(pairs), np.uint8)
    if len(pairs):
        _compare(readings.sites, readings.keys, readings.state, pairs, pair_starts(pairs, len(static)), orders)
    return Profile(rows[rows["count"] > 0], orders, readings.cut)


@lean
def _gather(
    sites: NDArray[np.int32],
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
    static: Table,
    rows: Table,
    last: NDArray[np.uint64],
) -> None:
    """Add the events of a run to the rows of their sites."""
    for event in range(len(sites)):
        site = sites[event]
        row = rows[site]
        row.count += 1
        if state[event] != NUMBER:
            row.nan |= state[event] == NAN
            continue
        key = keys[event]
        row.known += 1
        if row.known == 1:
            row.low, row.high = key, key
            row.values[0], row.distinct = key, 1
        elif key != last[site]:
            row.low, row.high = min(row.low, key), max(row.high, key)
            if row.distinct <= MOST_VALUES:
                _add_value(row, key)
        if static[site].form == _INTEGER and row.known > 1:
            step = np.int64(key - last[site])
            row.step_low = step if row.steps == 0 else min(row.step_low, step)
            row.step_high = step if row.steps == 0 else max(row.step_high, step)
            row.steps += 1
        last[site] = key


@inlined
def _add_value(row: Table, key: np.uint64) -> None:
    """Add a value to the set of a site."""
    for k in range(row.distinct):
        if row.values[k] == key:
            return
    if row.distinct < MOST_VALUES:
        row.values[row.distinct] = key
    row.distinct += 1


# ---- Pairs -----------------------------------------------------------------------------------------------------------


@lean
def _compare(
    sites: NDArray[np.int32],
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
    pairs: Table,
    starts: NDArray[np.int64],
    orders: NDArray[np.uint8],
) -> None:
    """Note how the values of pairs compared; both sites of a pair stand in one segment, so their events are near."""
    for event in range(len(sites)):
        site = sites[event]
        for pair in range(starts[site], starts[site + 1]):
            other = event + pairs[pair].second - site
            if other < len(sites) and state[event] == NUMBER and state[other] == NUMBER:
                orders[pair] |= order_of(keys[event], keys[other])


@inlined
def order_of(first: np.uint64, second: np.uint64) -> int:
    """How two keys compare: LESS, EQUAL or GREATER."""
    if first < second:
        return LESS
    return EQUAL if first == second else GREATER


MOST_PAIRS = 12  # of a segment: the first ones


def pairs_of(subject: Subject, static: NDArray[np.void]) -> NDArray[np.void]:
    """The pairs (PAIR) of sites whose values are compared, in order of the first site.

    Both load or store numbers of one type in the same segment: what a statement compares or combines, and what a
    function's parameters are at its entry.
    """
    plan = subject.plan
    usable = (static["source"] != 0) & (static["form"] != Form.POINTER) & (static["width"] > 1)
    usable &= (static["kind"] == Kind.LOAD) | (static["kind"] == Kind.STORE)
    found: list[tuple[int, int]] = []
    chosen = np.flatnonzero(usable)
    for sites in np.split(chosen, np.flatnonzero(np.diff(plan.sites["segment"][chosen])) + 1):
        pairs = ((a, b) for a, b in combinations(sites.tolist(), 2) if _are_alike(static, a, b))
        found += islice(pairs, MOST_PAIRS)
    return np.array(sorted(found), PAIR)


def _are_alike(static: NDArray[np.void], first: int, second: int) -> bool:
    return bool(static["form"][first] == static["form"][second] and static["width"][first] == static["width"][second])


def pair_starts(pairs: NDArray[np.void], sites: int) -> NDArray[np.int64]:
    """Where the pairs of each first site start (int64, one more than there are sites)."""
    return np.searchsorted(pairs["first"], np.arange(sites + 1)).astype(np.int64)
