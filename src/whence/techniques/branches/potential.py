"""What a branch may have kept from happening: potential dependences, as relevant slicing has them.

A read *potentially* depends on a branch instance when the side that was not taken could have written what was read, and
nothing else has written it in between. (Gyimóthy, Beszédes and Forgács, "An efficient relevant slicing method for
debugging", 1999.) What a side could write follows from the program's text alone: the code that it runs until both sides
meet again, and the functions called there. Which of these dependences are real, only an altered run tells
(``implicit``).

A *place* names what an access touches as far as its text tells: a variable, a member of a structure type, or anything
of a type that is reached through a pointer. Two accesses may touch the same when they have a place in common.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import NO_SLOT, Kind
from whence.probe.library import FUNCTIONS, LibraryFunction
from whence.program.cfg import immediate_post_dominators, successors
from whence.program.model import Function, Instruction, Operand
from whence.program.program import FunctionRef
from whence.subject.subject import Subject
from whence.techniques.branches.predicates import Predicates

Integers = NDArray[np.int64]
Place = Hashable
Places = frozenset[Place]

OUTPUT: Place = "output"  # what the run prints
COPIED: Place = "copied"  # a whole structure, of a type that the text does not tell
PART: Place = "part"  # a part of such a structure
CHARACTERS: Place = ("pointed", "i8")
FIRST_LIBRARY = -2  # a callee of -2 - n is library function n
LIBRARY = {f.number: f for f in reversed(FUNCTIONS.values())}
GLOBAL = re.compile(r'@("[^"]*"|[-\w$.]+)')
MEMBER = re.compile(r"getelementptr.* (%[\w.]+), ptr .*?, i32 \d+, i32 (\d+)")
NOTHING: Places = frozenset()
STEPS = 16  # address computations that are followed
USES_A_SITE = 20  # events of one site that are looked at, the nearest to the criterion
INSTANCES = 64  # of one side of a branch that are looked at for one read, the latest
FAR = 1 << 40  # more than any cost


class PlacesOf:
    """The places that the sites of one program read and write (sites of ``Subject.plan``)."""

    def __init__(self, subject: Subject) -> None:
        self._program, self._plan = subject.program, subject.plan
        self._definitions: dict[int, dict[str | None, Instruction]] = {}

    def read(self, site: int) -> Places:
        """What a load, a copy or a call of the library may read."""
        row, instruction, ref = self._at(site)
        if row["kind"] == Kind.LOAD:
            return self._loaded(row, instruction, ref)
        if row["kind"] == Kind.COPY:
            return frozenset({self._object(instruction.operands[1].text, ref) or COPIED, COPIED, PART})
        return self._of_arguments(instruction, ref)

    def written(self, site: int) -> Places:
        """What a store, a copy or a call of the library may write."""
        row, instruction, ref = self._at(site)
        if row["kind"] == Kind.STORE:
            return self._stored(row, instruction, ref)
        if row["kind"] in (Kind.COPY, Kind.SET):
            return frozenset({self._object(instruction.operands[0].text, ref) or COPIED, COPIED})
        if row["kind"] == Kind.CALL and row["callee"] <= FIRST_LIBRARY:
            return self._by_library(LIBRARY[int(FIRST_LIBRARY - row["callee"])], instruction, ref)
        return NOTHING

    def _at(self, site: int) -> tuple[np.void, Instruction, FunctionRef]:
        row = self._plan.sites[site]
        number = int(row["instruction"])
        return row, self._program.instruction(number), self._program.function_of_instruction(number)

    def _loaded(self, row: np.void, load: Instruction, ref: FunctionRef) -> Places:
        if row["aux"] != NO_SLOT:
            return frozenset({("private", ref.id, int(row["aux"]))})
        place = self._object(load.operands[0].text, ref)
        if place is None:
            return frozenset({("pointed", load.type), ("direct", load.type), COPIED})
        return frozenset(
            {place, ("pointed", load.type), *([] if _is_whole(place, load.operands[0].text) else [COPIED])}
        )

    def _stored(self, row: np.void, store: Instruction, ref: FunctionRef) -> Places:
        if row["aux"] != NO_SLOT:
            return frozenset({("private", ref.id, int(row["aux"]))})
        place = self._object(store.operands[1].text, ref)
        if place is None:
            return frozenset({("pointed", store.type), PART})
        return frozenset({place, ("direct", store.type), *([] if _is_whole(place, store.operands[1].text) else [PART])})

    def _by_library(self, known: LibraryFunction, call: Instruction, ref: FunctionRef) -> Places:
        """A call that is not pure may write what its arguments point to."""
        places = NOTHING if known.pure else self._of_arguments(call, ref)
        return places | {OUTPUT} if known.prints else places

    def _of_arguments(self, call: Instruction, ref: FunctionRef) -> Places:
        pointers = [o for o in call.operands if o.type == "ptr" and o.text != "null" and not _is_text(o)]
        return frozenset(self._object(o.text, ref) or CHARACTERS for o in pointers)

    def _object(self, pointer: str, ref: FunctionRef) -> Place | None:
        """The variable, or the member of a structure type, that a pointer points into; None: the text does not tell."""
        for _ in range(STEPS):
            if not pointer.startswith("%"):
                match = GLOBAL.search(pointer)
                return ("global", match[1]) if match else None
            definition = self._definitions_of(ref).get(pointer)
            if definition is None or definition.opcode not in {"alloca", "getelementptr", "bitcast"}:
                return None
            if definition.opcode == "alloca":
                return "local", ref.id, pointer
            if match := MEMBER.search(definition.text):
                return "member", match[1], match[2]
            pointer = definition.operands[0].text
        return None

    def _definitions_of(self, ref: FunctionRef) -> dict[str | None, Instruction]:
        if ref.id not in self._definitions:
            self._definitions[ref.id] = {i.result: i for i in ref.function.instructions() if i.result}
        return self._definitions[ref.id]


def _is_text(operand: Operand) -> bool:
    """Whether an argument is a string of the program's text, which nothing writes."""
    return operand.text.startswith("@.str")


class Writes:
    """What each side of each branch of a program could write, by itself or through the functions that it calls."""

    def __init__(self, subject: Subject, places: PlacesOf) -> None:
        self._subject, self._plan, self._places = subject, subject.plan, places
        self._own: dict[int, tuple[Places, tuple[int, ...]]] = {}  # by block: places, and functions called
        self._by_call: dict[int, Places] = {}
        self._regions: dict[int, _Regions] = {}

    def behind(self, branch: int, side: int) -> Places:
        """What the code may write that runs when the branch of block ``branch`` goes to block ``side``."""
        ref = self._subject.program.function_of_block(branch)
        if ref.id not in self._regions:
            self._regions[ref.id] = _Regions(ref.function)
        places: set[Place] = set()
        for block in self._regions[ref.id].of(branch - ref.first_block, side - ref.first_block):
            own, called = self._of_block(ref.first_block + block)
            places |= own
            for callee in called:
                places |= self._of_call(callee)
        return frozenset(places)

    def _of_call(self, number: int) -> Places:
        """What a call of a function may write: all that is not local to it, or to a function that it calls in turn."""
        if number not in self._by_call:
            seen, pending, places = {number}, [number], set[Place]()
            while pending:
                ref = self._subject.program.functions[pending.pop()]
                for block in range(ref.first_block, ref.first_block + len(ref.function.blocks)):
                    own, called = self._of_block(block)
                    places |= own
                    pending += set(called) - seen
                    seen |= set(called)
            self._by_call[number] = frozenset(p for p in places if not _is_local(p))
        return self._by_call[number]

    def _of_block(self, block: int) -> tuple[Places, tuple[int, ...]]:
        """What a block writes by itself, and the functions of the program that it calls."""
        if block not in self._own:
            sites = list(self._sites_of(block))
            places = frozenset(place for site in sites for place in self._places.written(site))
            callees = self._plan.sites["callee"][sites]
            calls = callees[self._plan.sites["kind"][sites] == Kind.CALL]
            self._own[block] = places, tuple(calls[calls >= 0].tolist())
        return self._own[block]

    def _sites_of(self, block: int) -> Iterator[int]:
        first, last = np.searchsorted(self._blocks, [block, block + 1])
        starts = self._plan.segments["site_start"]
        return iter(range(int(starts[first]), int(starts[last])))

    @cached_property
    def _blocks(self) -> NDArray[np.int32]:
        """The block of each static segment, ascending."""
        return np.ascontiguousarray(self._plan.segments["block"][:-1])


class _Regions:
    """For the sides of a function's branches, the blocks that run until both sides meet again."""

    def __init__(self, function: Function) -> None:
        self._graph = successors(function)
        self._meets = immediate_post_dominators(self._graph)

    def of(self, branch: int, side: int) -> set[int]:
        """The blocks that a branch may run when it goes to ``side``, up to where its sides meet, or to itself."""
        ends = {branch, self._meets[branch]}
        found: set[int] = set()
        pending = [side]
        while pending:
            block = pending.pop()
            if block not in ends and block not in found:
                found.add(block)
                pending += self._graph[block]
        return found


def _is_whole(place: Place, pointer: str) -> bool:
    """Whether a pointer points to a variable as a whole, not into an array or a structure."""
    return isinstance(place, tuple) and place[-1] == pointer.removeprefix("@")


def _is_local(place: Place) -> bool:
    """Whether a place is a variable of one function."""
    return isinstance(place, tuple) and place[0] in {"private", "local"}


# ---- Instances -------------------------------------------------------------------------------------------------------


class _Reads(NamedTuple):
    """Events of one site that read: when what each read was last written, how far it is from the criterion."""

    events: Integers
    since: Integers
    depths: Integers
    private: bool  # a private local, which only branches of the same frame can have kept from being written


class Candidates:
    """The alternatives of a run's branches on which its reads potentially depend."""

    def __init__(self, predicates: Predicates) -> None:
        story = predicates.story
        self._story, self._rows = story, predicates.rows
        self._places = PlacesOf(story.subject)
        self._groups = _groups(predicates.rows)
        writes = Writes(story.subject, self._places)
        self._behind: dict[Place, list[int]] = defaultdict(list)
        for number, group in enumerate(self._groups):
            first = predicates.rows[group[0]]
            branch = predicates.branches[int(first["branch"])]
            for place in writes.behind(branch.block, branch.sides[int(first["side"])].block):
                self._behind[place].append(number)

    def of(self, uses: Integers, since: Integers, depths: Integers, printed: int = -1) -> Integers:
        """Rows of the alternatives that could have changed what some events read, the most promising first.

        ``uses`` are events in order of time, ``since`` when what each read was last written (an event, -1: never),
        ``depths`` how far they are from the criterion. ``printed`` is an event that shows what was printed before.
        Nearness counts: of the read to the criterion, and of the branch instance to the read among its like.
        """
        cost = np.full(len(self._rows), FAR, np.int64)
        sites = self._story.trace.sites(uses)
        for site in np.unique(sites).tolist():
            here = np.flatnonzero(sites == site)
            here = here[np.argsort(depths[here], kind="stable")[:USES_A_SITE]]
            read = _Reads(uses[here], since[here], depths[here], self._story.trace.is_private(int(uses[here[0]])))
            for number in self._groups_of(self._places.read(site)):
                self._weigh(cost, self._groups[number], read)
        if printed >= 0:
            zero = np.zeros(1, np.int64)
            for number in self._groups_of({OUTPUT}):
                self._weigh(cost, self._groups[number], _Reads(zero + printed, zero - 1, zero, False))
        chosen = np.flatnonzero(cost < FAR)
        return chosen[np.lexsort((-self._rows["event"][chosen], cost[chosen]))]

    def _groups_of(self, places: Iterable[Place]) -> list[int]:
        """The groups of alternatives that may write any of some places."""
        return sorted({number for place in places for number in self._behind.get(place, ())})

    def _weigh(self, cost: Integers, group: Integers, read: _Reads) -> None:
        """Note the cost of a group's instances between what wrote and what read."""
        events = self._rows["event"][group]
        starts, ends = np.searchsorted(events, read.since + 1), np.searchsorted(events, read.events)
        for k in np.flatnonzero(starts < ends).tolist():
            near = group[max(starts[k], ends[k] - INSTANCES) : ends[k]]
            if read.private:
                near = near[self._frames(self._rows["event"][near]) == self._frames(read.events[k])]
            ranks = read.depths[k] + np.arange(len(near), 0, -1)
            cost[near] = np.minimum(cost[near], ranks)

    def _frames(self, events: Integers | np.int64) -> NDArray[np.int32]:
        columns = self._story.trace.columns
        return np.asarray(columns.segments["frame"][columns.events["segment"][events]])


def _groups(rows: NDArray[np.void]) -> list[Integers]:
    """Numbers of the rows of each side of each branch, in order of time."""
    keys = rows["branch"].astype(np.int64) << 16 | rows["side"]
    order = np.argsort(keys, kind="stable")
    if not len(order):
        return []
    starts = np.flatnonzero(np.diff(keys[order])) + 1
    return np.split(order, starts)
