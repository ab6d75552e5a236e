"""The search for interesting value mapping pairs: values that, put in place of others at one instance, mend the run.

Source: Jeffrey's dissertation (2009): definitions 1 and 2, the general search (figure 2.2), and the reduced one
(figure 4.2), which is the default. An instance here is one execution of a site of a statement: a value that it uses
(a load, a constant argument, what a switch looks at) or defines (a store, a call's result, what is returned, the
outcome of a branch). Thousands of altered runs are made at once, so the search goes in rounds (``Target.rounds``), and
a statement with a pair takes no part in later rounds. What two candidates would do alike is run once.

Beyond the source: a *relaxed* pair corrects the first wrong line of the output, but not all of it; and what mended one
failing run at a site is tried in the others, since the same change in all of them is more than a coincidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Results, Verdict
from whence.alter.profile import Profile, differences, moved
from whence.alter.streams import Request
from whence.findings import Statement
from whence.techniques.value_replacement.targets import Bools, Integers, Target, Words

ROUNDS = 12  # of the reduced search: 2,048 executions of each site of a run
PORTION = 100_000  # altered runs asked for at a time, about
KINDS = 50  # changes of a statement that are tried in the other runs
TRIED = 100  # instances of a site at which such a change is tried, the last ones

PAIR = np.dtype(
    [
        ("run", "<i4"),  # index of the searched runs
        ("statement", "<i4"),  # number in subject.places.statements
        ("event", "<i8"),  # index of the run's events
        ("alternate", "<u8"),  # bits
        ("relaxed", "?"),
        ("further", "<i4"),  # index of Searched.further, -1: nothing else changes
    ]
)


class Working(Protocol):
    """What makes the altered runs (``alter/work.py``)."""

    @property
    def stopped(self) -> str:
        """Why the work was stopped; empty where it was not."""

    def run(self, requests: Sequence[Request]) -> list[Results]:
        """What becomes of each request's continuations, in order of the requests."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to search.

    ``full``: all alternates at all instances in all runs, nothing is left out (figure 2.2). ``neighbours``: also the
    original + 1, - 1 and 0. ``prunes``: a run with a pair ends the search for statements without one in later runs
    (figure 4.2, lines 15 and 16). ``sets``: all values of a statement's instance change at once (definition 2).
    ``among``: only these statements are searched (None: all).
    """

    full: bool = False
    neighbours: bool = False
    prunes: bool = True
    sets: bool = False
    among: frozenset[Statement] | None = None


@dataclass(slots=True)
class Searched:
    """What a search found, and how much it looked at."""

    targets: Sequence[Target]
    pairs: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, PAIR))  # in the order in which they were found
    further: list[Further] = field(default_factory=list)  # what else changes in some pairs (``Settings.sets``)
    # for kinds of change, (site, difference), the runs that each mends: True, or relaxed (False)
    same: dict[tuple[int, int], dict[int, bool]] = field(default_factory=dict)
    instances: int = 0  # that could be altered
    lonely: int = 0  # of them: without an alternate
    beyond: int = 0  # of them: not searched, since their site is executed so often
    candidates: int = 0  # replacements that were looked at
    altered: int = 0  # runs that were made
    possible: int = 0  # runs that the full search would make

    @property
    def pointers(self) -> int:
        """Instances that hold an address and were left alone."""
        return sum(target.pointers for target in self.targets)

    @property
    def late(self) -> int:
        """Instances behind the first wrong output, which are not searched."""
        return sum(len(target.late) for target in self.targets)

    def statements(self, run: int, relaxed: bool = False) -> set[int]:
        """The statements with a pair in a run; with ``relaxed`` those that have only relaxed ones."""
        mine = self.pairs[self.pairs["run"] == run]
        exact = set(mine["statement"][~mine["relaxed"]].tolist())
        return set(mine["statement"].tolist()) - exact if relaxed else exact

    def kinds(self, pairs: NDArray[np.void] | None = None) -> list[tuple[int, int]]:
        """The kind of change, (site, difference), of each pair."""
        pairs = self.pairs if pairs is None else pairs
        sites, moves = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.uint64)
        for run, target in enumerate(self.targets):
            mine = np.flatnonzero(pairs["run"] == run)
            events = pairs["event"][mine]
            sites[mine] = site = target.sites[events]
            form, width = target.plan.sites["form"][site], target.plan.sites["width"][site]
            moves[mine] = differences(target.values[events], pairs["alternate"][mine], form, width)
        return list(zip(sites.tolist(), moves.tolist(), strict=True))


Further = tuple[Integers, Words]  # what else a replacement changes: indices of events, and their bits


class Tries(NamedTuple):
    """Replacements to try in one run: for each the index of the event, and the bits that it is given.

    ``further`` says for each what else is changed at the same time (None: nothing in any of them).
    """

    run: int
    events: Integers
    values: Words
    further: list[Further] | None = None


class Search:
    """One search of failing runs, given in increasing order of their length."""

    def __init__(
        self, targets: Sequence[Target], profile: Profile, work: Working, settings: Settings | None = None
    ) -> None:
        self.profile, self.work, self.settings = profile, work, settings or Settings()
        self.done = Searched(targets)
        for target in targets:
            every = np.concatenate([target.searched, target.late])
            counts = profile.counts(target.sites[every], target.values[every])
            self.done.instances += len(counts)
            self.done.lonely += int((counts == 0).sum())
            self.done.possible += int(counts.sum())

    def run(self) -> Searched:
        """Search all runs."""
        targets = self.done.targets
        if self.settings.full or not self.settings.prunes:
            self._search(range(len(targets)), None)
        elif targets:
            working = np.zeros(1 + max(int(t.statements.max(initial=0)) for t in targets), np.bool_)
            working[targets[0].statements[targets[0].searched]] = True
            for run in range(len(targets)):
                self._search([run], working)
                if self.work.stopped:
                    break
                if mended := self.done.statements(run):
                    working &= np.isin(np.arange(len(working)), list(mended))
        if len(targets) > 1 and not self.work.stopped:
            self._try_elsewhere()
        return self.done

    # ---- Rounds ------------------------------------------------------------------------------------------------------

    def _search(self, runs: Sequence[int], working: Bools | None) -> None:
        """Search runs at the same time, at the statements of the working list (None: at all)."""
        for events in zip_longest(*(self._portions(run, working) for run in runs)):
            tries = [self._tries(run, part) for run, part in zip(runs, events, strict=True) if part is not None]
            self._make(tries)
            if self.work.stopped:
                return

    def _portions(self, run: int, working: Bools | None) -> Iterator[Integers]:
        """The events of one run to alter, a portion at a time; those of statements with a pair fall out."""
        target = self.done.targets[run]

        def still_open(events: Integers) -> Integers:
            if self.settings.full:
                return events
            statements = target.statements[events]
            found = ~np.isin(statements, list(self.done.statements(run)))
            return events[found if working is None else found & working[statements]]

        for number, events in enumerate(self._rounds(run)):
            if number >= ROUNDS and not self.settings.full:
                self.done.beyond += len(events)
                continue
            events = still_open(events)
            for part in np.split(events, self._cuts(target, events)):
                yield still_open(part)

    def _rounds(self, run: int) -> Iterator[Integers]:
        """The events to alter, round by round."""
        return self.done.targets[run].rounds()

    def _cuts(self, target: Target, events: Integers) -> Integers:
        """Where to cut events, so that each part makes about PORTION altered runs."""
        counts = self.profile.counts(target.sites[events], target.values[events])
        if not self.settings.full:
            counts = np.minimum(counts, 4) + 3 * self.settings.neighbours
        return np.flatnonzero(np.diff(np.cumsum(counts) // PORTION)) + 1

    def _tries(self, run: int, events: Integers) -> Tries:
        """The replacements to try at events of a run."""
        target = self.done.targets[run]
        sites, values = target.sites[events], target.values[events]
        if self.settings.full:
            rows, found = self.profile.every(sites, values)
            return Tries(run, events[rows], found)
        alternates = self.profile.alternates(sites, values, self.settings.neighbours)
        rows, columns = np.nonzero(alternates.valid)
        return Tries(run, events[rows], alternates.values[rows, columns])

    def _make(self, tries: list[Tries], keep: bool = True) -> list[NDArray[np.void]]:
        """Make altered runs and give the pairs that they show, a PAIR array for each run; they are kept on request."""
        tries = [t for t in tries if len(t.events)]
        requests, places = [], []
        for t in tries:
            target, (batch, place) = self.done.targets[t.run], self._batch(t)
            requests.append(Request(target.case, batch))
            places.append(place)
        found = []
        for t, place, results in zip(tries, places, self.work.run(requests) if requests else [], strict=True):
            self.done.candidates += len(place)
            self.done.altered += int((results.records["verdict"] != Verdict.NOT_RUN).sum())
            found.append(self._pairs(t, results.passed[place], self._relaxed(t.run, results)[place]))
        if keep:
            self.done.pairs = np.concatenate([self.done.pairs, *found])
        return found

    def _batch(self, tries: Tries) -> tuple[Batch, Integers]:
        """The continuations to run, and for each replacement the number of its one."""
        target = self.done.targets[tries.run]
        if tries.further is not None:
            rows = zip(tries.events.tolist(), tries.values.tolist(), tries.further, strict=True)
            return Batch.of([_joined(target, *row) for row in rows]), np.arange(len(tries.events))
        first, place = _distinct(target.leader[tries.events], tries.values)
        return Batch.single(target.changes(target.leader[tries.events[first]], tries.values[first])), place

    def _relaxed(self, run: int, results: Results) -> Bools:
        return self.done.targets[run].is_relaxed(results.records)

    def _pairs(self, tries: Tries, passed: Bools, relaxed: Bools) -> NDArray[np.void]:
        """The pairs among replacements."""
        rows = np.flatnonzero(passed | relaxed)
        found = np.zeros(len(rows), PAIR)
        found["run"], found["event"] = tries.run, tries.events[rows]
        found["statement"] = self.done.targets[tries.run].statements[found["event"]]
        found["alternate"], found["relaxed"], found["further"] = tries.values[rows], ~passed[rows], -1
        if tries.further is not None:
            found["further"] = len(self.done.further) + np.arange(len(rows))
            self.done.further += [tries.further[row] for row in rows]
        return found

    # ---- The same change elsewhere -----------------------------------------------------------------------------------

    def _try_elsewhere(self) -> None:
        """Try each kind of change that mended one run in the other runs, and note in ``same`` which it mends."""
        self._note(self.done.pairs)
        kinds = self._promising()
        for found in self._make([self._moved(run, kinds) for run in range(len(self.done.targets))], keep=False):
            self._note(found)

    def _note(self, pairs: NDArray[np.void]) -> None:
        """Enter pairs in ``same``."""
        rows = zip(self.done.kinds(pairs), pairs["run"].tolist(), pairs["relaxed"].tolist(), strict=True)
        for kind, run, relaxed in set(rows):
            mended = self.done.same.setdefault(kind, {})
            mended[run] = mended.get(run, False) or not relaxed

    def _promising(self) -> list[tuple[int, int]]:
        """The kinds of change to try elsewhere: for each statement those that mend the most runs."""
        by_statement: dict[int, list[tuple[int, int]]] = {}
        for kind in sorted(self.done.same, key=lambda kind: -sum(1 + exact for exact in self.done.same[kind].values())):
            by_statement.setdefault(int(self._statement_of[kind[0]]), []).append(kind)
        return [kind for kinds in by_statement.values() for kind in kinds[:KINDS]]

    @property
    def _statement_of(self) -> NDArray[np.int32]:
        return self.done.targets[0].plan.statements

    def _moved(self, run: int, kinds: list[tuple[int, int]]) -> Tries:
        """The kinds of change that are not known to mend a run, at the last instances of their sites."""
        target = self.done.targets[run]
        by_site = target.searched[np.argsort(target.sites[target.searched], kind="stable")]
        sites = target.sites[by_site]
        wanted = [kind for kind in kinds if run not in self.done.same[kind]]
        ends = np.searchsorted(sites, [site for site, _ in wanted], side="right")
        starts = np.maximum(np.searchsorted(sites, [site for site, _ in wanted]), ends - TRIED)
        events = [by_site[start:end] for start, end in zip(starts, ends, strict=True)]
        everything = np.concatenate([np.zeros(0, np.int64), *events])
        moves = np.repeat(np.array([move for _, move in wanted], np.uint64), ends - starts)
        values, site = target.values[everything], target.sites[everything]
        others = moved(values, moves, self.profile.form[site], self.profile.width[site])
        new = others != values
        return Tries(run, everything[new], others[new])


def _joined(target: Target, event: int, value: int, further: Further) -> NDArray[np.void]:
    """The changes of a replacement in order of time."""
    events, values = np.append(further[0], event), np.append(further[1], np.uint64(value))
    order = np.argsort(events)
    return target.changes(events[order], values[order])


def _distinct(leaders: Integers, values: Words) -> tuple[Integers, Integers]:
    """The first of each distinct pair of leader and value, and for each pair the number of its first."""
    order = np.lexsort((values, leaders))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(leaders[order]) != 0) | (values[order][1:] != values[order][:-1])
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    return order[new], place
