"""What is altered in a search for values: the sites that count, and the instances of a failing run, round by round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, NOWHERE, Flag, Observed, Op, Verdict
from whence.alter.duplicates import Duplicates
from whence.probe.sites import LEFT_CONSTANT, Form, Role

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.run.cases import Case
    from whence.subject.subject import Subject

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

DEFINING = (Role.STORE, Role.RESULT, Role.RETURN, Role.BRANCH)
EARLY = 4  # rounds by which comes later what a passing run has in common with the failing one
USING = (Role.LOAD, Role.SWITCH, Role.ARGUMENT)


@dataclass(slots=True)
class Plan:
    """The sites of a subject with what the search needs of them; arrays have one element a site.

    ``statements`` are numbers of statements, -1: none. Searched are the sites of values that a statement defines or
    uses: of arguments only constants, since others are loaded, or computed, before.
    """

    sites: NDArray[np.void]
    statements: NDArray[np.int32]
    duplicates: Duplicates
    is_searched: Bools = field(init=False)
    is_defining: Bools = field(init=False)

    def __post_init__(self) -> None:
        role, constant = self.sites["role"], (self.sites["constant"] & LEFT_CONSTANT) != 0
        self.is_defining = np.isin(role, DEFINING)
        self.is_searched = np.isin(role, (*DEFINING, *USING)) & ((role != Role.ARGUMENT) | constant)
        self.is_searched &= self.statements >= 0

    @classmethod
    def of(cls, subject: Subject, among: Iterable[Statement] | None = None) -> Plan:
        """The plan of a subject; of a search ``among`` some statements alone, where these are given."""
        sites = subject.alter_plan.sites
        plan = cls(sites, np.asarray(subject.places.numbers[sites["instruction"]], np.int32), Duplicates(subject))
        if among is not None:
            wanted = [subject.places.statements.index(statement) for statement in among]
            plan.is_searched &= np.isin(plan.statements, wanted)
        return plan

    def changes(self, events: NDArray[np.void], values: Words) -> NDArray[np.void]:
        """Changes (CHANGE) that give these events these values; a changed load overwrites what it has read."""
        site = self.sites[events["site"]]
        found = np.zeros(len(events), CHANGE)
        for name in ("clock", "site"):
            found[name] = events[name]
        for name in ("block", "width", "form"):
            found[name] = site[name]
        found["value"], found["op"] = values, Op.SET
        found["flags"] = np.where(site["role"] == Role.LOAD, int(Flag.MEMORY), 0)
        return found


class Point(NamedTuple):
    """An instruction instance: block clock, and the program's number of the instruction."""

    clock: int
    instruction: int


class Target:
    """A failing run that is searched: ``events`` (EVENT) in order of time, and arrays with one element an event.

    ``sites`` and ``statements`` number each event's; ``occurrence`` counts the executions of its site from 1 to
    ``instances``; ``leader`` is the first event whose change has the same effect. ``searched`` are the indices of the
    events to alter; ``late`` those behind ``wrong``, the call that wrote the first wrong byte, which can change nothing
    about that. ``pointers`` more hold addresses, which are left alone. What has a clock before the ``departure`` from a
    passing run comes in later rounds.
    """

    def __init__(
        self, plan: Plan, case: Case, observed: Observed, wrong: Point | None = None, departure: int = 0
    ) -> None:
        self.plan, self.case, self.observed, self.events = plan, case, observed, observed.events
        self.sites = self.events["site"].astype(np.int64)
        self.statements = plan.statements[self.sites]
        self.occurrence, self.instances = _occurrences(self.sites)
        self.leader = plan.duplicates.leaders(self.events)
        searched = np.flatnonzero(plan.is_searched[self.sites])
        address = plan.sites["form"][self.sites[searched]] == Form.POINTER
        self.pointers, searched = int(address.sum()), searched[~address]
        end = np.searchsorted(searched, self._last(wrong), side="right")
        self.searched, self.late = searched[:end], searched[end:]
        self._line_end = _line_end(case, observed)
        self._is_early = self.events["clock"] < departure

    def _last(self, wrong: Point | None) -> int:
        """The last event that can still change what is wrong: none behind the call that wrote it."""
        if wrong is not None:
            here = self.events["clock"] == wrong.clock
            here &= self.plan.sites["instruction"][self.sites] == wrong.instruction
            if here.any():
                return int(np.flatnonzero(here)[-1])
        return len(self.events)

    @property
    def values(self) -> Words:
        """The bits of each event's value."""
        return np.asarray(self.events["value"])

    def rounds(self) -> Iterator[Integers]:
        """The events to alter, in rounds: of each site its last execution, its first one, then twice as many each time.

        They come from both ends: what goes wrong may have begun long before a run that does not end. In a round stand
        definitions and branches first. Events that share a leader are in the same round.
        """
        leader = self.leader[self.searched]
        occurrence, instances = _occurrences(2 * self.sites + self._is_early)
        last, first = instances - occurrence, occurrence - 1
        place = np.minimum(2 * last, 2 * first + 1)[leader]
        rounds = np.frexp(place.astype(np.float64))[1]  # 0, 1, 2 and 3, 4 to 7, ...
        rounds += EARLY * self._is_early[leader]
        order = np.lexsort((place, ~self.plan.is_defining[self.sites[self.searched]], rounds))
        cuts = np.searchsorted(rounds[order], np.arange(1, int(rounds.max(initial=0)) + 1))
        yield from np.split(self.searched[order], cuts)

    def changes(self, events: Integers, values: Words) -> NDArray[np.void]:
        """Changes (CHANGE) of these events, given by index."""
        return self.plan.changes(self.events[events], values)

    def is_relaxed(self, records: NDArray[np.void]) -> Bools:
        """Which altered runs (RESULT) do not pass, but are right up to beyond the line that was the first wrong one."""
        ended = np.isin(records["verdict"], (Verdict.WRONG_OUTPUT, Verdict.WRONG_STATUS))
        return np.asarray(ended & (records["first_wrong"] > np.uint64(self._line_end)))


def _line_end(case: Case, observed: Observed) -> int:
    """Where the first wrong line of the unaltered run ends in the expected output; NOWHERE: there is no such line.

    Under a comparison that is not exact, places in the two outputs do not correspond.
    """
    wrong = int(observed.result["first_wrong"])
    if wrong == NOWHERE or case.expected is None or not case.comparison.exact:
        return NOWHERE
    expected = case.expected.whole
    end = expected.find(b"\n", wrong)
    return end if end >= 0 else max(len(expected), wrong)


def _occurrences(sites: Integers) -> tuple[Integers, Integers]:
    """For each event the number of its execution of its site, from 1, and how many there are in all."""
    order = np.argsort(sites, kind="stable")
    counts = np.bincount(sites)
    firsts = np.cumsum(counts) - counts
    found = np.empty(len(sites), np.int64)
    found[order] = np.arange(len(sites)) - firsts[sites[order]] + 1
    return found, counts[sites]
