"""The changes since a version that a failure needs, as lines of text with styles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whence.findings import plural
from whence.report.text import source_line

Line = tuple[str, str]  # text and style
STRONG, PLACE = "bold", "cyan"


def since_lines(part: dict[str, Any]) -> Iterator[Line]:
    """How many changes are needed, and each with what was there and what is there now; ``part`` is ``changes``."""
    needed = part["needed"]
    late = "; the time was up, so not each may be needed" if part["incomplete"] else ""
    together = " together" if len(needed) > 1 else ""
    made = plural(part["changes"], "change")
    verb = "makes" if len(needed) == 1 else "make"
    yield f"{len(needed)} of {made} since {part['since']} {verb} `{part['case']}` fail{together}{late}:", STRONG
    for change in needed:
        yield "", ""
        yield f"  {change['file']}:{change['line']}", PLACE
        for sign, style, text in (("-", "red", change["before"]), ("+", "green", change["after"])):
            yield from ((f"    {sign} {source_line(line)}", style) for line in text.splitlines())
    if part["undone"]:
        yield "", ""
        yield f"  without {'it' if len(needed) == 1 else 'them'}, and with all others, the case passes", "dim"
