"""The memory of a run at a point, told in C: a path for each address, values, all variables with what they hold.

A variable's bytes bear its name. A block of the heap has none: it is told by a pointer that leads to it, from a
variable over other blocks (``list->head->next``), and by that pointer's declared type. Of several such *leads* the one
counts that tells most (``_rank``), then the one of the fewest pointers, then the one found first: from the innermost
call's locals outwards, then from static variables. The search goes only as far as it is asked for, at most ``DEEPEST``
pointers deep, and looks for pointers in ``MOST_LEADS`` blocks; a block that it does not find is told by the line that
made it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from whence.program.parts import (
    MOST_POINTERS,
    POINTER_BYTES,
    Part,
    is_open,
    part_at,
    pointers,
    scalars,
)
from whence.program.paths import POSTFIX, UNARY, AccessPath, Value, target_of
from whence.subject.block_types import is_vague
from whence.subject.live_objects import Frame, Kind, LiveObject, Reader, RunObjects
from whence.subject.names import unique_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.program.debug import CType

DEEPEST = 12  # pointers from a variable to a block
MOST_LEADS = 4096  # blocks that are told by pointers
MOST_FOUND = 1 << 16  # pointers to blocks that are looked at
MOST_PIECES = 1 << 10  # words of an object that are read one by one, where some of its bytes are not known


@dataclass(slots=True, frozen=True)
class Place:
    """What lies at an address: the C ``text`` of a variable or a part of one, its own address and bytes, its type.

    ``path`` is None where ``text`` are words instead: for a block that no pointer was found to lead to, and what lies
    beyond its type. ``frame`` is the call of the variable that the path begins with (None: a static one). The bits of a
    bit-field, ``path.bits``, count from ``address`` on. ``is_padding``: the bytes are padding of the path.
    """

    text: str
    address: int
    size: int
    type: CType | None
    object: LiveObject
    frame: Frame | None = None
    path: AccessPath | None = None
    is_padding: bool = False


@dataclass(slots=True, frozen=True)
class _View:
    """How the bytes of an object are told: by a variable (``root``), or as elements ``first`` and following, ``number``
    of them, behind a ``pointer`` to byte ``start`` of it.
    """

    frame: Frame | None
    root: AccessPath | None
    size: int
    pointer: Value | None = None
    element: CType | None = None
    start: int = 0
    first: int = 0
    number: int = 1

    def holder(self, offset: int) -> tuple[AccessPath, int, int] | None:
        """What holds a byte of the object: a path, where it begins, and its bytes; None: nothing that is told."""
        if self.root is not None:
            return self.root, 0, self.size
        size = self.element.size if self.element is not None else 0
        if self.pointer is None or size <= 0:
            return None
        if self.first == 0 and self.number == 1:
            inside = self.start <= offset < self.size
            return (target_of(self.pointer), self.start, self.size - self.start) if inside else None
        index = (offset - self.start) // size
        if not self.first <= index < self.first + self.number:
            return None
        path = AccessPath(f"{self.pointer.at(POSTFIX)}[{index}]", self.element)
        return path, self.start + index * size, size

    def holders(self, first: int, end: int) -> Iterator[tuple[AccessPath, int, int]]:
        """Those of all bytes from ``first`` on and before ``end``, in order."""
        size = self.element.size if self.element is not None else 0
        lowest = self.first if self.number == 1 or size <= 0 else max(self.first, (first - self.start) // size)
        for index in range(lowest, self.first + self.number):
            start = self.start + index * size
            if start >= end:
                break
            if (found := self.holder(start)) is not None:
                yield found

    def pointers(self) -> list[tuple[NDArray[np.int64], CType]]:
        """Where the pointers of the object lie that are told, and their types."""
        if self.root is not None:
            return pointers(self.root.type, self.size) if self.root.type is not None else []
        if self.element is None:
            return []
        if self.number == 1:
            return [(self.start + o, t) for o, t in pointers(self.element, self.size - self.start)]
        inner = pointers(self.element, self.element.size)
        each = max(1, sum(len(offsets) for offsets, _ in inner))
        number = min(self.number, MOST_POINTERS // each)
        starts = self.start + self.element.size * np.arange(self.first, self.first + number, dtype=np.int64)
        return [((starts[:, None] + offsets).ravel(), target) for offsets, target in inner]


@dataclass(slots=True, frozen=True)
class _Found:
    """A pointer to a block: where it lies (object and byte), the byte of the block that it points to, its type."""

    holder: int
    at: int
    start: int
    type: CType
    depth: int


_Candidate = tuple[int, int, int, int, _Found]  # rank, depth, order, number of the block


class NamedMemory:
    """The memory at one point of a run, ``read`` as it is then; at most so many blocks are told by pointers."""

    def __init__(self, run: RunObjects, event: int, read: Reader, most_leads: int = MOST_LEADS) -> None:
        self.run, self.event, self.read = run, event, read
        self._most_leads = most_leads
        self._views: dict[int, _View] = {}  # of the blocks that were found, by their numbers
        self._queue: list[_Candidate] = []
        self._best: dict[int, _Candidate] = {}  # of each block that a pointer was found to
        self._order = count()
        self._has_begun = False

    # ---- Objects -----------------------------------------------------------------------------------------------------

    @cached_property
    def frames(self) -> list[Frame]:
        """The open calls, the outermost first."""
        return self.run.frames(self.event)

    @cached_property
    def variables(self) -> list[LiveObject]:
        """The objects that have no need of a pointer: the locals of the open calls, the outermost call's first, then
        static variables, what ``main`` was given, and what bears no name among them (texts, temporary objects).
        """
        own = [*self.run.locals(self.event), *self.run.statics]
        return own + self._given(own)

    def _given(self, own: Sequence[LiveObject]) -> list[LiveObject]:
        """What ``main`` was given, but for texts that the program put into ``argv`` itself."""
        table = self.run.checked.table[self._blocks]
        bases = np.concatenate([np.array([o.base for o in own], np.int64), table["base"]])
        ends = bases + np.concatenate([np.array([o.size for o in own], np.int64), table["size"]])
        given = self.run.arguments(self.event, self.read)
        return [made for made in given if not ((bases < made.end) & (made.base < ends)).any()]

    def objects(self) -> Iterator[LiveObject]:
        """All objects that live: the variables, then the blocks in the order in which they were made."""
        yield from self.variables
        yield from (self.run.block(number) for number in self._blocks.tolist())

    @cached_property
    def _blocks(self) -> NDArray[np.int64]:
        return self.run.blocks(self.event)

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All objects in order of their addresses: beginnings, ends, numbers (variables, then blocks)."""
        table = self.run.checked.table[self._blocks]
        bases = np.concatenate([np.array([o.base for o in self.variables], np.int64), table["base"]])
        ends = bases + np.concatenate([np.array([o.size for o in self.variables], np.int64), table["size"]])
        order = np.argsort(bases, kind="stable")
        return bases[order], ends[order], order

    def _numbers(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each address the number of the object that holds it; -1."""
        bases, ends, order = self._index
        if not len(bases):
            return np.full(len(addresses), -1, np.int64)
        at = np.maximum(np.searchsorted(bases, addresses, side="right") - 1, 0)
        return np.where((bases[at] <= addresses) & (addresses < ends[at]), order[at], -1)

    def _number(self, address: int) -> int:
        return int(self._numbers(np.array([address & (1 << 64) - 1], np.uint64).astype(np.int64))[0])

    def _object(self, number: int) -> LiveObject:
        known = len(self.variables)
        return self.variables[number] if number < known else self.run.block(int(self._blocks[number - known]))

    def object_at(self, address: int) -> LiveObject | None:
        """The object that holds an address; None: none that is known."""
        number = self._number(address)
        return self._object(number) if number >= 0 else None

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of variables by their numbers; no two have the same."""
        return unique_names(self.variables, self.frames, self.run.subject)

    # ---- Places ------------------------------------------------------------------------------------------------------

    def path(self, address: int, length: int = 0) -> Place | None:
        """What holds all of some bytes (0: the byte there), as small as it can be told; None: nothing that is known.

        Bytes beyond the end of the object that holds the first one do not count.
        """
        return self._place(address, length)

    def _place(self, address: int, length: int, wanted: CType | None = None) -> Place | None:
        number = self._number(address)
        if number < 0:
            return None
        made, view = self._object(number), self._view(number)
        offset = address - made.base
        length = min(length, made.size - offset)
        holder = view.holder(offset) if view is not None else None
        if view is None or holder is None:
            return self._in_words(made, address, length)
        path, start, room = holder
        if offset + max(1, length) > start + room:
            return self._several(view, made, offset, length)
        part = part_at(path, room, offset - start, length, wanted).behind(start)
        return self._told(part, made, view.frame, offset, length)

    def _told(self, part: Part, made: LiveObject, frame: Frame | None, offset: int, length: int) -> Place:
        ctype = part.path.type
        if part.is_padding:
            text = f"padding of `{part.path.text}`"
            return Place(text, made.base + offset, max(1, length), None, made, frame, part.path, True)
        return Place(part.path.text, made.base + part.offset, part.size, ctype, made, frame, part.path)

    def _several(self, view: _View, made: LiveObject, offset: int, length: int) -> Place:
        """Several elements of a block."""
        size = view.element.size if view.element is not None else 0
        if view.pointer is None or size <= 0:
            return self._in_words(made, made.base + offset, length)
        first, last = ((byte - view.start) // size for byte in (offset, offset + length - 1))
        text = f"{view.pointer.at(POSTFIX)}[{first}..{last}]"
        return Place(text, made.base + offset, length, None, made, view.frame)

    def _in_words(self, made: LiveObject, address: int, length: int) -> Place:
        offset = address - made.base
        length = max(1, length)
        where = f"byte {offset} of " if length == 1 else f"bytes {offset} to {offset + length - 1} of "
        where = where if length < made.size else ""
        return Place(f"{where}{self.described(made)}", address, length, None, made, made.frame)

    def described(self, made: LiveObject) -> str:
        """Words for an object: ``the block of 24 bytes that list.c:31 allocated``, `` `total` ``."""
        if made.kind is Kind.BLOCK:
            return self.run.made_by(made.birth, made.size)
        return f"`{made.name}`" if made.name else made.text

    def parts(self, address: int, length: int) -> Iterator[Place]:
        """The scalars that hold some of the bytes, in order; bytes of which no scalar is told are left out."""
        end = address + length
        while address < end:
            number = self._number(address)
            if number < 0:
                later = self._index[0]
                at = int(np.searchsorted(later, address, side="right"))
                address = int(later[at]) if at < len(later) else end
                continue
            made = self._object(number)
            yield from self._scalars_of(number, False, address - made.base, min(end, made.end) - made.base)
            address = made.end

    # ---- Scalars -----------------------------------------------------------------------------------------------------

    def scalars(self, texts: bool = False) -> Iterator[Place]:
        """Every scalar that a name or a pointer leads to, each once: locals of the innermost call first, then those of
        the callers, static variables, and blocks. With ``texts`` an array of characters counts as one, and the texts
        that pointers show are left out.

        What stands outside of its braces is left out.
        """
        for number in self._roots:
            yield from self._scalars_of(number, texts)
        while self._step():
            pass
        for number in list(self._views):
            yield from self._scalars_of(number, texts)

    def _scalars_of(self, number: int, texts: bool, first: int = 0, end: int | None = None) -> Iterator[Place]:
        made, view = self._object(number), self._view(number)
        if view is None or (texts and view.element is not None and view.element.plain.kind == "char"):
            return
        end = made.size if end is None else end
        for path, start, room in view.holders(first, end):
            for part in scalars(path, room, texts, first - start, end - start):
                yield self._told(part.behind(start), made, view.frame, 0, 0)

    @cached_property
    def _roots(self) -> list[int]:
        """The numbers of the variables that are in scope: those of the innermost call first, then static ones."""
        named = [number for number in self._names if self.variables[number].in_scope]
        return sorted(named, key=lambda number: _distance(self.variables[number], len(self.frames)))

    # ---- Blocks ------------------------------------------------------------------------------------------------------

    def _view(self, number: int) -> _View | None:
        """How an object is told; None: not at all."""
        if number in self._names:
            return self._name(number)
        while number not in self._views and self._step():
            pass
        if number not in self._views and number in self._best:  # found, but not looked at
            return self._lead(number, self._best[number][-1])
        return self._views.get(number)

    def _name(self, number: int) -> _View:
        """How a variable is told."""
        made = self.variables[number]
        return _View(made.frame, AccessPath(self._names[number], made.type, made.variable), made.size)

    def _step(self) -> bool:
        """Follow the next pointer to a block; False: there is none left, or enough has been looked at."""
        if not self._has_begun and self._most_leads:
            self._has_begun = True
            for number in self._roots:
                self._look(number, self._name(number), 0)
        if not self._queue or len(self._views) >= self._most_leads:
            return False
        *_, number, pointer = heapq.heappop(self._queue)
        if number not in self._views:
            view = self._views[number] = self._lead(number, pointer)
            if pointer.depth < DEEPEST:
                self._look(number, view, pointer.depth)
        return True

    def _look(self, number: int, view: _View, depth: int) -> None:
        """Find the pointers of an object that is told."""
        made = self._object(number)
        for offsets, ctype in view.pointers():
            offsets, words = self._words(made, offsets)
            targets = self._numbers(words)
            for at in np.flatnonzero(targets >= 0).tolist():
                target = int(targets[at])
                if target in self._views or target in self._names or len(self._best) >= MOST_FOUND:
                    continue
                block = self._object(target)
                pointer = _Found(number, int(offsets[at]), int(words[at]) - block.base, ctype, depth + 1)
                candidate = (self._rank(pointer, block), depth + 1, next(self._order), target, pointer)
                if candidate[0] >= 0 and (target not in self._best or candidate < self._best[target]):
                    self._best[target] = candidate
                    heapq.heappush(self._queue, candidate)

    def _words(self, made: LiveObject, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words of an object at some bytes, as far as they can be read: their places, and what they hold."""
        data = self.read(made.base, made.size)
        if data is not None:
            cells = np.frombuffer(data, np.uint8)[offsets[:, None] + np.arange(POINTER_BYTES)]
            return offsets, np.ascontiguousarray(cells).view(np.int64).ravel()
        pieces = [(offset, self.read(made.base + offset, POINTER_BYTES)) for offset in offsets[:MOST_PIECES].tolist()]
        known = [(offset, piece) for offset, piece in pieces if piece is not None]
        words = np.frombuffer(b"".join(piece for _, piece in known), np.int64)
        return np.array([offset for offset, _ in known], np.int64), words

    def _rank(self, pointer: _Found, block: LiveObject) -> int:
        """How much a pointer tells of a block, less being more; -1: nothing.

        The type that the block was made as tells most, then a type of which the block holds a whole number.
        """
        target, made_as = self.run.types.completed(pointer.type.target), block.type
        if made_as is not None:
            if target is None or not is_same(target, made_as):
                return (2 if is_vague(target) else 1) if pointer.start == 0 else -1 if is_vague(target) else 3
            return 0 if pointer.start % made_as.size == 0 else 3
        if target is None or target.size <= 0:
            return -1
        if is_vague(target):
            return 4 if pointer.start == 0 else 5
        if pointer.start:
            return 3
        if block.size < target.size:
            return 6
        return 0 if block.size % target.size == 0 or is_open(target.plain) else 1

    def _lead(self, number: int, pointer: _Found) -> _View:
        """How a block is told by a pointer."""
        block, holder = self._object(number), self._object(pointer.holder)
        place = self._place(holder.base + pointer.at, POINTER_BYTES, pointer.type)
        assert place is not None
        value = Value(place.text, UNARY if place.text.startswith("*") else POSTFIX, pointer.type)
        element, made_as = self.run.types.completed(pointer.type.target), block.type
        is_whole = made_as is not None and pointer.start % made_as.size == 0
        if made_as is not None and is_whole and (element is None or not is_same(element, made_as)):
            if pointer.start == 0:
                value, element = Value(f"({made_as.declare('*')}){value.at(UNARY)}", UNARY, pointee=made_as), made_as
            else:
                is_whole = False
        assert element is not None
        value = Value(value.text, value.level, pointee=element)
        view = _View(place.frame, None, block.size, value, element, pointer.start)
        size, plain = element.size, element.plain
        if pointer.start and not is_whole and (plain.kind in ("struct", "union") or pointer.start % size):
            return replace(view, size=min(block.size, pointer.start + size))
        is_single = is_open(plain) or block.size < 2 * size or (plain.kind == "struct" and block.size % size)
        if is_single and not pointer.start:
            return view
        first = pointer.start // size
        return replace(view, first=-first, number=first + (block.size - pointer.start) // size)


def _distance(variable: LiveObject, depth: int) -> int:
    """How many calls away a variable's call is; static variables are farther than all of them."""
    return depth - variable.frame.depth if variable.frame is not None else depth + 1


def is_same(one: CType, other: CType) -> bool:
    """Whether two types are the same, perhaps as two modules describe them."""
    one, other = one.plain, other.plain
    return one is other or (one.kind, one.size, one.spelling) == (other.kind, other.size, other.spelling)
