"""Conditions that tell failing runs from passing ones: what is asked, what an opposite is, and which ones are told."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.program.observation import Expression, Spot, Values
from whence.techniques.bugfix import telling_conditions
from whence.techniques.bugfix.conditions import opposite, split
from whence.techniques.bugfix.telling_conditions import OFTEN, Told, asked, telling, told, usual

OPERATORS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt}
CONDITIONS = [f"a {word} b" for word in OPERATORS] + [f"a {word} 3" for word in OPERATORS] + ["b", "!b"]


def values(*rows: tuple[int, ...], unknown: tuple[int, ...] = ()) -> Values:
    width = max((len(row) for row in rows), default=4)
    found = np.array(rows, np.float64).reshape(len(rows), width)
    known = np.ones(found.shape, np.bool_)
    known[:, list(unknown)] = False
    return Values(found, known, len(rows))


@pytest.mark.parametrize(
    ("condition", "sides"),
    [
        ("a < b", ("a", "<", "b")),
        ("p->next != NULL", ("p->next", "!=", "NULL")),
        ("strcmp(a, b) == 0", ("strcmp(a, b)", "==", "0")),
        ("n<=limit", ("n", "<=", "limit")),
        ("f(a == b)", None),
        ("flag", None),
        ("!p->flag", None),
        ("a & 1", None),
        ("(a & 1) == 0", None),
    ],
)
def test_a_comparison_is_split_at_its_operator(condition: str, sides: tuple[str, str, str] | None) -> None:
    assert split(condition) == sides


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("a < b", "a >= b"),
        ("flag", "!flag"),
        ("!flag", "flag"),
        ("!p->used[i]", "p->used[i]"),
        ("isdigit(c)", "!isdigit(c)"),
        ("*p", "!*p"),
        ("isspace((unsigned char)*p)", "!isspace((unsigned char)*p)"),
        ("f(a)(b)", "!(f(a)(b))"),
        ("f(a) + (b)", "!(f(a) + (b))"),
        ("a & 1", "!(a & 1)"),
        ("!f(x) + 1", "!(!f(x) + 1)"),
    ],
)
def test_an_opposite_holds_where_the_condition_does_not(condition: str, other: str) -> None:
    assert opposite(condition) == other


def test_each_expression_is_asked_once() -> None:
    found = asked(["a < b", "a == 0.5", "b", "strcmp(a, b) == 0"], {"a": True})
    assert [(one.text, one.is_real) for one in found.expressions] == [
        ("a", True),
        ("b", False),
        ("0.5", True),
        ("strcmp(a, b)", False),
        ("0", False),
    ]
    assert [(one.left, one.operator, one.right) for one in found.comparisons] == [
        (0, "<", 1),
        (0, "==", 2),
        (1, "", 1),
        (3, "==", 4),
    ]


rows = st.lists(st.tuples(*[st.integers(0, 4)] * 2), max_size=3)


@given(st.lists(rows, min_size=1, max_size=3), st.lists(rows, max_size=4))
def test_what_is_told_held_in_each_failing_run_and_in_few_passing_ones(
    failing: list[list[tuple[int, int]]], passing: list[list[tuple[int, int]]]
) -> None:
    what = asked(CONDITIONS, {})
    columns = [one.text for one in what.expressions]

    def seen(run: list[tuple[int, int]]) -> Values:
        worth = [{"a": a, "b": b, "3": 3, "!b": int(not b)} for a, b in run]
        return values(*(tuple(one[name] for name in columns) for one in worth)) if run else values()

    def holds(condition: str, run: list[tuple[int, int]]) -> bool:
        sides = split(condition)
        if sides is None:
            return any(not b if condition == "!b" else b for _, b in run)
        return any(OPERATORS[sides[1]](a, 3 if sides[2] == "3" else b) for a, b in run)

    found = telling(what.comparisons, [seen(run) for run in failing], [seen(run) for run in passing])
    there = [run for run in passing if run]
    could = [
        condition
        for condition in CONDITIONS
        if there
        and all(holds(condition, run) for run in failing)
        and sum(holds(condition, run) for run in there) <= OFTEN * len(there)
    ]
    assert set(found) <= set(could)
    assert bool(found) == bool(could)
    never = [condition for condition in found if not any(holds(condition, run) for run in there)]
    assert found[: len(never)] == never


def test_of_conditions_that_held_at_the_same_times_a_few_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling_conditions, "ALIKE", 2)
    what = asked(["a > 1", "a > 2", "a == 3", "b"], {})
    columns = [one.text for one in what.expressions]

    def run(*times: tuple[int, int]) -> Values:
        worth = [{"a": a, "b": b} for a, b in times]
        return values(*(tuple(one[name] if name in one else int(name) for name in columns) for one in worth))

    assert telling(what.comparisons, [run((3, 1), (0, 0))], [run((0, 0))]) == ["a > 1", "a > 2"]
    assert telling(what.comparisons, [run((3, 1), (0, 1))], [run((0, 0))]) == ["a > 1", "a > 2", "b"]
    assert telling(what.comparisons, [run((3, 1))], [run((0, 1))]) == ["a > 1", "a > 2"]
    assert telling(what.comparisons, [run((3, 1))], [run((3, 0))]) == ["b"]


def test_of_one_expression_no_more_than_two_that_held_at_the_same_times_are_told() -> None:
    what = asked(["a > 1", "a > 2", "a == 3", "b == 1", "b"], {})
    columns = [one.text for one in what.expressions]

    def run(a: int, b: int) -> Values:
        return values(tuple({"a": a, "b": b}.get(name) or int(name.isdigit() and name) for name in columns))

    assert telling(what.comparisons, [run(3, 1)], [run(0, 0)]) == ["a > 1", "a > 2", "b == 1", "b"]


def test_what_has_no_value_at_some_time_is_not_told() -> None:
    what = asked(["a > 1", "b"], {})
    seen = values((3, 1, 1), unknown=(0,))
    assert telling(what.comparisons, [seen], [values((0, 1, 0))]) == ["b"]


def test_where_no_passing_run_comes_nothing_is_told() -> None:
    what = asked(["a > 1"], {})
    assert telling(what.comparisons, [values((3, 1))], [values()]) == []
    assert telling(what.comparisons, [values()], [values((0, 1))]) == []


def test_of_a_condition_only_the_times_of_an_outcome_count() -> None:
    what = asked(["a > 1"], {})
    tests, statement = (Spot(0, 1, tuple(what.expressions), tests=tests) for tests in (True, False))
    failing, passing = values((3, 1, 1), (0, 1, 0)), values((0, 1, 1), (3, 1, 0))  # the outcome is the last column
    assert told(what.comparisons, tests, [failing], [passing]).where == ["a > 1"]
    assert told(what.comparisons, tests, [failing], [passing]).where_not == []
    failing, passing = values((3, 1), (0, 1)), values((0, 1), (3, 1))
    assert told(what.comparisons, statement, [failing], [passing]).where == []
    ended = values((0, 1, 1), (3, 1, 0))
    ended.known[1, 2] = False
    passing = values((0, 1, 1), (0, 1, 0))
    assert told(what.comparisons, tests, [ended], [passing]) == Told(["a > 1"], ["a > 1"])


@given(st.lists(rows, max_size=3), st.lists(rows, max_size=4))
def test_usual_is_the_one_value_of_passing_runs_that_each_failing_one_departs_from(
    failing: list[list[tuple[int, int]]], passing: list[list[tuple[int, int]]]
) -> None:
    def seen(run: list[tuple[int, int]]) -> Values:
        return values(*run) if run else Values(np.empty((0, 2)), np.empty((0, 2), np.bool_), 0)

    wanted = {}
    for place, name in enumerate("ab"):
        all_ = {row[place] for run in passing for row in run}
        is_enough = len([run for run in passing if run]) > 1 and failing
        if is_enough and len(all_) == 1 and all(any(row[place] not in all_ for row in run) for run in failing):
            wanted[name] = float(*all_)
    expressions = [Expression("a"), Expression("b")]
    assert usual(expressions, [seen(run) for run in failing], [seen(run) for run in passing]) == wanted


def test_what_has_no_value_at_some_time_has_no_usual_one() -> None:
    expressions = [Expression("a"), Expression("b")]
    passing = [values((0, 0)), values((0, 0))]
    assert usual(expressions, [values((1, 1))], passing) == {"a": 0, "b": 0}
    assert usual(expressions, [values((1, 1), unknown=(0,))], passing) == {"b": 0}
