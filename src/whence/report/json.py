"""Findings as JSON: the one result contract that every technique's ``--json`` follows.

``schema.json`` beside this file is the contract in JSON Schema; ``docs/json.md`` explains it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whence.findings import Entry, Findings, Symptom

SCHEMA = {"name": "whence-findings", "version": 1}
SCHEMA_PATH = Path(__file__).with_name("schema.json")


def to_json(findings: Findings) -> dict[str, Any]:
    """The result as an object of JSON values; the technique's own parts stand beside the common keys.

    Raises ``ValueError`` when a part bears the name of a common key.
    """
    common: dict[str, Any] = {
        "schema": dict(SCHEMA),
        "subject": findings.subject,
        "technique": findings.technique,
        "symptom": _symptom(findings.symptom),
        "warnings": list(findings.warnings),
        "summary": [*findings.summary, *findings.remarks],
        "ranking": [_entry(entry) for entry in findings.ranking],
    }
    if clash := common.keys() & findings.parts.keys():
        raise ValueError(f"parts of {findings.technique} named like common keys: {', '.join(sorted(clash))}")
    return common | findings.parts


def to_text(findings: Findings) -> str:
    """The result as indented JSON text in ASCII, ending in a newline.

    Raises ``ValueError`` for a score that JSON has no number for (infinite, not a number).
    """
    return json.dumps(to_json(findings), indent=2, allow_nan=False) + "\n"


def _symptom(symptom: Symptom | None) -> dict[str, Any] | None:
    if symptom is None:
        return None
    return {
        "kind": symptom.kind,
        "text": symptom.text,
        "file": symptom.statement.file if symptom.statement else None,
        "line": symptom.statement.line if symptom.statement else None,
        "clock": symptom.clock,
        "event": symptom.event,
        "details": symptom.details,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "file": entry.statement.file,
        "line": entry.statement.line,
        "rank": entry.rank,
        "rank_worst": entry.rank_worst,
        "score": entry.score,
        "evidence": entry.evidence,
    }
