"""Variations of tokens, by their kinds."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.inputs.tokens import READY, load_specification
from whence.inputs.variations import SPREAD, byte_variations, input_variations


def made(name: str, data: bytes) -> list[bytes]:
    return [data[: v.start] + v.text + data[v.end :] for v in input_variations(data, load_specification(name))]


@given(st.integers(-(10**9), 10**9))
def test_integers_change_by_powers_of_two(number):
    variations = {int(text) - number for text in made("words", b"%d" % number)}
    assert {1, -1, 2, -2, 4, -4, 8} <= variations
    assert all(abs(change) & (abs(change) - 1) == 0 for change in variations)


def test_integers_keep_base_sign_and_zeros():
    assert made("words", b"007")[:4] == [b"008", b"006", b"009", b"005"]
    assert made("c", b"0x1F")[:2] == [b"0x20", b"0x1e"]
    assert b"+6" in made("words", b"+5") and b"-1" in made("words", b"0")


@given(st.decimals(-1000, 1000, places=3))
def test_floats_change_at_their_last_digit_and_at_their_units(number):
    text = f"{number:.3f}".encode()
    changes = {Decimal(v.decode()) - number for v in made("words", text)}
    assert {Decimal("0.001"), Decimal("-0.001"), Decimal(1), Decimal(-2)} <= changes


def test_exponents_change_too():
    assert {b"1.5e4", b"1.5e2", b"1.6e3", b"2.5e3"} <= set(made("words", b"1.5e3"))


def test_strings_are_replaced_part_by_part():
    assert made("words", b"abcd") == [
        *(b"bcde", b"zabc"),
        *(b"bccd", b"zacd", b"abde", b"abbc"),
        *(b"bbcd", b"zbcd", b"accd", b"aacd", b"abdd", b"abbd", b"abce", b"abcc"),
    ]
    assert made("json", b'""') == [b'"a"']


def test_the_number_of_strings_grows_with_the_text_alone():
    assert len(made("words", b"a" * 200)) <= 8 * 200


@pytest.mark.parametrize("data", [b"a" * 400_000, b"b" * 9_000 + b"," + b"c" * 90_000, b" ".join([b"de" * 300] * 900)])
def test_variations_of_long_strings_stay_few(data):
    taken = 0
    for variation in input_variations(data, load_specification("words")):
        assert variation.text != data[variation.start : variation.end]
        taken += len(variation.text)
    assert 0 < taken < 5 * SPREAD


def test_symbols_become_others_of_their_group():
    assert made("c", b"<=") == [b"<", b">", b">=", b"==", b"!="]
    assert made("sql", b"MIN(")[:2] == [b"MAX(", b"AVG("] and b"max(" in made("sql", b"min(")
    assert made("sql", b"select") == []


@given(st.binary(max_size=30), st.sampled_from(READY))
def test_each_variation_differs_from_the_input(data, name):
    assert all(text != data for text in made(name, data))


@given(st.binary(max_size=8))
def test_bytes_without_tokens(data):
    variations = [data[: v.start] + v.text + data[v.end :] for v in byte_variations(data)]
    assert len(set(variations)) == len(variations) == 15 * len(data) and data not in variations


@pytest.mark.parametrize("text", [b"9" * 6000, b"9" * 3000 + b"." + b"9" * 3000])
def test_endless_numbers_are_left_alone(text):
    assert made("words", text) == []
