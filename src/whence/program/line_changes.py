"""What an edit of a C source changed: its lines compared without comments and white space around them.

What is kept of a line is its place among equal lines on both sides, as ``difflib`` pairs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?P<comment>//[^\n]*|/\*.*?\*/)', re.S)


@dataclass(frozen=True, slots=True)
class Region:
    """A change of one file: lines from ``old_start`` up to ``old_stop`` became those from ``start`` up to ``stop``.

    Lines count from 1; the stops are not part of it. A pure insertion has no old lines, a deletion no new ones.
    ``code`` is what stands in the lines of both sides.
    """

    old_start: int
    old_stop: int
    start: int
    stop: int
    code: str


def code_lines(text: str) -> list[str]:
    """The lines of a C source without comments, and without white space around each line."""

    def kept(match: re.Match[str]) -> str:
        comment = match["comment"]
        return match[0] if comment is None else " " + "\n" * comment.count("\n")

    return [line.strip() for line in _LITERAL_OR_COMMENT.sub(kept, text).split("\n")]


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Region]:
    """The changes from old to new lines, in order. What is equal at both ends need not be compared."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    for kind, a, b, c, d in SequenceMatcher(None, inner_old, inner_new).get_opcodes():
        if kind != "equal":
            code = "".join([*inner_old[a:b], *inner_new[c:d]])
            yield Region(start + a + 1, start + b + 1, start + c + 1, start + d + 1, code)
