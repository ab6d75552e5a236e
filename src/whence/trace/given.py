"""What ``main`` was given, as objects: the arrays of the arguments and of the environment, and each of their strings.

A recording tells where they lie before it begins. Their rows in the table of objects follow each other: the two arrays,
then the strings of the one and of the other. ``declared`` is the place of the row among them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.trace.kernels import lean
from whence.trace.memory import wide
from whence.trace.objects import (
    FIRST_GIVEN,
    GIVEN,
    GIVEN_END,
    GIVEN_START,
    MAIN_PARAMETERS,
    N_GIVEN,
    N_OBJECT,
    State,
)
from whence.trace.shadow import Int

RECORD = 0xFFFFFFFF  # the function of the records that tell it (probe/runtime/record/trace.h)
ARRAYS = 2  # rows that stand before those of the strings
WORD = 8


@lean
def given_born(units: NDArray[np.uint32], start: Int, end: Int, state: State) -> None:
    """A record of what ``main`` is given: the first one has the two arrays, the others their strings."""
    position = start + 2
    if state.counts[FIRST_GIVEN] == 0:
        first = state.counts[N_OBJECT]
        state.counts[FIRST_GIVEN] = first
        for array in range(ARRAYS):
            count = wide(units, position + 4 * array + 2)
            _add(wide(units, position + 4 * array), WORD * (count + 1), state)
            state.objects[len(state.objects) - MAIN_PARAMETERS + 1 + array] = first + array
        return
    while position < end:
        base, size = wide(units, position), wide(units, position + 2)
        if state.counts[N_GIVEN] == ARRAYS:
            state.counts[GIVEN_START] = state.counts[GIVEN_END] = base
        if base < state.counts[GIVEN_END]:  # in no order: where they lie is not looked up
            state.counts[GIVEN_END] = state.counts[GIVEN_START]
        else:
            state.counts[GIVEN_END] = base + size
        _add(base, size, state)
        position += 4


@lean
def _add(base: Int, size: Int, state: State) -> None:
    number = state.counts[N_OBJECT]
    state.counts[N_OBJECT] = number + 1
    row = state.table[number]
    row.base, row.size, row.kind, row.declared = base, size, GIVEN, state.counts[N_GIVEN]
    row.frame, row.scope, row.birth, row.death = -1, -1, 0, 0
    state.counts[N_GIVEN] += 1


@lean
def given_at(address: Int, state: State) -> Int:
    """The string that holds an address, or the array that begins there; 0: none."""
    first = state.counts[FIRST_GIVEN]
    if first == 0:
        return 0
    if state.counts[GIVEN_START] <= address < state.counts[GIVEN_END]:
        low, high = first + ARRAYS, first + state.counts[N_GIVEN]
        while high - low > 1:
            middle = (low + high) // 2
            if state.table[middle].base <= address:
                low = middle
            else:
                high = middle
        return low if address < state.table[low].base + state.table[low].size else 0
    for number in range(first, first + ARRAYS):
        if address and state.table[number].base == address:
            return number
    return 0
