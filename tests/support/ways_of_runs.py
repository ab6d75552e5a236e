"""The way of each point of a run through its regions, spelled in full: a brute-force twin of execution indexing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from whence.program.regions import CALL
from whence.trace.execution_index import Regions


def ways(regions: Regions) -> list[Any]:
    """For each piece instance its way: the parent's way, its place, and how often that was executed there before."""
    trace, structure, numbers = regions.trace, regions.cut.pieces, np.arange(regions.cut.pieces.count)
    nodes, above = structure.nodes(numbers).tolist(), structure.above(numbers).tolist()
    rows = trace.columns.segments[: trace.segments]
    found: list[int] = []
    times, known = Counter[Any](), dict[Any, int]()
    latest: dict[tuple[int, int], int] = {}  # by frame and node
    last: dict[int, int] = {}  # by segment instance, its last piece instance
    for segment in range(trace.segments):
        frame, number = int(rows["frame"][segment]), int(rows["id"][segment])
        for piece in regions.cut.numbers[slice(*regions.cut.starts[number : number + 2])].tolist():
            if above[piece] == CALL:
                parent = called_from(regions, last, int(trace.columns.frames["call"][frame]))
            else:
                parent = latest.get((frame, above[piece]), -1)
            latest[frame, nodes[piece]] = last[segment] = len(found)
            place = (found[parent] if parent >= 0 else -1, piece)
            way = (*place, times[place])
            times[place] += 1
            found.append(known.setdefault(way, len(known)))
    names = {number: way for way, number in known.items()}
    return [spelled(names, number) for number in found]


def called_from(regions: Regions, last: dict[int, int], call: int) -> int:
    """The last piece of a call's segment, or of the nearest above it that has one; -1: none."""
    while call >= 0 and call not in last:
        call = int(Regions(regions.trace).parents[call])
    return last.get(call, -1)


def spelled(names: dict[int, Any], number: int) -> tuple[tuple[int, int], ...]:
    """A way in full, from the outermost region inward."""
    way = []
    while number >= 0:
        number, place, time = names[number]
        way.append((place, time))
    return tuple(reversed(way))
