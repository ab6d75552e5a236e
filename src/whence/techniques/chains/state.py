"""The state of a run at a point, and how it differs from the reference run's (definitions 2 and 4).

A *variable* is what one event gave a value: bytes of memory that a store or a library call wrote and nothing has
overwritten since, a register that is still to be used, or the outcome of a branch. Runs are compared by what lies in
memory, which is read from the runs themselves, and by who wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Op, Verdict
from whence.techniques.chains.compared_run import NO_SITE, ComparedRun
from whence.techniques.chains.pairing import Pairing
from whence.techniques.chains.registers import live_registers
from whence.trace.writers import last_writers

Integers = NDArray[np.int64]
WORD = 8  # bytes


class Variable(NamedTuple):
    """What an event gave a value: ``length`` bytes at ``address``, of the failing run; 0 and 0: in a register.

    ``event`` is NOTHING for memory that the failing run never wrote to.
    """

    event: int
    address: int
    length: int


@dataclass(slots=True, frozen=True)
class Faulty:
    """A faulty variable: its value in the failing run and in the reference run, and the reference run's definition.

    Values are bytes, little endian; the reference's pointers are told as the failing run's, where the blocks that they
    point to correspond. ``definition`` is an event of the reference run, NOTHING or NONE where it has none. With equal
    values (``is_stale``) only the definitions differ.
    """

    variable: Variable
    value: bytes
    reference: bytes
    definition: int

    @property
    def is_stale(self) -> bool:
        """Whether only its definition differs."""
        return self.value == self.reference


class Ranges(NamedTuple):
    """Ranges of memory of the failing run, and where they lie in the reference run."""

    starts: Integers
    lengths: Integers
    others: Integers


class Unreached(Exception):
    """One of the runs did not come to a point again."""


class States:
    """The differences of two runs at their aligned points."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.failing, self.reference = pairing.failing, pairing.reference
        self._touched = touched(self.failing, pairing.common), touched(self.reference, pairing.common)
        self._known: dict[int, dict[Variable, Faulty]] = {}

    def difference(self, point: int) -> dict[Variable, Faulty]:
        """The faulty variables after an event of the failing run, in order of their definitions.

        Raises Unreached where a run does not come there again.
        """
        if point not in self._known:
            self._known[point] = self._difference(point) if point >= self.pairing.common else {}
        return self._known[point]

    def _difference(self, point: int) -> dict[Variable, Faulty]:
        other = int(self.pairing.events[point])
        ranges = self._ranges(point, other)
        is_own = self.failing.is_own(point)
        values = read(self.failing, point, ranges.starts, ranges.lengths, is_own)
        others = read(self.reference, other, ranges.others, ranges.lengths, is_own)
        found = [*self._memory(point, other, ranges, values[0], others[0]), *self._registers(point)]
        if is_own and values[1] != others[1]:
            found.append(Faulty(Variable(point, 0, 0), values[1], others[1], other))
        return {faulty.variable: faulty for faulty in sorted(found, key=lambda f: f.variable)}

    # ---- Memory ------------------------------------------------------------------------------------------------------

    def _ranges(self, point: int, other: int) -> Ranges:
        """What lives in both runs and was written to by one of them since they parted."""
        mine, theirs = self.failing.objects, self.reference.objects
        numbers = self.failing.living(point)
        partners = self.pairing.objects[numbers]
        numbers, partners = numbers[partners >= 0], partners[partners >= 0]
        kept = np.isin(partners, self.reference.living(other))
        numbers, partners = numbers[kept], partners[kept]
        order = np.argsort(mine["base"][numbers], kind="stable")
        numbers, partners = numbers[order], partners[order]
        rows: list[tuple[int, int, int]] = []
        for number, partner in zip(numbers.tolist(), partners.tolist(), strict=True):
            base, size = int(mine["base"][number]), int(min(mine["size"][number], theirs["size"][partner]))
            shift = int(theirs["base"][partner]) - base
            rows += self._touched_part(base, size, shift)
        for frame in self.failing.open_frames(point):
            others = self.reference.scalars.get(int(self.pairing.frames[frame]), {})
            for name, (base, size) in self.failing.scalars.get(frame, {}).items():
                if others.get(name, (0, 0))[1] == size:
                    rows += self._touched_part(base, size, others[name][0] - base)
        table = np.array(_apart(rows), np.int64).reshape(-1, 3)
        return Ranges(*(np.ascontiguousarray(column) for column in table.T))

    def _touched_part(self, base: int, size: int, shift: int) -> Iterator[tuple[int, int, int]]:
        """The parts of an object that were written to, merged: start, length, and where they lie in the other run."""
        parts = [*_within(self._touched[0], base, size, 0), *_within(self._touched[1], base, size, shift)]
        for start, end in _merged(sorted(parts)):
            yield start, end - start, start + shift

    def _memory(self, point: int, other: int, ranges: Ranges, values: bytes, others: bytes) -> Iterator[Faulty]:
        """The faulty variables in memory."""
        mine = last_writers(self.failing.writes, point, ranges.starts, ranges.lengths)
        order = np.argsort(ranges.others, kind="stable")
        theirs = _reordered(
            last_writers(self.reference.writes, other, ranges.others[order], ranges.lengths[order]),
            ranges.lengths,
            order,
        )
        here, there = np.frombuffer(values, np.uint8), np.frombuffer(others, np.uint8)
        there = self._translated(point, other, ranges, there)
        partners = np.where(mine >= 0, self.pairing.events[np.maximum(mine, 0)], mine)
        differs = (here != there) | (partners != theirs)
        offset = 0
        for start, length in zip(ranges.starts.tolist(), ranges.lengths.tolist(), strict=True):
            part = slice(offset, offset + length)
            offset += length
            if not differs[part].any():
                continue
            keys = np.where(mine[part] >= 0, mine[part], -2 - theirs[part])
            for first, end in _runs(keys):
                at = slice(part.start + first, part.start + end)
                if differs[at].any():
                    variable = Variable(int(mine[at.start]), start + first, end - first)
                    yield Faulty(variable, here[at].tobytes(), there[at].tobytes(), int(theirs[at.start]))

    def _translated(self, point: int, other: int, ranges: Ranges, there: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The reference's bytes with pointers to what lies elsewhere in the failing run told as its pointers."""
        mine, theirs = self.failing.objects, self.reference.objects
        numbers = self.failing.living(point)
        partners = self.pairing.objects[numbers]
        moved = (partners >= 0) & (mine["base"][numbers] != theirs["base"][np.maximum(partners, 0)])
        if not moved.any():
            return there
        numbers, partners = numbers[moved], partners[moved]
        order = np.argsort(theirs["base"][partners])
        bases, sizes = theirs["base"][partners[order]], theirs["size"][partners[order]]
        shifts = mine["base"][numbers[order]] - bases
        found, offset = there.copy(), 0
        for start, length in zip(ranges.starts.tolist(), ranges.lengths.tolist(), strict=True):
            words = found[_words(offset, start, length)].view(np.uint64)
            offset += length
            if len(words):
                words[:] = _moved(words.astype(np.int64), bases, sizes, shifts).astype(np.uint64)
        return found

    # ---- Registers ---------------------------------------------------------------------------------------------------

    def _registers(self, point: int) -> Iterator[Faulty]:
        """Registers whose values differ."""
        run, other_run = self.failing, self.reference
        for event, told in live_registers(run.trace, point):
            other, other_told = (int(self.pairing.events[e]) for e in (event, told))
            if min(other, other_told) < 0 or run.sites[event] == NO_SITE or event == point:
                continue
            value, reference = run.trace.value(told), other_run.trace.value(other_told)
            if value is not None and reference is not None and value != reference:
                yield Faulty(Variable(event, 0, 0), _word(value), _word(reference), other)


def read(run: ComparedRun, event: int, starts: Integers, lengths: Integers, is_own: bool) -> tuple[bytes, bytes]:
    """What lies in some ranges after an event of a run, one behind the other; and the event's own value."""
    moment = run.moment(event)
    if moment is None:
        raise Unreached
    changes = [run.changes] if len(run.changes) else []
    ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
    changes += [run.change(moment, Op.READ, length, start) for start, length in ranges]
    changes += [run.change(moment, Op.READ_VALUE)] if is_own else []
    batch = Batch.of([np.concatenate([*changes, run.change(moment, Op.STOP)])])
    records, found = run.session.read(batch, moment.now + 1)
    if records["verdict"][0] != Verdict.REACHED:
        raise Unreached
    total = int(lengths.sum())
    return found[0][:total], found[0][total:]


def touched(run: ComparedRun, common: int) -> tuple[Integers, Integers]:
    """The bytes that a run wrote from an event on, merged: where ranges start and end, ascending."""
    writes = run.writes[run.writes["event"] >= common]
    order = np.argsort(writes["address"], kind="stable")
    starts = writes["address"][order].astype(np.int64)
    ends = np.maximum.accumulate(starts + writes["length"][order]) if len(starts) else starts
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(starts)), np.bool_), starts[1:] > ends[:-1]]))
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    return starts[first], ends[last]


def _within(ranges: tuple[Integers, Integers], base: int, size: int, shift: int) -> Iterator[tuple[int, int]]:
    """The ranges within an object that lies ``shift`` bytes further on there, at its own addresses."""
    starts, ends = ranges
    first = int(np.searchsorted(ends, base + shift, side="right"))
    last = int(np.searchsorted(starts, base + shift + size, side="left"))
    for start, end in zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True):
        yield max(start - shift, base), min(end - shift, base + size)


def _merged(parts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges that ascend, joined where they touch."""
    at = 0
    while at < len(parts):
        start, end = parts[at]
        while at < len(parts) and parts[at][0] <= end:
            end = max(end, parts[at][1])
            at += 1
        yield start, end


def _apart(rows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Ranges that ascend without those that lie in one before, as members of a union of objects do."""
    found: list[tuple[int, int, int]] = []
    for row in sorted(rows):
        if not found or row[0] >= found[-1][0] + found[-1][1]:
            found.append(row)
    return found


def _runs(keys: Integers) -> list[tuple[int, int]]:
    """Where equal keys stand side by side."""
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(keys)) + 1, [len(keys)]])
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _reordered(found: Integers, lengths: Integers, order: NDArray[np.intp]) -> Integers:
    """Bytes of ranges in the order given, brought back to the ranges' own order."""
    if (order[1:] > order[:-1]).all():
        return found
    parts = np.split(found, np.cumsum(lengths[order])[:-1])
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return np.concatenate([parts[place] for place in places.tolist()])


def _words(offset: int, start: int, length: int) -> slice:
    """Where the whole words of a range are, whose bytes begin at an offset, by their addresses."""
    first = offset + -start % WORD
    return slice(first, first + max(offset + length - first, 0) // WORD * WORD)


def _moved(words: Integers, bases: Integers, sizes: Integers, shifts: Integers) -> Integers:
    """Pointers into objects that lie elsewhere, moved."""
    place = np.searchsorted(bases, words, side="right") - 1
    inside = (place >= 0) & (words <= bases[place] + sizes[place])
    return np.where(inside, words + shifts[place], words)


def _word(value: int) -> bytes:
    return value.to_bytes(max(WORD, (value.bit_length() + 7) // 8), "little")
