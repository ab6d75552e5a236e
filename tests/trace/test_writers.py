"""Who wrote last what lies in memory, against a twin that keeps every byte in a dictionary."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from whence.trace.touched import Touched
from whence.trace.writers import NOTHING, Writers

Write = tuple[int, int, int]


def table(writes: list[Write]) -> Touched:
    columns = np.array(writes, np.int64).reshape(-1, 3).T.copy()
    return Touched(*columns, np.ones(len(writes), np.bool_))


def twin(writes: list[Write], upto: int, ranges: list[tuple[int, int]]) -> list[int]:
    memory: dict[int, int] = {}
    for event, address, length in writes:
        if event <= upto:
            memory |= dict.fromkeys(range(address, address + length), event)
    return [memory.get(start + at, NOTHING) for start, length in ranges for at in range(length)]


def found(writes: list[Write], upto: int, ranges: list[tuple[int, int]]) -> list[int]:
    starts, lengths = np.array(ranges, np.int64).reshape(-1, 2).T.copy()
    return Writers(table(writes)).last(upto, starts, lengths).tolist()


@st.composite
def histories(draw: st.DrawFn) -> list[Write]:
    """Writes in order of time; one event may write in several places."""
    raw = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 9)), max_size=12))
    events = list(accumulate(step for step, _, _ in raw))
    return [(event, address, length) for event, (_, address, length) in zip(events, raw, strict=True)]


@st.composite
def apart(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Ranges that ascend and do not overlap; some touch."""
    ranges, at = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 8)), max_size=6)):
        ranges.append((at + gap, length))
        at += gap + length
    return ranges


@given(histories(), st.integers(0, 24), apart())
@example([(1, 0, 9), (2, 3, 2)], 1, [(0, 4), (4, 5)])
@example([(1, 5, 0)], 1, [(0, 8)])
def test_twin(writes, upto, ranges):
    assert found(writes, upto, ranges) == twin(writes, upto, ranges)


def test_the_write_at_the_point_itself_counts_and_later_ones_do_not():
    assert found([(3, 10, 4), (4, 12, 4)], 3, [(8, 8)]) == [-1, -1, 3, 3, 3, 3, -1, -1]
    assert found([(3, 10, 4), (4, 12, 4)], 4, [(8, 8)]) == [-1, -1, 3, 3, 4, 4, 4, 4]


def test_addresses_of_the_stack_are_no_negative_numbers():
    high = 0x7FFF_FFFF_F000
    assert found([(7, high, 2)], 9, [(high - 1, 4)]) == [-1, 7, 7, -1]
