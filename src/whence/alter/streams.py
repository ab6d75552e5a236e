"""Requests on their way to the workers: those of one case become one stream, without duplicates, cut into parts.

A part is to last 0.2 to 1 s, so that starting it costs next to nothing, all cores have work until the end, and a
search stops soon after it is told to. How long continuations take is measured while they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import RESULT, Batch, Results, Verdict
from whence.alter.run_cache import Digests, RunCache, Texts, digests
from whence.alter.session import BUDGET
from whence.alter.worker import Done, Part, Seat
from whence.run.cases import Case

SHORT, LONG = 0.2, 1.0  # seconds that a part is to last at least and at most
LEAST = 256  # continuations of a part, unless they would last longer than LONG
PROBE = 0.5  # seconds of a part that measures the rate
CUT = 2.0  # seconds after which a part ends; what it has not done is handed out again
NEW = 0.5  # weight of the newest measurement of the rate

Rows = NDArray[np.int64]


@dataclass(slots=True)
class Request:
    """Continuations of one case that are to be run, with a clock budget: a multiple of the length of its unaltered run,
    or of a right one where that is longer.
    """

    case: Case
    batch: Batch
    budget: float = BUDGET
    outputs: bool = False


@dataclass(slots=True)
class Rate:
    """Continuations a second of one case, as measured; 0: not known yet."""

    value: float = 0.0

    def measured(self, count: int, seconds: float) -> None:
        """Note how long some continuations took."""
        if count and seconds > 0:
            new = count / seconds
            self.value = new if not self.value else NEW * new + (1 - NEW) * self.value


def part_size(rate: float, waiting: int, workers: int) -> int:
    """How many continuations to hand out next, of so many that wait, for so many workers."""
    if not rate:
        return LEAST
    share = waiting // (2 * workers)  # large parts first, smaller ones towards the end
    return max(1, int(min(max(share, SHORT * rate, LEAST), LONG * rate)))


@dataclass(slots=True)
class Stream:
    """The continuations of all requests that differ in their changes only, each once.

    ``members``: for each request its number, and the rows of the stream that answer it.
    """

    seat: Seat
    budget: float
    outputs: bool
    cache: RunCache
    rate: Rate
    batch: Batch
    names: Digests
    members: list[tuple[int, Rows]]
    running: int = 0
    known: int = 0
    _records: NDArray[np.void] = field(init=False)
    _texts: Texts = field(init=False)
    _waiting: Rows = field(init=False)
    _seconds: float = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.batch)
        self._records = np.zeros(count, RESULT)
        self._texts = [(b"", b"")] * count if self.outputs else []
        numbers = self.cache.find(self.names)
        self._put(np.flatnonzero(numbers >= 0), numbers[numbers >= 0])
        self._waiting = np.flatnonzero(numbers < 0)
        self._seconds = CUT if self.rate.value else PROBE

    def _put(self, rows: Rows, numbers: Rows) -> None:
        """Take over results that are known."""
        self.known = len(rows)
        self._records[rows] = self.cache.records(numbers)
        if self.outputs:
            for row, text in zip(rows.tolist(), self.cache.texts(numbers), strict=True):
                self._texts[row] = text

    @property
    def waiting(self) -> int:
        """How many continuations have not been handed out."""
        return len(self._waiting)

    def next_part(self, workers: int, seconds: float) -> tuple[Rows, Part]:
        """The next continuations to run, in at most so many seconds."""
        size = part_size(self.rate.value, self.waiting, workers)
        rows, self._waiting = self._waiting[:size], self._waiting[size:]
        self.running += 1
        seconds = min(seconds, self._seconds)
        return rows, Part(self.seat, select(self.batch, rows), self.budget, self.outputs, seconds)

    def give_up(self) -> int:
        """Nothing more is to be run; gives the number of continuations that are left."""
        left = len(self._waiting)
        self._waiting = self._waiting[:0]
        return left

    def put_back(self, rows: Rows) -> None:
        """A part has not been run."""
        self.running -= 1
        self._waiting = np.concatenate([rows, self._waiting])

    def collect(self, rows: Rows, done: Done) -> int:
        """Take in the results of a part; what it has not done waits again. Gives the number of those done."""
        self.running -= 1
        records, texts = done.results.records, done.results.outputs
        self._records[rows] = records
        for row, text in zip(rows.tolist(), texts or [], strict=False):
            self._texts[row] = text
        self.cache.add(self.names[rows], records, texts)
        left = rows[records["verdict"] == Verdict.NOT_RUN]
        self._waiting = np.concatenate([left, self._waiting])
        self.rate.measured(len(rows) - len(left), done.seconds)
        nothing = len(left) == len(rows)  # one that takes very long is given more time
        self._seconds = max(2 * self._seconds if nothing else self._seconds, CUT)
        return len(rows) - len(left)

    def answers(self) -> Iterator[tuple[int, Results]]:
        """The number of each request, and its results."""
        for number, rows in self.members:
            texts = [self._texts[row] for row in rows.tolist()] if self.outputs else None
            yield number, Results(self._records[rows], texts)


def merged(requests: Sequence[tuple[int, Request]], options: str) -> tuple[Batch, Digests, list[tuple[int, Rows]]]:
    """The continuations of numbered requests, each once and in order, their names, and each request's rows."""
    batch = join([request.batch for _, request in requests])
    names = digests(batch, options)
    leaders = first_of_equals(names)
    is_first = leaders == np.arange(len(leaders))
    ends = np.cumsum([len(request.batch) for _, request in requests])
    rows = np.split((np.cumsum(is_first) - 1)[leaders], ends[:-1])
    if not is_first.all():
        batch, names = select(batch, np.flatnonzero(is_first)), names[is_first]
    return batch, names, [(number, own) for (number, _), own in zip(requests, rows, strict=True)]


def first_of_equals(names: Digests) -> Rows:
    """For each digest the index of the first one that is equal."""
    order = np.argsort(names[:, 0])
    words = names[order, 0]
    if (words[1:] != words[:-1]).all():
        return np.arange(len(names))
    ordered = names[order]
    starts = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]))
    found = np.empty(len(names), np.int64)
    found[order] = np.repeat(np.minimum.reduceat(order, starts), np.diff(starts, append=len(names)))
    return found


def join(batches: Sequence[Batch]) -> Batch:
    """One batch after the other."""
    if len(batches) == 1:
        return batches[0]
    lengths = np.concatenate([np.diff(b.offsets) for b in batches])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Batch(np.concatenate([b.changes for b in batches]), offsets)


def select(batch: Batch, rows: Rows) -> Batch:
    """The continuations of these rows."""
    lengths = np.diff(batch.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Batch(batch.changes[np.repeat(batch.offsets[:-1][rows], lengths) + within], offsets)
