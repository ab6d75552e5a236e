"""What the HTML page holds: a bounded choice of findings and source, all of it plain text and JSON values.

A page without bounds kills browsers: a ranking may have a hundred thousand statements, a trace millions of
values. So each kind of content has a limit here, and ``left_out`` says in words what a limit cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from whence.findings import Findings, Statement, plural
from whence.report.excerpt import Stretch, excerpt
from whence.report.heat import heats
from whence.report.since import since_lines
from whence.report.text import (
    call_text,
    change_outcome,
    clip,
    edge_text,
    is_suggested,
    joined,
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
CAUSES = 300  # nodes of a tree of causes, and lines of one of them
CAUSE_LINES = 12
STEPS = 300  # of a chain
WHOLE_FILE = 1500  # lines of a file up to which it is shown entirely
FILE_LINES = 4000  # lines shown of one longer file
ALL_LINES = 20_000  # lines shown of all files
REASONS = 10  # for the place of one statement
TEXT = 600  # characters of a sentence
SOURCE = 400  # characters of a source line
HEAT_STEPS = 9
COUNTS = ("failing", "failing_total", "passing", "passing_total")

Mark = dict[int, str]


@dataclass(slots=True)
class SourceFile:
    """A file of the page: its stretches, and the text of each shown line."""

    name: str
    stretches: list[Stretch]
    lines: dict[int, str]


@dataclass(slots=True)
class Page:
    """All that the template needs; ``data`` goes into the page as JSON.

    ``heat`` has a step from 0 to ``HEAT_STEPS`` and ``ranks`` a rank range for every ranked statement.
    """

    title: str
    data: dict[str, Any]
    files: list[SourceFile]
    heat: dict[Statement, int]
    ranks: dict[Statement, str]
    sliced: set[Statement]
    symptom: Statement | None
    stack: list[tuple[str, str]] = field(default_factory=list)  # text and place ("": none) of each open call
    errors: list[str] = field(default_factory=list)
    process: str = ""
    since: list[str] = field(default_factory=list)  # the changes since a version that are needed; the first is a title
    left_out: list[str] = field(default_factory=list)
    tree: list[dict[str, Any]] = field(default_factory=list)
    chain: list[dict[str, Any]] = field(default_factory=list)  # the steps, grouped by calls that only this run makes


def build_page(findings: Findings, sources: dict[str, str]) -> Page:
    """Choose what the page shows of the findings; ``sources`` maps the findings' file names to their text."""
    entries = findings.ranking
    page = Page(
        title=visible(findings.subject),
        data={},
        files=[],
        heat={e.statement: round(h * HEAT_STEPS) for e, h in zip(entries, heats(entries), strict=True)},
        ranks={e.statement: rank_range(e.rank, e.rank_worst) for e in entries},
        sliced=set(),
        symptom=findings.symptom.statement if findings.symptom else None,
    )
    if findings.symptom:
        _add_context(page, findings.symptom.details)
    if "changes" in findings.parts:
        page.since = [text for text, _ in since_lines(findings.parts["changes"])]
    page.data["slice"] = _slice(page, findings)
    page.data["entries"] = _entries(page, findings)
    page.tree = _tree(page, findings, {name: text.split("\n") for name, text in sources.items()})
    page.chain = _chain(page, findings, {name: text.split("\n") for name, text in sources.items()})
    page.files = _files(page, _places(page, findings), sources)
    page.data |= {
        "files": [visible(file.name) for file in page.files],
        "symptom": _place(page.symptom) if page.symptom else None,
        "direction": findings.parts.get("criterion", {}).get("direction", "backward"),
        "values": _values(findings, _places(page, findings)),
        "formulas": _formulas(findings),
        "branches": _branches(findings),
        "changes": _changes(findings),
        "ranks": _further_ranks(page, findings),
    }
    return page


def _add_context(page: Page, details: dict[str, Any]) -> None:
    """The process, the open calls and the standard error beside the symptom; the technique has bounded them."""
    page.process = visible(str(details.get("process", "")))
    if errors := details.get("stderr"):
        page.errors = [visible(text) for text in joined(errors, "line", str)]
    if stack := details.get("stack"):
        known = [*stack["first"], *stack["last"]]
        places = {call_text(c): _place(Statement(c["file"], c["line"])) for c in known if c["file"]}
        page.stack = [(visible(text), places.get(text, "")) for text in joined(stack, "call", call_text)]


def _place(statement: Statement) -> str:
    return f"{visible(statement.file)}:{statement.line}"


def _places(page: Page, findings: Findings) -> list[Statement]:
    """The statements that matter, most suspicious first, then the symptom and the slice; no repetition."""
    ranked = [entry.statement for entry in findings.ranking[:ENTRIES]]
    symptom = [page.symptom] if page.symptom else []
    return list(dict.fromkeys([*ranked, *symptom, *sorted(page.sliced)]))


def _cut(page: Page, items: list[Any], limit: int, what: str) -> list[Any]:
    if len(items) > limit:
        page.left_out.append(f"{plural(len(items) - limit, what)} beyond the first {limit:,}")
    return items[:limit]


def _entries(page: Page, findings: Findings) -> list[dict[str, Any]]:
    """The ranked list. Evidence beside the sentence and the counts is kept when it is a plain value."""
    shown = []
    for entry in _cut(page, findings.ranking, ENTRIES, "ranked statement"):
        evidence = entry.evidence
        plain = {k: v for k, v in evidence.items() if isinstance(v, str | int | float | bool)}
        others = {visible(k).replace("_", " "): value_text(v) for k, v in plain.items() if k not in {"text", *COUNTS}}
        shown.append(
            {
                "file": visible(entry.statement.file),
                "line": entry.statement.line,
                "rank": page.ranks[entry.statement],
                "score": score_text(entry.score),
                "heat": page.heat[entry.statement],
                "reasons": _reasons(evidence),
                "counts": [evidence[k] for k in COUNTS] if evidence.keys() >= set(COUNTS) else None,
                "more": others,
            }
        )
    return shown


def _reasons(evidence: dict[str, Any]) -> list[str]:
    """Why a statement stands where it does, the strongest reason first."""
    text = str(evidence.get("text", ""))
    reasons = evidence.get("reasons", [{"text": text}] if text else [])
    return [clip(visible(str(reason["text"])), TEXT) for reason in reasons[:REASONS]]


def _slice(page: Page, findings: Findings) -> dict[str, dict[str, Any]]:
    """The slice by place, nearest to the criterion first."""
    nearest = sorted(findings.parts.get("slice", []), key=lambda at: (at["depth"], at["file"], at["line"]))
    shown = {}
    for at in _cut(page, nearest, SLICE_LINES, "slice line"):
        statement = Statement(at["file"], at["line"])
        page.sliced.add(statement)
        shown[_place(statement)] = {
            "depth": at["depth"],
            "instances": at["instances"],
            "values": _grouped(at["values"]),
            "edges": [_edge(edge) for edge in at["edges"][:EDGES]],
            "more": max(0, len(at["edges"]) - EDGES),
        }
    return shown


def _edge(edge: dict[str, Any]) -> dict[str, Any]:
    return {
        "to": _place(Statement(edge["to_file"], edge["to_line"])),
        "kind": edge["kind"],
        "text": edge_text(clip(edge["name"], TEXT), edge["value"], clip(edge.get("skipped", ""), TEXT)),
    }


def _grouped(values: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Values in order of the run by variable, equal ones in a row as one: ``[value, first clock, times]``."""
    groups: dict[str, list[list[Any]]] = {}
    for value in values:
        stays = groups.setdefault(clip(visible(value["name"]), TEXT), [])
        text = value_text(value["value"])
        if stays and stays[-1][0] == text:
            stays[-1][2] += 1
        else:
            stays.append([text, value["clock"], 1])
    return _bounded(groups)


def _bounded(groups: dict[str, list[Any]]) -> dict[str, Any]:
    """The first variables, each with its share of the values of a line, and how many more there are."""
    share = VALUES // max(1, min(len(groups), NAMES))
    variables = [
        {"name": name, "values": values[:share], "more": max(0, len(values) - share)}
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
            groups = {clip(visible(p["name"]), TEXT): [value_text(v) for v in p["values"]] for p in passing}
            cases = {clip(visible(p["name"]), TEXT): p["cases"] for p in passing}
            shown[_place(statement)] = {
                "failing": _grouped(failing),
                "passing": _bounded(groups),
                "cases": cases,
            }
    return shown


def _formulas(findings: Findings) -> dict[str, list[list[str]]]:
    """By place, a row a formula: name, score, best, average and worst rank."""
    return {
        _place(Statement(row["file"], row["line"])): [
            [visible(name), score_text(f["score"]), str(f["best"]), f"{f['average']:g}", str(f["worst"])]
            for name, f in row["formulas"].items()
        ]
        for row in findings.parts.get("formulas", [])[:ENTRIES]
    }


def _branches(findings: Findings) -> dict[str, list[list[str]]]:
    """By place, a row a side of a branch: side, rank range, sentence."""
    shown: dict[str, list[list[str]]] = {}
    for at in findings.parts.get("branches", [])[:ENTRIES]:
        rows = shown.setdefault(_place(Statement(at["file"], at["line"])), [])
        rows.append([visible(at["side"]), rank_range(at["rank"], at["rank_worst"]), visible(at["text"])])
    return shown


def _changes(findings: Findings) -> dict[str, list[dict[str, Any]]]:
    """By place, the first rules: the change in words, the line before and after it, and what it did to the cases."""
    shown: dict[str, list[dict[str, Any]]] = {}
    for rule in filter(is_suggested, findings.parts.get("rules", [])):
        place = _place(Statement(rule["file"], rule["line"]))
        if len(shown.setdefault(place, [])) < CHANGES and len(shown) <= ENTRIES:
            lines = {
                key: None if rule[key] is None else clip(source_line(rule[key]), SOURCE) for key in ("before", "after")
            }
            shown[place].append({"words": clip(visible(rule["rule"]), TEXT), "outcome": change_outcome(rule), **lines})
    return {place: rules for place, rules in shown.items() if rules}


def _tree(page: Page, findings: Findings, sources: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The roots of the tree of causes, each with its children in it."""
    nodes = sorted(findings.parts.get("tree", {}).get("nodes", []), key=lambda node: (node["level"], node["number"]))
    shown: dict[int | None, dict[str, Any]] = {None: {"children": []}}
    for node in _cut(page, nodes, CAUSES, "cause"):
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


def _chain(page: Page, findings: Findings, sources: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The steps of a chain in order of time; those in a call that the reference run does not make stand together."""
    groups: list[dict[str, Any]] = []
    steps = list(enumerate(findings.parts.get("chain", {}).get("steps", []), 1))
    for number, step in _cut(page, steps, STEPS, "step"):
        if not groups or not step["call"] or groups[-1]["call"] != visible(step["call"]):
            groups.append({"call": visible(step["call"]), "steps": []})
        told = {"number": number, **_seen(step, sources), "leads_to": [other + 1 for other in step["leads_to"]]}
        told |= {"text": clip(visible(step["text"]), TEXT), "reference": clip(visible(step["reference"]), TEXT)}
        groups[-1]["steps"].append(told)
    return groups


def _seen(at: dict[str, Any], sources: dict[str, list[str]]) -> dict[str, str]:
    """The place of a cause or of one of its lines, and the text there; empty where there is none."""
    if not at["file"]:
        return {"place": "", "source": ""}
    lines = sources.get(at["file"], [])
    text = lines[at["line"] - 1] if 0 < at["line"] <= len(lines) else ""
    return {"place": _place(Statement(at["file"], at["line"])), "source": clip(source_line(text).strip(), SOURCE)}


def _further_ranks(page: Page, findings: Findings) -> dict[str, list[str]]:
    """Rank range and score of the shown lines that are ranked beyond the list's limit."""
    shown = {Statement(file.name, line) for file in page.files for line in file.lines}
    further = (e for e in findings.ranking[ENTRIES:] if e.statement in shown)
    return {_place(e.statement): [page.ranks[e.statement], score_text(e.score)] for e in further}


def _files(page: Page, places: list[Statement], sources: dict[str, str]) -> list[SourceFile]:
    """The files of the places, until the limit of lines is used up."""
    wanted: dict[str, set[int]] = {}
    for statement in places:
        wanted.setdefault(statement.file, set()).add(statement.line)
    files: list[SourceFile] = []
    missing, room = [], ALL_LINES
    for name, interesting in wanted.items():
        text = sources.get(name)
        file = None if text is None else _file(name, text, interesting)
        if file is None or len(file.lines) > room:
            missing.append((name, "its source is not available" if file is None else "too many lines"))
            continue
        room -= len(file.lines)
        files.append(file)
    page.left_out += [f"{visible(name)}: {reason}" for name, reason in missing]
    return files


def _file(name: str, text: str, interesting: set[int]) -> SourceFile:
    rows = text.removesuffix("\n").split("\n")  # as a compiler counts: a form feed ends no line
    stretches = excerpt(len(rows), interesting, whole=WHOLE_FILE, limit=FILE_LINES)
    numbers = [n for s in stretches if s.shown for n in range(s.first, s.last + 1)]
    return SourceFile(name, stretches, {n: clip(source_line(rows[n - 1]), SOURCE) for n in numbers})
