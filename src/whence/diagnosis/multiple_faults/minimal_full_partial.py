"""Several faults at once: from one fix to the next, which failing runs are searched again, and which list comes next.

A failing run is searched for *pairs* (interesting value mapping pairs, ``techniques/value_replacement``); the
suspiciousness of a statement is the number of failing runs in which it has a pair. With several faults, failing runs
have several causes, and one ranking over all of them serves none of the faults well. So faults are located one at a
time, and after each fix there is a next list:

- ``minimal`` searches once and shows the same list again;
- ``full`` searches all runs that still fail in the new version;
- ``partial`` keeps a list for each executed statement, made from the failing runs that execute it. After a fix it
  searches only the failing runs that execute what was fixed, and takes the list that differs most from those shown.

Everything here is pure: a technique takes what was known before, the version of the program, what was fixed and a
function that searches, and returns what is known now, with the list to show.

Source: Jeffrey's dissertation (2009), section 3.1, figures 3.2 (Minimal), 3.3 (Full) and 3.4 (Partial).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import TypeVar

import numpy as np

from whence.findings import Entry, Statement, rank
from whence.subject.coverage import Coverage
from whence.subject.suspiciousness import Counts, statement_spectrum, tarantula

Key = TypeVar("Key", bound=Hashable)
Statements = frozenset[Statement]
#: The statements with at least one pair in a failing run, each with a sentence that tells of one of its pairs.
Pairs = Mapping[Statement, str]
#: Searches failing cases of the current version, given by name.
Search = Callable[[Sequence[str]], Mapping[str, Pairs]]

DIFFERENCE = 10  # D of section 3.1.3: a next list has so many statements at its front that no earlier list had


@dataclass(frozen=True, slots=True)
class Version:
    """The runs of one version of the program: what each failing case executed, and how many passing cases did."""

    failing: Mapping[str, Statements]
    passed: Mapping[Statement, int]
    passing: int


def version_of(coverage: Coverage) -> Version:
    """The version whose cases have this coverage, which has to name them."""
    blocks = np.array([column for column, site in enumerate(coverage.sites) if not site.side], np.int64)
    statements, counts = statement_spectrum(coverage)
    failing = {}
    for name, failed, row in zip(coverage.names, coverage.failed, coverage.counts, strict=True):
        if failed:
            reached = (coverage.sites[column].statements for column in blocks[row[blocks] > 0].tolist())
            failing[name] = frozenset(chain.from_iterable(reached))
    return Version(failing, dict(zip(statements, counts.a10.tolist(), strict=True)), counts.total_passed)


@dataclass(frozen=True, slots=True)
class Run:
    """A failing run as it was searched last: the statements that it executed, and those with a pair."""

    executed: Statements
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Ranked:
    """One statement of a list: in how many of the list's failing runs it has a pair, and its Tarantula value."""

    statement: Statement
    runs: int
    tarantula: float


RankedList = tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known after a step, and goes into the next one.

    ``ranking`` is the list to show, made from the failing runs ``cases``; ``searched`` names those that this step
    searched. ``lists`` are Partial's lists that were not shown yet, by statement: the cases that each is made from.
    ``shown`` has the statements of the lists shown so far, in order.
    """

    runs: Mapping[str, Run]
    ranking: RankedList
    cases: frozenset[str]
    searched: tuple[str, ...]
    lists: Mapping[Statement, frozenset[str]] = field(default_factory=dict)
    shown: tuple[tuple[Statement, ...], ...] = ()


Technique = Callable[[Known | None, Version, Statements, Search], Known]


def minimal(known: Known | None, version: Version, fixed: Statements, search: Search) -> Known:
    """Minimal-Computation (figure 3.2): one search and one list for all faults."""
    return full(None, version, fixed, search) if known is None else replace(known, searched=())


def full(known: Known | None, version: Version, fixed: Statements, search: Search) -> Known:
    """Full-Recomputation (figure 3.3): every run that fails now is searched in the version of now."""
    runs = _searched(version, list(version.failing), search)
    return Known(runs, ranked(runs, version), frozenset(runs), tuple(runs))


def partial(known: Known | None, version: Version, fixed: Statements, search: Search) -> Known:
    """Partial-Recomputation (figure 3.4): only failing runs that execute a fixed statement are searched again.

    Two cases that the figure leaves open: a run that fails since the fix only is searched, and joins the lists of the
    statements that it executes; a list is passed over when none of its runs fails any more.
    """
    before = known.runs if known else {}
    again = [case for case, executed in version.failing.items() if case not in before or executed & fixed]
    runs = {**before, **_searched(version, again, search)}
    lists = _joined(known.lists if known else {}, {case: runs[case] for case in again if case not in before})
    shown = known.shown if known else ()
    known = Known(runs, (), frozenset(), tuple(again), lists, shown)
    return _next_list(known, version)


def _next_list(known: Known, version: Version) -> Known:
    """Partial's next list, removed from those that were not shown yet."""
    runs, lists = known.runs, known.lists
    alive = {s: cases for s, cases in lists.items() if not cases.isdisjoint(version.failing)}
    if not alive:  # every list was shown: they are made anew from the runs that still fail
        lists = alive = _joined({}, {case: runs[case] for case in version.failing})
    first: dict[frozenset[str], Statement] = {}  # lists made from the same runs are equal: the first stands for them
    for statement in sorted(alive, key=_place):
        first.setdefault(alive[statement], statement)
    if not first:  # no failing run executed a statement, as one that ends before main: no list has anything to show
        return replace(known, ranking=(), cases=frozenset(version.failing), lists={})
    candidates = {cases: ranked({c: runs[c] for c in cases}, version) for cases in first}
    chosen = most_different(candidates, known.shown) if known.shown else most_suspicious(candidates)
    left = {s: cases for s, cases in lists.items() if s != first[chosen]}
    ranking = candidates[chosen]
    shown = (*known.shown, tuple(r.statement for r in ranking))
    return replace(known, ranking=ranking, cases=chosen, lists=left, shown=shown)


TECHNIQUES: dict[str, Technique] = {"partial": partial, "full": full, "minimal": minimal}


def _searched(version: Version, cases: Sequence[str], search: Search) -> dict[str, Run]:
    found = search(cases) if cases else {}
    return {case: Run(version.failing[case], found[case]) for case in cases}


def _joined(lists: Mapping[Statement, frozenset[str]], runs: Mapping[str, Run]) -> dict[Statement, frozenset[str]]:
    """The lists with further runs, each joined to the lists of the statements that it executes."""
    joined = {statement: set(cases) for statement, cases in lists.items()}
    for case, run in runs.items():
        for statement in run.executed:
            joined.setdefault(statement, set()).add(case)
    return {statement: frozenset(cases) for statement, cases in joined.items()}


# ---- A list ----------------------------------------------------------------------------------------------------------


def ranked(runs: Mapping[str, Run], version: Version) -> RankedList:
    """The statements that some failing runs executed: most runs with a pair first, then Tarantula, file and line.

    The list of section 2.4 (definitions 4 and 5) for a suite of these failing runs and of all passing cases.
    """
    executed = sorted(frozenset().union(*(run.executed for run in runs.values())), key=_place)
    with_pair = [sum(s in run.pairs for run in runs.values()) for s in executed]
    failed = np.array([sum(s in run.executed for run in runs.values()) for s in executed], np.int64)
    passed = np.array([version.passed.get(s, 0) for s in executed], np.int64)
    values = tarantula(Counts(failed, passed, len(runs), version.passing)).tolist()
    found = map(Ranked, executed, with_pair, values)
    return tuple(sorted(found, key=lambda r: (-r.runs, -r.tarantula)))


def _place(statement: Statement) -> tuple[str, int]:
    """What statements are sorted by; much faster than comparing the objects."""
    return statement.file, statement.line


def entries(ranking: RankedList, runs: Mapping[str, Run]) -> list[Entry]:
    """A list made from failing runs as ranked entries; the score is the number of runs with a pair plus Tarantula.

    Tarantula's value is above 0 and at most 1 for a statement that a failing run executed, so it only orders ties.
    """
    notes = {
        r.statement: {
            "text": _text(r.runs, [run.pairs[r.statement] for run in runs.values() if r.statement in run.pairs], runs),
            "pairs_in": r.runs,
            "failing_cases": len(runs),
            "tarantula": r.tarantula,
        }
        for r in ranking
    }
    return rank({r.statement: r.runs + r.tarantula for r in ranking}, notes)


def _text(found: int, pairs: Sequence[str], runs: Sized) -> str:
    """The sentence of a statement: one of its pairs, and how many runs have one."""
    lead = f"{next(filter(None, pairs))}; " if any(pairs) else ""
    if len(runs) == 1:
        return lead.removesuffix("; ") or f"the failing run has {'a' if found else 'no'} pair here"
    return f"{lead}{found or 'none'} of {len(runs)} failing runs {'has' if found in (0, 1) else 'have'} a pair here"


# ---- Which list comes next -------------------------------------------------------------------------------------------


def most_suspicious(lists: Mapping[Key, RankedList]) -> Key:
    """The list with the highest suspiciousness at its front, ties by the statements behind it (line 7)."""
    return max(lists, key=lambda key: _front(lists[key]))


def most_different(
    lists: Mapping[Key, RankedList], shown: Iterable[Sequence[Statement]], threshold: int = DIFFERENCE
) -> Key:
    """The list that is first to have ``threshold`` statements that the lists shown do not have (line 15).

    All lists are scanned in parallel: after k steps the first k statements of a list are compared with the first k of
    each list shown. Where no list comes so far, the largest difference that one has is the threshold. Among lists that
    get there in the same step the most suspicious is taken.
    """
    shown_at: dict[Statement, int] = {}
    for earlier in shown:
        for position, statement in enumerate(earlier):
            shown_at[statement] = min(position, shown_at.get(statement, position))
    heights = {key: list(accumulate(_differences(ranking, shown_at), max)) for key, ranking in lists.items()}
    wanted = min(threshold, max(curve[-1] for curve in heights.values()))
    steps = {key: bisect_left(curve, wanted) for key, curve in heights.items() if curve[-1] >= wanted}
    nearest = min(steps.values())
    return most_suspicious({key: lists[key] for key, step in steps.items() if step == nearest})


def _front(ranking: RankedList) -> tuple[int, ...]:
    return tuple(r.runs for r in ranking if r.runs)


def _differences(ranking: RankedList, shown_at: Mapping[Statement, int]) -> list[int]:
    """For each k: how many of the first k + 1 statements are not among the first k + 1 of any list shown."""
    changes = [0] * (len(ranking) + 1)
    for position, entry in enumerate(ranking):
        until = min(shown_at.get(entry.statement, len(ranking)), len(ranking))
        if position < until:
            changes[position] += 1
            changes[until] -= 1
    return list(accumulate(changes[:-1]))
