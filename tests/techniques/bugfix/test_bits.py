"""Statements put in that set and clear bits: each bit that the file sets in a place of that name."""

from __future__ import annotations

from whence.program.c_source import CSource
from whence.program.source_edits import Kind
from whence.techniques.bugfix.candidates import FileCandidates

TEXT = """\
#define SET 1
#define CHANGED 2
#define OTHER 4
struct option { int flags, mode; };
void given(struct option *to) { to->flags |= CHANGED; }
void kept(struct option *to) { to->mode |= OTHER; }
void first(struct option *all, int at)
{
    all[at].flags |= SET;
}
"""


def put_in(line: int) -> set[str]:
    edits = (edit for _, edit in FileCandidates(CSource(TEXT.encode()), "a.c").on(line))
    parts = (part for edit in edits for part in edit.parts if part.kind in (Kind.BEFORE, Kind.BEHIND))
    return {part.text.decode() for part in parts}


def test_a_bit_that_another_function_sets_is_cleared_and_set() -> None:
    assert {"all[at].flags &= ~CHANGED;", "all[at].flags |= CHANGED;", "all[at].flags &= ~SET;"} <= put_in(9)


def test_bits_of_members_of_another_name_are_not() -> None:
    assert {"all[at].flags &= ~OTHER;", "all[at].flags |= OTHER;"}.isdisjoint(put_in(9))
