"""The value profile: which values each site has had, over the runs of all cases, and what to try in their place.

Source: Jeffrey's dissertation (2009), definition 3 and section 4.2.2. Values are kept as *keys*, unsigned numbers whose
order is that of the values: signed integers of the site's width, or floating-point numbers. So one sorted array holds
the whole profile, and the alternates of many instances are found by binary search at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.sites import Form

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

TOP = np.uint64(1 << 63)
MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)  # odd numbers that spread pairs over places
PLACES, PORTION = 19, 1 << 16  # bits of a place in the table of what was seen; instances that are looked up at once
_INFINITY = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_REALS: list[tuple[Any, Any]] = [(np.float16, np.uint16), (np.float32, np.uint32), (np.float64, np.uint64)]


@dataclass(slots=True)
class Alternates:
    """Values to try: for each instance a row; ``values`` are bits (uint64), those where ``valid`` is False are none.

    Columns stand in the order in which they are worth trying.
    """

    values: Words
    valid: Bools


@dataclass(slots=True, frozen=True)
class Profile:
    """The distinct values of each site as keys, ascending: those of site s are ``keys[starts[s]:starts[s + 1]]``.

    ``form`` and ``width`` (uint8) have one element a site. A NaN has no place in the order and is left out: it is never
    an alternate. -0.0 counts as 0.0. Sites that hold pointers have no values.
    """

    form: NDArray[np.uint8]
    width: NDArray[np.uint8]
    starts: Integers
    keys: Words
    _ranked: Integers  # site << 32 | rank of the key among all: ascending
    _distinct: Words  # all keys, ascending

    @classmethod
    def of(cls, sites: NDArray[np.void], runs: Iterable[NDArray[np.void]]) -> Profile:
        """The profile of some runs, each given by its events (EVENT), with ``sites`` of an AlterPlan."""
        form, width = sites["form"], sites["width"]
        seen = _Seen(form != Form.POINTER)
        pairs = [_distinct_pairs(*seen.new(events["site"], events["value"])) for events in runs]
        site = np.concatenate([np.zeros(0, np.int64), *(sites for sites, _ in pairs)])
        bits = np.concatenate([np.zeros(0, np.uint64), *(bits for _, bits in pairs)])
        kept = ~is_nan(bits, form[site], width[site])
        site, bits = site[kept], bits[kept]
        found, keys = _distinct_pairs(site, keys_of(bits, form[site], width[site]))
        distinct = np.unique(keys)
        ranked = found << 32 | np.searchsorted(distinct, keys)
        starts = np.searchsorted(found, np.arange(len(sites) + 1))
        return cls(form, width, starts.astype(np.int64), keys, ranked, distinct)

    def values(self, site: int) -> Words:
        """The bits of a site's values, in ascending order of the values."""
        keys = self.keys[self.starts[site] : self.starts[site + 1]]
        return bits_of(keys, np.full(len(keys), self.form[site]), np.full(len(keys), self.width[site]))

    def counts(self, sites: Integers, values: Words) -> Integers:
        """For each instance the number of alternates that the profile has: the full search's (int64)."""
        low, high = self._around(sites, values)
        return np.asarray(np.diff(self.starts)[sites] - (high - low))

    def every(self, sites: Integers, values: Words) -> tuple[Integers, Words]:
        """All alternates of each instance: the rows that they belong to, and their bits."""
        low, high = self._around(sites, values)
        first, last = self.starts[sites], self.starts[sites + 1]
        rows = np.repeat(np.arange(len(sites)), last - first)
        entries = np.arange(len(rows)) - np.repeat(np.cumsum(last - first) - last, last - first)
        kept = (entries < low[rows]) | (entries >= high[rows])
        rows, entries = rows[kept], entries[kept]
        return rows, bits_of(self.keys[entries], self.form[sites[rows]], self.width[sites[rows]])

    def spanning(self, sites: Integers, values: Words) -> Alternates:
        """The alternate spanning values of each instance (section 4.2.2): (n, 4), the two nearest ones first.

        Those are the maximum below the original, the minimum above it, the minimum below and the maximum above.
        """
        low, high = self._around(sites, values)
        first, last = self.starts[sites], self.starts[sites + 1] - 1
        entries = np.stack([low - 1, high, first, last], axis=1)
        below, above = low > first, high <= last
        valid = np.stack([below, above, below & (low - 1 > first), above & (high < last)], axis=1)
        keys = self.keys[np.where(valid, entries, 0)] if len(self.keys) else np.zeros(valid.shape, np.uint64)
        return Alternates(bits_of(keys, self.form[sites][:, None], self.width[sites][:, None]), valid)

    def alternates(self, sites: Integers, values: Words, neighbours: bool = False) -> Alternates:
        """The spanning values, with ``neighbours`` also the original + 1, - 1 and 0 where they are others."""
        found = self.spanning(sites, values)
        if not neighbours:
            return found
        form, width = self.form[sites], self.width[sites]
        near = neighbours_of(values, form, width)
        valid = np.broadcast_to((form != Form.POINTER)[:, None], near.shape).copy()
        valid[:, 1:] &= (width != 1)[:, None]  # the only neighbour of a truth value is the other one
        valid &= ~is_nan(values, form, width)[:, None]
        every = np.concatenate([found.values, near], axis=1)
        valid = np.concatenate([found.valid, valid], axis=1)
        for column in range(found.values.shape[1], every.shape[1]):
            known = (every[:, :column] == every[:, column : column + 1]) & valid[:, :column]
            valid[:, column] &= ~known.any(axis=1) & (every[:, column] != values)
        return Alternates(every, valid)

    def _around(self, sites: Integers, values: Words) -> tuple[Integers, Integers]:
        """For each instance the first entry of its site that is not below the original, and the first above it."""
        form, width = self.form[sites], self.width[sites]
        keys = keys_of(values, form, width)
        below = np.searchsorted(self._distinct, keys, side="left")
        above = np.searchsorted(self._distinct, keys, side="right")
        unordered = is_nan(values, form, width)  # everything counts as above a NaN
        below[unordered], above[unordered] = 0, 0
        sites = sites.astype(np.int64) << 32
        return np.searchsorted(self._ranked, sites | below), np.searchsorted(self._ranked, sites | above)


class _Seen:
    """Leaves out most pairs of a site and a value that were there before: each place of a table keeps the last one.

    Sorting millions of instances takes seconds, and most have values that their sites have had. ``wanted``: the sites
    that count.
    """

    def __init__(self, wanted: Bools) -> None:
        self._wanted = wanted
        self._sites = np.full(1 << PLACES, -1, np.int64)
        self._values = np.zeros(1 << PLACES, np.uint64)

    def new(self, sites: NDArray[np.uint32], values: Words) -> tuple[Integers, Words]:
        """The pairs that may not have been there before: all distinct ones are among them."""
        parts = [self._new(sites[at : at + PORTION], values[at : at + PORTION]) for at in range(0, len(sites), PORTION)]
        parts = parts or [self._new(sites, values)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _new(self, sites: NDArray[np.uint32], values: Words) -> tuple[Integers, Words]:
        kept = self._wanted[sites]
        sites, values = sites[kept], values[kept]
        place = ((values * MIX[0]) ^ (sites.astype(np.uint64) * MIX[1])) >> np.uint64(64 - PLACES)
        is_new = (self._sites[place] != sites) | (self._values[place] != values)
        new, values, place = sites[is_new].astype(np.int64), values[is_new], place[is_new]
        self._sites[place], self._values[place] = new, values
        return new, values


def _distinct_pairs(sites: Integers, keys: Words) -> tuple[Integers, Words]:
    """The distinct pairs, in order of site and key."""
    order = np.lexsort((keys, sites))
    sites, keys = sites[order], keys[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (sites[1:] != sites[:-1]) | (keys[1:] != keys[:-1])
    return sites[new], keys[new]


# ---- Bits and keys ---------------------------------------------------------------------------------------------------


def keys_of(bits: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Words:
    """Unsigned numbers in the order of the values with these bits (zero-extended, ``width`` bits each)."""
    shift = (64 - width.astype(np.uint64)).astype(np.uint64)
    high = bits << shift
    number = (high.view(np.int64) >> shift.astype(np.int64)).view(np.uint64) ^ TOP
    number = np.where(width == 1, (bits & np.uint64(1)) | TOP, number)
    high = np.where(high == TOP, np.uint64(0), high)  # -0.0
    real = np.where(high & TOP, ~high, high | TOP)
    return np.where(form == Form.FLOAT, real, number)


def bits_of(keys: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Words:
    """The bits of the values with these keys: what ``keys_of`` was given, but 0.0 for -0.0."""
    shift = (64 - width.astype(np.uint64)).astype(np.uint64)
    mask = ~np.uint64(0) >> shift
    real = np.where(keys & TOP, keys ^ TOP, ~keys) >> shift
    return np.where(form == Form.FLOAT, real, (keys ^ TOP) & mask)


def is_nan(bits: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Bools:
    """Whether a value is a floating-point NaN."""
    found = np.zeros(len(bits), np.bool_)
    for size, infinity in _INFINITY.items():
        magnitude = bits & np.uint64((1 << (size - 1)) - 1)
        found |= (form == Form.FLOAT) & (width == size) & (magnitude > infinity)
    return found


def neighbours_of(bits: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Words:
    """The bits of value + 1, value - 1 and 0, one row a value. Of a truth value + 1 is not."""
    real = form == Form.FLOAT
    up = np.where(real, np.float64(1).view(np.uint64), np.uint64(1))
    down = np.where(real, np.float64(-1).view(np.uint64), ~np.uint64(0))
    near = (moved(bits, up, form, width), moved(bits, down, form, width), np.zeros(len(bits), np.uint64))
    return np.stack(near, axis=1)


def moved(bits: Words, difference: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Words:
    """The bits of value + difference; integers wrap around, of floating-point numbers the difference is a double's."""
    found = (bits + difference) & (~np.uint64(0) >> (64 - width.astype(np.uint64)).astype(np.uint64))
    for real, word, rows in _reals(form, width):
        with np.errstate(all="ignore"):
            number = _numbers(bits[rows], real, word) + difference[rows].view(np.float64)
            found[rows] = number.astype(real).view(word)
    return found


def differences(bits: Words, others: Words, form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Words:
    """What ``moved`` has to add to the values to get the others."""
    found = (others - bits) & (~np.uint64(0) >> (64 - width.astype(np.uint64)).astype(np.uint64))
    for real, word, rows in _reals(form, width):
        with np.errstate(all="ignore"):
            found[rows] = (_numbers(others[rows], real, word) - _numbers(bits[rows], real, word)).view(np.uint64)
    return found


def _reals(form: NDArray[np.uint8], width: NDArray[np.uint8]) -> Iterator[tuple[Any, Any, Integers]]:
    """The floating-point types of some values, and of each the rows."""
    for real, word in _REALS:
        rows = np.flatnonzero((form == Form.FLOAT) & (width == 8 * np.dtype(real).itemsize))
        if len(rows):
            yield real, word, rows


def _numbers(bits: Words, real: Any, word: Any) -> NDArray[np.float64]:
    """The floating-point numbers that some bits mean, as doubles."""
    return np.asarray(bits.astype(word).view(real), np.float64)
