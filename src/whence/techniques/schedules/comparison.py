"""A failing run beside a passing one of the same case: the accesses whose order decides.

Both runs are recorded, and differ in their schedules alone. An access is the same in both if it is the same step of
the same thread, at the same site. Each has one that it comes behind: what it reads was written by that one, or, for
calls by which threads are ordered, the call before it on the same object. Where a different access comes before it in
the other run, the order of the two decides; the earliest such place is where the runs went apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from whence.run.schedule import Point
from whence.trace.accesses import GRANULE, Accesses

Key = tuple[int, int, int]  # thread, step, site
OTHERS = 20  # accesses of other threads between two, that are looked at
SPAN = 60  # steps of a thread that are taken to belong together, at most, in one frame or not


@dataclass(frozen=True, slots=True)
class Decider:
    """An access of the failing run, what came before it there and in the passing run.

    Rows of the accesses' tables; -1: none.
    """

    row: int
    before: int
    passing: int
    passing_before: int


@dataclass(frozen=True, slots=True)
class Between:
    """Two accesses of one thread to one place, and what another thread did there between them; rows of the failing
    run."""

    first: int
    other: int
    second: int


class Run:
    """The accesses of one of the two runs, and what came before each."""

    def __init__(self, accesses: Accesses, places: Iterable[int]) -> None:
        self.accesses, self._places = accesses, places
        self.table = accesses.table

    def key(self, row: int) -> Key:
        """What names the access in both runs."""
        found = self.table[row]
        return int(found["thread"]), int(found["step"]), self.accesses.trace.site(int(found["event"]))

    @cached_property
    def rows(self) -> dict[tuple[Key, int], int]:
        """The row of each access, by its key and how many of the same key came before it."""
        counts: dict[Key, int] = {}
        found: dict[tuple[Key, int], int] = {}
        for row in range(len(self.table)):
            key = self.key(row)
            counts[key] = number = counts.get(key, -1) + 1
            found[key, number] = row
        return found

    @cached_property
    def before(self) -> dict[int, int]:
        """For each row at a place that threads share in one of the runs the row of the last write before it, -1."""
        found: dict[int, int] = {}
        for place in self._places:
            written: list[int] = []
            for row in self.accesses.at(place):
                last = next((other for other in reversed(written) if self._overlap(row, other, place)), -1)
                found[row] = max(found.get(row, -1), last)
                if self.table["writes"][row]:
                    written = [*written[-8:], row]
        return found

    def _overlap(self, one: int, other: int, place: int) -> bool:
        """Whether two accesses touch a byte of a granule in common."""
        rows = self.table[[one, other]]
        starts = [max(int(row["address"]), place * GRANULE) for row in rows]
        ends = [min(int(row["address"] + max(row["length"], 1)), (place + 1) * GRANULE) for row in rows]
        return max(starts) < min(ends)


class Comparison:
    """What decides between a failing and a passing run."""

    def __init__(self, failing: Accesses, passing: Accesses) -> None:
        shared = failing.by_place.keys() | passing.by_place.keys()
        self.failing, self.passing = Run(failing, shared), Run(passing, shared)

    @cached_property
    def deciders(self) -> list[Decider]:
        """The accesses that come behind another one in the failing run than in the passing one, in order of time.

        Those of memory come before calls by which threads are ordered.
        """
        return sorted(self._deciders(), key=lambda decider: bool(self.failing.table["orders"][decider.row]))

    def _deciders(self) -> Iterator[Decider]:
        names = {row: name for name, row in self.failing.rows.items()}
        others = {row: name for name, row in self.passing.rows.items()}
        for row in sorted(self.failing.before):
            twin = self.passing.rows.get(names[row])
            if twin is None or twin not in self.passing.before:
                continue
            before, passing_before = self.failing.before[row], self.passing.before[twin]
            if names.get(before) == others.get(passing_before):
                continue
            if not self._is_local(self.failing, row, before) or not self._is_local(self.passing, twin, passing_before):
                yield Decider(row, before, twin, passing_before)

    @staticmethod
    def _is_local(run: Run, row: int, before: int) -> bool:
        """Whether an access comes behind one of its own thread, or behind none."""
        return before < 0 or bool(run.table["thread"][row] == run.table["thread"][before])

    def split(self, points: tuple[Point, ...]) -> Between | None:
        """Two accesses that had to happen together, but had another thread's between them in the failing run alone.

        That is so where no order of the two threads, one after the other, gives what the three did. Those that a point
        of the schedule separates come first.
        """
        found = [between for between in self._splits() if not self._is_split_in_passing(between)]
        return max(found, key=lambda between: self._worth(between, points), default=None)

    def _splits(self) -> Iterator[Between]:
        table = self.failing.table
        for rows in self.failing.accesses.by_place.values():
            memory = [row for row in rows if not table["orders"][row]]
            last: dict[int, int] = {}  # of each thread the position of its last access
            for position, row in enumerate(memory):
                thread = int(table["thread"][row])
                if thread in last:
                    first = memory[last[thread]]
                    near = table["step"][row] - table["step"][first] <= SPAN and not self._is_same_site(first, row)
                    between = memory[last[thread] + 1 : position][:OTHERS] if near else []
                    for other in between:
                        if _cannot_be_serial(*(bool(table["writes"][n]) for n in (first, other, row))):
                            yield Between(first, other, row)
                last[thread] = position

    def _is_same_site(self, one: int, other: int) -> bool:
        """Whether two accesses are one of the program's, executed twice: each time stands for itself."""
        events = self.failing.table["event"][[one, other]].tolist()
        return len({self.failing.accesses.trace.site(event) for event in events}) == 1

    def _is_split_in_passing(self, between: Between) -> bool:
        """Whether the same three accesses came in the same order in the passing run."""
        names = {
            row: name
            for name, row in self.failing.rows.items()
            if row in (between.first, between.other, between.second)
        }
        rows = [self.passing.rows.get(names[row]) for row in (between.first, between.other, between.second)]
        first, other, second = rows
        return first is not None and other is not None and second is not None and first < other < second

    def _worth(self, between: Between, points: tuple[Point, ...]) -> tuple[bool, bool, int]:
        table = self.failing.table
        thread, first, second = (
            int(table["thread"][between.first]),
            int(table["step"][between.first]),
            int(table["step"][between.second]),
        )
        cut = any(p.thread == thread and first < p.step + p.waits <= second for p in points)
        decides = {decider.row for decider in self.deciders} & {between.other, between.second}
        return cut, bool(decides), -between.second


def _cannot_be_serial(first: bool, other: bool, second: bool) -> bool:
    """Whether a write or read (False) between two of another thread differs from it coming before or behind both."""
    return (first, other, second) in {
        (False, True, False),
        (True, True, False),
        (False, True, True),
        (True, False, True),
    }


def distance(failing: Any, passing: Any) -> int:
    """In how many places two recorded runs (``Accesses``) come apart."""
    return len(Comparison(failing, passing).deciders)
