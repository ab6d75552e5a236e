"""The data races of one recorded run: the pass over its trace, and what it found as plain rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import plural
from whence.probe.plan import UNKNOWN
from whence.probe.synchronisation import Sync, order_tables
from whence.trace.columns import N_SEGMENT, new_columns
from whence.trace.happens_before import find_unordered, started
from whence.trace.kernels import is_kept
from whence.trace.last_accesses import A_PAIRS, MOST_PAIRS, new_accesses
from whence.trace.trace import RING
from whence.trace.vector_clocks import C_LOGGED, C_STRETCHES, C_THREADS, C_UNKNOWN_STARTS, Clocks, new_clocks

if TYPE_CHECKING:
    from whence.probe.plan import Plan
    from whence.probe.synchronisation import Ordering
    from whence.subject.subject import Subject
    from whence.trace.columns import Columns
    from whence.trace.trace import Trace

NAMES_SHOWN = 5
GIVES_BACK = (Sync.UNLOCK, Sync.WAIT, Sync.POST)


@dataclass(slots=True, frozen=True)
class Access:
    """One side of a race: its event, the thread (numbered from 0 in order of their starts), whether it writes."""

    event: int
    thread: int
    writes: bool


@dataclass(slots=True, frozen=True)
class Race:
    """Two accesses that nothing orders, in order of time; ``count``: how often the same two places did it."""

    first: Access
    second: Access
    address: int
    length: int
    count: int


class Checked:
    """A checked run: its races in order of time, its threads, and what they did to order themselves."""

    def __init__(self, trace: Trace, races: list[Race], clocks: Clocks, orders: Any) -> None:
        self.trace, self.races = trace, races
        self._clocks, self._orders = clocks, orders

    @property
    def threads(self) -> int:
        """How many threads the run had."""
        return int(self._clocks.counts[C_THREADS])

    @property
    def unknown_starts(self) -> int:
        """Threads whose start was not recorded."""
        return int(self._clocks.counts[C_UNKNOWN_STARTS])

    @cached_property
    def log(self) -> Any:
        """What threads did to order themselves, in order of time (``vector_clocks.LOGGED``)."""
        return self._clocks.log[: self._clocks.counts[C_LOGGED]]

    def order_bits(self, event: int) -> int:
        """The bits of an atomic access (``probe/synchronisation.py``); 0 for a plain one."""
        return int(self._orders[self.trace.site(event)])

    def held(self, access: Access) -> list[tuple[int, int]]:
        """The locks that a thread held at an access: each one's address, and the event that shows that it was taken."""
        rows = self.log[(self.log["thread"] == access.thread) & (self.log["event"] <= access.event)]
        held: list[tuple[int, int]] = []
        for row in rows:
            if row["sync"] in (Sync.LOCK, Sync.SHARE):
                held.append((int(row["object"]), int(row["event"])))
            elif row["sync"] == Sync.UNLOCK and row["event"] < access.event:
                newest = next((n for n in reversed(range(len(held))) if held[n][0] == row["object"]), None)
                if newest is not None:
                    del held[newest]
        return held

    def threads_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The threads of events, numbered in order of their starts."""
        return np.asarray(self._stretches["thread"][self._stretches_of(events)], np.int64)

    def knows(self, thread: int, event: int) -> bool:
        """Whether a thread knew of an event at the end of what was checked, since something orders the two."""
        row = self._stretches[self._stretches_of(np.array([event]))[0]]
        return bool(row["thread"] == thread or row["clock"] <= self._clocks.clocks[thread, row["thread"]])

    def _stretches_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(self._stretches["start"], events, side="right") - 1, np.int64)

    @cached_property
    def _stretches(self) -> Any:
        return self._clocks.stretches[: self._clocks.counts[C_STRETCHES]]

    def first_event_of(self, thread: int) -> int:
        """The first event that a thread did itself; -1 where it did none."""
        own = np.flatnonzero(self._stretches["thread"] == thread)
        return int(self._stretches[own[0]]["start"]) if len(own) else -1

    @cached_property
    def _executed(self) -> NDArray[np.int64]:
        """The static segments that the run went through."""
        return np.unique(self.trace.columns.segments["id"][: self.trace.segments])

    @property
    def unknown_calls(self) -> list[str]:
        """Functions that the run called, and of which nothing is known; none where it had one thread."""
        plan, program = self.trace.plan, self.trace.program
        unknown = self._executed[plan.segments["flags"][self._executed] & UNKNOWN != 0]
        last = plan.sites["instruction"][plan.segments["site_start"][unknown + 1] - 1]
        names = {str(program.instruction(int(number)).callee).removeprefix("@") for number in last}
        return sorted(names) if self.threads > 1 else []

    @property
    def inline_assembly(self) -> list[str]:
        """Functions with inline assembly that the run entered; none where it had one thread."""
        numbers = np.unique(self.trace.plan.segments["function"][self._executed])
        entered = [self.trace.program.functions[int(number)] for number in numbers] if self.threads > 1 else []
        return sorted(ref.name for ref in entered if any(i.callee == "asm" for i in ref.function.instructions()))

    @property
    def remarks(self) -> list[str]:
        """What limits the check, in sentences."""
        found = []
        if self.trace.header.flags & RING:
            found.append("only the end of the run was recorded: what ordered its threads before is not known")
        if len(self.races) >= MOST_PAIRS - 1:
            found.append(f"more than {MOST_PAIRS:,} pairs of places race: the others are not told")
        if self.unknown_starts:
            found.append(
                f"{plural(self.unknown_starts, 'thread')} not started by recorded code: taken to come behind all before"
            )
        return found + self._unknown()

    def _unknown(self) -> list[str]:
        """What the run called that may order threads in a way that is not known."""
        names, asm = self.unknown_calls, self.inline_assembly
        shown = ", ".join(f"`{name}`" for name in names[:NAMES_SHOWN])
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        remarks = [f"called, and not known whether it orders threads: {shown}{more}"] if names else []
        return remarks + ([f"inline assembly in `{asm[0]}`: what it orders is not seen"] if asm else [])


class Checker:
    """Checks recorded runs of one subject."""

    def __init__(self, subject: Subject) -> None:
        self._plan = subject.plan
        self._ordering: Ordering = order_tables(subject.plan, subject.numbering)

    @cached_property
    def ordering_segments(self) -> NDArray[np.bool_]:
        """Of each static segment whether a thread orders itself with others in it."""
        ordering = self._ordering
        found = (ordering.calls["sync"] != Sync.NOTHING) | (ordering.tails != 0)
        sites = np.flatnonzero(ordering.orders)
        found[np.searchsorted(ordering.starts, sites, side="right") - 1] = True
        return np.asarray(found, np.bool_)

    @staticmethod
    def is_compiled() -> bool:
        """Whether the pass has been compiled before."""
        return is_kept(find_unordered)

    def compile(self) -> None:
        """Compile the pass where that has not been done, by going over a run of nothing."""
        units = np.zeros(0, np.uint32)
        units.flags.writeable = False  # as those of a trace are
        self._pass(units, np.zeros(0, np.int64), self._plan, new_columns(), 1)

    def check(self, trace: Trace, last: int | None = None) -> Checked:
        """The races of one run; as far as the segment of its ``last`` event where one is given."""
        columns = trace.columns
        if last is not None:
            counts = columns.counts.copy()
            counts[N_SEGMENT] = columns.events["segment"][last] + 1
            columns = columns._replace(counts=counts)
        clocks, accesses = self._pass(trace.units, trace.chunks, trace.plan, columns, trace.header.threads)
        rows = accesses.pairs[1 : accesses.counts[A_PAIRS]]
        races = sorted((_race(row) for row in rows), key=lambda race: race.second.event)
        return Checked(trace, races, clocks, self._ordering.orders)

    def _pass(
        self, units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan, columns: Columns, numbers: int
    ) -> tuple[Clocks, Any]:
        segments = int(columns.counts[N_SEGMENT])
        threads = int(started(units, chunks, plan)) + numbers
        clocks, accesses = new_clocks(threads, numbers, segments), new_accesses()
        waits = np.full(numbers, -1, np.int64)
        failed = self._failed(units, plan, columns, segments)
        find_unordered(units, chunks, plan, columns, self._ordering, failed, waits, clocks, accesses)
        return clocks, accesses

    def _failed(self, units: NDArray[np.uint32], plan: Plan, columns: Columns, segments: int) -> NDArray[np.uint8]:
        """For each segment whether it ends with a call that was to give something back, and did not."""
        failed = np.zeros(segments + 1, np.uint8)
        rows = columns.segments[:segments]
        back = np.isin(self._ordering.after["sync"], GIVES_BACK)
        behind = np.flatnonzero(back[rows["id"]] & (rows["previous"] >= 0))
        sites = plan.sites[plan.segments["site_start"][rows["id"][behind]]]
        behind, unit = behind[sites["units"] > 0], sites["unit"][sites["units"] > 0]
        results = units[rows["word"][behind] + unit]
        failed[rows["previous"][behind[results != 0]]] = 1
        return failed


def _race(row: Any) -> Race:
    first = Access(int(row["first"]), int(row["first_thread"]), bool(row["first_writes"]))
    second = Access(int(row["second"]), int(row["second_thread"]), bool(row["second_writes"]))
    return Race(first, second, int(row["address"]), int(row["length"]), int(row["count"]))
