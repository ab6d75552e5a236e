"""A failing input made as small as it can be, with the same symptom: delta debugging, by levels.

Source: the first step of the pipeline of *Using Likely Invariants for Automated Software Fault Localization* (section
7.3), which takes Zeller and Hildebrandt's ddmin. As there, pieces are taken out of the input, large ones first, and the
result is 1-minimal: it shows the symptom no more when any single piece is left out. Otherwise than there, all pieces of
one size are tried in one batch, and those that can go each alone are then taken out together, or half of them, and so
on; only what is taken out is checked exactly. Subsets are not tried by themselves, since taking out the rest in halves
comes to the same. The levels are lines, tokens, and bytes. Of tokens, neighbours are tried together as well: the piece
that can go, such as an element of a list with its comma, seldom begins where a division by powers of two does.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Protocol

from whence.inputs.judge import Judge, Verdict
from whence.inputs.tokens import Specification, split_lines, split_tokens

LARGE = 64 << 10  # bytes above which an input is reduced by equal blocks before tokens
BLOCKS = 256
BYTEWISE = 8 << 10  # bytes up to which the last level is tried
WINDOWS = range(2, 9)  # numbers of neighbouring tokens that are tried together wherever they begin, as elements do
WINDOWED = 512  # tokens up to which that is done
STOPPED = {"runs": "its runs are used up", "time": "its time is used up", "interrupted": "interrupted"}

Units = list[bytes]


@dataclass(slots=True, frozen=True)
class Level:
    """What one level did: its name, how many pieces it had before and after."""

    name: str
    before: int
    after: int


@dataclass(slots=True)
class Reduction:
    """A reduced input.

    ``is_minimal``: it shows the symptom no more when any one byte is left out. Otherwise ``notes`` say why not.
    """

    original: bytes
    data: bytes
    is_minimal: bool
    levels: list[Level] = field(default_factory=list)
    tried: int = 0
    executions: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def reduce_input(
    judge: Judge, specification: Specification | None = None, found: Callable[[Reduction], None] | None = None
) -> Reduction:
    """Reduce the failing input of ``judge`` as far as its budget allows; ``found`` is told whenever it got smaller.

    An empty input is tried, but not taken where the case has another one: nothing could be learnt from it.
    """
    began, tried, executions = time.monotonic(), judge.tried, judge.executions
    original = judge.channel.read(judge.case)
    result = Reduction(original, original, False)
    if original and judge.is_same(b""):
        judge.leave_out(b"")
        result.notes.append("the symptom shows with an empty input as well, which is not taken for the smallest")

    def note_effort() -> None:
        result.tried, result.executions = judge.tried - tried, judge.executions - executions
        result.seconds = time.monotonic() - began

    def smaller(units: Units) -> None:
        result.data = b"".join(units)
        note_effort()
        if found is not None:
            found(result)

    _reduce_by_levels(judge, result, specification, smaller)
    result.is_minimal = not judge.stopped and len(result.data) <= BYTEWISE
    if judge.stopped:
        result.notes.append(f"stopped early ({STOPPED[judge.stopped]}): this is the smallest so far, not the smallest")
    elif not result.is_minimal:
        result.notes.append(f"more than {BYTEWISE} bytes are left: single bytes were not tried")
    note_effort()
    return result


def _reduce_by_levels(
    judge: Judge, result: Reduction, specification: Specification | None, smaller: Callable[[Units], None]
) -> None:
    levels: list[tuple[str, Callable[[bytes], Units]]] = [
        ("lines", split_lines),
        ("blocks", split_blocks),
        ("tokens", lambda data: split_tokens(data, specification)),
        ("bytes", split_bytes),
    ]
    coarser = [result.data]
    for name, split in levels:
        size = len(result.data)
        if judge.stopped or (name == "blocks" and size <= LARGE) or (name == "bytes" and size > BYTEWISE):
            continue
        units = split(result.data)
        before = len(units)
        if before == len(coarser):
            continue
        left = _Reducer(judge, units, smaller).reduce(_largest(coarser, units), WINDOWS if name == "tokens" else ())
        result.levels.append(Level(name, before, len(left)))
        coarser = left


def split_blocks(data: bytes) -> Units:
    """An input cut into pieces of equal size."""
    size = max(1, len(data) // BLOCKS)
    return [data[start : start + size] for start in range(0, len(data), size)]


def split_bytes(data: bytes) -> Units:
    """The single bytes of an input."""
    return [data[n : n + 1] for n in range(len(data))]


def _largest(coarser: Units, units: Units) -> int:
    """At most how many units a piece of the level before has: that many at once need not be tried again."""
    ends = list(accumulate(map(len, units)))
    positions = [bisect_right(ends, boundary) for boundary in accumulate(map(len, coarser))]
    return 1 + max(end - start for start, end in pairwise([0, *positions]))


class Tester(Protocol):
    """Tells what becomes of lists of units, each given as one text."""

    @property
    def stopped(self) -> str:
        """Why nothing more is tried; empty as long as something is."""
        ...

    def batch_size(self, size: int) -> int:
        """How many candidates of so many bytes are tried together."""
        ...

    def judge(self, candidates: Sequence[bytes]) -> list[Verdict]:
        """The verdict of each candidate."""
        ...

    def is_same(self, data: bytes) -> bool:
        """Whether a candidate shows the symptom."""
        ...


def reduce_units(tester: Tester, units: Units) -> Units:
    """Those of some units, whatever they stand for, of which none can be left out alone without losing the symptom.

    Where the tester stops before that, fewer than that are left out.
    """
    return _Reducer(tester, list(units), lambda _: None).reduce(len(units), ())


class _Reducer:
    """Takes units out of a list as long as the symptom stays; ``smaller`` is told of what is left whenever some go."""

    def __init__(self, judge: Tester, units: Units, smaller: Callable[[Units], None]) -> None:
        self._judge, self._units, self._smaller = judge, units, smaller

    def reduce(self, largest: int, windows: Sequence[int]) -> Units:
        """What is left when no unit alone can be taken out; pieces of up to ``largest`` units go first.

        Nor can neighbouring units, as many as ``windows`` say, wherever they begin, where the units are few enough.
        """
        size = 1
        while size * 2 <= min(largest, len(self._units)):
            size *= 2
        while size > 1 and not self._judge.stopped:
            self._pass(size, size)
            size //= 2
        while not self._judge.stopped:
            while self._pass(1, 1):
                pass
            changes = [self._pass(size, 1) for size in windows if len(self._units) <= WINDOWED]
            if not any(changes):
                break
        return self._units

    def _pass(self, size: int, step: int) -> bool:
        """Try to take out pieces of this size, one every ``step`` units; says whether any could go."""
        changed = False
        start = 0
        while start < len(self._units) and not self._judge.stopped:
            count = self._judge.batch_size(sum(map(len, self._units)))
            starts = list(range(start, len(self._units), step))[:count]
            gone = self._take_out(_disjoint(self._removable(starts, size)))
            changed |= gone > 0
            start = max(starts[-1] + step - gone, start)
        return changed

    def _removable(self, starts: Sequence[int], size: int) -> list[range]:
        """The pieces without which the symptom stays, each of them alone."""
        pieces = [range(start, min(start + size, len(self._units))) for start in starts]
        verdicts = self._judge.judge([self._without([piece]) for piece in pieces])
        return [piece for piece, verdict in zip(pieces, verdicts, strict=True) if verdict is Verdict.SAME]

    def _without(self, pieces: Sequence[range]) -> bytes:
        parts, start = [], 0
        for piece in pieces:
            parts += self._units[start : piece.start]
            start = piece.stop
        return b"".join(parts + self._units[start:])

    def _take_out(self, pieces: Sequence[range]) -> int:
        """Take out as many of these pieces as can go together; gives the number of units that went.

        All at once, or the later half and then the earlier one, so that the places of the others stay.
        """
        if not pieces or self._judge.stopped:
            return 0
        if self._judge.is_same(self._without(pieces)):
            for piece in reversed(pieces):
                del self._units[piece.start : piece.stop]
            self._smaller(self._units)
            return sum(map(len, pieces))
        if len(pieces) == 1:
            return 0
        middle = len(pieces) // 2
        return self._take_out(pieces[middle:]) + self._take_out(pieces[:middle])


def _disjoint(pieces: Sequence[range]) -> list[range]:
    """Those of some pieces, in order, that have no unit in common with one before."""
    chosen: list[range] = []
    for piece in pieces:
        if not chosen or piece.start >= chosen[-1].stop:
            chosen.append(piece)
    return chosen
