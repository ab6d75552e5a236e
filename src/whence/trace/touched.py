"""The memory that a run read and wrote, access by access in order of time; what library calls touched counts, too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import ADDRESS_UNITS, NO_SLOT, Kind
from whence.probe.plan import Plan
from whence.trace.columns import N_CELL, CellKind
from whence.trace.kernels import lean
from whence.trace.memory import wide
from whence.trace.shadow import Int
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
WRITTEN = (int(CellKind.COPY), int(CellKind.SET), int(CellKind.CALL))
READS = (int(Kind.LOAD), int(Kind.BYVAL))
NO, READ, WRITE, FILL, COPY = range(5)  # what a site does to memory


class Touched(NamedTuple):
    """Accesses to memory, one column each: the event, the first byte, how many, and whether it writes."""

    event: Integers
    address: Integers
    length: Integers
    writes: NDArray[np.bool_]

    def where(self, chosen: NDArray[Any] | slice) -> Touched:
        """Some of them."""
        return Touched(self.event[chosen], self.address[chosen], self.length[chosen], self.writes[chosen])


def touched(trace: Trace) -> Touched:
    """What loads, stores, and all that reads or writes a range touched: of a copy first what it wrote.

    Private locals, which have no address, are left out, and so is what lies at address 0.
    """
    plan, segments = trace.plan, trace.columns.segments[: trace.segments]
    forms, library = _forms(plan.accesses), _library(trace)
    most = np.concatenate([[0], np.cumsum(np.where(forms == COPY, 2, forms != NO))])
    per_segment = np.diff(most[plan.segments["access_start"]], append=most[-1])
    room = int(per_segment[segments["id"]].sum()) + len(library.event)
    event, address, length = (np.empty(room, np.int64) for _ in range(3))
    found = Touched(event, address, length, np.empty(room, np.bool_))
    return found.where(slice(_touch(trace.units, segments, trace.events, plan, forms, library, found)))


def stored(trace: Trace, first: int, last: int) -> Touched:
    """What stores, copies and fills of the segments from ``first`` to before ``last`` wrote, without library calls."""
    plan, segments = trace.plan, trace.columns.segments[: trace.segments][first:last]
    forms = _forms(plan.accesses)
    forms[forms == READ] = NO
    most = np.concatenate([[0], np.cumsum(np.where(forms == COPY, 2, forms != NO))])
    per_segment = np.diff(most[plan.segments["access_start"]], append=most[-1])
    room = int(per_segment[segments["id"]].sum())
    event, address, length, none = *(np.empty(room, np.int64) for _ in range(3)), np.empty(0, np.int64)
    found = Touched(event, address, length, np.empty(room, np.bool_))
    nothing = Touched(none, none, none, np.empty(0, np.bool_))
    found = found.where(slice(_touch(trace.units, segments, trace.events, plan, forms, nothing, found)))
    return found.where(found.writes)


def _forms(accesses: Any) -> Integers:
    """What each static access does to memory."""
    kinds = accesses["kind"]
    is_private = (kinds <= Kind.STORE) & (accesses["slot"] != NO_SLOT)
    forms = np.where(np.isin(kinds, READS), READ, WRITE)
    forms[kinds == Kind.SET], forms[kinds == Kind.COPY] = FILL, COPY
    return np.where(is_private | (kinds == Kind.VASTART) | (accesses["units"] == 0), NO, forms)


def _library(trace: Trace) -> Touched:
    """What library calls read and wrote, in order of time."""
    cells = trace.columns.cells[: trace.columns.counts[N_CELL]]
    cells = cells[np.isin(cells["kind"], (*WRITTEN, int(CellKind.READ))) & (cells["length"] > 0)]
    kinds = trace.plan.sites["kind"][trace.sites(cells["parent"].astype(np.int64))]
    cells = cells[(kinds == Kind.CALL) & (cells["address"] != 0)]
    cells = cells[np.argsort(cells["parent"], kind="stable")]
    event, address, length = (cells[name].astype(np.int64) for name in ("parent", "address", "length"))
    return Touched(event, address, length, cells["kind"] != CellKind.READ)


@lean
def _touch(
    units: NDArray[np.uint32],
    segments: Any,
    events: Int,
    plan: Plan,
    forms: Integers,
    library: Touched,
    found: Touched,
) -> Int:
    """Enter what each event touched, and the library's accesses where they belong; returns how many there are."""
    count, taken = np.int64(0), np.int64(0)
    for row in range(len(segments)):
        static = segments[row].id
        first = np.int64(segments[row].event)
        for number in range(plan.segments[static].access_start, plan.segments[static + 1].access_start):
            form, event = forms[number], first + plan.accesses[number].site
            if form == NO or event >= events:
                continue
            while taken < len(library.event) and library.event[taken] < event:
                count = _enter_library(found, count, library, taken)
                taken += 1
            place = segments[row].word + plan.accesses[number].unit
            length = np.int64(plan.accesses[number].size)
            if form >= FILL:
                length = wide(units, place + 2 * ADDRESS_UNITS)
            count = _enter(found, count, event, wide(units, place), length, form != READ)
            if form == COPY:
                count = _enter(found, count, event, wide(units, place + ADDRESS_UNITS), length, False)
    for row in range(taken, len(library.event)):
        count = _enter_library(found, count, library, row)
    return count


@lean
def _enter_library(found: Touched, count: Int, library: Touched, row: Int) -> Int:
    """Enter an access of the library; returns how many there are."""
    return _enter(found, count, library.event[row], library.address[row], library.length[row], library.writes[row])


@lean
def _enter(found: Touched, count: Int, event: Int, address: Int, length: Int, writes: Any) -> Int:
    """Enter an access, if it has an address; returns how many there are."""
    if address == 0:
        return count
    found.event[count], found.address[count] = event, address
    found.length[count], found.writes[count] = length, writes
    return count + 1


@lean
def first_addresses(
    units: NDArray[np.uint32],
    segments: Any,
    plan: Plan,
    slots: NDArray[np.int32],
    starts: Integers,
    addresses: Integers,
    sizes: NDArray[np.int32],
) -> None:
    """Fill in where each frame first accesses each of its private locals, and how many bytes; 0: it does not.

    ``slots`` says of each static access which local it goes to, ``starts`` where the locals of each frame begin.
    """
    for row in range(len(segments)):
        static, start = segments[row].id, starts[segments[row].frame]
        for number in range(plan.segments[static].access_start, plan.segments[static + 1].access_start):
            slot = slots[number]
            if slot == NO_SLOT or addresses[start + slot] or not plan.accesses[number].units:
                continue
            addresses[start + slot] = wide(units, segments[row].word + plan.accesses[number].unit)
            sizes[start + slot] = plan.accesses[number].size
