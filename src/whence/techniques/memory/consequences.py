"""Whether a failure came of a memory error: asked of the values behind its symptom, in the recorded run.

A failure came of an error where the value or address at its symptom, or a branch that led there, was made from what the
error got wrong: from bytes that it wrote outside of its object, from what it read there, or from a value that was never
given. Each is looked up in the data slice of the symptom and those branches, byte by byte, so that an error which
merely stood on the way is not blamed. Two failures
have no such value: a return address that was overwritten, and the heap's own numbers, which the C library found wrong.
And of a value that was never given it is asked whether what was done by it led to the symptom at all, be it by a branch
among others: right programs do nothing by such values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.dependence.slices import compute
from whence.probe.layout import Kind as Site
from whence.run.aborted import is_of_heap, library_message
from whence.run.evidence import Evidence
from whence.subject.memory_check import Checked, Error, Kind
from whence.trace import objects
from whence.trace.columns import CellKind
from whence.trace.shadow import MAX_CELLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.findings import Symptom
    from whence.run.result import RunResult
    from whence.trace.slicing import Slice

Range = tuple[int, int, int]  # an event, the first byte, and the first one behind
READERS = (Site.LOAD, Site.RMW)
COPIES = (CellKind.READ, CellKind.COPY, CellKind.BYVAL)
HEAP_CALLS = frozenset({"malloc", "calloc", "realloc", "reallocarray", "free"})
GUARD = b"stack smashing detected"
ABORTED = b"malloc", b"free", b"corrupt", b"invalid"  # words of the C library where the heap's own numbers are wrong


class Link(IntEnum):
    """How an error stands to the failure, the closest last."""

    AFTER = 0  # it happened behind the symptom
    BEFORE = 1  # it happened before, and nothing is known of what came of it
    HANGS = 2  # the symptom depends on what was done by a value that was never given
    CAUSE = 3  # the failure came of it
    ITSELF = 4  # what failed is the error


class Consequences:
    """The links between the errors of one checked run and its symptom."""

    def __init__(self, checked: Checked, symptom: Symptom, result: RunResult) -> None:
        self._checked, self._trace, self._symptom, self._result = checked, checked.trace, symptom, result
        self._columns = checked.trace.columns
        self._evidence = Evidence(checked.trace)

    def link(self, error: Error) -> Link:
        """How an error stands to the failure."""
        occurrences = self._occurrences(error)
        at = self._symptom.event
        if at >= 0 and (at in occurrences["event"] or at == error.event):
            return Link.ITSELF
        if (
            self._is_read(error, occurrences)
            or self._is_handed_on(error, occurrences)
            or self._spoiled(error, occurrences)
        ):
            return Link.CAUSE
        if error.kind is Kind.UNDEFINED and self._led_to.event_depth[occurrences["event"]].any():
            return Link.HANGS
        return Link.AFTER if 0 <= at < error.event else Link.BEFORE

    def _occurrences(self, error: Error) -> Any:
        return self._checked.occurrences[self._checked.occurrences["error"] == error.number]

    # ---- What the symptom was made from ------------------------------------------------------------------------------

    @cached_property
    def _behind(self) -> Slice:
        """The data slice of the symptom and of the branches that led there."""
        criteria = [*self._symptom.details.get("criteria", []), *(event + 1 for event in self._deciding)]
        return compute(self._trace, criteria, control=False)

    @cached_property
    def _led_to(self) -> Slice:
        """The dynamic slice of the symptom."""
        at = self._symptom.event
        return compute(self._trace, self._symptom.details.get("criteria", []) + ([at + 1] if at >= 0 else []))

    @cached_property
    def _deciding(self) -> set[int]:
        """The branches without which the symptom would not have been come to."""
        found: set[int] = set()
        event = self._symptom.event
        while event >= 0:
            control = self._evidence.control(event)
            if control < 0:
                call = int(self._columns.frames[self._evidence.frame(event)]["call"])
                event = self._evidence.last_event(call) if call >= 0 else -1
                continue
            if control in found:
                break
            found.add(control)
            event = control
        return found

    def _is_handed_on(self, error: Error, occurrences: Any) -> bool:
        """Whether what an access read that was not its object's, or was never given, is behind the symptom."""
        depth = self._behind.event_depth
        if error.kind is Kind.UNDEFINED:
            return bool(depth[occurrences["argument"][occurrences["argument"] >= 0]].any())
        if error.writes or error.kind in (Kind.TWICE, Kind.NO_BLOCK, Kind.OVERLAP):
            return False
        accesses = occurrences["event"][occurrences["argument"] < 0]
        return bool(depth[accesses].any()) or self._overlap(occurrences, self._read_by_calls())

    def _is_read(self, error: Error, occurrences: Any) -> bool:
        """Whether something behind the symptom read bytes that the error wrote where they did not belong."""
        return (
            bool(error.writes)
            and error.kind is not Kind.UNDEFINED
            and self._overlap(occurrences, chain(self._readings(occurrences), self._printed()))
        )

    def _printed(self) -> Iterator[Range]:
        """The wrong byte of a text that was printed, where it was read: its last writers are the symptom's criteria."""
        details = self._symptom.details
        if "argument" not in details:
            return
        source = self._evidence.source_of(details["stream"], details["offset"])
        if source is None or source.event != self._symptom.event:  # a value that was cut short ends a byte before
            return
        byte = self._trace.value(source.event) + details["offset"] - source.start
        for reference in source.criteria[1:]:
            for writer in self._writers(reference):
                yield writer, byte, byte + 1

    def _overlap(self, occurrences: Any, ranges: Iterable[Range]) -> bool:
        """Whether a range holds bytes that the error touched at its event, and should not have."""
        touched: dict[int, list[tuple[int, int]]] = {}
        for event, start, end in ranges:
            touched.setdefault(event, []).append((start, end))
        mine = occurrences[np.isin(occurrences["event"], list(touched))]
        return any(
            start < last and first < end
            for occurrence in mine
            for start, end in self._outside(occurrence)
            for first, last in touched[int(occurrence["event"])]
        )

    def _outside(self, occurrence: Any) -> list[tuple[int, int]]:
        """The bytes that an access had no right to: all of them where the object is gone."""
        start, end = int(occurrence["address"]), int(occurrence["address"]) + int(occurrence["length"])
        if self._kinds[int(occurrence["error"])] is not Kind.BOUNDS:
            return [(start, end)]
        base = int(self._checked.table[int(occurrence["object"])]["base"])
        behind = base + int(occurrence["size"])
        parts = [(start, min(end, base)), (max(start, behind), end)]
        return [(low, high) for low, high in parts if low < high]

    @cached_property
    def _kinds(self) -> dict[int, Kind]:
        return {error.number: error.kind for error in self._checked.errors}

    def _readings(self, occurrences: Any) -> Iterator[Range]:
        """What behind the symptom read bytes that one of the occurrences wrote."""
        columns = self._columns
        events = self._behind.events
        segments = columns.segments[columns.events["segment"][events]]
        sites = self._trace.plan.segments["site_start"][segments["id"]] + events - segments["event"]
        loads = events[np.isin(self._trace.plan.sites["kind"][sites], READERS)]
        loads = loads[self._may_be_of(columns.events["definition"][loads], occurrences)]
        for event in loads.tolist():
            for start, size in self._trace.ranges(event):
                for writer in self._writers(int(columns.events[event]["definition"])):
                    yield writer, start, start + size
        cells = columns.cells[np.flatnonzero(self._behind.cell_depth)]
        cells = cells[np.isin(cells["kind"], COPIES)]
        for row in cells[self._may_be_of(cells["definition"], occurrences)]:
            for writer in self._writers(int(row["definition"])):
                yield writer, int(row["address"]), int(row["address"]) + int(row["length"])

    def _may_be_of(self, definitions: NDArray[np.int32], occurrences: Any) -> NDArray[np.bool_]:
        """Which definitions are of an event among the occurrences, or stand for a list of several."""
        events = np.where(definitions > 0, definitions - 1, -1)
        of_cells = np.flatnonzero((definitions < 0) & (definitions >= -MAX_CELLS))
        events[of_cells] = self._columns.cells["parent"][-definitions[of_cells] - 1]
        return np.asarray(np.isin(events, occurrences["event"]) | (definitions < -MAX_CELLS), np.bool_)

    def _read_by_calls(self) -> Iterator[Range]:
        """What library calls behind the symptom read."""
        cells = self._columns.cells[np.flatnonzero(self._behind.cell_depth)]
        for row in cells[cells["kind"] == CellKind.READ]:
            yield int(row["parent"]), int(row["address"]), int(row["address"]) + int(row["length"])

    def _writers(self, definition: int) -> Iterator[int]:
        """The events that a definition stands for."""
        columns = self._columns
        if definition < -MAX_CELLS:
            number = -definition - MAX_CELLS - 1
            start, end = int(columns.multi_start[number]), int(columns.multi_start[number + 1])
            for reference in columns.multi_reference[start:end]:
                yield from self._writers(int(reference))
        elif definition > 0:
            yield definition - 1
        elif definition < 0:
            yield int(columns.cells[-definition - 1]["parent"])

    # ---- What no recorded access reads -------------------------------------------------------------------------------

    def _spoiled(self, error: Error, occurrences: Any) -> bool:
        """Whether the error wrote over the return address by which the run died; or, as the only one, into the frame
        at whose return it died, or beside the block of which the C library says that something was overwritten.
        """
        if not error.writes or error.kind is not Kind.BOUNDS:
            return False
        if self._trace.return_writers:
            writers = {writer for reference in self._trace.return_writers for writer in self._writers(reference)}
            return not writers.isdisjoint(occurrences["event"].tolist())
        complains_of = self._complaint()
        suspects = [e.number for e in self._checked.errors if complains_of is not None and complains_of(e)]
        return suspects == [error.number]

    def _complaint(self) -> Callable[[Error], bool] | None:
        """Which errors the C library may complain of; None: it does not."""
        event, stderr = self._symptom.event, self._result.stderr
        if event < 0:
            return None
        if GUARD in stderr or self._trace.kind(event) is Site.RET:
            frame = self._evidence.frame(event)
            return lambda error: self._wrote_beside(error, (objects.LOCAL, objects.COPIED), frame)
        is_heap_call = self._evidence.callee_name(event) in HEAP_CALLS and any(word in stderr for word in ABORTED)
        if is_heap_call or is_of_heap(library_message(stderr)):
            return lambda error: self._wrote_beside(error, (objects.HEAP,))
        return None

    def _wrote_beside(self, error: Error, kinds: tuple[int, ...], frame: int = -1) -> bool:
        """Whether an error wrote beyond an object of one of the kinds (in a frame) where no object is."""
        row = self._checked.table[error.object]
        if not error.writes or error.kind is not Kind.BOUNDS or row["kind"] not in kinds or row["frame"] != frame:
            return False
        first = self._occurrences(error)[:1]
        return any(
            self._checked.at(start, error.event) == 0 for occurrence in first for start, _ in self._outside(occurrence)
        )
