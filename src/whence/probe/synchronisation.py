"""What orders threads in a program's text: calls of locks and their like, atomic accesses and fences, as flat tables.

Which call or access does what is static; the pass over a trace (``trace/happens_before.py``) only looks it up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whence.probe.layout import Kind, Layout
from whence.probe.library import FUNCTIONS
from whence.probe.plan import CALLS, FIRST, Numbering, Plan

if TYPE_CHECKING:
    from whence.program.model import Instruction


class Sync(IntEnum):
    """What a library function does to order threads."""

    NOTHING = 0
    LOCK = 1  # takes its object for itself
    SHARE = 2  # takes it for reading
    UNLOCK = 3
    WAIT = 4  # gives a lock back, waits, and takes it again
    BARRIER_INIT = 5
    BARRIER = 6
    SEMAPHORE_INIT = 7
    POST = 8
    TAKE = 9
    JOIN = 10
    ONCE = 11


# Names, the argument that is the object, and the argument that is a count (of a barrier, a semaphore).
_CALLS = (
    (
        Sync.LOCK,
        "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock mtx_lock mtx_trylock "
        "mtx_timedlock pthread_spin_lock pthread_spin_trylock pthread_rwlock_wrlock pthread_rwlock_trywrlock "
        "pthread_rwlock_timedwrlock flockfile",
        0,
        -1,
    ),
    (Sync.SHARE, "pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_timedrdlock", 0, -1),
    (Sync.UNLOCK, "pthread_mutex_unlock mtx_unlock pthread_spin_unlock pthread_rwlock_unlock funlockfile", 0, -1),
    (Sync.WAIT, "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait", 1, -1),
    (Sync.BARRIER_INIT, "pthread_barrier_init", 0, 2),
    (Sync.BARRIER, "pthread_barrier_wait", 0, -1),
    (Sync.SEMAPHORE_INIT, "sem_init", 0, 2),
    (Sync.POST, "sem_post", 0, -1),
    (Sync.TAKE, "sem_wait sem_trywait sem_timedwait sem_clockwait", 0, -1),
    (Sync.JOIN, "pthread_join thrd_join", -1, -1),
    (Sync.ONCE, "pthread_once call_once", 0, -1),
)
# Bits of an atomic access's order, and of a fence.
ATOMIC, ACQUIRE, RELEASE, FAILING_ACQUIRE, FENCE_ACQUIRE, FENCE_RELEASE = 1, 2, 4, 8, 16, 32
_ORDER = re.compile(r"(?<= )(unordered|monotonic|acquire|release|acq_rel|seq_cst)(?=[ ,]|$)")
_MEANS = {"acquire": ACQUIRE, "release": RELEASE, "acq_rel": ACQUIRE | RELEASE, "seq_cst": ACQUIRE | RELEASE}
_FENCES = {ACQUIRE: FENCE_ACQUIRE, RELEASE: FENCE_RELEASE}

CALL = np.dtype([("sync", np.int32), ("object", np.int32), ("count", np.int32)])


class Ordering(NamedTuple):
    """``calls`` of each static segment: what its last call does, and ``after``: what the call before it did.

    ``orders`` of each site: the bits of an atomic access, and of the fences right before it; ``tails`` of each
    segment: of the fences behind its last site. ``starts``: where each segment's sites begin.
    """

    calls: Any
    after: Any
    orders: Any
    tails: Any
    starts: Any


def order_tables(plan: Plan, numbering: Numbering) -> Ordering:
    """What orders threads in a program."""
    functions = np.zeros(max(f.number for f in FUNCTIONS.values()) + 1, CALL)
    for sync, names, object_, count in _CALLS:
        for name in names.split():
            if name in FUNCTIONS:
                functions[FUNCTIONS[name].number] = (sync, object_, count)
    segments = plan.segments
    last = plan.sites["callee"][np.maximum(segments["site_start"][1:] - 1, 0)]
    known = (segments["flags"][:-1] & CALLS != 0) & (last <= -2)
    calls = np.zeros(len(segments), CALL)
    calls[:-1] = np.where(known, functions[np.where(known, -2 - last, 0)], calls[:-1])
    after = np.zeros(len(segments), CALL)
    after[1:-1] = np.where(segments["flags"][1:-1] & FIRST, after[1:-1], calls[:-2])
    orders = np.zeros(len(plan.sites), np.uint8)
    tails = np.zeros(len(segments), np.uint8)
    for layout, first in zip(numbering.layouts, numbering.first_segment, strict=True):
        _add_function(layout, first, plan, orders, tails)
    return Ordering(calls, after, orders, tails, segments["site_start"].copy())


def _add_function(layout: Layout, first: int, plan: Plan, orders: Any, tails: Any) -> None:
    """The atomic accesses and the fences of one function."""
    start = int(plan.segments[first]["site_start"])
    sites = [site for segment in layout.segments for site in segment.sites]
    for number, site in enumerate(sites, start):
        if site.kind in {Kind.LOAD, Kind.STORE, Kind.RMW}:
            orders[number] |= order_bits(site.instruction)
    for index, block in enumerate(layout.function.blocks):
        for fence in (i for i in block.instructions if i.opcode == "fence"):
            bits = order_bits(fence)
            bits = sum(meaning for order, meaning in _FENCES.items() if bits & order)
            behind = (n for n, site in _sites_of(layout, index, start) if site.instruction.index > fence.index)
            if (site_number := next(behind, None)) is not None:
                orders[site_number] |= bits
            else:
                tails[first + max(n for n, s in enumerate(layout.segments) if s.block == index)] |= bits


def _sites_of(layout: Layout, block: int, start: int) -> Iterator[tuple[int, Any]]:
    """The sites of a block with their numbers."""
    for segment in layout.segments:
        for site in segment.sites:
            if segment.block == block:
                yield start, site
            start += 1


def order_bits(instruction: Instruction) -> int:
    """The bits of an atomic access or a fence; 0 for what is neither."""
    text = instruction.text.partition(", !")[0]
    if instruction.opcode in {"load", "store"} and f"{instruction.opcode} atomic " not in text:
        return 0
    found = _ORDER.findall(text)
    if not found:
        return 0
    bits = ATOMIC | _MEANS.get(found[0], 0)
    if instruction.opcode == "cmpxchg" and _MEANS.get(found[-1], 0) & ACQUIRE:
        bits |= FAILING_ACQUIRE
    return bits
