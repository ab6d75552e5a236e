"""Which part of a right file answers to which invocation's output."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.run.compared_outputs import right_outputs
from whence.run.invocations import Invocation


def invocation(order: int, stdout: bytes, offset: int = 0, output: str = "/w/out", **more) -> Invocation:
    return Invocation(f"{order:03}", ("tool",), {}, "/w", b"", output, offset, stdout, b"", 0, 0, **more)


def compared(tmp_path: Path, outputs: list[bytes], actual: list[bytes], right: bytes) -> list[bytes | None]:
    """``actual`` has a piece for each output at odd places, texts of the test at even ones."""
    (tmp_path / "out").write_bytes(b"".join(actual))
    (tmp_path / "right").write_bytes(right)
    offsets = [sum(map(len, actual[: 2 * n + 1])) for n in range(len(outputs))]
    found = [invocation(n, out, at) for n, (out, at) in enumerate(zip(outputs, offsets, strict=True))]
    files = {"/w/out": tmp_path / "out", "/w/right": tmp_path / "right"}
    judge = Invocation("999", ("cmp", "-s", "out", "right"), {}, "/w", b"", "", 0, b"", b"", 1, 0, files=files)
    parts = {one.order: part for one, part in right_outputs(found, judge)}
    return [parts.get(one.order) for one in found]


def test_one_output_is_the_file(tmp_path):
    assert compared(tmp_path, [b"a\n"], [b"", b"a\n"], b"b\nc\n") == [b"b\nc\n"]


def test_headings_of_the_test_part_what_is_missing(tmp_path):
    actual = [b"one:\n", b"", b"two:\n", b"b\n", b""]
    assert compared(tmp_path, [b"", b"b\n"], actual, b"one:\na\ntwo:\nb\n") == [b"a\n", b"b\n"]


def test_a_line_missing_between_two_outputs_belongs_to_nobody_for_sure(tmp_path):
    actual = [b"", b"a\n", b"", b"c\n", b""]
    assert compared(tmp_path, [b"a\n", b"c\n"], actual, b"a\nb\nc\n") == [None, None]


def test_a_line_missing_behind_an_output_and_an_empty_one_belongs_to_nobody_for_sure(tmp_path):
    actual = [b"", b"a\n", b"", b"", b"end\n"]
    assert compared(tmp_path, [b"a\n", b""], actual, b"a\nb\nend\n") == [None, None]
    assert compared(tmp_path, [b"a\n", b""], actual, b"a\nend\n") == [b"a\n", b""]


def test_as_many_other_lines_answer_one_by_one(tmp_path):
    actual = [b"", b"a\n", b"", b"x\n", b"", b"y\nz\n", b""]
    assert compared(tmp_path, [b"a\n", b"x\n", b"y\nz\n"], actual, b"a\nb\nc\nd\n") == [b"a\n", b"b\n", b"c\nd\n"]
    assert compared(tmp_path, [b"a\n", b"x\n", b"y\nz\n"], actual, b"a\nb\nc\n") == [None, None, None]


@pytest.mark.parametrize(
    ("printed", "stored", "right", "expected"),
    [
        ([b"a\n"], b"a\n", b"b\n", [b"b\n"]),
        ([b"a"], b"a\n", b"b\n", [b"b"]),  # the shell's `echo "$got"`
        ([b"a\n\n"], b"a\n", b"b\n", [b"b\n\n"]),
        ([b"a\n", b""], b"\n", b"b\n", [None, b"b\n"]),  # the last one
        ([b"", b""], b"\n", b"b\n", [None, b"b\n"]),
        ([b"", b"", b"c\n"], b"\n", b"b\n", [None, None, None]),
    ],
)
def test_an_output_that_a_shell_held_is_that_of_a_pipe(tmp_path, printed, stored, right, expected):
    (tmp_path / "got").write_bytes(stored)
    (tmp_path / "right").write_bytes(right)
    found = [invocation(number, output, output="") for number, output in enumerate(printed)]
    files = {"/w/got": tmp_path / "got", "/w/right": tmp_path / "right"}
    judge = Invocation("999", ("diff", "got", "right"), {}, "/w", b"", "", 0, b"", b"", 1, 0, files=files)
    parts = {one.order: part for one, part in right_outputs(found, judge)}
    assert [parts.get(one.order) for one in found] == expected


def test_an_output_that_was_overwritten_is_not_told(tmp_path):
    assert compared(tmp_path, [b"a\n"], [b"", b"x\n"], b"b\n") == [None]


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"x"]), max_size=3).map(
    lambda found: b"".join(line if line.endswith(b"\n") else b"y\n" for line in found)
)


@given(st.lists(st.tuples(lines, lines), min_size=1, max_size=4))
def test_between_different_headings_each_part_is_exact_or_not_told(tmp_path_factory, pairs):
    """Headings that stand nowhere else are matched; so each output's right part is found as it is."""
    outputs = [output for output, _ in pairs]
    headings = [b"== %d\n" % n for n in range(len(pairs))]
    actual = [part for heading, output in zip(headings, outputs, strict=True) for part in (heading, output)]
    right = b"".join(part for heading, pair in zip(headings, pairs, strict=True) for part in (heading, pair[1]))
    found = compared(tmp_path_factory.mktemp("pairs"), outputs, actual, right)
    assert all(part is None or part == right for part, (_, right) in zip(found, pairs, strict=True))
    if outputs == [right for _, right in pairs]:
        assert found == outputs
