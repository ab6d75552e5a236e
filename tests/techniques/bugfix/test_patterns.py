"""Patterns in mapping pairs and value sets, on sets of our own and against a slow twin."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from whence.techniques.bugfix.patterns import pair_patterns, value_patterns

NAMES = ("Def", "Use1", "Use2")
# A sum that is one too small, of two values that are equal once.
PAIRS = [((4, 3, 2), (5, 3, 2)), ((9, 5, 5), (10, 5, 5)), ((1, 2, 0), (2, 2, 0))]


def test_what_all_pairs_show_is_a_pattern() -> None:
    assert pair_patterns(NAMES, PAIRS) == {
        "origDef > origUse2",
        "altDef > altUse2",
        "origDef < altDef",
        "origUse1 = altUse1",
        "origUse2 = altUse2",
    }


def test_one_value_becomes_another_one() -> None:
    to_any = [((7, 1), (2, 1)), ((7, 1), (3, 1))]
    to_one = [((7, 1), (2, 1)), ((8, 1), (2, 1))]
    assert {"ONE-TO-ANY"} == pair_patterns(("Def", "Use1"), to_any) & {"ONE-TO-ANY", "ANY-TO-ONE"}
    assert {"ANY-TO-ONE"} == pair_patterns(("Def", "Use1"), to_one) & {"ONE-TO-ANY", "ANY-TO-ONE"}
    assert not pair_patterns(("Def", "Use1"), to_any[:1]) & {"ONE-TO-ANY", "ANY-TO-ONE"}  # one pair shows nothing


def test_a_branch_that_goes_the_other_way() -> None:
    assert "OTHER-BRANCH" in pair_patterns(("Def", "Use1"), [((1, 4), (0, 4)), ((0, 9), (1, 9))], ["Def"])
    assert "OTHER-BRANCH" not in pair_patterns(("Def", "Use1"), [((1, 4), (0, 4)), ((1, 9), (1, 8))], ["Def"])


def test_values_of_failing_and_passing_runs() -> None:
    failing, passing = [(0, 5, 2), (3, 9, 2)], [(12, 4, 1), (30, 4, 2)]
    assert value_patterns(NAMES, failing, passing) == {
        "failDef < failUse1",
        "failUse1 > failUse2",
        "passDef > passUse1",
        "passDef > passUse2",
        "passUse1 > passUse2",
        "ALL-FAIL-SMALLER",  # Def
        "ALL-FAIL-LARGER",  # Use1
        "ONE-FAIL-VALUE",  # Use2
        "ONE-PASS-VALUE",  # Use1
    }


def test_nothing_comes_of_nothing() -> None:
    assert pair_patterns(NAMES, []) == value_patterns(NAMES, [], []) == set()


ROWS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=5)


@given(ROWS)
def test_comparisons_are_those_that_hold_in_all_sets(rows: list[tuple[int, int, int]]) -> None:
    tests = {"<": int.__lt__, ">": int.__gt__, "=": int.__eq__}
    expected = {
        f"fail{NAMES[a]} {sign} fail{NAMES[b]}"
        for a, b in combinations(range(3), 2)
        for sign, holds in tests.items()
        if all(holds(row[a], row[b]) for row in rows)
    }
    assert {text for text in value_patterns(NAMES, rows, []) if " " in text} == expected
