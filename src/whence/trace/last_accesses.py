"""The last accesses to each byte, and which of them nothing orders with the next one.

(FastTrack, Flanagan and Freund 2009, on the events of a recorded run.) A byte remembers the event that wrote it last,
and the read since then; where several threads read without being ordered, a list of reads, one of each. Since an event
tells its stretch, and a stretch its thread and clock, an epoch takes no more room than the event's number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.synchronisation import ATOMIC, Ordering
from whence.trace.columns import Columns
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import HIGHEST, MAX_PAGES, PAGE, Int, known_base, no_pages, page_base
from whence.trace.vector_clocks import C_STRETCHES, Clocks, stretch_of

MOST_READS = 1 << 29
MOST_PAIRS = 1 << 16
PAIRS = 1 << 18  # places of the table that finds them

READ = np.dtype([("event", np.int32), ("next", np.int32)])
PAIR = np.dtype(
    [
        ("first", np.int32),
        ("second", np.int32),
        ("first_writes", np.int32),
        ("second_writes", np.int32),
        ("count", np.int32),
        ("first_thread", np.int32),
        ("second_thread", np.int32),
        ("length", np.int64),
        ("address", np.int64),
    ]
)


class Accesses(NamedTuple):
    """What is remembered of memory: pages as in ``Shadow``, of each byte the last ``write`` and ``read``.

    Both are events + 1; a negative read is - 1 - the first of a list in ``lists``. ``pairs`` are the accesses that
    nothing orders, found by their two sites through ``seen`` and ``seen_keys``; ``counts``: reads in lists, pairs.
    """

    keys: NDArray[np.int64]
    places: NDArray[np.int32]
    cache_keys: NDArray[np.int64]
    cache_places: NDArray[np.int64]
    pages: NDArray[np.int64]
    numbers: NDArray[np.int64]
    write: NDArray[np.int32]
    read: NDArray[np.int32]
    lists: Any
    pairs: Any
    seen_keys: NDArray[np.int64]
    seen: NDArray[np.int32]
    counts: NDArray[np.int64]


A_READS, A_PAIRS = range(2)


def new_accesses() -> Accesses:
    """No accesses so far."""
    return Accesses(
        *no_pages(),
        lazy_zeros(MAX_PAGES * PAGE, np.int32),
        lazy_zeros(MAX_PAGES * PAGE, np.int32),
        lazy_zeros(MOST_READS, READ),
        lazy_zeros(MOST_PAIRS, PAIR),
        lazy_zeros(PAIRS, np.int64),
        lazy_zeros(PAIRS, np.int32),
        np.ones(2, np.int64),  # list 0 is none
    )


@lean
def forget(accesses: Accesses, address: Int, length: Int) -> None:
    """Fresh memory: what was there before has nothing to do with it."""
    if length <= 0 or length >= HIGHEST:
        return
    done = np.int64(0)
    while done < length:
        offset = (address + done) & (PAGE - 1)
        take = min(PAGE - offset, length - done)
        base = known_base(accesses, (address + done) >> 12)
        if base >= 0:
            accesses.write[base + offset : base + offset + take] = 0
            accesses.read[base + offset : base + offset + take] = 0
        done += take


@lean
def access(
    address: Int,
    length: Int,
    writes: Int,
    atomic: Int,
    event: Int,
    thread: Int,
    ordering: Ordering,
    columns: Columns,
    clocks: Clocks,
    accesses: Accesses,
) -> None:
    """An access by a thread: tell those that nothing orders with it, and remember it."""
    if length <= 0 or length >= HIGHEST or address <= 0:
        return
    begun = clocks.stretches[clocks.counts[C_STRETCHES] - 1].start + 1
    done = np.int64(0)
    while done < length:
        offset = (address + done) & (PAGE - 1)
        take = min(PAGE - offset, length - done)
        place = page_base(accesses, (address + done) >> 12) + offset
        end = place + take
        while place < end:
            write, read = np.int64(accesses.write[place]), np.int64(accesses.read[place])
            run = place + 1
            while run < end and accesses.write[run] == write and accesses.read[run] == read:
                run += 1
            at = address + done + take - (end - place)
            if 0 < write < begun:
                _check(
                    write - 1, 1, event, writes, atomic, at, run - place, thread, ordering, columns, clocks, accesses
                )
            if writes:
                if 0 < read < begun:
                    _check(read - 1, 0, event, 1, atomic, at, run - place, thread, ordering, columns, clocks, accesses)
                number = np.int64(-1 - read)
                while number > 0:
                    listed = np.int64(accesses.lists[number].event)
                    _check(listed, 0, event, 1, atomic, at, run - place, thread, ordering, columns, clocks, accesses)
                    number = np.int64(accesses.lists[number].next)
                if not atomic or write < begun:
                    accesses.write[place:run] = event + 1
                accesses.read[place:run] = 0
            else:
                fresh = _reads_with(read, begun, event, atomic, thread, columns, clocks, accesses)
                if fresh != read:
                    accesses.read[place:run] = fresh
            place = run
        done += take


@lean
def _reads_with(
    read: Int, begun: Int, event: Int, atomic: Int, thread: Int, columns: Columns, clocks: Clocks, accesses: Accesses
) -> Int:
    """The reads of a byte with one more: those that are ordered before it need not be remembered."""
    if read >= begun:
        return read if atomic else event + 1
    if read == 0:
        return event + 1
    if read > 0:
        if _is_ordered(read - 1, thread, columns, clocks):
            return event + 1
        return _listed(event, _listed(read - 1, 0, accesses), accesses) * -1 - 1
    number = np.int64(-1 - read)
    if accesses.lists[number].event + 1 >= begun:
        return read
    kept = np.int64(0)
    while number > 0:
        listed = np.int64(accesses.lists[number].event)
        if not _is_ordered(listed, thread, columns, clocks):
            kept = _listed(listed, kept, accesses)
        number = np.int64(accesses.lists[number].next)
    return _listed(event, kept, accesses) * -1 - 1 if kept else event + 1


@lean
def _listed(event: Int, behind: Int, accesses: Accesses) -> Int:
    """A list with one more read."""
    number = accesses.counts[A_READS]
    if number >= len(accesses.lists):
        raise MemoryError
    accesses.counts[A_READS] = number + 1
    accesses.lists[number].event = event
    accesses.lists[number].next = behind
    return number


@lean
def _is_ordered(event: Int, thread: Int, columns: Columns, clocks: Clocks) -> Any:
    """Whether a thread knows of an event."""
    row = clocks.stretches[stretch_of(clocks, event, columns.events[event].segment)]
    return row.thread == thread or row.clock <= clocks.clocks[thread, row.thread]


@lean
def _check(
    before: Int,
    before_writes: Int,
    event: Int,
    writes: Int,
    atomic: Int,
    address: Int,
    length: Int,
    thread: Int,
    ordering: Ordering,
    columns: Columns,
    clocks: Clocks,
    accesses: Accesses,
) -> None:
    """Note two accesses that nothing orders, unless both are atomic; those of the same two sites are one row."""
    if _is_ordered(before, thread, columns, clocks):
        return
    segment = columns.events[before].segment
    site = ordering.starts[columns.segments[segment].id] + before - columns.segments[segment].event
    if atomic and ordering.orders[site] & ATOMIC:
        return
    segment = columns.events[event].segment
    other = ordering.starts[columns.segments[segment].id] + event - columns.segments[segment].event
    key = (np.int64(site) << 34 | np.int64(other) << 2 | before_writes << 1 | writes) + 1
    place = (key * 0x9E3779B1 >> 8) & (PAIRS - 1)
    while accesses.seen_keys[place] != key:
        if accesses.seen_keys[place] == 0:
            number = accesses.counts[A_PAIRS]
            if number >= len(accesses.pairs):
                return
            accesses.counts[A_PAIRS] = number + 1
            accesses.seen_keys[place] = key
            accesses.seen[place] = number
            row = accesses.pairs[number]
            row.first, row.second, row.first_writes, row.second_writes = before, event, before_writes, writes
            row.first_thread = clocks.stretches[stretch_of(clocks, before, columns.events[before].segment)].thread
            row.second_thread, row.address, row.length = thread, address, length
            break
        place = (place + 1) & (PAIRS - 1)
    accesses.pairs[accesses.seen[place]].count += 1
