"""How well a statement fits at a place: which of the hundreds that could be put in there is likely to be missing.

Programs repeat themselves: what stands beside a statement often stands beside the like of it elsewhere, with other
variables. The weights are the most likely ones where the statement that was taken out of a place is drawn by softmax
from all that could be put in (``bench.insertions``, which learned them from other programs than the corpus').

But what is forgotten is often what nothing else in the program is like. So half of how likely a statement is comes from
how well it fits, and half from its tier alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp, log
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, beside
from whence.program.token_changes import c_tokens
from whence.techniques.bugfix.likelihood import TIER

if TYPE_CHECKING:
    from tree_sitter import Node

WEIGHTS = {
    "copied": 2.9,  # the file has it, up to three times (a third each)
    "of a known shape": 2.5,  # ... or has it with other variables
    "follows the like": 3.0,  # such a statement comes behind such a one as is in front, elsewhere in the file
    "precedes the like": 2.9,  # ... in front of such a one as is behind
    "set before": -1.7,  # the statement in front sets the same place
    "set behind": -2.2,  # the one behind does, so that it would be lost
    "read later": 0.3,  # what it sets, in its function
    "names nearby": 0.7,  # the share of its names that both neighbours have
    "value nearby": 0.6,  # what it sets something to is a part of the statement in front
    "new names": -0.9,  # the number of those that its function does not have
}
COPIES = 3
HALF = 0.5  # by the fit, and by the tier
_NAME, _CONSTANT = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[A-Z][A-Z0-9_]*")
_SETTING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="))
_STEPS = frozenset(("++", "--"))


@dataclass(frozen=True, slots=True)
class _Read:
    """What a statement says: its names but for those of functions, these, what it sets and to what, and its shape."""

    text: str
    names: frozenset[str]
    called: frozenset[str]
    left: str
    right: str
    shape: str


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place between two statements (None: there is none), and what its function has there and behind it."""

    before: _Read | None
    behind: _Read | None
    names: frozenset[str]
    later: frozenset[str]


class Fitting:
    """How well statements fit at the places of one file."""

    def __init__(self, source: CSource) -> None:
        self._source = source
        self._named: dict[int, list[tuple[int, str]]] = {}  # names by where their function begins

    def tiers(self, node: Node, behind: bool, texts: Sequence[tuple[str, int]]) -> Iterator[tuple[str, float]]:
        """The statements that could stand in front of one or ``behind`` it, each with the tier that is as likely."""
        gap = self._gap(node, behind)
        scores = [_weighed(self._features(gap, text)) for text, _ in texts]
        fits, plain = [exp(score - max(scores)) for score in scores], [TIER**tier for _, tier in texts]
        likely, alone = sum(fits), sum(plain)
        for (text, _), fit, own in zip(texts, fits, plain, strict=True):
            yield text, log(HALF * fit / likely * alone + HALF * own) / log(TIER)

    def features(self, node: Node, behind: bool, text: str) -> dict[str, float]:
        """What ``WEIGHTS`` are for: what speaks for a statement in front of one, or ``behind`` it, and against it."""
        return self._features(self._gap(node, behind), text)

    def _features(self, gap: _Gap, text: str) -> dict[str, float]:
        read, before, behind = _read(text), gap.before, gap.behind
        near = (before.names if before else frozenset()) | (behind.names if behind else frozenset())
        left = _NAME.findall(read.left)[-1:]
        return {
            "copied": min(self._copies[read.text], COPIES) / COPIES,
            "of a known shape": read.shape in self._shapes,
            "follows the like": before is not None and (before.shape, read.shape) in self._pairs,
            "precedes the like": behind is not None and (read.shape, behind.shape) in self._pairs,
            "set before": bool(left) and before is not None and before.left == read.left,
            "set behind": bool(left) and behind is not None and behind.left == read.left,
            "read later": bool(left) and left[0] in gap.later,
            "names nearby": len(read.names & near) / max(1, len(read.names)),
            "value nearby": bool(read.right) and before is not None and read.right in before.text,
            "new names": len((read.names | read.called) - gap.names),
        }

    def _gap(self, node: Node, behind: bool) -> _Gap:
        first, second = (node, beside(node, 1)) if behind else (beside(node, -1), node)
        function, at = self._source.function_at(node.start_byte), node.end_byte if behind else node.start_byte
        words = self._words(function) if function is not None else []
        names = frozenset(name for _, name in words)
        return _Gap(
            self._head(first), self._head(second), names, frozenset(name for place, name in words if place >= at)
        )

    def _words(self, function: Node) -> list[tuple[int, str]]:
        """The names in a function, each with its place in the file."""
        if function.start_byte not in self._named:
            text, start = self._source.name(function), function.start_byte
            self._named[start] = [(start + found.start(), found[0]) for found in _NAME.finditer(text)]
        return self._named[function.start_byte]

    def _head(self, node: Node | None) -> _Read | None:
        """A statement without those that it holds."""
        if node is None:
            return None
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        end = body.start_byte if body is not None else node.end_byte
        return _read(self._source.text[node.start_byte : end].decode("latin-1"))

    @cached_property
    def _simple(self) -> list[_Read]:
        nodes = (node for node in self._source.statements if node.type == "expression_statement")
        return [_read(self._source.name(node)) for node in nodes]

    @cached_property
    def _copies(self) -> Counter[str]:
        return Counter(read.text for read in self._simple)

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(read.shape for read in self._simple)

    @cached_property
    def _pairs(self) -> frozenset[tuple[str, str]]:
        """The shapes of statements that stand one behind the other."""
        both = ((self._head(beside(node, -1)), self._head(node)) for node in self._source.statements)
        return frozenset((before.shape, read.shape) for before, read in both if before is not None and read is not None)


def _weighed(features: Mapping[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in features.items())


@lru_cache(maxsize=1 << 15)  # the same statement could stand at many places
def _read(text: str) -> _Read:
    tokens = c_tokens(text.encode("latin-1"))
    names, called, shape = set[str](), set[str](), []
    for before, token, behind in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        is_name, is_member = bool(_NAME.fullmatch(token)), before in ("->", ".")
        if is_name:
            (called if behind == "(" else names).add(token)
        is_variable = is_name and behind != "(" and not is_member and not _CONSTANT.fullmatch(token)
        shape.append("v" if is_variable else '""' if token.startswith('"') else token)
    left, right = _assigned(tokens)
    return _Read(" ".join(tokens), frozenset(names), frozenset(called), left, right, " ".join(shape))


def _assigned(tokens: list[str]) -> tuple[str, str]:
    """What a statement sets, and to what; empty where it sets nothing, or changes it by a step."""
    at = next((number for number, token in enumerate(tokens) if token in _SETTING or token in _STEPS), None)
    if at is None:
        return "", ""
    if tokens[at] in _STEPS:
        return " ".join(tokens[:at] or tokens[1:-1]), ""
    return " ".join(tokens[:at]), " ".join(tokens[at + 1 : -1])
