"""A compact trace made whole: the units that its recording left out, computed from the others.

All that reads traces knows the units that layouts describe. So a compact trace is turned into those first, in memory:
each segment by its recipe (``probe/recipes.py``), in frames of registers that stand for those of the run.

Where the run could have done otherwise than the recipes say, no result is given: a branch that took another side than
its condition says, a write to the stack beside all locals (which may have changed what a frame holds), an operation
whose result the processor decides. The recording is *doubtful* then, and the run is to be recorded in full.

Only the last segment may have been left in the middle. Where a fault ended the run, its address tells at which access.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.operations import Op, Recipes
from whence.probe.plan import ADDRESS, CALLS, ENTRY, FIRST, FRAME, RETURNS, Plan
from whence.trace.arithmetic import SMALLEST, floating, is_odd, quotient
from whence.trace.columns import CHUNK_UNITS
from whence.trace.decode import CHUNK_HEADER_UNITS, EFFECT, IDENTITY, KIND_SHIFT
from whence.trace.expand_cut import cut, fault_unit, first_behind
from whence.trace.kernels import inlined, lean
from whence.trace.machine import (
    CHUNK,
    DIVISION,
    DOUBT,
    EXPECTED,
    N_DEPTH,
    NONE,
    ODD,
    PLACE,
    SEQUENCE,
    Ending,
    Machine,
    check_effect,
    check_written,
    doubt,
    find_frame,
    place_object,
    pop,
    push,
)
from whence.trace.memory import wide
from whence.trace.shadow import Int

COPY, GET, GET_WIDE, OBJECT, CHECK, CHECK_LENGTH = (
    int(o) for o in (Op.COPY, Op.GET, Op.GET_WIDE, Op.OBJECT, Op.CHECK, Op.CHECK_LENGTH)
)
ADD, SUB, MUL, AND, OR, XOR, SHL, LSHR, ASHR = (
    int(o) for o in (Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR)
)
UDIV, SDIV, UREM, SREM, SCALE, SEXT, SELECT, EXPECT = (
    int(o) for o in (Op.UDIV, Op.SDIV, Op.UREM, Op.SREM, Op.SCALE, Op.SEXT, Op.SELECT, Op.EXPECT)
)
EQ, NE, UGT, UGE, ULT, ULE, SGT, SGE, SLT, SLE = (
    int(o) for o in (Op.EQ, Op.NE, Op.UGT, Op.UGE, Op.ULT, Op.ULE, Op.SGT, Op.SGE, Op.SLT, Op.SLE)
)
FADD, FSUB, FMUL, FDIV, FCMP, FPEXT, FPTRUNC, SITOFP, UITOFP, FPTOSI = (
    int(o) for o in (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FCMP, Op.FPEXT, Op.FPTRUNC, Op.SITOFP, Op.UITOFP, Op.FPTOSI)
)


@lean
def _room(size: Int, out: NDArray[np.uint32], machine: Machine) -> Int:
    """Where the next record of so many units goes; another chunk begins where this one has no room."""
    counts = machine.counts
    if counts[CHUNK] == NONE or counts[PLACE] + size >= counts[CHUNK] + CHUNK_UNITS:
        if counts[CHUNK] != NONE:
            out[counts[CHUNK] + 4] = counts[PLACE] - counts[CHUNK]
            counts[CHUNK] += CHUNK_UNITS
        else:
            counts[CHUNK] = 1024
        counts[SEQUENCE] += 1
        out[counts[CHUNK]] = counts[SEQUENCE]
        counts[PLACE] = counts[CHUNK] + CHUNK_HEADER_UNITS
    place = counts[PLACE]
    counts[PLACE] = place + size
    return place


@inlined
def _run(
    units: NDArray[np.uint32],
    position: Int,
    out: NDArray[np.uint32],
    place: Int,
    start: Int,
    stop: Int,
    base: Int,
    operations: Any,
    lowest: Int,
    top: Int,
    machine: Machine,
) -> Int:
    """Do the operations of a segment; returns the first one that was odd, -1."""
    registers, doubles, counts = machine.registers, machine.doubles, machine.counts
    first_odd = np.int64(-1)
    for k in range(start, stop):
        row = operations[k]
        op = row.op
        if op == COPY:
            for n in range(row.number):
                out[place + row.out + n] = units[position + row.unit + n]
            continue
        x, y = registers[base + row.a], registers[base + row.b] + row.number
        if op == ADD:
            value = x + y
        elif op == GET:
            value = np.int64(units[position + row.unit])
        elif op == GET_WIDE:
            value = wide(units, position + row.unit)
        elif op == SCALE:
            value = x + registers[base + row.b] * row.c + row.number
        elif op == SEXT:
            value = (x << (64 - row.bits)) >> (64 - row.bits)
        elif op == SUB:
            value = x - y
        elif op == MUL:
            value = x * y
        elif op == AND:
            value = x & y
        elif op == OR:
            value = x | y
        elif op == XOR:
            value = x ^ y
        elif op == EQ:
            value = np.int64(x == y)
        elif op == NE:
            value = np.int64(x != y)
        elif op == SLT:
            value = np.int64((x << (64 - row.bits)) < (y << (64 - row.bits)))
        elif op == SLE:
            value = np.int64((x << (64 - row.bits)) <= (y << (64 - row.bits)))
        elif op == SGT:
            value = np.int64((x << (64 - row.bits)) > (y << (64 - row.bits)))
        elif op == SGE:
            value = np.int64((x << (64 - row.bits)) >= (y << (64 - row.bits)))
        elif op == ULT:
            value = np.int64(np.uint64(x) < np.uint64(y))
        elif op == ULE:
            value = np.int64(np.uint64(x) <= np.uint64(y))
        elif op == UGT:
            value = np.int64(np.uint64(x) > np.uint64(y))
        elif op == UGE:
            value = np.int64(np.uint64(x) >= np.uint64(y))
        elif op == SELECT:
            value = y if x else registers[base + row.c]
        elif op == EXPECT:
            counts[EXPECTED] = row.b if x else row.c
            continue
        elif op == CHECK:
            check_written(wide(out, place + row.out), row.number, lowest, top, machine)
            continue
        elif op == CHECK_LENGTH:
            check_written(wide(out, place + row.out), wide(out, place + row.out + 4), lowest, top, machine)
            continue
        elif op == OBJECT:
            place_object(wide(out, place + row.out), row.number, machine)
            continue
        elif op in (SHL, LSHR, ASHR):
            if y < 0 or y >= row.bits:
                counts[ODD] = 1
                value = np.int64(0)
            elif op == SHL:
                value = x << y
            elif op == LSHR:
                value = np.int64(np.uint64(x) >> np.uint64(y))
            else:
                value = ((x << (64 - row.bits)) >> (64 - row.bits)) >> y
        elif op in (UDIV, SDIV, UREM, SREM):
            value = quotient(op, x, y, row.bits, machine)
        elif FADD <= op <= FMUL and row.bits == 64:
            left, right = doubles[base + row.a], doubles[base + row.b]
            result = left + right if op == FADD else left - right if op == FSUB else left * right
            doubles[base + row.dst] = result
            value = registers[base + row.dst]
            if not (abs(left) >= SMALLEST and abs(right) >= SMALLEST and abs(result) >= SMALLEST):
                counts[ODD] |= is_odd(left, SMALLEST) or is_odd(right, SMALLEST) or is_odd(result, SMALLEST)
        else:
            value = floating(op, base + row.a, base + row.b, base + row.dst, row.bits, row.c, machine)
        if counts[ODD] and first_odd < 0:
            first_odd = np.int64(k)
        value &= row.mask
        registers[base + row.dst] = value
        if row.units:
            out[place + row.out] = value & 0xFFFFFFFF
            if row.units == 2:
                out[place + row.out + 1] = (value >> 32) & 0xFFFFFFFF
    return first_odd


@lean
def expand(
    units: NDArray[np.uint32],
    chunks: NDArray[np.int64],
    are_last: bool,
    plan: Plan,
    recipes: Recipes,
    ending: Ending,
    out: NDArray[np.uint32],
    machine: Machine,
) -> Int:
    """Make the chunks of a compact trace whole, in ``out``; how far that came, machine.counts tells (CHUNK, PLACE).

    ``are_last``: no chunk follows them.

    Returns how many records were read, or -1 - the unit at which there is none that this program could have written.
    ``counts[DOUBT]``: what the run did is not certain.
    """
    segments, recipe_rows, operations = plan.segments, recipes.recipes, recipes.operations
    counts, frames = machine.counts, machine.frames
    lowest, top = ending.lowest, ending.top
    last_segment = len(segments) - 2
    records = 0
    for number in range(len(chunks)):
        chunk = chunks[number]
        used = wide(units, chunk + 4)
        if not 0 <= used <= CHUNK_UNITS:
            return -1 - chunk
        position = chunk + CHUNK_HEADER_UNITS
        end = chunk + (used if used else CHUNK_UNITS)
        while position < end:
            header = np.int64(units[position])
            if header == 0:
                position += 1
                continue
            records += 1
            if header > IDENTITY:
                size = header & IDENTITY
                if header >> KIND_SHIFT != EFFECT or size < 2 or position + size > end:
                    return -1 - position
                if not check_effect(units, position, position + size, lowest, top, machine):
                    return -1 - position
                if counts[DOUBT]:
                    return -1 - position
                place = _room(size, out, machine)
                for k in range(size):
                    out[place + k] = units[position + k]
                position += size
                continue
            identity = header - 1
            if identity > last_segment:
                return -1 - position
            size = np.int64(recipe_rows[identity].units)
            if size == 0 or position + size > end:
                return -1 - position
            behind = position + size
            is_last = are_last and number == len(chunks) - 1 and (behind >= end or units[behind] == 0)
            first_identity, first_place = identity, np.int64(-1)
            while True:
                static = segments[identity]
                flags, function = static.flags, static.function
                if counts[EXPECTED] != NONE:
                    if counts[EXPECTED] != static.block or not flags & FIRST:
                        doubt(machine)
                    counts[EXPECTED] = NONE
                depth = counts[N_DEPTH]
                if flags & ENTRY:
                    address = wide(units, position + (3 if flags & ADDRESS else 1)) if flags & FRAME else np.int64(0)
                    kept = recipe_rows[frames[depth - 1].last].frame if depth else 0
                    push(function, address, kept, machine)
                elif (
                    depth == 0
                    or flags & FRAME
                    or frames[depth - 1].function != function
                    or (not flags & FIRST and frames[depth - 1].last + 1 != identity)
                ):
                    address = wide(units, position + 1) if flags & FRAME else np.int64(0)
                    find_frame(identity, flags, function, address, machine)
                top_row = frames[counts[N_DEPTH] - 1]
                top_row.last = identity
                place = _room(static.units, out, machine)
                out[place] = identity + 1
                recipe = recipe_rows[identity]
                stop = recipe_rows[identity + 1].start
                odd = _run(
                    units, position, out, place, recipe.start, stop, top_row.base, operations, lowest, top, machine
                )
                if is_last and not ending.is_whole:
                    counts[ODD] = 0
                    counts[EXPECTED] = NONE
                    if counts[DOUBT]:
                        return -1 - position
                    if first_place < 0:
                        first_place = place
                    if ending.fault == DIVISION and odd >= 0 and UDIV <= operations[odd].op <= SREM:
                        cut(out, place, odd, stop, 0, operations)
                        return records
                    unit = fault_unit(out, place, identity, plan, ending.fault, ending.address)
                    if unit >= 0:
                        if 0 <= odd < first_behind(recipe.start, stop, unit, operations):
                            doubt(machine)
                            return -1 - position
                        cut(out, place, recipe.start, stop, unit + 2, operations)
                        return records
                    if recipe.follower < 0:
                        if not flags & (CALLS | RETURNS):  # where it ended is not known: it tells what is recorded
                            start = recipe_rows[first_identity].start
                            cut(out, first_place, start, recipe_rows[first_identity + 1].start, 0, operations)
                            counts[PLACE] = first_place + segments[first_identity].units
                        return records
                elif counts[ODD] or counts[DOUBT]:
                    doubt(machine)
                    return -1 - position
                if flags & RETURNS:
                    pop(machine)
                if recipe.follower < 0:
                    break
                identity = np.int64(recipe.follower)
            position = behind
    return records
