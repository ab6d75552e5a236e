"""Likely invariants: what held at a site in all training runs, of several kinds, and where a run breaks it.

The paper's kind is RANGE, on loads, stores and returns (Sahoo et al. 2013, section 3.1.1). The others are beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind as Event
from whence.probe.sites import Form
from whence.techniques.likely_invariants.profile import (
    MOST_VALUES,
    PROFILE,
    Profile,
    order_of,
    pair_starts,
)
from whence.techniques.likely_invariants.readings import NAN, NUMBER, TOP, UNKNOWN, Readings
from whence.trace.columns import Table
from whence.trace.kernels import lean


class Kind(IntFlag):
    """Kinds of invariants; as bits of an event's verdict those that it breaks."""

    RANGE = 1  # values lie between the least and the greatest one of training
    EXECUTED = 2  # what runs ran in training, too
    BRANCH = 4  # a branch goes where it went in training
    VALUES = 8  # the value is one of the few of training
    NONZERO = 16  # the value is not 0, or not null
    STEP = 32  # the difference to the value before lies in the range of training
    ORDER = 64  # two values of a segment compare as in training
    CRASH = 128  # not learned: the access that ended the run


HELD = 256  # bit of a verdict: the event has an invariant, of a kind that looks at values
ALL = Kind(127)
PAPER = Kind.RANGE
_RANGE, _EXECUTED, _BRANCH, _VALUES, _NONZERO, _STEP, _ORDER = (int(kind) for kind in ALL)


@dataclass(slots=True, frozen=True)
class Settings:
    """Which invariants are looked at.

    ``promote``: loads and stores of private locals have none, as after the paper's register promotion. ``plain``: only
    loads, stores and returns have ranges, not arguments and results of calls. ``control``: what explains a broken
    invariant is followed over control dependence, too.
    """

    kinds: Kind = Kind.RANGE | Kind.EXECUTED | Kind.BRANCH
    promote: bool = False
    plain: bool = False
    control: bool = False


PAPER_SETTINGS = Settings(PAPER, plain=True, control=True)
_PLAIN = (int(Event.LOAD), int(Event.STORE), int(Event.RET))


def allowed_kinds(static: NDArray[np.void], settings: Settings) -> NDArray[np.uint8]:
    """For each site the kinds of invariants that it may have (uint8)."""
    values = settings.kinds & ~(Kind.EXECUTED | Kind.BRANCH)
    found = np.where(static["source"] != 0, int(values), 0)
    found[static["form"] != Form.INTEGER] &= ~_STEP
    if settings.plain:
        found[~np.isin(static["kind"], _PLAIN)] = 0
    if settings.promote:
        found[static["private"] != 0] = 0
    found[static["kind"] == Event.BRANCH] = int(settings.kinds & Kind.BRANCH)
    return np.asarray(found | int(settings.kinds & Kind.EXECUTED), np.uint8)


@dataclass(slots=True, frozen=True)
class Invariants:
    """What held in training: ``rows`` (PROFILE, one a site, bounds over all runs), ``orders`` (uint8, one a pair).

    ``runs`` is the number of training runs. Only sites that one of them executed have invariants.
    """

    rows: NDArray[np.void]
    orders: NDArray[np.uint8]
    runs: int

    def count(self, allowed: NDArray[np.uint8]) -> int:
        """How many sites have an invariant that looks at values."""
        return int(np.count_nonzero((self.rows["known"] > 0) & (allowed & ~np.uint8(_EXECUTED) != 0)))


def learn(profiles: Sequence[Profile], sites: int, pairs: int) -> Invariants:
    """The invariants of some runs; with none there are none (every site counts as never executed)."""
    rows = np.zeros(sites, PROFILE)
    rows["site"] = np.arange(sites)
    rows["low"], rows["step_low"], rows["step_high"] = ~np.uint64(0), np.iinfo(np.int64).max, np.iinfo(np.int64).min
    orders = np.zeros(pairs, np.uint8)
    for profile in profiles:
        _merge(rows, profile.rows)
        orders |= profile.orders
    _merge_values(rows, profiles)
    return Invariants(rows, orders, len(profiles))


def _merge(rows: NDArray[np.void], run: NDArray[np.void]) -> None:
    """Widen the bounds by those of one run."""
    for field in ("count", "known", "steps"):
        rows[field][run["site"]] += run[field]
    rows["nan"][run["site"]] |= run["nan"]
    valued = run[run["known"] > 0]
    moved = run[run["steps"] > 0]
    for part, low, high in ((valued, "low", "high"), (moved, "step_low", "step_high")):
        at = part["site"]
        rows[low][at] = np.minimum(rows[low][at], part[low])
        rows[high][at] = np.maximum(rows[high][at], part[high])


def _merge_values(rows: NDArray[np.void], profiles: Iterable[Profile]) -> None:
    """Join the sets of values."""
    parts = [np.zeros((2, 0), np.uint64)]
    for profile in profiles:
        run = profile.rows
        kept = np.arange(MOST_VALUES) < np.minimum(run["distinct"], MOST_VALUES)[:, None]
        sites = np.broadcast_to(run["site"][:, None].astype(np.uint64), kept.shape)
        parts.append(np.stack([sites[kept], run["values"][kept]]))
        rows["distinct"][run["site"]] |= np.where(run["distinct"] > MOST_VALUES, np.uint8(64), np.uint8(0))
    site, value = np.unique(np.concatenate(parts, axis=1), axis=1).astype(np.uint64)
    number = site.astype(np.int64)
    place = np.arange(len(number)) - np.searchsorted(number, number)
    fits = place < MOST_VALUES
    rows["values"][number[fits], place[fits]] = value[fits]
    sizes = np.bincount(number, minlength=len(rows))
    over = (rows["distinct"] != 0) | (sizes > MOST_VALUES)
    rows["distinct"] = np.where(over, MOST_VALUES + 1, np.minimum(sizes, MOST_VALUES))


# ---- Checking --------------------------------------------------------------------------------------------------------


def check(
    readings: Readings,
    static: NDArray[np.void],
    pairs: NDArray[np.void],
    invariants: Invariants,
    allowed: NDArray[np.uint8],
) -> NDArray[np.uint16]:
    """The verdict of each event (uint16): bits of ``Kind`` that it breaks, and HELD where it has an invariant."""
    found = np.zeros(len(readings.sites), np.uint16)
    last, seen = np.zeros(len(static), np.uint64), np.zeros(len(static), np.bool_)
    _check(readings.sites, readings.keys, readings.state, invariants.rows, allowed, last, seen, found)
    if len(pairs) and (allowed & _ORDER).any():
        starts = pair_starts(pairs, len(static))
        _check_orders(readings.sites, readings.keys, readings.state, pairs, starts, invariants.orders, allowed, found)
    return found


@lean
def _check(
    sites: NDArray[np.int32],
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
    rows: Table,
    allowed: NDArray[np.uint8],
    last: NDArray[np.uint64],
    seen: NDArray[np.bool_],
    found: NDArray[np.uint16],
) -> None:
    """Check the events against all kinds but the order of pairs."""
    for event in range(len(sites)):
        site = sites[event]
        row, kinds = rows[site], allowed[site]
        if row.count == 0:
            found[event] = kinds & _EXECUTED
            continue
        kinds &= ~_EXECUTED
        if state[event] == UNKNOWN or kinds == 0 or row.known + row.nan == 0:
            continue
        verdict = HELD
        if state[event] == NAN:
            found[event] = HELD | (kinds & _RANGE if not row.nan else 0)
            continue
        key = keys[event]
        if kinds & _RANGE and (key < row.low or key > row.high):
            verdict |= _RANGE
        if kinds & (_VALUES | _BRANCH) and row.distinct <= MOST_VALUES:
            is_new = True
            for k in range(row.distinct):
                is_new = is_new and row.values[k] != key
            if is_new:
                verdict |= kinds & (_VALUES | _BRANCH)
        if kinds & _NONZERO and key == TOP and not _has_zero(row):
            verdict |= _NONZERO
        if kinds & _STEP and seen[site] and row.steps > 0:
            step = np.int64(key - last[site])
            if step < row.step_low or step > row.step_high:
                verdict |= _STEP
        last[site], seen[site] = key, True
        found[event] = verdict


@lean
def _has_zero(row: Table) -> bool:
    """Whether 0 may have been among the values: where there were many, it counts as one if it lies in their range."""
    if row.distinct > MOST_VALUES:
        return bool(row.low <= TOP <= row.high)
    found = False
    for k in range(row.distinct):
        found |= row.values[k] == TOP
    return found


@lean
def _check_orders(
    sites: NDArray[np.int32],
    keys: NDArray[np.uint64],
    state: NDArray[np.uint8],
    pairs: Table,
    starts: NDArray[np.int64],
    orders: NDArray[np.uint8],
    allowed: NDArray[np.uint8],
    found: NDArray[np.uint16],
) -> None:
    """Check how the values of pairs compare; the second one, which comes later, breaks what is broken."""
    for event in range(len(sites)):
        site = sites[event]
        for pair in range(starts[site], starts[site + 1]):
            other = event + pairs[pair].second - site
            if other >= len(sites) or state[event] != NUMBER or state[other] != NUMBER or not orders[pair]:
                continue
            if not orders[pair] & order_of(keys[event], keys[other]) and allowed[pairs[pair].second] & _ORDER:
                found[other] |= _ORDER
