"""Blocks that a run never gave back: lost, or still reachable when it ended.

A block is reachable where a word of a static variable, or of a local of a call that was still open, or of another
reachable block points into it. The words are what decoding last saw at each address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whence.probe.layout import NO_SLOT
from whence.probe.layout import Kind as Site
from whence.run.evidence import Evidence
from whence.trace import objects
from whence.trace.columns import CellKind, new_columns
from whence.trace.decode import decode, new_stacks
from whence.trace.shadow import HIGHEST, PAGE, new_shadow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.trace.trace import Trace

WORD = 8
Numbers = Any  # int64, one for each word or block


def reachable_blocks(trace: Trace, table: Any) -> set[int]:
    """The numbers of the blocks in the ``table`` of objects that were still reachable when the run ended."""
    kept = np.flatnonzero((table["kind"] == objects.HEAP) & (table["death"] == 0) & (table["size"] > 0))
    order = kept[np.argsort(table["base"][kept], kind="stable")]
    places, values = _words(trace, table, order)
    held, pointed = _block_of(places, table, order), _block_of(values, table, order)
    lives = (table["death"] == 0) & np.isin(
        table["kind"], (objects.STATIC, objects.LOCAL, objects.COPIED, objects.GIVEN)
    )
    in_root = _block_of(places, table, _by_base(table, np.flatnonzero(lives))) >= 0
    found = set(pointed[in_root & (pointed >= 0)].tolist())
    found |= set(_block_of(_private_values(trace), table, order).tolist()) - {-1}
    new = found
    while new:
        reached = pointed[np.isin(held, list(new)) & (pointed >= 0)]
        new = set(reached.tolist()) - found
        found |= new
    return found


def _by_base(table: Any, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    return numbers[np.argsort(table["base"][numbers], kind="stable")]


def _block_of(addresses: Numbers, table: Any, order: NDArray[np.int64]) -> Numbers:
    """For each address the number of the object that holds it, of those given in order of their addresses; -1."""
    if not len(order):
        return np.full(len(addresses), -1, np.int64)
    base, end = table["base"][order], table["base"][order] + table["size"][order]
    at = np.searchsorted(base, addresses, side="right") - 1
    return np.where((at >= 0) & (addresses < end[np.maximum(at, 0)]), order[np.maximum(at, 0)], -1)


def _words(trace: Trace, table: Any, blocks: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Addresses and values of the words that the run left behind.

    What a library call wrote is not recorded; where it made a block as well, its words are taken to point there.
    """
    shadow, columns = new_shadow(), new_columns()
    decode(trace.units, trace.chunks, trace.plan, columns, shadow, new_stacks(trace.header.threads))
    pages = int(shadow.pages[0])
    bases = shadow.numbers[:pages] * PAGE
    addresses = (bases[:, None] + np.arange(0, PAGE, WORD)).ravel()
    values = shadow.content[: pages * PAGE].view("<i8").copy()
    writers = shadow.writer[: pages * PAGE : WORD].astype(np.int64)
    cells = columns.cells[np.where(writers < 0, -writers - 1, 0)]
    made = dict(zip(table["declared"][blocks].tolist(), table["base"][blocks].tolist(), strict=True))
    for at in np.flatnonzero((writers < 0) & (cells["kind"] == CellKind.CALL)).tolist():
        values[at] = made.get(int(cells["parent"][at]), 0)
    kept = (writers != 0) & (values != 0) & (addresses < HIGHEST)
    return addresses[kept], values[kept]


def _private_values(trace: Trace) -> Numbers:
    """What was stored into locals without an address, of the calls that were open when the run ended."""
    segments, sites = trace.columns.segments[: trace.segments], trace.plan.sites
    evidence, last = Evidence(trace), trace.segments - 1
    frames = evidence.open_frames(last)
    if trace.kind(evidence.last_event(last)) is Site.RET:
        frames.discard(int(segments[last]["frame"]))
    mine = segments[np.isin(segments["frame"], list(frames))]
    last_stored: dict[tuple[int, int], int] = {}
    for row in mine:
        first, end = trace.plan.segments["site_start"][int(row["id"]) : int(row["id"]) + 2]
        for site in range(int(first), int(end)):
            if sites[site]["kind"] == Site.STORE and sites[site]["aux"] != NO_SLOT and sites[site]["units"] == 2:
                local = int(row["frame"]), int(sites[site]["aux"])
                last_stored[local] = trace.value(int(row["event"]) + site - int(first)) or 0
    return np.array(list(last_stored.values()), np.uint64).astype(np.int64)
