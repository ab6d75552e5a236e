"""Where a value came from: the object that a pointer was made for, and whether a value was ever given.

Decoding has resolved already which event each value came from, so neither needs a shadow memory of its own: an event's
object is that of the event behind it, a load's that of the store which wrote the bytes, a parameter's that of the
argument, a result's that of the return.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import PARAMETER, SAME_BLOCK, Plan
from whence.probe.pointers import TO_WHOLE, Sources, Trait
from whence.probe.steps import WORD, WORD_UNITS, Source
from whence.trace.columns import N_SEGMENT, CellKind, Columns
from whence.trace.dependence import event_in_block, site_of
from whence.trace.given import given_at
from whence.trace.kernels import lean
from whence.trace.memory import wide
from whence.trace.objects import (
    GIVEN,
    IN_PARENT,
    LAST_UNKNOWN,
    LOCAL,
    N_OBJECT,
    N_STATIC,
    STATIC,
    UNBORN,
    State,
    block_told,
    whole_of,
)
from whence.trace.shadow import MAX_CELLS, Int

BY_SITE, BY_PARAMETER, BY_LOCAL, BY_STATIC, BY_EITHER = (
    int(s) for s in (Source.SITE, Source.PARAMETER, Source.LOCAL, Source.STATIC, Source.EITHER)
)
LOADS, STORES, COPIES, ARGS, RESULTS, RET, PHI = (
    int(k) for k in (Kind.LOAD, Kind.STORE, Kind.COPY, Kind.ARG, Kind.RESULT, Kind.RET, Kind.PHI)
)
CELL_COPY, CELL_BYVAL, CELL_VARIADIC, CELL_ALLOC = (
    int(k) for k in (CellKind.COPY, CellKind.BYVAL, CellKind.VARIADIC, CellKind.ALLOC)
)
FRESH = int(Trait.FRESH)
COPIES_OF_COPIES = 64  # that are followed


@lean
def _leaf(plan: Plan, columns: Columns, segment: Int, target: Int, outer: Int) -> Int:
    """The event of a site that a site of the segment refers to; -1: none."""
    home = segment if outer == SAME_BLOCK else columns.outer[columns.segments[segment].outer + outer]
    return event_in_block(plan, columns, home, target)


@lean
def _parameter(frame: Int, number: Int, state: State) -> Int:
    """The event of the argument that a parameter was given, -1."""
    return state.arguments[frame] + number if number < state.passed[frame] else -1


@lean
def object_of(kind: Int, target: Int, outer: Int, segment: Int, plan: Plan, columns: Columns, state: State) -> Int:
    """The object of a pointer with this source."""
    if kind == BY_SITE:
        event = _leaf(plan, columns, segment, target, outer)
        return state.objects[event] if event >= 0 else 0
    frame = columns.segments[segment].frame
    if kind == BY_PARAMETER:
        event = _parameter(frame, target, state)
        return state.objects[event] if event >= 0 else 0
    if kind == BY_LOCAL:
        first = state.first[frame]
        if first == 0 or state.table[first + target].base == 0:
            return 0
        latest = state.table[first + target].latest
        return latest if latest else first + target
    if kind == BY_STATIC:
        return 1 + target if target < state.counts[N_STATIC] else 0
    return 0


@lean
def member_object(number: Int, member: Int, address: Int, sources: Sources, state: State) -> Int:
    """The object of a pointer into a member array of an object; the whole where it is not known where the array is."""
    if member == TO_WHOLE:
        return whole_of(number, state)
    row, array = state.table[number], sources.members[member]
    if member == 0 or number == 0 or row.kind == UNBORN or row.base == 0:
        return number
    if array.is_constant and address:  # as far as it was recorded
        start = np.int64(address - array.inside)
    elif array.whole == row.size:
        start = np.int64(row.base + array.offset)
    else:
        return number
    if start < row.base or start + array.size > row.base + row.size:
        return number
    last = np.int64(state.members[member])
    if state.table[last].parent == number and state.table[last].base == start:
        return last
    made = np.int64(state.counts[N_OBJECT])
    state.counts[N_OBJECT] = made + 1
    state.members[member] = made
    part = state.table[made]
    part.base, part.size, part.kind, part.declared = start, array.size, row.kind, row.declared
    part.frame, part.scope, part.birth, part.death = row.frame, IN_PARENT, row.birth, 0
    part.parent, part.member = number, member
    return made


@lean
def object_passed(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> Int:
    """The object of a pointer that is stored, passed or returned; of two that it may have, the one that holds it."""
    source = sources.sites[site]
    if source.part:
        value = _value(units, event, site, segment, plan, columns)
        result = _leaf(plan, columns, segment, source.value_target, source.value_outer)
        return _object_in_result(units, result, source.part - 1, value, plan, columns, state) if result >= 0 else 0
    if source.value != BY_EITHER:
        number = object_of(source.value, source.value_target, source.value_outer, segment, plan, columns, state)
        if source.value_member == 0:
            return number
        value = _value(units, event, site, segment, plan, columns)
        return member_object(number, source.value_member, value, sources, state)
    pair = sources.pairs[source.value_target]
    one = object_of(pair.one, pair.one_target, pair.one_outer, segment, plan, columns, state)
    other = object_of(pair.other, pair.other_target, pair.other_outer, segment, plan, columns, state)
    value = _value(units, event, site, segment, plan, columns)
    if one == other:
        return one
    if _holds(one, value, state) and _holds(other, value, state):  # neighbours
        return one if value < state.table[one].base + state.table[one].size else other
    return one if _holds(one, value, state) else other if _holds(other, value, state) else 0


@lean
def _object_in_result(
    units: NDArray[np.uint32], result: Int, offset: Int, value: Int, plan: Plan, columns: Columns, state: State
) -> Int:
    """The object of a pointer in a structure that a call returned in registers, by what had written it to the memory
    that the function returned.
    """
    returned = columns.segments[columns.events[result].segment].source - 1
    if returned < 0 or plan.sites[site_of(plan, columns, returned)].kind != RET:
        return 0
    site = site_of(plan, columns, returned)
    for k in range(plan.sites[site].ref_start, plan.sites[site + 1].ref_start):
        ref = plan.refs[k]
        if ref.outer == PARAMETER:
            continue
        event = _leaf(plan, columns, columns.events[returned].segment, ref.target, ref.outer)
        if event < 0 or plan.sites[ref.target].kind != LOADS or plan.sites[ref.target].aux >= 0:
            continue
        row = columns.segments[columns.events[event].segment]
        address = wide(units, row.word + plan.sites[ref.target].unit) + offset
        definition = columns.events[event].definition
        if definition >= -MAX_CELLS:
            return object_loaded(definition, address, value, plan, columns, units, state)
        listed = -MAX_CELLS - 1 - definition
        for place in range(columns.multi_start[listed], columns.multi_start[listed + 1]):
            one = columns.multi_reference[place]
            number = object_loaded(one, address, value, plan, columns, units, state) if one else 0
            if number:
                return number
    return 0


@lean
def _holds(number: Int, value: Int, state: State) -> Any:
    """Whether an address lies in an object, or right behind it."""
    row = state.table[number]
    return number > 0 and row.base != 0 and row.base <= value <= row.base + row.size


@lean
def _value(units: NDArray[np.uint32], event: Int, site: Int, segment: Int, plan: Plan, columns: Columns) -> Int:
    """A pointer that is stored, passed or returned, as far as it was recorded (0)."""
    static = plan.sites[site]
    if static.kind == RET:
        if segment + 1 >= columns.counts[N_SEGMENT] or columns.segments[segment + 1].source != event + 1:
            return np.int64(0)
        row = columns.segments[segment + 1]
        result = plan.sites[plan.segments[row.id].site_start]
        return wide(units, row.word + result.unit) if result.kind == RESULTS and result.units == 2 else np.int64(0)
    unit = columns.segments[segment].word + static.unit
    if static.kind == STORES and static.aux < 0:
        return wide(units, unit + 2) if static.units == 4 else np.int64(0)
    return wide(units, unit) if static.units == 2 else np.int64(0)


@lean
def object_initially(number: Int, value: Int, sources: Sources, state: State) -> Int:
    """The object of a pointer that a static variable held from the start: one that its initial value names. What the
    arrays that ``main`` was given hold, and variables of a library, points to what it was given.
    """
    row = state.table[number]
    if row.kind != STATIC:
        return given_at(value, state) if number == 0 or row.kind == GIVEN else 0
    found = 0
    for k in range(sources.pointer_starts[row.declared], sources.pointer_starts[row.declared + 1]):
        target = 1 + sources.pointers[k]
        if _holds(target, value, state):
            if found:
                return 0
            found = target
    return found


@lean
def object_loaded(
    definition: Int, address: Int, value: Int, plan: Plan, columns: Columns, units: Any, state: State
) -> Int:
    """The object of a pointer that was loaded, by what wrote its bytes."""
    for _ in range(COPIES_OF_COPIES):
        if definition > 0:
            event = definition - 1
            site = plan.sites[site_of(plan, columns, event)]
            if site.kind == STORES:
                row = columns.segments[columns.events[event].segment]
                same = address < 0 or site.aux >= 0 or wide(units, row.word + site.unit) == address
                if site.units == 2 * WORD_UNITS and wide(units, row.word + site.unit + 2) != value:
                    return 0  # something unrecorded wrote there since
                return state.objects[event] if site.size == WORD and same else 0
            return state.objects[event] if site.kind == ARGS else 0
        if definition == 0:
            return given_at(value, state)
        if definition < -MAX_CELLS:
            return 0
        cell = columns.cells[-definition - 1]
        if cell.kind == CELL_VARIADIC:
            definition, address = cell.definition, np.int64(-1)
        elif cell.kind == CELL_COPY or cell.kind == CELL_BYVAL:
            if cell.length != WORD or (address >= 0 and cell.address != address):
                return 0
            definition, address = cell.definition, np.int64(-1)
        else:
            return block_told(value, cell.parent, state) or given_at(value, state)
    return 0


@lean
def undefined_since(
    event: Int, definition: Int, number: Int, plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """Whether what defined the bytes of an object that an event reads gave them no value.

    Then the event that read it first, + 1: this one, or the one from which the value was copied. 0: a value was given,
    or that is not known.
    """
    itself = np.int64(event) + 1
    local = number > 0 and state.table[number].kind == LOCAL
    birth = np.int64(state.table[number].birth) if local else np.int64(-1)
    for _ in range(COPIES_OF_COPIES):
        if definition > 0:
            return itself if definition - 1 < birth else np.int64(state.undefined[definition - 1])
        if definition == 0:
            return itself if local and state.counts[LAST_UNKNOWN] < birth else np.int64(0)
        if definition < -MAX_CELLS:
            return np.int64(0)
        cell = columns.cells[-definition - 1]
        if cell.parent < birth:
            return itself
        if cell.kind == CELL_ALLOC:
            callee = -2 - plan.sites[site_of(plan, columns, cell.parent)].callee
            fresh = 0 <= callee < len(sources.traits) and sources.traits[callee] & FRESH != 0
            return itself if fresh and state.counts[LAST_UNKNOWN] < cell.parent else np.int64(0)
        if cell.kind == CELL_VARIADIC:
            return np.int64(state.undefined[cell.definition - 1])
        if cell.kind != CELL_COPY and cell.kind != CELL_BYVAL:
            return np.int64(0)
        definition = cell.definition
        number = state.objects[cell.parent] if plan.sites[site_of(plan, columns, cell.parent)].kind == COPIES else 0
        local = number > 0 and state.table[number].kind == LOCAL
        birth = np.int64(state.table[number].birth) if local else np.int64(-1)
    return np.int64(0)


@lean
def uses_undefined(
    event: Int, site: Int, role: Int, segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State
) -> Int:
    """The first event behind a site's operands whose value was never given, -1: there is none."""
    pred_block = -1
    if plan.sites[site].kind == PHI:
        pred = columns.segments[segment].pred
        pred_block = plan.segments[columns.segments[pred].id].block if pred >= 0 else -2
    here = columns.segments[segment]
    first = plan.segments[here.id].site_start
    for k in range(plan.sites[site].ref_start, plan.sites[site + 1].ref_start):
        ref = plan.refs[k]
        if ref.role != role or ref.pred != pred_block or ref.target == sources.sites[site].old:
            continue
        if ref.outer == PARAMETER:
            leaf = _parameter(here.frame, ref.target, state)
        elif ref.outer == SAME_BLOCK and plan.sites[ref.target].segment == here.id:
            leaf = here.event + ref.target - first
        else:
            leaf = _leaf(plan, columns, segment, ref.target, ref.outer)
        if leaf >= 0 and state.undefined[leaf]:
            return leaf
    return -1
