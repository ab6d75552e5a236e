"""What each side of each branch of a program could write, by the program's text alone.

That is: the code that a side runs until both sides meet again, and the functions that are called there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

import numpy as np

from whence.dependence.places import Place, Places, is_local
from whence.probe.layout import Kind
from whence.probe.plan import ADDRESS, ENTRY, NO_CALLEE
from whence.program.cfg import immediate_post_dominators, successors
from whence.program.model import Function
from whence.program.program import FunctionRef
from whence.subject.subject import Subject

CALL = int(Kind.CALL)


class Written(Protocol):
    """What tells the places that a site may write."""

    def written(self, site: int) -> Places:
        """The places of one site (a site of ``Subject.plan``)."""
        ...


class Writes:
    """What each side of each branch of a program could write, by itself or through the functions that it calls.

    A set of places is a number here, with a bit for each of them: programs with pointers to functions have thousands of
    sides that may write thousands of places. ``pointers``: a call through a pointer may enter any function of its types
    whose address is taken; else none.
    """

    def __init__(self, subject: Subject, places: Written, pointers: bool = True) -> None:
        self._subject, self._plan, self._places = subject, subject.plan, places
        self._pointers = pointers
        self._bits: dict[Place, int] = {}
        self._locals = 0  # the bits of places that are local to a function
        self._own: dict[int, tuple[int, tuple[int, ...]]] = {}  # by block: places, and functions called
        self._by_call: dict[int, int] = {}
        self._regions: dict[int, Regions] = {}

    def set_of(self, places: Iterable[Place]) -> int:
        """Some places as a set."""
        found = 0
        for place in places:
            bit = self._bits.get(place)
            if bit is None:
                bit = self._bits[place] = 1 << len(self._bits)
                self._locals |= bit if is_local(place) else 0
            found |= bit
        return found

    def behind(self, branch: int, side: int) -> int:
        """What the code may write that runs when the branch of block ``branch`` goes to block ``side``: a set."""
        ref, regions = self._regions_at(branch)
        return self._of_blocks(ref, regions.of(branch - ref.first_block, side - ref.first_block))

    def around(self, branch: int) -> int:
        """What the code may write that the branch of block ``branch`` decides over, on any side or coming again."""
        ref, regions = self._regions_at(branch)
        return self._of_blocks(ref, regions.decided(branch - ref.first_block))

    def _of_blocks(self, ref: FunctionRef, blocks: Iterable[int]) -> int:
        """What some blocks of a function may write."""
        places = 0
        for block in blocks:
            own, called = self._of_block(ref.first_block + block)
            places |= own
            for callee in called:
                places |= self._of_call(callee)
        return places

    def _regions_at(self, block: int) -> tuple[FunctionRef, Regions]:
        """The function of a block, and its regions."""
        ref = self._subject.program.function_of_block(block)
        if ref.id not in self._regions:
            self._regions[ref.id] = Regions(ref.function)
        return ref, self._regions[ref.id]

    def _of_call(self, number: int) -> int:
        """What a call of a function may write: all that is not local to it, or to a function that it calls in turn."""
        if number not in self._by_call:
            called = self._reached(number)
            sets = {one: self._by_function(one) & ~self._locals for one in called}
            changed = True
            while changed:  # functions call each other in circles
                changed = False
                for one, inner in reversed(called.items()):
                    joined = sets[one]
                    for callee in inner:
                        joined |= sets[callee] if callee in sets else self._by_call[callee]
                    changed |= joined != sets[one]
                    sets[one] = joined
            self._by_call |= sets
        return self._by_call[number]

    def _reached(self, number: int) -> dict[int, set[int]]:
        """A function, and those that are called from there and not known yet, each with what it calls itself."""
        found: dict[int, set[int]] = {}
        pending = [number]
        while pending:
            one = pending.pop()
            if one not in found and one not in self._by_call:
                found[one] = {callee for block in self._blocks_of(one) for callee in self._of_block(block)[1]}
                pending += found[one]
        return found

    def _by_function(self, number: int) -> int:
        """What the blocks of a function write by themselves."""
        places = 0
        for block in self._blocks_of(number):
            places |= self._of_block(block)[0]
        return places

    def _blocks_of(self, number: int) -> range:
        ref = self._subject.program.functions[number]
        return range(ref.first_block, ref.first_block + len(ref.function.blocks))

    def _of_block(self, block: int) -> tuple[int, tuple[int, ...]]:
        """What a block writes by itself, and the functions of the program that it calls."""
        if block not in self._own:
            sites = self._sites_of(block)
            places = self.set_of(place for site in sites for place in self._places.written(site))
            calls = [site for site in sites if self._kinds[site] == CALL]
            self._own[block] = places, tuple(callee for site in calls for callee in self._callees(site))
        return self._own[block]

    def _callees(self, site: int) -> list[int]:
        """The program's functions that a call may enter; through a pointer those of its types that have an address."""
        row = self._plan.sites[site]
        if row["callee"] != NO_CALLEE:
            return [int(row["callee"])] if row["callee"] >= 0 else []
        call = self._subject.program.instruction(int(row["instruction"]))
        types = tuple(operand.type for operand in call.operands)
        is_indirect = self._pointers and (call.callee or "").startswith("%")
        return self._pointed_to.get(types, []) if is_indirect else []

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

    def _sites_of(self, block: int) -> range:
        return range(self._starts[block], self._starts[block + 1])

    @cached_property
    def _starts(self) -> list[int]:
        """The first site of each block of the program, and behind the last one the number of sites."""
        blocks = np.arange(self._subject.program.block_count + 1)
        segments = np.searchsorted(self._plan.segments["block"][:-1], blocks)
        starts: list[int] = self._plan.segments["site_start"][segments].tolist()
        return starts

    @cached_property
    def _kinds(self) -> list[int]:
        kinds: list[int] = self._plan.sites["kind"].tolist()
        return kinds


class Regions:
    """For the sides of a function's branches, the blocks that run until both sides meet again."""

    def __init__(self, function: Function) -> None:
        self._graph = successors(function)
        self._meets = immediate_post_dominators(self._graph)

    def decided(self, branch: int) -> set[int]:
        """The blocks that a branch may run on any of its sides, and its own where one of them leads there again."""
        found = set[int]().union(*(self.of(branch, side) for side in self._graph[branch]))
        again = any(branch in self._graph[block] for block in {branch, *found})
        return found | {branch} if again else found

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
