"""What an edit changed of a source's lines: comments and white space count for nothing, and what is kept is equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.program.line_changes import changes, code_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a // b\nc", ["a", "c"]),
        ("a /* b\n c */ d\ne", ["a", "d", "e"]),
        ('puts("// no /* comment");', ['puts("// no /* comment");']),
        ("c = '\"'; // text", ["c = '\"';"]),
        ('"\\"" /* " */ + 1', ['"\\""   + 1']),
    ],
)
def test_code_lines(text, lines):
    assert code_lines(text) == lines


lines = st.lists(st.sampled_from(["a;", "b;", "c;", "", "}"]), max_size=12)


@given(lines, lines)
def test_old_lines_with_the_changes_made_are_the_new_ones(old, new):
    made, taken = [], 1
    for region in changes(old, new):
        gone, come = old[region.old_start - 1 : region.old_stop - 1], new[region.start - 1 : region.stop - 1]
        made += old[taken - 1 : region.old_start - 1]
        assert region.start == len(made) + 1
        assert region.code == "".join(gone + come)
        made += come
        taken = region.old_stop
    assert made + old[taken - 1 :] == new
