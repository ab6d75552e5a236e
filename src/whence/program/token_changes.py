"""What changed between two pieces of C, token by token."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*'
    rb"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||[^\s\w]"
)
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Change(NamedTuple):
    """Tokens ``old`` became ``new``; ``before`` and ``behind`` are all tokens around them."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]


def c_tokens(text: bytes) -> list[str]:
    """The tokens of a piece of C, without comments."""
    return [token.decode("latin-1") for token in _TOKEN.findall(_COMMENT.sub(b" ", text))]


@lru_cache(maxsize=4096)  # the edits of a statement are asked for what they are called, and how large they are
def token_changes(old: bytes, new: bytes) -> tuple[Change, ...]:
    """The changes that lead from one text to the other."""
    before, after = c_tokens(old), c_tokens(new)
    return tuple(
        Change(tuple(before[a:b]), tuple(after[c:d]), tuple(before[:a]), tuple(before[b:]))
        for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    )


def changed_tokens(old: bytes, new: bytes) -> int:
    """How many tokens a change takes away and adds."""
    if not old or not new:
        return len(c_tokens(old or new))
    return sum(max(len(change.old), len(change.new)) for change in token_changes(old, new))
