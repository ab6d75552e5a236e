"""When what an event reads was last written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.trace.columns import N_MULTI, CellKind
from whence.trace.shadow import MAX_CELLS
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
NEVER = -1  # when something was written that nothing recorded wrote
NO_READ = 1 << 62  # "since" of an event that reads nothing
READS = (int(CellKind.COPY), int(CellKind.READ), int(CellKind.BYVAL))


def _written(trace: Trace, references: NDArray[np.int32]) -> Integers:
    """For each reference the event that wrote what it stands for, of several the last one; NEVER: none did."""
    columns = trace.columns
    parents = columns.cells["parent"][: trace.cells]
    found = np.where(references > 0, references.astype(np.int64) - 1, NEVER)
    cells = np.flatnonzero((references < 0) & (references >= -MAX_CELLS))
    found[cells] = parents[-references[cells] - 1]
    lists = np.flatnonzero(references < -MAX_CELLS)
    if len(lists):
        count = int(columns.counts[N_MULTI])
        starts, end = columns.multi_start[:count], columns.multi_start[count]
        latest = np.maximum.reduceat(_written(trace, columns.multi_reference[:end]), starts)
        found[lists] = latest[-references[lists].astype(np.int64) - MAX_CELLS - 1]
    return found


def last_written(trace: Trace) -> Integers:
    """For each event when what it reads was last written: an event, NEVER; NO_READ for events that read no memory.

    Reads are loads, and copies and calls of the library by the cells that they made.
    """
    found = np.full(trace.events, NO_READ, np.int64)
    cells = trace.columns.cells[: trace.cells]
    cells = cells[np.isin(cells["kind"], READS)]
    found[cells["parent"]] = NEVER
    np.maximum.at(found, cells["parent"], _written(trace, cells["definition"]))
    loads = trace.events_at(trace.plan.sites["kind"] == Kind.LOAD)
    found[loads] = _written(trace, trace.columns.events["definition"][loads])
    return found
