"""What counts as the same condition, and what is taken away of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.conditions import CHECK, GUARD, OPERAND, place, removals, said, table
from whence.program.c_source import CSource

TEXT = """\
static int first(int *items, int n, int most)
{
    if (n > most)
        return -1;
    if (items != 0 && n > 0)
        items[0] = n;
    if (most == 3) {
        items[0]++;
    }
    if (n == 2 || items[0]) {
        n++;
        most++;
    } else
        n--;
    return n;
}
"""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a < b", "b > a", True),
        ("a <= b", "b > a", False),
        ("p", "p != NULL", True),
        ("!p", "p == NULL", True),
        ("*end == '\\0'", "!*end", True),
        ("(a == b)", "b == a", True),
        ("a < 0", "a > 0", False),
    ],
)
def test_conditions_that_say_the_same_are_one(one: str, other: str, same: bool) -> None:
    assert (said(one) == said(other)) is same


def test_operands_conditions_of_one_statement_and_checks_are_taken_away() -> None:
    found = [(one.kind, one.condition) for one in removals(CSource(TEXT.encode()))]
    assert found == [
        (CHECK, "n > most"),
        (OPERAND, "items != 0"),
        (OPERAND, "n > 0"),
        (GUARD, "most == 3"),
        (OPERAND, "n == 2"),
        (OPERAND, "items[0]"),
    ]
    texts = {one.condition: one.text.decode() for one in removals(CSource(TEXT.encode()))}
    assert texts["n > 0"] == TEXT.replace("items != 0 && n > 0", "items != 0")
    assert texts["most == 3"] == TEXT.replace("if (most == 3) {\n        items[0]++;\n    }", "items[0]++;")
    assert "return -1" not in texts["n > most"]


def test_what_is_there_has_a_place_and_the_table_counts_it() -> None:
    found = {one.condition: place(one, Path("first.c")) for one in removals(CSource(TEXT.encode()))}
    assert 1 <= found["n > most"] <= 100 and found["items != 0"] >= 1
    rows = table([(GUARD, 2), (GUARD, 0), (CHECK, 40)]).split("\n")
    assert rows[-1].replace(" ", "") == "|all|3|2|1|1|1|2|21|"
