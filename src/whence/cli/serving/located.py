"""What an editor shows of a failure that was located: diagnostics, hovers, and changes that were compiled and run.

All of it holds for the source as it was then: of a file whose text is another one by now nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lsprotocol import types

from whence.program.line_changes import changes
from whence.program.source_edits import applied
from whence.report.text import clip, is_suggested, rank_range, value_text, visible

SHOWN = 5  # statements that become diagnostics; of a tie that goes on behind them none does
REASONS = 3  # of a diagnostic
SENTENCE, TITLE = 300, 200  # characters
VALUES = 6  # values of a variable in a hover
SOURCE = "whence"
MARKUP = r"[\\*_\[\]<>|~&#]"  # what Markdown may take for markup within a line


class Located:
    """One result of ``whence locate`` (findings as JSON, docs/json.md) about the program in a folder."""

    def __init__(self, folder: Path, result: Mapping[str, Any]) -> None:
        self.folder, self._result = folder, result
        self._edits: list[Mapping[str, Any]] = []
        self._ranks = {(e["file"], e["line"]): e for e in result["ranking"]}
        symptom = result["symptom"] or {}
        places = [*result["ranking"], *result.get("slice", []), symptom, *result.get("rules", [])]
        self._texts = {name: _read(folder / name) for name in {place["file"] for place in places if place.get("file")}}

    @property
    def summary(self) -> str:
        """The failure in a sentence, with where it most likely comes from."""
        symptom, ranking = self._result["symptom"], self._result["ranking"]
        lead = visible(symptom["text"]) if symptom else "a case fails"
        if not ranking:
            return f"{lead}; no statement was ranked"
        first = ranking[0]
        tie = f" and {first['rank_worst'] - 1} more" if first["rank_worst"] > 1 else ""
        return f"{lead}; first: {visible(first['file'])}:{first['line']}{tie}"

    @property
    def uris(self) -> list[str]:
        """The files that there may be something to show of."""
        return [self.uri(name) for name in sorted(self._texts)]

    def uri(self, name: str) -> str:
        """The address of a file that is named as in the result."""
        return (self.folder / name).absolute().as_uri()

    def name(self, uri: str, text: str) -> str | None:
        """The result's name of a file, None where it says nothing of it, or not of this text."""
        for name, known in self._texts.items():
            if self.uri(name) == uri:
                return name if _lines(known.decode(errors="replace")) == _lines(text) else None
        return None

    def add_edits(self, edits: Sequence[Mapping[str, Any]]) -> int:
        """Take in edits of ``whence fix`` with which all cases pass; how many there are."""
        passing = [edit for edit in edits if edit["passes"] and edit["file"] in self._texts]
        self._edits += [edit for edit in passing if edit["diff"] not in {known["diff"] for known in self._edits}]
        return len(passing)

    # ---- Diagnostics -------------------------------------------------------------------------------------------------

    def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """Those of a file: where the failure shows, and the statements most likely at fault."""
        return [*self._failure(name), *self._suspects(name)]

    def _failure(self, name: str) -> Iterator[types.Diagnostic]:
        symptom = self._result["symptom"]
        if not symptom or symptom["file"] != name:
            return
        steps = (self._result.get("chain") or {}).get("steps", [])
        yield types.Diagnostic(
            self._range(name, symptom["line"]),
            clip(visible(symptom["text"]), SENTENCE),
            types.DiagnosticSeverity.Error,
            "failure",
            source=SOURCE,
            related_information=[self._related(step) for step in steps if step["file"] in self._texts],
        )

    def _related(self, step: Mapping[str, Any]) -> types.DiagnosticRelatedInformation:
        other = f" ({visible(step['reference'])} in the run that it was compared with)" if step["reference"] else ""
        place = types.Location(self.uri(step["file"]), self._range(step["file"], step["line"]))
        return types.DiagnosticRelatedInformation(place, clip(visible(step["text"]) + other, SENTENCE))

    def _suspects(self, name: str) -> Iterator[types.Diagnostic]:
        for entry in self._result["ranking"]:
            if entry["file"] == name and entry["rank_worst"] <= SHOWN:
                is_first = entry["rank"] == 1
                yield types.Diagnostic(
                    self._range(name, entry["line"]),
                    "\n".join(_reasons(entry)) or "suspicious",
                    types.DiagnosticSeverity.Warning if is_first else types.DiagnosticSeverity.Information,
                    f"rank {rank_range(entry['rank'], entry['rank_worst'])}",
                    source=SOURCE,
                )

    def _range(self, name: str, line: int) -> types.Range:
        """The text of a line (from 1), without the white space around it."""
        lines = _lines(self._texts[name].decode(errors="replace"))
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        start = len(text) - len(text.lstrip())
        end = start + len(text.strip().encode("utf-16-le", "replace")) // 2
        return types.Range(types.Position(line - 1, start), types.Position(line - 1, end))

    # ---- Hovers ------------------------------------------------------------------------------------------------------

    def hover(self, name: str, line: int) -> str:
        """What is known of a line (from 1), in Markdown: its rank with the reasons, and its values; empty: nothing."""
        entry, parts = self._ranks.get((name, line)), list[str]()
        if entry is not None:
            total = len(self._result["ranking"])
            parts.append(f"**Whence: rank {rank_range(entry['rank'], entry['rank_worst'])} of {total}**")
            parts += [f"- {_plain(reason)}" for reason in _reasons(entry)]
        if values := self._result.get("values", {}).get(f"{name}:{line}"):
            parts += ["", *_table(values)]
        return "\n".join(parts)

    # ---- Changes -----------------------------------------------------------------------------------------------------

    def actions(self, name: str, first: int, last: int) -> list[types.CodeAction]:
        """The changes at lines ``first`` to ``last`` (from 1) that were compiled by themselves and let all cases pass
        that fail without them and break none.
        """
        found = [*self._of_rules(name, first, last), *self._of_edits(name, first, last)]
        return [types.CodeAction(title, types.CodeActionKind.QuickFix, edit=edit) for title, edit in found]

    def _of_rules(self, name: str, first: int, last: int) -> Iterator[tuple[str, types.WorkspaceEdit]]:
        for rule in self._result.get("rules", []):
            is_there = rule["file"] == name and first <= rule["line"] <= last
            if not is_there or not rule.get("confirmed") or rule["broken"] or not is_suggested(rule):
                continue
            place = self._range(name, rule["line"])
            if self._line(name, rule["line"]).strip() != rule["before"]:
                continue
            words = f"{rule['rule']} ({_tried(rule['confirmation'], rule)})"
            yield self._change(name, words, [types.TextEdit(place, rule["after"])])

    def _of_edits(self, name: str, first: int, last: int) -> Iterator[tuple[str, types.WorkspaceEdit]]:
        for edit in self._edits:
            if edit["file"] == name and first <= edit["line"] <= last:
                tried = _tried(f"all {edit['ran']} cases pass; {edit['checked']}", edit)
                words = f"{', '.join(edit['descriptions'])} ({tried})"
                yield self._change(name, words, _replaced(self._texts[name], edit["diff"]))

    def _change(self, name: str, words: str, edits: list[types.TextEdit]) -> tuple[str, types.WorkspaceEdit]:
        return f"Whence: {clip(visible(words), TITLE)}", types.WorkspaceEdit({self.uri(name): edits})

    def _line(self, name: str, line: int) -> str:
        lines = _lines(self._texts[name].decode(errors="replace"))
        return lines[line - 1] if 0 < line <= len(lines) else ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _lines(text: str) -> list[str]:
    """The lines of a text, whatever ends them."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _replaced(old: bytes, diff: str) -> list[types.TextEdit]:
    """The lines that a diff of ``whence fix`` changes, as changes of the text."""
    before, after = (re.split("(?<=\n)", text.decode(errors="replace")) for text in (old, applied(old, diff)))
    return [
        types.TextEdit(
            types.Range(types.Position(region.old_start - 1, 0), types.Position(region.old_stop - 1, 0)),
            "".join(after[region.start - 1 : region.stop - 1]),
        )
        for region in changes(before, after)
    ]


def _tried(words: str, change: Mapping[str, Any]) -> str:
    """How a change was tried: the cases, and what its checks say where one of them found something."""
    return words if change["clean"] is False else words.partition("; ")[0]


def _reasons(entry: Mapping[str, Any]) -> list[str]:
    """The strongest reasons for a statement, a sentence each."""
    evidence = entry["evidence"]
    found = [reason["text"] for reason in evidence.get("reasons", [])] or [evidence.get("text", "")]
    return [clip(visible(text), SENTENCE) for text in found[:REASONS] if text]


def _table(values: Mapping[str, Any]) -> Iterator[str]:
    """A row for each name that has values on a line."""
    failing, passing = dict[str, list[str]](), dict[str, list[str]]()
    for one in values["failing"]:
        failing.setdefault(one["name"], []).append(value_text(one["value"]))
    for one in values["passing"]:
        passing.setdefault(one["name"], []).extend(map(value_text, one["values"]))
    yield "| value of | failing run | passing cases |"
    yield "| --- | --- | --- |"
    for name in dict.fromkeys([*failing, *passing]):
        yield f"| {_code(visible(name))} | {_some(failing.get(name, []))} | {_some(passing.get(name, []))} |"


def _some(values: Sequence[str]) -> str:
    more = f", {len(values) - VALUES} more" if len(values) > VALUES else ""
    return ", ".join(map(_code, values[:VALUES])) + more


def _code(text: str) -> str:
    """Text of the subject as a code span of Markdown, in which nothing is markup, also in a row of a table."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, room = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{room}{text}{room}{fence}".replace("|", "\\|") if text else ""


def _plain(text: str) -> str:
    """A sentence in Markdown: code where backticks stand, and no other markup."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them is text
        return re.sub(MARKUP, r"\\\g<0>", text)
    escaped = (re.sub(MARKUP, r"\\\g<0>", part) for part in parts[::2])
    return "".join(part + _code(code) for part, code in zip_longest(escaped, parts[1::2], fillvalue=""))
