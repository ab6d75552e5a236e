"""Candidate root causes, step by step as the paper walks them (Sahoo et al. 2013, sections 3 to 5).

Steps: sites whose invariant is broken in the failing run; those broken in the slice of its symptom; those that are left
after dependence filtering; and those left in all other failing runs with the same symptom, too. Every step keeps its
set. For a crash the access that crashed counts as broken from the start (section 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from whence.techniques.likely_invariants.filters import BROKEN, HOLDS, NOTHING, explained
from whence.techniques.likely_invariants.kinds import HELD, Invariants, Kind, Settings, allowed_kinds, check
from whence.techniques.likely_invariants.runs import Failing, Observer

Integers = NDArray[np.int64]
MEMORY = "crash"  # the kind of symptom whose place is a candidate


class Step(IntEnum):
    """The steps, in the order in which sets get smaller."""

    FAILED = 0
    SLICE = 1
    DEPENDENCE = 2
    SEVERAL = 3


NAMES = {Step.FAILED: "failed", Step.SLICE: "slice", Step.DEPENDENCE: "dependence", Step.SEVERAL: "several"}


@dataclass(slots=True)
class Broken:
    """What one failing run breaks: for each event a verdict (uint16), and whether another one explains it (bool).

    ``sets`` holds the sites (int64, ascending) of the first three steps. ``by_site`` are the broken events in order of
    site, then time, and ``sites`` their sites.
    """

    run: Failing
    verdicts: NDArray[np.uint16]
    explained: NDArray[np.bool_]
    sets: list[Integers]
    by_site: Integers
    sites: Integers

    def events(self, site: int) -> Integers:
        """The broken events of a site: those first that got through most steps, then in order of time."""
        found = self.by_site[slice(*np.searchsorted(self.sites, (site, site + 1)).tolist())]
        steps = self.run.in_slice[found].astype(np.int64)
        steps += steps * ~self.explained[found]
        return found[np.argsort(-steps, kind="stable")]


@dataclass(slots=True)
class Candidates:
    """The sets of all steps for the first failing run, and what all of them break.

    ``held_for`` maps a site to the number of failing runs in which it is left after dependence filtering.
    """

    broken: list[Broken]
    sets: list[Integers]
    held_for: dict[int, int]
    several: int  # failing runs that the last step intersects, the first one included

    def step_of(self, site: int) -> Step:
        """The last step whose set holds a site of the first set."""
        return Step(max(step for step, found in enumerate(self.sets) if site in found))


def is_broken(verdicts: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """For each event whether it breaks an invariant."""
    return np.asarray(verdicts & (HELD - 1) != 0)


def candidates(
    observer: Observer, failing: Sequence[Failing], invariants: Invariants, settings: Settings
) -> Candidates:
    """The candidates of the first failing run; the others are what it is intersected with."""
    broken = [break_down(observer, run, invariants, settings) for run in failing]
    first = broken[0]
    alike = [one for one in broken if is_same(one.run, first.run)]
    last = first.sets[-1]
    for one in alike[1:]:
        last = np.intersect1d(last, one.sets[-1])
    held: dict[int, int] = {}
    for one in broken:
        for site in one.sets[-1].tolist():
            held[site] = held.get(site, 0) + 1
    return Candidates(broken, [*first.sets, last], held, len(alike))


def is_same(run: Failing, other: Failing) -> bool:
    """Whether two failures show in the same way, at the same statement."""
    return (run.symptom.kind, run.symptom.statement) == (other.symptom.kind, other.symptom.statement)


def break_down(observer: Observer, run: Failing, invariants: Invariants, settings: Settings) -> Broken:
    """What a failing run breaks, and what is left of it by the filters that look at one run alone."""
    allowed = allowed_kinds(observer.static, settings)
    verdicts = check(run.readings, observer.static, observer.pairs, invariants, allowed)
    if run.symptom.kind == MEMORY and 0 <= run.symptom.event < len(verdicts):
        verdicts[run.symptom.event] |= np.uint16(Kind.CRASH)
    broken = is_broken(verdicts)
    states = np.where(broken, np.uint8(BROKEN), np.where(verdicts & HELD, np.uint8(HOLDS), np.uint8(NOTHING)))
    behind = explained(run.reader.trace, run.slice, states.astype(np.uint8), settings.control)[: len(verdicts)]
    sites, sliced = run.readings.sites, broken & run.in_slice
    sets = [np.unique(sites[chosen]).astype(np.int64) for chosen in (broken, sliced, sliced & ~behind)]
    events = np.flatnonzero(broken)
    events = events[np.argsort(sites[events], kind="stable")]
    return Broken(run, verdicts, behind, sets, events, sites[events].astype(np.int64))
