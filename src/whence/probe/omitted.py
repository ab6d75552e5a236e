"""What is left out where a branch takes no side: where its sides meet, and what they could have stored until then.

The suppress variant goes on where they meet, and these definitions count as suppressed ("Execution suppression", 7.1).
"""

from __future__ import annotations

from whence.probe.layout import is_frame_local
from whence.program.cfg import immediate_post_dominators, predecessors, successors
from whence.program.model import Function, Module
from whence.program.types import size_of


class Omitted:
    """The branches of a function. ``meets[n]`` is the block where the sides of block n's branch meet again.

    Only paths that return count: what ends in a call that does not come back decides nothing. The number of blocks
    stands for the function's return.
    """

    def __init__(self, function: Function, module: Module) -> None:
        self._graph = successors(function)
        self._targets = _direct_targets(function, module)
        self.meets = _meeting(function, self._graph)

    def definitions(self, number: int) -> list[tuple[str, int]]:
        """The variables that the sides of a block's branch store in by name, with the bytes stored."""
        sides = self._sides(number)
        found = [target for block in sorted(sides) for target in self._targets[block]]
        return list(dict.fromkeys(found))

    def _sides(self, number: int) -> set[int]:
        """The blocks from a branch to where its sides meet; its own block too where it is part of its loop."""
        meets = self.meets[number]
        seen, waiting = {meets}, list(self._graph[number])
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += self._graph[block]
        return seen - {meets}


def _meeting(function: Function, graph: list[list[int]]) -> list[int]:
    returning = [n for n, block in enumerate(function.blocks) if block.terminator.opcode == "ret"]
    reverse, seen, waiting = predecessors(graph), set(returning), list(returning)
    while waiting:
        for block in reverse[waiting.pop()]:
            if block not in seen:
                seen.add(block)
                waiting.append(block)
    kept = [[t for t in targets if t in seen] if n in seen else [] for n, targets in enumerate(graph)]
    return immediate_post_dominators(kept)


def _direct_targets(function: Function, module: Module) -> list[list[tuple[str, int]]]:
    """For each block the variables that it stores in by name, with the bytes stored."""
    locals_ = {i.result for i in function.blocks[0].instructions if is_frame_local(i)}
    found: list[list[tuple[str, int]]] = []
    for block in function.blocks:
        stores = [(i.operands[1].text, size_of(i.type, module)) for i in block.instructions if i.opcode == "store"]
        found.append([(p, size) for p, size in stores if p in locals_ or p.startswith("@")])
    return found
