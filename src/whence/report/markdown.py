"""A suite's failures as Markdown, for the page of a CI job or a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whence.findings import plural
from whence.report.diagnosed import Diagnosed, Verdict
from whence.report.text import visible

STATEMENTS, REASONS, STEPS, NAMED = 3, 3, 8, 10
SPECIAL = set("\\*_[]|~#&<>@")  # in Markdown, and in the HTML that may stand in it


def markdown_text(
    subject: str, verdicts: Sequence[Verdict], diagnosed: Sequence[Diagnosed], notes: Sequence[str]
) -> str:
    """A section for each failure: its cases and symptom, the first statements with reasons, the way, a change."""
    failing = sum(bool(one.kind) for one in verdicts)
    count = f"{failing} of {plural(len(verdicts), 'case')} fail{'s' if failing == 1 else ''}" if failing else "all pass"
    lines = [f"# {_code(subject)}: {count}", ""]
    for one in diagnosed:
        lines += [*_failure(one), ""]
    lines += [f"- {_plain(note)}" for note in notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _failure(one: Diagnosed) -> Iterator[str]:
    names = ", ".join(map(_code, one.cases[:NAMED]))
    more = f" and {len(one.cases) - NAMED} more" if len(one.cases) > NAMED else ""
    yield f"## {names}{more}"
    yield ""
    if one.result is None:
        yield f"Not located: {_plain(one.trouble)}"
        return
    if symptom := one.result["symptom"]:
        place = f" ({_code(_place(symptom))})" if symptom["file"] else ""
        yield f"**{_plain(symptom['text'])}**{place}"
        yield ""
    ranking = one.result["ranking"][:STATEMENTS]
    for entry in ranking:
        yield f"{entry['rank']}. {_code(_place(entry))} {_code(one.line(entry['file'], entry['line']).strip())}"
        yield from (f"   - {_plain(reason['text'])}" for reason in entry["evidence"].get("reasons", [])[:REASONS])
    if not ranking:
        yield "No statement was found."
    yield from _since(one.result.get("changes"))
    yield from _change(one, ranking)
    yield from _way(one.result)


def _since(changes: Mapping[str, Any] | None) -> Iterator[str]:
    """The changes since a version that are needed, as a diff."""
    if changes is None:
        return
    count = f"{len(changes['needed'])} of {plural(changes['changes'], 'change')}"
    yield from ("", f"Needed for the failure, {count} since {_code(changes['since'])}:", "")
    for change in changes["needed"]:
        before, after = change["before"].splitlines(), change["after"].splitlines()
        yield from _diff(change["file"], change["line"], before, after)


def _change(one: Diagnosed, ranking: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The first change of a shown line that was compiled and with which all cases pass, as a diff."""
    assert one.result is not None
    shown = {(entry["file"], entry["line"]) for entry in ranking}
    for rule in one.result.get("rules", []):
        before = one.line(rule["file"], rule["line"])
        if rule.get("confirmed") and not rule["broken"] and (rule["file"], rule["line"]) in shown and before:
            after = before.replace(rule["before"], rule["after"], 1)
            yield from ("", f"With this change ({_plain(rule['confirmation'])}):", "")
            yield from _diff(rule["file"], rule["line"], [before], [after])
            return


def _diff(file: str, line: int, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Lines that became others at a line, fenced by more backticks than stand in them."""
    texts = [*(f"-{visible(text)}" for text in before), *(f"+{visible(text)}" for text in after)]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(texts))), default=0))
    yield from (f"{fence}diff", f"@@ {visible(file)}:{line} @@", *texts, fence)


def _way(result: Mapping[str, Any]) -> Iterator[str]:
    """The steps from the root to the failure."""
    steps = (result.get("chain") or {}).get("steps", [])
    if steps:
        reference = _plain(result["chain"]["reference"]["text"])
        yield from ("", f"How it came to the failure, compared with {reference}:", "")
    for step in steps[:STEPS]:
        right = f" (there {_plain(step['reference'])})" if step.get("reference") else ""
        yield f"1. {_code(_place(step))} {_plain(step['text'])}{right}"
    if len(steps) > STEPS:
        yield f"1. … and {len(steps) - STEPS} more"


def _place(item: Mapping[str, Any]) -> str:
    return f"{item['file']}:{item['line']}"


def _code(text: str) -> str:
    return f"<code>{_escaped(text).replace('`', '&#96;')}</code>" if text else ""


def _plain(text: str) -> str:
    """A sentence that is shown as it is: nothing in it is markup but the backticks around code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", _escaped(text)).replace("`", "&#96;")


def _escaped(text: str) -> str:
    return "".join(f"&#{ord(one)};" if one in SPECIAL else one for one in visible(text))
