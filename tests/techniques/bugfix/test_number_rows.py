"""Rows of statements that differ in their numbers: the one that lacks between two, and the next one."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates

BITS = """\
static void spread(int code, int *bit, int i)
{
    bit[4*i] = code & 1;
    bit[4*i+1] = (code >> 1) & 1;
    bit[4*i+2] = (code >> 2) & 1; /* the third */
    bit[4*i+3] = (code >> 3) & 1;
    show(0, bit);
}
"""


def completed(text: str) -> list[str]:
    file = FileCandidates(CSource(text.encode()), "b.c")
    return ["".join(edited(file.source, edit).decode().split()) for edit in file.asked_for]


def lacking(*statements: str) -> str:
    return f"static void f(int *a)\n{{\n    {' '.join(statements)}\n}}\n"


@pytest.mark.parametrize("gap", ["    bit[4*i+2] = (code >> 2) & 1; /* the third */\n"])
def test_what_stands_between_two_is_put_in(gap: str) -> None:
    right = "".join(BITS.replace(" /* the third */", "").split())
    assert completed(BITS.replace(gap, "")) == [right]


@pytest.mark.parametrize(
    ("row", "added"),
    [
        (("a[0] = 1;", "a[1] = 1;", "a[3] = 1;", "a[4] = 1;"), ["a[2]=1;"]),  # by the step of the others
        (("set(a, 8);", "set(a, 16);", "set(a, 24);", "set(a, 40);"), ["set(a,32);"]),
        (("a[1] = 5;", "a[2] = 5;", "a[3] = 5;"), ["a[4]=5;"]),  # the next one
        (("a[1] = 5;", "a[2] = 5;"), []),  # two are no row that goes on
        (("a[1] = 5;", "a[4] = 5;"), []),
        (("a[1] = 5;", "a[1] = 5;", "a[1] = 5;"), []),
        (("a[1] = 5;", "b[3] = 5;"), []),
        (("a[1] = 5;", "show(a);", "a[3] = 5;"), []),  # others stand between them
    ],
)
def test_a_row_goes_on_by_its_steps(row: tuple[str, ...], added: list[str]) -> None:
    found = completed(lacking(*row))
    assert len(found) == len(added) and all(text in one for text, one in zip(added, found, strict=True))
