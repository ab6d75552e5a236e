"""Verdicts that existing test suites print: TAP, and the result lines of Automake's ``make check``."""

from __future__ import annotations

import re
from enum import Enum

TAP_LINE = re.compile(
    rb"^(?P<not>not )?ok\b(?: *(?P<number>\d+))?(?: *-? *(?P<text>[^#\n]*))?(?P<directive>#.*)?$", re.M
)
TAP_PLAN = re.compile(rb"^1\.\.(?P<count>\d+)(?P<skip>\s*#\s*skip.*)?\s*$", re.M | re.I)
TAP_BAIL = re.compile(rb"^Bail out!\s*(?P<text>.*)$", re.M)
TAP_EXCUSE = re.compile(rb"#\s*(?P<word>todo|skip)", re.I)

AUTOMAKE_LINE = re.compile(rb"^(?P<word>PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (?P<name>\S+)", re.M)

# As suites tell it; but "FAIL: 0" is none, and of small letters only a number of tests.
FAILING = re.compile(rb"\b(?:FAIL|FAILED|not ok)\b(?!:? *0\b)|\b[1-9]\d* (?:tests? )?fail(?:ed|ures?)\b")


class Verdict(Enum):
    """What a test says of itself."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"


def tap_verdict(output: bytes, status: int) -> tuple[Verdict, str]:
    """Return the verdict of one TAP stream and a phrase: it passes when nothing failed and the plan was kept.

    ``todo`` and ``skip`` directives excuse a test point; a stream without any test point falls back on
    ``status``.
    """
    if bail := TAP_BAIL.search(output):
        return Verdict.FAIL, f"bailed out: {_text(bail['text'])}"
    points = list(TAP_LINE.finditer(output))
    plan = TAP_PLAN.search(output)
    failed = [p for p in points if p["not"] and not TAP_EXCUSE.match(p["directive"] or b"")]
    if failed:
        names = ", ".join(_point_name(p) for p in failed[:3])
        return Verdict.FAIL, f"{len(failed)} of {len(points)} test points failed: {names}"
    if plan and len(points) != int(plan["count"]):
        return Verdict.FAIL, f"{len(points)} test points, {int(plan['count'])} were planned"
    if plan and plan["skip"]:
        return Verdict.SKIP, "skipped"
    if status:
        return Verdict.FAIL, f"exit status {status}"
    if points and all(_is_skip(p) for p in points):
        return Verdict.SKIP, "skipped"
    return Verdict.PASS, ""


def tap_names(output: bytes) -> list[str]:
    """Return the descriptions of the test points of a TAP stream, in order."""
    return [_point_name(point) for point in TAP_LINE.finditer(output)]


def automake_verdict(output: bytes, name: str, status: int) -> tuple[Verdict, str]:
    """Return what ``make check`` printed about the test ``name``; a test it does not mention falls back on
    ``status``.
    """
    words = {_text(line["name"]): _text(line["word"]) for line in AUTOMAKE_LINE.finditer(output)}
    word = words.get(name) or next((w for n, w in words.items() if n.rsplit("/", 1)[-1] == name), "")
    if word in ("PASS", "XFAIL") or (not word and status == 0):
        return Verdict.PASS, ""
    if word == "SKIP":
        return Verdict.SKIP, "skipped"
    return Verdict.FAIL, f"{word}: {name}" if word else f"exit status {status}"


def _point_name(point: re.Match[bytes]) -> str:
    return _text(point["text"] or b"") or f"point {_text(point['number'] or b'?')}"


def _is_skip(point: re.Match[bytes]) -> bool:
    excuse = TAP_EXCUSE.match(point["directive"] or b"")
    return bool(excuse and excuse["word"].lower() == b"skip")


def _text(data: bytes) -> str:
    return data.decode(errors="replace").strip()
