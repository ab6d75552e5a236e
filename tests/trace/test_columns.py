"""Trimmed tables hold what was recorded, and analyses of them answer the same."""

from __future__ import annotations

import numpy as np
import pytest
from snippets import backward, program

from whence.trace.columns import N_CELL, N_EVENT, N_FRAME, N_SEGMENT, trimmed


@pytest.mark.parametrize("name", ["library_strings", "by_value", "loop_control"])
def test_trimmed_tables_hold_the_rows_in_use(name: str) -> None:
    columns = program(name).trace().columns
    small = trimmed(columns)
    for table, number in (("segments", N_SEGMENT), ("events", N_EVENT), ("cells", N_CELL), ("frames", N_FRAME)):
        count = int(columns.counts[number])
        assert len(getattr(small, table)) == count + 1
        assert np.array_equal(getattr(small, table)[:count], getattr(columns, table)[:count])
    assert sum(table.nbytes for table in small) < 1 << 24


@pytest.mark.parametrize("name", ["library_strings", "by_value", "loop_control"])
def test_slices_of_a_trimmed_trace_are_the_same(name: str) -> None:
    trace = program(name).trace()
    whole = backward(trace, [trace.events - 1]).events.tolist()
    trace.trim()
    assert backward(trace, [trace.events - 1]).events.tolist() == whole
