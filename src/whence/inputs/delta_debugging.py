"""Delta debugging: of many differences those that a failure needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


AHEAD = 8  # subsets that are foreseen at a time


def minimised(
    items: Sequence[Item],
    induces: Callable[[Sequence[Item]], bool],
    foresee: Callable[[Sequence[Sequence[Item]]], None] = lambda subsets: None,
) -> list[Item]:
    """A least subset that induces, given that all of them do: no element can be left out.

    Delta debugging by complements (Zeller and Hildebrandt 2002); the order of the items decides which one is found.
    ``foresee`` is told of subsets that ``induces`` is asked about next, unless one of them induces before.
    """
    found, parts = list(items), 2
    while len(found) > 1 or (found and parts == 2):
        size = -(-len(found) // min(parts, len(found)))
        starts = range(0, len(found), size)
        for number, start in enumerate(starts):
            if number % AHEAD == 0:
                foresee([found[:at] + found[at + size :] for at in starts[number : number + AHEAD]])
            rest = found[:start] + found[start + size :]
            if induces(rest):
                found, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                return found
            parts = min(2 * parts, len(found))
    return found
