"""Pairs of whole sets of values, as definition 2 has them: all values of a statement's instance change at once.

A statement's instance here is its part of one executed block; its *set* holds the values of all its sites there but
addresses. The alternates are the sets of other instances of the same statement and block, over all cases (definition
3); the reduced search takes for each value and each of its four spanning values a set that has it, the one that differs
in the fewest other values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whence.alter.profile import Profile, keys_of
from whence.probe.sites import Form
from whence.techniques.value_replacement.mapping_pairs import Further, Search, Settings, Tries, Working
from whence.techniques.value_replacement.targets import Integers, Plan, Target, Words

SETS = 2000  # distinct sets of a statement and block that are kept, spread evenly over all


class ValueSets:
    """The distinct sets of values of each statement and block: matrices of bits (uint64), a column a site."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._is_altered = plan.is_searched & (plan.sites["form"] != Form.POINTER)
        pairs = np.stack([plan.statements, plan.sites["block"]])
        self._shape = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
        self._width = np.bincount(self._shape[self._is_altered], minlength=int(self._shape.max(initial=-1)) + 1)
        self._rows: dict[int, Words] = {}

    def add(self, events: NDArray[np.void]) -> None:
        """Add the sets of a run, given by its events (EVENT)."""
        for shape, indices in self.instances(events):
            rows = np.asarray(events["value"])[indices]
            known = self._rows.get(shape)
            found = np.unique(rows if known is None else np.concatenate([known, rows]), axis=0)
            if len(found) > SETS:
                found = found[np.linspace(0, len(found) - 1, SETS).astype(np.int64)]
            self._rows[shape] = found

    def instances(self, events: NDArray[np.void]) -> Iterator[tuple[int, Integers]]:
        """The instances of a run by statement and block: for each a matrix of indices of events, a row an instance.

        An instance that the run did not finish is left out.
        """
        kept = np.flatnonzero(self._is_altered[events["site"]])
        shape, clock = self._shape[events["site"][kept]], events["clock"][kept]
        order = np.lexsort((events["site"][kept], clock, shape))
        kept, shape, clock = kept[order], shape[order], clock[order]
        starts = np.flatnonzero(np.append(True, (np.diff(shape) != 0) | (clock[1:] != clock[:-1]))[: len(kept)])
        lengths = np.diff(np.append(starts, len(kept)))
        complete = np.repeat(lengths == self._width[shape[starts]], lengths)
        for number in np.unique(shape[complete]).tolist():
            rows = kept[complete & (shape == number)]
            yield number, rows.reshape(-1, int(self._width[number]))

    def counts(self, events: NDArray[np.void]) -> int:
        """How many altered runs all alternates of all instances of a run make."""
        return sum(len(rows) * (len(self._rows[shape]) - 1) for shape, rows in self.instances(events))

    def others(self, shape: int, sites: Integers, original: Words, full: bool) -> Words:
        """The sets to try in place of one: a matrix of bits."""
        rows = self._rows[shape]
        form, width = self._plan.sites["form"][sites], self._plan.sites["width"][sites]
        keys, key = keys_of(rows, form, width), keys_of(original, form, width)
        differs = (keys != key).sum(axis=1)
        if full:
            return np.asarray(rows[differs > 0])
        chosen = {
            _nearest(keys[:, column] == value, differs)
            for column in range(len(key))
            for value in _spanning(keys[:, column], key[column])
        }
        return np.asarray(rows[sorted(chosen)])


def _spanning(keys: Words, key: np.uint64) -> set[np.uint64]:
    """The minimum and the maximum below and above."""
    sides = (keys[keys < key], keys[keys > key])
    return {pick for side in sides if len(side) for pick in (side.min(), side.max())}


def _nearest(has_value: NDArray[np.bool_], differs: Integers) -> int:
    """Of the sets that have a value the one that differs in the fewest values."""
    rows = np.flatnonzero(has_value)
    return int(rows[differs[rows].argmin()])


class SetSearch(Search):
    """A search in which a pair replaces the set of values of a statement's instance."""

    def __init__(
        self, targets: Sequence[Target], profile: Profile, work: Working, settings: Settings, sets: ValueSets
    ) -> None:
        super().__init__(targets, profile, work, settings)
        self._sets = sets
        self._instance = [_by_event(target, sets) for target in targets]
        self.done.possible = sum(sets.counts(target.events) for target in targets)

    def _rounds(self, run: int) -> Iterator[Integers]:
        """Of each instance one event, which stands for it."""
        first = np.zeros(len(self.done.targets[run].events), np.bool_)
        first[list(self._instance[run])] = True
        for events in super()._rounds(run):
            yield events[first[events]]

    def _tries(self, run: int, events: Integers) -> Tries:
        target = self.done.targets[run]
        found: list[tuple[int, int, Further]] = []
        known: dict[tuple[int, bytes], Words] = {}
        for event in events.tolist():
            shape, indices = self._instance[run][event]
            original = target.values[indices]
            key = (shape, original.tobytes())
            if key not in known:
                known[key] = self._sets.others(shape, target.sites[indices], original, self.settings.full)
            for row in known[key]:
                changed = np.flatnonzero(row != original)
                first, *_ = changed[np.argsort(indices[changed])]
                rest = changed[changed != first]
                found.append((int(indices[first]), int(row[first]), (indices[rest], row[rest])))
        chosen, values = [event for event, _, _ in found], [value for _, value, _ in found]
        further = [more for _, _, more in found]
        return Tries(run, np.array(chosen, np.int64), np.array(values, np.uint64), further)

    def _try_elsewhere(self) -> None:
        """A set is no kind of change that another run could have, too."""


def _by_event(target: Target, sets: ValueSets) -> dict[int, tuple[int, Integers]]:
    """The instances of a run: by the first event of each its statement and block, and all its events."""
    return {int(row.min()): (shape, row) for shape, rows in sets.instances(target.events) for row in rows}
