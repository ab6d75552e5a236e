"""Tolerant range predicates: bounds of a site's values that tell failing runs from passing ones as well as can be.

A range invariant fails by one passing run whose value lies beyond: it is widened, and says nothing any more. A tolerant
predicate "this run's least (greatest) value lies beyond c" has the c at which it agrees best with the verdicts, by
Ochiai's formula with "the predicate holds" in place of "the case executes the statement". Beyond Sahoo et al. 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whence.techniques.likely_invariants.profile import Profile

Keys = NDArray[np.uint64]
Bools = NDArray[np.bool_]


class Form(IntEnum):
    """What a predicate says of a run."""

    LOW = 0  # its least value at the site is the bound, or below
    HIGH = 1  # its greatest value there is the bound, or above
    DOWN = 2  # its least difference from one value of the site to the next is the bound, or below
    UP = 3  # its greatest difference is the bound, or above


_FIELDS = {
    Form.LOW: ("low", "known"),
    Form.HIGH: ("high", "known"),
    Form.DOWN: ("step_low", "steps"),
    Form.UP: ("step_high", "steps"),
}
_UPPER = (Form.HIGH, Form.UP)
TOP = np.uint64(1 << 63)


@dataclass(slots=True)
class Predicates:
    """The best predicate of each site: parallel arrays over ``sites`` (int64, ascending), those that any run executed.

    ``score`` (float64, 0 to 1), ``form`` (uint8), ``bound`` (uint64, a key), and the numbers of failing and passing
    runs in which it holds (int64). A score of 0 stands for none.
    """

    sites: NDArray[np.int64]
    score: NDArray[np.float64]
    form: NDArray[np.uint8]
    bound: Keys
    failing: NDArray[np.int64]
    passing: NDArray[np.int64]


def best_predicates(
    profiles: Sequence[Profile], failed: Bools, forms: Sequence[Form] = (Form.LOW, Form.HIGH)
) -> Predicates:
    """The predicates that fit best which runs ``failed`` (one a profile). Of equal scores that of the first form."""
    sites = np.unique(np.concatenate([np.zeros(0, np.int32), *(p.rows["site"] for p in profiles)])).astype(np.int64)
    fits = [_best(profiles, failed, sites, form) for form in forms]
    best = np.stack([fit[0] for fit in fits]).argmax(axis=0)[None, :]
    score, bound, failing, passing = (
        np.take_along_axis(np.stack(column), best, 0)[0] for column in zip(*fits, strict=True)
    )
    return Predicates(sites, score, np.array(forms, np.uint8)[best[0]], bound, failing, passing)


def _best(profiles: Sequence[Profile], failed: Bools, sites: NDArray[np.int64], form: Form) -> Fit:
    """The best predicates of one form; the bounds of differences are keys, too."""
    field, instances = _FIELDS[form]
    keys = _matrix(profiles, sites, field)
    if form in (Form.DOWN, Form.UP):
        keys ^= TOP
    valid = _matrix(profiles, sites, instances) > 0
    if form in _UPPER:
        return _fit(keys, valid, failed)
    score, bound, failing, passing = _fit(~keys, valid, failed)
    return score, ~bound, failing, passing


def _matrix(profiles: Sequence[Profile], sites: NDArray[np.int64], field: str) -> NDArray[np.uint64]:
    """A field of all profiles: runs by sites, 0 where a run did not execute the site."""
    found = np.zeros((len(profiles), len(sites)), np.uint64)
    for row, profile in zip(found, profiles, strict=True):
        row[np.searchsorted(sites, profile.rows["site"])] = profile.rows[field].view(np.uint64)
    return found


Fit = tuple[NDArray[np.float64], Keys, NDArray[np.int64], NDArray[np.int64]]


def _fit(keys: Keys, valid: Bools, failed: Bools) -> Fit:
    """For each column the predicate "the key is the bound, or above" with the best score.

    Every key of the column is tried as the bound: runs are put in order of their key, the greatest first and those
    without one last, and behind each number of runs with equal keys stands one predicate.
    """
    order = np.lexsort((~keys, ~valid), axis=0)
    keys, valid = np.take_along_axis(keys, order, 0), np.take_along_axis(valid, order, 0)
    failing = np.cumsum(failed[order] & valid, axis=0, dtype=np.int64)
    holds = np.cumsum(valid, axis=0, dtype=np.int64)
    is_last = valid.copy()
    is_last[:-1] &= (keys[1:] != keys[:-1]) | ~valid[1:]
    total = max(int(failed.sum()), 1)
    scores = np.where(is_last, np.sqrt(failing**2 / (total * np.maximum(holds, 1))), 0.0)
    best = scores.argmax(axis=0)[None, :]
    score, bound, hits, all_hits = (np.take_along_axis(a, best, 0)[0] for a in (scores, keys, failing, holds))
    return score, bound, hits, all_hits - hits
