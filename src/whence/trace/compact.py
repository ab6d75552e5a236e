"""Opens compact traces: finds the recipes of their program, and makes them whole (``expand.py``)."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from whence.errors import TraceError
from whence.probe.operations import Recipes
from whence.probe.plan import Numbering, Plan
from whence.probe.recipes import make_recipes
from whence.program.program import Program
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS
from whence.trace.fault import Fault
from whence.trace.lazy import lazy_zeros

if TYPE_CHECKING:
    from whence.trace.machine import Ending

MOST_UNITS = 1 << 34
STACK_AT = 45  # words of the header: the lowest address of the stack, and its bytes
UNDEFINED, BREAKPOINT = 6, 3  # traps of instructions that end a segment which is done as a whole
WRITTEN = 2  # bit of a page fault's error code
PAGE_FAULT = 14
_RECIPES: WeakKeyDictionary[Program, Recipes] = WeakKeyDictionary()


class DoubtfulTrace(TraceError):
    """A compact trace from which what the run did does not follow with certainty: record the run in full."""


class Whole(NamedTuple):
    """The units of a trace made whole, where its chunks begin, and the unit of the compact one at which it is damaged
    (-1: nowhere).
    """

    units: NDArray[np.uint32]
    chunks: NDArray[np.int64]
    damaged: int


def recipes_of(program: Program) -> Recipes:
    """The recipes of a program's segments, made once."""
    if program not in _RECIPES:
        _RECIPES[program] = make_recipes(program, Numbering(program))
    return _RECIPES[program]


class End(NamedTuple):
    """How a run ended, as the header of its trace says; ``cut_off``: the recording ended before, behind a segment."""

    kind: str
    code: int
    fault: Fault | None
    cut_off: bool


class Expansion:
    """A compact trace that is made whole, some of its chunks at a time: ``units`` holds what has been made.

    Raises DoubtfulTrace where the trace does not say where its stack lies.
    """

    def __init__(
        self, recorded: NDArray[np.uint32], chunks: NDArray[np.int64], end: End, program: Program, plan: Plan
    ) -> None:
        from whence.trace.machine import new_machine

        self._recorded, self._plan, self._ending = recorded, plan, _ending(recorded, end)
        if self._ending.lowest == self._ending.top:
            raise DoubtfulTrace("the recording does not say where its stack lies", "record the run in full")
        self.units = lazy_zeros(MOST_UNITS, np.uint32)
        self.units[:HEADER_UNITS] = recorded[:HEADER_UNITS]
        self.machine = new_machine()
        self.recipes = with_addresses(recipes_of(program), static_addresses(recorded, chunks))

    def go_on(self, chunks: NDArray[np.int64], are_last: bool) -> tuple[NDArray[np.int64], int]:
        """Make the next chunks of the trace whole; ``are_last``: none follows.

        Returns where the chunks begin that were made, and the unit of the compact trace at which it is damaged (-1:
        nowhere). Raises DoubtfulTrace where what the run did is not certain.
        """
        from whence.trace.expand import expand
        from whence.trace.machine import CHUNK, DOUBT, PLACE

        counts, recorded = self.machine.counts, self._recorded
        first = self._next_chunk()
        records = expand(recorded, chunks, are_last, self._plan, self.recipes, self._ending, self.units, self.machine)
        if counts[DOUBT]:
            raise DoubtfulTrace("what the run did does not follow from its compact recording", "record the run in full")
        damaged, last = -1 - records if records < 0 else -1, int(counts[CHUNK])
        if last < 0:
            return np.zeros(0, np.int64), damaged
        self.units[last + 4] = int(counts[PLACE]) - last
        return np.arange(first, last + 1, CHUNK_UNITS, dtype=np.int64), damaged

    def _next_chunk(self) -> int:
        """Where the first chunk that is made next begins: none goes on in one that was made before."""
        from whence.trace.decode import CHUNK_HEADER_UNITS
        from whence.trace.machine import CHUNK, NONE, PLACE, SEQUENCE

        counts = self.machine.counts
        if counts[CHUNK] == NONE:
            return HEADER_UNITS
        counts[CHUNK] += CHUNK_UNITS
        counts[SEQUENCE] += 1
        counts[PLACE] = counts[CHUNK] + CHUNK_HEADER_UNITS
        self.units[counts[CHUNK]] = counts[SEQUENCE]
        return int(counts[CHUNK])


def made_whole(units: NDArray[np.uint32], chunks: NDArray[np.int64], end: End, program: Program, plan: Plan) -> Whole:
    """The whole units of a compact trace.

    Raises DoubtfulTrace where what the run did is not certain.
    """
    expansion = Expansion(units, chunks, end, program, plan)
    made, damaged = expansion.go_on(chunks, True)
    whole = expansion.units[: int(made[-1]) + CHUNK_UNITS if len(made) else HEADER_UNITS]
    whole.flags.writeable = False
    return Whole(whole, made, damaged)


def with_addresses(recipes: Recipes, addresses: NDArray[np.int64]) -> Recipes:
    """Recipes with the addresses of static variables in place of their numbers."""
    operations = recipes.operations.copy()
    named = np.flatnonzero(operations["variable"])
    operations["number"][named] += addresses[operations["variable"][named] - 1]
    return Recipes(recipes.recipes, operations)


def static_addresses(units: NDArray[np.uint32], chunks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the static variables lie, as a trace begins by saying."""
    found = [np.zeros(0, np.int64)]
    for chunk in chunks.tolist():
        position, end = chunk + 8, chunk + (int(units[chunk + 4]) or CHUNK_UNITS)
        while position < end and int(units[position]) >> 30 == 1:
            behind = position + (int(units[position]) & (1 << 30) - 1)
            if units[position + 1] == 0:
                found.append(units[position + 2 : behind].copy().view(np.int64))
            position = behind
        if position < end:
            break
    return np.concatenate(found)


def _ending(units: NDArray[np.uint32], end: End) -> Ending:
    """How the run ended, as expanding asks for it."""
    from whence.trace import machine as e

    lowest, size = (int(word) for word in units[2 * STACK_AT : 2 * STACK_AT + 4].view(np.uint64))
    kind, address, is_whole = e.NO_FAULT, 0, end.cut_off or end.kind == "exit"
    fault = end.fault
    if end.kind == "signal" and end.code == signal.SIGFPE:
        kind = e.DIVISION
    elif end.kind == "signal" and fault is not None:
        is_whole = is_whole or fault.trap in (UNDEFINED, BREAKPOINT)
        address = fault.address - (1 << 64) if fault.address >> 63 else fault.address
        writing = e.WRITING if fault.error & WRITTEN else e.READING
        kind = writing if fault.trap == PAGE_FAULT else e.ANY_ACCESS if address else e.NO_FAULT
    return e.Ending(is_whole, kind, address, lowest, lowest + size)
