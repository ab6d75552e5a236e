"""Diffs of lines, and the functions of a source."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whence.report.difference import of_line, of_text, unified
from whence.report.functions import function_at, functions
from whence.report.text import source_line

LINES = st.lists(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=8), max_size=8)


def version(rows: list[dict[str, Any]], sign: str) -> list[tuple[int, str]]:
    """The lines of one version, with their numbers."""
    return [(row["number"], "".join(text for text, _ in row["parts"])) for row in rows if row["sign"] in {" ", sign}]


@given(LINES, LINES, st.integers(1, 99))
def test_a_diff_holds_both_versions(before: list[str], after: list[str], first: int) -> None:
    rows = unified(before, after, first)
    assert [text for _, text in version(rows, "-")] == before
    assert version(rows, "+") == list(enumerate(after, first))


def test_what_changed_in_a_line_is_told_apart() -> None:
    old, new = unified(["if (n < 10)"], ["if (n <= 10)"], 1)
    assert old["parts"] == [["if (n ", False], ["<", True], [" 10)", False]]
    assert new["parts"] == [["if (n ", False], ["<=", True], [" 10)", False]]


def test_a_changed_line_stands_in_its_file_with_its_indentation() -> None:
    lines = ["int f(void)", "{", "\treturn 1;", "}"]
    assert version(of_line(lines, 3, "return 1;", "return 2;"), "+") == [
        *enumerate([source_line(line) for line in lines[:2]], 1),
        (3, "    return 2;"),
        (4, "}"),
    ]
    assert version(of_line(lines, 9, "return 1;", "return 2;"), "+") == [(9, "return 2;")]


def test_a_diff_of_git_has_numbers() -> None:
    rows = of_text("--- a/x.c\n+++ b/x.c\n@@ -4,3 +4,3 @@\n a\n-b\n+c\n \n")
    assert [(row["sign"], row["number"]) for row in rows] == [(" ", 4), ("-", 5), ("+", 5), (" ", 6)]


SOURCE = """\
#define OPEN { (
int table[] = { F(1), 2 };
static int f(int a) { return "}"[0]; }
API(int) g(void)
{
#if X
    if (1) {
#else
    if (2) {
#endif
    }
}
__attribute__((noinline)) void h(void) __attribute__((cold)); /* { */
struct s { int a; };
int last(void) { // never closed
"""


def test_functions_are_found_in_the_text() -> None:
    found = functions(SOURCE)
    assert found == [("f", 3, 3), ("g", 4, 12)]
    assert [function_at(found, line) for line in (2, 3, 7, 12, 14)] == ["", "f", "g", "g", ""]
