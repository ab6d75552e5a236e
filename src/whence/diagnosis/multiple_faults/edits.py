"""Where the statements of a program went when its sources were edited, and which of them the edit touched.

Sources are compared line by line without comments and white space around lines: an edit of those alone touches
nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from whence.findings import Statement
from whence.program.line_changes import changes, code_lines

_WORD = re.compile(r"\w")


class Edits:
    """What changed from old to new sources, both given as texts by file; files of one side only are left alone."""

    def __init__(self, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        changed = [file for file, text in old.items() if file in new and text != new[file]]
        self.regions = {file: list(changes(code_lines(old[file]), code_lines(new[file]))) for file in changed}
        self._gone = old.keys() - new.keys()

    def moved(self, statement: Statement) -> Statement | None:
        """The statement in the new sources; None where its line, or its file, is gone.

        A changed line is the new line at the same place in the change.
        """
        if statement.file in self._gone:
            return None
        shift = 0
        for region in self.regions.get(statement.file, []):
            if statement.line < region.old_start:
                break
            shift = region.stop - region.old_stop
            if statement.line < region.old_stop:
                line = region.start + statement.line - region.old_start
                return Statement(statement.file, line) if line < region.stop else None
        return Statement(statement.file, statement.line + shift)

    def touched(self, before: Iterable[Statement], now: Iterable[Statement]) -> frozenset[Statement] | None:
        """The statements of ``now`` that the edit touched, given all statements of the program before and now.

        A change that leaves no statement in its lines, or of braces alone, touches the statements around the gap. None
        where a change holds code but no statement on either side (a declaration, a type, a macro): what executes it
        cannot be told by lines.
        """
        old, new = _by_file(before), _by_file(now)
        found: set[Statement] = set()
        for file, regions in self.regions.items():
            for region in (r for r in regions if r.code):
                lines = new.get(file, [])
                inside = _between(lines, region.start, region.stop)
                was_inside = _between(old.get(file, []), region.old_start, region.old_stop)
                if not inside and not was_inside and _WORD.search(region.code):
                    return None
                found |= {Statement(file, line) for line in inside or _around(lines, region.start)}
        return frozenset(found)


def _by_file(statements: Iterable[Statement]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {}
    for statement in statements:
        lines.setdefault(statement.file, []).append(statement.line)
    return {file: sorted(numbers) for file, numbers in lines.items()}


def _between(lines: list[int], start: int, stop: int) -> list[int]:
    return lines[bisect_left(lines, start) : bisect_left(lines, stop)]


def _around(lines: list[int], line: int) -> list[int]:
    """The last line before and the first line from a place on."""
    at = bisect_left(lines, line)
    return lines[max(at - 1, 0) : at + 1]
