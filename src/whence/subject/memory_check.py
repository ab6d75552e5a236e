"""The memory errors of one recorded run: the pass over its trace, and what it found as plain rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.probe.instrument import Variant
from whence.probe.pointers import Declarations
from whence.subject.partly_given import MOST_LOOKED_AT, PartlyGiven
from whence.trace import objects
from whence.trace.columns import N_FRAME, N_HEAP, new_columns
from whence.trace.handles import misuses
from whence.trace.kernels import is_kept
from whence.trace.provenance import follow
from whence.trace.trace import RING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

ROW = objects.ERROR
SWITCHES = frozenset({"swapcontext", "setcontext", "makecontext"})  # that change to another stack


class Kind(StrEnum):
    """The kinds of errors, as results name them."""

    BOUNDS = "out-of-bounds"
    FREED = "use-after-free"
    RETURNED = "use-after-return"
    LEFT = "use-after-scope"
    TWICE = "double-free"
    NO_BLOCK = "wrong-free"
    OVERLAP = "overlapping-copy"
    UNDEFINED = "uninitialised"
    LEAK = "leak"


_NAMES = {getattr(objects, kind.name): kind for kind in Kind if kind is not Kind.LEAK}


@dataclass(slots=True, frozen=True)
class Error:
    """One error: the first time that a place of the program did it, and how often it did.

    ``number`` names it among a run's ``occurrences`` (-1: a leak). ``event`` is the access or the call, ``argument``
    the argument of a library call (-1) or, of an undefined value, the event that read it. ``object`` is a number in
    the table of objects (0: none), ``size`` its bytes then and ``death`` the event at which it had died (-1). ``other``
    is where an overlapping copy read, ``missing`` which bytes of a buffer were never given a value, where others were.
    """

    kind: Kind
    number: int
    event: int
    argument: int
    object: int
    writes: int
    count: int
    size: int
    death: int
    address: int
    length: int
    other: int
    missing: str = ""


@dataclass(slots=True)
class Checked:
    """A checked run: its errors in order of time, the ``table`` of all objects, and what the numbers of those mean.

    ``occurrences`` has a row for each time that an error was made, at most ``MOST_OCCURRENCES``. ``undefined``: of each
    event with an undefined value the one that read it first, + 1; 0 of the others.
    """

    trace: Trace
    declarations: Declarations
    errors: list[Error]
    table: Any
    occurrences: Any
    remarks: list[str]
    undefined: NDArray[np.int32]

    def origin(self, event: int) -> int:
        """The event that read first what an event's undefined value was made from, maybe itself; -1: it is defined."""
        return int(self.undefined[event]) - 1

    def whole(self, number: int) -> int:
        """The number of the object that a member array is a part of; of any other object its own."""
        while parent := int(self.table[number]["parent"]):
            number = parent
        return number

    def at(self, address: int, event: int) -> int:
        """The number of the object that held an address at an event; 0: none that is known."""
        rows = self.table
        lives = (
            (rows["parent"] == 0)
            & (rows["birth"] <= event)
            & ((rows["death"] == 0) | (rows["death"] > event))
            & (rows["kind"] > 0)
        )
        found = np.flatnonzero(lives & (rows["base"] <= address) & (address < rows["base"] + rows["size"]))
        return int(found[-1]) if len(found) else 0


class Checker:
    """Checks recorded runs of one subject, of a ``variant`` that records.

    With ``members`` accesses beyond an array inside of a structure count, too.
    """

    def __init__(self, subject: Subject, members: bool = False, variant: Variant = Variant.RECORD) -> None:
        self._subject = subject
        self._plan = subject.plan_of(variant)
        allocators = subject.allocators
        self._declarations, self._sources = subject.declarations_of(variant, members)
        defined = {ref.name for ref in subject.program.functions}
        self._unknown = [allocator.name for allocator in allocators if allocator.name not in defined]
        self._main = next((n for n, ref in enumerate(subject.program.functions) if ref.name == "main"), -1)
        declared = {name for module in subject.program.modules for name in module.declarations}
        self._switches = sorted(declared & SWITCHES)

    @staticmethod
    def is_compiled() -> bool:
        """Whether the pass has been compiled before."""
        return is_kept(follow)

    def compile(self) -> None:
        """Compile the pass where that has not been done, by going over a run of nothing."""
        units = np.zeros(0, np.uint32)
        units.flags.writeable = False  # as those of a trace are
        state = objects.new_state(0, 0, 0, len(self._plan.sites), 1, 0, 0)
        follow(units, np.zeros(0, np.int64), self._plan, new_columns(), self._sources, state)

    def check(self, trace: Trace, leaks: bool = False) -> Checked:
        """The errors of one run; blocks that it never gave back count with ``leaks``."""
        counts = trace.columns.counts
        sizes = (trace.events, trace.segments, int(counts[N_FRAME]), len(trace.plan.sites))
        members = len(self._declarations.members)
        state = objects.new_state(*sizes, trace.header.threads, int(counts[N_HEAP]), members)
        state.counts[objects.N_OBJECT] += len(self._declarations.statics)
        state.counts[objects.HIDDEN] = bool(self._switches)
        state.counts[objects.MAIN] = self._main
        follow(trace.units, trace.chunks, trace.plan, trace.columns, self._sources, state)
        table = state.table[: state.counts[objects.N_OBJECT]]
        rows = state.errors[: state.counts[objects.N_ERROR]]
        occurrences = state.occurrences[: state.counts[objects.N_OCCURRENCE]]
        errors = [_error(number, row) for number, row in enumerate(rows) if row["kind"] != objects.PARTLY]
        errors += list(self._partly_given(trace, rows, occurrences, table))
        table, closed = _closed_handles(trace, table)
        errors += closed
        if leaks:
            errors += list(_leaks(trace, table))
        errors.sort(key=lambda error: error.event)
        remarks = self._remarks(trace, len(rows))
        return Checked(trace, self._declarations, errors, table, occurrences, remarks, state.undefined)

    def _partly_given(self, trace: Trace, rows: Any, occurrences: Any, table: Any) -> Iterator[Error]:
        """What was given away with bytes that were never given a value and are no padding, each place once."""
        looked_up = PartlyGiven(self._subject, trace, self._declarations, table)
        for number in np.flatnonzero(rows["kind"] == objects.PARTLY).tolist():
            for row in occurrences[occurrences["error"] == number][:MOST_LOOKED_AT]:
                if found := looked_up.missing(row):
                    fields: dict[str, Any] = {n: int(row[n]) for n in ("event", "argument", "object", "size")}
                    fields |= {"address": found.address, "length": found.length, "missing": found.words}
                    fields |= {"writes": objects.CALLS_WITH, "count": 1, "death": -1, "other": 0}
                    yield Error(kind=Kind.UNDEFINED, number=number, **fields)
                    break

    def _remarks(self, trace: Trace, found: int) -> list[str]:
        """What limits the check of a run, in sentences."""
        remarks = []
        if trace.header.flags & RING:
            remarks.append("only the end of the run was recorded: objects from before are not known")
        if self._switches:
            remarks.append(f"`{self._switches[0]}` changes to other stacks: use after return is not looked for")
        remarks += [f"[memory] allocators: the program has no function `{name}`" for name in self._unknown]
        if found == objects.MOST_ERRORS:
            remarks.append(f"more than {found:,} places have errors: the others are not told")
        return remarks


def _error(number: int, row: Any) -> Error:
    fields: dict[str, Any] = {name: int(row[name]) for name in ROW.names or () if name != "kind"}
    fields["death"] -= 1
    return Error(kind=_NAMES[int(row["kind"])], number=number, **fields)


def _closed_handles(trace: Trace, table: Any) -> tuple[Any, list[Error]]:
    """The table of objects with a row for each handle that was used when it was closed, and these uses."""
    found = misuses(trace)
    rows = np.zeros(len(found), objects.OBJECT)
    for row, misuse in zip(rows, found, strict=True):
        row["base"], row["kind"], row["declared"] = misuse.address, objects.HANDLE, misuse.opened
        row["frame"] = row["scope"] = -1
        row["birth"], row["death"] = misuse.opened, misuse.closed + 1
    errors = []
    for number, misuse in enumerate(found, len(table)):
        kind, where = Kind.TWICE if misuse.closes else Kind.FREED, (misuse.event, misuse.argument, number)
        errors.append(Error(kind, -1, *where, 0, misuse.times, 0, misuse.closed, misuse.address, 0, 0))
    return np.concatenate([table, rows]) if found else table, errors


def _leaks(trace: Trace, table: Any) -> list[Error]:
    """Blocks that were not given back when the run ended; ``writes`` 1: they were still reachable."""
    from whence.subject.memory_leaks import reachable_blocks

    reachable, end = reachable_blocks(trace, table), trace.events
    lives = (table["kind"] == objects.HEAP) & (table["death"] == 0) & (table["parent"] == 0)
    kept = np.flatnonzero(lives).tolist()
    blocks = [(n, int(n in reachable), int(table[n]["size"]), int(table[n]["base"])) for n in kept]
    return [Error(Kind.LEAK, -1, end, -1, n, writes, 1, size, -1, base, 0, 0) for n, writes, size, base in blocks]
