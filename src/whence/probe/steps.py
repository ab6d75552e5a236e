"""What a pass over a trace has to do of each segment, where no value is undefined: fewer steps than there are events.

Most events need none: a number is no pointer, a scalar variable is accessed within its bounds wherever its name stands.
A step says what is to be done, with all that the plan and the tables of sources tell about it in one row.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np

from whence.probe.layout import NO_SLOT, Kind
from whence.probe.plan import Plan

WORD, WORD_UNITS = 8, 2  # bytes and units of a pointer
FREES = 16  # of a library function's traits: its first argument is a block to give back


class Source(IntEnum):
    """What a pointer comes from."""

    NONE = 0  # not known
    SITE = 1  # the event of a site in the same frame
    PARAMETER = 2
    LOCAL = 3  # a local of the frame, or its copy of a structure argument
    STATIC = 4  # a variable or constant of the program
    EITHER = 5  # one of two sources, which its value tells


class Op(IntEnum):
    """What a step does."""

    KEEPS = 1  # the event's value has the object of its source
    LOADS = 2  # from memory
    LOADS_INSIDE = 3  # at an address that needs no check
    STORES = 4
    LOADS_PRIVATE = 5
    RETURNED = 6  # the result of a call
    OTHER = 7  # whatever else


STEP = np.dtype(
    [
        (name, np.int32)
        for name in (
            *("op", "place", "site", "unit", "size", "carries"),
            *("kind", "target", "outer", "home", "delta"),  # of the address, or of the one value
            *("value", "value_target", "value_outer", "value_home", "value_delta"),
        )
    ]
)
_ADDRESS, _VALUE = ("address", "address_target", "address_outer"), ("value", "value_target", "value_outer")
_MEMBERS = ("address_member", "second_member", "value_member", "part")
_NOWHERE = (int(Source.NONE), -1, 0, 0, 0)


def steps_of(plan: Plan, sources: Any, traits: Any, allocators: Any) -> tuple[Any, Any]:
    """The steps of all segments, and where those of each begin; the tables are as ``Sources`` has them."""
    rows: list[tuple[int, ...]] = []
    starts = [0]
    ends = plan.segments["site_start"].tolist()
    sites, sources_of = plan.sites.tolist(), sources.tolist()
    names = {name: n for n, name in enumerate(sources.dtype.names)}
    for first, end in pairwise(ends):
        for site in range(first, end):
            steps = _Site(plan, sites[site], {name: sources_of[site][n] for name, n in names.items()}, traits)
            row = steps.row(site, site - first, has_phis=sources_of[site + 1][names["phi_start"]])
            if row and row[0] == Op.RETURNED and _is_of_allocator(plan, site, allocators):
                row = (int(Op.OTHER), *row[1:])
            rows += [row] if row else []
        starts.append(len(rows))
    return np.array(rows or [(0,) * len(STEP.names or ())], STEP), np.array(starts, np.int32)


def _is_of_allocator(plan: Plan, result: int, allocators: Any) -> bool:
    """Whether a result is that of the function before it, which is an allocator."""
    callee = int(plan.sites[result - 1]["callee"]) if result else -1
    return callee >= 0 and bool(allocators[callee]["is_one"])


class _Site:
    """The step of one site."""

    def __init__(self, plan: Plan, site: tuple[int, ...], source: dict[str, int], traits: Any) -> None:
        self._plan, self._source, self._traits = plan, source, traits
        self.kind, self.unit, self.units, self.size, self.aux, self.callee, *_ = site

    def row(self, site: int, place: int, has_phis: int) -> tuple[int, ...] | None:
        """Its row of the table; None: there is nothing to do."""
        op = self._op(has_phis > self._source["phi_start"])
        if op is None:
            return None
        carries = self._source["carries"] and (self.units == 2 * WORD_UNITS or op is Op.LOADS_PRIVATE)
        address = self._place(_VALUE) if op is Op.KEEPS else self._place(_ADDRESS)
        value = self._place(_VALUE) if op is Op.STORES and self.size == WORD else _NOWHERE
        return int(op), place, site, self.unit, self.size, int(carries), *address, *value

    def _op(self, has_phis: bool) -> Op | None:
        kind, value = Kind(self.kind), self._source["value"]
        if any(self._source[name] for name in _MEMBERS):
            return Op.OTHER
        if kind is Kind.LOAD:
            inside = Op.LOADS_INSIDE if self._source["inside"] else Op.LOADS
            return Op.LOADS_PRIVATE if self.aux != NO_SLOT else inside
        if kind is Kind.STORE and self.aux == NO_SLOT:
            plain = value != Source.EITHER and not self._source["inside"]
            if plain:
                return Op.STORES if self._source["address"] or value else None
            return (Op.OTHER if value == Source.EITHER else Op.KEEPS) if value else None
        if kind in {Kind.STORE, Kind.ARG, Kind.RET}:
            return (Op.OTHER if value == Source.EITHER else Op.KEEPS) if value else None
        if kind is Kind.RESULT:
            return Op.RETURNED
        if kind is Kind.CALL:
            number = -2 - self.callee
            return Op.OTHER if number >= 0 and self._traits[number] & FREES else None
        if kind is Kind.PHI:
            return Op.OTHER if has_phis else None
        return None if kind in {Kind.BRANCH, Kind.VASTART} else Op.OTHER

    def _place(self, names: tuple[str, str, str]) -> tuple[int, int, int, int, int]:
        """A source: its kind, its target and outer block, and for a site its segment and its place there."""
        kind, target, outer = (self._source[name] for name in names)
        if kind != Source.SITE:
            return kind, target, outer, 0, 0
        home = int(self._plan.sites[target]["segment"])
        return kind, target, outer, home, target - int(self._plan.segments[home]["site_start"])
