"""Which instances have the same effect when they are given the same value, so that one altered run tells of both.

An instance's *leader* is the earliest one with the same effect; following the value on its way, these are recognised:

- the store of a call's result that nothing else uses, and that result: ``x = f()``;
- the first load of a private local after its store, in the same block or the one that was executed next, and that
  store: ``x = ...; if (x)``, ``i++`` and the loop's test, a parameter and its first use. Changing a load overwrites the
  memory, so all later loads see the same. *Private* is a scalar whose address goes nowhere but into loads and stores;
- the return of a private local's value and the load that it comes from, since the local is gone then;
- a call's result and the return that it comes from, where the call names the function.

So the value that ``return x;`` gives is tried once, not at the return, the call's result and what that is stored to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import RETURNS_TWICE, is_probed_call, private_locals
from whence.probe.sites import Role
from whence.program.model import Block, Instruction
from whence.program.program import FunctionRef, Program

if TYPE_CHECKING:
    from whence.subject.subject import Subject

Integers = NDArray[np.int64]


@dataclass(slots=True)
class _Pairs:
    """Pairs of sites (leader, follower) whose instances lead one another, by where those stand."""

    same_block: list[tuple[int, int]]
    next_block: list[tuple[int, int]]


class Duplicates:
    """Finds the leaders of the instances of one subject's runs."""

    def __init__(self, subject: Subject) -> None:
        self._sites = subject.alter_plan.sites
        program = subject.program
        keys = zip(self._sites["instruction"].tolist(), map(Role, self._sites["role"].tolist()), strict=True)
        site_of = {key: site for site, key in enumerate(keys) if key[1] is not Role.ARGUMENT}
        found = _Pairs([], [])
        for ref in program.functions:
            _FunctionPairs(ref, site_of).find(found)
        self._same_block, self._next_block = found.same_block, found.next_block
        self._called = _called_functions(program, self._sites)

    def leaders(self, events: NDArray[np.void]) -> Integers:
        """For each event of a run (EVENT, in order of time) the index of its leader: its own where there is none."""
        found = np.arange(len(events), dtype=np.int64)
        self._lead_results(events, found)
        index = _Index(events)
        for first, second in self._same_block:
            index.lead(found, first, second, 0)
        for first, second in self._next_block:
            index.lead(found, first, second, 1)
        while not np.array_equal(further := found[found], found):
            found = further
        return found

    def _lead_results(self, events: NDArray[np.void], found: Integers) -> None:
        """A call's result follows the return right before it, if that is of the function that the call names."""
        role, function = self._sites["role"][events["site"]], self._sites["function"][events["site"]]
        called = self._called[events["site"]]
        returned = (role[:-1] == Role.RETURN) & (role[1:] == Role.RESULT) & (called[1:] == function[:-1])
        returned &= events["first"][1:] == 0  # else others may have been between the two
        (rows,) = np.nonzero(returned)
        found[rows + 1] = rows


class _Index:
    """The events of a run by clock and site."""

    def __init__(self, events: NDArray[np.void]) -> None:
        self._count = np.uint64(1 + int(events["site"].max(initial=0)))
        keys = events["clock"] * self._count + events["site"]
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._clock = events["clock"]
        by_site = np.argsort(events["site"], kind="stable")
        self._by_site = by_site
        self._starts = np.searchsorted(events["site"][by_site], np.arange(int(self._count) + 1))

    def lead(self, found: Integers, leader: int, follower: int, later: int) -> None:
        """Let events of a site lead those of another, ``later`` blocks behind."""
        if max(leader, follower) >= int(self._count):
            return
        events = self._by_site[self._starts[leader] : self._starts[leader + 1]]
        wanted = (self._clock[events] + np.uint64(later)) * self._count + np.uint64(follower)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        hits = np.flatnonzero(self._keys[places] == wanted)
        found[self._order[places[hits]]] = events[hits]


class _FunctionPairs:
    """Finds the pairs of sites of one function."""

    def __init__(self, ref: FunctionRef, site_of: dict[tuple[int, Role], int]) -> None:
        self._ref, self._site_of = ref, site_of
        instructions = ref.function.instructions()
        twice = any(i.callee in RETURNS_TWICE for i in instructions)
        self._private = {} if twice else private_locals(ref.function)
        self._uses = Counter(operand.text for i in instructions for operand in i.operands)

    def find(self, found: _Pairs) -> None:
        """Add the function's pairs."""
        walks = {block.label: _Walk() for block in self._ref.function.blocks}
        for block in self._ref.function.blocks:
            found.same_block += self._inside(block, walks[block.label])
        for block in self._ref.function.blocks:
            for following in block.successors:
                first = walks[following].first_loads
                stores = walks[block.label].last_stores
                found.next_block += [(store, first[local]) for local, store in stores.items() if local in first]

    def _inside(self, block: Block, walk: _Walk) -> Iterator[tuple[int, int]]:
        """The pairs within a block; ``walk`` learns what meets other blocks."""
        for instruction in block.instructions:
            if is_probed_call(instruction):
                walk.last_stores.clear()
                self._keep(walk, instruction, Role.RESULT)
            elif instruction.opcode == "load" and instruction.operands[0].text in self._private:
                local, site = instruction.operands[0].text, self._site(instruction, Role.LOAD)
                if local in walk.stores and site >= 0:
                    yield walk.stores[local], site
                walk.loaded(local, site)
                self._keep(walk, instruction, Role.LOAD)
            elif instruction.opcode in ("store", "ret") and instruction.operands:
                yield from self._used(walk, instruction)

    def _used(self, walk: _Walk, instruction: Instruction) -> Iterator[tuple[int, int]]:
        """The pair of a store or return with what made its value."""
        value, site = instruction.operands[0].text, self._site(instruction, Role.STORE, Role.RETURN)
        role = Role.RESULT if instruction.opcode == "store" else Role.LOAD
        maker, made = walk.made.get(value, (role, -1))
        if site >= 0 and made >= 0 and maker is role:
            yield made, site
        if instruction.opcode == "store" and instruction.operands[1].text in self._private:
            walk.stored(instruction.operands[1].text, site)

    def _keep(self, walk: _Walk, instruction: Instruction, role: Role) -> None:
        """Remember the site of a register that is used once."""
        site = self._site(instruction, role)
        if site >= 0 and instruction.result and self._uses[instruction.result] == 1:
            walk.made[instruction.result] = role, site

    def _site(self, instruction: Instruction, *roles: Role) -> int:
        """The site of an instruction in one of these roles; -1: none."""
        number = self._ref.first_instruction + instruction.index
        return max(self._site_of.get((number, role), -1) for role in roles)


class _Walk:
    """What is known of private locals and registers on the way through a block; sites of -1 are none."""

    def __init__(self) -> None:
        self.made: dict[str, tuple[Role, int]] = {}  # registers used once: the site whose value they hold
        self.stores: dict[str, int] = {}  # by local: the last store, not yet loaded
        self.last_stores: dict[str, int] = {}  # those without a call behind them
        self.first_loads: dict[str, int] = {}  # by local: the load that comes before all other accesses
        self._seen: set[str] = set()

    def loaded(self, local: str, site: int) -> None:
        """A load of a private local."""
        self.stores.pop(local, None)
        self.last_stores.pop(local, None)
        if local not in self._seen and site >= 0:
            self.first_loads[local] = site
        self._seen.add(local)

    def stored(self, local: str, site: int) -> None:
        """A store to a private local."""
        self._seen.add(local)
        if site >= 0:
            self.stores[local] = self.last_stores[local] = site
        else:
            self.loaded(local, site)


def _called_functions(program: Program, sites: NDArray[np.void]) -> Integers:
    """For each RESULT site the number of the function that its call names; -1: none, or another role."""
    found = np.full(len(sites), -1, np.int64)
    for site in np.flatnonzero(sites["role"] == Role.RESULT).tolist():
        number = int(sites[site]["instruction"])
        callee = program.instruction(number).callee or ""
        if callee.startswith("@"):
            called = program.resolve(program.function_of_instruction(number).module, callee[1:])
            found[site] = -1 if called is None else called
    return found
