"""The index tree of the failing run: its aligned points as the leaves of regions (section 3, the derivation tree).

A region is led by a segment instance - the branch that decides about what is in it, or the call - and holds the points
of the segments that hang under it, which are leaves, and the regions that those lead, in order of time. Where one
region begins before another one has ended, as with what follows a jump into it, both are taken as parts of the region
around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.execution_index import Regions, spans
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
ROOT = -1


class Child(NamedTuple):
    """A leaf, or a region by the segment instance that leads it: its first and its last point."""

    first: int
    last: int
    region: int | None = None


class IndexTree:
    """The regions that hold some aligned ``points`` of the failing run, ascending."""

    def __init__(self, trace: Trace, points: Integers) -> None:
        self.points = points
        self._segments = trace.columns.events["segment"][self.points].astype(np.int64)
        self._parents = Regions(trace).parents
        self._firsts, self._lasts = spans(self._parents, self.points, self._segments)
        self._leaves = _Members(self._parents[self._segments], self.points)
        inner = np.flatnonzero(self._lasts >= 0)
        self._inner = _Members(self._parents[inner], inner)
        self._children: dict[int, list[Child]] = {}

    def children(self, region: int) -> list[Child]:
        """The leaves and regions in a region, in order of time, none of which overlap."""
        if region not in self._children:
            self._children[region] = list(self._apart(self._members([region])))
        return self._children[region]

    def _members(self, regions: Iterable[int]) -> list[Child]:
        found: list[Child] = []
        for region in regions:
            found += [Child(point, point) for point in self._leaves.of(region).tolist()]
            inner = self._inner.of(region)
            spanned = zip(self._firsts[inner].tolist(), self._lasts[inner].tolist(), inner.tolist(), strict=True)
            found += [Child(*span) for span in spanned]
        return sorted(found)

    def _apart(self, children: list[Child]) -> Iterator[Child]:
        """Children in order of their first points; those that overlap are replaced by what is in them."""
        group: list[Child] = []
        for child in children:
            if group and child.first > max(member.last for member in group):
                yield from self._dissolved(group)
                group = []
            group.append(child)
        yield from self._dissolved(group)

    def _dissolved(self, group: list[Child]) -> Iterator[Child]:
        if len(group) <= 1:
            yield from group
            return
        inside = self._members([child.region for child in group if child.region is not None])
        yield from self._apart(sorted([*inside, *(child for child in group if child.region is None)]))

    def region(self, point: int) -> int:
        """The region that a point is a leaf of."""
        return int(self._parents[self._segments[np.searchsorted(self.points, point)]])

    def parent(self, region: int) -> int:
        """The region around a region."""
        return int(self._parents[region])

    def before(self, event: int) -> int | None:
        """The last point before an event."""
        place = int(np.searchsorted(self.points, event)) - 1
        return int(self.points[place]) if place >= 0 else None

    def is_point(self, event: int) -> bool:
        """Whether an event is an aligned point."""
        place = int(np.searchsorted(self.points, event))
        return place < len(self.points) and int(self.points[place]) == event

    def common_region(self, first: int, second: int) -> int:
        """The innermost region around two points."""
        around = set(self._around(first))
        return next(region for region in self._around(second) if region in around)

    def _around(self, point: int) -> list[int]:
        found = [self.region(point)]
        while found[-1] != ROOT:
            found.append(self.parent(found[-1]))
        return found


class _Members:
    """Numbers, ascending, by the region that they are in."""

    def __init__(self, regions: Integers, numbers: Integers) -> None:
        order = np.argsort(regions, kind="stable")
        self._regions, self._numbers = regions[order], numbers[order]

    def of(self, region: int) -> Integers:
        """Those in a region."""
        first, end = np.searchsorted(self._regions, (region, region + 1))
        return self._numbers[first:end]
