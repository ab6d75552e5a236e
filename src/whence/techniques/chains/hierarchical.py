"""Algorithm 1: the chain by a hierarchical search of the index tree (section 4.3).

If two points have the same failure-inducing set, so have all points between them (property 2). So each region is
searched by halves, from its end, and only where neighbouring leaves differ, what lies between them.
"""

from __future__ import annotations

from whence.techniques.chains.causality import Target
from whence.techniques.chains.index_tree import ROOT, Child
from whence.techniques.chains.walk import Walk


def hierarchical(walk: Walk) -> Target | None:
    """Algorithm 1's CALCULATEFIC; gives the last set, None where there is no point."""
    target = walk.first()
    if target is None:
        return None
    region = walk.tree.region(target.point)
    while target.variables:
        target = sets_in_region(walk, region, target)
        if region == ROOT:
            break
        region = walk.tree.parent(region)
    return target


def sets_in_region(walk: Walk, region: int, target: Target) -> Target:
    """SETSINREGION: notes the sets of what a region holds before the target; gives that of its first leaf."""
    leaves, inner = _split(walk.tree.children(region), target.point)
    target = _descend(walk, inner.get(len(leaves), []), target)
    if not leaves:
        return target
    target = _step(walk, leaves[-1], target)
    last, stack = len(leaves) - 1, [0]
    while stack and target.variables:
        seek = stack.pop()
        middle = (seek + last) // 2
        if seek == last:
            continue
        if seek == middle:
            target = _descend(walk, inner.get(last, []), target)
            target = _step(walk, leaves[middle], target)
            last = middle
        elif (moved := walk.keeps(leaves[middle], target)) is not None:
            last, target = middle, moved
            stack.append(seek)
        elif walk.fis(leaves[middle], target).variables == walk.fis(leaves[seek], target).variables:
            stack.append(middle)
        else:
            stack += [seek, middle]
    return _descend(walk, inner.get(0, []), target)


def _split(children: list[Child], before: int) -> tuple[list[int], dict[int, list[int]]]:
    """The leaves before a point, and the regions that begin there, by the number of leaves before them."""
    leaves: list[int] = []
    inner: dict[int, list[int]] = {}
    for child in children:
        if child.first >= before:
            break
        if child.region is None:
            leaves.append(child.first)
        else:
            inner.setdefault(len(leaves), []).append(child.region)
    return leaves, inner


def _descend(walk: Walk, regions: list[int], target: Target) -> Target:
    """The regions between two leaves, the last one first."""
    for region in reversed(regions):
        if target.variables:
            target = sets_in_region(walk, region, target)
    return target


def _step(walk: Walk, point: int, target: Target) -> Target:
    """The set at a point, which is noted."""
    if not target.variables or point >= target.point:
        return target
    found = walk.fis(point, target)
    walk.add(found)
    return found
