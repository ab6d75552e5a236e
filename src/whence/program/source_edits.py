"""Edits of one C file, each of which can be written into the source or be one choice of many in a single build.

An edit is a few *parts*: a unit gets another text, a statement gets another one before or behind it, a condition around
it, or is left out. Written into the source they give the edited file; `schemata.py` puts many of them into one text.
What nobody would write as it has to be chosen is written otherwise: a first value is chosen behind its declaration.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from whence.program.c_source import CSource, Place
from whence.program.token_changes import changed_tokens

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


class Kind(Enum):
    """What a part does to the range that it names."""

    REPLACE = "replace"  # a unit by a text
    BEFORE = "before"  # a text in front of a statement
    BEHIND = "behind"  # ... behind it
    GUARD = "guard"  # a statement is done only where an expression holds
    DELETE = "delete"  # a statement is left out
    TEXT = "text"  # any other text: no choice while the program runs


@dataclass(frozen=True, slots=True)
class Part:
    """``text`` is put at ``start`` to ``end``; ``place`` and ``name`` are those of a unit.

    ``listed``: the statement stands in a list of statements.
    """

    kind: Kind
    start: int
    end: int
    text: bytes = b""
    place: Place = Place.STATEMENT
    name: str = ""
    listed: bool = True


@dataclass(frozen=True)
class SourceEdit:
    """A change of the file ``file`` (as statements name it) at ``line``; ``changes``: texts with what they become.

    ``parts`` can be chosen while the program runs; ``otherwise`` are those that the source gets, where they differ.
    """

    file: str
    line: int
    parts: tuple[Part, ...]
    changes: tuple[tuple[bytes, bytes], ...] = ()
    otherwise: tuple[Part, ...] = ()

    @property
    def written(self) -> tuple[Part, ...]:
        """The parts as the source gets them."""
        return self.otherwise or self.parts

    @cached_property
    def size(self) -> int:
        """How many tokens it changes."""
        return sum(changed_tokens(old, new) for old, new in self.changes)

    @property
    def new_text(self) -> bytes:
        """All that it puts in."""
        return b" ".join(new for _, new in self.changes)

    @cached_property
    def is_choice(self) -> bool:
        """Whether it can be chosen while the program runs."""
        return all(part.kind is not Kind.TEXT for part in self.parts)


def edited(source: CSource, edit: SourceEdit) -> bytes:
    """The file with the edit written into it."""
    text = source.text
    for part in sorted(edit.written, key=lambda part: part.start, reverse=True):
        start, end, new = _splice(source, part)
        text = text[:start] + new + text[end:]
    return text


def edited_line(source: CSource, edit: SourceEdit) -> tuple[int, bytes, bytes] | None:
    """The number of the one line that an edit changes, its text, and the text with the edit in it, all on that line.

    None where it changes several lines, or no text of one line says it.
    """
    if len(edit.written) != 1:
        return None
    start, end, new = _splice_in_line(source.text, edit.written[0])
    before, after = source.text.split(b"\n"), (source.text[:start] + new + source.text[end:]).split(b"\n")
    changed = [number for number, (old, other) in enumerate(zip(before, after, strict=False)) if old != other]
    if len(before) != len(after) or len(changed) != 1:
        return None
    return changed[0] + 1, before[changed[0]], after[changed[0]]


def _splice_in_line(text: bytes, part: Part) -> tuple[int, int, bytes]:
    """The range that a part replaces, and by what, where nothing is put on a line of its own."""
    old = text[part.start : part.end]
    if part.kind in (Kind.REPLACE, Kind.TEXT):
        return part.start, part.end, part.text
    if part.kind is Kind.DELETE:
        return part.start, part.end, b";"
    guard = b"if (" + part.text + b") "
    if part.listed and part.kind is Kind.BEHIND:
        return part.end, part.end, b" " + part.text
    if part.listed:
        return part.start, part.start, guard if part.kind is Kind.GUARD else part.text + b" "
    inside = {Kind.GUARD: guard + old, Kind.BEFORE: part.text + b" " + old, Kind.BEHIND: old + b" " + part.text}
    return part.start, part.end, b"{ " + inside[part.kind] + b" }"


def _splice(source: CSource, part: Part) -> tuple[int, int, bytes]:
    """The range that a part replaces in the source, and by what."""
    text, newline, indent = source.text, source.newline, source.indentation(part.start)
    old = text[part.start : part.end]
    if part.kind in (Kind.REPLACE, Kind.TEXT):
        return part.start, part.end, part.text
    if part.kind is Kind.DELETE:
        return _deletion(source, part)
    if part.kind is Kind.GUARD:
        return part.start, part.end, _guarded(source, part, old, indent)
    first, second = (part.text, old) if part.kind is Kind.BEFORE else (old, part.text)
    if part.listed:
        return part.start, part.end, first + newline + indent + second
    outer, inner = _outer(source, part, indent), newline + indent
    start, space = _behind_head(text, part.start)
    return start, part.end, space + b"{" + inner + first + inner + second + newline + outer + b"}"


def _behind_head(text: bytes, start: int) -> tuple[int, bytes]:
    """Where an opening brace goes for a body that begins at ``start``: on its head's line where that ends there."""
    head = text[:start].rstrip()
    on_head = b"\n" in text[len(head) : start] and head.endswith((b")", b"else", b"do"))
    return (len(head), b" ") if on_head else (start, b"")


def _guarded(source: CSource, part: Part, old: bytes, indent: bytes) -> bytes:
    one_line = b"\n" not in old
    has_else = source.text[part.end :].lstrip().startswith(b"else")
    if not part.listed and (old.startswith(b"if") or has_else):  # an `else` behind it would be taken by the new one
        return b"{ if (" + part.text + b") " + old + b" }"
    if old.startswith(b"{"):
        return b"if (" + part.text + b") " + old
    step = b"\t" if indent[:1] == b"\t" else b"    "
    body = source.newline + indent + step + old if one_line else b" {" + source.newline + indent + old
    body += b"" if one_line else source.newline + indent + b"}"
    return b"if (" + part.text + b")" + body


def _outer(source: CSource, part: Part, indent: bytes) -> bytes:
    """The indentation of the statement whose body a part is."""
    if indent.endswith(b"\t"):
        return indent[:-1]
    return indent[:-4] if len(indent) >= 4 and indent.endswith(b"    ") else indent


def _deletion(source: CSource, part: Part) -> tuple[int, int, bytes]:
    """A statement with its whole line where it has one for itself; else an empty statement where one must stand."""
    if not part.listed:
        return part.start, part.end, b";"
    text = source.text
    start = text.rfind(b"\n", 0, part.start) + 1
    end = text.find(b"\n", part.end)
    end = len(text) if end < 0 else end + 1
    alone = not text[start : part.start].strip() and not text[part.end : end].strip()
    return (start, end, b"") if alone else (part.start, part.end, b"")


def unified_diff(name: str, old: bytes, new: bytes) -> str:
    """The diff of a file that ``git apply`` and ``patch -p1`` take; its line ends are kept.

    Bytes that are no UTF-8 are kept as surrogates (``errors="surrogateescape"``).
    """
    before, after = (_lines(text.decode(errors="surrogateescape")) for text in (old, new))
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one, as for ``git apply``."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def applied(old: bytes, diff: str) -> bytes:
    """The text that a diff of ``unified_diff`` makes of another one; ValueError where its lines are not found there."""
    lines, result, taken = _lines(old.decode(errors="surrogateescape")), list[str](), 0
    for line in _lines(diff)[2:]:
        if header := _HUNK.match(line):
            start = int(header[1]) - (0 if header[2] == "0" else 1)
            result += lines[taken:start]
            taken = start
        elif line.startswith("\\"):  # what came before has no line end
            result[-1] = result[-1].removesuffix("\n") if result else ""
        else:
            taken = _step(lines, taken, line, result)
    return "".join(result + lines[taken:]).encode(errors="surrogateescape")


def _step(lines: list[str], taken: int, line: str, result: list[str]) -> int:
    """One line of a hunk; gives how many lines of the old text are done."""
    if line[0] != "+":
        if taken >= len(lines) or lines[taken].rstrip("\n") != line[1:].rstrip("\n"):
            raise ValueError(f"line {taken + 1} is not what the change was made for")
        taken += 1
    if line[0] != "-":
        result.append(line[1:])
    return taken
