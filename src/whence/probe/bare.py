"""A module's text without debug information: what a trace means is told by the captured module, not by its variant.

It is two fifths of a text, and clang takes a third longer with it. Metadata that says something else is kept. Loop
metadata goes too: it holds places in the source, and a promise that loops end, on which unoptimised code does not rely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ATTACHED = re.compile(r"(?:,? ![a-zA-Z_][\w.]* !\d+)+(?= \{$|$)")  # at the end of a line, where no string can be
_DEBUG = re.compile(r",? !(?:dbg|llvm\.loop) !\d+")
_NODE = re.compile(r"!(\d+) = ")
_QUOTED = re.compile(r'"[^"]*"')  # LLVM prints a quote inside a string as \22
_USE = re.compile(r"!(\d+)")


def without_debug(lines: Iterable[str]) -> list[str]:
    """The lines of a module without debug records, attachments, and the metadata that nothing uses then."""
    kept: list[str] = []
    nodes: dict[str, str] = {}
    for line in _without_records(lines):
        if node := _NODE.match(line):
            nodes[node[1]] = line
        else:
            kept.append(line)
    return kept + _used(kept, nodes)


def _without_records(lines: Iterable[str]) -> Iterator[str]:
    """The lines without debug records, the list of compile units, and what attaches debug information."""
    for line in lines:
        if "!" not in line:
            yield line
        elif not line.lstrip().startswith(("#dbg_", "!llvm.dbg.cu = ")):
            yield _ATTACHED.sub(_without_attachments, line)


def _without_attachments(match: re.Match[str]) -> str:
    return _DEBUG.sub("", match[0])


def _used(lines: Iterable[str], nodes: dict[str, str]) -> list[str]:
    """The nodes that the lines use, or that those use."""
    used: set[str] = set()
    to_do = [line for line in lines if "!" in line]
    while to_do:
        fresh = {number for line in to_do for number in _USE.findall(_QUOTED.sub("", line)) if number in nodes} - used
        used |= fresh
        to_do = [nodes[number] for number in fresh]
    return [line for number, line in nodes.items() if number in used]
