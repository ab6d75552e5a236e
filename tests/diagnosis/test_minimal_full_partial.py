"""The three techniques for several faults: the example, properties, and a twin that follows figure 3.4 step by step."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.diagnosis.multiple_faults.minimal_full_partial import (
    DIFFERENCE,
    TECHNIQUES,
    Ranked,
    Run,
    Version,
    entries,
    full,
    minimal,
    most_different,
    most_suspicious,
    partial,
    ranked,
    version_of,
)
from whence.findings import Statement
from whence.subject.coverage import Coverage, Site

LINES = range(1, 9)
CASES = ("a", "b", "c", "d", "e")


def lines(*numbers: int) -> frozenset[Statement]:
    return frozenset(Statement("p.c", n) for n in numbers)


def numbers(ranking) -> list[int]:
    return [r.statement.line for r in ranking]


def version(failing: dict[str, frozenset[Statement]], passing: int = 0, **passed: int) -> Version:
    """Of one file; ``passed`` as ``s3=2``: two passing cases executed line 3."""
    return Version(failing, {Statement("p.c", int(s[1:])): n for s, n in passed.items()}, passing)


class Searcher:
    """A search that looks its answers up, and remembers what it was asked."""

    def __init__(self, pairs: dict[str, dict[Statement, str]]) -> None:
        self.pairs, self.asked = pairs, []

    def __call__(self, cases):
        self.asked += cases
        return {case: self.pairs[case] for case in cases}


def told(statements: Iterable[Statement]) -> dict[Statement, str]:
    """Pairs at these statements."""
    return {s: f"with `x` {s.line} instead of 0 the output is right" for s in sorted(statements)}


# ---- The example of figures 3.5 and 3.6: statements 2 and 4 are faulty, run 3 fails because of 4 ---------------------

FIRST = version({"1": lines(1, 2, 3, 5), "2": lines(1, 2, 3, 5), "3": lines(1, 2, 4, 5)})
FIRST_PAIRS = {"1": told(lines(2, 3)), "2": told(lines(2, 5)), "3": told(lines(2, 4, 5))}
SECOND = version({"3": lines(1, 2, 4, 5)})
SECOND_PAIRS = {"3": told(lines(4))}


def test_example_of_partial():
    search = Searcher(FIRST_PAIRS)
    one = partial(None, FIRST, frozenset(), search)
    assert sorted(search.asked) == ["1", "2", "3"]
    assert one.ranking[0] == Ranked(Statement("p.c", 2), 3, 1.0)
    assert numbers(one.ranking)[:2] == [2, 5]
    assert {s.line: sorted(cases) for s, cases in one.lists.items()} == {
        2: ["1", "2", "3"],
        3: ["1", "2"],
        4: ["3"],
        5: ["1", "2", "3"],
    }  # list 1, one of three equal ones, is the one that was shown
    two = partial(one, SECOND, lines(2), Searcher(SECOND_PAIRS))
    assert two.searched == ("3",)
    assert two.ranking[0] == Ranked(Statement("p.c", 4), 1, 1.0)
    assert two.cases == {"3"}
    assert {s.line for s in two.lists} == {2, 3, 5}


def test_example_updates_the_affected_lists():
    known = partial(None, FIRST, frozenset(), Searcher(FIRST_PAIRS))
    after = partial(known, SECOND, lines(2), Searcher(SECOND_PAIRS))
    cases = after.lists[Statement("p.c", 5)]
    before = {r.statement.line: r.runs for r in ranked({c: known.runs[c] for c in cases}, SECOND)}
    now = {r.statement.line: r.runs for r in ranked({c: after.runs[c] for c in cases}, SECOND)}
    assert {n for n in before if before[n] != now[n]} == {2, 5}
    assert all(before[n] - now[n] == 1 for n in (2, 5))
    assert max(now, key=lambda n: now[n]) == 2  # the runs that pass now still count in their lists


def test_example_of_full_and_minimal():
    one = full(None, FIRST, frozenset(), Searcher(FIRST_PAIRS))
    assert numbers(one.ranking) == [2, 5, 3, 4, 1]
    search = Searcher(SECOND_PAIRS)
    assert numbers(full(one, SECOND, lines(2), search).ranking) == [4, 1, 2, 5]
    assert search.asked == ["3"]
    assert minimal(one, SECOND, lines(2), Searcher({})).ranking == one.ranking


# ---- Lists -----------------------------------------------------------------------------------------------------------


def test_tarantula_orders_ties():
    runs = {"a": Run(lines(1, 2, 3), told(lines(3))), "b": Run(lines(1, 2), told(lines()))}
    found = ranked(runs, version({}, 4, s1=4, s2=1))
    assert numbers(found) == [3, 2, 1]
    assert [r.runs for r in found] == [1, 0, 0]
    assert [r.tarantula for r in found] == [1.0, 0.8, 0.5]


def test_entries_share_ranks_where_nothing_tells_statements_apart():
    runs = {"a": Run(lines(1, 2, 3), told(lines(3))), "b": Run(lines(1, 2), told(lines()))}
    found = entries(ranked(runs, version({})), runs)
    assert [(e.statement.line, e.rank, e.rank_worst) for e in found] == [(3, 1, 1), (1, 2, 3), (2, 2, 3)]


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([True], "with `x` 1 instead of 0 the output is right"),
        ([False], "the failing run has no pair here"),
        ([False, True], "with `x` 1 instead of 0 the output is right; 1 of 2 failing runs has a pair here"),
        ([True, True], "with `x` 1 instead of 0 the output is right; 2 of 2 failing runs have a pair here"),
        ([False, False], "none of 2 failing runs has a pair here"),
    ],
)
def test_entries_tell_of_a_pair(pairs, text):
    runs = {str(n): Run(lines(1), told(lines(1)) if found else {}) for n, found in enumerate(pairs)}
    (entry,) = entries(ranked(runs, version({})), runs)
    assert entry.evidence == {
        "text": text,
        "pairs_in": sum(pairs),
        "failing_cases": len(pairs),
        "tarantula": 1.0,
    }


def test_version_of_coverage():
    sites = [
        Site(tuple(lines(1))),
        Site((Statement("p.c", 2), Statement("p.c", 3))),
        Site(tuple(lines(3)), "true", 4),
        Site(tuple(lines(3, 4))),
    ]
    counts = np.array([[1, 2, 1, 0], [1, 0, 0, 3], [1, 1, 0, 1]], np.uint32)
    found = version_of(Coverage(counts, np.array([True, False, True]), sites, ["a", "b", "c"]))
    assert found.failing == {"a": lines(1, 2, 3), "c": lines(1, 2, 3, 4)}
    assert found.passed == {Statement("p.c", n): passed for n, passed in ((1, 1), (2, 0), (3, 1), (4, 1))}
    assert found.passing == 1


executions = st.frozensets(st.sampled_from([Statement("p.c", n) for n in LINES]), min_size=1)


@st.composite
def searched(draw, cases=CASES):
    """Failing runs with their pairs, and the passing cases' counts."""
    runs = {}
    for case in draw(st.lists(st.sampled_from(cases), min_size=1, unique=True)):
        executed = draw(executions)
        runs[case] = Run(executed, told(s for s in executed if draw(st.booleans())))
    passing = draw(st.integers(0, 4))
    passed = {Statement("p.c", n): draw(st.integers(0, passing)) for n in LINES}
    return runs, Version({case: run.executed for case, run in runs.items()}, passed, passing)


@given(searched())
def test_ranked_is_the_definition(drawn):
    runs, of = drawn

    def key(statement):
        failed = Fraction(sum(statement in run.executed for run in runs.values()), len(runs))
        passed = Fraction(of.passed[statement], of.passing) if of.passing else Fraction(0)
        return (-sum(statement in run.pairs for run in runs.values()), -failed / (failed + passed), statement)

    found = ranked(runs, of)
    assert [r.statement for r in found] == sorted({s for run in runs.values() for s in run.executed}, key=key)
    scores = [e.score for e in entries(found, runs)]
    assert [e.statement for e in entries(found, runs)] == [r.statement for r in found]
    assert scores == sorted(scores, reverse=True)


# ---- Which list comes next -------------------------------------------------------------------------------------------


def a_list(*order: int) -> tuple[Ranked, ...]:
    return tuple(Ranked(Statement("p.c", n), 0, 1.0) for n in order)


def test_most_suspicious_looks_behind_the_front():
    lists = {
        "even": (Ranked(Statement("p.c", 1), 3, 1.0), Ranked(Statement("p.c", 2), 1, 1.0)),
        "steep": (Ranked(Statement("p.c", 3), 3, 0.1), Ranked(Statement("p.c", 4), 2, 0.1)),
        "low": (Ranked(Statement("p.c", 5), 2, 1.0),),
    }
    assert most_suspicious(lists) == "steep"


def test_most_different_is_the_first_to_reach_the_threshold():
    shown = [[s.statement for s in a_list(*range(100))]]
    late = a_list(0, 1, *range(100, 120))
    soon = a_list(*range(200, 210), 0, 1)
    assert most_different({"late": late, "soon": soon}, shown) == "soon"
    assert most_different({"late": late, "soon": soon}, shown, threshold=11) == "late"


orders = st.permutations(LINES).flatmap(lambda order: st.integers(1, 8).map(lambda n: a_list(*order[:n])))


@given(
    st.dictionaries(st.sampled_from("uvwxyz"), orders, min_size=1),
    st.lists(orders, max_size=3),
    st.sampled_from([1, 2, 3, DIFFERENCE]),
)
def test_most_different_scans_in_parallel(lists, shown, threshold):
    shown_lines = [[r.statement for r in ranking] for ranking in shown]

    def difference(ranking, k):
        near = {s for earlier in shown_lines for s in earlier[:k]}
        return len({r.statement for r in ranking[:k]} - near)

    steps = range(1, len(LINES) + 1)
    largest = max(difference(ranking, k) for ranking in lists.values() for k in range(1, len(ranking) + 1))
    wanted = min(threshold, largest)
    first = next(key for k in steps for key in lists if k <= len(lists[key]) and difference(lists[key], k) >= wanted)
    assert most_different(lists, shown_lines, threshold) == first


# ---- From version to version -----------------------------------------------------------------------------------------


@given(searched(), searched(), executions)
def test_full_is_a_search_from_scratch(first, second, fixed):
    (runs, before), (later_runs, after) = first, second
    known = full(None, before, frozenset(), Searcher({c: r.pairs for c, r in runs.items()}))
    search = Searcher({c: r.pairs for c, r in later_runs.items()})
    again = full(known, after, fixed, search)
    assert again == full(None, after, frozenset(), search)
    assert sorted(search.asked) == sorted([*after.failing, *after.failing])


@given(searched(), searched(), executions)
def test_minimal_searches_once(first, second, fixed):
    (runs, before), (_, after) = first, second
    known = minimal(None, before, frozenset(), Searcher({c: r.pairs for c, r in runs.items()}))
    search = Searcher({})
    again = minimal(known, after, fixed, search)
    assert (search.asked, again.searched) == ([], ())
    assert (again.ranking, again.cases) == (known.ranking, known.cases)


@given(searched())
def test_at_first_all_three_search_everything(drawn):
    runs, of = drawn
    for technique in (minimal, full, partial):
        search = Searcher({c: r.pairs for c, r in runs.items()})
        known = technique(None, of, frozenset(), search)
        assert sorted(search.asked) == sorted(of.failing) == sorted(known.searched)
        assert dict(known.runs) == runs


@given(searched(), searched(), executions)
def test_partial_searches_what_executes_the_fix_or_fails_anew(first, second, fixed):
    (runs, before), (later_runs, after) = first, second
    known = partial(None, before, frozenset(), Searcher({c: r.pairs for c, r in runs.items()}))
    search = Searcher({c: r.pairs for c, r in later_runs.items()})
    again = partial(known, after, fixed, search)
    wanted = {c for c, executed in after.failing.items() if executed & fixed or c not in before.failing}
    assert set(search.asked) == wanted and len(search.asked) == len(wanted)
    assert all(again.runs[c] == (later_runs[c] if c in wanted else runs[c]) for c in again.runs)


@given(searched(CASES[:3]), st.lists(st.tuples(searched(CASES[:3]), executions), min_size=1, max_size=4))
def test_partial_is_figure_3_4(first, steps):
    """Against a twin that keeps one list a statement, as the figure does."""
    runs, before = first
    known = partial(None, before, frozenset(), Searcher({c: r.pairs for c, r in runs.items()}))
    twin = Twin(runs, before)
    assert known.ranking == twin.shown[-1]
    for (later_runs, after), fixed in steps:
        known = partial(known, after, fixed, Searcher({c: r.pairs for c, r in later_runs.items()}))
        if not twin.step(later_runs, after, fixed):
            return
        assert known.ranking == twin.shown[-1]
        assert dict(known.lists) == twin.cases


class Twin:
    """Figure 3.4 with a list a statement, and the two additions that ``partial`` names."""

    def __init__(self, runs, of) -> None:
        self.runs = dict(runs)
        self.cases = {s: frozenset(c for c in runs if s in runs[c].executed) for r in runs.values() for s in r.executed}
        self.shown = []
        self._show(of, most_suspicious)

    def step(self, later, after, fixed) -> bool:
        """False where no list is left that a failing run belongs to."""
        for case, run in later.items():
            if case not in self.runs:
                for s in run.executed:
                    self.cases[s] = self.cases.get(s, frozenset()) | {case}
            if case not in self.runs or run.executed & fixed:
                self.runs[case] = run
        if not any(cases & set(after.failing) for cases in self.cases.values()):
            return False
        self._show(after, lambda lists: most_different(lists, [[r.statement for r in o] for o in self.shown]))
        return True

    def _show(self, of, select) -> None:
        lists = {
            s: ranked({c: self.runs[c] for c in self.cases[s]}, of)
            for s in sorted(self.cases)
            if self.cases[s] & set(of.failing)
        }
        statement = select(lists)
        self.shown.append(lists[statement])
        del self.cases[statement]


def test_partial_goes_on_when_all_lists_were_shown():
    of = version({"a": lines(1)})
    known = partial(None, of, frozenset(), Searcher({"a": told(lines(1))}))
    assert not known.lists
    again = partial(known, of, lines(1), Searcher({"a": told(lines())}))
    assert numbers(again.ranking) == [1] and again.ranking[0].runs == 0


@pytest.mark.parametrize("technique", [full, partial])
def test_nothing_is_searched_where_nothing_has_to_be(technique):
    of = version({"a": lines(1, 2)})
    known = technique(None, of, frozenset(), Searcher({"a": told(lines(2))}))
    search = Searcher({"a": told(lines(1))})
    technique(known, of, lines(3), search)
    assert search.asked == (["a"] if technique is full else [])


def test_runs_that_executed_no_statement_have_a_list_of_none():
    """One that dies before main, of a program that has passing cases."""
    begun = version({"1": lines()}, passing=2, s1=2)
    for technique in TECHNIQUES.values():
        known = technique(None, begun, frozenset(), Searcher({"1": {}}))
        assert known.ranking == ()
    mixed = version({"1": lines(), "2": lines(2)}, passing=2, s1=2)
    known = partial(None, mixed, frozenset(), Searcher({"1": {}, "2": {}}))
    assert numbers(known.ranking) == [2]
    assert partial(known, begun, lines(2), Searcher({"1": {}})).ranking == ()
