"""The backward slice against its plain twin: a breadth-first search over the dependences of one node at a time."""

from __future__ import annotations

import numpy as np
import pytest
from snippets import program

from whence.trace.columns import N_CELL, N_EVENT
from whence.trace.slicing import Slice, backward_slice, dependences
from whence.trace.trace import Trace

PROGRAMS = (
    "callbacks", "by_value", "memmove_down", "setjmp_nested", "short_circuit", "signals", "structures", "variadic",
)  # fmt: skip


def depths_of(trace: Trace, criterion: int, control: bool) -> dict[int, int]:
    """Depth + 1 of every node that a reference depends on."""
    depth = {criterion: 1}
    queue = [criterion]
    for node in queue:
        for reference, _ in dependences(trace.plan, trace.columns, node, control):
            if reference not in depth:
                depth[reference] = depth[node] + 1
                queue.append(reference)
    return depth


def marked(found: Slice) -> dict[int, int]:
    """The same of a slice."""
    events = {int(n) + 1: int(found.event_depth[n]) for n in np.flatnonzero(found.event_depth)}
    return events | {-int(n) - 1: int(found.cell_depth[n]) for n in np.flatnonzero(found.cell_depth)}


@pytest.mark.parametrize("control", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_depths_are_those_of_a_breadth_first_search(name: str, control: bool) -> None:
    trace = program(name).trace()
    events, cells = int(trace.columns.counts[N_EVENT]), int(trace.columns.counts[N_CELL])
    criteria = [*range(events, max(0, events - 12), -1), *range(1, events, 1 + events // 12), *range(-cells, 0)]
    for criterion in criteria:
        found = backward_slice(trace.plan, trace.columns, np.array([criterion], np.int64), control)
        assert marked(found) == depths_of(trace, criterion, control)


@pytest.mark.parametrize("name", PROGRAMS)
def test_parents_lead_to_the_criterion_by_a_shortest_way(name: str) -> None:
    trace = program(name).trace()
    criterion = trace.events
    found = backward_slice(trace.plan, trace.columns, np.array([criterion], np.int64))
    for event in found.events[:: 1 + len(found.events) // 50].tolist():
        node, steps = event + 1, 0
        while node != criterion:
            parent = int(found.event_parent[node - 1] if node > 0 else found.cell_parent[-node - 1])
            assert node in [reference for reference, _ in dependences(trace.plan, trace.columns, parent)]
            node, steps = parent, steps + 1
        assert steps + 1 == found.event_depth[event]
