"""In which order schedules are tried: four ways to look for one that fails.

*Preemption bounding* tries all schedules with one point, then with two, and so on: most failures need few. *Delay
bounding* is the same where only the thread that is next in order may take the turn: far fewer schedules, so that it
reaches larger bounds. *Priorities* (PCT) draws a priority for each thread, and d - 1 steps at which one falls: a
failure that needs d ordered steps shows with a probability of at least 1 / (n k^(d-1)) for n threads and k steps. A
*walk* gives the turn away by chance.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from whence.run.schedule import Followed, Point, Schedule, Way

MOMENTS = 2_000  # of a run, that a systematic search may branch at
WAITING = 200_000  # schedules that a systematic search keeps for later
DEPTHS = (1, 2, 1, 3, 2, 4)  # falls of priorities, in turn
CHANGES = 1_000  # of the thread in one run, about, at most
CHANCES = (8_192, 1_024, 24_576, 256)  # of 65,536


Rank = Callable[[Point], int]


class Strategy(Protocol):
    """Gives schedules to try, and learns from what became of them."""

    name: str

    def next(self) -> Schedule | None:
        """A schedule; None: there is none, or none before another one has been run."""
        ...

    def learn(self, schedule: Schedule, followed: Followed) -> None:
        """A run under a schedule of its own has passed."""
        ...


@dataclass
class Bounded:
    """All schedules in the order of how many points they have; with ``delays`` only the next thread may go on.

    Among those of equally many points the order is that of how well their points are spoken for (``rank``, the lower
    the better), else random, so that a search that is cut off has seen some of all.
    """

    base: Schedule
    name: str
    delays: bool = False
    rank: Rank = field(default=lambda _: 0)
    _random: random.Random = field(default_factory=lambda: random.Random(1))
    _queue: list[tuple[int, int, float, tuple[Point, ...]]] = field(default_factory=lambda: [(0, 0, 0.0, ())])

    def next(self) -> Schedule | None:
        """The schedule of the fewest points that has not been tried."""
        if not self._queue:
            return None
        return replace(self.base, points=heapq.heappop(self._queue)[-1], moments=MOMENTS)

    def learn(self, schedule: Schedule, followed: Followed) -> None:
        """Branch at each moment behind the schedule's last point."""
        points = schedule.points
        before = sum(map(self.rank, points))
        moments = followed.moments.tolist() if followed.moments is not None else []
        keys = {(p.thread, p.at) for p in points}
        behind = max((n for n, m in enumerate(moments) if (m[0], m[2]) in keys), default=-1) + 1
        for thread, chosen, at, ready, *_ in moments[behind:]:
            for other in self._others(chosen, ready):
                point = Point(thread, at >> 1, other, bool(at & 1))
                if len(self._queue) < WAITING:
                    key = (len(points) + 1, before + self.rank(point), self._random.random())
                    heapq.heappush(self._queue, (*key, (*points, point)))

    def _others(self, chosen: int, ready: int) -> list[int]:
        others = [n for n in range(64) if ready >> n & 1 and n != chosen]
        if self.delays and others:
            return [min(others, key=lambda n: (n <= chosen, n))]
        return others


@dataclass
class Priorities:
    """PCT: threads with priorities that fall now and then."""

    base: Schedule
    name: str = "priorities"
    _count: int = 0
    _length: int = 50

    def next(self) -> Schedule | None:
        """New priorities."""
        self._count += 1
        changes = DEPTHS[self._count % len(DEPTHS)]
        return replace(self.base, way=Way.PRIORITIES, seed=self._count, changes=changes, length=self._length)

    def learn(self, schedule: Schedule, followed: Followed) -> None:
        """The steps among which priorities fall are as many as runs have."""
        self._length = max(self._length // 2, min(followed.considered, 1 << 20), 1)


@dataclass
class Walk:
    """Random walks, some with many changes of the thread, some with few."""

    base: Schedule
    name: str = "walk"
    _count: int = 0
    _length: int = 1

    def next(self) -> Schedule | None:
        """Another walk, with no more changes of the thread than a run can tell of."""
        self._count += 1
        chance = min(CHANCES[self._count % len(CHANCES)], max(65_536 * CHANGES // self._length, 1))
        return replace(self.base, way=Way.CHANCE, seed=self._count, chance=chance)

    def learn(self, schedule: Schedule, followed: Followed) -> None:
        """How long runs are."""
        self._length = max(self._length, followed.considered)


NAMES = ("preemptions", "delays", "priorities", "walk")


def strategies(names: tuple[str, ...], base: Schedule, rank: Rank = lambda _: 0) -> list[Strategy]:
    """New searches of these names; all runs take their other settings from ``base``, points are tried by ``rank``."""
    made: dict[str, Strategy] = {
        "preemptions": Bounded(base, "preemptions", rank=rank),
        "delays": Bounded(base, "delays", delays=True, rank=rank),
        "priorities": Priorities(base),
        "walk": Walk(base),
    }
    return [made[name] for name in names]
