"""Lines of C as HTML with a few classes for colours; every character of the source is escaped.

Pygments names about eighty kinds of tokens. A page that already speaks through colour (heat, slice,
selection) bears six: ``k`` keyword, ``t`` type, ``s`` string or character, ``n`` number, ``c`` comment, ``p``
preprocessor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup


def highlight(lines: Sequence[str]) -> list[Markup]:
    """HTML of each line; ``lines`` are consecutive, without line ends."""
    from markupsafe import Markup
    from pygments.lexers.c_cpp import CLexer

    lexer = CLexer(stripnl=False, ensurenl=False)  # type: ignore[no-untyped-call]
    rows: list[list[Markup]] = [[]]
    for kind, text in lexer.get_tokens("\n".join([*lines, ""])):  # a comment needs its line end
        for number, part in enumerate(text.split("\n")):
            if number:
                rows.append([])
            if part:
                rows[-1].append(_span(_class(kind), part))
    return [Markup("").join(row) for row in rows[: len(lines)]]


def _span(name: str, text: str) -> Markup:
    from markupsafe import Markup, escape

    return Markup('<span class="{}">{}</span>').format(name, text) if name else escape(text)


def _class(kind: Any) -> str:
    from pygments.token import Token

    for group, name in (
        (Token.Comment.Preproc, "p"),
        (Token.Comment.PreprocFile, "s"),
        (Token.Comment, "c"),
        (Token.Keyword.Type, "t"),
        (Token.Keyword, "k"),
        (Token.Literal.String, "s"),
        (Token.Literal.Number, "n"),
    ):
        if kind in group:
            return name
    return ""
