"""Arguments of variadic functions, where ``va_arg`` finds them (System V ABI, x86-64, section 3.5.7)."""

from __future__ import annotations

from whence.formula.state import State
from whence.probe.layout import WAY_BITS, Way
from whence.trace.columns import FrameKind
from whence.trace.decode import GENERAL_AREA, REGISTER_AREA

_LIST_BYTES = 24


def place_arguments(state: State, row: int, words: list[int]) -> None:
    """Put the variadic arguments of the frame's call into memory.

    ``words`` are what va_start recorded: the list's address, the offsets of the next general and vector register in the
    save area, the next argument on the stack, and the save area.
    """
    address, offsets, stacked, saved = words
    terms, memory = state.terms, state.memory
    general, vector = offsets & 0xFFFFFFFF, offsets >> 32
    for place, value, width in ((0, general, 32), (4, vector, 32), (8, stacked, 64), (16, saved, 64)):
        memory.write(address + place, terms.constant(value, width))
    frame = state.trace.columns.frames[state.frame_of[row]]
    if frame["kind"] != FrameKind.DIRECT or frame["call"] < 0:
        return
    call = int(frame["call"])
    caller = state.frames.get(state.frame_of[call])
    sites = state.plan.sites
    last = int(state.plan.segments[state.ids[call] + 1]["site_start"]) - 1
    count = int(sites[last]["aux"])
    for number in range(int(state.plan.functions[frame["function"]]["parameters"]), count):
        site = sites[last - count + number]
        way, size = Way(int(site["size"]) & (1 << WAY_BITS) - 1), int(site["size"]) >> WAY_BITS
        aligned = (size + 7) & -8
        if way is Way.GENERAL and general + aligned <= GENERAL_AREA:
            place = saved + general
            general += aligned
        elif way is Way.VECTOR and vector + 16 <= REGISTER_AREA:
            place = saved + vector
            vector += 16
        else:
            if aligned == 16 and way is not Way.COPY:
                stacked = (stacked + 15) & -16
            place = stacked
            stacked += aligned
        term = caller.passed.get(number) if caller else None
        if way is Way.COPY:
            memory.copy(place, state.word(call, int(site["unit"])), size)
        elif term is None:
            memory.forget(place, aligned)
        else:
            memory.write(place, terms.resize(term, 8 * size))
