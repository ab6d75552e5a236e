"""What changed between two pieces of C, token by token."""

from __future__ import annotations

import re
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


@lru_cache(maxsize=64)  # a statement has a thousand edits
def _old_tokens(text: bytes) -> list[str]:
    return c_tokens(text)


@lru_cache(maxsize=4096)  # the edits of a statement are asked for what they are called, and how large they are
def token_changes(old: bytes, new: bytes) -> tuple[Change, ...]:
    """The changes that lead from one text to the other."""
    before, after = _old_tokens(old), c_tokens(new)
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
