"""What logs and summaries of a whole suite are made of: verdicts of cases, and what was found out about failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended: the ``kind`` of its failure and the phrase for it (empty: it passed), seconds of the run."""

    case: str
    kind: str
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What was found out about one failure, of one or several cases.

    ``result``: the findings as JSON (docs/json.md), with the ``texts`` of the files that they mention; None: there are
    none, and ``trouble`` says why. ``interrupted``: it was stopped before its time.
    """

    cases: tuple[str, ...]
    result: Mapping[str, Any] | None
    texts: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    interrupted: bool = False

    def line(self, file: str, number: int) -> str:
        """The text of a line; empty where it is not known."""
        lines = self.texts.get(file, "").split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""
