"""The breakpoints that a client has set, and what it is told of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whence.debug.breakpoints import Breakpoint, is_count
from whence.debug.run import Run

Row = dict[str, Any]
FUNCTIONS = ""  # the file of breakpoints on functions


class BreakpointTable:
    """All breakpoints by the files that they stand in; those of a file are always set together."""

    def __init__(self) -> None:
        self._of_file: dict[str, list[Breakpoint]] = {}
        self._numbers = 0

    def all(self) -> list[Breakpoint]:
        """All of them."""
        return [each for some in self._of_file.values() for each in some]

    def set_lines(self, run: Run, path: str, asked: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Set the breakpoints of a file; a row for each, its line the next one that has a statement."""
        file = run.lines.file(path)
        found: list[Breakpoint] = []
        rows = [self._on_line(run, file, path, each, found) for each in asked]
        self._of_file[file or path] = found
        return rows

    def _on_line(self, run: Run, file: str | None, path: str, asked: Mapping[str, Any], found: list[Breakpoint]) -> Row:
        if file is None:
            return self._unverified(f"{path} is no file of the recorded program")
        line = int(asked["line"])
        statement = run.lines.at_or_behind(file, line)
        if statement is None:
            return self._unverified(f"no statement stands on line {line} or behind it")
        row = self._set(asked, run.lines.steps(statement), found)
        source = {"name": file.rpartition("/")[2], "path": run.lines.path(file)}
        return row | {"line": statement.line, "source": source}

    def set_functions(self, run: Run, asked: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Set the breakpoints on functions; a row for each."""
        found: list[Breakpoint] = []
        rows = []
        for each in asked:
            events = run.timeline.at_function(str(each["name"]))
            if events is None:
                rows.append(self._unverified(f"the program defines no function `{each['name']}`"))
            else:
                rows.append(self._set(each, events, found))
        self._of_file[FUNCTIONS] = found
        return rows

    def _set(self, asked: Mapping[str, Any], events: Any, found: list[Breakpoint]) -> Row:
        """Set a breakpoint at some steps."""
        hits = str(asked.get("hitCondition") or "")
        if hits and not is_count(hits):
            return self._unverified(f"`{hits}` is no number of hits: 5, >= 5 or % 5")
        self._numbers += 1
        condition, message = str(asked.get("condition") or ""), str(asked.get("logMessage") or "")
        found.append(Breakpoint(self._numbers, events, condition, hits, message))
        told = {} if len(events) else {"message": "the recorded run does not come here"}
        return {"id": self._numbers, "verified": True, **told}

    def _unverified(self, why: str) -> Row:
        self._numbers += 1
        return {"id": self._numbers, "verified": False, "message": why}
