"""The curve of ranks over time."""

from __future__ import annotations

from bench.anytime import Noting, Row, curve
from whence.findings import Entry, Findings, Statement


def test_a_rank_holds_until_the_next_one() -> None:
    row = Row("stats", "01", [(0.7, 8), (2.0, 1), (2.5, 3)], 4.0)
    assert [row.at(moment) for moment in (0.5, 0.7, 1.9, 2.1, 60.0)] == [0, 8, 8, 1, 3]


def test_the_curve_counts_what_was_shown_by_then() -> None:
    rows = [Row("stats", "01", [(0.7, 8), (2.0, 1)], 4.0), Row("stats", "02", [(5.0, 4)], 20.0)]
    found = {moment: counts for moment, *counts in curve(rows)}
    assert found["0.5 s"] == ["0", "0", "0", "0", "0", "2"]
    assert found["1 s"] == ["0", "0", "1", "1", "0", "2"]
    assert found["3 s"] == ["1", "1", "1", "1", "0", "2"]
    assert found["10 s"] == ["1", "2", "2", "2", "1", "2"]
    assert found["30 s"] == ["1", "2", "2", "2", "2", "2"]


def test_the_worst_rank_of_the_best_line_counts(tmp_path) -> None:
    row = Row("stats", "01")
    noting = Noting(row, frozenset({5, 7}))
    entries = [Entry(Statement("stats.c", line), 1.0, 1, worst, {}) for line, worst in ((5, 6), (7, 4), (8, 1))]
    noting.best(Findings("locate", "stats", ranking=entries), tmp_path)
    noting.best(Findings("locate", "stats", ranking=entries[2:]), tmp_path)
    assert [rank for _, rank in row.ranks] == [4, 0] and row.ranks[0][0] <= row.ranks[1][0]
