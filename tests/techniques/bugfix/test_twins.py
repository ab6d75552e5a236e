"""Names that differ in one part."""

from __future__ import annotations

import pytest

from whence.techniques.bugfix.twins import letters_apart


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [
        ("x", "y", 1),
        ("x_step", "y_step", 1),
        ("row_first", "row_last", 3),
        ("min_x", "max_x", 2),
        ("left", "right", 0),  # they share less than that
        ("step", "step", 0),
        ("step", "steps", 0),  # of one and of several
        ("a", "xa", 0),
    ],
)
def test_how_long_the_part_is_in_which_names_differ(one: str, other: str, letters: int) -> None:
    assert letters_apart(one, other) == letters_apart(other, one) == letters
