"""The objects that live at a point of a recorded run: static variables, locals of the open calls, blocks, arguments.

They are those of the pass that checks memory (``memory_check.py``), and two kinds that it has no use for: scalars that
no pointer goes to, whose addresses are those of their accesses, and what the system gave ``main``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.findings import plural
from whence.probe.instrument import Variant
from whence.probe.layout import NO_SLOT, is_frame_local
from whence.probe.layout import Kind as Site
from whence.probe.plan import ADDRESS, ENTRY
from whence.program.types import known_size_of
from whence.run.point import statement_of
from whence.subject.block_types import BlockTypes
from whence.subject.declared import declared_variable
from whence.subject.memory_check import Checked, Checker
from whence.trace import objects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.findings import Statement
    from whence.program.debug import CType, Variable
    from whence.program.program import FunctionRef
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

# Of locals by their registers: the bytes, and the accesses (segment, and unit of the address in it).
_PlainLocals = dict[str, tuple[int, list[tuple[int, int]]]]
Reader = Callable[[int, int], bytes | None]  # address and length: the bytes there at a point; None: not all are known

RETURN_VALUE = "return value"
MOST_ARGUMENTS = 1 << 16
LONGEST_ARGUMENT = 1 << 12
WORD = 8


_OUTER = re.compile(r"[( ]scope: !(\d+)")


class Kind(StrEnum):
    """What an object is."""

    STATIC = "static"
    LOCAL = "local"  # parameters, too
    BLOCK = "block"
    ARGUMENTS = "arguments"  # of the program: argv, envp and their texts


@dataclass(slots=True, frozen=True)
class Frame:
    """An open call: its number in the trace, its function, how many calls are below it (0: the outermost), which of the
    open calls of that function it is (from 1, the outermost), and the event of the call (-1: not known).
    """

    number: int
    ref: FunctionRef = field(repr=False, compare=False)
    depth: int
    activation: int
    call: int

    @property
    def function(self) -> str:
        """The function's name."""
        return self.ref.name


@dataclass(slots=True, frozen=True)
class LiveObject:
    """An object that lives at a point: its bytes, the variable that it is (None: it has no name), its declared type.

    ``birth`` is the event that made it: of a block the call, of a local its function's beginning, -1 of what was there
    from the start; ``death`` the one that ends it, as far as that is known, else -1. ``module`` is that of a variable
    (-1: none). ``in_scope``: its name means it there.
    """

    kind: Kind
    base: int
    size: int
    name: str = ""
    type: CType | None = None
    variable: Variable | None = None
    frame: Frame | None = None
    birth: int = -1
    death: int = -1
    module: int = -1
    in_scope: bool = True
    text: str = ""  # of what has neither a name nor a place: what it is

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.base + self.size


class RunObjects:
    """The objects of one recorded run; all is computed once. ``checked``, where it is known already."""

    def __init__(
        self, subject: Subject, trace: Trace, variant: Variant = Variant.REPLAY, checked: Checked | None = None
    ) -> None:
        self.subject, self.trace = subject, trace
        self._variant, self._checked = variant, checked
        self.most_frames = sys.maxsize
        self.types = BlockTypes(subject, trace)
        self._scopes: dict[tuple[int, int], frozenset[int]] = {}
        self._plain: dict[int, _PlainLocals] = {}  # by function

    @cached_property
    def checked(self) -> Checked:
        """The pass over the trace that knows its objects."""
        return self._checked or Checker(self.subject, variant=self._variant).check(self.trace)

    def frames(self, event: int) -> list[Frame]:
        """The calls that are open at an event, the outermost first; of many the innermost ones (``most_frames``)."""
        columns, chain = self.trace.columns, list[tuple[int, int]]()
        segment = int(columns.events[event]["segment"])
        while segment >= 0 and len(chain) < self.most_frames:
            number = int(columns.segments[segment]["frame"])
            call = int(columns.frames[number]["call"])
            chain.append((number, call))
            segment = call
        found: list[Frame] = []
        counts: dict[int, int] = {}
        for depth, (number, call) in enumerate(reversed(chain)):
            ref = self.trace.program.functions[int(columns.frames[number]["function"])]
            counts[ref.id] = counts.get(ref.id, 0) + 1
            found.append(Frame(number, ref, depth, counts[ref.id], self.trace.last_event(call) if call >= 0 else -1))
        return found

    def location(self, event: int) -> Statement | None:
        """The statement of an event."""
        return statement_of(self.trace.location(event), self.subject.folder) if event >= 0 else None

    # ---- Static variables --------------------------------------------------------------------------------------------

    @cached_property
    def statics(self) -> list[LiveObject]:
        """The static variables and constants that have an address, in the order of the modules."""
        rows = self.checked.table
        numbers = np.flatnonzero((rows["kind"] == objects.STATIC) & (rows["size"] > 0)).tolist()
        return [self._declared(rows[number], None, -1) for number in numbers]

    def _declared(self, row: Any, frame: Frame | None, point: int) -> LiveObject:
        """The object of a row of the table that the program's text declares; ``point``: where its frame is."""
        declarations, number = self.checked.declarations, int(row["declared"])
        item = declarations.locals[number] if frame is not None else declarations.statics[number]
        variable, words = declared_variable(self.subject, declarations, int(row["kind"]), number)
        found = self._named(item.module, item.register, variable, frame, point)
        kind, birth = (Kind.STATIC, -1) if frame is None else (Kind.LOCAL, int(row["birth"]))
        base, size, death = (int(row[name]) for name in ("base", "size", "death"))
        return replace(found, kind=kind, base=base, size=size, birth=birth, death=death - 1, text=words)

    def _named(
        self, module: int, register: str, variable: Variable | None, frame: Frame | None, point: int
    ) -> LiveObject:
        """An object, whose bytes are still to be told, with its name and type."""
        made = LiveObject(Kind.LOCAL, 0, 0, frame=frame, module=module)
        if variable is None and register == "%retval" and frame is not None:
            ctype = self.subject.expressions[module].debug.function_type(frame.ref.function.name)
            return replace(made, name=RETURN_VALUE, type=ctype.signature[0] if ctype and ctype.signature else None)
        if variable is None or variable.indirect or variable.artificial:
            return made
        in_scope = frame is None or self._is_in_scope(module, variable, point)
        return replace(made, name=variable.name, type=variable.type, variable=variable, in_scope=in_scope)

    def _is_in_scope(self, module: int, variable: Variable, point: int) -> bool:
        """Whether a local's name stands for it at an event of its function."""
        location = self.trace.location(point)
        if location is None or variable.parameter:
            return True
        declared_later = variable.file == location.file and variable.line > location.line
        return not declared_later and variable.scope in self._scopes_around(module, location.scope)

    def _scopes_around(self, module: int, scope: int) -> frozenset[int]:
        """A lexical scope and those that it lies in, by their numbers in the module's metadata."""
        if (module, scope) not in self._scopes:
            text = self.subject.program.modules[module].metadata.get(scope, "")
            outer = _OUTER.search(text) if "!DILexicalBlock" in text else None
            around = self._scopes_around(module, int(outer[1])) if outer else frozenset()
            self._scopes[module, scope] = around | {scope}
        return self._scopes[module, scope]

    # ---- Locals ------------------------------------------------------------------------------------------------------

    def locals(self, event: int) -> list[LiveObject]:
        """The locals and parameters of the calls open at an event, those of the outermost call first."""
        frames = self.frames(event)
        points = [frame.call for frame in frames[1:]] + [event]
        found: list[LiveObject] = []
        for frame, point in zip(frames, points, strict=True):
            found += self.locals_of(frame, point)
        return found

    def locals_of(self, frame: Frame, point: int) -> list[LiveObject]:
        """The locals and parameters of one open call, which is at the event ``point``, in the order of the text."""
        rows = self.checked.table
        frames, numbers = self._placed_locals
        first, end = np.searchsorted(frames, [frame.number, frame.number + 1])
        mine = [
            self._declared(rows[number], frame, point)
            for number in numbers[first:end].tolist()
            if rows[number]["birth"] <= point
        ]
        return sorted([*mine, *self._plain_locals(frame, point)], key=_in_order_of_the_text)

    @cached_property
    def _placed_locals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows in the table of objects of the locals that the pass knows: their frames in order, and the rows."""
        rows = self.checked.table
        is_local = ((rows["kind"] == objects.LOCAL) | (rows["kind"] == objects.COPIED)) & (rows["parent"] == 0)
        numbers = np.flatnonzero(is_local & (rows["size"] > 0) & (rows["base"] != 0))
        frames = rows["frame"][numbers].astype(np.int64)
        order = np.argsort(frames, kind="stable")
        return frames[order], numbers[order]

    def _plain_locals(self, frame: Frame, point: int) -> Iterator[LiveObject]:
        """The locals of a call whose addresses are known from their accesses alone."""
        ref = frame.ref
        debug = self.subject.expressions[ref.module].debug
        birth = self._entry_event(frame)
        if ref.id not in self._plain:
            self._plain[ref.id] = self._plain_accesses(ref)
        for register, (size, accesses) in self._plain[ref.id].items():
            seen = (self._address(frame, segment, unit) for segment, unit in accesses)
            if base := next(filter(None, seen), 0):
                variable = debug.variable_at(ref.function, register)
                made = self._named(ref.module, register, variable, frame, point)
                yield replace(made, base=base, size=size, birth=birth)

    def _plain_accesses(self, ref: FunctionRef) -> _PlainLocals:
        """Those locals of a function with their accesses."""
        numbering = self.subject.numbering_of(self._variant)
        layout, first = numbering.layouts[ref.id], numbering.first_segment[ref.id]
        module = self.subject.program.modules[ref.module]
        placed = {local.result for segment in layout.segments for local, _ in segment.places}
        found: _PlainLocals = {}
        for local in ref.function.blocks[0].instructions:
            if is_frame_local(local) and local.result and local.result not in placed:
                found[local.result] = (known_size_of(local.element_type, module), [])
        for number, segment in enumerate(layout.segments, first):
            for site in segment.sites:
                if site.kind in (Site.LOAD, Site.STORE) and site.aux == NO_SLOT and site.units:
                    pointer = site.instruction.operands[site.kind is Site.STORE].text
                    if pointer in found:
                        found[pointer][1].append((number, site.unit))
        return found

    @cached_property
    def _first_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first segment instance of each static segment in each frame: keys in order, and the rows."""
        rows = self.trace.columns.segments[: self.trace.segments]
        keys = rows["frame"].astype(np.int64) * len(self.trace.plan.segments) + rows["id"]
        found, first = np.unique(keys, return_index=True)
        return found, first

    def _first_row(self, frame: int, segment: int) -> int:
        keys, rows = self._first_rows
        key = frame * len(self.trace.plan.segments) + segment
        at = int(np.searchsorted(keys, key))
        return int(rows[at]) if at < len(keys) and keys[at] == key else -1

    def _address(self, frame: Frame, segment: int, unit: int) -> int:
        """The address that a frame's first instance of a segment recorded; 0: none."""
        row = self._first_row(frame.number, segment)
        if row < 0:
            return 0
        place = int(self.trace.columns.segments[row]["word"]) + unit
        return int.from_bytes(self.trace.units[place : place + 2].tobytes(), "little")

    def _entry_event(self, frame: Frame) -> int:
        """The first event of a call; -1: its beginning was not recorded."""
        row = self._first_row(frame.number, self.subject.numbering_of(self._variant).first_segment[frame.ref.id])
        return int(self.trace.columns.segments[row]["event"]) if row >= 0 else -1

    # ---- Blocks ------------------------------------------------------------------------------------------------------

    def blocks(self, event: int) -> NDArray[np.int64]:
        """The rows in the table of objects of the blocks that live behind an event."""
        numbers, rows = self._heap
        lives = (rows["death"] == 0) | (rows["death"] - 1 > event)
        return np.asarray(numbers[lives & (rows["birth"] <= event) & (rows["size"] > 0)], np.int64)

    @cached_property
    def _heap(self) -> tuple[NDArray[np.int64], Any]:
        """The rows in the table of objects of all blocks: their numbers, and the rows."""
        rows = self.checked.table
        numbers = np.flatnonzero((rows["kind"] == objects.HEAP) & (rows["parent"] == 0))
        return numbers, rows[numbers]

    def block(self, number: int) -> LiveObject:
        """The block of a row of the table of objects."""
        row = self.checked.table[number]
        made, size, death = int(row["declared"]), int(row["size"]), int(row["death"]) - 1
        made_as = self.types.made_as(made, size)
        return LiveObject(Kind.BLOCK, int(row["base"]), size, type=made_as, birth=made, death=death)

    def gone(self, address: int, event: int) -> str:
        """Words for the block that had an address last, and was given back until an event; empty: there was none."""
        _, rows = self._heap
        is_dead = (rows["death"] > 0) & (rows["death"] - 1 <= event)
        holds = (rows["base"] <= address) & (address < rows["base"] + np.maximum(rows["size"], 1))
        numbers = np.flatnonzero(is_dead & holds & (rows["birth"] <= event))
        if not len(numbers):
            return ""
        row = rows[numbers[np.argmax(rows["death"][numbers])]]
        freed = _at(self.location(int(row["death"]) - 1))
        return f"{self.made_by(int(row['declared']), int(row['size']))}, given back{freed}"

    def made_by(self, event: int, size: int) -> str:
        """Words for a block: ``the block of 24 bytes that list.c:31 allocated``."""
        at = self.location(event)
        return f"the block of {plural(size, 'byte')}" + (f" that {at.file}:{at.line} allocated" if at else "")

    # ---- Arguments and functions -------------------------------------------------------------------------------------

    def arguments(self, event: int, read: Reader) -> list[LiveObject]:
        """What ``main`` was given: the arrays ``argv`` and ``envp``, and the texts that they point to now, as far as
        memory can be read.
        """
        main = next((frame for frame in self.frames(event) if frame.function == "main"), None)
        given = self._given(main) if main is not None else []
        if main is None or len(given) < 2 or not given[1]:
            return []
        lengths = [given[0] + 1, _pointers_until_null(given[2], read) if len(given) > 2 else 0]
        found: list[LiveObject] = []
        texts: set[int] = set()
        for base, count in zip(given[1:], lengths, strict=False):
            data = read(base, WORD * count) if 0 < count <= MOST_ARGUMENTS else None
            if data is not None:
                found.append(LiveObject(Kind.ARGUMENTS, base, WORD * count, text="the arguments of `main`"))
                texts |= set(np.frombuffer(data, np.uint64).tolist()) - {0}
        for base in sorted(texts):
            if size := _length_of_text(base, read):
                found.append(LiveObject(Kind.ARGUMENTS, base, size, text="a text that `main` was given"))
        return found

    def _given(self, frame: Frame) -> list[int]:
        """The values with which a call's parameters were filled, as far as they are known."""
        numbering = self.subject.numbering_of(self._variant)
        entry = numbering.layouts[frame.ref.id].segments[0]
        first = self._entry_event(frame)
        stored = {
            site.instruction.operands[0].text: self.trace.value(first + number) or 0
            for number, site in enumerate(entry.sites)
            if first >= 0 and site.kind is Site.STORE
        }
        return [stored.get(parameter.text, 0) for parameter in frame.ref.function.parameters]

    @cached_property
    def functions(self) -> dict[int, str]:
        """The functions by their addresses: those that pointers may go to, as far as the run called them."""
        trace, statics = self.trace, self.trace.plan.segments
        wanted = np.flatnonzero((statics["flags"][:-1] & (ENTRY | ADDRESS)) == (ENTRY | ADDRESS))
        rows = trace.columns.segments[: trace.segments]
        rows = rows[np.isin(rows["id"], wanted)]
        ids, first = np.unique(rows["id"], return_index=True)
        found = {}
        for number, row in zip(ids.tolist(), rows[first], strict=True):
            place = int(row["word"]) + 1
            address = int.from_bytes(trace.units[place : place + 2].tobytes(), "little")
            found[address] = trace.program.functions[int(statics[number]["function"])].name
        return found


def _in_order_of_the_text(found: LiveObject) -> tuple[bool, int, int]:
    variable = found.variable
    return variable is None, -1 if variable and variable.parameter else 0, variable.line if variable else 0


def _pointers_until_null(base: int, read: Reader) -> int:
    """How many pointers an array has, the null pointer at its end included; 0: it cannot be read."""
    for count in range(1, MOST_ARGUMENTS):
        data = read(base + WORD * (count - 1), WORD) if base else None
        if data is None:
            return 0
        if not any(data):
            return count
    return 0


def _length_of_text(base: int, read: Reader) -> int:
    """The bytes of a text with its NUL; 0: it cannot be read."""
    for length in range(LONGEST_ARGUMENT):
        data = read(base + length, 1)
        if data is None:
            return 0
        if data == b"\0":
            return length + 1
    return 0


def _at(place: Statement | None) -> str:
    return f" on {place.file}:{place.line}" if place else ""
