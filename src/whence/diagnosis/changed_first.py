"""The ranking of ``locate`` joined with the changes since a version: what was changed and is needed comes first."""

from __future__ import annotations

from dataclasses import replace

from whence.findings import Entry, Findings


def changed_first(findings: Findings, changes: Findings) -> Findings:
    """The findings with the statements of needed changes before all others, in their order, and the part ``changes``.

    A statement of such a change that had no rank comes behind those that had one.
    """
    own = {entry.statement: entry for entry in findings.ranking}
    needed = {entry.statement: entry for entry in changes.ranking}
    changed = [entry for entry in findings.ranking if entry.statement in needed]
    added = [entry for statement, entry in needed.items() if statement not in own]
    others = [entry for entry in findings.ranking if entry.statement not in needed]
    first = [_told(entry, needed[entry.statement]) for entry in changed]
    first += [replace(entry, score=first[-1].score if first else 1.0) for entry in added]
    first = [replace(entry, rank=place, rank_worst=place) for place, entry in enumerate(first, 1)]
    ranking = [*first, *(_moved(entry, len(added), changed) for entry in others)]
    summary = [*findings.summary, changes.summary[-1]]
    return replace(findings, ranking=ranking, summary=summary, parts={**findings.parts, **changes.parts})


def _told(entry: Entry, change: Entry) -> Entry:
    """The entry with the change as its first reason."""
    evidence, said = entry.evidence, change.evidence
    text = "; ".join(filter(None, (said["text"], evidence.get("text", ""))))
    reasons = [*said["reasons"], *evidence.get("reasons", [])]
    return replace(entry, evidence={**evidence, "text": text, "reasons": reasons})


def _moved(entry: Entry, added: int, changed: list[Entry]) -> Entry:
    """An entry behind all changed ones: each that stood behind it, and each that is new, moves it by one place."""
    by = added + sum(one.rank > entry.rank for one in changed)
    inside = sum(one.rank == entry.rank for one in changed)  # of its own tie, which gets so much smaller
    return replace(entry, rank=entry.rank + by + inside, rank_worst=entry.rank_worst + by)
