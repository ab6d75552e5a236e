"""Right values: what pairs and correction sets say of a statement, and the edits that follow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from whence.findings import Statement
from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.right_values import RightValues, right_assignments, right_values

AT = Statement("f.c", 3)


def pair(case: str, old: str, new: str, **more: Any) -> dict[str, Any]:
    row = {"file": "f.c", "line": 3, "original": old, "alternate": new, "case": case, "relaxed": False, "further": []}
    return row | more


def diagnosis(case: str, was: str, right: str, *lines: int) -> dict[str, Any]:
    statements = [{"file": "f.c", "line": line} for line in lines or (3,)]
    return {"statements": statements, "case": case, "values": [{"was": was, "right": right}]}


def test_what_more_cases_share_comes_first() -> None:
    pairs = [pair("a", "1", "4"), pair("b", "2", "5"), pair("b", "2", "4", relaxed=True)]
    (right,) = right_values(pairs, [diagnosis("c", "7", "10")]).values()
    assert right.distances[0] == 3 and right.values[0] == 4
    assert set(right.values) == {4, 5, 10} and set(right.distances) == {3, 2}


def test_only_numbers_of_one_statement_alone_count() -> None:
    others = [
        pair("a", "true", "false"),
        pair("a", "NULL", "0x10"),
        pair("a", "1", "2", further=[{}]),
        pair("a", "nan", "1"),
    ]
    assert right_values(others, [diagnosis("a", "1", "2", 3, 4)]) == {}
    found = right_values([pair("a", "'a' (97)", "'b' (98)"), pair("b", "0.5", "-0.25")], [])[AT]
    assert set(found.distances) == {1, Fraction(-3, 4)}


@pytest.mark.parametrize(
    ("line", "right", "expected"),
    [
        ("x = a * 3 + 100;", RightValues(distances=(Fraction(333),)), "x = a * 3 + 433;"),
        ("x = a * 3;", RightValues(distances=(Fraction(-7),)), "x = (a * 3) - 7;"),
        ("x = b;", RightValues(values=(Fraction(42),)), "x = 42;"),
        ("if (a < b) x = 1;", RightValues(distances=(Fraction(5),)), "if (a < b + 5) x = 1;"),
        ("x = 0.5 * a;", RightValues(distances=(Fraction(1, 4),)), "x = 0.75 * a;"),
        ("return g(a, b);", RightValues(values=(Fraction(-1),)), "return g(a, -1);"),
    ],
)
def test_the_edits_that_follow(line: str, right: RightValues, expected: str) -> None:
    source = CSource(f"int f(int a, int b)\n{{ int x = 0;\n{line}\nreturn x; }}\n".encode())
    found = {
        edited(source, edit).split(b"\n")[2].decode() for edit in FileCandidates(source, "f.c").with_values(3, right)
    }
    assert expected in found


def test_numbers_that_are_not_decimal_are_left_alone() -> None:
    source = CSource(b'int f(int a)\n{\nreturn g(0x10, 017, "7", a);\n}\n')
    right = RightValues(distances=(Fraction(1),))
    found = {edited(source, edit).split(b"\n")[2] for edit in FileCandidates(source, "f.c").with_values(3, right)}
    assert found == {b'return g(0x10, 017, "7", a + 1);', b'return g(0x10, 017, "7", a) + 1;'}


def test_right_values_of_places_are_assignments_those_that_mend_a_whole_run_first() -> None:
    rows = [
        pair("a", "1", "0", name="count", relaxed=True),
        pair("a", "1", "-2", name="p->left"),
        pair("b", "1", "-2", name="p->left"),
        pair("a", "'x' (120)", "'y' (121)", name="*at"),
        pair("a", "RED", "BLUE", name="shades[i].colour"),
        pair("a", "false", "true", name="seen"),
        pair("a", "1", "2", name="the result of f()"),
        pair("a", "1", "2", name="a + b"),
        pair("a", "0x10", "0x20", name="next"),
        pair("a", "1", "2", name="other", further=[{}]),
    ]
    found = [(name, value) for at, name, value in right_assignments(rows) if at == AT]
    whole = [("p->left", "-2"), ("*at", "121"), ("shades[i].colour", "BLUE"), ("seen", "1")]
    assert found == [*whole, ("count", "0")]


NEAR = b"""\
int g(int *p, int n)
{
    int sum = 0;
    if (n > 2) {
        int last = n;
        sum += last;
    }
    return sum + *p;
}
int h(int sum)
{
    return sum;
}
"""


def test_a_right_value_is_assigned_wherever_its_place_can_be_named_the_nearest_statement_first() -> None:
    source = CSource(NEAR)
    texts = [edited(source, edit) for edit in FileCandidates(source, "g.c").assigning(8, "sum", "7")]
    put = [text[: text.index(b"sum = 7;")].count(b"\n") + 1 for text in texts]
    assert put[0] == 8 and sorted(put) == sorted(dict.fromkeys(put)) and set(put) <= {4, 6, 7, 8, 9}
    assert {4, 6, 8} <= set(put)
    assert not list(FileCandidates(source, "g.c").assigning(8, "last", "7"))  # no term of that line's function scope
