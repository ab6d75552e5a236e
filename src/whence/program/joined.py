"""The control flow of two versions of a program as one: a graph in which each run of either is a path.

A *node* is a pair of blocks, one of either version, that have matched instructions; a block can be in several pairs,
where the other version has cut it. Blocks without a partner are passed over: an edge leads from node to node where
either version can come from the one to the other without a third. So what one version decides and the other does not is
decided in the graph, and the blocks of both hang under the same nodes (``regions.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whence.program.cfg import Graph, successors
from whence.program.correspondence import NONE, Correspondence, blocks_of
from whence.program.program import FunctionRef
from whence.program.regions import CALL, anchors_of

Integers = NDArray[np.int64]


class Joined:
    """The nodes of two versions. ``nodes`` (of shape (n, 2)) are the numbers of their blocks, in order."""

    def __init__(self, correspondence: Correspondence) -> None:
        self.correspondence = correspondence
        first, second = correspondence.first, correspondence.second
        matched = np.flatnonzero(correspondence.instructions >= 0)
        blocks = blocks_of(first, matched), blocks_of(second, correspondence.instructions[matched])
        entries = [
            (ref.first_block, second.functions[other].first_block)
            for ref, other in zip(first.functions, correspondence.functions.tolist(), strict=True)
            if other != NONE
        ]
        pairs = np.concatenate([np.stack(blocks, 1), np.array(entries, np.int64).reshape(-1, 2)])
        self.nodes: Integers = np.unique(pairs, axis=0)
        self.anchors = cache(self._anchors)

    def numbers(self, first: Integers, second: Integers) -> Integers:
        """The nodes of pairs of blocks that are ones."""
        width = self.correspondence.second.block_count
        return np.searchsorted(self.nodes[:, 0] * width + self.nodes[:, 1], first.astype(np.int64) * width + second)

    def range(self, function: int) -> tuple[int, int]:
        """The nodes of a function (of the first version), from the first to behind the last."""
        ref = self.correspondence.first.functions[function]
        start, end = np.searchsorted(self.nodes[:, 0], (ref.first_block, ref.first_block + len(ref.function.blocks)))
        return int(start), int(end)

    def graph(self, function: int) -> Graph:
        """The ways between a function's nodes, counted from its first; one more node is its end."""
        (start, end), other = self.range(function), int(self.correspondence.functions[function])
        refs = self.correspondence.first.functions[function], self.correspondence.second.functions[other]
        graphs = [_contracted(ref, self.nodes[start:end, side]) for side, ref in enumerate(refs)]
        return [sorted({*mine, *theirs}) for mine, theirs in zip(*graphs, strict=True)]

    def _anchors(self, function: int) -> tuple[int, Integers]:
        """The first of a function's nodes (of the first version), and for each the one that it hangs under, or CALL."""
        start, _ = self.range(function)
        found = np.array(anchors_of(self.graph(function))[:-1], np.int64)
        return start, np.where(found == CALL, CALL, found + start)


def _contracted(ref: FunctionRef, blocks: Integers) -> Graph:
    """The ways between a function's nodes, of which ``blocks`` are its own; one more node is its end."""
    graph, end = successors(ref.function), len(blocks)
    own: list[list[int]] = [[] for _ in graph]
    for node, block in enumerate((blocks - ref.first_block).tolist()):
        own[block].append(node)
    found: list[list[int]] = [[] for _ in range(end + 1)]
    for block, nodes in enumerate(own):
        for node, following in pairwise(nodes):
            found[node].append(following)
        if nodes:
            found[nodes[-1]] = _next(graph, own, block, end)
    return found


def _next(graph: Graph, own: Sequence[Sequence[int]], block: int, end: int) -> list[int]:
    """The nodes that come first on the ways on from a block; ``end`` where one leads out of the function."""
    if not graph[block]:
        return [end]
    found, seen, pending = set(), set(graph[block]), list(graph[block])
    while pending:
        other = pending.pop()
        if own[other]:
            found.add(own[other][0])
        elif not graph[other]:
            found.add(end)
        else:
            new = set(graph[other]) - seen
            seen |= new
            pending += new
    return sorted(found)
