"""One of the two runs that are compared: its trace, its objects and writes, and how a continuation gets to its points.

The *state after an event* is what the run finds when it comes to its next site, the event's *moment*. What a branch
tests and what a call gave lie in a register then, and are changed at the event's own site.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Flag, Op
from whence.alter.path import Path
from whence.build.static_data import places_of_functions
from whence.probe.instrument import Variant
from whence.probe.layout import NO_SLOT, Kind
from whence.probe.sites import Role
from whence.subject.live_objects import RunObjects
from whence.subject.memory_check import Checked
from whence.techniques.chains.continuations import Continuations
from whence.techniques.chains.registers import parameters
from whence.techniques.chains.variadic import VariadicArguments
from whence.trace.columns import N_FRAME
from whence.trace.touched import first_addresses, touched
from whence.trace.trace import Trace
from whence.trace.writers import Writers

Integers = NDArray[np.int64]
OWN = (Kind.BRANCH, Kind.RESULT)  # events whose value is in a register at their own site
ROLES = (
    (Kind.LOAD, Role.LOAD),
    (Kind.STORE, Role.STORE),
    (Kind.BRANCH, Role.BRANCH),
    (Kind.BRANCH, Role.SWITCH),
    (Kind.RESULT, Role.RESULT),
    (Kind.ARG, Role.ARGUMENT),
    (Kind.RET, Role.RETURN),
)
NO_SITE = -1
POKED = 8  # bytes
NEAR = 1 << 10  # events that are looked at together


class Moment(NamedTuple):
    """Where a continuation can look at a state: the site at which the run is, and its block's clock.

    ``now`` is the clock then: it has gone on where the site stands behind a call.
    """

    clock: int
    site: int
    now: int


class ComparedRun:
    """A recorded run of a session's case with ``changes`` (CHANGE; empty: as it is), recorded in the REPLAY variant.

    ``continuations`` are those of the session, be they of this run or of another one that was recorded with it.
    ``writes`` are its stores, what library calls wrote and what variadic functions were given, ``reads`` what loads and
    library calls read, in order of time.
    """

    def __init__(self, continuations: Continuations, trace: Trace, checked: Checked, changes: NDArray[np.void]) -> None:
        self.continuations, self.session = continuations, continuations.session
        self.trace, self.changes = trace, changes
        session = self.session
        self.checked = checked
        self.objects: Any = checked.table
        self.variables = RunObjects(session.subject, trace, Variant.REPLAY, checked)
        self.declarations = checked.declarations
        accesses = touched(trace)
        self._variadic = VariadicArguments(trace)
        self.writes = self._variadic.among(accesses.where(accesses.writes))
        self.reads = accesses.where(~accesses.writes)
        self.writers = Writers(self.writes)
        self.path = Path(trace)
        self._plan = session.subject.alter_plan

    # ---- Moments -----------------------------------------------------------------------------------------------------

    @cached_property
    def _site_of(self) -> Integers:
        """For each site of the trace's plan that of the alter plan, NO_SITE where there is none."""
        rows, sites = self._plan.sites, self.trace.plan.sites
        keys = _key(rows["instruction"], rows["role"], rows["operand"])
        order = np.argsort(keys)
        found = np.full(len(sites), NO_SITE, np.int64)
        for kind, role in ROLES:
            chosen = np.flatnonzero(sites["kind"][:-1] == kind)
            operands = sites["aux"][chosen] if kind is Kind.ARG else np.full(len(chosen), -1)
            wanted = _key(sites["instruction"][chosen], role, operands)
            places = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
            is_there = keys[order][places] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
            found[chosen[is_there]] = order[places[is_there]]
        return found

    @cached_property
    def _trace_sites(self) -> NDArray[np.int32]:
        return self.trace.every_site()

    @cached_property
    def sites(self) -> NDArray[np.int32]:
        """For each event the site of the alter plan, NO_SITE where it has none."""
        return np.asarray(self._site_of.astype(np.int32)[self._trace_sites])

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """For each event its ``Kind``."""
        return np.asarray(self.trace.plan.sites["kind"].astype(np.int8)[self._trace_sites])

    @cached_property
    def _next_with_site(self) -> NDArray[np.int32]:
        return _next(self.sites >= 0)

    def seen_before(self, event: int) -> int:
        """The last event with a site before an event; -1: none."""
        for end in range(event, 0, -NEAR):
            start = max(end - NEAR, 0)
            found = np.flatnonzero(self.sites[start:end] >= 0)
            if len(found):
                return start + int(found[-1])
        return NO_SITE

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """For each event whether its value is in a register at its moment."""
        sites = self.trace.plan.sites
        return np.asarray((np.isin(sites["kind"], OWN) & (self._site_of >= 0))[self._trace_sites])

    @cached_property
    def seen(self) -> NDArray[np.int32]:
        """For each event that at whose site the state after it is looked at; -1: the run ends before."""
        behind = np.arange(1, self.trace.events + 1, dtype=np.int32)
        calls = np.flatnonzero(self.kinds == Kind.CALL)
        behind[calls] = self._behind_calls(calls)
        own = np.flatnonzero(self.own)
        behind[own] = own
        found = np.append(self._next_with_site, np.int32(-1))[behind]
        found[found == self.trace.events] = -1
        return np.asarray(found)

    def is_seen(self, events: Integers) -> NDArray[np.bool_]:
        """Whether the state after each of some events can be looked at: before the run ends, or goes on with memory.

        As with the copy of a structure right behind a store, or its load to be given back, at which no continuation
        can stop. Nor is what a block does behind the second return of setjmp.
        """
        goes_on = (self.kinds == Kind.LOAD) & (self.sites < 0)
        goes_on[self.writes.event] = True
        seen = self.seen[events]
        segments = self.trace.columns.events["segment"][seen]
        return np.asarray((seen >= 0) & (_next(goes_on)[events + 1] >= seen) & ~self._comes_again[segments], np.bool_)

    @cached_property
    def _comes_again(self) -> NDArray[np.bool_]:
        """For each segment whether its block goes on there once more, behind a setjmp that returns once more.

        A continuation looks at a block's sites where it comes to them first.
        """
        previous = self.trace.columns.segments["previous"][: self.trace.segments]
        later = np.flatnonzero(previous >= 0)
        _, firsts = np.unique(previous[later], return_index=True)
        again = np.zeros(len(previous), np.bool_)
        again[np.delete(later, firsts)] = True
        for segment in later[np.isin(self.trace.block_clock[later], self.trace.block_clock[again])].tolist():
            again[segment] |= again[previous[segment]]
        return again

    def _behind_calls(self, calls: Integers) -> Integers:
        """The first event behind each call, and behind what a library function has called back; -1: none."""
        rows = self.trace.columns.segments[: self.trace.segments]
        behind = np.full(self.trace.segments, -1, np.int64)
        later = np.flatnonzero(rows["previous"] >= 0)[::-1]
        behind[rows["previous"][later]] = later  # the first one stays
        segments = behind[self.trace.columns.events["segment"][calls]]
        return np.where(segments >= 0, rows["event"][segments], -1)

    def moment(self, event: int) -> Moment | None:
        """The moment of the state after an event; None where the run ends before it comes to another site."""
        at = int(self.seen[event])
        return self.moment_of(at) if at >= 0 else None

    def moment_of(self, event: int) -> Moment:
        """Where an event's own site is reached."""
        trace, segment = self.trace, int(self.trace.columns.events["segment"][event])
        return Moment(int(trace.block_clock[segment]), int(self.sites[event]), int(trace.segment_clock[segment]))

    def definition(self, event: int) -> int:
        """What gave an event's value: of a load that which had been stored, where one event did; else the event.

        An argument is known by the parameter that it became.
        """
        if event >= 0 and self.kinds[event] == Kind.ARG:
            return self._parameter(event)
        if event < 0 or self.kinds[event] != Kind.LOAD:
            return event
        reference = int(self.trace.columns.events["definition"][event])
        return reference - 1 if reference > 0 else event

    def _parameter(self, argument: int) -> int:
        entry = int(self.trace.columns.events["segment"][argument]) + 1
        stored = dict(parameters(self.trace, entry)) if entry < self.trace.segments else {}
        return stored.get(argument, argument)

    # ---- Changes -----------------------------------------------------------------------------------------------------

    def change(self, moment: Moment, op: Op, value: int = 0, address: int = 0, size: int = 0) -> NDArray[np.void]:
        """One change at a moment (CHANGE, of length 1)."""
        made = np.zeros(1, CHANGE)
        row = self._plan.sites[moment.site]
        made["clock"], made["site"], made["block"], made["op"] = moment.clock, moment.site, row["block"], op
        made["width"], made["form"], made["value"] = row["width"], row["form"], value
        made["address"], made["size"] = address, size
        if op is Op.POKE and row["role"] == Role.LOAD:
            made["flags"] = Flag.RELOAD
        return made

    def readings(self, moment: Moment, addresses: Integers, lengths: Integers) -> NDArray[np.void]:
        """Changes (CHANGE) that read some ranges of memory at a moment."""
        made = np.repeat(self.change(moment, Op.READ), len(addresses))
        made["address"], made["value"] = addresses, lengths
        return made

    def pokes(self, moment: Moment, address: int, data: bytes) -> NDArray[np.void]:
        """Changes (CHANGE) that write bytes to memory at a moment."""
        parts = [data[start : start + POKED] for start in range(0, len(data), POKED)]
        made = np.repeat(self.change(moment, Op.POKE), len(parts))
        made["address"] = address + POKED * np.arange(len(parts))
        made["size"] = [len(part) for part in parts]
        made["value"] = [int.from_bytes(part, "little") for part in parts]
        return made

    # ---- Objects -----------------------------------------------------------------------------------------------------

    @cached_property
    def function_addresses(self) -> Integers:
        """For each function of the program its address; -1 where it is not known."""
        subject = self.session.subject
        found = np.full(len(subject.program.functions), -1, np.int64)
        places = places_of_functions(subject.variant(Variant.REPLAY))
        called = self.variables.functions
        shift = next((address - places[name] for address, name in called.items() if name in places), None)
        if shift is None:
            return found
        for function in subject.program.functions:
            if function.name in places:
                found[function.id] = places[function.name] + shift
        return found

    def scalars(self, frame: int) -> dict[str, tuple[int, int]]:
        """The locals of a frame to which no pointer goes, by name, and its variadic arguments: address and size.

        They are not among the objects.
        """
        starts, addresses, sizes = self._scalars
        layout = self.session.subject.numbering.layouts[int(self.trace.columns.frames["function"][frame])]
        rows = ((name, int(starts[frame]) + slot) for name, slot in layout.slots.items())
        found = {name: (int(addresses[row]), int(sizes[row])) for name, row in rows if addresses[row]}
        return found | self._variadic.of(frame)

    @cached_property
    def _scalars(self) -> tuple[Integers, Integers, NDArray[np.int32]]:
        """Where each frame's own begin among those of all frames; of each its address, 0: not known, and its size."""
        trace, plan = self.trace, self.session.subject.plan
        functions = trace.columns.frames["function"][: trace.columns.counts[N_FRAME]]
        starts = np.concatenate([[0], np.cumsum(plan.functions["slots"][functions], dtype=np.int64)])
        addresses, sizes = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int32)
        slots = np.where(plan.accesses["kind"] <= Kind.STORE, plan.accesses["slot"], NO_SLOT).astype(np.int32)
        segments = trace.columns.segments[: trace.segments]
        first_addresses(trace.units, segments, trace.plan, slots, starts, addresses, sizes)
        return starts, addresses, sizes

    def open_frames(self, event: int) -> Iterator[int]:
        """The frames that are open after an event, the innermost first."""
        rows, frames = self.trace.columns.segments, self.trace.columns.frames
        segment = int(self.trace.columns.events["segment"][event])
        while segment >= 0:
            frame = int(rows["frame"][segment])
            yield frame
            segment = int(frames["call"][frame])

    def living(self, event: int) -> Integers:
        """The numbers of the objects that live after an event."""
        rows = self.objects
        return np.flatnonzero(
            (rows["kind"] > 0)
            & (rows["base"] > 0)
            & (rows["parent"] == 0)
            & (rows["birth"] <= event)
            & ((rows["death"] == 0) | (rows["death"] > event + 1))
        )


def _next(marked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each element, and for the end, the first marked one from there on; their number where there is none."""
    places = np.arange(len(marked) + 1, dtype=np.int32)
    places[:-1][~marked] = len(marked)
    return np.asarray(np.minimum.accumulate(places[::-1])[::-1])


def _key(instructions: Any, role: Any, operands: Any) -> Integers:
    """One number for each instruction's role and operand."""
    return np.asarray((instructions.astype(np.int64) << 32) + (np.int64(1) * role << 24) + operands, np.int64)
