"""The value profile against a twin that thinks in Python's numbers, one site and one value at a time."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.alter.changes import EVENT
from whence.alter.profile import Profile, bits_of, is_nan, keys_of
from whence.probe.sites import Form

KINDS = [(Form.INTEGER, w) for w in (1, 8, 16, 32, 64)] + [(Form.FLOAT, 32), (Form.FLOAT, 64), (Form.POINTER, 64)]
CODES = {16: "<e", 32: "<f", 64: "<d"}


def table(*kinds: tuple[int, int]) -> Any:
    """A table of sites of these forms and widths."""
    return np.array(list(kinds), [("form", "u1"), ("width", "u1")])


def events(pairs: Iterable[tuple[int, int]]) -> Any:
    """The events of a run: sites with the bits of their values."""
    return np.array([(clock, bits, site, 0) for clock, (site, bits) in enumerate(pairs)], EVENT)


def number(bits: int, kind: tuple[int, int]) -> float:
    """The number that some bits mean."""
    form, width = kind
    if form == Form.FLOAT:
        return float(struct.unpack(CODES[width], bits.to_bytes(width // 8, "little"))[0])
    return bits - (1 << width) if width > 1 and bits >> (width - 1) else bits


def bits(value: float, width: int = 64) -> int:
    """The bits of a floating-point number."""
    return int.from_bytes(struct.pack(CODES[width], value), "little")


def words(values: Iterable[int]) -> Any:
    return np.array(list(values), np.uint64)


def twin(seen: list[int], original: int, kind: tuple[int, int]) -> list[float]:
    """The alternates that the profile has for a value: numbers in ascending order."""
    if kind[0] == Form.POINTER:
        return []
    here = number(original, kind)
    return sorted({n for n in (number(b, kind) for b in seen) if not math.isnan(n) and n != here})


def spanning_twin(alternates: list[float], here: float) -> set[float]:
    """The four spanning values by their definition."""
    below, above = [a for a in alternates if a < here], [a for a in alternates if not a < here]
    return {pick(side) for side in (below, above) if side for pick in (min, max)}


VALUES = st.one_of(st.integers(0, 3), st.integers(0, (1 << 64) - 1), st.floats().map(bits))


@st.composite
def profiles(draw: Any) -> tuple[list[tuple[int, int]], list[list[tuple[int, int]]]]:
    """Kinds of sites, and some runs' sites with values."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    site = st.integers(0, len(kinds) - 1)
    runs = draw(st.lists(st.lists(st.tuples(site, VALUES), max_size=20), min_size=1, max_size=4))
    return kinds, [[(s, v & ((1 << kinds[s][1]) - 1)) for s, v in run] for run in runs]


@given(profiles())
def test_alternates_are_those_of_the_twin(given_runs: Any) -> None:
    kinds, runs = given_runs
    profile = Profile.of(table(*kinds), map(events, runs))
    instances = [pair for run in runs for pair in run]
    sites, values = np.array([s for s, _ in instances], np.int64), words(v for _, v in instances)
    spanning = profile.spanning(sites, values)
    rows, found = profile.every(sites, values)
    counts = profile.counts(sites, values)
    for i, (site, value) in enumerate(instances):
        kind = kinds[site]
        expected = twin([v for s, v in instances if s == site], value, kind)
        assert [number(int(b), kind) for b in found[rows == i]] == expected
        assert counts[i] == len(expected)
        valid = [number(int(b), kind) for b in spanning.values[i][spanning.valid[i]]]
        assert len(set(valid)) == len(valid)
        assert set(valid) == spanning_twin(expected, number(value, kind))


@given(profiles())
def test_neighbours_are_added_once(given_runs: Any) -> None:
    kinds, runs = given_runs
    profile = Profile.of(table(*kinds), map(events, runs))
    instances = [pair for run in runs for pair in run]
    sites, values = np.array([s for s, _ in instances], np.int64), words(v for _, v in instances)
    found = profile.alternates(sites, values, neighbours=True)
    plain = profile.alternates(sites, values)
    for i, (site, value) in enumerate(instances):
        (form, width), valid = kinds[site], found.values[i][found.valid[i]].tolist()
        assert len(set(valid)) == len(valid) and value not in valid
        assert set(plain.values[i][plain.valid[i]].tolist()) <= set(valid)
        if form == Form.INTEGER:
            near = {(value + d) % (1 << width) for d in (1, -1)} | {0}
            assert near - {value} <= set(valid)
        if form == Form.POINTER or (math.isnan(number(value, kinds[site])) and not plain.valid[i].any()):
            assert not valid


@pytest.mark.parametrize(
    ("value", "near"), [(2.5, [3.5, 1.5, 0.0]), (0.0, [1.0, -1.0]), (1e300, [0.0]), (-1.0, [0.0, -2.0])]
)
def test_neighbours_of_floating_point_numbers(value: float, near: list[float]) -> None:
    profile = Profile.of(table((Form.FLOAT, 64)), [events([(0, bits(value))])])
    found = profile.alternates(np.zeros(1, np.int64), words([bits(value)]), neighbours=True)
    assert [number(b, (Form.FLOAT, 64)) for b in found.values[0][found.valid[0]].tolist()] == near


def test_spanning_values_of_the_example_in_the_source() -> None:
    """Section 4.2.2: of 2, 4, 5, 9, 12, 18, 22, 24, 34, 56 around 11 the values 2, 9, 12 and 56."""
    profile = Profile.of(table((Form.INTEGER, 32)), [events((0, v) for v in (11, 34, 5, 9, 2, 4, 12, 24, 18, 56, 22))])
    found = profile.spanning(np.zeros(1, np.int64), words([11]))
    assert found.values[0].tolist() == [9, 12, 2, 56] and found.valid.all()


def test_integers_are_signed_in_their_width() -> None:
    profile = Profile.of(table((Form.INTEGER, 8)), [events((0, v) for v in (0xFF, 0, 1, 0x80))])
    assert profile.values(0).tolist() == [0x80, 0xFF, 0, 1]


def test_a_nan_is_no_alternate_but_gets_some() -> None:
    nan, kind = bits(math.nan), (Form.FLOAT, 64)
    profile = Profile.of(table(kind), [events((0, v) for v in (nan, bits(1.0), bits(-2.0)))])
    assert [number(int(v), kind) for v in profile.values(0)] == [-2.0, 1.0]
    for sign in (0, 1 << 63):
        found = profile.spanning(np.zeros(1, np.int64), words([nan | sign]))
        assert {number(int(b), kind) for b in found.values[0][found.valid[0]]} == {-2.0, 1.0}


def test_both_zeros_are_one_value() -> None:
    profile = Profile.of(table((Form.FLOAT, 64)), [events((0, bits(v)) for v in (0.0, -0.0))])
    assert profile.values(0).tolist() == [0]
    assert not profile.spanning(np.zeros(2, np.int64), words([0, 1 << 63])).valid.any()


def test_pointers_are_left_alone() -> None:
    profile = Profile.of(table((Form.POINTER, 64)), [events([(0, 0), (0, 4096)])])
    assert not profile.alternates(np.zeros(2, np.int64), words([0, 4096]), neighbours=True).valid.any()


def test_an_original_that_the_profile_has_not_seen() -> None:
    profile = Profile.of(table((Form.INTEGER, 32)), [events([(0, 3), (0, 7)])])
    found = profile.spanning(np.zeros(1, np.int64), words([5]))
    assert found.values[0][found.valid[0]].tolist() == [3, 7]


@given(st.sampled_from(KINDS[:-1]), st.lists(VALUES, min_size=2, max_size=2))
def test_keys_are_ordered_as_the_numbers_and_lead_back(kind: tuple[int, int], pair: list[int]) -> None:
    form, width = kind
    low, high = sorted(number(v & ((1 << width) - 1), kind) for v in pair)
    raw = words(v & ((1 << width) - 1) for v in pair)
    forms, widths = np.full(2, form, np.uint8), np.full(2, width, np.uint8)
    numbers = [number(int(v), kind) for v in raw]
    assert is_nan(raw, forms, widths).tolist() == [math.isnan(n) for n in numbers]
    if any(math.isnan(n) for n in numbers):
        return
    keys = keys_of(raw, forms, widths)
    assert (keys[0] < keys[1]) == (numbers[0] < numbers[1]) and (keys[0] == keys[1]) == (low == high)
    assert [number(int(v), kind) for v in bits_of(keys, forms, widths)] == numbers
