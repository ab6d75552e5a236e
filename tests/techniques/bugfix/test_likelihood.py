"""Which edits come first: how often fixes of a kind were made, shared by its candidates; places of statements."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from whence.program.source_edits import Kind, Part, SourceEdit
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.knowledge import Scenario
from whence.techniques.bugfix.likelihood import fixes_made, kinds_of, likeliest_first
from whence.techniques.bugfix.suspects import ALIKE, Suspects


def edit(old: str, new: str, at: int = 0) -> SourceEdit:
    change = old.encode(), new.encode()
    return SourceEdit("a.c", 1, (Part(Kind.REPLACE, at, at + len(old), change[1]),), (change,))


def test_a_fix_counts_by_its_most_general_and_its_most_special_description() -> None:
    fixes = [("change an operator", "change < into <="), ("change an operator", "change < into <="), ("add a cast",)]
    made = fixes_made(Scenario(fix, frozenset(), f"p {number}") for number, fix in enumerate(fixes))
    assert made == {"change an operator": 2, "change < into <=": 2, "add a cast": 1}
    assert kinds_of(edit("<", "<=")) == ("change an operator", "change < into <=")
    assert kinds_of(edit("a", "b")) == ("use another variable", "use another variable")


def test_how_often_a_fix_is_made_is_shared_by_its_candidates() -> None:
    variables = [(0, edit("a", name)) for name in ("b", "c", "d", "e")]
    operators = [(1, edit("<", ">"))]
    assert likeliest_first([*variables, *operators], {"use another variable": 2})[0].changes == ((b"<", b">"),)
    first = likeliest_first([*variables, *operators], {"use another variable": 8})
    assert [one.changes[0][1] for one in first] == [b"b", b"c", b"d", b"e", b">"]


def test_of_equally_likely_edits_the_lower_tier_comes_first_and_then_the_smaller_edit() -> None:
    small, large = edit("n", "n + 1 + 1"), edit("n", "n + 1 + 1 + 1 + 1")
    texts = [one.changes[0][1] for one in likeliest_first([(1, small), (0, large), (0, small)], {})]
    assert texts == [small.changes[0][1], large.changes[0][1], small.changes[0][1]]


class Made:
    """Statements of some numbers of edits, all of one kind and tier."""

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers

    def on(self, line: int) -> list[tuple[int, SourceEdit]]:
        return [(0, edit("a", f"b{line}", 1000 * line + number)) for number in range(self._numbers[line])]


@given(st.lists(st.integers(0, 60), max_size=12))
def test_edits_come_by_the_product_of_their_statement_s_place_and_their_own(numbers: list[int]) -> None:
    files = {"a.c": cast(FileCandidates, Made(numbers))}
    places = sorted(
        ((line + 1) * (number + ALIKE), line, number) for line, count in enumerate(numbers) for number in range(count)
    )
    came: list[Any] = [
        one.parts[0].start for one in Suspects(files, [("a.c", line) for line in range(len(numbers))], {}).edits()
    ]
    assert came == [1000 * line + number for _, line, number in places]
