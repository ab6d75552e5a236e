"""Variations of one token, by its kind: what else could stand in its place.

Source: *Using Likely Invariants for Automated Software Fault Localization*, Algorithm 2: a string is divided into 1, 2,
4, ... parts, and the characters of a part are replaced; an integer is changed by a power of two, up and down; a
floating-point number likewise, at its last digit and at its units; a symbol is replaced by the others of its group.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from whence.inputs.tokens import Specification, TokenKind

HIGHEST = 64  # bits of the largest change of an integer
BEYOND = 3  # powers of two that are tried beyond the number's own size
VARIED = ("string", "integer", "float", "symbol")
MOST = 2_048  # tokens, or bytes, of an input that are varied
LONGEST = 1000  # characters of a number
SPREAD = 16 << 20  # bytes of the variations of all strings of an input, about
NUMBER = re.compile(rb"([-+]?)(0[xX])?([0-9a-fA-F]+)")
DECIMAL = re.compile(rb"([-+]?)([0-9]*)(\.?)([0-9]*)((?:[eE][-+]?[0-9]+)?)")
CLASSES = [
    set_.encode() for set_ in (string.ascii_lowercase, string.ascii_uppercase, string.digits, string.punctuation)
]
SUCCESSORS = {ord(" "): ord("_")} | {a: b for set_ in CLASSES for a, b in zip(set_, set_[1:] + set_[:1], strict=True)}
PREDECESSORS = {ord(" "): ord("_")} | {b: a for a, b in SUCCESSORS.items() if a != ord(" ")}


class Variation(NamedTuple):
    """What to put in place of which bytes of an input; the ``turn``-th of its token's variations, from 0."""

    start: int
    end: int
    text: bytes
    turn: int = 0


def input_variations(data: bytes, specification: Specification) -> Iterator[Variation]:
    """All variations of all tokens of an input.

    Of more than ``MOST`` tokens that vary as many are taken, evenly, and long strings are varied in fewer parts.
    """
    tokens = [token for token in specification.tokens(data) if token.kind and token.kind.kind in VARIED]
    chosen = tokens[:: -(-len(tokens) // MOST) or 1]
    for token in chosen:
        if token.kind is not None:
            text = data[token.first : token.last]
            for turn, variation in enumerate(token_variations(text, token.kind, SPREAD // len(chosen))):
                yield Variation(token.first, token.last, variation, turn)


def byte_variations(data: bytes) -> Iterator[Variation]:
    """The same for an input without tokens: every byte changed by 2^i, as an integer is."""
    for place in range(0, len(data), -(-len(data) // MOST) or 1):
        changes = {(data[place] + sign * (1 << i)) % 256: None for i in range(8) for sign in (1, -1)}
        for turn, changed in enumerate(changes):
            yield Variation(place, place + 1, bytes([changed]), turn)


def token_variations(text: bytes, kind: TokenKind, most: int = SPREAD) -> Iterator[bytes]:
    """The variations of a token's text, different ones, none of them the text itself; ``most`` bytes of each size."""
    if kind.kind == "string":
        made = _strings(text, most)
    else:
        make = {"integer": _integers, "float": _floats}.get(kind.kind)
        made = make(text) if make is not None else _symbols(text, kind)
    yield from (variation for variation in dict.fromkeys(made) if variation != text)


def _strings(text: bytes, most: int) -> Iterator[bytes]:
    """The text with one of its 2^i parts replaced, character by character, by their neighbours in the alphabet.

    There are as many parts at most as make ``most`` bytes of variations. An empty text becomes a letter.
    """
    if not text:
        yield b"a"
    parts = 1
    while parts < 2 * len(text) and (parts == 1 or parts * len(text) <= most):
        size = -(-len(text) // parts)
        for start in range(0, len(text), size):
            before, part, after = text[:start], text[start : start + size], text[start + size :]
            for neighbours in (SUCCESSORS, PREDECESSORS):
                yield before + bytes(neighbours.get(byte, byte) for byte in part) + after
        parts *= 2


def _integers(text: bytes) -> Iterator[bytes]:
    """The number changed by 2^i, in its own base and with its own leading zeros."""
    match = NUMBER.fullmatch(text)
    if match is None or len(text) > LONGEST or (match[2] is None and not match[3].isdigit()):
        return
    base = 16 if match[2] else 10
    magnitude = int(match[3], base)
    value = -magnitude if match[1] == b"-" else magnitude
    width = len(match[3]) if match[3][:1] == b"0" else 1
    for i in range(min(HIGHEST, magnitude.bit_length() + BEYOND) + 1):
        for changed in (value + (1 << i), value - (1 << i)):
            digits = (b"%x" if base == 16 else b"%d") % abs(changed)
            sign = b"-" if changed < 0 else match[1].replace(b"-", b"")
            yield sign + (match[2] or b"") + digits.zfill(width)


def _floats(text: bytes) -> Iterator[bytes]:
    """The number changed by 2^i units of its last digit, by 2^i, and by 2^i in its exponent."""
    match = DECIMAL.fullmatch(text)
    if match is None or len(text) > LONGEST:
        return
    sign, whole, point, fraction, exponent = match.groups()
    digits, places = whole + fraction, len(fraction)
    units = b"0" * places
    steps = [1 << i for i in range(int(digits or b"0").bit_length() + 2)]
    steps += [int(b"%d%s" % (1 << i, units)) for i in range(int(whole or b"0").bit_length() + BEYOND)]
    value = int(sign.replace(b"+", b"") + (digits or b"0"))
    for step in dict.fromkeys(steps):
        for changed in (value + step, value - step):
            shown = (b"%d" % abs(changed)).zfill(places + (1 if whole else 0))
            head, tail = (shown[: len(shown) - places], shown[len(shown) - places :]) if places else (shown, b"")
            yield (b"-" if changed < 0 else sign.replace(b"-", b"")) + head + point + tail + exponent
    if exponent:
        for changed_exponent in _integers(exponent[1:]):
            yield sign + whole + point + fraction + exponent[:1] + changed_exponent


def _symbols(text: bytes, kind: TokenKind) -> Iterator[bytes]:
    """The other members of the symbol's groups, in capitals where the text is."""
    wanted = text.lower() if kind.ignore_case else text
    for group in kind.groups:
        if wanted in [member.lower() if kind.ignore_case else member for member in group]:
            for member in group:
                yield _in_case_of(member, text) if kind.ignore_case else member


def _in_case_of(member: bytes, text: bytes) -> bytes:
    return member.upper() if text.isupper() else member.lower() if text.islower() else member
