"""Checked runs as findings: statements in the order in which the first run that has them did wrong."""

from __future__ import annotations

from typing import Any

from whence.findings import Entry, Findings, Statement
from whence.techniques.fusion import told


def findings_of(subject: str, cases: list[dict[str, Any]]) -> Findings:
    """The findings of checked runs, each ``{"case", "verdict", "errors", "remarks"}`` with errors as told.

    Where several runs did the same at a line, the first one tells it.
    """
    found = Findings("memory", subject)
    seen: dict[Statement, list[dict[str, Any]]] = {}
    for case in cases:
        for error in case["errors"]:
            if error["file"] is None:
                continue
            others = seen.setdefault(Statement(error["file"], error["line"]), [])
            if all(other["kind"] != error["kind"] for other in others):
                others.append(error)
    for number, (statement, errors) in enumerate(seen.items(), 1):
        reasons = [(str(error["kind"]), text) for error in errors for text in error["text"]]
        found.ranking.append(Entry(statement, 1.0 / number, number, number, told(reasons)))
    found.parts["memory"] = cases
    return found
