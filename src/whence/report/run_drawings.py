"""Failing schedules and suppressed executions as small drawings: lanes and steps that a template can set."""

from __future__ import annotations

from typing import Any

from whence.findings import Findings, Statement
from whence.report.page import Page, place
from whence.report.text import value_text

ACCESSES = 20  # of a failing schedule, in the order of its run
EXECUTIONS = 20
DEFINITIONS = 5  # of one execution

Part = dict[str, Any]


def schedules(page: Page, findings: Findings) -> list[Part]:
    """Each failing schedule: its points, who waits for what, and the accesses that decide by the lanes of threads."""
    return [_schedule(page, case) for case in findings.parts.get("schedules", []) if case["found"]]


def _schedule(page: Page, case: Part) -> Part:
    found = case["found"]
    waiting = {row["at"]["event"]: row for row in found.get("waiting", [])}
    accesses = {event: row["at"] for event, row in waiting.items()}
    for row in found.get("deciding", []):
        accesses |= {access["event"]: access for access in (row["access"], row["behind"]) if access}
    accesses |= {row["taken"]["event"]: row["taken"] for row in waiting.values() if row["taken"]}
    in_order = page.cut([accesses[event] for event in sorted(accesses)], ACCESSES, "access of a failing schedule")
    lanes = sorted({access["thread"] for access in in_order})
    return {
        "title": found.get("kind") or "failure",
        "case": case["case"],
        "failure": found["failure"],
        "points": [point["text"] for point in found.get("points", [])],
        "lanes": lanes,
        "accesses": [_access(access, lanes, waiting.get(access["event"])) for access in in_order],
    }


def _access(access: Part, lanes: list[int], waits: Part | None) -> Part:
    holder = waits["holder"] if waits else None
    return {
        "lane": lanes.index(access["thread"]),
        "expression": access["text"],
        "value": "" if access["value"] is None else value_text(access["value"]),
        "place": _place(access),
        "waits": bool(waits),
        "holder": "" if holder is None else f"thread {holder}",
    }


def executions(page: Page, findings: Findings) -> list[Part]:
    """The executions of suppression, each with how it ended and what of it was suppressed in the next one."""
    found = findings.parts.get("suppression", {}).get("executions", [])
    return [_execution(page, row) for row in page.cut(found, EXECUTIONS, "execution")]


def _execution(page: Page, row: Part) -> Part:
    shown = page.cut(row["suppressed"], DEFINITIONS, "suppressed definition")
    return {
        "is_bad": row["outcome"] in ("crash", "assertion"),
        "text": row["text"],
        "place": _place(row),
        "space": row["space"],
        "suppressed": [{"text": one["text"], "place": _place(one)} for one in shown],
    }


def _place(row: Part) -> str:
    return place(Statement(row["file"], row["line"])) if row["file"] else ""
