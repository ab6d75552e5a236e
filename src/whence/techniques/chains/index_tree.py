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

from whence.techniques.chains.pairing import Pairing
from whence.trace.execution_index import Regions

ROOT = -1


class Child(NamedTuple):
    """A leaf, or a region by the segment instance that leads it: its first and its last point."""

    first: int
    last: int
    region: int | None = None


class IndexTree:
    """The regions that hold the aligned points up to an event, the end; ``points`` are those, ascending."""

    def __init__(self, pairing: Pairing, end: int) -> None:
        trace = pairing.failing.trace
        self.points = [point for point in pairing.points.tolist() if point <= end]
        segments = trace.columns.events["segment"][self.points].astype(np.int64)
        self._parents = Regions(trace).parents
        self._segment = dict(zip(self.points, segments.tolist(), strict=True))
        self._leaves: dict[int, list[int]] = {}  # by region
        self._inner: dict[int, set[int]] = {}  # by region: the regions in it
        self._spans: dict[int, tuple[int, int]] = {}  # by region: its first and last point
        for point, segment in self._segment.items():
            self._enter(point, int(self._parents[segment]))

    def _enter(self, point: int, region: int) -> None:
        """Note a point, which come in order of time, in all regions around it."""
        self._leaves.setdefault(region, []).append(point)
        while True:
            first, _ = self._spans.get(region, (point, point))
            self._spans[region] = (first, point)
            if region == ROOT:
                return
            parent = int(self._parents[region])
            self._inner.setdefault(parent, set()).add(region)
            region = parent

    def children(self, region: int) -> list[Child]:
        """The leaves and regions in a region, in order of time, none of which overlap."""
        return list(self._apart(self._members([region])))

    def _members(self, regions: Iterable[int]) -> list[Child]:
        found = [Child(point, point) for region in regions for point in self._leaves.get(region, ())]
        found += [Child(*self._spans[inner], inner) for region in regions for inner in self._inner.get(region, ())]
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
        return int(self._parents[self._segment[point]])

    def parent(self, region: int) -> int:
        """The region around a region."""
        return int(self._parents[region])

    def before(self, event: int) -> int | None:
        """The last point before an event."""
        place = int(np.searchsorted(self.points, event)) - 1
        return self.points[place] if place >= 0 else None

    def is_point(self, event: int) -> bool:
        """Whether an event is an aligned point."""
        return event in self._segment

    def common_region(self, first: int, second: int) -> int:
        """The innermost region around two points."""
        around = set(self._around(first))
        return next(region for region in self._around(second) if region in around)

    def _around(self, point: int) -> list[int]:
        found = [self.region(point)]
        while found[-1] != ROOT:
            found.append(self.parent(found[-1]))
        return found
