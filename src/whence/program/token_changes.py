"""What changed between two pieces of C, token by token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*'
    r"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||[^\s\w]",
    re.ASCII,
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Change(NamedTuple):
    """Tokens ``old`` became ``new``; ``before`` and ``behind`` are all tokens around them."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]


def c_tokens(text: bytes) -> list[str]:
    """The tokens of a piece of C, without comments."""
    written = text.decode("latin-1")
    return _TOKEN.findall(_COMMENT.sub(" ", written) if "/*" in written or "//" in written else written)


@lru_cache(maxsize=4096)  # the edits of a statement are asked for what they are called, and how large they are
def token_changes(old: bytes, new: bytes) -> tuple[Change, ...]:
    """The changes that lead from one text to the other."""
    before, after = c_tokens(old), c_tokens(new)
    return tuple(
        Change(tuple(before[a:b]), tuple(after[c:d]), tuple(before[:a]), tuple(before[b:]))
        for tag, a, b, c, d in _opcodes(before, after)
        if tag != "equal" and (a < b or c < d)
    )


def _opcodes(before: Sequence[str], after: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """The differences of two lists as ``difflib`` gives them, sooner where it is one that no matching can divide."""
    start, stop = _common_ends(before, after)
    end = len(after) - (len(before) - stop)
    if start in (stop, end) or (stop - start, end - start) == (1, 1):
        return [("replace", start, stop, start, end)]
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Where the tokens of one list begin and end that are not at both ends of the two.

    Where the ends of the shorter one overlap, the longer end has them: `(b)` is what was put into `(a)x` to `(b)(a)x`.
    """
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    same = next((n for n in range(shorter) if before[-1 - n] != after[-1 - n]), shorter)
    if start >= same:
        same = min(same, shorter - start)
    else:
        start = min(start, shorter - same)
    return start, len(before) - same


@lru_cache(maxsize=1 << 15)  # the same statement is put in at many places
def changed_tokens(old: bytes, new: bytes) -> int:
    """How many tokens a change takes away and adds."""
    if not old or not new:
        return len(c_tokens(old or new))
    return sum(max(len(change.old), len(change.new)) for change in token_changes(old, new))
