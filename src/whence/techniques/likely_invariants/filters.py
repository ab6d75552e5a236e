"""What is left of broken invariants: those in the slice, and of these the ones that no other explains.

Dependence filtering (Sahoo et al. 2013, section 5.1): an event that breaks its invariant is *explained* where it
depends on another one that does, on a path without an event whose invariant holds; events without an invariant are
passed through. The paper drops explained instructions. It defines the graph over executed instances, so explained are
instances here, too, and an instruction stays while one of its broken instances is not explained: else a sum in a loop,
each value of which depends on the one before, would always be dropped on its own account.

The paper marks along the chain of users in the tree of its depth-first search. Here one pass over the slice in order of
time does the same for all paths: every dependence of an event is settled before it, and looked at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.probe.plan import Plan
from whence.trace.columns import N_CELL, Columns
from whence.trace.dependence import BUFFER, gather_cell, gather_event
from whence.trace.kernels import lean
from whence.trace.lazy import lazy_zeros
from whence.trace.shadow import Int
from whence.trace.slicing import Slice, _dates
from whence.trace.trace import Trace

NOTHING, HOLDS, BROKEN = 0, 1, 2  # of an event: it has no invariant, its invariants hold, one is broken


def explained(trace: Trace, found: Slice, states: NDArray[np.uint8], control: bool = True) -> NDArray[np.bool_]:
    """For each event of a slice whether a broken one explains it; False outside of the slice.

    ``states`` (uint8) has one of NOTHING, HOLDS, BROKEN for each event; those that it is too short for have NOTHING.
    Without ``control`` paths go over data dependence alone. Takes time linear in the dependences of the slice.
    """
    columns = trace.columns
    reached = lazy_zeros(trace.events, np.uint8)
    cells = lazy_zeros(int(columns.counts[N_CELL]), np.uint8)
    whole = lazy_zeros(trace.events, np.uint8)
    whole[: len(states)] = states[: trace.events]
    buffer = np.empty(2 * BUFFER, np.int64)
    _explain(
        trace.plan,
        columns,
        control,
        trace.events,
        _dates(columns),
        whole,
        found.event_depth,
        found.cell_depth,
        reached,
        cells,
        buffer,
    )
    return reached[: trace.events].view(np.bool_)


@lean
def _explain(
    plan: Plan,
    columns: Columns,
    control: bool,
    events: Int,
    born: NDArray[np.int32],
    states: NDArray[np.uint8],
    event_depth: NDArray[np.int32],
    cell_depth: NDArray[np.int32],
    reached: NDArray[np.uint8],
    cells: NDArray[np.uint8],
    buffer: NDArray[np.int64],
) -> None:
    """Settle events and cells of the slice in order of time."""
    cell = np.int64(0)
    count = columns.counts[N_CELL]
    for event in range(events):
        if event_depth[event]:
            number = gather_event(plan, columns, event, control, buffer)
            reached[event] = _is_behind(buffer, number, states, reached, cells)
        while cell < count and born[cell] <= event:
            if cell_depth[cell]:
                number = gather_cell(plan, columns, cell, buffer)
                cells[cell] = _is_behind(buffer, number, states, reached, cells)
            cell += 1


@lean
def _is_behind(
    buffer: NDArray[np.int64],
    number: Int,
    states: NDArray[np.uint8],
    reached: NDArray[np.uint8],
    cells: NDArray[np.uint8],
) -> bool:
    """Whether one of the dependences is broken, or passes on that something before it is."""
    for k in range(number):
        reference = buffer[2 * k]
        if reference < 0:
            if cells[-reference - 1]:
                return True
        elif states[reference - 1] == BROKEN or (states[reference - 1] == NOTHING and reached[reference - 1]):
            return True
    return False
