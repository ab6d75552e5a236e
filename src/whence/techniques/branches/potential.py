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
from numba import njit
from numpy.typing import NDArray

from whence.probe.layout import NO_SLOT, Kind
from whence.probe.library import FUNCTIONS, LibraryFunction
from whence.probe.plan import ADDRESS, ENTRY, NO_CALLEE
from whence.program.cfg import immediate_post_dominators, successors
from whence.program.model import Function, Instruction, Operand
from whence.program.program import FunctionRef
from whence.subject.subject import Subject
from whence.techniques.branches.predicates import Predicates
from whence.trace.kernels import lean

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
ANY_FRAME = -1


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
            calls = [site for site in sites if self._plan.sites[site]["kind"] == Kind.CALL]
            self._own[block] = places, tuple(callee for site in calls for callee in self._callees(site))
        return self._own[block]

    def _callees(self, site: int) -> list[int]:
        """The program's functions that a call may enter; through a pointer those of its types that have an address."""
        row = self._plan.sites[site]
        if row["callee"] != NO_CALLEE:
            return [int(row["callee"])] if row["callee"] >= 0 else []
        call = self._subject.program.instruction(int(row["instruction"]))
        types = tuple(operand.type for operand in call.operands)
        return self._pointed_to.get(types, []) if (call.callee or "").startswith("%") else []

    @cached_property
    def _pointed_to(self) -> dict[tuple[str, ...], list[int]]:
        """The functions whose address is taken, by the types of their parameters."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        segments = self._plan.segments[:-1]
        flags = ENTRY | ADDRESS
        for number in segments["function"][segments["flags"] & flags == flags].tolist():
            parameters = self._subject.program.functions[number].function.parameters
            found[tuple(parameter.type for parameter in parameters)].append(number)
        return found

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


class _Rows(NamedTuple):
    """The alternatives by side and branch, in order of time: the row of each, its event and that event's frame.

    Those of group n stand from ``starts[n]`` to ``starts[n + 1]``.
    """

    numbers: Integers
    events: Integers
    frames: Integers
    starts: Integers


class _Reads(NamedTuple):
    """Events of one site that read: when what each read was last written, how far it is from the criterion.

    ``frames`` are those of private locals, which only branches of the same frame can have kept from being written; else
    ANY_FRAME.
    """

    events: Integers
    since: Integers
    depths: Integers
    frames: Integers


class Candidates:
    """The alternatives of a run's branches on which its reads potentially depend."""

    def __init__(self, predicates: Predicates) -> None:
        story = predicates.story
        self._story, self._rows = story, predicates.rows
        self._places = PlacesOf(story.subject)
        self._groups = self._grouped(predicates.rows)
        self._by_site: dict[int, Integers] = {}
        writes = Writes(story.subject, self._places)
        self._behind: dict[Place, list[int]] = defaultdict(list)
        for number, start in enumerate(self._groups.starts[:-1].tolist()):
            first = predicates.rows[self._groups.numbers[start]]
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
        order = np.lexsort((depths, sites))
        for here in np.split(order, np.flatnonzero(np.diff(sites[order])) + 1) if len(order) else ():
            here = here[:USES_A_SITE]
            groups = self._groups_at(int(sites[here[0]]))
            if len(groups):
                private = self._story.trace.is_private(int(uses[here[0]]))
                frames = self._frames(uses[here]) if private else np.full(len(here), ANY_FRAME)
                _weigh(cost, self._groups, groups, _Reads(uses[here], since[here], depths[here], frames))
        if printed >= 0:
            zero = np.zeros(1, np.int64)
            read = _Reads(zero + printed, zero - 1, zero, zero + ANY_FRAME)
            _weigh(cost, self._groups, self._groups_of({OUTPUT}), read)
        chosen = np.flatnonzero(cost < FAR)
        return chosen[np.lexsort((-self._rows["event"][chosen], cost[chosen]))]

    def _groups_at(self, site: int) -> Integers:
        """The groups of alternatives that may write what a site reads."""
        if site not in self._by_site:
            self._by_site[site] = self._groups_of(self._places.read(site))
        return self._by_site[site]

    def _groups_of(self, places: Iterable[Place]) -> Integers:
        """The groups of alternatives that may write any of some places."""
        return np.array(sorted({number for place in places for number in self._behind.get(place, ())}), np.int64)

    def _frames(self, events: Integers) -> Integers:
        columns = self._story.trace.columns
        return np.asarray(columns.segments["frame"][columns.events["segment"][events]], np.int64)

    def _grouped(self, rows: NDArray[np.void]) -> _Rows:
        keys = rows["branch"].astype(np.int64) << 16 | rows["side"]
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        events = rows["event"][order].astype(np.int64)
        return _Rows(order, events, self._frames(events), np.append(starts, len(order)))


@lean
def _weigh(cost: Integers, rows: _Rows, groups: Integers, reads: _Reads) -> None:
    """Note the cost of the groups' instances between what wrote and what read, the latest ones of each group."""
    for group in groups:
        first, end = rows.starts[group], rows.starts[group + 1]
        for k in range(len(reads.events)):
            low = _position(rows.events, first, end, reads.since[k] + 1)
            high = _position(rows.events, first, end, reads.events[k])
            rank = 0
            for place in range(high - 1, max(low, high - INSTANCES) - 1, -1):
                if reads.frames[k] == ANY_FRAME or rows.frames[place] == reads.frames[k]:
                    rank += 1
                    row = rows.numbers[place]
                    cost[row] = min(cost[row], reads.depths[k] + rank)


@njit(inline="always")
def _position(events: Integers, low: int, high: int, event: int) -> int:
    """Where an event belongs among ascending ones, before those equal to it."""
    while low < high:
        middle = (low + high) // 2
        if events[middle] < event:
            low = middle + 1
        else:
            high = middle
    return low
