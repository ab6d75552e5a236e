"""Memory after an event of a compared run, told in C."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whence.subject.known_memory import KnownMemory
from whence.subject.named_memory import NamedMemory, Place
from whence.subject.shown_memory import Values
from whence.techniques.chains.compared_run import ComparedRun
from whence.techniques.chains.state import Reading, Sought, Variable

if TYPE_CHECKING:
    from whence.program.debug import CType

MOST = 16 << 20  # bytes that are read for a name
BLOCK = "the block "  # begins the words for one


class Named:
    """What lies in the memory of a run after an event, by its C paths; read with the next job of its session.

    Nothing has a path where the run does not come there again, or where its memory is too large to be looked at.
    """

    def __init__(self, run: ComparedRun, event: int) -> None:
        self._run, self._event = run, event
        objects = run.objects[run.living(event)]
        scalars = [extent for frame in run.open_frames(event) for extent in run.scalars(frame).values()]
        self._starts = np.concatenate([objects["base"], [address for address, _ in scalars]]).astype(np.int64)
        self._lengths = np.concatenate([objects["size"], [size for _, size in scalars]]).astype(np.int64)
        self._reading: Reading | None = None
        if self._lengths.sum() <= MOST:
            self._reading = Reading(Sought(run, event, self._starts, self._lengths, False))

    @cached_property
    def _ranges(self) -> list[tuple[int, bytes]]:
        seen = self._reading.seen() if self._reading is not None else None
        if seen is None:
            return []
        ends = np.cumsum(self._lengths)
        parts = zip(self._starts.tolist(), (ends - self._lengths).tolist(), ends.tolist(), strict=True)
        return [(start, seen[0][first:end]) for start, first, end in parts]

    @cached_property
    def _memory(self) -> NamedMemory:
        return NamedMemory(self._run.variables, self._event, KnownMemory(self._ranges).read)

    def place(self, variable: Variable) -> Place | None:
        """What holds the bytes of a variable; None: nothing that has a path."""
        if not self._ranges:
            return None
        found = self._memory.path(variable.address, variable.length)
        return found if found is not None and found.path is not None and not found.is_padding else None

    def elements(self, variable: Variable) -> str:
        """Several elements of a block that hold the bytes of a variable, by a pointer to it; empty: none is known."""
        found = self._memory.path(variable.address, variable.length) if self._ranges else None
        is_element = found is not None and found.path is None and found.text.endswith("]")  # others are words
        return found.text if found is not None and is_element and "`" not in found.text else ""

    def value(self, place: Place) -> str:
        """What it holds; empty where that cannot be told."""
        return Values(self._memory).of(place) or ""

    def value_with(self, place: Place, address: int, data: bytes) -> str:
        """What it would hold with other bytes at an address; empty where that cannot be told."""
        changed = KnownMemory([*self._ranges, (address, data)])
        return Values(NamedMemory(self._run.variables, self._event, changed.read)).of(place) or ""

    def pointed(self, value: bytes, target: CType | None) -> str:
        """What a pointer to a ``target`` points to; empty where nothing of the memory is known.

        A block that has no name is told with its address, since there may be many like it.
        """
        if not self._ranges:
            return ""
        address = int.from_bytes(value, "little")
        words = Values(self._memory).pointed(address, target)
        return f"{address:#x}, {words}" if BLOCK in words else words
