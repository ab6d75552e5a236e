"""What an edit costs: its size, and more for what it brings in that the program has nowhere.

Most fixes are made of what the program has (Barr et al.: The plastic surgery hypothesis, 2014). A number that stands
nowhere is one of very many that were tried in its place, and one of these passes by chance sooner than an operator of
which there are five: it was made to fit the cases. A statement that the file has elsewhere is likelier to be what is
missing than a shorter one that nobody wrote.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whence.program.c_source import CSource
from whence.program.source_edits import Kind, SourceEdit
from whence.program.token_changes import c_tokens

NAME = 2  # tokens that a name counts for which the function does not use elsewhere
NUMBER = 3  # ... and a literal that the file does not have
COPIED = 2  # tokens that a statement counts for which the file has elsewhere
_NAME, _LITERAL = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\.?\d.*|'.*'")
_PLAIN = frozenset(("0", "1", "'\\0'"))


def cost(source: CSource, edit: SourceEdit) -> int:
    """How many tokens an edit changes; what it brings in that the program does not have counts for several."""
    return size(source, edit) + NAME * len(_new_names(source, edit)) + NUMBER * len(new_literals(source, edit))


def size(source: CSource, edit: SourceEdit) -> int:
    """How many tokens an edit changes; COPIED at most where it puts in a statement which its file has elsewhere."""
    if not {part.kind for part in edit.parts} <= {Kind.BEFORE, Kind.BEHIND}:
        return edit.size
    is_copied = all(tuple(c_tokens(part.text)) in _statements(source) for part in edit.parts)
    return min(edit.size, COPIED) if is_copied else edit.size


def _new_names(source: CSource, edit: SourceEdit) -> set[str]:
    """The names that an edit brings into its function."""
    function = source.function_at(edit.parts[0].start)
    known = c_tokens(source.of(function)) if function is not None else []
    return {token for _, text in edit.changes for token in c_tokens(text) if _NAME.fullmatch(token)} - set(known)


def new_literals(source: CSource, edit: SourceEdit) -> set[str]:
    """The numbers and characters that an edit brings into its file, but for 0 and 1, and neighbours of old numbers."""
    before, after = ({token for texts in edit.changes for token in c_tokens(texts[side])} for side in (0, 1))
    new = {token for token in after if _LITERAL.fullmatch(token)} - _PLAIN
    near = {str(int(token) + step) for token in before if token.isdigit() for step in (1, -1)}
    return new - near - _tokens(source) if new else set()


@lru_cache(maxsize=64)
def _statements(source: CSource) -> frozenset[tuple[str, ...]]:
    """The tokens of each statement that does something in one step: an assignment, a call."""
    simple = (node for node in source.statements if node.type == "expression_statement")
    return frozenset(tuple(c_tokens(source.of(node))) for node in simple)


@lru_cache(maxsize=64)
def _tokens(source: CSource) -> frozenset[str]:
    return frozenset(c_tokens(source.text))
