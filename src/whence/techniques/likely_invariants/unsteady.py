"""Values that differ when the same case is run again: numbers of processes, times, what comes of random numbers.

That failing runs have other ones than passing runs says when they were recorded, not what is wrong. The failing case is
recorded once more, behind all other runs: so what rises with time differs at least as much as between any two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.techniques.likely_invariants.readings import UNKNOWN

if TYPE_CHECKING:
    from whence.techniques.likely_invariants.profile import Profile
    from whence.techniques.likely_invariants.runs import Failing, Observer, Run

_KEPT = ("site", "count")  # of a site whose values are not looked at: that it was executed, and how often


def unsteady_sites(first: Profile, again: Profile) -> NDArray[np.int64]:
    """The sites whose values are not the same in two runs of one case, in order; those that only one run has, too."""
    sites = np.union1d(first.rows["site"], again.rows["site"])
    one, other = (_rows(profile, sites) for profile in (first, again))
    return np.asarray(sites[one != other], np.int64)


def _rows(profile: Profile, sites: NDArray[np.int32]) -> NDArray[np.void]:
    found = np.zeros(len(sites), profile.rows.dtype)
    found[np.searchsorted(sites, profile.rows["site"])] = profile.rows
    return found


def leave_out(sites: NDArray[np.int64], observer: Observer, failing: Sequence[Failing], good: Sequence[Run]) -> None:
    """Forget the values that runs had at some sites, and how those compared with others."""
    pairs = np.isin(observer.pairs["first"], sites) | np.isin(observer.pairs["second"], sites)
    for run in (*failing, *good):
        rows = run.profile.rows.copy()
        blank = np.isin(rows["site"], sites)
        for name in (name for name in rows.dtype.names or () if name not in _KEPT):
            rows[name][blank] = 0
        run.profile = replace(run.profile, rows=rows, orders=np.where(pairs, 0, run.profile.orders).astype(np.uint8))
    for one in failing:
        one.readings.state[np.isin(one.readings.sites, sites)] = UNKNOWN
