"""Right values: what pairs and correction sets say of a statement, and the edits that follow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from whence.findings import Statement
from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.right_values import RightValues, right_values

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
