"""Which points of a schedule the accesses of a recorded run speak for.

A thread is best stopped right before an access that conflicts with one of the thread that gets the turn; best of all
where it has been at the place before, since then the other one comes between two accesses that may belong together, or
where it takes a lock, since it may hold another one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.run.schedule import Point
    from whence.trace.accesses import Accesses

BETWEEN, CONFLICTS, ELSE = range(3)  # how well a point is spoken for, the best first
MOST = 100_000  # accesses that are looked at


class Guide:
    """Ranks points by the conflicts of one run: those that another run has at the same steps, too."""

    def __init__(self, accesses: Accesses) -> None:
        self._places: dict[tuple[int, int], list[int]] = defaultdict(list)  # of each step of a thread
        self._first: dict[tuple[int, int], int] = {}  # step of a thread that came first to a place
        self._threads: dict[int, dict[int, bool]] = defaultdict(dict)  # of each place, and whether they write
        self._locks: set[int] = set()
        rows = [(row, place) for place, rows in accesses.by_place.items() for row in rows]
        for row, place in rows[:MOST]:
            access = accesses.table[row]
            thread, step, writes = int(access["thread"]), int(access["step"]), bool(access["writes"])
            self._places[thread, step].append(place)
            if access["orders"]:
                self._locks.add(place)
            self._first.setdefault((thread, place), step)
            self._threads[place][thread] = self._threads[place].get(thread, False) or writes

    def rank(self, point: Point) -> int:
        """How well the run speaks for a point."""
        if point.waits:
            return CONFLICTS
        best = ELSE
        for place in self._places.get((point.thread, point.step), ()):
            threads = self._threads[place]
            if point.next in threads and (threads[point.next] or threads[point.thread]):
                is_again = place in self._locks or self._first[point.thread, place] < point.step
                best = min(best, BETWEEN if is_again else CONFLICTS)
        return best
