"""Pieces of IR syntax: where a type ends, where a bracket closes, how a list splits, what an operand says.

Strings and quoted names never hold a bare quote (LLVM escapes it as ``\\22``), so one pattern that swallows
whole strings is enough to count brackets safely. Most text has no bracket at all and takes the short way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from whence.program.model import Operand


class Unreadable(Exception):
    """Text that is not in the form expected; the reader adds the line to the message."""


_BRACKET = re.compile(r'"[^"]*"|[()\[\]{}<>]')
_SEPARATOR = re.compile(r'"[^"]*"|[()\[\]{}<>,]')
_NESTED = re.compile(r'[("\[{<]')
_SIMPLE_TYPE = re.compile(r'ptr(?: addrspace\(\d+\))?|%(?:"[^"]*"|[-\w$.]+)|[a-z]\w*')
_TYPE_START = re.compile(
    r"(?:void|ptr|i\d+|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|x86_amx|token|label|metadata|target)\b"
    r"|[%{\[<]"
)
_ATTRIBUTE = re.compile(r'"[^"]*"(?:="[^"]*")?|[a-z_]\w*')
_VECTOR = re.compile(r"<(?:vscale x )?\d+ x ")
NAME = re.compile(r'[@%](?:"[^"]*"|[-\w$.]+)')

# The words with which a constant can begin; any other word before a value is an attribute.
_CONSTANT_WORDS = (
    "true false null undef poison zeroinitializer none c blockaddress dso_local_equivalent no_cfi ptrauth "
    "splat asm getelementptr ptrtoint ptrtoaddr inttoptr bitcast addrspacecast trunc zext sext add sub mul "
    "xor and or shl lshr ashr icmp fcmp select extractelement insertelement shufflevector"
)
_VALUE_WORDS = frozenset(_CONSTANT_WORDS.split())


def closing(text: str, start: int) -> int:
    """Index just behind the bracket that closes the one at ``text[start]``; Unreadable when there is none."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        bracket = match.group()
        if bracket in "([{<":
            depth += 1
        elif bracket in ")]}>":
            depth -= 1
            if depth == 0:
                return match.end()
    raise Unreadable("a bracket is not closed")


def split(text: str) -> list[str]:
    """The parts of a list that is separated by ", ", split outside of brackets and quotes only."""
    if not _NESTED.search(text):
        return text.split(", ")
    parts: list[str] = []
    depth = start = 0
    for match in _SEPARATOR.finditer(text):
        token = match.group()
        if token == ",":
            if depth == 0:
                parts.append(text[start : match.start()])
                start = match.end() + 1
        elif token in "([{<":
            depth += 1
        elif token in ")]}>":
            depth -= 1
    parts.append(text[start:])
    return parts


def type_end(text: str, start: int = 0) -> int:
    """Index just behind the type that begins at ``start`` (a function type counts up to its return type)."""
    if text[start : start + 1] in ("{", "[", "<"):
        return closing(text, start)
    match = _SIMPLE_TYPE.match(text, start)
    if match is None:
        raise Unreadable("a type is expected")
    end = match.end()
    return closing(text, end) if text.startswith("target(", start) else end


def skip_to_type(text: str, start: int = 0) -> int:
    """Index of the first type at or after ``start``, behind flags, linkage, conventions and attributes."""
    while not _TYPE_START.match(text, start):
        _, start = _attribute(text, start)
    return start


def _attribute(text: str, start: int) -> tuple[str, int]:
    """The attribute at ``start`` and where the next word begins."""
    match = _ATTRIBUTE.match(text, start)
    if match is None:
        raise Unreadable("an attribute is expected")
    end = match.end()
    if text.startswith("(", end):
        end = closing(text, end)
    elif match.group() in ("align", "cc"):
        end = text.find(" ", end + 1)
        end = len(text) if end < 0 else end
    return text[start:end], min(end + 1, len(text))


def parse_operand(text: str) -> Operand:
    """Read "type attributes value"; the value is empty for a formal without a name."""
    end = type_end(text)
    type_, rest = text[:end], text[end + 1 :]
    if type_ == "metadata" or rest[:1] in "%@-0123456789":
        return Operand(type_, rest)
    attributes: list[str] = []
    start = 0
    while (match := _ATTRIBUTE.match(rest, start)) and match.group() not in _VALUE_WORDS:
        attribute, start = _attribute(rest, start)
        attributes.append(attribute)
    return Operand(type_, rest[start:], tuple(attributes))


def parse_formals(text: str) -> tuple[tuple[Operand, ...], bool]:
    """The formals between the parentheses of a function, and whether it is variadic."""
    parts = split(text) if text else []
    variadic = bool(parts) and parts[-1] == "..."
    return tuple(parse_operand(part) for part in (parts[:-1] if variadic else parts)), variadic


def vector_like(model: str, element: str) -> str:
    """The type ``element``, made a vector of as many elements where ``model`` is a vector type."""
    count = _VECTOR.match(model)
    return f"{count[0]}{element}>" if count else element


@lru_cache(maxsize=4096)
def struct_members(body: str) -> tuple[str, ...] | None:
    """The member types of a struct type ``{ ... }`` or ``<{ ... }>``; None for any other type."""
    if not body.startswith(("{", "<{")):
        return None
    inner = body.strip("<>")[1:-1].strip()
    return tuple(split(inner)) if inner else ()


def member_type(type_: str, index: int, named: Mapping[str, str]) -> str:
    """The type of member ``index`` of a struct, array or vector type; ``named`` resolves ``%struct.P``."""
    body = named.get(type_, type_)
    if (members := struct_members(body)) is not None:
        return members[index]
    if body[:1] in ("[", "<"):
        return body[1:-1].split(" x ", 1)[1].removeprefix("vscale x ")
    raise Unreadable(f"{type_} has no members")
