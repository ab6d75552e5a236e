"""What is counted as read until the root cause."""

from __future__ import annotations

import pytest

from bench.reading import Row, _rank, common_table, reading_table, voice_table
from corpus import corpus
from whence.findings import Entry, Findings, Statement

FAULT = corpus.faults("stats")[0]
LINE = min(FAULT.lines)


def ranked(*ranks: tuple[int, int, int], step: int | None = None) -> Findings:
    """Findings with lines, each with its best and its worst rank, and a chain that begins on a line."""
    entries = [Entry(Statement("stats.c", line), 1.0, best, worst, {}) for line, best, worst in ranks]
    found = Findings("locate", "stats", ranking=entries)
    if step is not None:
        found.parts["chain"] = {"steps": [{"file": "stats.c", "line": step}]}
    return found


@pytest.mark.parametrize(
    ("ranks", "step", "first", "wanted"),
    [
        (((LINE, 3, 5),), None, False, 4),
        (((LINE + 1000, 1, 1),), None, False, 0),
        (((LINE + 1000, 1, 1), (LINE, 2, 2)), LINE, True, 1),
        (((LINE, 1, 1), (LINE + 1000, 2, 2)), LINE + 1000, True, 2),
        (((LINE + 1000, 1, 1), (LINE, 2, 2)), LINE + 1000, True, 2),
        (((LINE + 1000, 1, 1), (LINE, 2, 2)), None, True, 2),
    ],
)
def test_the_rank_of_the_fault(ranks, step, first, wanted):
    assert _rank(ranked(*ranks, step=step), FAULT, first) == wanted


def test_the_tables():
    rows = [
        Row("a", "1", {"chain": (1, 3), "cause tree": (4, 9), "slice": (10, 30)}, {"as it is": 2, "chain first": 1}),
        Row("a", "2", {"chain": (0, 3), "cause tree": (2, 9), "slice": (20, 40)}, {"as it is": 0, "chain first": 7}),
    ]
    assert list(reading_table(rows)) == [
        ["chain", "1 of 2", "1", "1.0", "3"],
        ["cause tree", "2 of 2", "3", "3.0", "9"],
        ["slice", "2 of 2", "15", "15.0", "35"],
    ]
    assert [line[1:] for line in common_table(rows)] == [["1", "1", "1.0"], ["1", "4", "4.0"], ["1", "10", "10.0"]]
    assert list(voice_table(rows)) == [
        ["as it is", "0", "1", "1", "1", "2"],
        ["chain first", "1", "1", "1", "2", "2"],
    ]
