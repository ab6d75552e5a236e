"""Which points, frames and objects of the failing run and of the reference run correspond."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import EVERY
from whence.alter.path import Path
from whence.probe.layout import Kind
from whence.probe.matched_variables import matched_locals, matched_statics
from whence.probe.pieces import Pieces
from whence.probe.sites import Form
from whence.program.correspondence import Correspondence
from whence.techniques.chains.compared_run import ComparedRun
from whence.techniques.chains.registers import last_events, shared_registers
from whence.trace.columns import CHUNK_UNITS, HEADER_UNITS, N_FRAME, N_OUT
from whence.trace.decode import CHUNK_HEADER_UNITS
from whence.trace.execution_index import Regions, align, align_events, align_segments
from whence.trace.objects import HEAP, LOCAL, STATIC

Integers = NDArray[np.int64]
NONE = -1
PAGE = 4096  # bytes
WRITES = (Kind.STORE, Kind.RMW, Kind.COPY, Kind.SET, Kind.BYVAL)


class Pairing:
    """The failing run and the reference run, point by point; ``correspondence``: they are of two versions of a program.

    ``points`` are the failing run's aligned points, in order of time: the events after which its state may be another
    one (definition 1's executed instructions with a destination, and branches) whose counterpart the reference run has.
    Before the event ``common`` both runs are the same.
    """

    def __init__(
        self, failing: ComparedRun, reference: ComparedRun, correspondence: Correspondence | None = None
    ) -> None:
        self.failing, self.reference = failing, reference
        self._correspondence = correspondence
        plans = failing.trace.plan, reference.trace.plan
        pieces = Pieces(correspondence, *plans) if correspondence is not None else None
        self._regions = Regions(failing.trace, pieces.first if pieces else None)
        self._others = Regions(reference.trace, pieces.second if pieces else None)
        common = common_segments(failing, reference) if correspondence is None else 0
        self._aligned = align(self._regions, self._others, common)
        last = max(common - 1, 0)  # at its end a branch may have gone another way
        self.common = int(failing.trace.columns.segments["event"][last]) if failing.trace.segments else 0

    @cached_property
    def segments(self) -> Integers:
        """For each segment instance of the failing run the corresponding one of the reference run, or NONE."""
        return align_segments(self._regions, self._others, self._aligned)

    @cached_property
    def events(self) -> Integers:
        """For each event of the failing run the corresponding one of the reference run, or NONE."""
        failing, reference = self.failing.trace, self.reference.trace
        found = align_events(self._regions, self._others, self._aligned, np.arange(failing.events))
        found[found >= reference.events] = NONE
        return found

    @cached_property
    def path(self) -> Path:
        """The reference run's way, in the failing program's blocks."""
        if self._correspondence is None:
            return self.reference.path
        blocks = np.full(len(self.reference.trace.plan.blocks), NONE, np.int64)
        mine = np.flatnonzero(self._correspondence.blocks >= 0)[::-1]
        blocks[self._correspondence.blocks[mine]] = mine
        return Path(self.reference.trace, blocks)

    @cached_property
    def points(self) -> Integers:
        """The aligned points."""
        run = self.failing
        chosen = np.flatnonzero(self._gives_a_value & (self.events >= 0))
        chosen = chosen[run.is_seen(chosen) & self.reference.is_seen(self.events[chosen])]
        early, late = chosen[chosen < self.common], chosen[chosen >= self.common]
        return np.concatenate([early, self._separable(late)])

    @cached_property
    def _gives_a_value(self) -> NDArray[np.bool_]:
        """For each event whether the state after it may be another one: a branch counts, too."""
        run = self.failing
        found = np.isin(run.kinds, WRITES) | run.own
        found[run.writes.event[run.kinds[run.writes.event] != Kind.ARG]] = True  # calls of the library, too
        return np.asarray(found)

    def is_definition(self, event: int) -> bool:
        """Whether an event gives a variable its value, or is a branch."""
        return bool(self._gives_a_value[event])

    def _separable(self, events: Integers) -> Integers:
        """Those after which nothing differs that cannot be overwritten for what comes behind alone."""
        trace = self.failing.trace
        frames = trace.columns.segments["frame"][trace.columns.events["segment"][events]]
        held: NDArray[np.bool_] = self._held(events) | self._held_around[frames]
        return events[~held]

    @cached_property
    def _held_around(self) -> NDArray[np.bool_]:
        """For each frame whether, at one of the calls that it lies in, something differs that cannot be overwritten."""
        trace = self.failing.trace
        calls = trace.columns.frames["call"][: trace.columns.counts[N_FRAME]].astype(np.int64)
        is_called = calls >= 0
        around = np.where(is_called, trace.columns.segments["frame"][np.maximum(calls, 0)], NONE)
        found = np.zeros(len(calls), np.bool_)
        found[is_called] = self._held(last_events(trace, calls[is_called]))
        while (around >= 0).any():  # twice as far with each round
            found |= (around >= 0) & found[np.maximum(around, 0)]
            around = np.where(around >= 0, around[np.maximum(around, 0)], NONE)
        return found

    def _held(self, events: Integers) -> NDArray[np.bool_]:
        """For each event whether a register differs after it that was used before and is used behind it."""
        places, registers = shared_registers(self.failing.trace, events)
        found = np.zeros(len(events), np.bool_)
        found[places[self._differ(registers)]] = True
        return found

    def _differ(self, events: Integers) -> NDArray[np.bool_]:
        """For each event whether its value is another one in the reference run, has no counterpart there, or is not
        known, such as a structure in a register.
        """
        others = self.events[events]
        mine, is_known = self.failing.trace.values(events)
        theirs, is_other_known = self.reference.trace.values(np.maximum(others, 0))
        found: NDArray[np.bool_] = (others < 0) | (mine != theirs)
        for place in np.flatnonzero((others >= 0) & ~(is_known & is_other_known)).tolist():  # wide ones, say
            values = self.failing.trace.value(int(events[place])), self.reference.trace.value(int(others[place]))
            found[place] = values[0] is None or values[0] != values[1]
        return found

    def points_before(self, stream: int, wrong: int, crash: int = NONE) -> Integers:
        """The aligned points up to where the failure shows.

        That is before what both runs have written to a stream first differs (``wrong``: the offset of the first wrong
        byte, -1 where it is not known), the end of the run where it does not; before the event ``crash``, if there is
        one: behind it nothing can be looked at.
        """
        points = self.points
        if not len(points):
            return points
        mine = written(self.failing, stream, points)
        theirs = written(self.reference, stream, self.events[points])
        differs = np.flatnonzero((mine != theirs) | ((mine > wrong) & (wrong >= 0)))
        points = points[: differs[0]] if len(differs) else points
        return points[self.failing.seen[points] < crash] if crash != NONE else points

    # ---- Objects -----------------------------------------------------------------------------------------------------

    @cached_property
    def frames(self) -> Integers:
        """For each frame of the failing run that of the reference run, or NONE."""
        rows = self.failing.trace.columns.segments[: self.failing.trace.segments]
        found = np.full(int(self.failing.trace.columns.counts[N_FRAME]), NONE, np.int64)
        frames, firsts = np.unique(rows["frame"], return_index=True)
        others = self.segments[firsts]
        partners = self.reference.trace.columns.segments["frame"][others]
        found[frames] = np.where(others >= 0, partners, NONE)
        return found

    @cached_property
    def objects(self) -> Integers:
        """For each object of the failing run the number of the reference run's, or NONE.

        Static variables correspond by name and size, locals by frame, too; blocks of the heap by the calls that made
        them, whatever their sizes.
        """
        rows, others = self.failing.objects, self.reference.objects
        statics, locals_ = self._declared()
        births = np.where(rows["birth"] >= 0, self.events[np.maximum(rows["birth"], 0)], NONE)
        frames = np.where(rows["frame"] >= 0, self.frames[np.maximum(rows["frame"], 0)], NONE)
        found = np.full(len(rows), NONE, np.int64)
        for kind, mine, theirs in (
            (STATIC, (statics,), (others["declared"],)),
            (LOCAL, (frames, locals_), (others["frame"], others["declared"])),
            (HEAP, (births,), (others["birth"],)),
        ):
            places = np.flatnonzero((others["kind"] == kind) & (others["parent"] == 0))
            numbers = dict(zip(_keys(theirs, places), places.tolist(), strict=True))
            chosen = np.flatnonzero((rows["kind"] == kind) & (rows["parent"] == 0))
            found[chosen] = [NONE if NONE in key else numbers.get(key, NONE) for key in _keys(mine, chosen)]
        same_size = rows["size"] == others["size"][np.maximum(found, 0)]
        return np.where(same_size | (rows["kind"] == HEAP), found, NONE)

    @cached_property
    def functions(self) -> tuple[tuple[Integers, Integers], Integers]:
        """Addresses of the reference run's functions: of those that correspond, with the failing run's; of the others.

        None where both runs are of one program, whose functions lie where they do.
        """
        nothing = np.zeros(0, np.int64)
        if self._correspondence is None:
            return (nothing, nothing), nothing
        mine, theirs = self.failing.function_addresses, self.reference.function_addresses
        numbers = np.flatnonzero(self._correspondence.functions >= 0)
        partners = self._correspondence.functions[numbers]
        both = (mine[numbers] >= 0) & (theirs[partners] >= 0)
        numbers, partners = numbers[both], partners[both]
        alone = np.setdiff1d(np.flatnonzero(theirs >= 0), partners)
        return (theirs[partners], mine[numbers]), theirs[alone]

    @cached_property
    def opaque(self) -> tuple[Integers, Integers, Integers]:
        """What calls of the library gave that is no object of the program, such as a FILE, at another address there.

        Three columns: the event of the failing run, in order, its address in the reference run and its own. What
        follows the data of a program lies pages away in another version. What is some bytes away differs, such as
        another character of a string that ``strchr`` found.
        """
        run = self.failing
        form = run.session.subject.alter_plan.sites["form"]
        events = np.flatnonzero((run.kinds == Kind.RESULT) & (run.sites >= 0) & (self.events >= 0))
        events = events[form[run.sites[events]] == Form.POINTER]
        (mine, known), (theirs, is_known) = run.trace.values(events), self.reference.trace.values(self.events[events])
        mine, theirs = mine.astype(np.int64), theirs.astype(np.int64)
        kept = known & is_known & (mine != theirs) & (mine != 0) & (theirs != 0) & ((mine - theirs) % PAGE == 0)
        return events[kept], theirs[kept], mine[kept]

    def _declared(self) -> tuple[Integers, Integers]:
        """For each object what the reference run's declarations call its static variable, and its local; or NONE."""
        declared = np.asarray(self.failing.objects["declared"], np.int64)
        if self._correspondence is None:
            return declared, declared
        versions = self._correspondence, self.failing.declarations, self.reference.declarations
        statics, locals_ = (np.append(matched(*versions), NONE) for matched in (matched_statics, matched_locals))
        return statics[np.minimum(declared, len(statics) - 1)], locals_[np.minimum(declared, len(locals_) - 1)]


def _keys(columns: Iterable[Integers], chosen: NDArray[np.intp]) -> list[tuple[int, ...]]:
    """What tells some objects: their elements of some columns."""
    return list(zip(*(column[chosen].tolist() for column in columns), strict=True))


def written(run: ComparedRun, stream: int, events: Integers) -> Integers:
    """How many bytes a run has written to a stream by each of some events."""
    outs = run.trace.columns.outs[: run.trace.columns.counts[N_OUT]]
    outs = outs[outs["stream"] == stream]
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(outs["length"], dtype=np.int64)])
    return np.asarray(totals[np.searchsorted(outs["event"], events, side="right")])


def common_segments(failing: ComparedRun, reference: ComparedRun) -> int:
    """How many segment instances both runs begin with: the same ones, with the same values.

    What is not recorded may differ from the first change of the reference run on, such as the order that ``qsort``
    makes; between two cases from the first that the library wrote to memory, such as a line of the input.
    """
    first, second = failing.trace, reference.trace
    count = min(first.segments, second.segments, _first_altered(reference))
    if failing.session is not reference.session:
        count = min(count, _first_written_by_library(failing))
    rows, others = first.columns.segments[:count], second.columns.segments[:count]
    differs = np.flatnonzero((rows["id"] != others["id"]) | (rows["word"] != others["word"]))
    count = int(differs[0]) if len(differs) else count
    if not count:
        return 0
    last = rows[count - 1]
    end = int(last["word"]) + int(first.plan.segments["units"][last["id"]])
    units = np.arange(HEADER_UNITS, end)
    units = units[(units - HEADER_UNITS) % CHUNK_UNITS >= CHUNK_HEADER_UNITS]
    other = np.flatnonzero(first.units[units] != second.units[units])
    if not len(other):
        return count
    return max(int(np.searchsorted(rows["word"][:count], units[other[0]], side="right")) - 1, 0)


def _first_altered(run: ComparedRun) -> int:
    """The first segment instance in which a change of a run is made; behind the last one where none is."""
    trace, every = run.trace, run.changes["clock"] == EVERY
    blocks = trace.plan.segments["block"][trace.columns.segments["id"][: trace.segments]]
    altered = np.isin(blocks, run.changes["block"][every])
    altered |= np.isin(trace.block_clock[: trace.segments], run.changes["clock"][~every])
    return int(np.argmax(altered)) if altered.any() else trace.segments


def _first_written_by_library(run: ComparedRun) -> int:
    """The first segment instance in which a library call writes to memory; behind the last one where none does."""
    written = run.writes.event[run.kinds[run.writes.event] == Kind.CALL]
    return int(run.trace.columns.events["segment"][written[0]]) if len(written) else run.trace.segments
