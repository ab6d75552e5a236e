"""What decoding a trace goes on from: the state between two of its chunks, kept apart from the tables.

Decoding looks back at little of what it has made: who wrote memory last, the stacks of frames, and the segment
instances of the blocks that are open there, with their events, frames and units. All of that is kept, so that the
tables in between can be forgotten, and what follows be decoded again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import Plan
from whence.trace.columns import Columns
from whence.trace.decode import Stacks
from whence.trace.kernels import lean
from whence.trace.lazy import forget
from whence.trace.machine import N_DEPTH, N_OBJECTS, Machine
from whence.trace.shadow import PAGE, Shadow, page_base

THREAD = 0  # traces of several threads are decoded as a whole


class State(NamedTuple):
    """All that decoding works on; ``machine`` is None, and ``units`` are those of the file, where nothing is made
    whole.
    """

    columns: Columns
    shadow: Shadow
    stacks: Stacks
    units: NDArray[np.uint32]
    machine: Machine | None
    kept_registers: int  # that a frame may need while another one is on top


class Rows(NamedTuple):
    """Some rows of a table."""

    numbers: NDArray[np.int64]
    rows: NDArray[Any]

    def put(self, table: NDArray[Any]) -> None:
        """Put the rows where they belong."""
        table[self.numbers] = self.rows


@dataclass(slots=True)
class Checkpoint:
    """A state, and what of the tables it refers to: ``segments`` of open blocks (their numbers ascending), and the
    ``events`` of these.

    ``clocks`` are those of the segments, where somebody knows them.
    """

    counts: NDArray[np.int64]
    segments: Rows
    events: Rows
    frames: Rows
    cells: Rows
    units: Rows
    stacks: tuple[NDArray[Any], ...]
    machine: tuple[NDArray[Any], ...]
    pages: tuple[NDArray[Any], ...]
    clocks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def size(self) -> int:
        """Bytes of memory that it takes."""
        rows = (self.segments, self.events, self.frames, self.cells, self.units)
        kept = [self.counts, *self.stacks, *self.machine, *self.pages]
        return sum(array.nbytes for array in kept) + sum(part.nbytes for row in rows for part in row)


def take(state: State, plan: Plan) -> Checkpoint:
    """The checkpoint of a state."""
    columns, stacks = state.columns, state.stacks
    depth = int(stacks.depth[THREAD])
    active = stacks.active[THREAD, : depth + 1].copy()
    pool = stacks.pool[THREAD, : int(active["place"][-1])].copy()
    blocks = _block_places(active[:-1], plan)
    segments = _open_segments(columns, active[:-1], pool[blocks].astype(np.int64) - 1, int(stacks.unknown[0]))
    rows = columns.segments[segments]
    starts = plan.segments["site_start"]
    events = _ranges(rows["event"], starts[rows["id"] + 1] - starts[rows["id"]])
    units = _ranges(rows["word"], plan.segments["units"][rows["id"]])
    frames = np.unique(np.concatenate([active["frame"][:-1], rows["frame"]])).astype(np.int64)
    pages = _pages(state.shadow)
    stored = np.delete(pool, blocks)  # what private locals hold
    writers = np.unique(np.concatenate([pages[1], stored, active["source"][:-1]])).astype(np.int64)
    cells = -writers[writers < 0] - 1
    return Checkpoint(
        columns.counts.copy(),
        Rows(segments, rows),
        Rows(events, columns.events[events]),
        Rows(frames, columns.frames[frames]),
        Rows(cells, columns.cells[cells]),
        Rows(units, state.units[units]),
        (stacks.depth.copy(), active, pool, stacks.unknown.copy(), stacks.starter.copy()),
        _machine(state),
        pages,
    )


def restore(kept: Checkpoint, state: State) -> None:
    """Bring a state back. What the tables hold besides is as it was, and is written anew by what follows."""
    stacks = state.stacks
    state.columns.counts[:] = kept.counts
    put_open(kept, state)
    if state.machine is not None:
        counts, registers, frames, objects = kept.machine
        state.machine.counts[:] = counts
        state.machine.registers[: len(registers)] = registers
        state.machine.frames[: len(frames)] = frames
        state.machine.objects[: len(objects)] = objects
    depth, active, pool, unknown, starter = kept.stacks
    stacks.depth[:], stacks.unknown[:], stacks.starter[:] = depth, unknown, starter
    stacks.active[THREAD, : len(active)] = active
    stacks.pool[THREAD, : len(pool)] = pool
    _put_pages(kept.pages, state.shadow)


def put_open(kept: Checkpoint, state: State) -> None:
    """Put what of the tables a checkpoint refers to where it belongs, after it was forgotten."""
    columns = state.columns
    kept.segments.put(columns.segments)
    kept.events.put(columns.events)
    kept.frames.put(columns.frames)
    kept.cells.put(columns.cells)
    if state.machine is not None:  # else the units are those of the file
        kept.units.put(state.units)


def _block_places(active: NDArray[Any], plan: Plan) -> NDArray[np.int64]:
    """Where the pool holds the last segment instances of the blocks of active frames."""
    starts = plan.functions["block_start"]
    return _ranges(active["place"], starts[active["function"] + 1] - starts[active["function"]])


def _open_segments(
    columns: Columns, active: NDArray[Any], blocks: NDArray[np.int64], unknown: int
) -> NDArray[np.int64]:
    """The segment instances, ascending, that what follows may look at: the last ones of all ``blocks`` (-1: none).

    And those before them in their blocks, and those of what frames wait for.
    """
    sources = active["source"][active["source"] > 0] - 1
    waited = columns.events["segment"][[*sources.tolist(), *([unknown] if unknown >= 0 else [])]]
    found = np.unique(np.concatenate([blocks[blocks >= 0], active["last"][active["last"] >= 0], waited]))
    found = further = found.astype(np.int64)
    while len(further):
        before = columns.segments["previous"][further]
        further = np.setdiff1d(before[before >= 0].astype(np.int64), found)
        found = np.union1d(found, further)
    return found


def _ranges(firsts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of several ranges, one behind the other."""
    firsts, lengths = firsts.astype(np.int64), lengths.astype(np.int64)
    offsets = np.arange(int(lengths.sum()), dtype=np.int64)
    return np.repeat(firsts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + offsets


def _machine(state: State) -> tuple[NDArray[Any], ...]:
    machine = state.machine
    if machine is None:
        return ()
    depth, objects = int(machine.counts[N_DEPTH]), int(machine.counts[N_OBJECTS])
    registers = int(machine.frames["base"][depth - 1]) + state.kept_registers if depth else 0
    parts = (machine.counts, machine.registers[:registers], machine.frames[:depth], machine.objects[: objects + 1])
    return tuple(part.copy() for part in parts)


def _pages(shadow: Shadow) -> tuple[NDArray[Any], ...]:
    """The numbers of the pages that were touched, who wrote their bytes, and what these are."""
    used = int(shadow.pages[0])
    return (
        shadow.numbers[:used].copy(),
        shadow.writer[: used * PAGE].copy(),
        shadow.content[: used * PAGE].copy(),
    )


def _put_pages(pages: tuple[NDArray[Any], ...], shadow: Shadow) -> None:
    """Bring memory back; pages that were touched later were never touched then."""
    numbers, writer, content = pages
    for table in (shadow.keys, shadow.places, shadow.writer, shadow.content):
        forget(table, 0, len(table))
    shadow.cache_keys[:], shadow.pages[0] = 0, 0
    _touch(shadow, numbers)
    shadow.writer[: len(writer)] = writer
    shadow.content[: len(content)] = content


@lean
def _touch(shadow: Shadow, numbers: NDArray[np.int64]) -> None:
    for number in numbers:
        page_base(shadow, number)
