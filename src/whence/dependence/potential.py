"""What a branch may have kept from happening: potential dependences, as relevant slicing has them.

A dynamic slice holds what happened. Where a branch went the wrong way and skipped an assignment, the old value flowed
on, and neither is in the slice. A read *potentially* depends on a branch instance when the side that was not taken
could have written what was read, and nothing else has written it in between. (Gyimóthy, Beszédes and Forgács, "An
efficient relevant slicing method for debugging", 1999.) What a side could write follows from the program's text alone
(``writes``). Which of these dependences are real, only an altered run tells
(``techniques/predicate_switching/implicit_dependences.py``).

There are two answers: ``Candidates`` for branch instances and reads of a run, and ``omitted`` for statements, with
places that are named as a whole, without calls through pointers and without the branch's own dependences, which keeps
it short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.dependence.places import OUTPUT, AccessedPlaces, NamedPlaces, Place
from whence.dependence.predicates import Predicates
from whence.dependence.writes import Writes
from whence.findings import Statement
from whence.probe.layout import Kind
from whence.subject.subject import Subject
from whence.subject.trace_reader import TraceReader
from whence.trace.kernels import inlined, lean
from whence.trace.slicing import Slice

Integers = NDArray[np.int64]

USES_A_SITE = 20  # events of one site that are looked at, the nearest to the criterion
INSTANCES = 64  # of one side of a branch that are looked at for one read, the latest
FAR = 1 << 40  # more than any cost
ANY_FRAME = -1


# ---- Statements ------------------------------------------------------------------------------------------------------


def omitted(reader: TraceReader, found: Slice) -> dict[Statement, int]:
    """Statements of branches of the run that could have changed what the slice reads, with a depth.

    The depth is one more than that of the reading event nearest to the criterion.
    """
    kinds, executed = reader.trace.plan.sites["kind"], reader.executed_sites
    writes = reader.subject.derived(_named_writes)
    reads = _places_read(reader, found, NamedPlaces(reader.subject))
    by_depth: dict[int, int] = defaultdict(int)
    for place, depth in reads.items():
        by_depth[depth] |= writes.set_of([place])
    nearest = sorted(by_depth.items())
    wanted: dict[Statement, int] = {}
    for site in executed[kinds[executed] == Kind.BRANCH].tolist():
        number = int(reader.statement_numbers[site])
        if number < 0:
            continue
        written = writes.around(_block_of(reader, site))
        depth = next((depth for depth, places in nearest if places & written), FAR)
        if depth < FAR:
            statement = reader.statements[number]
            wanted[statement] = min(depth + 1, wanted.get(statement, FAR))
    return wanted


def _named_writes(subject: Subject) -> Writes:
    """What sides of branches write by name, without calls through pointers."""
    return Writes(subject, NamedPlaces(subject), pointers=False)


def _block_of(reader: TraceReader, site: int) -> int:
    """The number of a site's block in the program."""
    plan = reader.trace.plan
    return int(plan.segments[plan.sites[site]["segment"]]["block"])


def _places_read(reader: TraceReader, found: Slice, places: NamedPlaces) -> dict[Place, int]:
    """The places that loads in the slice read, each with the least depth of such a load."""
    least = np.full(len(reader.trace.plan.sites), FAR)
    for events in found.parts():
        np.minimum.at(least, reader.sites(events), found.depth_of(events))
    reads: dict[Place, int] = {}
    for site in np.flatnonzero(least < FAR).tolist():
        for place in places.read(site):
            reads[place] = min(int(least[site]), reads.get(place, FAR))
    return reads


# ---- Instances -------------------------------------------------------------------------------------------------------


def _accessed_writes(subject: Subject) -> Writes:
    """All that sides of branches may write."""
    return Writes(subject, subject.derived(AccessedPlaces))


class _Rows(NamedTuple):
    """The alternatives by side and branch, in order of time: the row of each, its event and that event's frame.

    Those of group n stand from ``starts[n]`` to ``starts[n + 1]``.
    """

    numbers: Integers
    events: Integers
    frames: Integers
    starts: Integers


class _Reads(NamedTuple):
    """Events of one site that read: when what each read was last written, how far it is from the criterion.

    ``frames`` are those of private locals, which only branches of the same frame can have kept from being written; else
    ANY_FRAME.
    """

    events: Integers
    since: Integers
    depths: Integers
    frames: Integers


class Candidates:
    """The alternatives of a run's branches on which its reads potentially depend."""

    def __init__(self, predicates: Predicates) -> None:
        reader = predicates.reader
        self._reader, self._rows = reader, predicates.rows
        self._places = reader.subject.derived(AccessedPlaces)
        self._groups = self._grouped(predicates.rows)
        self._by_site: dict[int, Integers] = {}
        self._by_places: dict[int, Integers] = {}
        self._writes = reader.subject.derived(_accessed_writes)
        self._behind: list[int] = []  # by group: the set of places
        for start in self._groups.starts[:-1].tolist():
            first = predicates.rows[self._groups.numbers[start]]
            branch = predicates.branches[int(first["branch"])]
            self._behind.append(self._writes.behind(branch.block, branch.sides[int(first["side"])].block))

    def of(self, uses: Integers, since: Integers, depths: Integers, printed: int = -1) -> Integers:
        """Rows of the alternatives that could have changed what some events read, the most promising first.

        ``uses`` are events in order of time, ``since`` when what each read was last written (an event, -1: never),
        ``depths`` how far they are from the criterion. ``printed`` is an event that shows what was printed before.
        Nearness counts: of the read to the criterion, and of the branch instance to the read among its like.
        """
        cost = np.full(len(self._rows), FAR, np.int64)
        sites = self._reader.trace.sites(uses)
        order = np.lexsort((depths, sites))
        for here in np.split(order, np.flatnonzero(np.diff(sites[order])) + 1) if len(order) else ():
            here = here[:USES_A_SITE]
            groups = self._groups_at(int(sites[here[0]]))
            if len(groups):
                private = self._reader.trace.is_private(int(uses[here[0]]))
                frames = self._frames(uses[here]) if private else np.full(len(here), ANY_FRAME)
                _weigh(cost, self._groups, groups, _Reads(uses[here], since[here], depths[here], frames))
        if printed >= 0:
            zero = np.zeros(1, np.int64)
            read = _Reads(zero + printed, zero - 1, zero, zero + ANY_FRAME)
            _weigh(cost, self._groups, self._groups_of({OUTPUT}), read)
        chosen = np.flatnonzero(cost < FAR)
        return chosen[np.lexsort((-self._rows["event"][chosen], cost[chosen]))]

    def _groups_at(self, site: int) -> Integers:
        """The groups of alternatives that may write what a site reads."""
        if site not in self._by_site:
            self._by_site[site] = self._groups_of(self._places.read(site))
        return self._by_site[site]

    def _groups_of(self, places: Iterable[Place]) -> Integers:
        """The groups of alternatives that may write any of some places."""
        wanted = self._writes.set_of(places)
        if wanted not in self._by_places:
            groups = [number for number, written in enumerate(self._behind) if written & wanted]
            self._by_places[wanted] = np.array(groups, np.int64)
        return self._by_places[wanted]

    def _frames(self, events: Integers) -> Integers:
        columns = self._reader.trace.columns
        return np.asarray(columns.segments["frame"][columns.events["segment"][events]], np.int64)

    def _grouped(self, rows: NDArray[np.void]) -> _Rows:
        keys = rows["branch"].astype(np.int64) << 16 | rows["side"]
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        events = rows["event"][order].astype(np.int64)
        return _Rows(order, events, self._frames(events), np.append(starts, len(order)))


@lean
def _weigh(cost: Integers, rows: _Rows, groups: Integers, reads: _Reads) -> None:
    """Note the cost of the groups' instances between what wrote and what read, the latest ones of each group."""
    for group in groups:
        first, end = rows.starts[group], rows.starts[group + 1]
        for k in range(len(reads.events)):
            low = _position(rows.events, first, end, reads.since[k] + 1)
            high = _position(rows.events, first, end, reads.events[k])
            rank = 0
            for place in range(high - 1, max(low, high - INSTANCES) - 1, -1):
                if reads.frames[k] == ANY_FRAME or rows.frames[place] == reads.frames[k]:
                    rank += 1
                    row = rows.numbers[place]
                    cost[row] = min(cost[row], reads.depths[k] + rank)


@inlined
def _position(events: Integers, low: int, high: int, event: int) -> int:
    """Where an event belongs among ascending ones, before those equal to it."""
    while low < high:
        middle = (low + high) // 2
        if events[middle] < event:
            low = middle + 1
        else:
            high = middle
    return low
