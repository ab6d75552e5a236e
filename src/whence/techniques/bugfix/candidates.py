"""The candidate edits of a file: all changes of what stands on a line, with what each of them is called.

They are worth trying in the order of how suspicious their lines are, and of how likely such a change is (its tier).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, Unit, lines_of, walk
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.program.token_changes import changed_tokens
from whence.techniques.bugfix.expressions import ExpressionChanges, Splice
from whence.techniques.bugfix.scope import Scope
from whence.techniques.bugfix.statements import StatementChanges

if TYPE_CHECKING:
    from tree_sitter import Node

LATER = 15  # statements
LONGEST_UNIT = 2_000  # bytes; a longer one is no statement that anyone wrote by hand


class FileCandidates:
    """The candidate edits of one file, ``name`` being what statements call it; ``headers`` are those it includes."""

    def __init__(self, source: CSource, name: str, headers: Sequence[CSource] = ()) -> None:
        self.source, self._name = source, name
        scope = Scope(source, headers)
        self._expressions, self._statements = ExpressionChanges(scope), StatementChanges(scope)

    def on(self, line: int) -> Iterator[tuple[int, SourceEdit]]:
        """The edits of what stands on a line, each with its tier; the same text may be made by two of them."""
        for unit in self.source.units:
            if line in lines_of(unit.node) and unit.end - unit.start <= LONGEST_UNIT:
                for splice in self._expressions.of(unit):
                    if self._line_of(splice.start) == line or len(lines_of(unit.node)) == 1:
                        yield splice.tier, self._in_unit(unit, splice, line)
        for statement in self.source.statements:
            if statement.start_point[0] + 1 == line:
                for parts, tier in self._statements.of(statement):
                    yield tier, self._edit(line, parts)
        for declaration in self._declarations.get(line, ()):
            for parts, tier in self._statements.of_declaration(declaration):
                yield tier, self._edit(line, parts)

    @cached_property
    def _declarations(self) -> dict[int, list[Node]]:
        found: dict[int, list[Node]] = {}
        for node in walk(self.source.root):
            if node.type in ("declaration", "parameter_declaration") and not node.has_error:
                found.setdefault(node.start_point[0] + 1, []).append(node)
        return found

    def _line_of(self, offset: int) -> int:
        return self.source.text.count(b"\n", 0, offset) + 1

    def _in_unit(self, unit: Unit, splice: Splice, line: int) -> SourceEdit:
        """The edit that replaces a unit by one with a splice in it."""
        text = self.source.text
        new = text[unit.start : splice.start] + splice.text + text[splice.end : unit.end]
        part = Part(Kind.REPLACE, unit.start, unit.end, new, unit.place, unit.name)
        size = changed_tokens(text[splice.start : splice.end], splice.text)
        return SourceEdit(self._name, line, (part,), size)

    def _edit(self, line: int, parts: tuple[Part, ...]) -> SourceEdit:
        size = 0
        for part in parts:
            old = self.source.text[part.start : part.end] if part.kind in (Kind.DELETE, Kind.TEXT) else b""
            size += changed_tokens(old, part.text)
        return SourceEdit(self._name, line, parts, size)


def ordered(files: dict[str, FileCandidates], statements: Sequence[tuple[str, int]]) -> Iterable[SourceEdit]:
    """The distinct candidate edits of some statements, the most suspicious first.

    What is less likely waits: the edits of a tier come with those of the tier before of ``LATER`` statements on.
    """
    waves: dict[int, list[SourceEdit]] = {}
    for place, (file, line) in enumerate(statements):
        for tier, edit in files[file].on(line) if file in files else ():
            waves.setdefault(place + LATER * tier, []).append(edit)
    seen = set[tuple[str, tuple[Part, ...]]]()
    for wave in sorted(waves):
        for edit in waves[wave]:
            if (edit.file, edit.parts) not in seen:
                seen.add((edit.file, edit.parts))
                yield edit
