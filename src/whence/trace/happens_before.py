"""The pass over a recorded run of several threads that finds accesses which nothing orders.

It goes through the records as decoding did, once. What orders threads is in the records already: calls of locks and
their like with their objects and results, atomic accesses, and which thread a call started or joined. A lock is given
back where its call begins, and taken where its result is seen: what lies between does not matter, since threads take
turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import CONDITIONAL, Kind
from whence.probe.plan import CALLS, RETURNS, Plan
from whence.probe.synchronisation import (
    ACQUIRE,
    ATOMIC,
    FAILING_ACQUIRE,
    FENCE_ACQUIRE,
    FENCE_RELEASE,
    RELEASE,
    Ordering,
    Sync,
)
from whence.trace.columns import CHUNK_UNITS, N_SEGMENT, Columns, FrameKind
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT, SWITCH, THREAD_STATE
from whence.trace.effects import ALLOC, COPY, FREE, OPERANDS, READ, STACK, STATE, STATE_BASE, WRITE
from whence.trace.kernels import lean
from whence.trace.last_accesses import Accesses, access, forget
from whence.trace.memory import wide
from whence.trace.shadow import Int
from whence.trace.vector_clocks import (
    C_NOW,
    C_STRETCHES,
    C_THREADS,
    Clocks,
    arrive,
    atomic_load,
    atomic_store,
    begin_stretch,
    depart,
    fence,
    learn,
    lock,
    log,
    new_thread,
    object_at,
    post,
    publish,
    take,
    thread_of,
    tick,
    unlock,
)

LOAD, STORE, RMW, COPIES, SET, BYVAL = (
    int(k) for k in (Kind.LOAD, Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET, Kind.BYVAL)
)
CALLBACK, DIRECT = int(FrameKind.CALLBACK), int(FrameKind.DIRECT)
_, LOCK, SHARE, UNLOCK, WAIT, BARRIER_INIT, BARRIER, SEMAPHORE_INIT, POST, TAKE, JOIN, ONCE = (int(s) for s in Sync)
START = 12  # in the log, beside those
OWNER_DEAD = 130  # the lock was taken, though who had it is gone
SERIAL = 0xFFFFFFFF  # PTHREAD_BARRIER_SERIAL_THREAD
WORD, CHUNK = 8, 16  # of a block on the heap: what stands before it, and what it is a multiple of with that
UNSAFE = (257, 258, 261)  # hidden state that no lock guards: strtok's, getopt's, the conversions' (library.h)


@lean
def started(units: NDArray[np.uint32], chunks: NDArray[np.int64], plan: Plan) -> Int:
    """How many threads a run started."""
    count = np.int64(0)
    for chunk in chunks:
        used = wide(units, chunk + 4)
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end:
            header = np.int64(units[position])
            if header == 0:
                position += 1
            elif header <= IDENTITY:
                if header > len(plan.segments):
                    return count
                position += plan.segments[header - 1].units
            elif header >> KIND_SHIFT == EFFECT:
                position += max(np.int64(1), header & IDENTITY)
            else:
                count += header >> KIND_SHIFT != SWITCH
                position += 1
    return count


@lean
def find_unordered(
    units: NDArray[np.uint32],
    chunks: NDArray[np.int64],
    plan: Plan,
    columns: Columns,
    ordering: Ordering,
    failed: NDArray[np.uint8],
    waits: NDArray[np.int64],
    clocks: Clocks,
    accesses: Accesses,
) -> Int:
    """Go through the records once; returns how many segments were seen.

    ``failed`` says of each segment whether the call that ends it gave nothing back; ``waits`` has room for the segment
    whose call each thread is in.
    """
    segment = np.int64(0)
    segments = columns.counts[N_SEGMENT]
    running = np.int64(-1)
    for chunk in chunks:
        number = wide(units, chunk + 2)
        used = wide(units, chunk + 4)
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end and segment < segments:
            header = np.int64(units[position])
            if header == 0:
                position += 1
                continue
            size = header & IDENTITY
            if header > IDENTITY and header >> KIND_SHIFT != EFFECT:
                if header >> KIND_SHIFT == SWITCH:
                    number = size
                else:
                    parent = thread_of(clocks, number)
                    waits[size] = -1
                    child = new_thread(clocks, size, parent)
                    log(clocks, clocks.counts[C_NOW], parent, START, child, 0)
                    tick(clocks, parent)
                position += 1
                continue
            thread = thread_of(clocks, number)
            if thread != running:
                running = thread
                begin_stretch(clocks, thread)
            if header > IDENTITY:
                if clocks.counts[C_THREADS] > 1 and waits[number] >= 0:
                    _effects(
                        units,
                        position,
                        position + size,
                        waits[number],
                        thread,
                        plan,
                        columns,
                        ordering,
                        clocks,
                        accesses,
                    )
                position += size
                continue
            _segment(units, segment, thread, number, plan, columns, ordering, failed, waits, clocks, accesses)
            segment += 1
            position += plan.segments[header - 1].units
    return segment


@lean
def _segment(
    units: NDArray[np.uint32],
    segment: Int,
    thread: Int,
    number: Int,
    plan: Plan,
    columns: Columns,
    ordering: Ordering,
    failed: NDArray[np.uint8],
    waits: NDArray[np.int64],
    clocks: Clocks,
    accesses: Accesses,
) -> None:
    """All that one segment did."""
    row = columns.segments[segment]
    static = plan.segments[row.id]
    clocks.counts[C_NOW] = row.event
    clocks.first_stretch[segment] = clocks.counts[C_STRETCHES] - 1
    waits[number] = -1
    after = ordering.after[row.id]
    if after.sync and row.previous >= 0:
        _done(units, segment, thread, after.sync, after.object, plan, columns, ordering, clocks)
    stop = plan.segments[row.id + 1].site_start
    if clocks.counts[C_THREADS] > 1:
        for k in range(static.access_start, plan.segments[row.id + 1].access_start):
            one = plan.accesses[k]
            site = static.site_start + one.site
            bits = ordering.orders[site]
            if bits > ATOMIC | ACQUIRE | RELEASE | FAILING_ACQUIRE:
                clocks.counts[C_NOW] = row.event + one.site
                fence(clocks, thread, bits & FENCE_ACQUIRE, bits & FENCE_RELEASE)
            if one.slot >= 0 and one.kind <= STORE:
                continue
            _event(units, row.event + one.site, one, bits, thread, segment, plan, columns, ordering, clocks, accesses)
        tail = ordering.tails[row.id]
        if tail:
            clocks.counts[C_NOW] = row.event + stop - static.site_start
            fence(clocks, thread, tail & FENCE_ACQUIRE, tail & FENCE_RELEASE)
    clocks.counts[C_NOW] = row.event + stop - static.site_start
    if static.flags & CALLS:
        waits[number] = segment
        call = ordering.calls[row.id]
        if call.sync and not failed[segment]:
            _called(units, segment, thread, call, plan, columns, clocks)
    elif static.flags & RETURNS:
        frame = columns.frames[row.frame]
        waits[number] = frame.call
        if frame.kind == CALLBACK and frame.call >= 0:
            call = ordering.calls[columns.segments[frame.call].id]
            if call.sync == ONCE:
                publish(clocks, thread, object_at(clocks, _argument(units, frame.call, call.object, plan, columns), 0))


@lean
def _argument(units: NDArray[np.uint32], segment: Int, number: Int, plan: Plan, columns: Columns) -> Int:
    """An argument of the call that ends a segment."""
    row = columns.segments[segment]
    last = plan.segments[row.id + 1].site_start - 1
    count = plan.sites[last].aux
    if number >= count:
        return np.int64(0)
    site = plan.sites[last - count + number]
    if site.units == 0:
        return np.int64(0)
    return wide(units, row.word + site.unit) if site.units > 1 else np.int64(units[row.word + site.unit])


@lean
def _called(
    units: NDArray[np.uint32], segment: Int, thread: Int, call: Any, plan: Plan, columns: Columns, clocks: Clocks
) -> None:
    """What a call does when it begins: it gives something back, or says what there will be."""
    event = clocks.counts[C_NOW] - 1
    key = _argument(units, segment, call.object, plan, columns) if call.object >= 0 else np.int64(0)
    sync = call.sync
    if sync in (BARRIER_INIT, SEMAPHORE_INIT):
        place = object_at(clocks, key, 0)
        made = clocks.objects[place]
        made.count = _argument(units, segment, call.count, plan, columns)
        made.row, made.arrived, made.first = 0, 0, 0
        return
    if sync in (UNLOCK, WAIT):
        log(clocks, event, thread, UNLOCK, 0, key)
        unlock(clocks, thread, object_at(clocks, key, 0))
    elif sync == BARRIER:
        arrive(clocks, thread, object_at(clocks, key, 0))
    elif sync == POST:
        post(clocks, thread, object_at(clocks, key, 0))


@lean
def _done(
    units: NDArray[np.uint32],
    segment: Int,
    thread: Int,
    sync: Int,
    argument: Int,
    plan: Plan,
    columns: Columns,
    ordering: Ordering,
    clocks: Clocks,
) -> None:
    """What a call did, as its result tells: it took something, or has seen something."""
    row = columns.segments[segment]
    site = plan.sites[plan.segments[row.id].site_start]
    result = np.int64(units[row.word + site.unit]) if site.units else np.int64(0)
    good = result == 0 or result == OWNER_DEAD or (sync == BARRIER and result == SERIAL) or sync == WAIT
    event = row.event
    joined = clocks.threads[thread].joined
    clocks.threads[thread].joined = 0
    if not good:
        return
    if sync == JOIN:
        if joined:
            log(clocks, event, thread, JOIN, joined - 1, 0)
            learn(clocks, thread, joined - 1)
        return
    key = _argument(units, row.previous, argument, plan, columns)
    if sync in (LOCK, WAIT, SHARE):
        log(clocks, event, thread, SHARE if sync == SHARE else LOCK, 0, key)
        lock(clocks, thread, object_at(clocks, key, 0), sync == SHARE)
    elif sync == BARRIER:
        depart(clocks, thread, object_at(clocks, key, 0))
    elif sync == TAKE:
        take(clocks, thread, object_at(clocks, key, 0))
    elif sync == ONCE:
        place = object_at(clocks, key, 0)
        if clocks.objects[place].row:
            learn(clocks, thread, clocks.objects[place].row)
        else:  # what it called was not recorded
            publish(clocks, thread, place)


@lean
def _effects(
    units: NDArray[np.uint32],
    start: Int,
    end: Int,
    segment: Int,
    thread: Int,
    plan: Plan,
    columns: Columns,
    ordering: Ordering,
    clocks: Clocks,
    accesses: Accesses,
) -> None:
    """What a library call read and wrote counts as done by its caller's line."""
    row = columns.segments[segment]
    event = row.event + plan.segments[row.id + 1].site_start - plan.segments[row.id].site_start - 1
    position = start + 2
    while position < end and units[position]:
        opcode, a = wide(units, position) & 255, wide(units, position) >> 8
        operands = OPERANDS[opcode]
        x = wide(units, position + 2)
        y = wide(units, position + 4) if operands > 1 else np.int64(0)
        if opcode == READ:
            access(x, y, 0, 0, event, thread, ordering, columns, clocks, accesses)
        elif opcode in (WRITE, FREE):
            access(x, y, 1, 0, event, thread, ordering, columns, clocks, accesses)
        elif opcode == COPY:
            z = wide(units, position + 6)
            access(y, z, 0, 0, event, thread, ordering, columns, clocks, accesses)
            access(x, z, 1, 0, event, thread, ordering, columns, clocks, accesses)
        elif opcode == ALLOC:  # with what rounds it up, which counts as given back with it
            forget(accesses, x, ((y + 2 * WORD + CHUNK - 1) & -CHUNK) - WORD)
        elif opcode == STACK:
            forget(accesses, x, y)
        elif opcode == STATE:
            if a & 1 and ordering.calls[row.id].sync == JOIN and x > THREAD_STATE:
                clocks.threads[thread].joined = clocks.current[x - THREAD_STATE] + 1
            elif x in UNSAFE:
                place = STATE_BASE | x << 3
                access(place, 8, a & 2, 0, event, thread, ordering, columns, clocks, accesses)
        position += 2 * (1 + operands)


@lean
def _event(
    units: NDArray[np.uint32],
    event: Int,
    one: Any,
    bits: Int,
    thread: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    ordering: Ordering,
    clocks: Clocks,
    accesses: Accesses,
) -> None:
    """One access by address: a load, a store, an atomic operation, a copy or a fill."""
    kind = one.kind
    unit = columns.segments[segment].word + one.unit
    address = wide(units, unit)
    if address == 0:  # never reached
        return
    length = np.int64(one.size)
    writes = np.int64(kind != LOAD)
    if kind in (COPIES, SET):
        length = wide(units, unit + 4)
        if kind == COPIES:
            source = wide(units, unit + 2)
            access(source, length, 0, 0, event, thread, ordering, columns, clocks, accesses)
    elif kind == RMW:
        if one.slot == CONDITIONAL:
            writes = np.int64(units[unit + one.units - 1] != 0)
    elif kind == BYVAL:
        frame = columns.frames[columns.segments[segment].frame]
        if frame.kind == DIRECT and frame.call >= 0:
            source = _argument(units, frame.call, one.slot, plan, columns)
            access(source, length, 0, 0, event, thread, ordering, columns, clocks, accesses)
    elif kind > STORE:
        return
    atomic = np.int64(bits & ATOMIC)
    access(address, length, writes, atomic, event, thread, ordering, columns, clocks, accesses)
    if atomic:
        place = object_at(clocks, address, 1)
        clocks.counts[C_NOW] = event + 1
        if kind != STORE:
            atomic_load(clocks, thread, place, bits & (ACQUIRE if writes or kind == LOAD else FAILING_ACQUIRE))
        if writes:
            atomic_store(clocks, thread, place, bits & RELEASE, kind == RMW)
