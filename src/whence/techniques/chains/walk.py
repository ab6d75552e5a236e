"""What the algorithms have in common: they go from the failure backward, and gather failure-inducing sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.techniques.chains.ahead import Sources
from whence.techniques.chains.causality import FAILURE, Causality, Set, Target
from whence.techniques.chains.index_tree import IndexTree

NEAR = 2  # points before a target whose states are read beforehand
SOURCES = 4  # definitions that a value was made of whose states are read beforehand
FIRST_POINTS = 16  # at which the first difference of the runs is looked for


@dataclass(slots=True)
class Walk:
    """A walk in progress: ``sets`` are the sets that were found, the last one first, each with its point.

    What was found so far stays when it ends by an exception. ``is_printed``: as the paper prints its algorithms, which
    compute a whole set wherever they compare two, by one altered run after the other. By itself it asks by one altered
    run whether a set stays the same, and altered runs that are known to be wanted next share a job: the sets are the
    same ones.
    """

    causality: Causality
    tree: IndexTree
    sets: list[tuple[int, Set]] = field(default_factory=list)
    is_printed: bool = False
    _definitions: set[int] = field(default_factory=set)
    _sources: Sources = field(init=False)

    def __post_init__(self) -> None:
        self._sources = Sources(self.causality.states.pairing)

    def fis(self, point: int, target: Target) -> Target:
        """The set at a point that induces a target, as the next target."""
        return Target(point, self.causality.fis(point, target))

    def keeps(self, point: int, target: Target) -> Target | None:
        """The target moved back to a point whose set is the same one; None where it is another one."""
        if self.is_printed:
            found = self.fis(point, target)
            return found if found.variables == target.variables else None
        return Target(point, target.variables) if self.causality.keeps(point, target) else None

    def foresee(self, point: int, target: Target) -> None:
        """Have what is likely to be looked at next read and tested with what is run next.

        That are the states at a point and at the one before it, those where its value comes from, those right before
        the target, and where the target's set may be the same one up to the point, the set before it.
        """
        if self.is_printed:
            return
        before = self.tree.before(point)
        self.causality.states.foresee([point, before, *self._right_before(target), *self._around_sources(point)])
        if before is not None and self.causality.may_keep(point, target):
            self.causality.foresee(before, Target(point, target.variables))

    def read_ahead(self, points: Iterable[int], target: Target) -> None:
        """Have the states at some points, of those at which a target's set may be the same one, read at once."""
        if not self.is_printed:
            self.causality.states.foresee([point for point in points if self.causality.may_keep(point, target)])

    def _right_before(self, target: Target) -> NDArray[np.int64]:
        place = int(np.searchsorted(self.tree.points, target.point))
        return self.tree.points[max(place - NEAR, 0) : place]

    def _around_sources(self, event: int) -> Iterator[int | None]:
        """The points at which the last definitions that a value was made of, and what is before them, are looked at."""
        for source in self._sources.of(event, SOURCES):
            yield source if self.tree.is_point(source) else None
            yield self.tree.before(source)

    def add(self, target: Target) -> None:
        """Note a set that belongs to the chain."""
        if target.variables and (not self.sets or self.sets[-1][1] != target.variables):
            self.sets.append((target.point, target.variables))
            definition = self.causality.states.failing.definition
            self._definitions.update(definition(variable.event) for variable in target.variables)

    def first(self) -> Target | None:
        """The set at the last point before the failure, which induces the failure; None where there is no point."""
        if not len(self.tree.points):
            return None
        target = self.fis(int(self.tree.points[-1]), FAILURE)
        self.add(target)
        return target

    @property
    def definitions(self) -> list[int]:
        """The chain: the events that define the variables of the sets, in order of time (definition 6)."""
        return sorted(self._definitions)


def linear(walk: Walk) -> Target | None:
    """The sets at all points, one after the other, until one is empty; gives the last one, None where no point is."""
    target = walk.first()
    place = len(walk.tree.points) - 1
    while target is not None and target.variables and place > 0:
        place -= 1
        target = walk.fis(int(walk.tree.points[place]), target)
        walk.add(target)
    return target


def beginning(walk: Walk) -> bool:
    """For a walk that has no time to go all the way: note the first set of all that induces the last one noted.

    Whether there is one. It is looked for at the points behind which the two runs first differ.
    """
    if not walk.sets:
        return False
    target = Target(*walk.sets[-1])
    points = walk.tree.points
    first = int(np.searchsorted(points, walk.causality.states.pairing.common))
    for point in points[first : first + FIRST_POINTS].tolist():
        if point >= target.point:
            return False
        found = walk.fis(point, target)
        if found.variables and found.variables != target.variables:
            walk.add(found)
            return True
    return False
