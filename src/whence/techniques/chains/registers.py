"""Registers that live on across a point: values that an expression has loaded, or a call gave, and still needs.

At -O0 they pass from block to block only by phis, so they are those of the blocks that the open frames are in: what
such a block has loaded before the point, or before its open call, and uses behind it. And what a function is given is
in a register until the function has stored it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import ENTRY, PARAMETER, SAME_BLOCK
from whence.trace.columns import FrameKind
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
IN_REGISTERS = (Kind.LOAD, Kind.RESULT)


def live_registers(trace: Trace, point: int) -> Iterator[tuple[int, int]]:
    """The events, of the open frames from the innermost outward, whose values are in registers after an event.

    Each with the event that tells the value: of an argument the store of the parameter, of others the event itself. One
    whose value was used before as well is left out (see ``shared_registers``).
    """
    segment, last = int(trace.columns.events["segment"][point]), point
    yield from ((argument, stored) for argument, stored in parameters(trace, segment) if stored > point)
    while segment >= 0:
        yield from ((event, event) for event in _of_block(trace, segment, last))
        frame = trace.columns.frames[trace.columns.segments["frame"][segment]]
        segment = int(frame["call"])
        if segment >= 0:
            last = int(last_events(trace, np.array([segment]))[0])


def shared_registers(trace: Trace, points: Integers) -> tuple[Integers, Integers]:
    """Which values are in registers after some events of the innermost frame, and were used before as well.

    As the index of ``a[i++] = 1`` once ``i`` is stored: it cannot be changed for what comes behind alone. Pairs: the
    places of points in ``points``, and the events that the registers are from.
    """
    sites = trace.sites(points)
    is_shared = _shares(trace)[sites]
    places, events = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for site in np.unique(sites[is_shared]).tolist():
        chosen = np.flatnonzero(sites == site)
        segments = trace.columns.events["segment"][points[chosen]].astype(np.int64)
        for home in _homes(trace, site, is_shared=True):
            found = _in_block(trace, segments, home)
            places.append(chosen[found >= 0])
            events.append(found[found >= 0])
    return np.concatenate(places), np.concatenate(events)


def last_events(trace: Trace, segments: Integers) -> Integers:
    """The last event of each of some segment instances: of one that ends with a call, the call."""
    rows, starts = trace.columns.segments[segments], trace.plan.segments["site_start"]
    return np.asarray(rows["event"] + starts[rows["id"] + 1] - starts[rows["id"]] - 1, np.int64)


def _shares(trace: Trace) -> NDArray[np.bool_]:
    """For each site whether a register is used up to it, and behind it in the same block, too."""
    plan = trace.plan
    users = np.repeat(np.arange(len(plan.sites)), np.diff(plan.sites["ref_start"], append=len(plan.refs)))
    chosen = plan.refs["outer"][: len(users)] == SAME_BLOCK
    users, targets = users[chosen], plan.refs["target"][: len(chosen)][chosen]
    first, last = np.full(len(plan.sites), len(plan.sites)), np.zeros(len(plan.sites), np.int64)
    np.minimum.at(first, targets, users)
    np.maximum.at(last, targets, users)
    spans = np.flatnonzero(first < last)
    steps = np.bincount(first[spans], minlength=len(plan.sites)) - np.bincount(last[spans], minlength=len(plan.sites))
    return np.asarray(np.cumsum(steps) > 0)


def parameters(trace: Trace, segment: int) -> Iterator[tuple[int, int]]:
    """Where a segment instance begins a function: each argument's event, and that of the store of the parameter."""
    plan, row = trace.plan, trace.columns.segments[segment]
    frame = trace.columns.frames[row["frame"]]
    static, call = plan.segments[row["id"]], int(frame["call"])
    if not static["flags"] & ENTRY or call < 0 or frame["kind"] != FrameKind.DIRECT:
        return
    called = int(last_events(trace, np.array([call]))[0])
    first = called - int(plan.sites["aux"][trace.site(called)])
    for site in range(int(static["site_start"]), int(plan.segments["site_start"][row["id"] + 1])):
        refs = plan.refs[plan.sites["ref_start"][site] : plan.sites["ref_start"][site + 1]]
        given = refs["target"][refs["outer"] == PARAMETER]
        if plan.sites["kind"][site] == Kind.STORE and len(given) == 1 and first + given[0] < called:
            yield first + int(given[0]), int(row["event"]) + site - int(static["site_start"])


def _of_block(trace: Trace, segment: int, last: int) -> Iterator[int]:
    """The live registers of the block that a segment instance is in, after the event ``last`` of it."""
    for home in _homes(trace, trace.site(last), is_shared=False):
        found = int(_in_block(trace, np.array([segment]), home)[0])
        if found >= 0:
            yield found


def _homes(trace: Trace, done: int, is_shared: bool) -> list[int]:
    """The sites, of the block that a site is in and up to it, whose registers are used behind it.

    ``is_shared``: those that were used before as well, else those that were not.
    """
    plan = trace.plan
    first, end = _sites_of_block(trace, int(plan.sites["segment"][done]))
    before, behind = _used(trace, first, done + 1), _used(trace, done + 1, end)
    homes = behind & before if is_shared else behind - before
    return [site for site in sorted(homes) if first <= site <= done and plan.sites["kind"][site] in IN_REGISTERS]


def _in_block(trace: Trace, segments: Integers, site: int) -> Integers:
    """The event of a site in the block instance that each of some segment instances is in; -1: it was not reached."""
    plan, rows = trace.plan, trace.columns.segments
    home, at = plan.sites["segment"][site], segments.copy()
    while len(away := np.flatnonzero((at >= 0) & (rows["id"][at] != home))):
        at[away] = rows["previous"][at[away]]
    return np.where(at >= 0, rows["event"][at] + site - plan.segments["site_start"][home], -1)


def _sites_of_block(trace: Trace, segment: int) -> tuple[int, int]:
    """The first site of a static segment's block, and the one behind its last."""
    blocks = trace.plan.segments["block"]
    first, last = segment, segment
    while first > 0 and blocks[first - 1] == blocks[segment]:
        first -= 1
    while blocks[last] == blocks[segment]:
        last += 1
    starts = trace.plan.segments["site_start"]
    return int(starts[first]), int(starts[last])


def _used(trace: Trace, first: int, end: int) -> set[int]:
    """The sites of the same block that some sites use."""
    starts = trace.plan.sites["ref_start"]
    refs = trace.plan.refs[starts[first] : starts[end]]
    return set(np.unique(refs["target"][refs["outer"] == SAME_BLOCK]).tolist())
