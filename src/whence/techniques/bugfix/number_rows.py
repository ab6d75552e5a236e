"""Statements of a row that differ in their numbers alone, and what such a row lacks: one between two, or one more.

``bit[1] = code >> 1 & 1;`` in front of ``bit[3] = code >> 3 & 1;`` asks for the one with 2; three that go on by the
same steps may lack the next one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, is_leaf, is_listed, tokens, walk
from whence.program.source_edits import Kind
from whence.techniques.bugfix.put_in import Change, put_in

if TYPE_CHECKING:
    from tree_sitter import Node

LONG = 3  # statements of a row that may lack the next one
_NUMBER = re.compile(r"\d+")

Numbers = tuple[int, ...]


def lacking(source: CSource, function: Node) -> Iterator[Change]:
    """The statements that rows of a function lack: first those between two others, then those at an end."""
    rows = list(_rows(source, function))
    for row in rows:
        step = _step([numbers for _, numbers in row])
        for (node, numbers), (_, after) in pairwise(row):
            between = tuple(number + by for number, by in zip(numbers, step, strict=True))
            if any(step) and _apart(numbers, after) == tuple(2 * by for by in step):
                yield put_in(Kind.BEHIND, node, _with(source, node, between))
    for row in rows:
        known = [numbers for _, numbers in row]
        steps = {_apart(one, other) for one, other in pairwise(known)}
        if len(row) >= LONG and len(steps) == 1:
            (step,), (last, at_end) = steps, row[-1]
            if any(step):
                following = tuple(number + by for number, by in zip(at_end, step, strict=True))
                yield put_in(Kind.BEHIND, last, _with(source, last, following))


def _rows(source: CSource, function: Node) -> Iterator[list[tuple[Node, Numbers]]]:
    """The rows of at least two statements: neighbours in a list, alike but for their numbers."""
    for block in walk(function):
        inside = [node for node in block.named_children if node.type != "comment"]
        for shape, nodes in groupby(inside, lambda node: _shape(source, node)):
            row = [(node, _numbers(source, node)) for node in nodes] if shape else []
            if len(row) > 1:
                yield row


def _shape(source: CSource, node: Node) -> tuple[str, ...]:
    """The tokens of a simple statement without its numbers; none of another one."""
    if not (is_leaf(node) and is_listed(node)):
        return ()
    return tuple("#" if _NUMBER.fullmatch(text) else text for text in map(source.name, tokens(node)))


def _numbers(source: CSource, node: Node) -> Numbers:
    return tuple(int(text) for text in map(source.name, tokens(node)) if _NUMBER.fullmatch(text))


def _with(source: CSource, node: Node, numbers: Numbers) -> str:
    """The text of a statement with other numbers."""
    text, start = source.of(node), node.start_byte
    places = [one for one in tokens(node) if _NUMBER.fullmatch(source.name(one))]
    for at, number in reversed(list(zip(places, numbers, strict=True))):
        text = text[: at.start_byte - start] + str(number).encode() + text[at.end_byte - start :]
    return text.decode("latin-1")


def _apart(one: Numbers, other: Numbers) -> Numbers:
    return tuple(b - a for a, b in zip(one, other, strict=True))


def _step(row: list[Numbers]) -> Numbers:
    """By what a row's numbers go on mostly: of two statements half of what they are apart, where that is 1 or 0."""
    steps = [_apart(one, other) for one, other in pairwise(row)]
    if len(steps) == 1:
        return tuple(by // 2 for by in steps[0]) if set(steps[0]) <= {0, 2} else tuple(0 for _ in steps[0])
    return Counter(steps).most_common(1)[0][0]
