"""Twins: variables whose names differ in one part, as those of rows and columns do.

What a program does about one of them it often does about the other, in the next line or in another branch.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile
from operator import eq


@lru_cache(maxsize=1 << 16)  # the same names are asked about at each statement of a function
def letters_apart(one: str, other: str) -> int:
    """How long the one part is in which two names differ, as ``x`` and ``y`` or ``row_first`` and ``row_last`` do.

    0 where they are the same, one is the beginning or end of the other, or what they share is shorter.
    """
    shared = _shared(one, other)
    rest = _shared(one[shared:][::-1], other[shared:][::-1])
    apart = max(len(one), len(other)) - shared - rest
    is_part = min(len(one), len(other)) == shared + rest
    return apart if not is_part and (apart == 1 or shared + rest >= apart) else 0


def _shared(one: str, other: str) -> int:
    """With how many letters two texts begin alike."""
    return sum(takewhile(bool, map(eq, one, other)))
