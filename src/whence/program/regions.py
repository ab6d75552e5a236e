"""The regions of a function: which block each block hangs under, the same whatever way a run took.

A block hangs under the nearest block, of those on every way to it, that decides whether it runs or begins a loop
around it; blocks within a loop that the block is not in are passed over. So the blocks of an iteration hang under their
loop's header, what follows a ``continue``, ``break`` or ``return`` hangs under the same block in runs that took it and
in those that did not, and what follows a loop does not depend on the number of iterations.
"""

from __future__ import annotations

from whence.program.cfg import Graph, immediate_post_dominators, predecessors, successors
from whence.program.model import Function

CALL = -1  # a block that hangs under the function's call


def anchors(function: Function) -> list[int]:
    """For each block the one that it hangs under, CALL where that is the call of the function."""
    return anchors_of(successors(function))


def anchors_of(graph: Graph) -> list[int]:
    """The same for a bare graph (see ``cfg``)."""
    above = _immediate_dominators(graph)
    joined = immediate_post_dominators(graph)
    loops = _loops(graph, above)
    return [_anchor(block, above, joined, loops) for block in range(len(graph))]


def _anchor(block: int, above: list[int], joined: list[int], loops: list[frozenset[int]]) -> int:
    """The nearest dominator that decides about the block, or begins a loop around it."""
    around = loops[block]
    other = above[block]
    while other != CALL:
        if loops[other] <= around and (other in around or not _is_on_way(block, other, joined)):
            return other
        other = above[other]
    return CALL


def _is_on_way(block: int, other: int, joined: list[int]) -> bool:
    """Whether each way on from ``other`` comes to the block (it post-dominates ``other``)."""
    while other < len(joined):
        if other == block:
            return True
        other = joined[other]
    return False


def _immediate_dominators(graph: Graph) -> list[int]:
    """The parent of each block in the dominator tree: post-dominators of the reversed graph; CALL: none."""
    reached = _reached(graph, 0)
    before = [[p for p in parents if p in reached] for parents in predecessors(graph)]
    before[0] = []
    return [CALL if parent == len(graph) else parent for parent in immediate_post_dominators(before)]


def _reached(graph: Graph, start: int) -> set[int]:
    found, pending = {start}, [start]
    while pending:
        new = [target for target in graph[pending.pop()] if target not in found]
        found.update(new)
        pending += new
    return found


def _loops(graph: Graph, above: list[int]) -> list[frozenset[int]]:
    """For each block the headers of the natural loops that it is in."""
    around: list[set[int]] = [set() for _ in graph]
    before = predecessors(graph)
    for latch, targets in enumerate(graph):
        for header in targets:
            if _dominates(header, latch, above):
                _fill(header, latch, before, around)
    return [frozenset(headers) for headers in around]


def _dominates(block: int, other: int, above: list[int]) -> bool:
    while other not in (block, CALL):
        other = above[other]
    return other == block


def _fill(header: int, latch: int, before: list[list[int]], around: list[set[int]]) -> None:
    """Note the loop of a back edge at its blocks: those from which the latch is reached without the header."""
    around[header].add(header)
    pending = [latch]
    while pending:
        block = pending.pop()
        if header not in around[block]:
            around[block].add(header)
            pending += before[block]
