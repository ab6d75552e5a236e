"""The token specification of an input: which kinds of tokens it has, and by what they can be replaced.

Source: *Using Likely Invariants for Automated Software Fault Localization*, section 3.2: a lexical analyser and the
possible replacements of its tokens are all that is needed; there are no production rules.

A specification is a small TOML file; docs/reduce.md describes it. The ready ones lie in ``specs/``. Whatever the tokens
do not cover is a token of a single byte that is never replaced. A zero byte, which ends an argument, is always blank.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from whence.errors import UsageError

SPECS = Path(__file__).with_name("specs")
READY = ("http", "json", "sql", "options", "csv", "c", "regex", "words")  # in the order in which they are guessed
KINDS = ("string", "integer", "float", "symbol", "keyword", "blank")
GUESSED = 64 << 10  # bytes of an input that a guess looks at
GENERIC = re.compile(rb"[A-Za-z0-9_\x80-\xff]+|[ \t]+|.", re.DOTALL)
LINE = re.compile(rb"[^\n\0]*(?:\n|\0|\Z)")
BANNED = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]|\(\?(?:[a-zA-Z]+\)|P=)")  # what would not work within a larger pattern
TEXT = "(?P<text>"  # in a pattern: the part of the token that varies


@dataclass(slots=True, frozen=True)
class TokenKind:
    """One kind of token. ``groups`` are those of a symbol: its members can stand for each other."""

    kind: str
    pattern: re.Pattern[bytes]
    groups: tuple[tuple[bytes, ...], ...] = ()
    ignore_case: bool = False


@dataclass(slots=True, frozen=True)
class Token:
    """A token of an input: its place, and that of the part that varies (offsets in bytes)."""

    start: int
    end: int
    kind: TokenKind | None
    first: int
    last: int


@dataclass(slots=True, frozen=True)
class Specification:
    """The kinds of tokens of some sort of input, the first that matches is taken."""

    name: str
    about: str
    kinds: tuple[TokenKind, ...]
    pattern: re.Pattern[bytes]  # of all kinds; group ``k3`` is the fourth one
    guess: re.Pattern[bytes]

    def tokens(self, data: bytes) -> Iterator[Token]:
        """The tokens of an input, which together are all of it."""
        position = 0
        for match in self.pattern.finditer(data):
            if match.end() == match.start():
                continue
            yield from _uncovered(position, match.start())
            position = match.end()
            name = match.lastgroup or ""
            if name == "zero":
                yield Token(match.start(), match.end(), None, match.start(), match.end())
                continue
            number = int(name[1:])
            group = f"text{number}" if f"text{number}" in self.pattern.groupindex else name
            first, last = match.span(group) if match.start(group) >= 0 else (match.start(), match.start())
            yield Token(match.start(), match.end(), self.kinds[number], first, last)
        yield from _uncovered(position, len(data))

    def covers(self, data: bytes) -> bool:
        """Whether every byte belongs to a token."""
        position = 0
        for match in self.pattern.finditer(data):
            if match.start() != position:
                return False
            position = match.end()
        return position == len(data)


def _uncovered(start: int, end: int) -> Iterator[Token]:
    for n in range(start, end):
        yield Token(n, n + 1, None, n, n + 1)


# ---- Splitting -------------------------------------------------------------------------------------------------------


def split_lines(data: bytes) -> list[bytes]:
    """The lines of an input with their ends; arguments are lines too."""
    return [line for line in LINE.findall(data) if line]


def split_tokens(data: bytes, specification: Specification | None) -> list[bytes]:
    """The tokens of an input; words, blanks and single characters where nothing specifies them."""
    if specification is None:
        return GENERIC.findall(data)
    return [data[token.start : token.end] for token in specification.tokens(data)]


# ---- Reading ---------------------------------------------------------------------------------------------------------


def guess_specification(data: bytes) -> Specification | None:
    """The first ready specification whose tokens cover an input and that takes it for its own; None for binary data."""
    beginning = data[:GUESSED]
    ready = (load_specification(name) for name in READY)
    return next((spec for spec in ready if spec.guess.search(beginning) and spec.covers(beginning)), None)


def load_specification(name: str) -> Specification:
    """The ready specification of this name, or the one in a file.

    Raises UsageError, with file and line, where it cannot be read or used.
    """
    path = SPECS / f"{name}.toml" if name in READY else Path(name)
    return _read(path, name if name in READY else path.name)


@cache
def _read(path: Path, name: str) -> Specification:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"--spec {name}: no such file", f"ready ones are {', '.join(READY)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--spec: cannot read {name}: {error}") from error
    return _Reader(text, name).read()


class _Reader:
    """Reads one specification; keeps its text for the lines of errors."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name

    def read(self) -> Specification:
        try:
            data = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            number = int(line[1]) if line else self._text.count("\n") + 1
            raise UsageError(f"{self._name}:{number}: {str(error).partition(' (at ')[0]}") from error
        self._check_keys(data, {"about": str, "guess": str, "ignore_case": bool, "token": list}, -1)
        if not data.get("token"):
            raise self._error(-1, "token", "no [[token]] is described")
        ignores = data.get("ignore_case", False)
        kinds = [self._kind(number, table, ignores) for number, table in enumerate(data["token"])]
        guess = self._compile(-1, "guess", data.get("guess", ""))
        return Specification(self._name, data.get("about", ""), tuple(kinds), _joined(kinds), guess)

    def _kind(self, number: int, table: Any, ignores: bool) -> TokenKind:
        if not isinstance(table, dict):
            raise self._error(number, "token", "a table [[token]] was expected")
        self._check_keys(table, {"kind": str, "pattern": str, "groups": list, "words": list}, number)
        kind = table.get("kind")
        if kind not in KINDS:
            raise self._error(number, "kind", f"kind: one of {', '.join(KINDS)} was expected, not {kind!r}")
        source = {"symbol": "groups", "keyword": "words"}.get(kind, "pattern")
        if source not in table or ("pattern" in table and source != "pattern"):
            raise self._error(number, "kind", f"a token of kind {kind} is described by `{source}`")
        if kind not in ("symbol", "keyword"):
            return TokenKind(kind, self._compile(number, "pattern", table["pattern"], is_token=True))
        groups = tuple(self._texts(number, source, group) for group in self._groups(number, source, table[source]))
        return TokenKind(kind, _any_of(groups, ignores), groups if kind == "symbol" else (), ignores)

    def _groups(self, number: int, key: str, value: list[Any]) -> list[Any]:
        return value if key == "groups" else [value]

    def _texts(self, number: int, key: str, value: Any) -> tuple[bytes, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
            raise self._error(number, key, f"{key}: lists of texts that are not empty were expected")
        return tuple(text.encode() for text in value)

    def _compile(self, number: int, key: str, text: str, is_token: bool = False) -> re.Pattern[bytes]:
        try:
            pattern = re.compile(text.encode())
        except re.error as error:
            raise self._error(number, key, f"{key}: no regular expression ({error}): {text}") from error
        if is_token and pattern.match(b""):
            raise self._error(number, key, f"{key}: a token cannot be empty, but this matches nothing at all: {text}")
        if is_token and (pattern.groupindex.keys() - {"text"} or BANNED.search(text)):
            message = f"{key}: only a group named text is possible, and neither flags nor back references: {text}"
            raise self._error(number, key, message)
        return pattern

    def _check_keys(self, table: dict[str, Any], known: dict[str, type], number: int) -> None:
        for key, value in table.items():
            if key not in known:
                raise self._error(number, key, f"unknown key {key}; known are {', '.join(known)}")
            if not isinstance(value, known[key]):
                words = {str: "a text in quotes", list: "a list", bool: "true or false"}
                raise self._error(number, key, f"{key}: {words[known[key]]} was expected")

    def _error(self, number: int, key: str, message: str) -> UsageError:
        return UsageError(f"{self._name}:{self._line(number, key)}: {message}")

    def _line(self, number: int, key: str) -> int:
        """The line of a key in the ``number``-th [[token]] (-1: before the first); the table's own without one."""
        table, start = -1, 1
        for line, text in enumerate(self._text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*token\s*\]\]", text):
                table += 1
                start = line if table == number else start
            elif table == number and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text):
                return line
        return start


def _any_of(groups: tuple[tuple[bytes, ...], ...], ignores_case: bool) -> re.Pattern[bytes]:
    """A pattern of some texts, the longest first; a word is not found within a longer one."""
    texts = sorted({text for group in groups for text in group}, key=lambda text: (-len(text), text))
    words = [
        (rb"(?<![A-Za-z0-9_])" if text[:1].isalnum() else b"")
        + re.escape(text)
        + (rb"(?![A-Za-z0-9_])" if text[-1:].isalnum() else b"")
        for text in texts
    ]
    return re.compile(b"|".join(words), re.IGNORECASE if ignores_case else 0)


def _joined(kinds: list[TokenKind]) -> re.Pattern[bytes]:
    """One pattern of all kinds, in their order."""
    parts = [rb"(?P<zero>\0)"]
    for number, kind in enumerate(kinds):
        text = kind.pattern.pattern.replace(TEXT.encode(), b"(?P<text%d>" % number)
        parts.append(b"(?P<k%d>(?%s:%s))" % (number, b"i" if kind.ignore_case else b"", text))
    return re.compile(b"|".join(parts))
