"""Which function each line of a C source is in, as far as its text tells.

Comments and texts are passed over, braces are counted: what stands between the end of the last definition and an
opening brace at the outermost level is a function if a name is followed by parentheses there. A closing brace in the
first column ends whatever is open, so that branches of the preprocessor with braces of their own cost one function.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

TOKEN = re.compile(
    r"""/\*.*?(?:\*/|\Z) | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^[ \t]*\#(?:\\\n|[^\n])*"""
    r"""| (?P<end>^\}) | (?P<mark>[{};()]) | (?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
NO_NAMES = frozenset({"__attribute__", "__declspec", "__asm__", "_Alignas", "__typeof__"})
Function = tuple[str, int, int]  # name, first and last line


def functions(text: str) -> list[Function]:
    """The functions that a source defines, in order of their lines."""
    return list(_Reader(text).functions())


def function_at(found: Sequence[Function], line: int) -> str:
    """The name of the function that a line is in; empty where there is none."""
    at = bisect_right(found, line, key=lambda one: one[1]) - 1
    return found[at][0] if at >= 0 and line <= found[at][2] else ""


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def _line(self, offset: int) -> int:
        return bisect_left(self._ends, offset) + 1

    def functions(self) -> Iterator[Function]:
        braces = parentheses = 0
        word, name, first = "", "", -1  # the last word, the last one before parentheses, and where all that began
        for match in TOKEN.finditer(self._text):
            mark = match["mark"] or match["end"]
            if braces:  # in a body, or in an initialiser
                braces += (mark == "{") - (mark == "}")
                braces = 0 if match["end"] else braces
                if not braces and name:
                    yield name, self._line(first), self._line(match.start())
                if not braces:
                    word, name, first = "", "", -1
            elif match["word"] and not parentheses:
                word, first = match["word"], match.start() if first < 0 else first
            elif mark == "(":
                name = name if parentheses or word in NO_NAMES else word
                parentheses += 1
            elif mark == ")":
                parentheses -= parentheses > 0
            elif mark == "{":
                braces, parentheses = 1, 0
            elif mark == ";" and not parentheses:
                word, name, first = "", "", -1
