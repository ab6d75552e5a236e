"""The last segment of a compact trace, where a fault ended the run amid it: which access failed, and what was not
done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.operations import Op
from whence.probe.plan import Plan
from whence.trace.kernels import lean
from whence.trace.memory import wide
from whence.trace.shadow import Int

LOAD, STORE, RMW, COPY, SET = (int(k) for k in (Kind.LOAD, Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET))
MOVED, GET, GET_WIDE = int(Op.COPY), int(Op.GET), int(Op.GET_WIDE)
READING, WRITING, ANY_ACCESS = 1, 2, 3  # as in expand.py


@lean
def fault_unit(out: NDArray[np.uint32], place: Int, identity: Int, plan: Plan, fault: Int, faulting: Int) -> Int:
    """The unit of the first access of a segment that touches the address at which the run failed; -1."""
    if not READING <= fault <= ANY_ACCESS:
        return np.int64(-1)
    for k in range(plan.segments[identity].access_start, plan.segments[identity + 1].access_start):
        access = plan.accesses[k]
        kind = access.kind
        if kind > SET or (kind <= STORE and access.slot >= 0):
            continue
        if (kind == LOAD and fault == WRITING) or (kind == STORE and fault == READING):
            continue
        address, size = wide(out, place + access.unit), np.int64(access.size)
        if kind in (COPY, SET):
            size = wide(out, place + access.unit + 4)
            source = wide(out, place + access.unit + 2)
            if kind == COPY and source <= faulting < source + size:
                return np.int64(access.unit)
        if address <= faulting < address + max(size, 1):
            return np.int64(access.unit)
    return np.int64(-1)


@lean
def first_behind(start: Int, stop: Int, unit: Int, operations: Any) -> Int:
    """The first operation that computes a unit from ``unit`` on; ``stop`` if there is none."""
    found = np.int64(stop)
    for k in range(start, stop):
        if found == stop and operations[k].units and operations[k].out >= unit:
            found = np.int64(k)
    return found


@lean
def cut(out: NDArray[np.uint32], place: Int, start: Int, stop: Int, least: Int, operations: Any) -> None:
    """Take away what operations computed for units from ``least`` on: the run did not come so far."""
    for k in range(start, stop):
        row = operations[k]
        if row.units and row.out >= least and row.op not in (MOVED, GET, GET_WIDE):
            for n in range(row.units):
                out[place + row.out + n] = 0
