"""Text of a subject made fit to be shown: whatever a program prints or is called, it stays text.

File names, source lines and values come from the program under diagnosis. A character that would not be seen
as itself (escape sequences, other control characters, bidirectional overrides, halves of surrogates) is
replaced by the escape that C or Python would write for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whence.findings import Findings, plural

TAB_WIDTH = 4
SAME_PLACE = 3  # of successive steps of a chain at one place all are shown, of more the first and the last


def visible(text: str) -> str:
    r"""Text with each unprintable character as an escape: ``\n``, ``\x1b``, ``\u202e``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def source_line(text: str) -> str:
    """A line of source without its line end, with tabs as spaces and everything unprintable escaped."""
    return visible(text.rstrip("\r\n").expandtabs(TAB_WIDTH))


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters; a longer text ends by saying how many more there were."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... ({len(text) - limit} more characters)"


def clauses(text: str) -> list[str]:
    """The parts of a sentence between semicolons; those within back quotes or double quotes part nothing."""
    pieces = re.split(r"(`[^`]*`|\"(?:\\.|[^\"\\])*\"|; )", text)
    found = [""]
    for piece in pieces:
        if piece == "; ":
            found.append("")
        else:
            found[-1] += piece
    return [clause for clause in found if clause]


def rank_range(best: int, worst: int) -> str:
    """``4``, or ``4-9`` for a tie."""
    return str(best) if best == worst else f"{best}-{worst}"


def score_text(score: float) -> str:
    """A score in three significant digits or as a whole number: ``0.894``, ``1``, ``18.5``, ``20,164``."""
    return f"{score:.3g}" if abs(score) < 1000 else f"{score:,.0f}"


def joined(part: dict[str, Any], noun: str, shown: Callable[[Any], str]) -> list[str]:
    """The first and the last items of a bounded list as texts, with a line for those left out between."""
    gap = [f"... {plural(part['left_out'], noun)} left out ..."] if part["left_out"] else []
    return [*(shown(item) for item in part["first"]), *gap, *(shown(item) for item in part["last"])]


def call_text(call: dict[str, Any]) -> str:
    """An open call: ``parse at src/json.c:120``."""
    return f"{call['function']} at {call['file']}:{call['line']}" if call["file"] else str(call["function"])


def edge_text(name: str, value: str | float | bool | None, skipped: str = "") -> str:
    """What passed along an edge: ``n = 3``, the name alone where no value is known, nothing without either.

    Along an implicit dependence nothing passed: ``skipped`` says what did not happen.
    """
    if skipped:
        return f"{edge_text(name, value)} (skipped: {visible(skipped)})"
    if value is None:
        return visible(name)
    return f"{visible(name)} = {value_text(value)}" if name else value_text(value)


def value_text(value: str | float | bool | None, limit: int = 80) -> str:
    """A value of a result as shown: strings as the technique wrote them, unprintable characters escaped."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "true" if value else "false"
    return clip(visible(str(value)), limit)


def is_suggested(rule: dict[str, Any]) -> bool:
    """Whether a rule is worth making a change of: no passing case is known to fail with it, and it misuses no memory.

    A change that lets cases pass by an access beyond its object does so by where the compiler laid what that hits.
    """
    return not rule["p2f"] and rule.get("clean") is not False


def suggested_changes(findings: Findings) -> list[dict[str, Any]]:
    """The best suggested rule of each statement, in the order of the ranking."""
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for rule in filter(is_suggested, findings.parts.get("rules", [])):
        best.setdefault((rule["file"], rule["line"]), rule)
    places = {(entry.statement.file, entry.statement.line): n for n, entry in enumerate(findings.ranking)}
    return sorted(best.values(), key=lambda rule: places.get((rule["file"], rule["line"]), len(places)))


def change_outcome(rule: dict[str, Any]) -> str:
    """What a suggested change did: ``repairs 2 of 2 failing cases, breaks none of 3 passing``.

    Where it was not made in the source it did so in altered runs, which is said, and so is which other limits would do.
    """
    lead = "" if rule.get("confirmed") else "in altered runs: "
    text = f"{lead}repairs {rule['f2p']} of {plural(rule['failing'], 'failing case')}"
    if rule["checked"]:
        text += f", breaks {rule['p2f'] or 'none'} of {rule['checked']:,} passing"
    else:
        text += "; no time to try it on passing cases" if rule.get("unknown") else "; no passing case to check it on"
    text += f"; {rule['confirmation']}" if rule.get("confirmation") else ""
    least, greatest = rule.get("alike") or (0, 0)
    tells = f"no run that was looked at tells which number from {least:,} to {greatest:,} is right"
    return f"{text}; {tells}" if least < greatest else text
