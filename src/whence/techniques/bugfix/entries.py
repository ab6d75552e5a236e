"""Changes of what a table is initialised with: another number, name or string, and two entries exchanged.

What an entry should be mostly stands in the same column of another row, or is a number near it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.program.c_source import Unit, entries, walk
from whence.techniques.bugfix.expressions import Splice, near_numbers, numbers_around, slips
from whence.techniques.bugfix.scope import Scope

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_COLUMN, MOST_NAMES = 10, 16
_NUMBERS = frozenset(("number_literal", "unary_expression"))
_CHANGED = frozenset(("number_literal", "unary_expression", "char_literal", "string_literal", "identifier", "null"))
_TRUTHS = {"true": "false", "false": "true"}


class EntryChanges:
    """The changes of the entries of tables in one file."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._source = scope, scope.source

    def of(self, table: Unit, entry: Node) -> Iterator[Splice]:
        """The changes of an entry (one of ``entries``) of a table."""
        if entry.type not in _CHANGED:
            yield from self._inside(entry)
        old = self._source.name(entry)
        found: dict[str, int] = {}
        for text, tier in (*self._alike(table, entry), *self._others(entry, old)):
            found[text] = min(tier, found.get(text, tier))
        for text, tier in found.items():
            if text != old:
                yield Splice(entry.start_byte, entry.end_byte, text.encode("latin-1"), tier)
        yield from self._exchanged(entry)

    def _alike(self, table: Unit, entry: Node) -> Iterator[tuple[str, int]]:
        """What stands in the same column, the nearest rows first."""
        if entry.type not in _CHANGED:
            return
        column, start = _column(entry), entry.start_byte
        same = [e for e in entries(table.node) if e.type in (entry.type, "number_literal") and _column(e) == column]
        same = [e for e in same if e.type == entry.type or entry.type in _NUMBERS]
        same.sort(key=lambda other: abs(other.start_byte - start))
        texts = list(dict.fromkeys(self._source.name(other) for other in same if other != entry))
        yield from ((text, 0) for text in texts[:MOST_COLUMN])

    def _others(self, entry: Node, old: str) -> Iterator[tuple[str, int]]:
        """Numbers near a number, its negative; the other names of a list of enumerators; functions of the same form."""
        if entry.type == "number_literal":
            for place, text in enumerate(near_numbers(old)):
                yield text, 0 if place < 2 else 1  # one more, one less
            yield f"-{old}", 1
            yield from ((text, 2) for text in slips(old))
            yield from ((text, 3) for text in numbers_around(old))
        elif entry.type == "unary_expression":
            yield old.lstrip("-+~! "), 1
        elif entry.type == "identifier":
            arity = self._scope.functions.get(old)
            known = self._scope.functions.items() if arity is not None else ()
            functions = [name for name, number in known if number == arity and name != "main"]
            later = self._scope.later(entry.start_byte)
            names = [*self._scope.siblings(old), *(name for name in functions if name not in later)]
            yield from ((name, 1) for name in names[:MOST_NAMES])
        if old in _TRUTHS:
            yield _TRUTHS[old], 0

    def _inside(self, entry: Node) -> Iterator[Splice]:
        """Numbers near those of a constant expression."""
        for node in walk(entry):
            for text in near_numbers(self._source.name(node)) if node.type == "number_literal" else ():
                yield Splice(node.start_byte, node.end_byte, text.encode("latin-1"), 1)

    def _exchanged(self, entry: Node) -> Iterator[Splice]:
        """The entry, and the row that it begins, exchanged with what follows."""
        at: Node | None = entry
        while at is not None and at.type in ("initializer_list", *_CHANGED):
            other = at.next_named_sibling
            while other is not None and other.type == "comment":
                other = other.next_named_sibling
            if other is not None and other.type == at.type:
                own, following = self._source.of(at), self._source.of(other)
                text = following + self._source.text[at.end_byte : other.start_byte] + own
                if own != following:
                    yield Splice(at.start_byte, other.end_byte, text, 1)
            at = at.parent if at.prev_named_sibling is None else None


def _column(entry: Node) -> tuple[str, object]:
    """Where an entry stands in its row: a designator or a number; of a list that is no row of others all are alike."""
    parent = entry.parent
    if parent is not None and parent.type == "initializer_pair":
        designator = parent.child_by_field_name("designator")
        return "member", designator.text if designator is not None and designator.type == "field_designator" else b""
    row = parent.parent if parent is not None else None
    if parent is None or row is None or row.type not in ("initializer_list", "initializer_pair"):
        return "list", 0
    starts = [child.start_byte for child in parent.named_children if child.type != "comment"]
    return "row", starts.index(entry.start_byte)
