"""Bytes that went out without ever having been given a value, among others that had: which of them are no padding.

The pass over a run notes calls that may give such bytes away. Here all writes to them since their object was born are
looked up, and what is left is held against the object's type: what may be padding, and what stands behind a text within
an array of characters in a structure, is not told.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whence.subject.block_types import BlockTypes
from whence.subject.declared import declared_variable
from whence.trace import objects
from whence.trace.effect_records import operations
from whence.trace.effects import COPY, WRITE
from whence.trace.touched import stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from whence.probe.pointers import Declarations
    from whence.program.debug import CType
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

MOST_LOOKED_AT = 20  # times that one place gives such bytes away
MOST_SEGMENTS = 2_000_000  # that are gone through for one of them
LONGEST = 1 << 20  # bytes
KEEPS_CONTENTS = frozenset({"realloc", "reallocarray"})
X87_BYTES = 10  # of a long double that hold its value


class Missing(NamedTuple):
    """What was never given a value: the first byte, how many, and words for it."""

    address: int
    length: int
    words: str


class PartlyGiven:
    """Looks for such bytes in one recorded run."""

    def __init__(self, subject: Subject, trace: Trace, declarations: Declarations, table: Any) -> None:
        self._subject, self._trace, self._declarations, self._table = subject, trace, declarations, table
        self._types = BlockTypes(subject, trace)

    def missing(self, occurrence: Any) -> Missing | None:
        """The first bytes of what was given away that nothing wrote and that are no padding; None: there are none."""
        row = self._table[int(occurrence["object"])]
        address, length = int(occurrence["address"]), int(occurrence["length"])
        found = self._type(row)
        if found is None or not found.size or length > LONGEST:
            return None
        first = address - int(row["base"])
        is_written = self._written(address, length, int(row["birth"]), int(occurrence["event"]))
        if is_written is None:
            return None
        for start, end, name, is_text in _values(found, int(row["size"]) // found.size):
            low, high = max(start - first, 0), min(end - first, length)
            part = is_written[low:high] if low < high else is_written[:0]
            if part.all() or (is_text and part.any()):
                continue
            at = low + int(np.argmin(part))
            count = int(np.argmax(np.append(part[at - low :], True)))
            told = f"`{name}`" if name else f"{count} of {end - start} bytes, from byte {first + at} on,"
            return Missing(address + at, count, told)
        return None

    def _type(self, row: Any) -> CType | None:
        """The declared type of an object, of which the size is known."""
        if row["kind"] == objects.HEAP:
            made = int(row["declared"])
            if (self._trace.instruction(made).callee or "").removeprefix("@") in KEEPS_CONTENTS:
                return None
            return self._types.made_as(made, int(row["size"]))
        variable, _ = declared_variable(self._subject, self._declarations, int(row["kind"]), int(row["declared"]))
        found = variable.type if variable is not None else None
        return found if found is not None and found.size == row["size"] else None

    @cached_property
    def _operations(self) -> Any:
        rows = operations(self._trace)
        return rows[np.isin(rows["opcode"], (WRITE, COPY))]

    def _written(self, address: int, length: int, birth: int, event: int) -> NDArray[np.bool_] | None:
        """Which of the bytes something wrote between two events; None: that is too long to look."""
        segments = self._trace.columns.segments["event"][: self._trace.segments]
        first, last = (int(np.searchsorted(segments, at, "right")) for at in (birth, event))
        if last - first > MOST_SEGMENTS:
            return None
        found = stored(self._trace, max(first - 1, 0), last)
        rows = self._operations
        rows = rows[slice(*np.searchsorted(rows["event"], (birth, event)))]
        starts = np.concatenate([found.address, rows["x"]])
        sizes = np.concatenate([found.length, np.where(rows["opcode"] == COPY, rows["z"], rows["y"])])
        touches = (starts < address + length) & (starts + sizes > address)
        is_written = np.zeros(length, np.bool_)
        for start, size in zip(starts[touches].tolist(), sizes[touches].tolist(), strict=True):
            is_written[max(start - address, 0) : max(start + size - address, 0)] = True
        return is_written


def _values(ctype: CType, count: int, base: int = 0, path: str = "") -> Iterator[tuple[int, int, str, bool]]:
    """The bytes of ``count`` values of a type that are no padding: first, end, the member, and whether they are a text
    within a structure, of which only a part need have been written.
    """
    plain = ctype.plain
    if plain.kind not in ("struct", "union", "array", "float", "complex"):
        yield base, base + count * plain.size, path, False
        return
    for number in range(count):
        at = base + number * plain.size
        if plain.kind == "array":
            element = plain.element
            if element is None or not element.size:
                continue
            if element.plain.kind in ("struct", "union", "array", "float", "complex"):
                yield from _values(element, plain.size // element.size, at, path)
            else:
                yield at, at + plain.size, path, bool(path) and element.plain.kind == "char"
        elif plain.kind == "struct":
            for member in plain.members:
                if not member.bits:
                    name = f"{path}.{member.name}" if path else member.name
                    yield from _values(member.type, 1, at + member.offset // 8, name)
        elif plain.kind == "float":
            is_extended = plain.size > X87_BYTES and not plain.is_quad
            yield at, at + (X87_BYTES if is_extended else plain.size), path, False
