"""Segments and sites of two versions of a program that correspond, by their plans.

Where one version has a branch or a call that the other does not have, a segment of the one is several of the other. So
segments are cut into *pieces*: what a segment of the first version and one of the second have in common.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.probe.plan import Plan
from whence.probe.sites import AlterPlan
from whence.program.correspondence import NONE, Correspondence, blocks_of
from whence.program.joined import Joined
from whence.program.program import Program
from whence.program.regions import CALL, anchors

Integers = NDArray[np.int64]
_INDEXED = (Kind.ARG, Kind.BYVAL)  # kinds of site of which an instruction can have several, told apart by ``aux``
KEY_BITS = 32


class Cut(NamedTuple):
    """How the segments of a program are cut: those of segment ``s`` are ``numbers[starts[s]:starts[s + 1]]``, in order.

    ``pieces`` tells what the numbers mean.
    """

    starts: Integers
    numbers: Integers
    pieces: Structure


class Structure(Protocol):
    """What points of two runs are compared by: ``count`` pieces, and under which each hangs.

    ``sites`` has for each site of the first run's plan the one of the second's that corresponds, NONE where there is
    none, and ``places`` which of its segment's pieces holds it.
    """

    count: int
    sites: Integers
    places: Integers

    def nodes(self, pieces: Integers) -> Integers:
        """The nodes of the control flow that pieces are parts of."""

    def above(self, pieces: Integers) -> Integers:
        """The node under which each piece hangs, or CALL."""


class Whole:
    """The structure of one program: each of its segments is a piece, each block a node."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self._program, self._plan = program, plan
        self.count = len(plan.segments) - 1
        self.sites, self.places = np.arange(len(plan.sites)), np.zeros(len(plan.sites), np.int64)
        self.cut = Cut(np.arange(self.count + 2), np.arange(self.count), self)

    def nodes(self, pieces: Integers) -> Integers:
        """The blocks of segments."""
        return np.asarray(self._plan.segments["block"][pieces], np.int64)

    def above(self, pieces: Integers) -> Integers:
        """The block under which each segment hangs, or CALL."""
        table = np.full(len(self._plan.blocks), CALL, np.int64)
        blocks = self.nodes(pieces)
        for number in np.unique(self._plan.blocks["function"][np.unique(blocks)]).tolist():
            first, found = _anchors_of(self._program, number)
            table[first : first + len(found)] = found
        return table[blocks]


@lru_cache(maxsize=1 << 12)
def _anchors_of(program: Program, function: int) -> tuple[int, Integers]:
    """The number of a function's first block, and for each of its blocks the one under which it hangs."""
    ref = program.functions[function]
    found = np.array(anchors(ref.function), np.int64)
    return ref.first_block, np.where(found == CALL, CALL, found + ref.first_block)


class Pieces:
    """The structure of two versions: ``first`` and ``second`` list the pieces of either one's segments.

    No number stands twice in ``sites``.
    """

    def __init__(self, correspondence: Correspondence, first: Plan, second: Plan) -> None:
        self._joined = Joined(correspondence)
        self._plan = first
        self.sites = _matched_sites(correspondence.instructions, first, second)
        pairs = self._pairs(correspondence, first, second)
        one, other = pairs[:, 0], pairs[:, 1]
        self.count = len(pairs)
        self._nodes = self._joined.numbers(first.segments["block"][one], second.segments["block"][other])
        self.first = _cut(one, len(first.segments), self)
        self.second = _cut(other, len(second.segments), self)
        self.places = self._places(pairs, first, second)

    def _pairs(self, correspondence: Correspondence, first: Plan, second: Plan) -> Integers:
        """The segments of each piece: those of matched instructions and sites, and where matched functions begin."""
        matched = np.flatnonzero(correspondence.instructions >= 0)
        sites = np.flatnonzero(self.sites >= 0)
        one, other = correspondence.first, correspondence.second
        functions = np.flatnonzero(correspondence.functions >= 0)
        entries = (
            _segments_of_functions(first, functions),
            _segments_of_functions(second, correspondence.functions[functions]),
        )
        pairs = (
            (segments_of(one, first, matched), segments_of(other, second, correspondence.instructions[matched])),
            (first.sites["segment"][sites], second.sites["segment"][self.sites[sites]]),
            entries,
        )
        return np.unique(np.concatenate([np.stack(pair, 1).astype(np.int64) for pair in pairs]), axis=0)

    def _places(self, pairs: Integers, first: Plan, second: Plan) -> Integers:
        """For each site which of its segment's pieces it lies in, 0 where it corresponds to nothing."""
        segments, width = first.sites["segment"].astype(np.int64), len(second.segments)
        wanted = segments * width + second.sites["segment"][self.sites]
        numbers = np.searchsorted(pairs[:, 0] * width + pairs[:, 1], wanted)
        return np.where(self.sites >= 0, numbers - self.first.starts[segments], 0)

    def nodes(self, pieces: Integers) -> Integers:
        """The nodes of the joined control flow that pieces are parts of."""
        return self._nodes[pieces]

    def above(self, pieces: Integers) -> Integers:
        """The node under which each piece hangs, or CALL."""
        wanted = self._nodes[pieces]
        table = np.full(len(self._joined.nodes), CALL, np.int64)
        blocks = self._joined.nodes[np.unique(wanted), 0]
        for function in np.unique(self._plan.blocks["function"][blocks]).tolist():
            start, found = self._joined.anchors(function)
            table[start : start + len(found)] = found
        return table[wanted]


def _cut(segments: Integers, count: int, pieces: Structure) -> Cut:
    """The pieces in order of one version's segments, of which there are ``count``."""
    order = np.argsort(segments, kind="stable")
    return Cut(np.searchsorted(segments[order], np.arange(count + 1)), order, pieces)


def segments_of(program: Program, plan: Plan, instructions: Integers) -> Integers:
    """The segments in which instructions stand: a call in the one that it ends."""
    sites = np.flatnonzero(plan.sites["kind"][:-1] != Kind.RESULT)
    place = np.searchsorted(plan.sites["instruction"][sites], instructions)
    behind = np.append(plan.sites["segment"][sites], -1)[place]
    blocks = blocks_of(program, instructions)
    last = np.searchsorted(plan.segments["block"][:-1], blocks, side="right") - 1
    return np.where(plan.segments["block"][behind] == blocks, behind, last).astype(np.int64)


def _segments_of_functions(plan: Plan, functions: Integers) -> Integers:
    """The segments with which functions begin."""
    return np.asarray(np.searchsorted(plan.segments["block"][:-1], plan.functions["block_start"][functions]))


# ---- Sites -----------------------------------------------------------------------------------------------------------


def _matched_sites(instructions: Integers, first: Plan, second: Plan) -> Integers:
    """For each site of a plan that of the other that is of the same kind and argument, at the matched instruction."""

    def keys(plan: Plan) -> Integers:
        kinds = plan.sites["kind"][:-1].astype(np.int64)
        return np.asarray(kinds << 16 | np.where(np.isin(kinds, _INDEXED), plan.sites["aux"][:-1], 0))

    rows, others = first.sites["instruction"][:-1], second.sites["instruction"][:-1]
    found = _matched(instructions[rows], keys(first), others.astype(np.int64), keys(second))
    return np.append(found, NONE)


def matched_alter_sites(instructions: Integers, first: AlterPlan, second: AlterPlan) -> Integers:
    """For each site at which the first version can be altered the one of the second, NONE where there is none.

    ``instructions`` are those of the correspondence; the sites are of the same role, operand, form and width.
    """

    def keys(plan: AlterPlan) -> Integers:
        role, form, width = (plan.sites[name].astype(np.int64) for name in ("role", "form", "width"))
        return np.asarray(role << 26 | form << 24 | width << 16 | (plan.sites["operand"] + 1))

    rows, others = first.sites["instruction"], second.sites["instruction"]
    return _matched(instructions[rows], keys(first), others, keys(second))


def _matched(partners: Integers, keys: Integers, instructions: Integers, second_keys: Integers) -> Integers:
    """For each row the one of the second table that has its key at its instruction's partner, NONE for none."""
    theirs = instructions << KEY_BITS | second_keys
    order = np.argsort(theirs, kind="stable")
    wanted = np.where(partners >= 0, partners << KEY_BITS | keys, -1)
    place = np.searchsorted(theirs[order], wanted)
    found = np.append(order, 0)[place]
    return np.where(np.append(theirs, -2)[np.append(order, len(order))[place]] == wanted, found, NONE)
