"""What is said of edits where none can be shown."""

from __future__ import annotations

import pytest

from whence.report.fixes import edit_lines


@pytest.mark.parametrize(
    ("passing", "said"),
    [
        (0, "no edit was found with which a failing case passes"),
        (3, "all cases passed with 3 edits, but none was confirmed by a build of its own"),
    ],
)
def test_what_passed_and_was_not_confirmed_is_told_from_what_was_not_found(passing: int, said: str) -> None:
    assert [text for text, _ in edit_lines({"edits": [], "trials": {"passing": passing}})] == [said]
