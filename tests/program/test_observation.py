"""A text that tells values: lines stay where they are, and what a run has left is read as it was written."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whence.program.c_source import CSource
from whence.program.observation import RING, Expression, Spot, observing, offsets, read

SOURCE = CSource(
    b"""\
int f(int a, double b)
{
    if (a > 2 && // both
        b < 1.5)
        return a;
    return 0;
}
"""
)


def spot(text: bytes, *expressions: str, **what: bool) -> Spot:
    start = SOURCE.text.index(text)
    return Spot(start, start + len(text), tuple(map(Expression, expressions)), **what)


SPOTS = [
    spot(SOURCE.text[SOURCE.text.index(b"if") : SOURCE.text.index(b"    return 0")].rstrip(), "a"),
    spot(b"a > 2 && // both\n        b < 1.5", "a", "a + 1", tests=True),
    spot(b"return a;", "a", listed=False),
]
TWICE = [spot(b"return a;", "a", listed=False), spot(b"return a;", "a + 1", listed=False, behind=True)]


def test_all_text_of_a_line_stays_on_it() -> None:
    text = observing(SOURCE, SPOTS).text.partition(b"#line 1\n")[2]
    assert text.count(b"\n") == SOURCE.text.count(b"\n")
    for old, new in zip(SOURCE.text.split(b"\n"), text.split(b"\n"), strict=True):
        assert old.strip().split(b" ")[0] in new
    assert text.index(b"__whence_truth; })") < text.index(b"{ if (__whence_observes")


def test_a_body_can_be_looked_at_in_front_and_behind() -> None:
    text = observing(SOURCE, TWICE).text.partition(b"#line 1\n")[2]
    assert text.index(b"(long long)(a))") < text.index(b"return a;")
    assert text.index(b"return a;") < text.index(b"(a + 1)")
    assert text.count(b"{") == text.count(b"}")


def test_what_has_effects_comes_first() -> None:
    condition = b"a > 2 && // both\n        b < 1.5"
    for effects in (False, True):
        text = observing(SOURCE, [spot(condition, "a", tests=True, effects=effects)]).text
        assert (text.index(condition) < text.index(b"(__whence_kept = ")) == effects


def test_what_is_left_out_is_not_in_the_text_and_each_expression_is_found_by_its_place() -> None:
    text = observing(SOURCE, SPOTS, [frozenset(), frozenset({1}), frozenset()])
    assert b"(a + 1)" in observing(SOURCE, SPOTS).text
    assert b"(a + 1)" not in text.text
    owners = {text.owner(line, column) for line in range(1, 8) for column in range(1, 900)}
    assert owners == {0, 1, 2, 4}  # the third one, of the second spot, is left out


@given(st.integers(0, 2 * RING), st.integers(1, 9), st.integers(0, 9))
def test_what_a_run_has_left_is_read_as_it_was_written(came: int, whole: int, real: int) -> None:
    expressions = [*(Expression("a") for _ in range(whole)), *(Expression("b", True) for _ in range(real))]
    spots = [Spot(0, 1, (Expression("z"),)), Spot(2, 3, tuple(expressions))]
    content, start = bytearray(offsets(spots)[-1]), offsets(spots)[1]
    content[start : start + 8] = np.uint64(came).tobytes()
    marks = (whole + real + 7) // 8 * 8
    stride = 8 * (whole + real) + marks
    for time in range(came):
        at = start + 8 + time % RING * stride
        values = [*(np.int64(-time - n).tobytes() for n in range(whole)), *(np.float64(time / 4).tobytes(),) * real]
        tags = bytes(1 if (time + n) % 3 else 2 for n in range(whole + real))
        content[at : at + stride] = b"".join(values) + tags.ljust(marks, b"\0")
    first, second = read(spots, bytes(content))
    assert first.came == 0
    assert second.came == came
    assert second.values.shape == second.known.shape == (min(came, RING), whole + real)
    kept = {time % RING: time for time in range(came)}
    for row, time in kept.items():
        assert list(second.values[row]) == [-time - n for n in range(whole)] + [time / 4] * real
        assert list(second.known[row]) == [(time + n) % 3 > 0 for n in range(whole + real)]
