"""The statements that ``whence locate --json`` found most suspicious, as places to stop at in a recorded run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.errors import UsageError
from whence.findings import Statement

TOLD = 5  # that are listed when a session begins


@dataclass(slots=True, frozen=True)
class Suspect:
    """A statement of the ranking, with its first piece of evidence in words."""

    statement: Statement
    text: str

    @property
    def line(self) -> str:
        """The suspect in one line."""
        return f"{self.statement.file}:{self.statement.line}" + (f"  {self.text}" if self.text else "")


def read_suspects(path: Path) -> list[Suspect]:
    """The ranking of a result, the most suspicious statement first. Raises UsageError where the file holds none."""
    try:
        entries = json.loads(path.read_bytes())["ranking"]
        return [_suspect(entry) for entry in entries]
    except OSError as error:
        raise UsageError(
            f'"locate": {path}: {error.strerror}', "write it by: whence locate --json > found.json"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "write it by: whence locate --json > found.json"
        raise UsageError(f'"locate": {path} holds no result of `whence locate --json`', hint) from error


def _suspect(entry: dict[str, Any]) -> Suspect:
    evidence = entry.get("evidence") or {}
    return Suspect(Statement(str(entry["file"]), int(entry["line"])), str(evidence.get("text", "")))
