"""The objects of a run of the record variant, and what they hold at a point by the recording alone.

Locals that no pointer goes to (*private* ones) have no address in such a recording. Here each has one of its own,
beyond those that a process can have, so that whatever tells memory tells them, too.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whence.probe.instrument import Variant
from whence.probe.layout import is_frame_local
from whence.program.types import size_of
from whence.subject.live_objects import WORD, Frame, Kind, LiveObject, RunObjects
from whence.subject.named_memory import NamedMemory
from whence.subject.names import owner
from whence.subject.recorded_memory import Bytes, RecordedMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.program.program import FunctionRef

PRIVATE = 1 << 60  # where the addresses of private locals begin
ROOM = 16  # bytes for each, as many as the largest scalar has
MOST_FRAMES = 32  # open calls whose locals are told where a pointer leads to them


class RecordedObjects(RunObjects):
    """The objects of one recorded run whose ``memory`` is known."""

    def __init__(self, memory: RecordedMemory) -> None:
        super().__init__(memory.subject, memory.trace, Variant.RECORD)
        self.memory = memory
        self.most_frames = MOST_FRAMES
        self.texts: list[LiveObject] = []  # of the program's arguments
        self._owners: dict[int, str] = {}  # by address
        self._slots: dict[int, dict[str, tuple[int, int]]] = {}  # by function

    def _plain_locals(self, frame: Frame, point: int) -> Iterator[LiveObject]:
        yield from super()._plain_locals(frame, point)
        ref = frame.ref
        debug = self.subject.expressions[ref.module].debug
        if ref.id not in self._slots:
            self._slots[ref.id] = self._private_locals(ref)
        for register, (slot, size) in self._slots[ref.id].items():
            made = self._named(ref.module, register, debug.variable_at(ref.function, register), frame, point)
            base = PRIVATE + ROOM * (frame.number * self.memory.slots + slot)
            yield replace(made, base=base, size=size, birth=self._entry_event(frame))

    def _private_locals(self, ref: FunctionRef) -> dict[str, tuple[int, int]]:
        """The private locals of a function: slot, and bytes."""
        slots = self.subject.numbering_of(Variant.RECORD).layouts[ref.id].slots
        module = self.subject.program.modules[ref.module]
        return {
            local.result: (slots[local.result], size_of(local.element_type, module))
            for local in ref.function.blocks[0].instructions
            if is_frame_local(local) and local.result in slots
        }

    def prepare(self) -> None:
        """Make the tables that the first instant needs."""
        _ = self._placed_locals, self._static_bases, self._block_ends, self._first_rows, self.functions

    def owner(self, made: LiveObject) -> str:
        """The function that a static variable is declared in; empty: none."""
        if made.base not in self._owners:
            self._owners[made.base] = owner(made, self.subject)
        return self._owners[made.base]

    @cached_property
    def _by_base(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All blocks by address, then time: bases, births, deaths (beyond the run: none), rows in the table."""
        numbers, rows = self._heap
        order = np.lexsort((rows["birth"], rows["base"]))
        rows = rows[order]
        deaths = np.where(rows["death"] == 0, self.trace.events, rows["death"].astype(np.int64) - 1)
        return rows["base"].astype(np.int64), rows["birth"].astype(np.int64), deaths, numbers[order]

    @cached_property
    def _static_bases(self) -> tuple[list[int], list[LiveObject]]:
        found = sorted(self.statics, key=lambda made: made.base)
        return [made.base for made in found], found

    def static_at(self, address: int) -> LiveObject | None:
        """The static variable that holds an address; None: there is none."""
        bases, found = self._static_bases
        at = bisect_right(bases, address) - 1
        return found[at] if at >= 0 and address < found[at].end else None

    def block_at(self, address: int, event: int) -> int:
        """The row in the table of objects of the block that holds an address when the run comes to an event; -1: none.

        Of several, as a program's own allocator makes them in a larger one, that of the highest base.
        """
        bases, births, deaths, rows = self._by_base
        ends, longest = self._block_ends
        end, stretch = int(np.searchsorted(bases, address, side="right")), 16
        while end > 0 and bases[end - 1] + longest > address:
            first = max(0, end - stretch)
            lives = (births[first:end] < event) & (deaths[first:end] >= event)
            found = np.flatnonzero(lives & (ends[first:end] > address))
            if len(found):
                return int(rows[first + int(found[-1])])
            end, stretch = first, 4 * stretch
        return -1

    @cached_property
    def _block_ends(self) -> tuple[NDArray[np.int64], int]:
        """Where all blocks end, in the order of ``_by_base``; and the bytes of the largest."""
        bases, _, _, rows = self._by_base
        sizes = self.checked.table["size"][rows].astype(np.int64)
        return bases + sizes, int(sizes.max(initial=0))

    def since(self, made: LiveObject) -> int:
        """The event from which on accesses tell what an object holds: of a block that ``realloc`` left where it was,
        the one that made it at first.
        """
        if made.kind is not Kind.BLOCK:
            return made.birth
        bases, births, deaths, _ = self._by_base
        first, end = np.searchsorted(bases, [made.base, made.base + 1])
        at, birth = int(np.searchsorted(births[first:end], made.birth)) + int(first), made.birth
        while at > first and deaths[at - 1] == birth:
            at, birth = at - 1, int(births[at - 1])
        return birth

    def argument_texts(self, event: int, arguments: Sequence[str]) -> dict[int, bytes]:
        """The texts of the program's arguments by their addresses, as far as the run looked at ``argv``.

        From then on they are objects. ``event`` is one of ``main``.
        """
        main = next((frame for frame in self.frames(event) if frame.function == "main"), None)
        given = self._given(main) if main is not None else []
        if len(given) < 2 or not given[1]:
            return {}
        found = {}
        for number, text in enumerate(arguments, 1):
            pointer = self.memory.at(0, given[1] + WORD * number, WORD).data
            if pointer is not None and any(pointer):
                found[int.from_bytes(pointer, "little")] = os.fsencode(text) + b"\0"
        words = "an argument of the program"
        self.texts = [LiveObject(Kind.ARGUMENTS, at, len(text), text=words) for at, text in found.items()]
        return found

    def at(self, point: int) -> Instant:
        """What the run has when it comes to an event."""
        return Instant(self, point)


class _Named(NamedMemory):
    """Tells places by name; a block by where it was made, and found by the index of all that there were."""

    def _given(self, own: Sequence[LiveObject]) -> list[LiveObject]:
        assert isinstance(self.run, RecordedObjects)
        return self.run.texts  # how long all that ``main`` was given is, a recording does not tell

    @cached_property
    def _placed(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The variables by their addresses: bases, ends, numbers."""
        bases = np.array([made.base for made in self.variables], np.int64)
        ends = np.array([made.end for made in self.variables], np.int64)
        order = np.argsort(bases, kind="stable")
        return bases[order], ends[order], order

    def _number(self, address: int) -> int:
        assert isinstance(self.run, RecordedObjects)
        bases, ends, order = self._placed
        at = int(np.searchsorted(bases, address, side="right")) - 1
        if at >= 0 and address < ends[at]:
            return int(order[at])
        row = self.run.block_at(address, self.event)
        return len(self.variables) + row if row >= 0 else -1

    def _object(self, number: int) -> LiveObject:
        known = len(self.variables)
        return self.variables[number] if number < known else self.run.block(number - known)


class Instant:
    """The memory of a run before the event ``point``."""

    def __init__(self, run: RecordedObjects, point: int) -> None:
        self.run, self.point = run, point

    @cached_property
    def named(self) -> NamedMemory:
        """What tells places by name; blocks by where they were made."""
        return _Named(self.run, self.point, self.read, most_leads=0)

    def read(self, address: int, length: int) -> bytes | None:
        """The bytes at an address; None where not all are known."""
        return self.bytes(address, length).data

    def bytes(self, address: int, length: int) -> Bytes:
        """The same, with the reason where they are not known."""
        memory = self.run.memory
        if address >= PRIVATE:
            number, offset = divmod(address - PRIVATE, ROOM)
            whole = memory.private(self.point, *divmod(number, memory.slots), offset + length)
            return whole if whole.data is None else Bytes(whole.data[offset:])
        made = self.object_at(address)
        if made is None:
            gone = self.run.gone(address, self.point)
            return Bytes(None, f"in {gone}") if gone else memory.at(self.point, address, length)
        return memory.at(self.point, address, length, self.run.since(made), made.death)

    def writer(self, address: int, length: int) -> int:
        """The event that gave some bytes the value that they have, the last one of several; -1: none is known."""
        memory = self.run.memory
        if address >= PRIVATE:
            return memory.private_writer(self.point, *divmod((address - PRIVATE) // ROOM, memory.slots))
        made = self.object_at(address)
        return memory.writer(self.point, address, length, self.run.since(made) if made is not None else -1)

    def object_at(self, address: int) -> LiveObject | None:
        """The object that holds an address; None: none that is known."""
        row = self.run.block_at(address, self.point)
        if row >= 0:
            return self.run.block(row)
        return self.run.static_at(address) or self.named.object_at(address)
