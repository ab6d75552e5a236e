"""Who knows of whom: a clock for each thread, and for what passes knowledge from one to another.

A *row* of ``clocks`` has one number for each thread that was ever started: up to where its doings are known.
The first rows are those of the threads themselves, others belong to locks, atomic variables and their like. A thread's
own number grows whenever it passes on what it knows; the events between two such points are a *stretch*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import Int

MOST_STRETCHES = 1 << 28
MOST_LOGGED = 1 << 28
OBJECTS = 1 << 22
ROOM = 1 << 34  # numbers in all rows
LEAST_ROWS = 1 << 16
NOBODY = -1

STRETCH = np.dtype([("start", np.int32), ("thread", np.int32), ("clock", np.int32)])
# ``row``: what is known by who gave it back last; ``readers``: of a lock for many, what those who read gave back.
# ``count``, ``arrived``: of a barrier; a semaphore's ``count`` is what is left of its initial value, -1 if unknown.
# ``first``, ``last``: the rows of posts that nobody has taken. ``writer``: 1 + the thread that holds it alone, or
# released the atomic last.
OBJECT = np.dtype(
    [
        ("key", np.int64),
        ("row", np.int32),
        ("readers", np.int32),
        ("count", np.int32),
        ("arrived", np.int32),
        ("first", np.int32),
        ("last", np.int32),
        ("writer", np.int32),
    ]
)
# ``released``, ``pending``: rows for fences; ``round``: the row of the barrier's round that it waits in; ``joined``:
# 1 + the thread whose end a join is about to see.
THREAD = np.dtype(
    [
        ("released", np.int32),
        ("pending", np.int32),
        ("round", np.int32),
        ("joined", np.int32),
    ]
)
LOGGED = np.dtype(
    [("event", np.int32), ("thread", np.int32), ("sync", np.int32), ("other", np.int32), ("object", np.int64)]
)


class Clocks(NamedTuple):
    """What the pass knows of threads and what orders them.

    ``counts`` are the ``C_*`` numbers; ``current`` is, for each number of a thread in the trace, who has it now.
    ``first_stretch`` is the stretch in which each segment began. ``next`` links rows of posts, and rows to be used
    again. ``log`` has what threads did to order themselves, for telling it later.
    """

    counts: NDArray[np.int64]
    clocks: NDArray[np.int32]
    next: NDArray[np.int32]
    threads: Any
    objects: Any
    stretches: Any
    first_stretch: NDArray[np.int32]
    current: NDArray[np.int64]
    log: Any


C_THREADS, C_ROWS, C_FREE, C_STRETCHES, C_LOGGED, C_NOW, C_OBJECTS, C_UNKNOWN_STARTS = range(8)


def new_clocks(threads: int, numbers: int, segments: int) -> Clocks:
    """Clocks for at most so many threads, which have so many numbers in the trace, and a run of so many segments."""
    rows = max(threads + LEAST_ROWS, ROOM // threads)
    counts = np.zeros(8, np.int64)
    counts[C_ROWS] = threads + 1  # row 0 of the others means: none
    current = np.full(numbers, NOBODY, np.int64)
    return Clocks(
        counts,
        lazy_zeros(rows * threads, np.int32).reshape(rows, threads),
        lazy_zeros(rows, np.int32),
        lazy_zeros(threads, THREAD),
        lazy_zeros(OBJECTS, OBJECT),
        lazy_zeros(MOST_STRETCHES, STRETCH),
        lazy_zeros(segments + 1, np.int32),
        current,
        lazy_zeros(MOST_LOGGED, LOGGED),
    )


# ---- Rows ------------------------------------------------------------------------------------------------------------


@lean
def new_row(state: Clocks) -> Int:
    """A row of zeros."""
    row = state.counts[C_FREE]
    if row:
        state.counts[C_FREE] = state.next[row]
    else:
        row = state.counts[C_ROWS]
        if row >= len(state.next):
            raise MemoryError
        state.counts[C_ROWS] = row + 1
    state.next[row] = 0
    for k in range(state.counts[C_THREADS]):
        state.clocks[row, k] = 0
    return row


@lean
def free_row(state: Clocks, row: Int) -> None:
    """Give a row back, to be used again."""
    state.next[row] = state.counts[C_FREE]
    state.counts[C_FREE] = row


@lean
def learn(state: Clocks, row: Int, other: Int) -> None:
    """What ``other`` knows is known in ``row``, too."""
    for k in range(state.counts[C_THREADS]):
        state.clocks[row, k] = max(state.clocks[row, k], state.clocks[other, k])


@lean
def copy_row(state: Clocks, row: Int, other: Int) -> None:
    """What ``other`` knows is all that is known in ``row``."""
    for k in range(state.counts[C_THREADS]):
        state.clocks[row, k] = state.clocks[other, k]


# ---- Threads and their stretches -------------------------------------------------------------------------------------


@lean
def begin_stretch(state: Clocks, thread: Int) -> None:
    """From the next event on it is this thread's turn, with its clock as it is now."""
    number = state.counts[C_STRETCHES]
    now = state.counts[C_NOW]
    if number and state.stretches[number - 1].start == now:
        number -= 1  # nothing happened in the last one
    else:
        state.counts[C_STRETCHES] = number + 1
    if number >= len(state.stretches):
        raise MemoryError
    row = state.stretches[number]
    row.start, row.thread, row.clock = now, thread, state.clocks[thread, thread]


@lean
def tick(state: Clocks, thread: Int) -> None:
    """The thread has passed on what it knows: what it does from now on is not part of that."""
    state.clocks[thread, thread] += 1
    begin_stretch(state, thread)


@lean
def new_thread(state: Clocks, number: Int, parent: Int) -> Int:
    """A thread is started under a number; one whose start was not seen knows of all that was before."""
    thread = state.counts[C_THREADS]
    if thread >= len(state.threads):
        raise MemoryError
    state.counts[C_THREADS] = thread + 1
    if parent >= 0:
        copy_row(state, thread, parent)
    else:
        state.counts[C_UNKNOWN_STARTS] += thread > 0
        for k in range(thread):
            state.clocks[thread, k] = state.clocks[k, k]
            state.clocks[k, k] += 1
    state.clocks[thread, thread] = 1
    state.current[number] = thread
    return thread


@lean
def thread_of(state: Clocks, number: Int) -> Int:
    """Who has a number now."""
    if state.current[number] < 0:
        return new_thread(state, number, NOBODY)
    return state.current[number]


@lean
def stretch_of(state: Clocks, event: Int, segment: Int) -> Int:
    """The stretch that an event of a segment is in."""
    found = np.int64(state.first_stretch[segment])
    last = state.counts[C_STRETCHES] - 1
    while found < last and state.stretches[found + 1].start <= event:
        found += 1
    return found


@lean
def log(state: Clocks, event: Int, thread: Int, sync: Int, other: Int, key: Int) -> None:
    """Note what a thread did to order itself."""
    number = state.counts[C_LOGGED]
    if number >= len(state.log):
        return
    state.counts[C_LOGGED] = number + 1
    row = state.log[number]
    row.event, row.thread, row.sync, row.other, row.object = event, thread, sync, other, key


# ---- Objects ---------------------------------------------------------------------------------------------------------


@lean
def object_at(state: Clocks, address: Int, atomic: Int) -> Int:
    """The object of library calls, or the atomic variable, at an address; a new one where there is none."""
    key = (address << 1 | atomic) + 1
    place = ((key >> 2) * 0x9E3779B1) & (OBJECTS - 1)
    while state.objects[place].key != key:
        if state.objects[place].key == 0:
            if state.counts[C_OBJECTS] >= OBJECTS // 2:
                raise MemoryError
            state.counts[C_OBJECTS] += 1
            state.objects[place].key = key
            state.objects[place].count = -1
            break
        place = (place + 1) & (OBJECTS - 1)
    return place


@lean
def lock(state: Clocks, thread: Int, place: Int, shared: Int) -> None:
    """A lock was taken: what those who held it knew is known, unless both only read."""
    found = state.objects[place]
    if found.row:
        learn(state, thread, found.row)
    if shared:
        return
    if found.readers:
        learn(state, thread, found.readers)
    found.writer = thread + 1


@lean
def unlock(state: Clocks, thread: Int, place: Int) -> None:
    """A lock was given back."""
    found = state.objects[place]
    if found.writer == thread + 1:
        if found.row == 0:
            found.row = new_row(state)
        copy_row(state, found.row, thread)
        found.writer = 0
    else:  # taken for reading, or once more by who has it
        if found.readers == 0:
            found.readers = new_row(state)
        learn(state, found.readers, thread)
    tick(state, thread)


@lean
def arrive(state: Clocks, thread: Int, place: Int) -> None:
    """A thread waits at a barrier; the round is over when as many as it counts have arrived."""
    found = state.objects[place]
    if found.row == 0:
        found.row = new_row(state)
        found.arrived = 0
    learn(state, found.row, thread)
    state.threads[thread].round = found.row
    found.arrived += 1
    if found.arrived == found.count:
        found.row = 0  # the next who comes begins another round
    tick(state, thread)


@lean
def depart(state: Clocks, thread: Int, place: Int) -> None:
    """A thread goes on behind a barrier: it knows what all knew who came there in its round."""
    row = state.threads[thread].round
    if row:
        learn(state, thread, row)
    if state.objects[place].row == row:  # its count is not known
        state.objects[place].row = 0
    state.threads[thread].round = 0


@lean
def post(state: Clocks, thread: Int, place: Int) -> None:
    """One more can take the semaphore, and who takes it learns what this thread knows."""
    found = state.objects[place]
    row = new_row(state)
    copy_row(state, row, thread)
    if found.first == 0:
        found.first = row
    else:
        state.next[found.last] = row
    found.last = row
    tick(state, thread)


@lean
def take(state: Clocks, thread: Int, place: Int) -> None:
    """Take what is left of the semaphore's initial value, then the posts one by one.

    So the n-th who takes it comes behind the posts that it needs in every order.
    """
    found = state.objects[place]
    if found.count > 0:
        found.count -= 1
    elif found.first:
        row = np.int64(found.first)
        found.first = state.next[row]
        learn(state, thread, row)
        free_row(state, row)


@lean
def publish(state: Clocks, thread: Int, place: Int) -> None:
    """Who comes to the object from now on learns what the thread knows; what was there before stays known."""
    found = state.objects[place]
    if found.row == 0:
        found.row = new_row(state)
    learn(state, found.row, thread)
    tick(state, thread)


# ---- Atomic variables and fences -------------------------------------------------------------------------------------


@lean
def atomic_store(state: Clocks, thread: Int, place: Int, releases: Int, keeps: Int) -> None:
    """An atomic variable was written; ``keeps``: by one that also reads it, which goes on with a release sequence.

    (C11, 5.1.2.4 and 7.17.4.) A relaxed store passes on what was known at the thread's last release fence, and keeps
    what the thread itself released here.
    """
    found = state.objects[place]
    source = thread if releases else np.int64(state.threads[thread].released)
    if found.row == 0:
        if not releases and source == 0:
            return
        found.row = new_row(state)
    if not keeps and (releases or found.writer != thread + 1):
        for k in range(state.counts[C_THREADS]):
            state.clocks[found.row, k] = 0
    if releases or source:
        learn(state, found.row, source)
    if releases:
        found.writer = thread + 1
        tick(state, thread)


@lean
def atomic_load(state: Clocks, thread: Int, place: Int, acquires: Int) -> None:
    """An atomic variable was read; what a relaxed load saw is known from the next acquire fence on."""
    row = state.objects[place].row
    if row == 0:
        return
    if acquires:
        learn(state, thread, row)
        return
    if state.threads[thread].pending == 0:
        state.threads[thread].pending = new_row(state)
    learn(state, state.threads[thread].pending, row)


@lean
def fence(state: Clocks, thread: Int, acquires: Int, releases: Int) -> None:
    """A fence: loads before it have acquired, stores behind it release what is known here."""
    if acquires and state.threads[thread].pending:
        learn(state, thread, state.threads[thread].pending)
    if releases:
        if state.threads[thread].released == 0:
            state.threads[thread].released = new_row(state)
        copy_row(state, state.threads[thread].released, thread)
        tick(state, thread)
