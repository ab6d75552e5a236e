"""Control flow of a function: successors, post-dominators, control dependence.

Graphs are lists of successor lists by block index. Post-dominance needs one exit, so a *virtual exit* with
index ``len(graph)`` follows every block without successors (returns and ``unreachable``). Blocks from which
no exit can be reached (``for (;;)``) are connected as compilers do: in each bottom strongly connected
component the last block of the text, usually the loop's latch, gets an edge to the virtual exit. Such an edge
is never taken, so it makes no block control dependent on the latch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whence.program.model import Function

Graph = Sequence[Sequence[int]]


def successors(function: Function) -> list[list[int]]:
    """For each block the indices of its successors, without repetition, in the terminator's order."""
    index = {block.label: number for number, block in enumerate(function.blocks)}
    return [[index[label] for label in block.successors] for block in function.blocks]


def predecessors(graph: Graph) -> list[list[int]]:
    """The reverse of a graph; ascending in each list."""
    reverse: list[list[int]] = [[] for _ in graph]
    for node, targets in enumerate(graph):
        for target in targets:
            reverse[target].append(node)
    return reverse


def control_dependence(function: Function) -> list[list[int]]:
    """For each block the blocks whose terminators decide directly whether it runs, ascending.

    Ferrante, Ottenstein and Warren, "The program dependence graph and its use in optimization" (1987),
    section 3. A loop's header depends on itself; a block that runs whenever the function does depends on
    none.
    """
    return control_dependence_of(successors(function))


def control_dependence_of(graph: Graph) -> list[list[int]]:
    """Control dependence on a bare graph: ``b`` depends on ``a`` when ``b`` post-dominates a successor of
    ``a`` but does not strictly post-dominate ``a``. Along each edge of a branch the path up the
    post-dominator tree, to the branch's own parent, holds the dependent blocks."""
    parent = immediate_post_dominators(graph)
    dependence: list[list[int]] = [[] for _ in graph]
    for node, targets in enumerate(graph):
        if len(targets) < 2:
            continue
        stop = parent[node]
        for target in targets:
            while target != stop:
                if not dependence[target] or dependence[target][-1] != node:
                    dependence[target].append(node)
                target = parent[target]
    return dependence


def immediate_post_dominators(graph: Graph) -> list[int]:
    """The parent of each block in the post-dominator tree; ``len(graph)`` is the virtual exit.

    Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001), on the reversed graph.
    """
    size = len(graph)
    forward = with_virtual_exit(graph)
    order = postorder(predecessors(forward), [size])
    number = [0] * (size + 1)
    for position, node in enumerate(order):
        number[node] = position
    parent = [-1] * (size + 1)
    parent[size] = size
    backwards = order[-2::-1]
    changed = True
    while changed:
        changed = False
        for node in backwards:
            best = _common(node, forward[node], parent, number)
            if parent[node] != best:
                parent[node] = best
                changed = True
    return parent[:size]


def _common(node: int, targets: list[int], parent: list[int], number: list[int]) -> int:
    """The nearest common ancestor of those successors of ``node`` that have a parent already."""
    best = -1
    for other in targets:
        if parent[other] < 0:
            continue
        if best < 0:
            best = other
            continue
        while best != other:
            while number[best] < number[other]:
                best = parent[best]
            while number[other] < number[best]:
                other = parent[other]
    return best


def with_virtual_exit(graph: Graph) -> list[list[int]]:
    """A copy of the graph with the virtual exit as last node, reachable from every node."""
    size = len(graph)
    extended = [list(targets) or [size] for targets in graph] + [[]]
    reached = set(postorder(predecessors(extended), [size]))
    if len(reached) == size + 1:
        return extended
    reverse = predecessors(graph)
    lost = [node for node in range(size) if node not in reached]
    # The last node to be finished on the reversed graph lies in a bottom component of the graph (Kosaraju).
    for node in reversed(postorder(reverse, lost)):
        if node not in reached:
            extended[max(postorder(graph, [node]))].append(size)
            reached.update(postorder(reverse, [node]))
    return extended


def postorder(graph: Graph, roots: Iterable[int]) -> list[int]:
    """All nodes reachable from the roots, each after those first reached through it."""
    order: list[int] = []
    seen: set[int] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(graph[root]))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(graph[target])))
                    break
            else:
                order.append(node)
                stack.pop()
    return order
