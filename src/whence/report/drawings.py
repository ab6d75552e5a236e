"""Memory errors and data races as small drawings, in terms that a template can set as boxes and lanes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from whence.findings import Findings, Statement
from whence.report.page import Page, place
from whence.report.text import value_text

ERRORS = 20  # memory errors, and races, that are drawn
LARGE = ((4096, 4), (256, 3), (16, 2), (0, 1))  # bytes from which a box has this width

Part = dict[str, Any]


def memory_errors(page: Page, findings: Findings) -> list[Part]:
    """Each error with its sentences and a map of the memory around the access."""
    errors = [error for run in findings.parts.get("memory", []) for error in run["errors"]]
    return [
        {
            "kind": error["kind"].replace("-", " "),
            "place": place(Statement(error["file"], error["line"])) if error["file"] else "",
            "texts": error["text"],
            "map": _map(error),
        }
        for error in page.cut(errors, ERRORS, "memory error")
    ]


def _map(error: Part) -> list[Part]:
    """The ranges of memory from the lowest to the highest address, each with what it is.

    Empty where the object, or the address, is not known. Offsets count from the object's first byte.
    """
    thing, access, hit = error.get("object"), error.get("access"), error.get("hit")
    if not thing or not access or not thing.get("base") or not access.get("address") or not access.get("bytes"):
        return []
    base = int(thing["base"], 16)
    ranges = {
        "object": (0, int(thing["size"])),
        "access": _range(access["address"], access["bytes"], base),
    }
    if hit and hit.get("base") and hit.get("size"):
        ranges["hit"] = _range(hit["base"], hit["size"], base)
    edges = sorted({edge for ends in ranges.values() for edge in ends})
    cells = []
    for first, end in pairwise(edges):
        roles = [role for role, (start, stop) in ranges.items() if start <= first and end <= stop]
        names = {"object": thing["name"] or "the block", "access": _action(access), "hit": _name(hit)}
        size = next(width for least, width in LARGE if end - first >= least)
        gone = ["gone"] if thing.get("gone") and "object" in roles else []
        cells.append(
            {
                "roles": " ".join(roles + gone) or "between",
                "size": size,
                "names": [names[role] for role in roles] or ["between"],
                "gone": bool(gone),
                "bytes": f"byte {first:,}" if end == first + 1 else f"bytes {first:,} to {end - 1:,}",
            }
        )
    return cells


def _range(address: str, size: int, base: int) -> tuple[int, int]:
    start = int(address, 16) - base
    return start, start + size


def _action(access: Part) -> str:
    return f"{'written' if access['writes'] else 'read'} by `{access['expression']}`"


def _name(thing: Part | None) -> str:
    return str(thing["name"] or thing["text"]) if thing else ""


def races(page: Page, findings: Findings) -> list[Part]:
    """Each race with its two accesses in the order of the run, by the lanes of their threads."""
    found = [race for run in findings.parts.get("races", []) for race in run["races"]]
    return [_race(race) for race in page.cut(found, ERRORS, "data race")]


def _race(race: Part) -> Part:
    lanes = sorted({access["thread"]["number"] for access in race["accesses"]})
    started = {access["thread"]["number"]: access["thread"] for access in race["accesses"]}
    return {
        "title": race["name"],
        "harm": race["harm"]["verdict"],
        "texts": race["text"],
        "missing": race["missing"],
        "lanes": [_lane(started[number]) for number in lanes],
        "accesses": [_access(access, lanes.index(access["thread"]["number"])) for access in race["accesses"]],
    }


def _lane(thread: Part) -> Part:
    at = place(Statement(thread["file"], thread["line"])) if thread["file"] else ""
    return {"name": f"thread {thread['number']}", "function": thread["function"], "place": at}


def _access(access: Part, lane: int) -> Part:
    value = "" if access["value"] is None else value_text(access["value"])
    held = ", ".join(str(lock["name"]) for lock in access["held"])
    return {
        "lane": lane,
        "action": "writes" if access["writes"] else "reads",
        "value": value,
        "expression": access["expression"],
        "place": place(Statement(access["file"], access["line"])) if access["file"] else "",
        "held": held or "no lock",
    }
