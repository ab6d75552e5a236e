"""What lies where in an object of a C type: the part at some bytes, all scalars, the places of pointers.

Debug types say what an object holds, its *room* how many bytes there are: what is declared without a length (a flexible
array member, ``int v[n]``) reaches to the end of it, and nothing is said of what lies beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from whence.program.paths import AccessPath, select

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.program.debug import CType, Member

POINTER_BYTES = 8
MOST_POINTERS = 1 << 16  # of one object that are listed


@dataclass(slots=True, frozen=True)
class Part:
    """A part of an object: its ``path``, where it begins in the object, and its bytes.

    The bits of a bit-field's path count from the first of these bytes. ``is_padding``: the path is what the bytes are
    padding of.
    """

    path: AccessPath
    offset: int
    size: int
    is_padding: bool = False

    def behind(self, offset: int) -> Part:
        """The same part of something that begins ``offset`` bytes earlier."""
        return Part(self.path, self.offset + offset, self.size, self.is_padding) if offset else self


def part_at(path: AccessPath, room: int, offset: int, length: int = 0, wanted: CType | None = None) -> Part:
    """The smallest part of an object that holds all of some bytes (a whole member, element or scalar).

    Of a union's members the one is taken that has a part of that ``length`` (0: of any) there, and that is of the type
    that is ``wanted``, else the first.
    """
    end = offset + max(1, length)
    plain = path.type.plain if path.type is not None else None
    whole = Part(path, 0, room)
    if plain is not None and plain.kind == "array":
        element, size = _element(plain)
        if element is None or end - offset + offset % size > size:
            return whole
        start = offset - offset % size
        inner = AccessPath(f"{path.postfix}[{offset // size}]", element)
        return part_at(inner, min(size, room - start), offset - start, length, wanted).behind(start)
    if plain is None or plain.kind not in ("struct", "union") or not plain.members:
        return whole
    places = [(member, *_span(plain, member, room)) for member in plain.members]
    holders = [p for p in places if p[1] <= offset and end <= p[1] + p[2]]
    if not holders:
        touched = any(start < end and offset < start + size for _, start, size in places)
        return whole if touched else Part(path, 0, room, is_padding=True)
    found = [_within(path, member, start, size, offset, length, wanted) for member, start, size in holders]
    return found[0] if len(found) == 1 else min(found, key=lambda part: _misfit(part, length, wanted))


def _within(
    path: AccessPath, member: Member, start: int, size: int, offset: int, length: int, wanted: CType | None
) -> Part:
    inner = select(path, member)
    if member.bits:
        return Part(replace(inner, bits=(member.offset % 8, member.bits)), start, size)
    return part_at(inner, size, offset - start, length, wanted).behind(start)


def _misfit(part: Part, length: int, wanted: CType | None) -> tuple[bool, bool, bool, bool]:
    plain = part.path.type.plain if part.path.type is not None else None
    wrong_type = wanted is not None and plain is not wanted
    wrong_length = length > 0 and (part.size != length or part.path.bits is not None)
    return part.is_padding, wrong_type, wrong_length, plain is None or plain.is_aggregate


def _element(array: CType) -> tuple[CType | None, int]:
    """An array's element and its bytes; None where they are not known."""
    if any(count < 0 for count in array.counts[1:]):
        return None, 0
    element = array.element
    return (element, element.size) if element is not None and element.size > 0 else (None, 0)


def count_of(array: CType, room: int) -> int:
    """How many elements of an array there is room for, at most as many as are declared (one stands for any number)."""
    element, size = _element(array)
    if element is None:
        return 0
    declared = array.counts[0] if array.counts else -1
    return room // size if declared <= 1 else min(declared, room // size)


def is_open(plain: CType | None) -> bool:
    """Whether a type ends with an array of no fixed length, as ``struct {int n; char text[];}`` does."""
    if plain is None:
        return False
    if plain.kind == "array":
        return not plain.counts or plain.counts[0] <= 0
    return plain.kind == "struct" and bool(plain.members) and is_open(plain.members[-1].type.plain)


def _span(plain: CType, member: Member, room: int) -> tuple[int, int]:
    """Where a member begins, and the bytes of it that lie in the room."""
    start = member.offset // 8
    size = (member.offset % 8 + member.bits + 7) // 8 if member.bits else member.type.size
    if plain.kind == "struct" and member is plain.members[-1] and (is_open(member.type.plain) or room > plain.size):
        size = room - start if member.type.plain.kind in ("array", "struct") else size
    return start, max(0, min(size, room - start))


def scalars(path: AccessPath, room: int, texts: bool = False, first: int = 0, end: int | None = None) -> Iterator[Part]:
    """The scalars of an object that hold bytes from ``first`` on and before ``end`` (None: all), in order.

    With ``texts`` an array of characters counts as one. Of a union what only has bytes of the members before it is left
    out.
    """
    plain = path.type.plain if path.type is not None else None
    end = room if end is None else min(end, room)
    if plain is None or first >= end:
        return
    if plain.kind == "array":
        element, size = _element(plain)
        if element is not None and texts and element.plain.kind == "char":
            yield Part(path, 0, room)
            return
        for index in range(max(first, 0) // size, min(count_of(plain, room), -(-end // size))) if element else ():
            start = index * size
            inner = AccessPath(f"{path.postfix}[{index}]", element)
            yield from (part.behind(start) for part in scalars(inner, size, texts, first - start, end - start))
    elif plain.kind in ("struct", "union"):
        yield from _of_members(path, plain, room, texts, first, end)
    elif 0 < plain.size <= room and first < plain.size:
        yield Part(path, 0, plain.size)


def _of_members(path: AccessPath, plain: CType, room: int, texts: bool, first: int, end: int) -> Iterator[Part]:
    if plain.kind == "union":
        yield from (p for p in _of_union(path, plain, room, texts) if p.offset < end and first < p.offset + p.size)
        return
    for member in plain.members:
        start, size = _span(plain, member, room)
        if start < end and first < start + size:
            yield from _of_member(path, member, start, size, texts, first, end)


def _of_member(
    path: AccessPath, member: Member, start: int, size: int, texts: bool, first: int, end: int
) -> Iterator[Part]:
    inner = select(path, member)
    if member.bits:
        yield Part(replace(inner, bits=(member.offset % 8, member.bits)), start, size)
        return
    yield from (part.behind(start) for part in scalars(inner, size, texts, first - start, end - start))


def _of_union(path: AccessPath, plain: CType, room: int, texts: bool) -> Iterator[Part]:
    told: set[int] = set()
    for member in plain.members:
        own: set[int] = set()
        start, size = _span(plain, member, room)
        for part in _of_member(path, member, start, size, texts, 0, room) if size else ():
            places = range(part.offset, part.offset + part.size)
            if not told.issuperset(places):
                own.update(places)
                yield part
        told |= own


def pointers(ctype: CType, room: int) -> list[tuple[NDArray[np.int64], CType]]:
    """Where the pointers of an object lie, those of one type together: offsets in bytes, and the pointers' plain type.

    Of a union all members count.
    """
    plain = ctype.plain
    if plain.kind == "pointer":
        return [(np.zeros(1, np.int64), plain)] if room >= POINTER_BYTES else []
    if plain.kind == "array":
        element, size = _element(plain)
        inner = pointers(element, size) if element is not None else []
        each = sum(len(offsets) for offsets, _ in inner)
        if not each:
            return []
        starts = size * np.arange(min(count_of(plain, room), MOST_POINTERS // each), dtype=np.int64)
        return [((starts[:, None] + offsets).ravel(), target) for offsets, target in inner]
    found: list[tuple[NDArray[np.int64], CType]] = []
    if plain.kind in ("struct", "union"):
        for member in plain.members:
            start, size = _span(plain, member, room)
            inner = pointers(member.type, size) if not member.bits else []
            found += [(start + offsets, target) for offsets, target in inner]
    return found
