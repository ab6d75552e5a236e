"""Delta debugging of failure-inducing sets: no element of what it finds can be left out."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from whence.inputs.delta_debugging import minimised


def least(items: range, induces) -> list[set[int]]:
    """All sets that induce and of which no element can be left out: by trying every subset."""
    found: list[set[int]] = []
    for size in range(len(items) + 1):
        for chosen in combinations(items, size):
            if induces(chosen) and not any(smaller <= set(chosen) for smaller in found):
                found.append(set(chosen))
    return found


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, list[frozenset[int]]]:
    """How many items there are, and sets any one of which is enough: so the test is monotone."""
    count = draw(st.integers(0, 9))
    enough = draw(st.lists(st.frozensets(st.integers(0, count - 1)) if count else st.just(frozenset()), min_size=1))
    return count, enough


@given(questions())
def test_twin(drawn):
    count, enough = drawn

    def induces(kept):
        return any(needed <= set(kept) for needed in enough)

    found = minimised(range(count), induces)
    assert set(found) in least(range(count), induces)
    assert found == sorted(found) and found == minimised(range(count), induces)


@given(st.integers(0, 60), st.data())
def test_one_least_set_is_found_whatever_its_place(count, data):
    needed = data.draw(st.frozensets(st.integers(0, count - 1), max_size=5)) if count else frozenset()
    asked = []

    def induces(kept):
        asked.append(tuple(kept))
        return needed <= set(kept)

    assert set(minimised(range(count), induces)) == needed
    assert len(asked) <= (count + 1) ** 2 + 2


def test_of_two_ways_the_order_decides():
    """Property 1: the set may not be unique; always the same one is taken."""
    ways = [{"early"}, {"late"}]

    def induces(kept):
        return any(way <= set(kept) for way in ways)

    assert minimised(["early", "late"], induces) == ["late"]
    assert minimised(["late", "early"], induces) == ["early"]


def test_no_element_can_be_left_out_of_one_of_a_test_that_is_not_monotone():
    def induces(kept):  # `b` is in the way unless `c` is there
        return "a" in kept and ("b" not in kept or "c" in kept)

    assert minimised(["a", "b", "c"], induces) == ["a"]
    assert minimised([], lambda kept: True) == []
