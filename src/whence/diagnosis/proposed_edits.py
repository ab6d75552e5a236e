"""Edits that rules stand for: one change of a line, with which failing cases pass in altered runs.

Rules reach every statement that failing cases execute, in the time in which edits are tried at the first ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit

PROPOSED = 8  # rules, the best


def proposed(rules: Sequence[Mapping[str, Any]], sources: Mapping[str, CSource]) -> list[SourceEdit]:
    """The edits of the best rules (entries of the part ``rules``) that repair all cases they were tried on.

    Rules that break a passing case, or have no edited line, are none; nor are those of files that are not among the
    ``sources``, or have another text there.
    """
    best = [rule for rule in rules if rule["f2p"] == rule["failing"] and not rule["p2f"] and rule["after"] is not None]
    found = [_edit(rule, sources[rule["file"]]) for rule in best if rule["file"] in sources]
    return [edit for edit in found if edit is not None][:PROPOSED]


def _edit(rule: Mapping[str, Any], source: CSource) -> SourceEdit | None:
    """The edit of a rule's line; None where the line has another text."""
    lines = source.text.split(b"\n")
    line = lines[rule["line"] - 1] if rule["line"] <= len(lines) else b""
    before, after = rule["before"].encode(), rule["after"].encode()
    if line.strip() != before:
        return None
    start = sum(len(text) + 1 for text in lines[: rule["line"] - 1]) + line.index(before)
    part = Part(Kind.TEXT, start, start + len(before), after)
    return SourceEdit(rule["file"], rule["line"], (part,), ((before, after),))
