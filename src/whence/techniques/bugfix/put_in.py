"""Statements that are put in beside another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.program.c_source import is_listed, lines_of
from whence.program.source_edits import Kind, Part

if TYPE_CHECKING:
    from tree_sitter import Node

Change = tuple[int, Part]  # the line of a statement, and what is put in beside it


def put_in(kind: Kind, statement: Node, text: str) -> Change:
    """A text put in before or behind a statement, in place of a lone semicolon, with the line that comes there."""
    start, end = statement.start_byte, statement.end_byte
    if _is_empty(statement):
        kind = Kind.REPLACE
    part = Part(kind, start, end, text.encode("latin-1"), listed=is_listed(statement))
    return _line_that_runs(statement), part


def _line_that_runs(statement: Node) -> int:
    """The first line of a statement, or, of one that does nothing, of the statement that it is a part of."""
    at = statement.parent if _is_empty(statement) and statement.parent is not None else statement
    return lines_of(at.parent if at.type == "else_clause" and at.parent is not None else at).start


def _is_empty(statement: Node) -> bool:
    return statement.type == "expression_statement" and not statement.named_children
