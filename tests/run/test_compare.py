from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.run.compare import CHUNK, Comparison, Difference, common_prefix, first_difference, unsteady_place

EXACT = Comparison()
SPACES = Comparison(white_space=False)
words = st.lists(st.sampled_from([b"a", b"bc", b"12", b"\xff"]), max_size=6)
gaps = st.sampled_from([b" ", b"\n", b"\t  ", b"\r\n"])


@given(st.binary(max_size=20), st.binary(max_size=20), st.integers(0, 3 * CHUNK))
def test_common_prefix_is_that_of_a_plain_loop(left, right, padding):
    left, right = b"p" * padding + left, b"p" * padding + right
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    assert common_prefix(left, right) == count


@given(st.binary(max_size=10), st.binary(max_size=10))
def test_exact_difference(actual, expected):
    difference = first_difference(actual, expected, EXACT)
    assert (difference is None) == (actual == expected)
    if difference:
        assert difference.actual == difference.expected
        assert actual[: difference.actual] == expected[: difference.actual]
        assert actual[difference.actual :][:1] != expected[difference.actual :][:1]


@given(words, st.data())
def test_white_space_is_ignored(parts, data):
    left, right = (b"".join(part + data.draw(gaps) for part in parts) for _ in range(2))
    assert first_difference(left, right, SPACES) is None
    assert first_difference(left + b"!", right, SPACES) == Difference(len(left), len(right))


def test_white_space_still_separates_words():
    assert first_difference(b"ab c", b"a bc", SPACES) == Difference(1, 1)


@pytest.mark.parametrize(
    "actual, expected, where",
    [
        (b"at 12:30 x", b"at 9:05 x", None),
        (b"at 12:30 x", b"at 9:05 y", (9, 8)),
        (b"at noon x", b"at 9:05 x", (3, 3)),
        (b"at 12:30", b"at 9:05 x", (8, 7)),
        (b"pid 77\nend\n", b"pid 8\nend\n", None),
    ],
)
def test_masked_stretches_are_equal_and_places_stay_true(actual, expected, where):
    how = Comparison(mask=(r"\d+:\d+", r"^pid (\d+)$"))
    assert first_difference(actual, expected, how) == (where and Difference(*where))


@pytest.mark.parametrize(
    "actual, expected, equal",
    [
        (b"mean 1.0001", b"mean 1", True),
        (b"mean 1.1", b"mean 1", False),
        (b"1000.9", b"1001", True),
        (b"-0.0005 x", b"0 x", True),
        (b"1e3", b"1000.0", True),
        (b"1", b"one", False),
    ],
)
def test_numeric_tolerance(actual, expected, equal):
    assert (first_difference(actual, expected, Comparison(tolerance=1e-3)) is None) == equal


def test_a_wrong_number_is_reported_as_a_whole():
    how = Comparison(tolerance=1e-3)
    assert first_difference(b"sum 1.00 mean 1.75\n", b"sum 1 mean 1.50\n", how) == Difference(14, 11)


def test_all_options_together():
    how = Comparison(white_space=False, mask=(r"<[^>]*>",), tolerance=0.1)
    assert first_difference(b"<a b>  1.05\tx\n", b"<> 1 x", how) is None


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        (b"a\nday: 12 May\n", b"a\nday: 13 May\n", "from line 2 on; `mask = ['^day: .*$']` in"),
        (b"(a.b) x1", b"(a.b) x22\n", "from line 1 on; `mask = ['^\\(a\\.b\\) .*$']` in"),
        (b"12 May\n", b"13 May\n", "from line 1 on; a `mask` for what differs in"),  # all lines would be masked
        (b"it's 12\n", b"it's 13\n", "from line 1 on; a `mask` for what differs in"),
        (b"a\n", b"", "from line 1 on; a `mask` for what differs in"),
    ],
)
def test_what_is_unsteady_is_told_with_a_mask_that_covers_it(one: bytes, other: bytes, place: str) -> None:
    found = unsteady_place(one, other)
    assert found == f"{place} [compare] lets the rest count"
    if "= ['" in found:
        mask = tomllib.loads(found[found.index("mask =") : found.index("`", found.index("mask ="))])["mask"]
        how = Comparison(mask=tuple(mask), white_space=False)
        assert first_difference(one, other, how) is None and first_difference(one, b"other", how) is not None
