"""Two versions of some lines as the rows of a unified diff, with what changed within a line told apart.

A row is a dictionary: ``sign`` (``" "``, ``-`` or ``+``), ``number`` of the line in its version, and ``parts``, its
text in pieces: ``[text, whether it changed]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from whence.report.text import source_line

Row = dict[str, Any]
WORD = re.compile(r"\w+|\s+|[-+*/%&|^<>=!]+|[^\w\s]")
CONTEXT = 2  # lines around a change of the source
ALIKE = 0.4  # share of two lines in which pieces are told apart; below, they are two lines


def unified(before: Sequence[str], after: Sequence[str], first: int) -> list[Row]:
    """The rows of two versions that both begin with line ``first``."""
    rows: list[Row] = []
    for tag, a, a_end, b, b_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [_row(" ", first + b + n, [[line, False]]) for n, line in enumerate(before[a:a_end])]
        else:
            pairs = [_pieces(old, new) for old, new in zip(before[a:a_end], after[b:b_end], strict=False)]
            olds = [*(old for old, _ in pairs), *([[line, False]] for line in before[a + len(pairs) : a_end])]
            news = [*(new for _, new in pairs), *([[line, False]] for line in after[b + len(pairs) : b_end])]
            rows += [_row("-", first + a + n, old) for n, old in enumerate(olds)]
            rows += [_row("+", first + b + n, new) for n, new in enumerate(news)]
    return rows


def of_line(lines: Sequence[str], number: int, before: str, after: str) -> list[Row]:
    """A changed line in its surroundings: ``lines`` are those of its file, before it was changed.

    ``before`` and ``after`` may have lost their indentation. Without the file's lines, or where the line is another
    one there, the change stands alone.
    """
    inside = 0 < number <= len(lines) and lines[number - 1].strip() == before.strip()
    if not inside:
        return unified([source_line(before)], [source_line(after)], number)
    here = source_line(lines[number - 1])
    indentation = here[: len(here) - len(here.lstrip())]
    start = max(1, number - CONTEXT)
    old = [source_line(line) for line in lines[start - 1 : number + CONTEXT]]
    new = [*old]
    new[number - start] = indentation + source_line(after).strip()
    return unified(old, new, start)


def of_text(diff: str) -> list[Row]:
    """The rows of a diff in the form that ``git apply`` takes; its headings are left out."""
    return list(_rows_of(diff.rstrip("\n").split("\n")))


def _rows_of(lines: Sequence[str]) -> Iterator[Row]:
    old = new = 0
    for line in lines:
        if heading := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line):
            old, new = int(heading[1]), int(heading[2])
        elif old and line[:1] in {" ", "-", "+", ""}:
            sign = line[:1] or " "
            yield _row(sign, old if sign == "-" else new, [[source_line(line[1:]), False]])
            old, new = old + (sign != "+"), new + (sign != "-")


def _row(sign: str, number: int, parts: list[list[Any]]) -> Row:
    return {"sign": sign, "number": number, "parts": parts}


def _pieces(old: str, new: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Both lines in pieces, the words that changed told apart; of lines that have little in common nothing is."""
    left, right = WORD.findall(old), WORD.findall(new)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < ALIKE:
        return [[old, False]], [[new, False]]
    sides: tuple[list[list[Any]], list[list[Any]]] = ([], [])
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        for side, text in zip(sides, ("".join(left[a:a_end]), "".join(right[b:b_end])), strict=True):
            if text:
                side.append([text, tag != "equal"])
    return sides
