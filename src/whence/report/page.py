"""What the HTML page holds: a bounded choice of findings and source, all of it plain text and JSON values.

A page without bounds kills browsers: a ranking may have a hundred thousand statements, a trace millions of
values. So each kind of content has a limit here, and ``left_out`` says in words what a limit cut. Sources, and what is
known of single lines, are packed: the browser unpacks them when they are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from whence.findings import Entry, Findings, Statement, plural
from whence.report.functions import Function, function_at, functions
from whence.report.heat import heats
from whence.report.pack import packed
from whence.report.text import (
    change_outcome,
    clip,
    edge_text,
    is_suggested,
    rank_range,
    score_text,
    source_line,
    value_text,
    visible,
)

ENTRIES = 200  # ranked statements listed
SLICE_LINES = 1000  # lines of the slice, those nearest to the criterion
VALUES = 20  # values at a line in the failing run, and in passing runs, shared by its variables
NAMES = 10  # variables at a line
EDGES = 20  # dependences of a line
CHANGES = 5  # suggested changes of a line
REASONS = 10  # for the place of one statement
TEXT = 600  # characters of a sentence
NAME = 200  # characters of an expression
SOURCE = 400  # characters of a source line
PACKED = 3_200_000  # characters of all packed sources: those of 250,000 lines of C
HEAT_STEPS = 9
COUNTS = ("failing", "failing_total", "passing", "passing_total")


class Sources:
    """The sources of findings: lines as they are shown, and the function of a line."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self._lines: dict[str, list[str]] = {}
        self._functions: dict[str, list[Function]] = {}

    def lines(self, file: str) -> list[str]:
        """The lines of a file as they stand there; none where it is not available."""
        if file not in self._lines:
            text = self.texts.get(file, "")
            self._lines[file] = text.removesuffix("\n").split("\n") if text else []  # a form feed ends no line
        return self._lines[file]

    def line(self, at: Statement) -> str:
        """A line as shown; empty where it is not there."""
        lines = self.lines(at.file)
        return clip(source_line(lines[at.line - 1]), SOURCE) if 0 < at.line <= len(lines) else ""

    def functions(self, file: str) -> list[Function]:
        """The functions of a file, as far as its text tells."""
        if file not in self._functions:
            self._functions[file] = functions(self.texts.get(file, ""))
        return self._functions[file]

    def function(self, at: Statement) -> str:
        """The name of the function that a line is in, or empty."""
        return visible(function_at(self.functions(at.file), at.line))


@dataclass(slots=True)
class Page:
    """All that stands on the page; ``data`` goes into it as JSON.

    ``heat`` has a step from 0 to ``HEAT_STEPS`` and ``ranks`` a rank range for every ranked statement. ``details`` is
    what is known of single lines, by place.
    """

    title: str
    heat: dict[Statement, int]
    ranks: dict[Statement, str]
    symptom: Statement | None
    sliced: set[Statement] = field(default_factory=set)
    details: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def cut(self, items: list[Any], limit: int, what: str) -> list[Any]:
        """The first items; what a limit leaves out is noted."""
        if len(items) > limit:
            self.left_out.append(f"{plural(len(items) - limit, what)} beyond the first {limit:,}")
        return items[:limit]


def place(statement: Statement) -> str:
    """``file:line`` as the page has it."""
    return f"{visible(statement.file)}:{statement.line}"


def build_page(findings: Findings, sources: Sources) -> Page:
    """Choose what the page shows of the findings' ranking, slice, values and source."""
    entries = findings.ranking
    page = Page(
        title=visible(findings.subject),
        heat={e.statement: round(h * HEAT_STEPS) for e, h in zip(entries, heats(entries), strict=True)},
        ranks={e.statement: rank_range(e.rank, e.rank_worst) for e in entries},
        symptom=findings.symptom.statement if findings.symptom else None,
    )
    page.details["slice"] = _slice(page, findings)
    shown = page.cut(entries, ENTRIES, "ranked statement")
    places = _places(page, shown, findings)
    page.details |= {
        "values": _values(findings, places),
        "formulas": _formulas(findings),
        "branches": _branches(findings),
        "changes": _changes(findings),
    }
    page.data = {
        "entries": [_entry(page, entry, sources) for entry in shown],
        "files": list(_files(page, places, sources)),
        "code": _code(page, places, sources),
        "symptom": place(page.symptom) if page.symptom else None,
        "direction": findings.parts.get("criterion", {}).get("direction", "backward"),
        "details": packed(page.details),
    }
    return page


def _places(page: Page, shown: list[Entry], findings: Findings) -> list[Statement]:
    """The statements that matter, most suspicious first, then the symptom, the chain and the slice; no repetition."""
    ranked = [entry.statement for entry in shown]
    symptom = [page.symptom] if page.symptom else []
    steps = findings.parts.get("chain", {}).get("steps", [])
    chain = [Statement(step["file"], step["line"]) for step in steps if step["file"]]
    return list(dict.fromkeys([*ranked, *symptom, *chain, *sorted(page.sliced)]))


def _entry(page: Page, entry: Entry, sources: Sources) -> dict[str, Any]:
    """A row of the ranked list. Evidence beside the sentence and the counts is kept when it is a plain value."""
    evidence = entry.evidence
    plain = {k: v for k, v in evidence.items() if isinstance(v, str | int | float | bool)}
    return {
        "file": visible(entry.statement.file),
        "line": entry.statement.line,
        "function": sources.function(entry.statement),
        "rank": page.ranks[entry.statement],
        "score": score_text(entry.score),
        "heat": page.heat[entry.statement],
        "reasons": [text for _, text in reasons_of(evidence)],
        "techniques": list(dict.fromkeys(name for name, _ in reasons_of(evidence) if name)),
        "counts": [evidence[k] for k in COUNTS] if evidence.keys() >= set(COUNTS) else None,
        "more": {visible(k).replace("_", " "): value_text(v) for k, v in plain.items() if k not in {"text", *COUNTS}},
    }


def reasons_of(evidence: dict[str, Any]) -> list[tuple[str, str]]:
    """Why a statement stands where it does, the strongest reason first: technique (or empty) and text."""
    text = str(evidence.get("text", ""))
    reasons = evidence.get("reasons", [{"text": text}] if text else [])
    return [(visible(str(r.get("technique", ""))), clip(visible(str(r["text"])), TEXT)) for r in reasons[:REASONS]]


def _slice(page: Page, findings: Findings) -> dict[str, dict[str, Any]]:
    """The slice by place, nearest to the criterion first."""
    nearest = sorted(findings.parts.get("slice", []), key=lambda at: (at["depth"], at["file"], at["line"]))
    shown = {}
    for at in page.cut(nearest, SLICE_LINES, "slice line"):
        statement = Statement(at["file"], at["line"])
        page.sliced.add(statement)
        shown[place(statement)] = {
            "depth": at["depth"],
            "instances": at["instances"],
            "values": _grouped(at["values"]),
            "edges": [_edge(edge) for edge in at["edges"][:EDGES]],
            "more": max(0, len(at["edges"]) - EDGES),
        }
    return shown


def _edge(edge: dict[str, Any]) -> dict[str, Any]:
    return {
        "to": place(Statement(edge["to_file"], edge["to_line"])),
        "kind": edge["kind"],
        "name": clip(visible(edge["name"]), NAME),
        "text": edge_text(clip(edge["name"], NAME), edge["value"], clip(edge.get("skipped", ""), NAME)),
    }


def _grouped(values: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Values in order of the run by variable, equal ones in a row as one: ``[value, first clock, times]``."""
    groups: dict[str, list[list[Any]]] = {}
    for value in values:
        stays = groups.setdefault(clip(visible(value["name"]), NAME), [])
        text = value_text(value["value"])
        if stays and stays[-1][0] == text:
            stays[-1][2] += 1
        else:
            stays.append([text, value["clock"], 1])
    return _bounded(groups, last=True)


def _bounded(groups: dict[str, list[Any]], last: bool = False) -> dict[str, Any]:
    """The first variables, each with its share of a line's values (the first, or the last), and how many more."""
    share = VALUES // max(1, min(len(groups), NAMES))
    variables = [
        {
            "name": name,
            "values": values[-share:] if last else values[:share],
            "more": max(0, len(values) - share),
        }
        for name, values in list(groups.items())[:NAMES]
    ]
    return {"variables": variables, "more": len(groups) - len(variables)}


def _values(findings: Findings, places: list[Statement]) -> dict[str, Any]:
    """The part ``values`` for the places that matter."""
    known = findings.parts.get("values", {})
    shown = {}
    for statement in places:
        if at := known.get(f"{statement.file}:{statement.line}"):
            passing, failing = at.get("passing", []), at.get("failing", [])
            groups = {clip(visible(p["name"]), NAME): [value_text(v) for v in p["values"]] for p in passing}
            cases = {clip(visible(p["name"]), NAME): p["cases"] for p in passing}
            shown[place(statement)] = {
                "failing": _grouped(failing),
                "passing": _bounded(groups),
                "cases": cases,
            }
    return shown


def _formulas(findings: Findings) -> dict[str, list[list[str]]]:
    """By place, a row a formula: name, score, best, average and worst rank."""
    return {
        place(Statement(row["file"], row["line"])): [
            [visible(name), score_text(f["score"]), str(f["best"]), f"{f['average']:g}", str(f["worst"])]
            for name, f in row["formulas"].items()
        ]
        for row in findings.parts.get("formulas", [])[:ENTRIES]
    }


def _branches(findings: Findings) -> dict[str, list[list[str]]]:
    """By place, a row a side of a branch: side, rank range and text."""
    shown: dict[str, list[list[str]]] = {}
    for at in findings.parts.get("branches", [])[:ENTRIES]:
        rows = shown.setdefault(place(Statement(at["file"], at["line"])), [])
        rows.append([visible(at["side"]), rank_range(at["rank"], at["rank_worst"]), visible(at["text"])])
    return shown


def _changes(findings: Findings) -> dict[str, list[dict[str, Any]]]:
    """By place, the first rules: the change in words, the line before and after it, and what it did to the cases."""
    shown: dict[str, list[dict[str, Any]]] = {}
    for rule in filter(is_suggested, findings.parts.get("rules", [])):
        at = place(Statement(rule["file"], rule["line"]))
        if len(shown.setdefault(at, [])) < CHANGES and len(shown) <= ENTRIES:
            lines = {
                key: None if rule[key] is None else clip(source_line(rule[key]), SOURCE) for key in ("before", "after")
            }
            shown[at].append({"words": clip(visible(rule["rule"]), TEXT), "outcome": change_outcome(rule), **lines})
    return {at: rules for at, rules in shown.items() if rules}


def _code(page: Page, places: list[Statement], sources: Sources) -> dict[str, str]:
    """The text of the lines that the page mentions, which are seen before their files are unpacked."""
    mentioned = dict.fromkeys(place(statement) for statement in places)
    mentioned |= dict.fromkeys(edge["to"] for at in page.details["slice"].values() for edge in at["edges"])
    names = {visible(name): name for name in sources.texts}
    split = {at: at.rpartition(":") for at in mentioned}
    texts = {
        at: sources.line(Statement(names[file], int(line))).strip()
        for at, (file, _, line) in split.items()
        if file in names
    }
    return {at: text for at, text in texts.items() if text}


def _files(page: Page, places: list[Statement], sources: Sources) -> Iterator[dict[str, Any]]:
    """The files of the places with their packed contents, until the room is used up."""
    room = PACKED
    ranked: dict[str, list[Statement]] = {}
    for statement in page.ranks:
        ranked.setdefault(statement.file, []).append(statement)
    for name in dict.fromkeys(statement.file for statement in places):
        if name not in sources.texts:
            page.left_out.append(f"{visible(name)}: its source is not available")
            continue
        lines = [clip(source_line(line), SOURCE) for line in sources.lines(name)]
        ranks = [[s.line, page.ranks[s], page.heat[s]] for s in ranked.get(name, [])]
        content = packed({"text": "\n".join(lines), "ranks": ranks, "functions": sources.functions(name)})
        if len(content) > room:
            page.left_out.append(f"{visible(name)}: its source has no room in this page")
            continue
        room -= len(content)
        yield {"name": visible(name), "lines": len(lines), "content": content}
