"""The sections of the HTML page, in their order: what failed, the first suspect, how it came about, why it had to.

Each part is a dictionary of texts that are ready for the template, or nothing where the findings have none.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from whence.findings import Findings, Statement, plural
from whence.report.difference import of_line, of_text, unified
from whence.report.pack import packed
from whence.report.page import NAME, SOURCE, TEXT, Page, Sources, place, reasons_of
from whence.report.since import since_lines
from whence.report.text import (
    SAME_PLACE,
    call_text,
    change_outcome,
    clauses,
    clip,
    joined,
    source_line,
    suggested_changes,
    value_text,
    visible,
)

AROUND = 2  # lines around the first suspect
CAUSES = 300  # nodes of a tree of causes, and lines of one of them
CAUSE_LINES = 12
STEPS = 300  # of a chain
EDITS = 5

Part = dict[str, Any]


def symptom(findings: Findings) -> Part | None:
    """What failed: the process, the outputs as a diff, the open calls and the standard error."""
    found = findings.symptom
    if found is None:
        return None
    details = found.details
    return {
        "kind": found.kind.replace("-", " "),
        "text": found.text,
        "place": place(found.statement) if found.statement else "",
        "label": str(details.get("label", "")),
        "process": str(details.get("process", "")),
        "rows": _outputs(findings),
        "stack": _stack(details.get("stack")),
        "errors": joined(details["stderr"], "line", source_line) if details.get("stderr") else [],
    }


def timeline(page: Page, drawn: dict[str, Any] | None) -> str:
    """What the timeline of the failing run holds, in words; empty: there is none. The page's data has it packed."""
    if drawn is None or not drawn["instants"]:
        return ""
    page.data["timeline"] = packed(
        drawn
        | {
            "files": [visible(file) for file in drawn["files"]],
            "calls": [[clip(visible(name), NAME), *rest] for name, *rest in drawn["calls"]],
            "instants": [[*at, [_value(*value) for value in values]] for *at, values in drawn["instants"]],
        }
    )
    shown, steps = len(drawn["instants"]), drawn["steps"]
    text = "The failing run from its beginning to its end. Click at a call to go to what happened there."
    if not drawn["is_whole"]:
        kept = "those at which something of the slice happened, and the last ones"
        text += f" Of {plural(steps, 'instant')} the page has {shown:,}: {kept}."
    if drawn["undrawn"]:
        text += f" {plural(drawn['undrawn'], 'short or deep call')} are not drawn."
    return text


def _value(name: str, value: str, role: str, writer: int | str | None) -> list[Any]:
    by = visible(writer) if isinstance(writer, str) else writer
    return [clip(visible(name), NAME), value_text(value), role, by]


def _outputs(findings: Findings) -> list[Part]:
    """What was expected and what was printed, as rows of a diff."""
    compared = findings.symptom.compared if findings.symptom else None
    if compared is None:
        return []
    expected, printed = ([source_line(line) for line in lines] for lines in (compared.expected, compared.actual))
    rows = unified(expected, printed, compared.first)
    return [row | {"number": ""} for row in rows] if compared.is_binary else rows


def _stack(stack: Part | None) -> list[tuple[str, str]]:
    """Text and place (empty: none) of each open call."""
    if not stack:
        return []
    known = [*stack["first"], *stack["last"]]
    places = {call_text(c): place(Statement(c["file"], c["line"])) for c in known if c["file"]}
    return [(text, places.get(text, "")) for text in joined(stack, "call", call_text)]


def suspect(page: Page, findings: Findings, sources: Sources) -> Part | None:
    """The first statement of the ranking, with the best change of it that is suggested, and why it is there."""
    if not findings.ranking:
        return None
    entry = findings.ranking[0]
    at = entry.statement
    rules = [rule for rule in suggested_changes(findings) if (rule["file"], rule["line"]) == (at.file, at.line)]
    rule = rules[0] if rules else None
    reasons = reasons_of(entry.evidence)
    if rule is not None:  # which the reason of its technique would tell once more
        reasons = [reason for reason in reasons if reason[0] != "rules"]
    return {
        "place": place(at),
        "rank": page.ranks[at],
        "tied": entry.rank_worst - entry.rank,
        "function": sources.function(at),
        "rows": _change(rule, sources) or _surroundings(at, sources),
        "change": rule is not None,
        "words": rule["rule"] if rule is not None else "",
        "outcome": change_outcome(rule) if rule is not None else "",
        "reasons": [clause for _, text in reasons for clause in clauses(text)],
    }


def _change(rule: Part | None, sources: Sources) -> list[Part]:
    if rule is None or rule["after"] is None or rule["before"] is None:
        return []
    return of_line(sources.lines(rule["file"]), rule["line"], rule["before"], rule["after"])


def _surroundings(at: Statement, sources: Sources) -> list[Part]:
    """Rows with the line, marked, and those around it."""
    last = min(len(sources.lines(at.file)), at.line + AROUND)
    rows = []
    for number in range(max(1, at.line - AROUND), last + 1):
        text = sources.line(Statement(at.file, number))
        code = text.lstrip()
        rows.append(
            {"sign": " ", "number": number, "parts": [[text.removesuffix(code), False], [code, number == at.line]]}
        )
    return rows


def edits(findings: Findings) -> list[Part]:
    """The first edits of ``whence fix`` as diffs."""
    return [
        {
            "place": place(Statement(edit["file"], edit["line"])),
            "words": ", ".join(edit["descriptions"]),
            "passes": edit["passes"],
            "checked": edit["checked"],
            "rows": of_text(edit["diff"]),
        }
        for edit in findings.parts.get("edits", [])[:EDITS]
    ]


def changes(findings: Findings) -> list[str]:
    """The changes since a version that are needed, as lines; the first one is a title."""
    found = findings.parts.get("changes")
    return [text for text, _ in since_lines(found)] if found else []


def tree(page: Page, findings: Findings, sources: Sources) -> list[Part]:
    """The roots of the tree of causes, each with its children in it."""
    nodes = sorted(findings.parts.get("tree", {}).get("nodes", []), key=lambda node: (node["level"], node["number"]))
    shown: dict[int | None, Part] = {None: {"children": []}}
    for node in page.cut(nodes, CAUSES, "cause"):
        shown[node["number"]] = {
            **_seen(node, sources),
            "indirect": node["kind"] == "indirect",
            "instances": node["instances"],
            "text": clip(visible(node["contradiction"] or node["goal"]), TEXT),
            "lines": [
                {**_seen(line, sources), "deed": clip(visible(line["deed"]), TEXT)}
                for line in node["cause"][:CAUSE_LINES]
            ],
            "more": max(0, len(node["cause"]) - CAUSE_LINES),
            "notes": [visible(note) for note in node["notes"]],
            "children": [],
        }
        shown[node["parent"]]["children"].append(shown[node["number"]])
    return list(shown[None]["children"])


def chain(page: Page, findings: Findings, sources: Sources) -> list[Part]:
    """The steps of a chain in order of time, grouped by the functions that they are in.

    ``call``: the group's function is called in this run alone, not in the one that it was compared with. ``runs``: the
    group's steps, parted where those between the first and the last of many at one place stand folded.
    """
    found = findings.parts.get("chain") or {"steps": []}
    groups: list[Part] = []
    for number, step in page.cut(list(enumerate(found["steps"], 1)), STEPS, "step"):
        seen = _seen(step, sources)
        call = visible(step["call"])
        function = call or (sources.function(Statement(step["file"], step["line"])) if step["file"] else "")
        if not groups or (groups[-1]["function"], groups[-1]["call"]) != (function, call):
            groups.append({"function": function, "call": call, "steps": []})
        told = {"number": number, **seen, "leads_to": [other + 1 for other in step["leads_to"]]}
        told |= {"text": clip(visible(step["text"]), TEXT), "reference": clip(visible(step["reference"]), TEXT)}
        groups[-1]["steps"].append(told | {"gap": number == found["gap"]})
    return [group | {"runs": _folded(group["steps"])} for group in groups]


def _folded(steps: list[Part]) -> list[Part]:
    """Steps as runs that stand open or folded: ``steps`` and ``is_folded``."""
    runs: list[Part] = []
    for _, members in groupby(steps, lambda step: step["place"]):
        mine = list(members)
        parts = [mine] if len(mine) <= SAME_PLACE else [mine[:1], mine[1:-1], mine[-1:]]
        runs += [{"steps": part, "is_folded": number == 1} for number, part in enumerate(parts)]
    return runs


def _seen(at: Part, sources: Sources) -> dict[str, str]:
    """The place of a cause or of one of its lines, and the text there; empty where there is none."""
    if not at["file"]:
        return {"place": "", "source": ""}
    statement = Statement(at["file"], at["line"])
    return {"place": place(statement), "source": clip(sources.line(statement).strip(), SOURCE)}
