"""What a chain is likely to come to: what a value was made of, as the failing run's trace tells it.

It is a guess, by which states are read beforehand. It decides nothing about what is found.
"""

from __future__ import annotations

from functools import cache
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from whence.techniques.chains.pairing import Pairing
from whence.trace.slicing import dependences

LOOKED_AT = 32  # events and cells, at most
CELL = 1 << 40  # more than there are events
TOGETHER = 1 << 12  # events that are compared together


class Sources:
    """What values of the failing run were made of."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._differing = cache(self._compared)

    def of(self, event: int, most: int) -> list[int]:
        """The last definitions, at most so many, that an event's value was made of and that differ in the reference
        run, the last one first.

        Loads are passed over: what had been stored is among them itself.
        """
        pairing, found = self._pairing, list[int]()
        waiting, seen = [-(event + 1)], {event + 1}  # references; cells, whose time is not known, come first
        for _ in range(LOOKED_AT):
            if not waiting or len(found) == most:
                break
            reference = -heappop(waiting)
            if reference <= event and pairing.is_definition(reference - 1):
                found.append(reference - 1)
            for target in self._operands(reference if reference < CELL else CELL - reference):
                if target not in seen and (target < 0 or self._differs(target - 1)):
                    heappush(waiting, -(target if target > 0 else CELL - target))
                seen.add(target)
        return found

    def _operands(self, reference: int) -> list[int]:
        trace = self._pairing.failing.trace
        return [target for target, _ in dependences(trace.plan, trace.columns, reference, control=False)]

    def _differs(self, event: int) -> bool:
        """Whether its value is another one in the reference run, or is not known."""
        return event >= self._pairing.common and bool(self._differing(event // TOGETHER)[event % TOGETHER])

    def _compared(self, part: int) -> NDArray[np.bool_]:
        pairing = self._pairing
        events = np.arange(part * TOGETHER, min((part + 1) * TOGETHER, pairing.failing.trace.events))
        others = pairing.events[events]
        mine, is_known = pairing.failing.trace.values(events)
        theirs, is_other_known = pairing.reference.trace.values(np.maximum(others, 0))
        return np.asarray((others < 0) | ~is_known | ~is_other_known | (mine != theirs))
