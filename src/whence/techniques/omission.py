"""Branches that may have kept something from happening: potential dependences, for statements.

A dynamic slice holds what happened. Where a branch went the wrong way and skipped an assignment, the old value
flowed on, and neither is in the slice. A branch of the run *potentially* matters when code that depends on it
could have stored into something that the slice reads. (The idea of relevant slicing: Gyimóthy, Beszédes and
Forgács 1999, here for whole places rather than for instances, and without following the branch's own dependences,
which keeps the answer short.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from whence.findings import Statement
from whence.probe.layout import NO_SLOT, Kind
from whence.program.cfg import control_dependence
from whence.program.model import Function, Instruction
from whence.subject.story import Story
from whence.trace.slicing import Slice

LOCAL = "local"
FAR = 1 << 30  # more than any depth
MEMBER = re.compile(r"getelementptr.* (%[\w.]+), ptr .*?, i32 \d+, i32 (\d+)")


def omitted(story: Story, found: Slice) -> dict[Statement, int]:
    """Statements of branches of the run that could have changed what the slice reads, with a depth.

    The depth is one more than that of the reading event nearest to the criterion.
    """
    trace = story.trace
    reads = _places_read(story, found)
    wanted: dict[Statement, int] = {}
    executed = story.executed_sites
    branches = executed[trace.plan.sites["kind"][executed] == Kind.BRANCH]
    stores = _Stores(story)
    for site in branches.tolist():
        number = int(story.statement_numbers[site])
        if number < 0:
            continue
        statement = story.statements[number]
        depths = [reads[place] + 1 for place in stores.behind(site) if place in reads]
        if depths and min(depths) < wanted.get(statement, FAR):
            wanted[statement] = min(depths)
    return wanted


def _places_read(story: Story, found: Slice) -> dict[Hashable, int]:
    """The places that loads in the slice read, each with the least depth of such a load."""
    events = found.events
    sites = story.sites(events)
    kinds = story.trace.plan.sites["kind"]
    least = np.full(len(kinds), FAR)
    np.minimum.at(least, sites, found.depth_of(events))
    places: dict[Hashable, int] = {}
    for site in np.flatnonzero((least < FAR) & (kinds == Kind.LOAD)).tolist():
        place = _place(story, site)
        if place is not None:
            places[place] = min(int(least[site]), places.get(place, FAR))
    return places


def _place(story: Story, site: int) -> Hashable | None:
    """What a load or store accesses, as far as its text tells: a local, a global, or a member of a structure type."""
    row = story.trace.plan.sites[site]
    ref = story.subject.program.function_of_instruction(int(row["instruction"]))
    if row["aux"] != NO_SLOT:
        return LOCAL, ref.id, int(row["aux"])
    instruction = story.subject.program.instruction(int(row["instruction"]))
    pointer = instruction.operands[-1].text
    if pointer.startswith("@"):
        return pointer
    return _member(ref.function, pointer)


def _member(function: Function, pointer: str) -> Hashable | None:
    definition = _definitions(function).get(pointer)
    if definition is None:
        return None
    if definition.opcode == "alloca":
        return LOCAL, function.name, pointer
    match = MEMBER.search(definition.text)
    return (match[1], match[2]) if match else None


def _definitions(function: Function) -> dict[str | None, Instruction]:
    return {i.result: i for b in function.blocks for i in b.instructions if i.result}


class _Stores:
    """The places that code behind a branch may store into, by itself or through the functions that it calls."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._own: dict[int, dict[int, set[Hashable]]] = {}  # by function and block: stored into there
        self._called: dict[int, dict[int, set[int]]] = {}  # by function and block: functions called there
        self._behind: dict[int, dict[int, set[Hashable]]] = {}
        self._all: dict[int, frozenset[Hashable]] = {}

    def behind(self, site: int) -> set[Hashable]:
        """Places stored into by blocks that depend, directly or not, on the branch at ``site``."""
        plan = self._story.trace.plan
        block = int(plan.segments[plan.sites[site]["segment"]]["block"])
        function = int(plan.blocks[block]["function"])
        if function not in self._behind:
            self._behind[function] = self._of_function(function)
        return self._behind[function].get(block - int(plan.functions[function]["block_start"]), set())

    def _of_function(self, number: int) -> dict[int, set[Hashable]]:
        """For each block of a function the places stored into behind its branch."""
        self._read(number)
        stored = {block: set(places) for block, places in self._own[number].items()}
        for block, callees in self._called[number].items():
            for callee in callees:
                stored.setdefault(block, set()).update(self._by_call(callee))
        return _spread(control_dependence(self._story.subject.program.functions[number].function), stored)

    def _by_call(self, number: int) -> frozenset[Hashable]:
        """Places that a call may store into, private locals left out: those of all functions reachable from it."""
        if number not in self._all:
            seen, pending, places = {number}, [number], set[Hashable]()
            while pending:
                function = pending.pop()
                self._read(function)
                places.update(p for own in self._own[function].values() for p in own if not _is_local(p))
                new = {c for called in self._called[function].values() for c in called} - seen
                seen |= new
                pending += new
            self._all[number] = frozenset(places)
        return self._all[number]

    def _read(self, number: int) -> None:
        """Note what one function's blocks store into and call."""
        if number in self._own:
            return
        plan, ref = self._story.trace.plan, self._story.subject.program.functions[number]
        own, called = defaultdict[int, set[Hashable]](set), defaultdict[int, set[int]](set)
        for segment in np.flatnonzero(plan.segments["function"][:-1] == number).tolist():
            block = int(plan.segments[segment]["block"]) - ref.first_block
            for site in range(plan.segments[segment]["site_start"], plan.segments[segment + 1]["site_start"]):
                row = plan.sites[site]
                if row["kind"] == Kind.STORE and (place := _place(self._story, site)) is not None:
                    own[block].add(place)
                elif row["kind"] == Kind.CALL and row["callee"] >= 0:
                    called[block].add(int(row["callee"]))
        self._own[number], self._called[number] = own, called


def _is_local(place: Hashable) -> bool:
    """Whether a place is a local of one function."""
    return isinstance(place, tuple) and place[0] == LOCAL


def _spread(controls: list[list[int]], stored: dict[int, set[Hashable]]) -> dict[int, set[Hashable]]:
    """What is stored behind each branch: in the blocks it controls, and behind their branches in turn."""
    behind: dict[int, set[Hashable]] = defaultdict(set)
    changed = True
    while changed:
        changed = False
        for block, parents in enumerate(controls):
            new = stored.get(block, set()) | behind[block]
            for parent in parents:
                if not new <= behind[parent]:
                    behind[parent] |= new
                    changed = True
    return behind
