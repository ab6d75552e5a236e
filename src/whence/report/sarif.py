"""Findings as SARIF 2.1.0, the format in which code-scanning services and editors take results.

One result is the failure, with the way from its root as a code flow; one each are the first statements of the ranking,
with changes that were compiled and run on all cases as fixes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from whence.findings import Statement
from whence.report.diagnosed import Diagnosed

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"  # what paths are relative to
STATEMENTS = 5  # that become results
FLOW = 100  # places of a code flow, the last before the failure
RULES = (
    ("failure", "A case fails", "A case of the program fails, and this is where it shows.", "error"),
    ("suspect", "Likely at fault", "The failure comes from this statement more likely than from others.", "warning"),
)


def to_sarif(diagnosed: Sequence[Diagnosed], version: str) -> dict[str, Any]:
    """A log with one run that holds the results of all failures, by this version of Whence."""
    driver = {
        "name": "Whence",
        "semanticVersion": version,
        "rules": [
            {
                "id": name,
                "name": name.capitalize(),
                "shortDescription": {"text": short},
                "fullDescription": {"text": text},
                "defaultConfiguration": {"level": level},
            }
            for name, short, text, level in RULES
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder of whence.toml."}}},
        "results": [made for one in diagnosed if one.result is not None for made in _Results(one, one.result).all()],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_text(diagnosed: Sequence[Diagnosed], version: str) -> str:
    """The log as indented JSON text in ASCII, ending in a newline."""
    return json.dumps(to_sarif(diagnosed, version), indent=2, allow_nan=False) + "\n"


class _Results:
    """The results of one failure."""

    def __init__(self, one: Diagnosed, result: Mapping[str, Any]) -> None:
        self._one, self._cases, self._result = one, one.cases, result

    def all(self) -> Iterator[dict[str, Any]]:
        """The failure, then the first statements; those of a tie that goes on behind them are left out."""
        if self._result["symptom"] is not None:
            yield self._failure(self._result["symptom"])
        yield from (self._suspect(entry) for entry in self._result["ranking"] if entry["rank_worst"] <= STATEMENTS)

    def _failure(self, symptom: Mapping[str, Any]) -> dict[str, Any]:
        ranking = self._result["ranking"]
        at = _place(symptom if symptom["file"] else ranking[0]) if symptom["file"] or ranking else None
        result: dict[str, Any] = {
            "ruleId": "failure",
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": ": ".join(filter(None, (", ".join(self._cases), symptom["text"])))},
            "partialFingerprints": self._fingerprint(at, symptom["kind"]) if at else {},
            "locations": [self._location(at)] if at else [],
            "relatedLocations": [
                self._location(_place(entry), f"rank {entry['rank']}") | {"id": number}
                for number, entry in enumerate(ranking[:STATEMENTS], 1)
            ],
        }
        steps = [*self._way(), *([(_place(symptom), symptom["text"])] if symptom["file"] else [])]
        if len(steps) > 1:
            places = [{"location": self._location(*step)} for step in steps]
            result["codeFlows"] = [{"threadFlows": [{"locations": places}]}]
        return result

    def _suspect(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        at, evidence = _place(entry), entry["evidence"]
        text = "\n".join(reason["text"] for reason in evidence.get("reasons", [])) or evidence.get("text", "")
        result: dict[str, Any] = {
            "ruleId": "suspect",
            "ruleIndex": 1,
            "level": "warning" if entry["rank"] == 1 else "note",
            "rank": round(200 / (entry["rank"] + entry["rank_worst"]), 1),
            "message": {"text": text or "suspicious"},
            "partialFingerprints": self._fingerprint(at, "suspect"),
            "locations": [self._location(at)],
        }
        fixes = list(self._fixes(at))
        return result | {"fixes": fixes} if fixes else result

    # ---- Parts of a result -------------------------------------------------------------------------------------------

    def _way(self) -> Iterator[tuple[Statement, str]]:
        """From the root to the failure: the chain's steps, or the lines of the slice, the first executed first."""
        chain = (self._result.get("chain") or {}).get("steps", [])
        for step in chain[-FLOW:]:
            yield _place(step), step["text"]
        if chain:
            return
        for line in reversed(self._result.get("slice", [])[:FLOW]):
            values = ", ".join(f"{value['name']} = {value['value']}" for value in line["values"])
            yield _place(line), values or "executed"

    def _fixes(self, at: Statement) -> Iterator[dict[str, Any]]:
        """Changes of the source that were built and run: needed changes undone, and others of the line."""
        line, since = self._one.line(at.file, at.line).strip(), self._result.get("changes")
        if since and since["undone"] and any(_covers(one, at) for one in since["needed"]):
            yield self._undoing(since)
        for rule in self._result.get("rules", []):
            if not rule.get("confirmed") or rule["broken"] or _place(rule) != at or rule["before"] != line:
                continue
            replacement = {"deletedRegion": self._region(at), "insertedContent": {"text": rule["after"]}}
            yield {
                "description": {"text": f"{rule['rule']}: {rule['confirmation']}"},
                "artifactChanges": [{"artifactLocation": _artifact(at.file), "replacements": [replacement]}],
            }

    def _undoing(self, since: Mapping[str, Any]) -> dict[str, Any]:
        """The needed changes since a version, undone."""
        changes = []
        for file in dict.fromkeys(one["file"] for one in since["needed"]):
            own = [one for one in since["needed"] if one["file"] == file]
            replacements = [
                {"deletedRegion": _whole_lines(one), "insertedContent": {"text": one["before"]}} for one in own
            ]
            changes.append({"artifactLocation": _artifact(file), "replacements": replacements})
        count = "the change" if len(since["needed"]) == 1 else "the changes"
        return {
            "description": {"text": f"Undo {count} since {since['since']}: built, and `{since['case']}` passes"},
            "artifactChanges": changes,
        }

    def _location(self, at: Statement, text: str = "") -> dict[str, Any]:
        region = self._region(at) | {"snippet": {"text": self._one.line(at.file, at.line).strip()}}
        place = {"physicalLocation": {"artifactLocation": _artifact(at.file), "region": region}}
        return place | {"message": {"text": text}} if text else place

    def _region(self, at: Statement) -> dict[str, int]:
        """The text of a line, without what stands before and behind it."""
        line = self._one.line(at.file, at.line)
        if not line.strip():
            return {"startLine": at.line}
        start = len(line) - len(line.lstrip())
        return {"startLine": at.line, "startColumn": start + 1, "endColumn": start + len(line.strip()) + 1}

    def _fingerprint(self, at: Statement, kind: str) -> dict[str, str]:
        """What stays the same where lines are added elsewhere: the line's text, and how many such stand before it."""
        text = self._one.line(at.file, at.line).strip()
        before = sum(line.strip() == text for line in self._one.texts.get(at.file, "").split("\n")[: at.line - 1])
        words = "\0".join((kind, at.file, text, str(before)))
        return {"whenceStatement/v1": hashlib.sha256(words.encode(errors="surrogateescape")).hexdigest()[:32]}


def _whole_lines(change: Mapping[str, Any]) -> dict[str, int]:
    """The lines that a change has put in, with their ends; an empty place where it put in none."""
    first, count = change["line"], len(change["after"].splitlines())
    return {"startLine": first, "startColumn": 1, "endLine": first + count, "endColumn": 1}


def _covers(change: Mapping[str, Any], at: Statement) -> bool:
    """Whether a line is one that a change has put in, or stands beside the place where it took lines out."""
    first, count = change["line"], len(change["after"].splitlines())
    lines = range(first, first + count) if count else range(first - 1, first + 1)
    return change["file"] == at.file and at.line in lines


def _place(item: Mapping[str, Any]) -> Statement:
    return Statement(item["file"], item["line"])


def _artifact(file: str) -> dict[str, str]:
    return {"uri": quote(file, errors="surrogateescape"), "uriBaseId": ROOT}
