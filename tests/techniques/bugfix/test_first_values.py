"""First values that are missing: which are tried, where they are chosen, and how they are written."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.program.source_edits import edited, edited_line
from whence.techniques.bugfix.candidates import FileCandidates

# Two lists that are joined: each walk begins somewhere.
LISTS = """\
#include <stdbool.h>
struct item { int size; struct item *next; };
static int total(struct item *list)
{
    struct item *at = list;
    int sum = 0;
    for (; at; at = at->next)
        sum += at->size;
    return sum;
}
static bool has(struct item *list, int size)
{
    struct item *at = list;
    bool found = false;

    while (at) {
        found |= at->size == size;
        at = at->next;
    }
    return found;
}
static int sizes(const int *all, int count)
{
    int most = all[0];
    for (int i = 1; i < count; i++)
        if (all[i] > most)
            most = all[i];
    return most;
}
"""


def beginning(text: str) -> list[tuple[int, str, str]]:
    """The lines that first values are looked at, those that they are written on, and the files with them."""
    file = FileCandidates(CSource(text.encode()), "l.c")
    found = []
    for edit in file.completing:
        if edit.otherwise:
            line = edited_line(file.source, edit)
            assert line is not None and file.is_asked_for(edit) and edit.is_choice
            found.append((edit.line, line[2].decode().strip(), edited(file.source, edit).decode()))
    return found


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("    int sum = 0;\n", "    int sum;\n", 7),
        ("*at = list;\n    bool", "*at;\n    bool", 16),  # behind the other declaration
        ("bool found = false;", "bool found;", 16),
        ("int most = all[0];", "int most;", 25),
        ("for (int i = 1;", "for (int i;", 25),  # in the head of a loop
    ],
)
def test_the_value_that_was_there_is_among_the_first(old: str, new: str, line: int) -> None:
    assert LISTS.count(old) == 1
    found = beginning(LISTS.replace(old, new))
    assert LISTS in [text for _, _, text in found[:12]]
    assert {at for at, _, _ in found} == {line}


def test_what_has_a_value_is_given_none() -> None:
    assert beginning(LISTS) == []
    assert beginning(LISTS.replace("bool found = false;", "bool found;").replace("found |=", "found =")) == []


def test_a_first_value_is_written_at_its_declaration() -> None:
    lines = {text for _, text, _ in beginning(LISTS.replace("bool found = false;", "bool found;"))}
    assert {"bool found = false;", "bool found = true;"} <= lines and all(one.startswith("bool found") for one in lines)


RING = """\
int step(int), here(void);
int lap(void)
{
    int at;
    int all = 0;
    do {
        at = step(at);
        all++;
    } while (at != here());
    return all;
}
"""


def test_a_walk_begins_where_it_ends() -> None:
    assert RING.replace("int at;", "int at = here();") == beginning(RING)[0][2]
