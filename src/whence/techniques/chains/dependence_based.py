"""Algorithm 2: the chain along dependences (section 4.4).

The values of a set lie untouched between their definitions and the set's point, so the next other set is most likely at
the last definition that is known and lies before: there is no need to look at what lies between.
"""

from __future__ import annotations

from collections.abc import Iterator

from whence.techniques.chains.causality import Target
from whence.techniques.chains.walk import Walk

ROUNDS = 3  # of a search by halves that states are read for at a time


def dependence_based(walk: Walk) -> Target | None:
    """Algorithm 2's CALCULATEFIC; gives the last set, None where there is no point."""
    target = walk.first()
    while target is not None and target.variables:
        closest = _closest(walk, target)
        before = walk.tree.before(target.point)
        if before is None:
            break
        if closest is None:
            target = walk.fis(before, target)
        else:
            walk.foresee(closest, target)  # where it goes on, as a rule
            target = walk.keeps(closest, target) or closest_adaptive(walk, target, closest)
        walk.add(target)
    return target


def _closest(walk: Walk, target: Target) -> int | None:
    """The last definition of the chain before the current point, or the aligned point before it."""
    for event in reversed(walk.definitions):
        if event < 0:
            return None
        if event < target.point:
            return event if walk.tree.is_point(event) else walk.tree.before(event)
    return None


def closest_adaptive(walk: Walk, target: Target, closest: int) -> Target:
    """CLOSESTADAPTIVE: the set that comes right before the target, at ``closest`` at the earliest, by halves."""
    regions = [walk.tree.common_region(closest, target.point)]
    point = closest
    while regions:
        children = walk.tree.children(regions.pop())
        children = [child for child in children if child.last >= closest and child.first < target.point]
        low, high = 0, len(children)  # those before ``low`` begin with another set, those from ``high`` on do not
        while low < high:
            middle = (low + high) // 2
            walk.read_ahead((max(children[n].first, closest) for n in _middles(low, high, ROUNDS)), target)
            probed = max(children[middle].first, closest)
            moved = walk.keeps(probed, target)
            if moved is not None:
                high, target = middle, moved
            else:
                low, point = middle + 1, probed
        if low and (inner := children[low - 1].region) is not None:
            regions.append(inner)
    return walk.fis(point, target)


def _middles(low: int, high: int, rounds: int) -> Iterator[int]:
    """All places that the next rounds of a search by halves may look at."""
    if low < high and rounds:
        middle = (low + high) // 2
        yield middle
        yield from _middles(low, middle, rounds - 1)
        yield from _middles(middle + 1, high, rounds - 1)
