"""Memory after an event of a compared run, told in C."""

from __future__ import annotations

import numpy as np

from whence.subject.known_memory import KnownMemory
from whence.subject.named_memory import NamedMemory, Place
from whence.subject.shown_memory import Values
from whence.techniques.chains.compared_run import ComparedRun
from whence.techniques.chains.state import Reading, Sought, Variable

MOST = 16 << 20  # bytes that are read for a name


class Named:
    """What lies in the memory of a run after an event, by its C paths."""

    def __init__(self, run: ComparedRun, event: int, ranges: list[tuple[int, bytes]]) -> None:
        self._run, self._event, self._ranges = run, event, ranges
        self._memory = NamedMemory(run.variables, event, KnownMemory(ranges).read)

    def place(self, variable: Variable) -> Place | None:
        """What holds the bytes of a variable; None: nothing that has a path."""
        found = self._memory.path(variable.address, variable.length)
        return found if found is not None and found.path is not None and not found.is_padding else None

    def value(self, place: Place) -> str:
        """What it holds; empty where that cannot be told."""
        return Values(self._memory).of(place) or ""

    def value_with(self, place: Place, address: int, data: bytes) -> str:
        """What it would hold with other bytes at an address; empty where that cannot be told."""
        changed = KnownMemory([*self._ranges, (address, data)])
        return Values(NamedMemory(self._run.variables, self._event, changed.read)).of(place) or ""


def named(run: ComparedRun, event: int) -> Named | None:
    """The memory after an event; None where the run does not come there again, or it is too large to be looked at."""
    objects = run.objects[run.living(event)]
    scalars = [extent for frame in run.open_frames(event) for extent in run.scalars(frame).values()]
    starts = np.concatenate([objects["base"], [address for address, _ in scalars]]).astype(np.int64)
    lengths = np.concatenate([objects["size"], [size for _, size in scalars]]).astype(np.int64)
    if lengths.sum() > MOST:
        return None
    seen = Reading(Sought(run, event, starts, lengths, False)).seen()
    if seen is None:
        return None
    ends = np.cumsum(lengths)
    parts = zip(starts.tolist(), (ends - lengths).tolist(), ends.tolist(), strict=True)
    return Named(run, event, [(start, seen[0][first:end]) for start, first, end in parts])
