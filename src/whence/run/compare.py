"""Where two outputs first differ, under the comparison that the user chose.

Outputs are cut into pieces, each with its place in the original bytes: masked stretches, numbers, white space
and the text between. The pieces that the comparison ignores fall away, and the first pair that differs gives
a place in both outputs, whatever was masked or skipped before it. The symptom search needs those places.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK = 4096
NUMBER = rb"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
SPACE = rb"(?P<space>\s+)"
MASKED = b"\0masked"
NEWLINE = b"\n"


@dataclass(slots=True, frozen=True)
class Comparison:
    """How outputs are compared: exactly unless said otherwise.

    ``mask`` are regular expressions (``^`` and ``$`` match at lines) whose matches are equal to each other;
    ``tolerance`` lets numbers differ by that much, absolutely or relative to the larger one; with
    ``status_only`` outputs are not compared at all; ``files``: whether files that runs leave are outputs. With
    ``memory`` a run that has a memory error fails, too.
    """

    status_only: bool = False
    white_space: bool = True  # whether white space counts
    mask: tuple[str, ...] = ()
    tolerance: float = 0.0
    stderr: bool = False
    files: bool = True
    memory: bool = False

    @property
    def exact(self) -> bool:
        """Whether every byte counts."""
        return self.white_space and not self.mask and not self.tolerance


EXACT = Comparison()


@dataclass(slots=True, frozen=True)
class Difference:
    """Offsets in bytes of the first difference; at the end of the actual output where that is too short."""

    actual: int
    expected: int


@dataclass(slots=True, frozen=True)
class _Piece:
    offset: int
    text: bytes
    number: bool


def first_difference(actual: bytes, expected: bytes, how: Comparison) -> Difference | None:
    """Return where the outputs first differ, or None when they are equal under the comparison."""
    if actual == expected:
        return None
    if how.exact:
        offset = common_prefix(actual, expected)
        return Difference(offset, offset)
    pattern = _pattern(how)
    left, right = _pieces(actual, pattern, how), _pieces(expected, pattern, how)
    while True:
        a, b = next(left, None), next(right, None)
        if a is None and b is None:
            return None
        if a is None or b is None:
            return Difference(a.offset if a else len(actual), b.offset if b else len(expected))
        if not _equal(a, b, how):
            return _inside(a, b)


def common_prefix(left: bytes, right: bytes) -> int:
    """Return the number of equal bytes at the start."""
    limit = min(len(left), len(right))
    start = 0
    while start < limit and left[start : start + CHUNK] == right[start : start + CHUNK]:
        start += CHUNK
    while start < limit and left[start] == right[start]:
        start += 1
    return min(start, limit)


def unsteady_place(one: bytes, other: bytes) -> str:
    """Where the outputs of two runs alike first differ, in words, and which mask lets the rest of them count."""
    same = one[: common_prefix(one, other)]
    before = same[same.rfind(NEWLINE) + 1 :].decode(errors="replace").rstrip(string.ascii_letters + string.digits)
    pattern = re.escape(before).replace("\\ ", " ")
    can_be_told = before.strip() and before.isprintable() and "'" not in before  # what TOML takes as it is
    mask = f"`mask = ['^{pattern}.*$']`" if can_be_told else "a `mask` for what differs"
    return f"from line {same.count(NEWLINE) + 1} on; {mask} in [compare] lets the rest count"


def _pattern(how: Comparison) -> re.Pattern[bytes]:
    kinds = [b"(?P<mask%d>%s)" % (i, text.encode()) for i, text in enumerate(how.mask)]
    if how.tolerance:
        kinds.append(NUMBER)
    if not how.white_space:
        kinds.append(SPACE)
    return re.compile(b"|".join(kinds), re.MULTILINE)


def _pieces(text: bytes, pattern: re.Pattern[bytes], how: Comparison) -> Iterator[_Piece]:
    end = 0
    for match in pattern.finditer(text):
        if match.start() > end:
            yield _Piece(end, text[end : match.start()], False)
        end = max(end, match.end())
        kind = match.lastgroup or ""
        if kind == "number":
            yield _Piece(match.start(), match.group(), True)
        elif kind != "space" and match.end() > match.start():
            yield _Piece(match.start(), MASKED, False)
    if end < len(text):
        yield _Piece(end, text[end:], False)


def _equal(a: _Piece, b: _Piece, how: Comparison) -> bool:
    if a.text == b.text:
        return True
    if not (a.number and b.number):
        return False
    x, y = float(a.text), float(b.text)
    return abs(x - y) <= how.tolerance * max(1.0, abs(x), abs(y))


def _inside(a: _Piece, b: _Piece) -> Difference:
    """Where two different pieces differ: a number or a masked stretch as a whole, text at its first wrong
    byte.
    """
    if a.number or b.number or MASKED in (a.text, b.text):
        return Difference(a.offset, b.offset)
    shared = common_prefix(a.text, b.text)
    return Difference(a.offset + shared, b.offset + shared)
