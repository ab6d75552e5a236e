"""Variable re-ordering (figure 5.5): the orders that may expose a corruption by a crash, the likeliest first.

All orders are far too many. Crashes come of address variables that were written over, and what is written over lies
behind a buffer; so orders are made of pairs (buffer, address variable), many of them in one order: with k buffers and m
variables the larger number of orders has them all. A return address counts as a variable behind its function's locals.
Blocks of the heap are not moved: each has a guard behind it (section 5.3.1), and beyond the dissertation no block takes
the place of one that was given back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.suppression import Ordering
from whence.trace.columns import N_FRAME, N_HEAP

if TYPE_CHECKING:
    from whence.probe.reorder import Movable, MovableFrame, Variable
    from whence.trace.trace import Trace

GLOBAL, STACK, HEAP = "global", "stack", "heap"
LOWEST_STACK = 0x700000000000


def orderings(movable: Movable, trace: Trace, corrupt: Sequence[int]) -> Iterator[Ordering]:
    """The orders to try for a run: first of spaces with an address of ``corrupt``, then of those of few variables."""
    functions = {int(f) for f in np.unique(trace.columns.frames["function"][: int(trace.columns.counts[N_FRAME])])}
    frames = {number: frame for number, frame in movable.frames.items() if number in functions}
    named = frozenset[int]().union(*(movable.named[f] for f in functions if f >= 0))
    statics = [v for v in movable.statics if v.number in named]
    blocks = {(int(row["address"]), int(row["length"])) for row in trace.columns.heap[: trace.columns.counts[N_HEAP]]}
    sizes = {GLOBAL: len(statics), STACK: sum(len(f.locals) for f in frames.values()), HEAP: len(blocks)}
    spaces = {_space(address, blocks) for address in corrupt}
    ways = {
        GLOBAL: lambda: _of_statics(statics),
        STACK: lambda: _of_frames(movable, frames),
        HEAP: lambda: iter(
            [Ordering(HEAP, "a guard behind each block, and none used again", guards=True)] if blocks else []
        ),
    }
    for space in sorted(ways, key=lambda space: (space not in spaces, sizes[space])):
        yield from ways[space]()


def _space(address: int, blocks: set[tuple[int, int]]) -> str:
    if address >= LOWEST_STACK:
        return STACK
    return HEAP if any(start <= address < start + length + 16 for start, length in blocks) else GLOBAL


def _pairs(buffers: Sequence[Variable], followers: Sequence[Variable | None], turn: int) -> list[tuple[Variable, int]]:
    """For each buffer the number of what follows it in an order (that of no variable: nothing)."""
    count = max(len(buffers), len(followers))
    return [(buffer, (number + turn) % count) for number, buffer in enumerate(buffers)]


def _of_statics(statics: Sequence[Variable]) -> Iterator[Ordering]:
    """Orders of static variables: buffers each with another address variable behind it, then what is left."""
    buffers = [v for v in statics if v.is_buffer]
    followers = [v for v in statics if v.is_address]
    for turn in range(max(len(buffers), len(followers)) if buffers and followers else 0):
        pairs = [(b, followers[n]) for b, n in _pairs(buffers, followers, turn) if n < len(followers)]
        order = [v.number for pair in pairs for v in pair]
        order += [v.number for v in (*buffers, *followers) if v.number not in order]
        text = ", ".join(f"`{a.name}` before `{b.name}`" for a, b in pairs[:8])
        yield Ordering(GLOBAL, text, statics=tuple(order))


def _of_frames(movable: Movable, frames: dict[int, MovableFrame]) -> Iterator[Ordering]:
    """Orders of locals, of all functions at a time: in each frame every buffer with another variable behind it."""
    laid = [list(_of_frame(frame)) for frame in frames.values()]
    plain = movable.places
    for turn in range(max(map(len, laid), default=0)):
        places = list(plain)
        for orders in laid:
            for number, place in orders[turn % len(orders)].items() if orders else ():
                places[number] = place
        yield Ordering(STACK, f"order {turn + 1} of the locals", places=tuple(places))


def _of_frame(frame: MovableFrame) -> Iterator[dict[int, int]]:
    """The places of one function's locals in each of its orders; the return address follows the last one."""
    buffers = [v for v in frame.locals if v.is_buffer]
    followers: list[Variable | None] = [None, *(v for v in frame.locals if v.is_address)]  # None: the return address
    for turn in range(max(len(buffers), len(followers)) if buffers else 0):
        pairs = [(b, followers[n]) for b, n in _pairs(buffers, followers, turn) if n < len(followers)]
        pairs.sort(key=lambda pair: pair[1] is not None)
        chosen = [v for pair in pairs for v in reversed(pair) if v is not None]
        chosen += [v for v in frame.locals if v not in chosen]
        yield _placed(chosen, frame.size)


def _placed(downwards: Sequence[Variable], top: int) -> dict[int, int]:
    """Variables one below the other, each as close to the one above as its alignment allows."""
    places: dict[int, int] = {}
    for variable in downwards:
        top = (top - variable.size) // variable.alignment * variable.alignment
        places[variable.number] = top
    return places


def identity(movable: Movable) -> Ordering:
    """The variables as they lie, in the variant in which they can be moved."""
    return replace(Ordering("none", "as they lie"), places=tuple(movable.places))
