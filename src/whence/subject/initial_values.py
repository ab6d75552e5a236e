"""Initial values of static variables as statements: which of them a recorded run read before anything else was there.

An entry of a table is executed by nobody, so coverage says nothing of it. But a run reads it or does not, and that says
as much: an entry that is wrong makes those runs fail that read it. An entry belongs to the line on which it stands.
Tables that another program made, such as those of a parser, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.probe.layout import ADDRESS_UNITS, NO_SLOT, Kind
from whence.probe.variables import variables
from whence.program.c_source import CSource
from whence.program.initialisers import Initialiser, initialised, initialisers
from whence.program.parts import part_at
from whence.program.paths import AccessPath
from whence.trace.columns import N_CELL, CellKind
from whence.trace.effect_records import static_addresses

if TYPE_CHECKING:
    from tree_sitter import Node

    from whence.program.debug import Variable
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

Integers = NDArray[np.int64]
MOST_ENTRIES = 1 << 16  # of a variable; one with more is one entry
_FROM = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?\d+[ \t]+"([^"\n]+)"', re.MULTILINE)
FAR = 1 << 40  # more bytes than a variable has, more edges than a slice has


@dataclass(slots=True, frozen=True)
class InitialValue:
    """One entry of an initialiser: where it stands, what of the variable it gives, in C, and all that the source has.

    ``others`` are the initialisers of the whole variable.
    """

    statement: Statement
    path: AccessPath
    variable: Variable
    given: Initialiser
    others: Sequence[Initialiser] = field(repr=False)


@dataclass(slots=True)
class InitialReads:
    """The entries that a run read, by their numbers in ``InitialValues.entries``: parallel arrays.

    ``event`` is one that read the entry, of those in the slice the one nearest to the symptom; ``depth`` (int64) is its
    distance from that in dependence edges, -1 outside of the slice.
    """

    entry: Integers
    event: Integers
    depth: Integers


@dataclass(slots=True)
class _Static:
    """A static variable with an initialiser: its entries in order of their bytes, which are ``starts`` and ``ends``.

    ``numbers`` are those in ``InitialValues.entries``, by position here, of the entries that were read so far.
    """

    variable: Variable
    entries: list[Initialiser]
    starts: Integers
    ends: Integers
    numbers: dict[int, int] = field(default_factory=dict)


@dataclass
class InitialValues:
    """The entries that runs of one subject have read so far, numbered as they came."""

    subject: Subject
    entries: list[InitialValue] = field(default_factory=list)
    _statics: dict[int, _Static | None] = field(default_factory=dict)
    _sources: dict[str, tuple[CSource, dict[str, list[Node]]] | None] = field(default_factory=dict)

    def reads(self, trace: Trace, sites: NDArray[np.int32], event_depth: NDArray[np.int32]) -> InitialReads:
        """What a run read; ``sites`` are those of its first events, ``event_depth`` is that of its slice."""
        bases = static_addresses(trace)
        known = self._variables[: len(bases)]
        order = np.argsort(bases[: len(known)], kind="stable")
        loads = _initial_loads(trace, sites)
        if not len(order) or not loads.shape[1]:
            return InitialReads(*np.zeros((3, 0), np.int64))
        event, address, length, is_copied = loads
        static = order[np.maximum(np.searchsorted(bases[order], address, side="right") - 1, 0)]
        sizes = np.array([v.type.size if v is not None and v.type is not None else 0 for v in known], np.int64)
        offset = address - bases[static]
        depth = event_depth[event].astype(np.int64) - 1
        inside = (offset >= 0) & (offset < sizes[static])
        inside &= (is_copied == 0) | np.array(self._is_constant[: len(bases)], np.bool_)[static]
        return self._nearest(trace, np.stack((static, offset, length, event, depth))[:, inside])

    def _nearest(self, trace: Trace, loads: Integers) -> InitialReads:
        """Of the loads of each entry (static variable, offset, length, event, depth) the one nearest to the symptom."""
        static, offset, length, event, depth = loads
        loads = loads[:, np.lexsort((event, np.where(depth < 0, FAR, depth), length, offset, static))]
        is_new = np.append(True, (np.diff(loads[:3]) != 0).any(axis=0))[: loads.shape[1]]
        best: dict[int, tuple[int, int]] = {}
        for number, at, size, reader, near in loads[:, is_new].T.tolist():
            for entry in self._touched(trace, reader, number, at, size):
                before = best.get(entry)
                if before is None or (near >= 0 and (before[1] < 0 or near < before[1])):
                    best[entry] = reader, near
        rows = [(entry, *seen) for entry, seen in sorted(best.items())]
        return InitialReads(*np.array(rows, np.int64).reshape(-1, 3).T)

    def _touched(self, trace: Trace, event: int, number: int, offset: int, length: int) -> list[int]:
        """The numbers of the entries that give some of the bytes of a static variable, which an event read."""
        if number not in self._statics:
            self._statics[number] = self._static(number)
        static = self._statics[number]
        if static is None:
            return []
        low = int(np.searchsorted(static.ends, offset, side="right"))
        high = int(np.searchsorted(static.starts, offset + length, side="left"))
        if high == low + 1 and not _agree(static.entries[low], offset, length, trace.value(event)):
            self._misread(static)
            low, high = 0, 1
        return [self._number(static, position) for position in range(low, high)]

    def _number(self, static: _Static, position: int) -> int:
        """The number of an entry of a variable, a new one where no run has read it before."""
        if position not in static.numbers:
            static.numbers[position] = len(self.entries)
            self.entries.append(self._told(static, position))
        return static.numbers[position]

    def _misread(self, static: _Static) -> None:
        """The source gives other values than those that runs read: what gives which bytes is not known."""
        numbers = list(static.numbers.values())
        static.entries = [Initialiser(0, FAR, static.variable.line)]
        static.starts, static.ends = np.zeros(1, np.int64), np.full(1, FAR)
        static.numbers = dict(enumerate(numbers[:1]))
        for number in numbers:
            self.entries[number] = self._told(static, 0)

    @cached_property
    def _variables(self) -> list[Variable | None]:
        """The static variables in the order in which a recording tells where they lie."""
        found = zip(self.subject.program.modules, self.subject.expressions, strict=True)
        return [expressions.debug.globals.get(name) for module, expressions in found for name in variables(module)]

    @cached_property
    def _is_constant(self) -> list[bool]:
        """Whether nothing can write to each of them."""
        modules = self.subject.program.modules
        return [" constant " in module.globals[name] for module in modules for name in variables(module)]

    def _static(self, number: int) -> _Static | None:
        """A variable's entries; None where the source has no initialiser for it, or was generated."""
        variable = self._variables[number]
        source = self._source(variable.file) if variable is not None else None
        if variable is None or source is None:
            return None
        text, declarators = source
        near = (node for node in declarators.get(variable.name, []) if _is_at(node, variable.line))
        declarator = next(near, None)
        given = initialisers(text, declarator, variable) if declarator is not None else []
        if not given:
            return None
        if len(given) > MOST_ENTRIES:
            given = [Initialiser(0, max(one.start + one.size for one in given), variable.line)]
        return _Static(
            variable,
            given,
            np.array([one.start for one in given], np.int64),
            np.maximum.accumulate(np.array([one.start + one.size for one in given], np.int64)),
        )

    def _told(self, static: _Static, position: int) -> InitialValue:
        """An entry of a variable with its line and with what it gives."""
        variable, one = static.variable, static.entries[position]
        assert variable.type is not None
        file, size = self.subject.places.name(variable.file), variable.type.size
        whole = AccessPath(variable.name, variable.type, variable)
        path = whole if one.size == FAR else part_at(whole, size, one.start, one.size).path
        return InitialValue(Statement(file, one.line), path, variable, one, static.entries)

    def _source(self, file: str) -> tuple[CSource, dict[str, list[Node]]] | None:
        if file not in self._sources:
            try:
                source = CSource(Path(file).read_bytes())
                self._sources[file] = None if is_generated(source, file) else (source, initialised(source))
            except OSError:
                self._sources[file] = None
        return self._sources[file]


def is_generated(source: CSource, file: str) -> bool:
    """Whether a file was made from another one, as a parser is by yacc: then it says which of its lines come of that.

    What has no such line is a program's own doing, such as a parser's tables, and no fault of its author.
    """
    return any(Path(name.decode("latin-1")).name != Path(file).name for name in _FROM.findall(source.text))


def _is_at(declarator: Node, line: int) -> bool:
    """Whether a declarator holds a line on which debug information has its variable."""
    return declarator.start_point[0] < line <= declarator.end_point[0] + 1


def _agree(entry: Initialiser, offset: int, length: int, read: int | None) -> bool:
    """Whether what an event read is what an entry of the source gives, where both are known."""
    if entry.value is None or read is None or (entry.start, entry.size) != (offset, length):
        return True
    return (entry.value - read) & ((1 << 8 * length) - 1) == 0


def _initial_loads(trace: Trace, sites: NDArray[np.int32]) -> Integers:
    """What loads, library calls and copies read: rows of events, addresses, lengths, and whether it was copied.

    Nothing had written what the first two read; of copies that is not known.
    """
    rows, columns = trace.plan.sites, trace.columns
    loads = (rows["kind"] == Kind.LOAD) & (rows["aux"] == NO_SLOT)
    events = np.flatnonzero(loads[sites] & (columns.events["definition"][: len(sites)] == 0))
    own = np.stack((events, trace.addresses(events), rows["size"][sites[events]], np.zeros_like(events)))
    cells = columns.cells[: columns.counts[N_CELL]]
    cells = cells[(cells["kind"] == CellKind.READ) & (cells["definition"] == 0) & (cells["parent"] < len(sites))]
    library = np.stack([cells["parent"], cells["address"], cells["length"], np.zeros(len(cells))])
    copies = np.flatnonzero((rows["kind"] == Kind.COPY)[sites])
    places = columns.segments["word"][columns.events["segment"][copies]] + rows["unit"][sites[copies]]
    source, length = (trace.wide(places + ADDRESS_UNITS * n) for n in (1, 2))
    copied = np.stack((copies, source, length, np.ones_like(copies)))
    found = np.concatenate([part.astype(np.int64) for part in (own, library, copied)], axis=1)
    return np.asarray(found[:, found[1] != 0])  # address 0: the run ended before it
