"""What every technique said of one fault, kept as a line of JSON: enough to rank again without running anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.findings import Entry, Findings, Statement, rank

TOLD = ("text", "reasons")  # parts of the evidence that are words alone
RULE = (
    *("line", "before", "after", "f2p", "p2f", "failing", "checked", "unknown", "score", "family", "doubt", "cost"),
    *("takes_away", "asked_for"),
)


@dataclass(slots=True)
class Recorded:
    """One fault: the base's findings and those of the techniques, what the statements do, and the faulty ``source``.

    ``lines`` are the faulty ones. ``is_open``: nothing is known of the right output.
    """

    origin: str
    program: str
    fault: str
    kind: str
    lines: tuple[int, ...]
    is_open: bool
    base: Findings
    found: list[Findings]
    kinds: dict[Statement, dict[str, int]]
    source: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return self.origin, self.program, self.fault

    def to_json(self) -> dict[str, Any]:
        """The fault as JSON values."""
        names = ("origin", "program", "fault", "kind", "is_open", "source", "seconds")
        written = {name: getattr(self, name) for name in names} | {"lines": list(self.lines)}
        written["base"], written["found"] = _written(self.base), [_written(one) for one in self.found]
        written["kinds"] = [[s.file, s.line, kinds] for s, kinds in self.kinds.items()]
        return written

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Recorded:
        """The fault that ``to_json`` wrote."""
        names = ("origin", "program", "fault", "kind", "is_open", "source", "seconds")
        base, found = _read(row["base"]), [_read(one) for one in row["found"]]
        kinds = {Statement(file, line): counts for file, line, counts in row["kinds"]}
        given = {name: row[name] for name in names}
        return cls(lines=tuple(row["lines"]), base=base, found=found, kinds=kinds, **given)


def _written(findings: Findings) -> dict[str, Any]:
    """The ranking without words, and the rules, each a row of RULE."""
    entries = [
        [e.statement.file, e.statement.line, e.score, {k: v for k, v in e.evidence.items() if k not in TOLD}]
        for e in findings.ranking
    ]
    rules = [[rule.get(name) for name in RULE] for rule in findings.parts.get("rules", [])]
    return {"technique": findings.technique, "subject": findings.subject, "ranking": entries, "rules": rules}


def _read(row: Mapping[str, Any]) -> Findings:
    scores, notes = dict[Statement, float](), dict[Statement, dict[str, Any]]()
    for file, line, score, evidence in row["ranking"]:
        statement = Statement(file, line)
        scores[statement], notes[statement] = score, {**evidence, "text": ""}
    file = next((s.file for s in scores), "")
    rules = [{"file": file, **dict(zip(RULE, rule, strict=True))} for rule in row["rules"]]
    findings = Findings(row["technique"], row["subject"], rank(scores, notes))
    if row["technique"] == "rules":
        findings.parts["rules"] = rules
    return findings


def read(path: Path) -> Iterator[Recorded]:
    """The faults of a file; a last line that was not finished is passed over."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield Recorded.from_json(json.loads(line))
        except json.JSONDecodeError:
            return


def faulty(entries: list[Entry], lines: tuple[int, ...]) -> Entry | None:
    """The best-placed entry of the faulty lines; None: they are not ranked."""
    return min((e for e in entries if e.statement.line in lines), key=lambda e: e.rank_worst, default=None)
