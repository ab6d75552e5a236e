from __future__ import annotations

from itertools import permutations

import pytest

from whence.techniques.bugfix.expression_types import constant, is_integer, plainly

SPELLED = {  # by the one name all that the standard gives a type (C11, 6.7.2)
    "short": ("short", "signed short", "short int", "signed short int"),
    "unsigned short": ("unsigned short", "unsigned short int"),
    "int": ("int", "signed", "signed int"),
    "unsigned": ("unsigned", "unsigned int"),
    "long": ("long", "signed long", "long int", "signed long int"),
    "unsigned long": ("unsigned long", "unsigned long int"),
    "long long": ("long long", "signed long long", "long long int", "signed long long int"),
    "unsigned long long": ("unsigned long long", "unsigned long long int"),
}


@pytest.mark.parametrize("name", SPELLED)
def test_a_type_has_one_name_however_it_is_spelled(name: str) -> None:
    every = {" ".join(words) for spelled in SPELLED[name] for words in permutations(spelled.split())}
    assert {plainly(spelled) for spelled in every} == {name} and is_integer(name)


def test_what_is_no_number_of_such_a_type_keeps_its_name() -> None:
    for name in ("", "char", "signed char", "uint8_t", "struct short", "double", "long double"):
        assert plainly(name) == name


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("int", 3.0, "3"),
        ("unsigned long", 0.0, "0"),
        ("bool", 0.0, "false"),
        ("_Bool", 1.0, "true"),
        ("double", 0.5, "0.5"),
        ("double", float("nan"), None),
        ("struct item *", 0.0, "NULL"),
        ("struct item *", 4096.0, None),
        ("char", 65.0, None),
        ("struct item", 0.0, None),
    ],
)
def test_a_value_is_written_as_its_type_is(type_: str, value: float, text: str | None) -> None:
    assert constant(type_, value) == text
