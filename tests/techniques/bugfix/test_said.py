"""What other techniques say of a statement, as descriptors."""

from __future__ import annotations

from whence.findings import Entry, Statement
from whence.techniques.bugfix.said import ALL_PASSING, NEVER_PASSING, broken, executed


def test_how_many_passing_cases_come_there() -> None:
    counts = ((0, 4), (4, 4), (1, 4), (0, 0))
    entries = [Entry(Statement("p.c", 1), 1.0, 1, 1, {"passing": n, "passing_total": all_}) for n, all_ in counts]
    assert [executed(entry) for entry in entries] == [{NEVER_PASSING}, {ALL_PASSING}, set(), set()]
    assert broken(Entry(Statement("p.c", 1), 1.0, 1, 1, {"step": "slice"})) == {"INVARIANT-slice"}
    assert not broken(entries[0])
