"""Library calls as the pass over a run's objects sees them: what they were given, read, wrote, took and gave back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import Plan
from whence.probe.pointers import Sources, Trait
from whence.probe.steps import WORD
from whence.trace.columns import N_CELL, CellKind, Columns
from whence.trace.dependence import last_event, site_of
from whence.trace.effects import ALLOC, COPY, FREE, LONGEST, OPERANDS, PIECE, READ, RESIZE, WRITE
from whence.trace.given import given_at
from whence.trace.kernels import lean
from whence.trace.memory import wide
from whence.trace.objects import (
    CALLS_WITH,
    FIRST_CELL,
    HEAP,
    LAST_UNKNOWN,
    LOCAL,
    N_OBJECT,
    NEXT_CELL,
    NO_BLOCK,
    OVERLAP,
    PARTLY,
    TWICE,
    UNBORN,
    UNDEFINED,
    State,
    block_at,
    check_access,
    is_moved_along,
    new_block,
    report,
    whole_of,
)
from whence.trace.origins import COPIES_OF_COPIES, undefined_since
from whence.trace.shadow import MAX_CELLS, Int

SEPARATE, TEXT, OUTPUT, COMPARES, MOVES, FREES, INTO_FIRST, PRINTS = (
    int(t)
    for t in (
        Trait.SEPARATE,
        Trait.TEXT,
        Trait.OUTPUT,
        Trait.COMPARES,
        Trait.MOVES,
        Trait.FREES,
        Trait.INTO_FIRST,
        Trait.PRINTS,
    )
)
CELL_READ, CELL_COPY = int(CellKind.READ), int(CellKind.COPY)
STORES = int(Kind.STORE)


@lean
def check_call(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A library function is called: are its arguments defined, and is what it gives back a block?"""
    number = -2 - plan.sites[site].callee
    if number < 0:
        return
    arguments = plan.sites[site].aux
    for k in range(arguments):
        argument = event - arguments + k
        if state.undefined[argument]:
            report(UNDEFINED, event, site, argument, 0, CALLS_WITH, 0, 0, 0, state)
    if sources.traits[number] & FREES and arguments:
        _frees(units, event, site, segment, arguments, plan, columns, state)


@lean
def _frees(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    arguments: Int,
    plan: Plan,
    columns: Columns,
    state: State,
) -> None:
    """What is given back must be a block that lives, by its first byte."""
    argument = plan.sites[site - arguments]
    address = wide(units, columns.segments[segment].word + argument.unit) if argument.units == 2 else np.int64(0)
    number = whole_of(state.objects[event - arguments], state)
    row = state.table[number]
    if address == 0 or number == 0 or row.kind == UNBORN or row.base == 0:
        return
    if row.kind == HEAP and row.death:
        if is_moved_along(number, address, 1, state):
            return
        report(TWICE, event, site, event - arguments, number, 1, address, 0, 0, state)
    elif row.kind != HEAP or address != row.base:
        report(NO_BLOCK, event, site, event - arguments, number, 1, address, 0, 0, state)


@lean
def result_of(
    units: NDArray[np.uint32],
    event: Int,
    site: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A call's result: what a function returned; of a library call a new block, or a place in an argument's object.

    What a function gives that copies to its first argument, or looks for something there, stays derived from that, also
    where it lies beyond the object's end: the next copy begins there.
    """
    row = columns.segments[segment]
    if row.source > 0:
        state.objects[event] = state.objects[row.source - 1]
        state.undefined[event] = state.undefined[row.source - 1]
        frame = columns.segments[columns.events[row.source - 1].segment].frame
        allocator = sources.allocators[columns.frames[frame].function]
        if allocator.is_one and allocator.size >= 0 and plan.sites[site].units == 2:
            _allocated(wide(units, row.word + plan.sites[site].unit), event, frame, allocator, columns, state)
        return
    if plan.sites[site].units != 2 or row.previous < 0:
        return
    value = wide(units, row.word + plan.sites[site].unit)
    call = last_event(plan, columns, row.previous)
    called = plan.sites[site_of(plan, columns, call)]
    arguments, function = called.aux, -2 - called.callee
    if value and arguments and function >= 0 and sources.traits[function] & INTO_FIRST:
        state.objects[event] = state.objects[call - arguments]
        if state.objects[event]:
            return
    found = block_at(value, state)
    for k in range(arguments if value and found == 0 else 0):
        number = state.objects[call - arguments + k]
        if number:
            made = state.table[number]
            if made.base <= value <= made.base + made.size and made.base:
                found = number
    state.objects[event] = found or given_at(value, state)


@lean
def allocator_called(
    units: NDArray[np.uint32], segment: Int, plan: Plan, columns: Columns, sources: Sources, state: State
) -> None:
    """A function of the program that makes or gives back blocks begins: the size that it is asked for, and the block
    that it is given, which must be one that lives.
    """
    row = columns.segments[segment]
    allocator = sources.allocators[columns.frames[row.frame].function]
    size = _parameter_value(units, segment, allocator.size_site, plan, columns)
    if allocator.count >= 0:
        size *= _parameter_value(units, segment, allocator.count_site, plan, columns)
    state.sizes[row.frame] = size
    pointer = _parameter_value(units, segment, allocator.pointer_site, plan, columns)
    if pointer == 0 or allocator.pointer >= state.passed[row.frame]:
        return
    argument = state.arguments[row.frame] + allocator.pointer
    number = whole_of(state.objects[argument], state)
    made = state.table[number]
    if number == 0 or made.kind == UNBORN or made.base == 0:
        return
    call = last_event(plan, columns, columns.frames[row.frame].call)
    site = site_of(plan, columns, call)
    if made.kind == HEAP and made.death:
        report(TWICE, call, site, argument, number, 1, pointer, 0, 0, state)
    elif made.kind != HEAP or pointer != made.base:
        report(NO_BLOCK, call, site, argument, number, 1, pointer, 0, 0, state)
    elif allocator.size < 0:
        made.death = call + 1


@lean
def _parameter_value(units: NDArray[np.uint32], segment: Int, site: Int, plan: Plan, columns: Columns) -> Int:
    """The value of a parameter that a site of the segment stores into its variable; 0: it is not known."""
    row = columns.segments[segment]
    if site < 0 or plan.sites[site].segment != row.id:
        return np.int64(0)
    static = plan.sites[site]
    unit = row.word + static.unit + (2 if static.aux < 0 else 0)  # behind the address
    value_units = static.units - (2 if static.aux < 0 else 0)
    return wide(units, unit) if value_units == 2 else np.int64(units[unit]) if value_units == 1 else np.int64(0)


@lean
def _allocated(value: Int, event: Int, frame: Int, allocator: Any, columns: Columns, state: State) -> None:
    """A function of the program gave a new block; the one that it was given is gone then."""
    if value == 0:
        return
    if allocator.pointer >= 0 and allocator.pointer < state.passed[frame]:
        number = state.objects[state.arguments[frame] + allocator.pointer]
        if number and state.table[number].kind == HEAP:
            state.table[number].death = event
            state.table[number].latest = state.counts[N_OBJECT]
    state.objects[event] = state.counts[N_OBJECT]
    new_block(value, state.sizes[frame], state.arguments[frame] + state.passed[frame], state)


@lean
def _argument(
    units: NDArray[np.uint32], segment: Int, address: Int, length: Int, plan: Plan, columns: Columns, state: State
) -> Int:
    """The argument of a library call through which it came to a range of bytes, or the store of a pointer that the call
    read in memory; -1: not known.

    Where several point there, one that was made for an object which holds the range.
    """
    row = columns.segments[segment]
    call_site = plan.segments[row.id + 1].site_start - 1
    call = last_event(plan, columns, segment)
    arguments = plan.sites[call_site].aux
    exact, inside = np.int64(-1), np.int64(-1)
    for k in range(arguments):
        argument = plan.sites[call_site - arguments + k]
        event = call - arguments + k
        number = state.objects[event]
        if number == 0 or argument.units != 2:
            continue
        value = wide(units, row.word + argument.unit)
        made = state.table[number]
        holds = made.base <= address and address + length <= made.base + made.size
        if value == address and (exact < 0 or holds):
            exact = event
        elif value <= address < made.base + made.size and made.base <= address:
            inside = event
    if exact < 0 and inside < 0:
        return _pointer_read(units, call, address, length, plan, columns, state)
    return exact if exact >= 0 else inside


@lean
def _pointer_read(
    units: NDArray[np.uint32], call: Int, address: Int, length: Int, plan: Plan, columns: Columns, state: State
) -> Int:
    """The store of a pointer to an address, among what defined the bytes that a call read; -1: there is none.

    Decoding left a cell for each range that was read. Of several stores one whose object holds the range is taken.
    """
    cell = state.counts[FIRST_CELL]
    while cell < columns.counts[N_CELL] and columns.cells[cell].parent < call:
        cell += 1
    state.counts[FIRST_CELL] = cell
    found = np.int64(-1)
    while cell < columns.counts[N_CELL] and columns.cells[cell].parent == call:
        row = columns.cells[cell]
        cell += 1
        if row.kind != CELL_READ or row.length < WORD:
            continue
        if row.definition >= -MAX_CELLS:
            found = _better(units, found, row.definition, address, length, plan, columns, state)
            continue
        listed = -row.definition - MAX_CELLS - 1
        for k in range(columns.multi_start[listed], columns.multi_start[listed + 1]):
            found = _better(units, found, columns.multi_reference[k], address, length, plan, columns, state)
    return found


@lean
def _better(
    units: NDArray[np.uint32],
    found: Int,
    reference: Int,
    address: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    state: State,
) -> Int:
    """The event of a reference if it stored a pointer to an address, and no better one was ``found``; else that."""
    for _ in range(COPIES_OF_COPIES):
        if reference >= 0 or reference < -MAX_CELLS or columns.cells[-reference - 1].kind != CELL_COPY:
            break
        reference = np.int64(columns.cells[-reference - 1].definition)
    event = np.int64(reference - 1)
    if reference <= 0 or state.objects[event] == 0:
        return found
    site = plan.sites[site_of(plan, columns, event)]
    if site.kind != STORES or site.size != WORD or site.aux >= 0 or site.units < 4:
        return found
    row = columns.segments[columns.events[event].segment]
    if wide(units, row.word + site.unit + 2) != address:
        return found
    made = state.table[state.objects[event]]
    holds = made.base <= address and address + length <= made.base + made.size
    return event if found < 0 or holds else found


@lean
def library_effects(
    units: NDArray[np.uint32],
    start: Int,
    end: Int,
    segment: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """What a library call read, wrote, took and gave back."""
    function = np.int64(units[start + 1])
    traits = sources.traits[function] if function < len(sources.traits) else 0
    call = last_event(plan, columns, segment)
    site = plan.segments[columns.segments[segment].id + 1].site_start - 1
    position = start + 2
    resized, resized_end, before = np.int64(0), np.int64(0), np.int64(0)
    printed, printed_end = np.int64(0), np.int64(0)
    made = np.int64(0)
    while position < end and units[position]:
        opcode = wide(units, position) & 255
        x = wide(units, position + 2)
        y = wide(units, position + 4) if OPERANDS[opcode] > 1 else np.int64(0)
        z = wide(units, position + 6) if OPERANDS[opcode] > 2 else np.int64(0)
        if opcode == ALLOC:
            if not resized <= x < resized_end:
                made = state.counts[N_OBJECT]
                new_block(x, y, call, state)
        elif opcode == FREE:
            number = block_at(x, state)
            if number:
                state.table[number].death = call + 1
                state.table[number].latest = made if traits & MOVES else 0
        elif opcode == RESIZE:
            resized, resized_end = x, x + y
            number = block_at(x, state)
            if number:
                state.table[number].death = call + 1
            new_block(x, y, call, state)
        elif traits & MOVES == 0:
            if opcode == WRITE and traits & PRINTS:
                printed, printed_end = x, x + y
            if opcode in (READ, WRITE):
                _library_access(units, segment, call, site, opcode == WRITE, x, y, plan, columns, sources, state)
                if opcode == READ and x < printed_end and printed < x + y:
                    _overlaps(units, segment, call, site, printed, x, y, plan, columns, state)
            elif opcode == COPY:
                _library_access(units, segment, call, site, 1, x, z, plan, columns, sources, state)
                _library_access(units, segment, call, site, 0, y, z, plan, columns, sources, state)
                is_printed = y < printed_end and printed < y + z
                if is_printed or (traits & SEPARATE and x != y and abs(x - y) < z):
                    _overlaps(units, segment, call, site, x, y, z, plan, columns, state)
            looks = traits & (TEXT | COMPARES) or (traits & OUTPUT and before == PIECE)
            if opcode == READ and looks:
                _text(units, segment, call, site, x, y, traits & TEXT != 0, plan, columns, sources, state)
        before = opcode
        position += 2 * (1 + OPERANDS[opcode])


@lean
def _overlaps(
    units: NDArray[np.uint32],
    segment: Int,
    call: Int,
    site: Int,
    to: Int,
    source: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    state: State,
) -> None:
    """Note a copy by the library whose two ranges overlap."""
    argument = _argument(units, segment, to, length, plan, columns, state)
    number = state.objects[argument] if argument >= 0 else 0
    report(OVERLAP, call, site, argument, number, 1, to, length, source, state)


@lean
def _library_access(
    units: NDArray[np.uint32],
    segment: Int,
    call: Int,
    site: Int,
    writes: Int,
    address: Int,
    length: Int,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """Check a range that a library call read or wrote."""
    argument = _argument(units, segment, address, length, plan, columns, state)
    if argument >= 0:
        number = state.objects[argument]
        check_access(call, site, argument, number, writes, address, length, plan, columns, sources, state)


@lean
def _text(
    units: NDArray[np.uint32],
    segment: Int,
    call: Int,
    site: Int,
    address: Int,
    length: Int,
    each: bool,
    plan: Plan,
    columns: Columns,
    sources: Sources,
    state: State,
) -> None:
    """A library call read bytes that decide what it does: it is an error if nothing wrote one of them. Where some may
    be padding (not ``each``) it is one if nothing wrote any, and noted as PARTLY if only some may have been written.

    Decoding left a cell for each range that was read, in the same order.
    """
    cell = state.counts[NEXT_CELL]
    while cell < columns.counts[N_CELL]:
        row = columns.cells[cell]
        if row.kind == CELL_READ and row.parent == call and row.address == address:
            break
        if row.parent > call:
            return
        cell += 1
    state.counts[NEXT_CELL] = cell
    argument = _argument(units, segment, address, length, plan, columns, state)
    if cell >= columns.counts[N_CELL] or argument < 0:
        return
    number, definition = state.objects[argument], columns.cells[cell].definition
    undefined = partly = False
    if definition >= -MAX_CELLS:
        undefined = undefined_since(call, definition, number, plan, columns, sources, state) != 0
        partly = not undefined and not each and _most_written(definition, plan, columns) < length
    else:
        listed = -definition - MAX_CELLS - 1
        written = np.int64(0)
        for k in range(columns.multi_start[listed], columns.multi_start[listed + 1]):
            written += _most_written(columns.multi_reference[k], plan, columns)
            if undefined_since(call, columns.multi_reference[k], number, plan, columns, sources, state):
                undefined = undefined or each
                partly = not each
        partly = partly or (not each and written < length)
    if undefined:
        report(UNDEFINED, call, site, argument, number, CALLS_WITH, address, length, 0, state)
    made = state.table[number]
    fresh = (made.kind == HEAP or made.kind == LOCAL) and state.counts[LAST_UNKNOWN] < made.birth
    if partly and fresh and not undefined:
        report(PARTLY, call, site, argument, number, CALLS_WITH, address, length, 0, state)


@lean
def _most_written(definition: Int, plan: Plan, columns: Columns) -> Int:
    """How many bytes a writer wrote, at most."""
    if definition > 0:
        site = plan.sites[site_of(plan, columns, definition - 1)]
        return np.int64(site.size) if site.kind == STORES else LONGEST
    return np.int64(columns.cells[-definition - 1].length) if -MAX_CELLS <= definition < 0 else np.int64(0)
