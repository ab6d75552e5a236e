"""What is said of edits, and which are shown."""

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


def test_an_edit_that_is_told_apart_from_the_first_is_shown() -> None:
    edit = {"file": "a.c", "descriptions": [], "repaired": ["x"], "broken": [], "failing": 1, "ran": 2, "alike": 0}
    edit |= {"trouble": "", "checked": "", "clean": True, "diff": "+x", "passes": True, "fitted": []}
    parts = {"edits": [edit | {"line": n} for n in range(1, 7)], "trials": {"passing": 6}}
    for apart, shown in (None, [1, 2, 3]), ({"other": 2}, [1, 2, 3]), ({"other": 5}, [1, 2, 3, 5]):
        lines = [text for text, _ in edit_lines(parts | {"apart": apart})]
        assert [n for n in range(1, 7) if any(line.startswith(f"{n}. a.c:{n} ") for line in lines)] == shown
        assert lines[0].endswith(f"{len(shown)} of 6:")


@pytest.mark.parametrize(
    ("fitted", "said"),
    [
        ([], []),
        (["433"], ["   433 stands nowhere else in a.c: made to fit?"]),
        (["4", "7"], ["   4 and 7 stand nowhere else in a.c: made to fit?"]),
    ],
)
def test_numbers_that_the_file_does_not_have_are_said(fitted: list[str], said: list[str]) -> None:
    edit = {"file": "a.c", "line": 3, "descriptions": [], "repaired": ["x"], "broken": [], "failing": 1, "ran": 2}
    edit |= {"alike": 0, "trouble": "", "checked": "", "clean": True, "diff": "+x", "passes": True, "fitted": fitted}
    lines = [text for text, _ in edit_lines({"edits": [edit], "trials": {"passing": 1}})]
    assert [line for line in lines if "nowhere" in line] == said
