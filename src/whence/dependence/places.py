"""What accesses to memory touch as far as the program's text tells.

A *place* is a variable, a member of a structure type, or anything of a type that is reached through a pointer. Two
accesses may touch the same when they have a place in common.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

import numpy as np

from whence.probe.layout import NO_SLOT, Kind
from whence.probe.library import FUNCTIONS, LibraryFunction
from whence.program.model import Instruction, Operand
from whence.program.program import FunctionRef
from whence.subject.subject import Subject

Place = Hashable
Places = frozenset[Place]

OUTPUT: Place = "output"  # what the run prints
COPIED: Place = "copied"  # a whole structure, of a type that the text does not tell
PART: Place = "part"  # a part of such a structure
CHARACTERS: Place = ("pointed", "i8")
FIRST_LIBRARY = -2  # a callee of -2 - n is library function n
LIBRARY = {f.number: f for f in reversed(FUNCTIONS.values())}
GLOBAL = re.compile(r'@("[^"]*"|[-\w$.]+)')
MEMBER = re.compile(r"getelementptr.* (%[\w.]+), ptr .*?, i32 \d+, i32 (\d+)")
NOTHING: Places = frozenset()
WRITING = frozenset({int(Kind.STORE), int(Kind.COPY), int(Kind.SET), int(Kind.CALL)})
STEPS = 16  # address computations that are followed


class Definitions:
    """The instructions that define the registers of functions, by their names."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str | None, Instruction]] = {}

    def of(self, ref: FunctionRef) -> dict[str | None, Instruction]:
        """Those of one function."""
        if ref.id not in self._known:
            self._known[ref.id] = {i.result: i for i in ref.function.instructions() if i.result}
        return self._known[ref.id]


class AccessedPlaces:
    """All places that the sites of one program may read and write (sites of ``Subject.plan``)."""

    def __init__(self, subject: Subject) -> None:
        self._program, self._plan = subject.program, subject.plan
        self._definitions = Definitions()
        self._read: dict[int, Places] = {}
        self._written: dict[int, Places] = {}

    def read(self, site: int) -> Places:
        """What a load, a copy or a call of the library may read."""
        if site not in self._read:
            self._read[site] = self._read_at(site)
        return self._read[site]

    def written(self, site: int) -> Places:
        """What a store, a copy or a call of the library may write."""
        if site not in self._written:
            self._written[site] = self._written_at(site)
        return self._written[site]

    def _read_at(self, site: int) -> Places:
        row, instruction, ref = self._at(site)
        if row["kind"] == Kind.LOAD:
            return self._loaded(row, instruction, ref)
        if row["kind"] == Kind.COPY:
            return frozenset({self._object(instruction.operands[1].text, ref) or COPIED, COPIED, PART})
        return self._of_arguments(instruction, ref)

    def _written_at(self, site: int) -> Places:
        if self._plan.sites[site]["kind"] not in WRITING:
            return NOTHING
        row, instruction, ref = self._at(site)
        if row["kind"] == Kind.STORE:
            return self._stored(row, instruction, ref)
        if row["kind"] in (Kind.COPY, Kind.SET):
            return frozenset({self._object(instruction.operands[0].text, ref) or COPIED, COPIED})
        if row["callee"] <= FIRST_LIBRARY:
            return self._by_library(LIBRARY[int(FIRST_LIBRARY - row["callee"])], instruction, ref)
        return NOTHING

    def _at(self, site: int) -> tuple[np.void, Instruction, FunctionRef]:
        row = self._plan.sites[site]
        number = int(row["instruction"])
        return row, self._program.instruction(number), self._program.function_of_instruction(number)

    def _loaded(self, row: np.void, load: Instruction, ref: FunctionRef) -> Places:
        if row["aux"] != NO_SLOT:
            return frozenset({("private", ref.id, int(row["aux"]))})
        place = self._object(load.operands[0].text, ref)
        if place is None:
            return frozenset({("pointed", load.type), ("direct", load.type), COPIED})
        return frozenset(
            {place, ("pointed", load.type), *([] if _is_whole(place, load.operands[0].text) else [COPIED])}
        )

    def _stored(self, row: np.void, store: Instruction, ref: FunctionRef) -> Places:
        if row["aux"] != NO_SLOT:
            return frozenset({("private", ref.id, int(row["aux"]))})
        place = self._object(store.operands[1].text, ref)
        if place is None:
            return frozenset({("pointed", store.type), PART})
        return frozenset({place, ("direct", store.type), *([] if _is_whole(place, store.operands[1].text) else [PART])})

    def _by_library(self, known: LibraryFunction, call: Instruction, ref: FunctionRef) -> Places:
        """A call that is not pure may write what its arguments point to."""
        places = NOTHING if known.pure else self._of_arguments(call, ref)
        return places | {OUTPUT} if known.prints else places

    def _of_arguments(self, call: Instruction, ref: FunctionRef) -> Places:
        pointers = [o for o in call.operands if o.type == "ptr" and o.text != "null" and not _is_text(o)]
        return frozenset(self._object(o.text, ref) or CHARACTERS for o in pointers)

    def _object(self, pointer: str, ref: FunctionRef) -> Place | None:
        """The variable, or the member of a structure type, that a pointer points into; None: the text does not tell."""
        for _ in range(STEPS):
            if not pointer.startswith("%"):
                match = GLOBAL.search(pointer)
                return ("global", match[1]) if match else None
            definition = self._definitions.of(ref).get(pointer)
            if definition is None or definition.opcode not in {"alloca", "getelementptr", "bitcast"}:
                return None
            if definition.opcode == "alloca":
                return "local", ref.id, pointer
            if match := MEMBER.search(definition.text):
                return "member", match[1], match[2]
            pointer = definition.operands[0].text
        return None


class NamedPlaces:
    """The one place that a load or a store names itself: a variable as a whole, or a member of a structure type.

    Accesses to elements, through pointers and by library calls name none.
    """

    def __init__(self, subject: Subject) -> None:
        self._program, self._plan = subject.program, subject.plan
        self._definitions = Definitions()

    def read(self, site: int) -> Places:
        """What a load names."""
        return self._named(site, Kind.LOAD)

    def written(self, site: int) -> Places:
        """What a store names."""
        return self._named(site, Kind.STORE)

    def _named(self, site: int, kind: Kind) -> Places:
        row = self._plan.sites[site]
        if row["kind"] != kind:
            return NOTHING
        number = int(row["instruction"])
        ref = self._program.function_of_instruction(number)
        if row["aux"] != NO_SLOT:
            return frozenset({("private", ref.id, int(row["aux"]))})
        place = self._pointed_to(self._program.instruction(number).operands[-1].text, ref)
        return NOTHING if place is None else frozenset({place})

    def _pointed_to(self, pointer: str, ref: FunctionRef) -> Place | None:
        if pointer.startswith("@"):
            return "global", pointer
        definition = self._definitions.of(ref).get(pointer)
        if definition is None:
            return None
        if definition.opcode == "alloca":
            return "local", ref.id, pointer
        match = MEMBER.search(definition.text)
        return ("member", match[1], match[2]) if match else None


def _is_text(operand: Operand) -> bool:
    """Whether an argument is a string of the program's text, which nothing writes."""
    return operand.text.startswith("@.str")


def _is_whole(place: Place, pointer: str) -> bool:
    """Whether a pointer points to a variable as a whole, not into an array or a structure."""
    return isinstance(place, tuple) and place[-1] == pointer.removeprefix("@")


def is_local(place: Place) -> bool:
    """Whether a place is a variable of one function."""
    return isinstance(place, tuple) and place[0] in {"private", "local"}
