"""What any one event of a recorded run read, wrote and made, as the pass over a run's objects sees it.

The pass (``provenance.py``) does most events by itself, as long as no value of their frame is undefined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import Plan
from whence.probe.pointers import Sources
from whence.probe.steps import WORD
from whence.trace.columns import Columns, FrameKind
from whence.trace.kernels import lean
from whence.trace.library_calls import check_call, result_of
from whence.trace.memory import wide
from whence.trace.objects import (
    ADDRESSES,
    BRANCHES,
    COPIED,
    EXITS,
    OVERLAP,
    UNDEFINED,
    State,
    born,
    check_access,
    report,
)
from whence.trace.origins import (
    member_object,
    object_initially,
    object_loaded,
    object_of,
    object_passed,
    undefined_since,
    uses_undefined,
)
from whence.trace.shadow import Int

LOADS, STORES, COPIES, SETS, VASTARTS, BYVALS, CALL, RESULTS, BRANCH, PHI, RET = (
    int(k)
    for k in (
        *(Kind.LOAD, Kind.STORE, Kind.COPY, Kind.SET, Kind.VASTART, Kind.BYVAL),
        *(Kind.CALL, Kind.RESULT, Kind.BRANCH, Kind.PHI, Kind.RET),
    )
)

ROOT = int(FrameKind.ROOT)


@lean
def any_event(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> bool:
    """What one event read, wrote and made; False: it was not reached, or ended the run."""
    static, source = plan.sites[site], sources.sites[site]
    kind = static.kind
    if kind <= BYVALS:
        if static.aux >= 0 and kind <= STORES:
            _private(units, event, site, segment, plan, columns, sources, state)
        elif kind == BYVALS:
            row = columns.segments[segment]
            first, address = state.first[row.frame], wide(units, row.word + static.unit)
            function = columns.frames[row.frame].function
            if first and address:
                number = first + source.value_target
                born(number, address, static.size, COPIED, function, source.value_target, row, sources, state)
        elif kind != VASTARTS:
            return _memory(units, event, site, segment, plan, columns, sources, state)
        return True
    if kind == CALL:
        check_call(units, event, site, segment, plan, columns, sources, state)
    elif kind == RESULTS:
        result_of(units, event, site, segment, plan, columns, sources, state)
    elif kind == BRANCH:
        leaf = uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        if leaf >= 0:
            report(UNDEFINED, event, site, leaf, 0, BRANCHES, 0, 0, 0, state)
    else:
        if kind == PHI:
            _phi(event, site, segment, plan, columns, sources, state)
        elif source.value:
            state.objects[event] = object_passed(units, event, site, segment, plan, columns, sources, state)
        leaf = uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        state.undefined[event] = state.undefined[leaf] if leaf >= 0 else 0
        if leaf >= 0 and kind == RET and columns.frames[columns.segments[segment].frame].kind == ROOT:  # of main
            report(UNDEFINED, event, site, leaf, 0, EXITS, 0, 0, 0, state)
    return True


@lean
def _phi(event: Int, site: Int, segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State) -> None:
    """A phi has the object of the value that came from the block before."""
    pred = columns.segments[segment].pred
    block = plan.segments[columns.segments[pred].id].block if pred >= 0 else -2
    for k in range(sources.sites[site].phi_start, sources.sites[site + 1].phi_start):
        row = sources.phis[k]
        if row.pred == block and row.source:
            state.objects[event] = object_of(row.source, row.target, row.outer, segment, plan, columns, state)


@lean
def _private(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A private local is loaded or stored."""
    source = sources.sites[site]
    if plan.sites[site].kind == STORES:
        if source.value:
            state.objects[event] = object_passed(units, event, site, segment, plan, columns, sources, state)
        leaf = uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        state.undefined[event] = state.undefined[leaf] if leaf >= 0 else 0
        return
    definition = columns.events[event].definition
    if definition > 0:
        state.objects[event] = state.objects[definition - 1]
        state.undefined[event] = state.undefined[definition - 1]
    else:
        state.undefined[event] = event + 1 if state.first[columns.segments[segment].frame] else 0


@lean
def _memory(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> bool:
    """An access by address: a load, a store, an atomic operation, a copy or a fill.

    False where its address is 0: it ended the run, or was not reached.
    """
    static, source = plan.sites[site], sources.sites[site]
    kind = static.kind
    unit = columns.segments[segment].word + static.unit
    address = wide(units, unit)
    leaf = uses_undefined(event, site, 1, segment, plan, columns, sources, state)
    if leaf >= 0:
        report(UNDEFINED, event, site, leaf, 0, ADDRESSES, 0, 0, 0, state)
    if address == 0:
        return False
    length = np.int64(static.size)
    if kind in (COPIES, SETS):
        length = wide(units, unit + 4)
    number = object_of(source.address, source.address_target, source.address_outer, segment, plan, columns, state)
    number = member_object(number, source.address_member, address, sources, state)
    writes = kind != LOADS
    check_access(event, site, -1, number, writes, address, length, plan, columns, sources, state)
    if kind == COPIES:
        second = wide(units, unit + 2)
        other = object_of(source.second, source.second_target, source.second_outer, segment, plan, columns, state)
        other = member_object(other, source.second_member, second, sources, state)
        state.objects[event] = other
        check_access(event, site, -1, other, 0, second, length, plan, columns, sources, state)
        if source.separate and address != second and abs(address - second) < length:
            report(OVERLAP, event, site, -1, number, 1, address, length, second, state)
    elif kind == STORES:
        if source.value:
            state.objects[event] = object_passed(units, event, site, segment, plan, columns, sources, state)
        leaf = uses_undefined(event, site, 0, segment, plan, columns, sources, state)
        state.undefined[event] = state.undefined[leaf] if leaf >= 0 else 0
    elif kind == LOADS:
        definition = columns.events[event].definition
        if length == WORD and static.units > 3:
            value = wide(units, unit + 2)
            if definition == 0:
                state.objects[event] = object_initially(number, value, sources, state)
            else:
                state.objects[event] = object_loaded(definition, address, value, plan, columns, units, state)
        state.undefined[event] = undefined_since(event, definition, number, plan, columns, sources, state)
    return True
