"""Entries of tables: what is put in their place."""

from __future__ import annotations

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.expressions import slips

ROWS = """\
enum kind { FIRST, SECOND };
static int twice(int n) { return 2 * n; }
static int half(int n) { return n / 2; }
static int sum(int n, int m) { return n + m; }
static const struct row { const char *name; int size; enum kind kind; int (*way)(int); } rows[] = {
    { "one", 100, FIRST, twice },
    { .name = "two", .size = 7 << 2, .kind = SECOND, .way = half },
    { "six", -64, FIRST, twice }, /* the last */
};
int numbers[] = { 5, 1, 9 };
"""


def lines(at: int) -> set[str]:
    """The texts that a line gets."""
    source = CSource(ROWS.encode())
    return {
        edited(source, edit).decode().split("\n")[at - 1].strip() for _, edit in FileCandidates(source, "r.c").on(at)
    }


def test_what_the_column_has_and_what_is_near_is_put_in() -> None:
    found = lines(6)
    for text in ('"six", 100, FIRST, twice', '"one", -64, FIRST, twice', '"one", 101, FIRST, twice'):
        assert f"{{ {text} }}," in found
    assert '{ "one", 100, SECOND, twice },' in found  # the other enumerator
    assert '{ "one", 100, FIRST, half },' in found  # a function of the same form
    assert '{ "one", 100, FIRST, sum },' not in found
    assert '{ "one", 130, FIRST, twice },' in found  # another digit
    assert '{ 100, "one", FIRST, twice },' not in found  # of different kinds


def test_members_are_columns_of_their_own_and_expressions_have_numbers() -> None:
    found = lines(7)
    assert '{ .name = "two", .size = 8 << 2, .kind = SECOND, .way = half },' in found
    assert '{ .name = "two", .size = 7 << 2, .kind = FIRST, .way = half },' in found


def test_entries_are_exchanged_with_what_follows() -> None:
    assert "int numbers[] = { 1, 5, 9 };" in lines(10) and "int numbers[] = { 5, 9, 1 };" in lines(10)
    source = CSource(ROWS.encode())
    texts = {edited(source, edit).decode() for _, edit in FileCandidates(source, "r.c").on(6)}
    first, second = ROWS.split("\n")[5:7]
    assert ROWS.replace(f"{first}\n{second}", f"{second}\n{first}".replace(",\n", ",\n")) in texts


def test_a_slip_is_one_digit() -> None:
    assert {"360", "3600", "3060", "6360", "33660", "3665"} <= set(slips("3660"))
    assert "0660" not in set(slips("3660")) and not list(slips("36")) and not list(slips("0644"))
    assert {"0x1f2u", "0xaffu", "0x1ffu"} & set(slips("0x1ffu")) == {"0x1f2u", "0xaffu"}
