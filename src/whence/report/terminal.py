"""Findings on a terminal: the symptom, the ranked statements, what was done, and what to try next.

Places are written ``path:line`` and spans as rustc draws them, so that editors and terminals can follow them.
The layout is plain ASCII and complete without colour: a pipe gets the same text. Whatever comes from the
subject goes through ``visible``, and then through the encoding of the output, before it is printed. On a terminal
places are links (OSC 8) to the files, and no line is longer than it is wide, but for places, code and diffs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from whence.findings import Compared, Entry, Findings, Statement, Symptom, plural
from whence.report.difference import unified
from whence.report.fixes import apart_lines, edit_lines, suggestion_lines
from whence.report.heat import heats
from whence.report.screen import SourceLookup
from whence.report.since import since_lines
from whence.report.text import (
    SAME_PLACE,
    call_text,
    change_outcome,
    clauses,
    edge_text,
    joined,
    rank_range,
    score_text,
    source_line,
    suggested_changes,
    value_text,
    visible,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style

Segment = tuple[str, str]  # text and style

PIPED_WIDTH = 100
VALUES_SHOWN = 6
EDGES_SHOWN = 6
NOTHING: dict[str, Any] = {"first": [], "left_out": 0, "last": []}
CHANGES_SHOWN = 5  # suggested changes, of as many statements
STEPS_SHOWN = 6  # of a chain beside a ranking
EVIDENCE_LINES = 5  # of one statement, the strongest reasons first
OUTPUT_LINES = 4  # of a wrong output, with those that were expected

DIM, STRONG, PLACE = "dim", "bold", "cyan"
HEAT_STYLES = ((0.8, "bold red"), (0.5, "yellow"), (0.0, ""))


def make_console(width: int | None = None, file: TextIO | None = None) -> Console:
    """A console on ``file`` (standard output): colours only on a terminal and without ``NO_COLOR``.

    ``width`` in columns; by default the terminal's, and 100 when piped.
    """
    from rich.console import Console

    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False)
    if width is None and not console.is_terminal:
        console.width = PIPED_WIDTH
    return console


def print_findings(
    findings: Findings,
    source_lookup: SourceLookup,
    *,
    console_width: int | None = None,
    limit: int = 10,
    console: Console | None = None,
    folder: Path | None = None,
) -> None:
    """Print the symptom, the first ``limit`` ranked statements, what was done, and the commands to try next.

    What makes all of it doubtful stands above everything.

    ``source_lookup`` gives the text of a source line. ``console`` is where to print, by default a new one on
    standard output, ``console_width`` columns wide. Places are links where ``folder``, which they are relative to, is
    given.
    """
    page = _Page(console or make_console(console_width), source_lookup, folder)
    _print_warnings(page, findings)
    if findings.symptom:
        _print_symptom(page, findings.symptom)
        page.line()
    if findings.technique == "fix":
        _print_fixes(page, findings.parts)
    elif findings.technique != "chain":
        _print_ranking(page, findings, limit)
    if "chain" in findings.parts:
        _print_chain(page, findings.parts["chain"], None if findings.technique == "chain" else STEPS_SHOWN)
    _print_since(page, findings.parts.get("changes"))
    _print_changes(page, findings)
    _print_summary(page, findings)
    _print_next(page, findings.parts.get("next", []))


def print_slice(
    findings: Findings,
    source_lookup: SourceLookup,
    *,
    console_width: int | None = None,
    limit: int = 40,
    console: Console | None = None,
    folder: Path | None = None,
) -> None:
    """Print the ``limit`` lines of ``parts["slice"]`` nearest to the criterion, with values and edges."""
    page = _Page(console or make_console(console_width), source_lookup, folder)
    _print_warnings(page, findings)
    for text in findings.summary:
        page.line((text, ""))
    lines = sorted(findings.parts.get("slice", []), key=lambda at: (at["depth"], at["file"], at["line"]))
    criterion = findings.parts.get("criterion", {})
    page.line()
    page.line((_slice_title(lines, criterion), STRONG))
    if findings.symptom:
        _print_context(page, findings.symptom.details)
    arrow = "->" if criterion.get("direction") == "forward" else "<-"
    for at in lines[:limit]:
        _print_slice_line(page, at, arrow)
    if len(lines) > limit:
        page.line()
        page.line((f"{plural(len(lines) - limit, 'line')} of the slice farther away not shown", DIM))
    _print_next(page, findings.parts.get("next", []))


class _Page:
    """Lines of styled text on a console, with everything unprintable made visible."""

    def __init__(self, console: Console, source_lookup: SourceLookup, folder: Path | None = None) -> None:
        self.console = console
        self.source_lookup = source_lookup
        self.folder = folder

    def line(self, *segments: Segment) -> None:
        """One line, never broken: places in it stay whole."""
        from rich.text import Text

        parts = [(self._fit(text), self._linked(text, style)) for text, style in segments]
        self.console.print(Text.assemble(*parts), soft_wrap=True)

    def _linked(self, text: str, style: str) -> str | Style:
        """The style, for a place on a terminal with a link to its line (``file:///path#line``)."""
        place = re.fullmatch(r"(.+?):(\d+)(:\d+)?", text) if style == PLACE and self.folder else None
        path = self.folder / place[1] if self.folder and place else None
        if path is None or place is None or not self.console.is_terminal or not path.is_file():
            return style
        from rich.style import Style

        return Style.parse(style) + Style(link=f"{path.resolve().as_uri()}#{place[2]}")

    def as_it_is(self, text: str, style: str = "") -> None:
        """One line, never broken; piped, its tabs stay tabs, which rich would expand."""
        if self.console.is_terminal:
            self.line((text.expandtabs(), style))
        else:
            self.console.file.write("\t".join(self._fit(part) for part in text.split("\t")) + "\n")

    def wrapped(self, lead: str, text: str, style: str = "") -> None:
        """Text broken at the console's width; every further line is indented to the end of ``lead``."""
        for number, part in enumerate(self.broken(text, len(lead))):
            self.line((lead if number == 0 else " " * len(lead), DIM), (part, style))

    def broken(self, text: str, indentation: int) -> list[str]:
        """Text in the lines that it takes behind an indentation."""
        from rich.text import Text

        width = max(20, self.console.width - indentation)
        return [part.plain.rstrip() for part in Text(self._fit(text)).wrap(self.console, width)]

    def told(self, lead: str, text: str, style: str = "") -> None:
        """A sentence that a terminal gets broken, and a pipe whole, so that it can be searched for."""
        if self.console.is_terminal:
            self.wrapped(lead, text, style)
        else:
            self.line((lead, DIM), (text, style))

    def source(self, at: Statement, lead: str) -> str:
        """Print a line of source without its indentation, cut to the width; gives what was printed."""
        raw = self.source_lookup(at.file, at.line)
        text = "(source not available)" if raw is None else source_line(raw).lstrip()
        room = max(20, self.console.width - len(lead))
        cut = text if len(text) <= room else text[: room - 3] + "..."
        self.line((lead, DIM), (cut, DIM if raw is None else STRONG))
        return cut

    def marked(self, at: Statement, lead: str, marks: dict[str, Any]) -> None:
        """A line of source with its number; the span at ``marks["column"]`` underlined and labelled."""
        text = self.source(at, f"{at.line:>{len(lead) - 3}} | ")
        raw = self.source_lookup(at.file, at.line)
        column = int(marks.get("column", 0))
        if raw is None or not column:
            return
        before = raw.encode(errors="replace")[: column - 1].decode(errors="ignore")
        start = len(source_line(before + "|").lstrip()) - 1
        if start < len(text):
            carets = "^" * max(1, min(int(marks.get("length", 1)), len(text) - start))
            label = f" {marks['label']}" if "label" in marks else ""
            beside = len(lead) + start + len(carets) + len(label) <= self.console.width
            self.line((lead, DIM), (" " * start + carets, "bold red"), (label if beside else "", "red"))
            if not beside:
                self.wrapped(lead, label.strip(), "red")

    def _fit(self, text: str) -> str:
        encoding = self.console.encoding
        return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def _print_warnings(page: _Page, findings: Findings) -> None:
    for text in findings.warnings:
        page.wrapped("warning: ", text, "bold red")
        page.line()


def _print_symptom(page: _Page, symptom: Symptom) -> None:
    kind = symptom.kind.replace("-", " ")
    page.wrapped("", f"{kind}: {symptom.text}", "bold red")
    if symptom.compared is not None:
        _print_compared(page, symptom.compared)
    if symptom.statement is not None:
        _print_spot(page, symptom, symptom.statement)
    _print_context(page, symptom.details)


def _print_compared(page: _Page, compared: Compared) -> None:
    """The first lines that differ, those that were expected above those that were printed."""
    rows = [row for row in unified(compared.expected, compared.actual, compared.first) if row["sign"] != " "]
    sides = {"-": ("expected", "green"), "+": ("printed ", "red")}
    for row in sorted(rows[:OUTPUT_LINES], key=lambda row: (row["number"], row["sign"] == "+")):
        name, style = sides[row["sign"]]
        text = source_line("".join(part for part, _ in row["parts"]))
        number = "" if compared.is_binary else f" {row['number']:>4}"
        page.line((f"  {name}{number} | ", DIM), (text, style))


def _print_spot(page: _Page, symptom: Symptom, at: Statement) -> None:
    gutter = " " * max(3, len(str(at.line)))
    column = f":{symptom.details['column']}" if "column" in symptom.details else ""
    page.line((gutter[1:] + "--> ", DIM), (_place(at) + column, PLACE))
    page.line((gutter + " |", DIM))
    page.marked(at, gutter + " | ", symptom.details)


def _print_context(page: _Page, details: dict[str, Any]) -> None:
    """The process, the open calls, and what went to standard error, as far as the symptom has them."""
    if process := details.get("process"):
        page.line(("    process: ", DIM), (str(process), ""))
    stack = joined(details.get("stack", NOTHING), "call", call_text)
    for number, text in enumerate(stack):
        page.line(("    stack: " if number == 0 else "           ", DIM), (text, ""))
    errors = joined(details.get("stderr", NOTHING), "line", source_line)
    for number, text in enumerate(errors):
        page.line(("    standard error: " if number == 0 else " " * 20, DIM), (text, ""))


def _print_ranking(page: _Page, findings: Findings, limit: int) -> None:
    entries = findings.ranking
    if not entries:
        page.line((f"{findings.technique} ranked no statement", STRONG))
        return
    shown = entries[:limit]
    count = f"{len(shown)} of {len(entries)}" if len(shown) < len(entries) else f"all {len(entries)}"
    page.line((f"most suspicious statements by {findings.technique}, {count}:", STRONG))
    width = max(len(rank_range(e.rank, e.rank_worst)) for e in shown)
    for entry, heat in zip(shown, heats(entries), strict=False):
        _print_entry(page, entry, heat, width)
    _print_rest(page, entries, shown)


def _print_entry(page: _Page, entry: Entry, heat: float, width: int) -> None:
    style = next(style for least, style in HEAT_STYLES if heat >= least)
    lead = rank_range(entry.rank, entry.rank_worst).rjust(width + 1)
    page.line()
    page.line(
        (f"{lead}  ", style or STRONG),
        (_place(entry.statement), PLACE),
        ("  score ", DIM),
        (score_text(entry.score), style),
    )
    page.source(entry.statement, " " * (width + 1) + "  | ")
    _print_reasons(page, entry.evidence, " " * (width + 1) + "  = ")


def _print_reasons(page: _Page, evidence: dict[str, Any], lead: str) -> None:
    """Why a statement stands where it does, the strongest reason first, a clause a line; the rest is counted."""
    text = str(evidence.get("text", ""))
    reasons = [str(reason["text"]) for reason in evidence.get("reasons", [{"text": text}] if text else [])]
    told = [page.broken(clause, len(lead)) for reason in reasons for clause in clauses(reason)]
    room = EVIDENCE_LINES if sum(map(len, told)) <= EVIDENCE_LINES else EVIDENCE_LINES - 1
    shown = max(1, sum(lines <= room for lines in itertools.accumulate(map(len, told))))
    for clause in (clause[:room] for clause in told[:shown]):
        for number, part in enumerate(clause):
            page.line((lead if number == 0 else " " * len(lead), DIM), (part, ""))
    if shown < len(told):
        page.line((f"{lead}{plural(len(told) - shown, 'more reason')} with --json", DIM))


def _print_chain(page: _Page, chain: dict[str, Any], most: int | None) -> None:
    """The steps from the first faulty value to the failure, each with what the reference run had there."""
    steps = chain["steps"]
    page.line()
    if not steps:
        why = (
            ""
            if chain["incomplete"]
            else ": the failure comes even with the reference run's values in all compared memory"
        )
        page.line((f"no step found{why}", STRONG))
        return
    each = ", each needed for what follows" if len(steps) > 1 else ""
    page.line((f"how it came about, in {plural(len(steps), 'step')}{each}:", STRONG))
    lead = " " * (len(str(len(steps))) + 3)
    call, shown = "", most or len(steps)
    numbered = itertools.groupby(enumerate(steps, 1), lambda one: [one[1][key] for key in ("file", "line", "call")])
    for group in (list(members) for _, members in numbered):
        if shown <= 0:
            break
        if group[0][1]["call"] != call:
            call = group[0][1]["call"]
            if call:
                page.line((f"{lead}in a call of {call}() that the reference run does not make:", DIM))
        chosen = group if len(group) <= SAME_PLACE else [group[0], group[-1]]
        for number, step in chosen[:shown]:
            if len(chosen) < len(group) and number == group[-1][0]:
                page.line((f"{lead}{len(group) - 2:,} more steps there", DIM))
            _print_step(page, number, step, lead)
            if number == chain["gap"]:
                page.line()
                page.line((f"{lead}what lies between was not looked at: the time was over", DIM))
        shown -= len(chosen)
    if most is not None and len(steps) > most:
        page.line()
        page.line(("the whole chain: `whence chain`", DIM))


def _print_step(page: _Page, number: int, step: dict[str, Any], lead: str) -> None:
    page.line()
    place = f"{step['file']}:{step['line']}" if step["file"] else "(no place)"
    page.line((f"{number:>{len(lead) - 2}}  ", STRONG), (place, PLACE))
    if step["file"]:
        page.source(Statement(step["file"], step["line"]), f"{lead}| ")
    page.wrapped(f"{lead}= ", step["text"])
    if step["reference"]:
        page.wrapped(f"{lead}~ ", f"in the reference run: {step['reference']}", DIM)


def _print_summary(page: _Page, findings: Findings) -> None:
    """What was done; the remarks are shown of a technique by itself, and counted where several were joined."""
    if not findings.summary and not findings.remarks:
        return
    page.line()
    page.line(("what was done:", STRONG))
    for text in findings.summary if findings.brief else [*findings.summary, *findings.remarks]:
        page.told("  ", text)
    if findings.brief and findings.remarks:
        page.line((f"  {plural(len(findings.remarks), 'more remark')} with --json", DIM))


def _print_rest(page: _Page, entries: Sequence[Entry], shown: Sequence[Entry]) -> None:
    """How many statements were left out, and whether the last one shown ties with some of them."""
    left = len(entries) - len(shown)
    if not left:
        return
    text = f"{plural(left, 'statement')} not shown"
    if shown and (tied := shown[-1].rank_worst - len(shown)) > 0:
        text += f", {tied} of them tied with the last one here"
    page.line()
    page.line((text, DIM))


def _print_since(page: _Page, changes: dict[str, Any] | None) -> None:
    """The changes since a version that are needed."""
    if changes is None:
        return
    page.line()
    for text, style in since_lines(changes):
        page.as_it_is(text, style)


def _print_changes(page: _Page, findings: Findings) -> None:
    """The best rule of each of the first statements that breaks no passing case, as a change of source."""
    by_place = suggested_changes(findings)
    if not by_place:
        return
    shown = by_place[:CHANGES_SHOWN]
    count = f"{len(shown)} of {len(by_place)}" if len(shown) < len(by_place) else f"all {len(shown)}"
    page.line()
    page.line((f"suggested changes, the best one of a statement, {count}:", STRONG))
    for rule in shown:
        page.line()
        place = _place(Statement(rule["file"], rule["line"]))
        page.line(("  ", ""), (place, PLACE))
        if rule["after"] is None:
            page.wrapped("    ", rule["rule"])
        else:
            page.line(("    - ", "red"), (source_line(rule["before"] or ""), ""))
            page.line(("    + ", "green"), (source_line(rule["after"]), ""))
        for clause in clauses(change_outcome(rule)):
            page.told("    = ", clause)


def _print_fixes(page: _Page, parts: dict[str, Any]) -> None:
    """Edits with their diffs, and suggestions."""
    statements = parts.get("suggestions", [])
    lines = [
        *edit_lines(parts),
        *apart_lines(parts.get("apart")),
        *chain.from_iterable(map(suggestion_lines, statements)),
    ]
    for text, style in lines:
        page.as_it_is(text, style)


def _print_next(page: _Page, commands: Sequence[dict[str, str]]) -> None:
    if not commands:
        return
    page.line()
    page.line(("next:", STRONG))
    width = max(len(visible(c["command"])) for c in commands)
    beside = width + max(len(c["why"]) for c in commands) + 4 <= page.console.width
    for entry in commands:
        if beside:
            page.line((f"  {visible(entry['command']):<{width}}  ", PLACE), (entry["why"], DIM))
        else:  # a command of its own line can be copied
            page.line((f"  # {entry['why']}", DIM))
            page.line((f"  {visible(entry['command'])}", PLACE))


def _slice_title(lines: Sequence[dict[str, Any]], criterion: dict[str, Any]) -> str:
    files = len({at["file"] for at in lines})
    size = f"{plural(len(lines), 'line')} in {plural(files, 'file')}"
    if not criterion:
        return f"slice: {size}"
    place = f"{criterion['file']}:{criterion['line']} ({criterion['text']})" if criterion["file"] else criterion["text"]
    return f"{criterion['direction']} slice from {place}: {size}"


def _print_slice_line(page: _Page, at: dict[str, Any], arrow: str) -> None:
    times = f"  {at['instances']:,} times" if at["instances"] > 1 else ""
    statement = Statement(at["file"], at["line"])
    page.line()
    page.line((f"{at['depth']:>4}  ", STRONG), (_place(statement), PLACE), (times, DIM))
    page.source(statement, "      | ")
    pairs = dict.fromkeys(f"{v['name']} = {value_text(v['value'])}" for v in at["values"])
    if pairs:
        page.wrapped("      = ", _first(list(pairs), VALUES_SHOWN, "value"))
    for edge in at["edges"][:EDGES_SHOWN]:
        _print_edge(page, edge, f"     {arrow} ")
    if len(at["edges"]) > EDGES_SHOWN:
        page.line((f"     {arrow} {plural(len(at['edges']) - EDGES_SHOWN, 'more edge')}", DIM))


def _print_edge(page: _Page, edge: dict[str, Any], lead: str) -> None:
    place = _place(Statement(edge["to_file"], edge["to_line"]))
    known = edge_text(edge["name"], edge["value"], edge.get("skipped", ""))
    page.line((lead, DIM), (f"{edge['kind']:<7} ", DIM), (place, PLACE), (f"  {known}" if known else "", ""))


def _place(statement: Statement) -> str:
    return f"{statement.file}:{statement.line}"


def _first(items: Sequence[str], limit: int, noun: str) -> str:
    text = ", ".join(items[:limit])
    return text if len(items) <= limit else f"{text}, and {plural(len(items) - limit, 'more ' + noun)}"
