"""Token specifications: what they cover, how they are read, what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import UsageError
from whence.inputs.tokens import READY, guess_specification, load_specification, split_lines, split_tokens

SAMPLES = {
    "words": b"add 3 to -4.5e3, then stop.\n",
    "csv": b'name,size\n"a ""b""",3\nc,-2.5\n',
    "json": b'{"a": [1, -2.5e3, true, "x\\"y"]}\n',
    "options": b"--count=3\0-x\0file.txt\0",
    "c": b"int f(void) { return 'a' <= 0x1F && b; } // end\n",
    "sql": b"SELECT max(a), 1.5 FROM t WHERE b <> 'it''s';\n",
    "http": b"GET /a?b=c%20 HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n",
    "regex": b"^a.*b[0-9]+\\.(x|y)$",
}


@pytest.mark.parametrize("name", READY)
def test_a_sample_of_each_sort_is_covered_and_guessed(name):
    found = guess_specification(SAMPLES[name])
    assert found is not None and found.name == name and found.about
    assert load_specification(name).covers(SAMPLES[name])


@given(st.binary(max_size=60), st.sampled_from(READY))
def test_tokens_are_all_of_the_input(data, name):
    specification = load_specification(name)
    tokens = list(specification.tokens(data))
    assert b"".join(data[token.start : token.end] for token in tokens) == data
    assert all(token.start <= token.first <= token.last <= token.end for token in tokens)
    assert all(token.start < token.end for token in tokens)
    assert b"".join(split_tokens(data, specification)) == data == b"".join(split_tokens(data, None))
    assert b"".join(split_lines(data)) == data


def kinds(name: str, data: bytes) -> list[tuple[str, str]]:
    tokens = load_specification(name).tokens(data)
    return [(data[t.first : t.last].decode(), t.kind.kind) for t in tokens if t.kind and t.kind.kind != "blank"]


def test_what_tokens_are():
    assert kinds("json", b'["x", 1, 2.5, true]')[1::2] == [
        ("x", "string"),
        ("1", "integer"),
        ("2.5", "float"),
        ("true", "symbol"),
    ]
    assert kinds("sql", b"select MAX(x) from t limit 3")[:2] == [("select", "keyword"), ("MAX", "symbol")]
    assert kinds("sql", b"selected maximum") == [("selected", "string"), ("maximum", "string")]
    assert kinds("csv", b"a b,3,1.5") == [
        ("a b", "string"),
        (",", "symbol"),
        ("3", "integer"),
        (",", "symbol"),
        ("1.5", "float"),
    ]
    assert kinds("options", b"--size=12\0") == [
        ("--", "keyword"),
        ("size", "string"),
        ("=", "keyword"),
        ("12", "integer"),
    ]


def test_binary_data_fits_nothing():
    assert guess_specification(b"\x01\x02\x03") is None


def test_lines_and_arguments():
    assert split_lines(b"a\n\nb") == [b"a\n", b"\n", b"b"]
    assert split_lines(b"a\0b c\0") == [b"a\0", b"b c\0"]


GOOD = """\
about = "temperatures"
ignore_case = true
[[token]]
kind = "integer"
pattern = '-?[0-9]+'
[[token]]
kind = "symbol"
groups = [["C", "F"]]
"""


def test_a_specification_of_the_users_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    found = load_specification(str(path))
    assert found.name == "mine.toml"
    assert [t.kind.kind if t.kind else None for t in found.tokens(b"-3 c, 7 F")] == [
        "integer",
        None,
        "symbol",
        None,
        None,
        "integer",
        None,
        "symbol",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("about = ", r"bad.toml:1: Invalid value"),
        ("", r"bad.toml:1: no \[\[token\]\]"),
        (GOOD + "[[token]]\nkind = 'sting'\npattern = 'a'\n", r"bad.toml:10: kind: one of string"),
        (GOOD + "[[token]]\nkind = 'string'\npattern = '('\n", r"bad.toml:11: pattern: no regular expression"),
        (GOOD + "[[token]]\nkind = 'string'\npattern = 'a*'\n", r"bad.toml:11: pattern: a token cannot be empty"),
        (GOOD + "[[token]]\nkind = 'string'\npattern = '(a)\\1'\n", r"bad.toml:11: pattern: only a group named text"),
        (GOOD + "[[token]]\nkind = 'string'\nwords = ['a']\n", r"bad.toml:10: a token of kind string is described by"),
        (GOOD + "[[token]]\nkind = 'symbol'\ngroups = ['a']\n", r"bad.toml:11: groups: lists of texts"),
        (GOOD + "[[token]]\nkind = 'symbol'\ngroups = 3\n", r"bad.toml:11: groups: a list was expected"),
        (GOOD + "[[token]]\ncolour = 'red'\n", r"bad.toml:10: unknown key colour"),
        ("guess = '['\n" + GOOD, r"bad.toml:1: guess: no regular expression"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, says):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says):
        load_specification(str(path))


def test_a_name_that_is_neither_ready_nor_a_file():
    with pytest.raises(UsageError, match="no such file") as error:
        load_specification("yaml")
    assert "json" in error.value.hint
