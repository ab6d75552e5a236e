"""The state of a run at a point, and how it differs from the reference run's (definitions 2 and 4).

A *variable* is what one event gave a value: bytes of memory that a store or a library call wrote and nothing has
overwritten since, a register that is still to be used, or the outcome of a branch. Runs are compared by what lies in
memory, which is read from the runs themselves, and by who wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Op, Verdict, joined
from whence.probe.layout import Kind
from whence.techniques.chains.compared_run import NO_SITE, ComparedRun, Moment
from whence.techniques.chains.pairing import Pairing
from whence.techniques.chains.pointers import WORD, Pointers
from whence.techniques.chains.registers import live_registers
from whence.trace.objects import HEAP

Integers = NDArray[np.int64]
Seen = tuple[bytes, bytes]  # ranges of memory, one behind the other; and an event's own value
OFFSET = 40  # bits of a place within an object


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
    values (``is_stale``) only the definitions differ. ``is_foreign``: the reference's value points to memory that the
    failing run does not have.
    """

    variable: Variable
    value: bytes
    reference: bytes
    definition: int
    is_foreign: bool = False

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


class Elsewhere(Unreached):
    """The heap lies otherwise in altered runs than in the recorded one, so that its memory cannot be told."""


class States:
    """The differences of two runs at their aligned points."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.failing, self.reference = pairing.failing, pairing.reference
        self._written = written(self.failing, pairing.common), written(self.reference, pairing.common)
        self._known: dict[int, dict[Variable, Faulty]] = {}
        self._wanted: dict[int, tuple[Ranges, Reading, Reading]] = {}
        self._as_recorded: set[int] = set()  # blocks of the heap
        self._places: dict[Variable, int] = {}  # of each that was faulty, its address in the reference run
        self._equal: set[tuple[Variable, bytes]] = set()  # not faulty where these events of the reference run wrote it

    def difference(self, point: int) -> dict[Variable, Faulty]:
        """The faulty variables after an event of the failing run, in order of their definitions.

        Raises Unreached where a run does not come there again, Elsewhere where what it finds is not what was recorded.
        """
        self.foresee([point])
        if point not in self._known:
            ranges, *readings = self._wanted[point]
            mine, theirs = (reading.seen() for reading in readings)
            if mine is None or theirs is None:
                raise Unreached
            self._known[point] = self._difference(point, ranges, mine, theirs)
        return self._known[point]

    def foresee(self, points: Iterable[int | None]) -> None:
        """Have the states at some points (None: at none) read with what is run next."""
        for point in points:
            if point is None or point in self._known or point in self._wanted:
                continue
            if point < self.pairing.common:
                self._known[point] = {}
                continue
            is_own, other = bool(self.failing.own[point]), int(self.pairing.events[point])
            ranges = self._ranges(point, other)
            self._wanted[point] = (
                ranges,
                Reading(Sought(self.failing, point, ranges.starts, ranges.lengths, is_own)),
                Reading(Sought(self.reference, other, ranges.others, ranges.lengths, is_own)),
            )

    def note_equal(self, point: int, variable: Variable) -> None:
        """Note of a variable that it is not faulty at a point, though it is at another one."""
        if (writers := self._writers(point, variable)) is not None:
            self._equal.add((variable, writers))

    def is_known_equal(self, point: int, variable: Variable) -> bool:
        """Whether a variable is not faulty at a point, by what was found at another one.

        There the same events had written it last in both runs. Where something unrecorded has written it since, it may
        be faulty all the same.
        """
        return (variable, self._writers(point, variable)) in self._equal

    def _writers(self, point: int, variable: Variable) -> bytes | None:
        """The reference run's last writers of a variable's bytes; None where they are not known."""
        place = self._places.get(variable)
        if place is None:
            return None
        length = np.array([variable.length])
        mine = self.failing.writers.last(point, np.array([variable.address]), length)
        theirs = self.reference.writers.last(int(self.pairing.events[point]), np.array([place]), length)
        return theirs.tobytes() if (mine == variable.event).all() else None

    def _difference(self, point: int, ranges: Ranges, values: Seen, others: Seen) -> dict[Variable, Faulty]:
        other, is_own = int(self.pairing.events[point]), bool(self.failing.own[point])
        pointers = Pointers(self.pairing, point, other)
        found = [*self._memory(point, ranges, (values[0], others[0]), pointers), *self._registers(point, pointers)]
        self._check(point, found)
        if is_own:
            found += self._register(point, values[1], others[1], other, pointers)
        return {faulty.variable: faulty for faulty in sorted(found, key=lambda f: f.variable)}

    def _check(self, point: int, found: Sequence[Faulty]) -> None:
        """Raises Elsewhere where a block of the heap, in which a variable is not what was stored, lies elsewhere."""
        run = self.failing
        stored = [f for f in found if f.variable.length and f.variable.event >= 0]
        stored = [f for f in stored if run.kinds[f.variable.event] == Kind.STORE]
        events = np.array([f.variable.event for f in stored], np.int64)
        values, is_known = run.trace.values(events)
        starts = run.writes.address[np.searchsorted(run.writes.event, events)]
        for faulty, value, known, start in zip(stored, values.tolist(), is_known, starts.tolist(), strict=True):
            at = faulty.variable.address - start
            if known and value.to_bytes(WORD, "little")[at : at + faulty.variable.length] != faulty.value:
                self._check_block(point, faulty.variable.address)

    def _check_block(self, point: int, address: int) -> None:
        """Raises Elsewhere where the block of the heap with an address is at another one in altered runs."""
        run, rows = self.failing, self.failing.objects
        for number in self.failing.living(point).tolist():
            base, birth = int(rows["base"][number]), int(rows["birth"][number])
            given = birth + 1  # the result of the call
            is_here = rows["kind"][number] == HEAP and base <= address < base + int(rows["size"][number])
            if not is_here or number in self._as_recorded or run.kinds[given] != Kind.RESULT or run.sites[given] < 0:
                continue
            seen = Reading(Sought(run, given, np.zeros(0, np.int64), np.zeros(0, np.int64), True)).seen()
            if seen is not None and int.from_bytes(seen[1], "little") != run.trace.value(given):
                raise Elsewhere
            self._as_recorded.add(number)

    # ---- Memory ------------------------------------------------------------------------------------------------------

    def _ranges(self, point: int, other: int) -> Ranges:
        """What lives in both runs and was written to by one of them since they parted."""
        mine, theirs = self.failing.objects, self.reference.objects
        upto = self._written[0].upto(point), self._written[1].upto(other)
        numbers = self.failing.living(point)
        partners = self.pairing.objects[numbers]
        kept = partners >= 0
        kept &= upto[0].overlap(mine, numbers) | upto[1].overlap(theirs, partners)
        kept[kept] = np.isin(partners[kept], self.reference.living(other))
        numbers, partners = numbers[kept], partners[kept]
        sizes = np.minimum(mine["size"][numbers], theirs["size"][partners])
        columns = mine["base"][numbers], sizes, theirs["base"][partners]
        rows = np.array([np.asarray(column, np.int64) for column in columns]).T.tolist()
        for frame in self.failing.open_frames(point):
            others = self.reference.scalars(int(self.pairing.frames[frame]))
            for name, (base, size) in self.failing.scalars(frame).items():
                if others.get(name, (0, 0))[1] == size:
                    rows.append([base, size, others[name][0]])
        return written_parts(upto, np.array(sorted(rows), np.int64).reshape(-1, 3))

    def _memory(self, point: int, ranges: Ranges, values: tuple[bytes, bytes], pointers: Pointers) -> Iterator[Faulty]:
        """The faulty variables in memory."""
        other = int(self.pairing.events[point])
        mine = self.failing.writers.last(point, ranges.starts, ranges.lengths)
        order = np.argsort(ranges.others, kind="stable")
        theirs = _reordered(
            self.reference.writers.last(other, ranges.others[order], ranges.lengths[order]),
            ranges.lengths,
            order,
        )
        here, there = (np.frombuffer(part, np.uint8) for part in values)
        there, foreign = pointers.in_memory(there, _words(ranges))
        partners = np.where(mine >= 0, self.pairing.events[np.maximum(mine, 0)], mine)
        differs = (here != there) | (partners != theirs)
        offsets = np.concatenate([[0], np.cumsum(ranges.lengths)])
        different = np.unique(np.searchsorted(offsets, np.flatnonzero(differs), side="right") - 1)
        for place in different.tolist():
            start, part = int(ranges.starts[place]), slice(int(offsets[place]), int(offsets[place + 1]))
            keys = np.where(mine[part] >= 0, mine[part], -2 - theirs[part])
            for first, end in _runs(keys):
                at = slice(part.start + first, part.start + end)
                if differs[at].any():
                    variable = Variable(int(mine[at.start]), start + first, end - first)
                    definition, is_foreign = int(theirs[at.start]), bool(foreign[at].any())
                    self._places[variable] = int(ranges.others[place]) + first
                    yield Faulty(variable, here[at].tobytes(), there[at].tobytes(), definition, is_foreign)

    # ---- Registers ---------------------------------------------------------------------------------------------------

    def _registers(self, point: int, pointers: Pointers) -> Iterator[Faulty]:
        """Registers whose values differ."""
        run, other_run = self.failing, self.reference
        for event, told in live_registers(run.trace, point):
            other, other_told = (int(self.pairing.events[e]) for e in (event, told))
            if min(other, other_told) < 0 or run.sites[event] == NO_SITE or event == point:
                continue
            value, reference = run.trace.value(told), other_run.trace.value(other_told)
            if value is not None and reference is not None:
                yield from self._register(event, _word(value), _word(reference), other, pointers)

    @staticmethod
    def _register(event: int, value: bytes, reference: bytes, other: int, pointers: Pointers) -> Iterator[Faulty]:
        """A register, by the event that gave it its value, where that differs."""
        told, is_foreign = pointers.in_register(reference)
        if value != told:
            yield Faulty(Variable(event, 0, 0), value, told, other, is_foreign)


class Sought(NamedTuple):
    """What is to be read after an event of a run: some ranges, and whether the event's own value, too."""

    run: ComparedRun
    event: int
    starts: Integers
    lengths: Integers
    is_own: bool

    def changes(self, moment: Moment) -> NDArray[np.void]:
        """The continuation that reads it (CHANGE)."""
        run = self.run
        parts = [run.changes] if len(run.changes) else []
        parts.append(run.readings(moment, self.starts, self.lengths))
        parts += [run.change(moment, Op.READ_VALUE)] if self.is_own else []
        return joined([*parts, run.change(moment, Op.STOP)])


class Reading:
    """A continuation that reads what is sought; it is run with the next job of its session."""

    def __init__(self, sought: Sought) -> None:
        run, moment = sought.run, sought.run.moment(sought.event)
        self._total = int(sought.lengths.sum())
        self._continuation = None
        if moment is not None:
            self._continuation = run.continuations.want(sought.changes(moment), moment.now + 1)

    def seen(self) -> Seen | None:
        """The ranges one behind the other, and the event's own value; None: the run does not come there."""
        if self._continuation is None:
            return None
        record, data = self._continuation.outcome()
        return (data[: self._total], data[self._total :]) if record["verdict"] == Verdict.REACHED else None


class Written(NamedTuple):
    """Bytes that a run wrote to, as ranges that ascend and do not touch; ``firsts``: the event that did so first."""

    starts: Integers
    ends: Integers
    firsts: Integers

    def upto(self, event: int) -> Written:
        """The ranges that had been written to by then, at least in part."""
        chosen = self.firsts <= event
        return Written(*(column[chosen] for column in self))

    def overlap(self, objects: Any, numbers: Integers) -> NDArray[np.bool_]:
        """Whether a range lies in each of some objects, in part at least."""
        bases = objects["base"][numbers].astype(np.int64)
        first = np.searchsorted(self.ends, bases, side="right")
        last = np.searchsorted(self.starts, bases + objects["size"][numbers], side="left")
        return np.asarray(first < last, np.bool_)

    def within(self, bases: Integers, sizes: Integers) -> Integers:
        """The ranges within some objects: columns of the object's place, and where it begins and ends in the object."""
        first = np.searchsorted(self.ends, bases, side="right")
        counts = np.maximum(np.searchsorted(self.starts, bases + sizes, side="left") - first, 0)
        places = np.repeat(np.arange(len(bases)), counts)
        rows = np.arange(len(places)) - (np.cumsum(counts) - counts)[places] + first[places]
        starts = np.maximum(self.starts[rows] - bases[places], 0)
        return np.stack([places, starts, np.minimum(self.ends[rows] - bases[places], sizes[places])])


def written(run: ComparedRun, common: int) -> Written:
    """The bytes that a run wrote from an event on."""
    writes = run.writes.where(slice(int(np.searchsorted(run.writes.event, common)), None))
    if not len(writes.event):
        return Written(*(np.zeros(0, np.int64) for _ in range(3)))
    writes = writes.where(np.argsort(writes.address, kind="stable"))
    starts = writes.address
    ends = np.maximum.accumulate(starts + writes.length)
    first = np.flatnonzero(np.concatenate([[True], starts[1:] > ends[:-1]]))
    last = np.append(first[1:], len(starts)) - 1
    return Written(starts[first], ends[last], np.minimum.reduceat(writes.event, first))


def written_parts(upto: tuple[Written, Written], objects: Integers) -> Ranges:
    """The parts of objects that one of two runs has written to, merged.

    ``objects``: rows of address, size and the address in the other run, ascending; one that begins within the one
    before, as members of a union of objects do, is left out.
    """
    bases, sizes, others = objects.T
    ends = np.maximum.accumulate(bases + sizes) if len(bases) else bases
    apart = np.concatenate([np.ones(min(1, len(bases)), np.bool_), bases[1:] >= ends[:-1]])
    bases, sizes, others = bases[apart], sizes[apart], others[apart]
    places, starts, stops = np.hstack([upto[0].within(bases, sizes), upto[1].within(others, sizes)])
    order = np.lexsort((starts, places))
    starts, stops = (places << OFFSET | starts)[order], np.maximum.accumulate((places << OFFSET | stops)[order])
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(starts)), np.bool_), starts[1:] > stops[:-1]]))
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    places, within = starts[first] >> OFFSET, starts[first] & ((1 << OFFSET) - 1)
    return Ranges(bases[places] + within, stops[last] - starts[first], others[places] + within)


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


def _words(ranges: Ranges) -> Integers:
    """Where the whole words of ranges begin, by their addresses, among the bytes of all of them."""
    skipped = -ranges.starts % WORD
    counts = np.maximum(ranges.lengths - skipped, 0) // WORD
    offsets = np.cumsum(ranges.lengths) - ranges.lengths + skipped
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(np.repeat(offsets, counts) + WORD * within, np.int64)


def _word(value: int) -> bytes:
    return value.to_bytes(max(WORD, (value.bit_length() + 7) // 8), "little")
