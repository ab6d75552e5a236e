"""A source text that tells, at places of it, what expressions are worth there each time the program comes by.

Source: the collection of values at conditions in Xuan et al.: Nopol, 2017. Nothing of the program is changed: the
expressions have no effects, and one that leads to nowhere is said to have no value (``probe/edits/observe.c``). All
text of a line stays on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from mmap import mmap

import numpy as np
from numpy.typing import NDArray

from whence.program.c_source import CSource
from whence.program.schemata import FIRST_LINE, Schemata

RING = 64  # times that the program came to a place whose values are kept, the last ones
KNOWN = 1  # a value is there: as probe/edits/observe.c has it
_COUNT = 8  # bytes in front of a place's values
_BEGIN = b"if (!__whence_begin(__whence_back)) "
_DECLARED = (
    b'extern char __whence_back[]; int __whence_begin(void *) __asm__("_setjmp") __attribute__((returns_twice)); '
    b"void *__whence_observes(unsigned long, unsigned long); void __whence_came_to(void *, unsigned long, int); "
    b"void __whence_value(unsigned long, long long); "
    b"void __whence_real(unsigned long, double); void __whence_lost(unsigned long); void __whence_observed(void);"
    + FIRST_LINE
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression without effects, as the source would write it; one that is no whole number is ``is_real``."""

    text: str
    is_real: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """The bytes from ``start`` to ``end``, in front of which ``expressions`` are observed, or ``behind`` which.

    With ``tests`` they are a condition, and what it came to is observed as well: the expressions in front of it, so
    that they are also known where it ends the program, or behind it, where it has ``effects``. Otherwise they are a
    statement, which is ``listed`` among others or the body of one.
    """

    start: int
    end: int
    expressions: tuple[Expression, ...]
    tests: bool = False
    effects: bool = False
    listed: bool = True
    behind: bool = False

    @property
    def columns(self) -> int:
        """How many values are kept each time: what a condition came to is the last one."""
        return len(self.expressions) + self.tests

    @property
    def size(self) -> int:
        """How many bytes its values take."""
        return _COUNT + RING * self._stride

    @property
    def _stride(self) -> int:
        return 8 * self.columns + _marks(self.columns)


@dataclass(frozen=True, slots=True)
class Values:
    """What was observed at a spot: ``values`` and which of them are ``known``, a row each time and a column each.

    Values are float64 (whole numbers beyond 2**53 are rounded). ``came`` counts the times, also those not kept.
    """

    values: NDArray[np.float64]
    known: NDArray[np.bool_]
    came: int


def _marks(columns: int) -> int:
    return (columns + 7) // 8 * 8


def offsets(spots: Sequence[Spot]) -> list[int]:
    """Where in a file the values of each spot stand, and behind the last one how long the file is."""
    return [0, *accumulate(spot.size for spot in spots)]


def read(spots: Sequence[Spot], content: bytes | mmap) -> list[Values]:
    """The values of each spot that a run has left in its file."""
    return [_values(spot, content, start) for spot, start in zip(spots, offsets(spots), strict=False)]


def _values(spot: Spot, content: bytes | mmap, start: int) -> Values:
    came = int(np.frombuffer(content, np.uint64, 1, start)[0])
    columns, kept = spot.columns, min(came, RING)
    row = np.dtype([("values", np.int64, (columns,)), ("tags", np.uint8, (_marks(columns),))])
    rows = np.frombuffer(content, row, kept, start + _COUNT)
    whole = np.ascontiguousarray(rows["values"])
    is_real = np.array([one.is_real for one in spot.expressions] + [False] * spot.tests, np.bool_)
    values = np.where(is_real, whole.view(np.float64), whole)
    return Values(values, rows["tags"][:, :columns] == KNOWN, came)


def observing(source: CSource, spots: Sequence[Spot], left: Sequence[frozenset[int]] = ()) -> Schemata:
    """The source with what observes these spots; they lie within each other or apart.

    The owner of a text is the number of its expression (from 1, through all spots). ``left``: for each spot the
    expressions (by place) that are left out and never known.
    """
    inserted: list[tuple[tuple[int, int, int], list[tuple[bytes, int]]]] = []
    first = 1
    for number, (spot, start) in enumerate(zip(spots, offsets(spots), strict=False)):
        looking = list(_looking(spot, start, first, left[number] if left else frozenset()))
        first += len(spot.expressions)
        before, behind = _around(spot, looking)
        inserted.append(((spot.start, 1, -spot.end), before))  # the outer one begins first, and ends last
        inserted.append(((spot.end, 0, -spot.start), behind))
    pieces, at = [(_DECLARED, 0)], 0
    for (position, _, _), texts in sorted(inserted, key=lambda one: one[0]):
        pieces.append((source.text[at:position], 0))
        pieces += texts
        at = position
    pieces.append((source.text[at:], 0))
    starts = [0, *accumulate(len(text) for text, _ in pieces)]
    return Schemata(b"".join(text for text, _ in pieces), starts[:-1], [owner for _, owner in pieces])


def _around(spot: Spot, looking: list[tuple[bytes, int]]) -> tuple[list[tuple[bytes, int]], list[tuple[bytes, int]]]:
    """What stands in front of a spot and behind it."""
    if not spot.tests:
        braces = ([], []) if spot.listed else ([(b"{ ", 0)], [(b" }", 0)])
        return (braces[0], [*looking, *braces[1]]) if spot.behind else ([*braces[0], *looking], braces[1])
    begin, test = (b"({ void *__whence_kept; ", 0), (b"int __whence_truth = !!(", 0)
    end = (b"__whence_came_to(__whence_kept, %d, __whence_truth); __whence_truth; })" % spot.columns, 0)
    if spot.effects:
        return [begin, test], [(b"); ", 0), *looking, end]
    return [begin, *looking, test], [(b"); ", 0), end]


def _looking(spot: Spot, start: int, first: int, left: frozenset[int]) -> Iterator[tuple[bytes, int]]:
    """What keeps the values of a spot, which stand at ``start`` of the file; ``first``: its first expression."""
    looks = b"__whence_observes(%d, %d)" % (start, spot.columns)
    yield b"if (%s) { " % (b"(__whence_kept = %s)" % looks if spot.tests else looks), 0
    for place, expression in enumerate(spot.expressions):
        if place not in left:
            way, kind = (b"real", b"double") if expression.is_real else (b"value", b"long long")
            yield _BEGIN + b"__whence_%s(%d, (%s)(" % (way, place, kind), first + place
            yield expression.text.encode("latin-1"), first + place
            yield b")); else __whence_lost(%d); " % place, first + place
    yield b"__whence_observed(); } ", 0
