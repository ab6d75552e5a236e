"""One line of C source as tokens: what stands at a column, where an operand ends, what binds tighter.

Debug information gives the column of an operator, of a name, or of a call. From there a small part of a line can be
found and replaced, without parsing C: what is not understood is left alone. Text is held one character a byte
(Latin-1), since columns count bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"""(?P<comment>//.*|/\*.*?(?:\*/|$))
    |(?P<text>[LuU]?"(?:\\.|[^"\\])*"?)|(?P<char>[LuU]?'(?:\\.|[^'\\])*'?)
    |(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S)""",
    re.VERBOSE,
)
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"))
#: How tightly binary operators bind; what separates expressions binds least.
PRECEDENCE = {sign: level for level, signs in enumerate((*_LEVELS, ("*", "/", "%")), 1) for sign in signs}
LOGICAL = ("&&", "||")
ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
LOOSE = ASSIGNMENTS | frozenset({"", "(", ")", "[", "]", "{", "}", ",", ";", "?", ":", "return", "case", "else", "do"})
_OPENING, _CLOSING = {"(": ")", "[": "]"}, {")": "(", "]": "["}
_MEMBER = (".", "->")
_ENDS = (";", ",", ")", "]", "}", "{")


@dataclass(slots=True, frozen=True)
class Token:
    """A token: its text, kind (``name``, ``number``, ``char``, ``text``, ``sign``) and span of columns from 0."""

    text: str
    kind: str
    start: int
    end: int


_NOTHING = Token("", "sign", 0, 0)


class Line:
    """A line of source. Tokens are named by their position; one outside of the line is empty, and ends expressions."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens without comments."""
        found = _TOKEN.finditer(self.text)
        return [Token(m[0], m.lastgroup or "", m.start(), m.end()) for m in found if m.lastgroup != "comment"]

    def token(self, at: int) -> Token:
        """The token at a position."""
        return self.tokens[at] if 0 <= at < len(self.tokens) else _NOTHING

    def at_column(self, column: int) -> int:
        """The position of the token that begins at a column (from 1); -1: none does."""
        starts = [token.start for token in self.tokens]
        at = bisect_left(starts, column - 1)
        return at if at < len(starts) and starts[at] == column - 1 else -1

    def replaced(self, first: int, last: int, text: str) -> str:
        """The line with the tokens from ``first`` to ``last`` (both included) replaced."""
        return self.text[: self.token(first).start] + text + self.text[self.token(last).end :]

    def source(self, first: int, last: int) -> str:
        """The text of the tokens from ``first`` to ``last`` (both included)."""
        return self.text[self.token(first).start : self.token(last).end]

    def without(self, first: int, last: int) -> str:
        """The line without the tokens from ``first`` to ``last`` (both included), nor the space around them."""
        before, after = self.text[: self.token(first).start], self.text[self.token(last).end :]
        is_indented = not before.strip()
        return before + after.lstrip() if is_indented or before.endswith(("(", "[")) else before.rstrip() + after

    def begins_statement(self, at: int) -> bool:
        """Whether a statement, or an expression in the head of a ``for``, begins at a position."""
        before = self.token(at - 1).text
        if before in ("(", ")"):
            opening = at - 1 if before == "(" else self.opening(at - 1)
            return self.token(opening - 1).text in (("for",) if before == "(" else ("for", "if", "while", "switch"))
        if before == ":":
            return all(token.text != "?" for token in self.tokens[:at])
        return before in ("", ";", "{", "}", "else", "do")

    # ---- Parts of expressions ----------------------------------------------------------------------------------------

    def closing(self, at: int) -> int:
        """The position of the bracket that closes the one at a position; -1: not on this line."""
        depth = 0
        for position in range(at, len(self.tokens)):
            depth += (self.tokens[position].text in _OPENING) - (self.tokens[position].text in _CLOSING)
            if depth == 0:
                return position
        return -1

    def opening(self, at: int) -> int:
        """The position of the bracket that opens the one at a position; -1: not on this line."""
        depth = 0
        for position in range(at, -1, -1):
            depth += (self.tokens[position].text in _CLOSING) - (self.tokens[position].text in _OPENING)
            if depth == 0:
                return position
        return -1

    def primary_start(self, at: int) -> int:
        """Where the operand begins that ends at a position (``a[i].b``, ``f(x)``, ``(x)``); -1: that is not clear."""
        start = at
        while self.token(start).text in _CLOSING:
            start = self.opening(start)
            if start < 0:
                return -1
            if self.token(start - 1).kind != "name" and self.token(start - 1).text not in _CLOSING:
                return start  # brackets around an expression
            start -= 1
        if self.token(start - 1).text in _MEMBER:
            return self.primary_start(start - 2)
        return start if self.token(start).kind != "sign" else -1

    def call_end(self, at: int) -> tuple[int, int]:
        """The brackets of the call that begins at a position (``f(x)``, ``p->f[i](x)``); -1: none does."""
        while self.token(at).kind == "name":
            following = self.token(at + 1).text
            while following == "[":
                at = self.closing(at + 1)
                following = self.token(at + 1).text if at > 0 else ""
            if following == "(":
                return at + 1, self.closing(at + 1)
            at += 2 if following in _MEMBER else len(self.tokens)
        return -1, -1

    def is_binary(self, at: int) -> bool:
        """Whether the token at a position is a binary operator."""
        before = self.token(at - 1)
        operand = before.kind != "sign" and before.text not in LOOSE
        return self.token(at).text in PRECEDENCE and (operand or before.text in _CLOSING)

    def _scan(self, at: int, step: int) -> Iterator[int]:
        """Positions of the same expression to the left (step -1) or right (1); what brackets hold is passed over."""
        brackets, partner = (_OPENING, self.closing) if step > 0 else (_CLOSING, self.opening)
        position = at + step
        while 0 <= position < len(self.tokens):
            text = self.tokens[position].text
            if text in brackets:
                position = partner(position)
                if position < 0:
                    return
            elif text in LOOSE:
                return
            yield position
            position += step

    def binary_operators(self, at: int, step: int) -> list[int]:
        """Where binary operators of the same expression stand to the left (step -1) or right (1), from near to far."""
        return [position for position in self._scan(at, step) if self.is_binary(position)]

    def operators(self, at: int, step: int) -> list[str]:
        """The texts of these operators."""
        return [self.token(position).text for position in self.binary_operators(at, step)]

    def left_operand(self, at: int) -> int:
        """Where the left operand of the binary operator at a position begins."""
        level, first = PRECEDENCE[self.token(at).text], at
        for position in self._scan(at, -1):
            if self.is_binary(position) and PRECEDENCE[self.token(position).text] < level:
                break
            first = position
        return first

    def right_operand(self, at: int) -> int:
        """Where the right operand of the binary operator at a position ends."""
        level, last = PRECEDENCE[self.token(at).text], at
        for position in self._scan(at, 1):
            if self.is_binary(position) and PRECEDENCE[self.token(position).text] <= level:
                break
            last = position
        return last

    def logical_operand(self, at: int, step: int) -> int:
        """Where the operand ends that stands beside an ``&&`` or ``||``, to the left (step -1) or right (1)."""
        end = at
        for position in self._scan(at, step):
            if self.is_binary(position) and self.token(position).text in LOGICAL:
                break
            end = position
        return end

    def expression_end(self, at: int) -> int:
        """Where the expression ends that begins at a position; a comma ends it."""
        last, choices = at - 1, 0
        while 0 <= last + 1 < len(self.tokens):
            text = self.token(last + 1).text
            choices += text == "?"
            if text in _ENDS or (text == ":" and not choices):
                break
            choices -= text == ":"
            last = self.closing(last + 1) if text in _OPENING else last + 1
            if last < 0:
                return -1
        return last

    def keeps_shape(self, at: int, new: str) -> bool:
        """Whether the operator at a position can become ``new`` without a change of what it is applied to."""
        old, other = PRECEDENCE[self.token(at).text], PRECEDENCE[new]
        for step, is_tighter in ((-1, int.__ge__), (1, int.__gt__)):
            for level in (PRECEDENCE[sign] for sign in self.operators(at, step)):
                if is_tighter(level, old) != is_tighter(level, other):
                    return False
                if not is_tighter(level, old):
                    break
        return True

    def is_alone(self, first: int, last: int) -> bool:
        """Whether the tokens from ``first`` to ``last`` are an expression of their own, and no argument of a macro."""
        ends = self.token(first - 1).text in LOOSE and self.token(last + 1).text in LOOSE
        return ends and not self._caller(first).isupper()

    def _caller(self, at: int) -> str:
        """The name in front of the innermost bracket around a position; macros have upper case by custom."""
        depth = 0
        for position in range(at - 1, -1, -1):
            depth += (self.tokens[position].text == ")") - (self.tokens[position].text == "(")
            if depth < 0:
                return self.token(position - 1).text
        return ""
