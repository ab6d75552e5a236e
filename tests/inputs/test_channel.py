"""Where a case has its input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import UsageError
from whence.inputs import channel as channels
from whence.inputs.channel import Channel, find_channel
from whence.run.cases import Case, Suite

WORDS = st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=5), max_size=4)


def test_standard_input_comes_first(tmp_path):
    (tmp_path / "a").write_text("text")
    assert str(find_channel(Case("c", ("a",), b"x", (("a", tmp_path / "a"),)))) == "stdin"
    assert find_channel(Case("c", (), tmp_path / "a")).read(Case("c", (), tmp_path / "a")) == b"text"


def test_then_the_only_file_that_is_named(tmp_path):
    (tmp_path / "a").write_text("text")
    case = Case("c", ("--from=a",), b"", (("a", tmp_path / "a"), ("other", tmp_path / "a")))
    found = find_channel(case)
    assert str(found) == "file:a" and found.read(case) == b"text"


def test_then_the_arguments():
    case = Case("c", ("a", "", "b c"))
    assert str(find_channel(case)) == "args" and find_channel(case).read(case) == b"a\0\0b c\0"


@given(WORDS)
def test_arguments_survive_the_way_there_and_back(words):
    case, channel = Case("c", tuple(words)), Channel("args")
    data = channel.read(case)
    assert channel.holds(data) and channel.put(Case("c"), data).arguments == case.arguments


@given(st.binary(max_size=20))
def test_whatever_is_put_is_read_again(data):
    case = Case("c", ("x", "y"), b"old")
    for channel in (Channel("stdin"), Channel("file", "f"), Channel("arg", number=2), Channel("args")):
        if channel.holds(data):
            made = channel.put(case, data, "new")
            assert channel.read(made) == data and made.name == "new" and made.expected is None


def test_one_argument_among_others():
    made = Channel("arg", number=2).put(Case("c", ("a", "b", "c")), b"\xffz")
    assert made.arguments == ("a", "\udcffz", "c")
    assert not Channel("arg", number=2).holds(b"a\0b") and not Channel("args").holds(b"a")


def test_a_file_takes_the_place_of_the_one_of_that_name(tmp_path):
    (tmp_path / "a").write_text("old")
    case = Case("c", ("a",), None, (("a", tmp_path / "a"), ("b", tmp_path / "a")))
    made = Channel("file", "a").put(case, b"new", file=tmp_path / "place")
    assert dict(made.files) == {"a": tmp_path / "place", "b": tmp_path / "a"}
    assert (tmp_path / "place").read_bytes() == b"new" and (tmp_path / "a").read_text() == "old"


def test_a_file_of_a_suite(tmp_path):
    (tmp_path / "in.txt").write_text("text")
    case = Case("c", command="./p < in.txt", suite=Suite(tmp_path, "p"))
    found = find_channel(case, "file:in.txt")
    assert found.read(case) == b"text" and found.put(case, b"new").suite == case.suite
    with pytest.raises(UsageError, match="is a command"):
        find_channel(case)
    with pytest.raises(UsageError, match="only files"):
        find_channel(case, "stdin")


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("foo", "not one of"), ("arg:0", "not one of"), ("arg:3", "has 2 arguments"), ("file:z", "no such file")],
)
def test_wrong_names_are_told_with_the_choices(wanted, says):
    with pytest.raises(UsageError, match=says) as error:
        find_channel(Case("c", ("a", "b"), b"x"), wanted)
    assert error.value.hint == "--input stdin, arg:1 to arg:2, args"


def test_nothing_to_change(tmp_path):
    with pytest.raises(UsageError, match="has no input"):
        find_channel(Case("c"))
    for name in "ab":
        (tmp_path / name).write_text("x")
    two = Case("c", ("a", "b"), None, (("a", tmp_path / "a"), ("b", tmp_path / "b")))
    with pytest.raises(UsageError, match="2 input files") as error:
        find_channel(two)
    assert "file:a, file:b" in error.value.hint


def test_an_input_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(channels, "LARGEST", 10)
    (tmp_path / "a").write_bytes(b"x" * 11)
    with pytest.raises(UsageError, match="at most 0 MiB"):
        find_channel(Case("c", (), tmp_path / "a"))
