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
from whence.alter.session import Session
from whence.probe.layout import NO_SLOT, Kind
from whence.probe.sites import Role
from whence.subject.memory_check import Checked
from whence.techniques.chains.registers import parameters
from whence.trace.accesses import Accesses
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
OWN = (Kind.BRANCH, Kind.RESULT)  # events whose value is in a register at their own site
ROLES = {
    Kind.LOAD: (Role.LOAD,),
    Kind.STORE: (Role.STORE,),
    Kind.BRANCH: (Role.BRANCH, Role.SWITCH),
    Kind.RESULT: (Role.RESULT,),
    Kind.ARG: (Role.ARGUMENT,),
    Kind.RET: (Role.RETURN,),
}
NO_SITE = -1
POKED = 8  # bytes


class Moment(NamedTuple):
    """Where a continuation can look at a state: the site at which the run is, and its block's clock.

    ``now`` is the clock then: it has gone on where the site stands behind a call.
    """

    clock: int
    site: int
    now: int


class ComparedRun:
    """A recorded run of a session's case with ``changes`` (CHANGE; empty: as it is), recorded in the REPLAY variant.

    ``writes`` are its stores and what library calls wrote, ``reads`` what they and loads read (ACCESS records), in
    order of time.
    """

    def __init__(self, session: Session, trace: Trace, checked: Checked, changes: NDArray[np.void]) -> None:
        self.session, self.trace, self.changes = session, trace, changes
        self.objects: Any = checked.table
        self.declarations = checked.declarations
        table = Accesses(trace, ()).table
        self.writes: Any = table[table["writes"]]
        self.reads: Any = table[~table["writes"]]
        self.path = Path(trace)
        self._plan = session.subject.alter_plan

    # ---- Moments -----------------------------------------------------------------------------------------------------

    @cached_property
    def _site_of(self) -> Integers:
        """For each site of the trace's plan that of the alter plan, NO_SITE where there is none."""
        rows = self._plan.sites
        numbers = {
            (instruction, role, operand): site
            for site, (instruction, role, operand) in enumerate(
                zip(rows["instruction"].tolist(), rows["role"].tolist(), rows["operand"].tolist(), strict=True)
            )
        }
        found = np.full(len(self.trace.plan.sites), NO_SITE, np.int64)
        for site, row in enumerate(self.trace.plan.sites[:-1]):
            operand = int(row["aux"]) if row["kind"] == Kind.ARG else -1
            for role in ROLES.get(Kind(int(row["kind"])), ()):
                found[site] = max(found[site], numbers.get((int(row["instruction"]), int(role), operand), NO_SITE))
        return found

    @cached_property
    def sites(self) -> Integers:
        """For each event the site of the alter plan, NO_SITE where it has none."""
        return np.asarray(self._site_of[self.trace.sites(np.arange(self.trace.events))])

    @cached_property
    def kinds(self) -> NDArray[np.int32]:
        """For each event its ``Kind``."""
        return np.asarray(self.trace.plan.sites["kind"][self.trace.sites(np.arange(self.trace.events))])

    @cached_property
    def _with_site(self) -> Integers:
        return np.flatnonzero(self.sites >= 0)

    def seen_before(self, event: int) -> int:
        """The last event with a site before an event; -1: none."""
        place = int(np.searchsorted(self._with_site, event))
        return int(self._with_site[place - 1]) if place else -1

    def is_own(self, event: int) -> bool:
        """Whether the event's value is in a register at its moment."""
        return Kind(int(self.kinds[event])) in OWN and int(self.sites[event]) >= 0

    def seen_at(self, event: int) -> int:
        """The event at whose site the state after ``event`` is looked at; -1: the run ends before."""
        if self.is_own(event):
            return event
        behind = self._behind_call(event) if self.kinds[event] == Kind.CALL else event + 1
        place = int(np.searchsorted(self._with_site, behind))
        return int(self._with_site[place]) if behind >= 0 and place < len(self._with_site) else -1

    def _behind_call(self, call: int) -> int:
        """The first event behind a call, and behind what a library function has called back; -1: it did not return."""
        rows = self.trace.columns.segments[: self.trace.segments]
        segment = int(self.trace.columns.events["segment"][call])
        found = np.flatnonzero(rows["previous"][segment + 1 :] == segment)
        return int(rows["event"][segment + 1 + int(found[0])]) if len(found) else -1

    def moment(self, event: int) -> Moment | None:
        """The moment of the state after an event; None where the run ends before it comes to another site."""
        at = self.seen_at(event)
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

    def pokes(self, moment: Moment, address: int, data: bytes) -> list[NDArray[np.void]]:
        """Changes that write bytes to memory at a moment."""
        return [
            self.change(moment, Op.POKE, int.from_bytes(part, "little"), address + start, len(part))
            for start in range(0, len(data), POKED)
            for part in [data[start : start + POKED]]
        ]

    # ---- Objects -----------------------------------------------------------------------------------------------------

    @cached_property
    def scalars(self) -> dict[int, dict[str, tuple[int, int]]]:
        """By frame the locals to which no pointer goes, by name: address and size. They are not among the objects."""
        trace, layouts = self.trace, self.session.subject.numbering.layouts
        sites = self.session.subject.plan.sites[trace.sites(np.arange(trace.events))]
        chosen = np.flatnonzero((sites["kind"] <= Kind.STORE) & (sites["aux"] != NO_SLOT))
        segments = trace.columns.segments[trace.columns.events["segment"][chosen]]
        keys = segments["frame"].astype(np.int64) << 32 | sites["aux"][chosen]
        _, first = np.unique(keys, return_index=True)
        found: dict[int, dict[str, tuple[int, int]]] = {}
        for event, frame in zip(chosen[first].tolist(), segments["frame"][first].tolist(), strict=True):
            slots = layouts[int(trace.columns.frames["function"][frame])].slots
            name = next(name for name, slot in slots.items() if slot == sites["aux"][event])
            if address := trace.address(event):
                found.setdefault(frame, {})[name] = (address, int(sites["size"][event]))
        return found

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
