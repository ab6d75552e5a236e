"""C source as a syntax tree: its statements, and where an expression or a statement can be changed by itself.

Tree-sitter's grammar reads C before the preprocessor, so macros are what they look like. What it cannot read it marks,
and nothing there is offered for a change; so are bodies of macros, which are no tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_LEAVES = frozenset(("expression_statement", "return_statement", "break_statement", "continue_statement"))
_COMPOUND = frozenset(
    ["if_statement", "while_statement", "for_statement", "do_statement", "switch_statement", "compound_statement"]
)
_LISTS = frozenset(("compound_statement", "case_statement"))
_OF_THREADS = frozenset((b"_Thread_local", b"thread_local", b"__thread"))
TESTING = frozenset(("if_statement", "while_statement", "do_statement", "for_statement"))


class Place(Enum):
    """What a unit is, which says how it can be chosen between texts while the program runs."""

    STATEMENT = "statement"
    CONDITION = "condition"  # only whether it is zero matters
    CHOICE = "choice"  # what a switch looks at
    STEP = "step"  # of a for: its value is not used
    INITIALISER = "initialiser"  # of a scalar local
    LOCAL_TABLE = "local table"  # the initialiser of an aggregate that is set up each time the program comes there
    TABLE = "table"  # ... of one whose bytes stand in the program


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the source that can be replaced as a whole; ``name`` is the variable of an initialiser or a table."""

    place: Place
    node: Node
    name: str = ""

    @property
    def start(self) -> int:
        """The offset of its first byte."""
        return self.node.start_byte

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.node.end_byte


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_c

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


class CSource:
    """The text of one C file with its tree."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._tree = _parser().parse(text)
        self.root: Node = self._tree.root_node
        self.newline = b"\r\n" if b"\r\n" in text[: text.find(b"\n") + 1] else b"\n"

    @cached_property
    def included(self) -> list[tuple[str, bool]]:
        """The names of the files that it includes, and whether each stands in quotes."""
        paths = (n.child_by_field_name("path") for n in walk(self.root) if n.type == "preproc_include")
        known = ("string_literal", "system_lib_string")
        return [(self.name(n).strip('"<>'), n.type == known[0]) for n in paths if n is not None and n.type in known]

    def of(self, node: Node) -> bytes:
        """The text of a node."""
        return self.text[node.start_byte : node.end_byte]

    def name(self, node: Node) -> str:
        """The text of a node, as a string."""
        return self.of(node).decode("latin-1")

    @cached_property
    def functions(self) -> list[Node]:
        """The definitions of functions, in order."""
        return [node for node in walk(self.root) if node.type == "function_definition"]

    @cached_property
    def named_functions(self) -> dict[str, Node]:
        """The definitions of functions by their names."""
        return {declared_name(self, node.child_by_field_name("declarator") or node): node for node in self.functions}

    def function_at(self, start: int) -> Node | None:
        """The function that holds an offset."""
        return next((f for f in self.functions if f.start_byte <= start < f.end_byte), None)

    @cached_property
    def statements(self) -> list[Node]:
        """The statements inside functions that stand in a list or are the body of another one."""
        found = (node for function in self.functions for node in walk(function))
        return [node for node in found if is_statement(node) and _is_sound(node)]

    def inside(self, function: Node) -> list[Node]:
        """The statements inside one function."""
        return [node for node in self.statements if function.start_byte < node.start_byte < function.end_byte]

    def called(self, node: Node) -> frozenset[str]:
        """What the calls in a node call, as it is written there."""
        calls = (n.child_by_field_name("function") for n in walk(node) if n.type == "call_expression")
        return frozenset(self.name(function) for function in calls if function is not None)

    @cached_property
    def empty_blocks(self) -> list[Node]:
        """The blocks in functions that hold nothing, not even a comment; branches and loops that are a semicolon."""
        found = (node for function in self.functions for node in walk(function) if not node.named_children)
        return [node for node in found if _is_empty(node) and _is_sound(node)]

    @cached_property
    def blocks_alone(self) -> list[Node]:
        """The blocks with statements that stand in a list by themselves, and keep no variables of their own."""
        return [node for function in self.functions for node in walk(function) if _stands_alone(node)]

    @cached_property
    def units(self) -> list[Unit]:
        """All units inside functions, in order of the text."""
        found = (unit for function in self.functions for node in walk(function) for unit in _units(self, node))
        return [unit for unit in found if _is_sound(unit.node)]

    @cached_property
    def tables(self) -> list[Unit]:
        """The initialisers of aggregates, inside functions and outside, in order of the text."""
        lists = (node for node in walk(self.root) if node.type == "initializer_list" and _is_sound(node))
        return [unit for node in lists if (unit := _table(self, node)) is not None]

    def declaration_at(self, start: int) -> Node | None:
        """The innermost declaration that holds an offset."""
        node = self.root.descendant_for_byte_range(start, start)
        while node is not None and node.type != "declaration":
            node = node.parent
        return node

    def indentation(self, offset: int) -> bytes:
        """The white space with which the line of an offset begins."""
        start = self.text.rfind(b"\n", 0, offset) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip())]

    def begins_line(self, node: Node) -> bool:
        """Whether nothing but white space stands before a node on its line."""
        start = self.text.rfind(b"\n", 0, node.start_byte) + 1
        return not self.text[start : node.start_byte].strip()


def own_headers(source: CSource, path: Path, folders: Sequence[Path] = ()) -> list[CSource]:
    """The headers that a file includes, and those that they include: beside what includes them, or in ``folders``.

    What is included in angle brackets is looked for in the folders alone. A header that several files include is read
    once.
    """
    found: dict[Path, CSource] = {}
    waiting = [(source, path)]
    while waiting:
        text, at = waiting.pop()
        for name, is_quoted in text.included:
            headers = (folder / name for folder in ([at.parent, *folders] if is_quoted else folders))
            header = next((header for header in headers if header.is_file()), None)
            if header is not None and (real := header.resolve()) not in found:
                found[real] = _header(real, real.stat().st_mtime_ns)
                waiting.append((found[real], header))
    return list(found.values())


@lru_cache(maxsize=1024)
def _header(path: Path, _changed: int) -> CSource:
    return CSource(path.read_bytes())


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in order of the text."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def tokens(node: Node) -> Iterator[Node]:
    """The tokens of a node, in order; a literal is one, and comments are none."""
    if node.type == "comment":
        return
    if not node.child_count or node.type in ("string_literal", "char_literal", "number_literal"):
        if node.end_byte > node.start_byte:
            yield node
        return
    for child in node.children:
        yield from tokens(child)


def lines_of(node: Node) -> range:
    """The lines of a node, from 1."""
    return range(node.start_point[0] + 1, node.end_point[0] + 2)


def is_statement(node: Node) -> bool:
    """Whether a node is a statement of a list, or the body of another statement."""
    return node.type in _LEAVES | (_COMPOUND - {"compound_statement"}) and not _is_missing(node)


def is_leaf(node: Node) -> bool:
    """Whether a statement has no statement in it, and is no declaration."""
    return node.type in _LEAVES


def is_listed(node: Node) -> bool:
    """Whether a statement stands in a list of statements, and not alone as the body of another one."""
    return node.parent is not None and node.parent.type in _LISTS


def beside(node: Node, step: int) -> Node | None:
    """What stands behind a statement in its list (``step`` 1), or in front of it (-1), comments left out."""
    found = node.next_named_sibling if step > 0 else node.prev_named_sibling
    while found is not None and found.type == "comment":
        found = found.next_named_sibling if step > 0 else found.prev_named_sibling
    return found


def _is_missing(node: Node) -> bool:
    """Whether the reader has made up a part of a node: ``FOREACH(i, list) {`` looks like a call without semicolon."""
    return any(child.is_missing for child in node.children)


def _is_sound(node: Node) -> bool:
    """Whether all of a node was understood, and the preprocessor cuts nothing out of it."""
    if node.has_error:
        return False
    return not any(child.type.startswith("preproc_") for child in walk(node))


def _is_empty(node: Node) -> bool:
    """Whether a node without anything in it is a block that is no function's, or all that a branch does.

    Or all that a loop does whose variable its head declares: nothing is left of that when it ends.
    """
    parent = node.parent
    around = parent.type if parent is not None else ""
    if node.type == "compound_statement":
        return around != "function_definition"
    begins = parent.child_by_field_name("initializer") if parent is not None and around == "for_statement" else None
    is_all = around in ("if_statement", "else_clause") or (begins is not None and begins.type == "declaration")
    return node.type == "expression_statement" and is_all


def _stands_alone(node: Node) -> bool:
    """Whether a node is a block of statements that nothing leads to, that keeps no variable, and no program made."""
    if node.type != "compound_statement" or node.parent is None or node.parent.type != "compound_statement":
        return False
    before, inner = node.prev_named_sibling, [child for child in node.named_children if child.type != "comment"]
    is_made = before is not None and before.type.startswith("preproc_")
    return bool(inner) and not is_made and not node.has_error and all(map(is_statement, inner))


def _units(source: CSource, node: Node) -> Iterator[Unit]:
    """The units that a node is or directly has."""
    if is_leaf(node) and not _is_missing(node):
        yield Unit(Place.STATEMENT, node)
    elif node.type in TESTING | {"switch_statement"}:
        condition = node.child_by_field_name("condition")
        place = Place.CHOICE if node.type == "switch_statement" else Place.CONDITION
        if condition is not None:
            inner = condition.named_children if condition.type == "parenthesized_expression" else [condition]
            yield from (Unit(place, part) for part in inner if part.type != "comment")
        for name in ("initializer", "update"):
            part = node.child_by_field_name(name) if node.type == "for_statement" else None
            if part is not None and part.type != "declaration":
                yield Unit(Place.STEP, part)
    elif node.type == "init_declarator":
        value, declarator = node.child_by_field_name("value"), node.child_by_field_name("declarator")
        if value is None or declarator is None or value.type == "initializer_list" or _is_static(source, node):
            return
        name = declared_name(source, declarator)
        if name and "array_declarator" not in {n.type for n in walk(declarator)}:
            yield Unit(Place.INITIALISER, value, name)


def _is_static(source: CSource, declarator: Node) -> bool:
    declaration = declarator.parent
    return declaration is None or not {b"static", b"extern"}.isdisjoint(_storage(source, declaration))


def _storage(source: CSource, declaration: Node) -> set[bytes]:
    return {source.of(child) for child in declaration.children if child.type == "storage_class_specifier"}


def _table(source: CSource, node: Node) -> Unit | None:
    """The initialiser of an aggregate as a unit; None where a list is part of another, or each thread has its own."""
    declarator = node.parent
    declaration = declarator.parent if declarator is not None and declarator.type == "init_declarator" else None
    if declarator is None or declaration is None or declaration.parent is None:
        return None
    storage = _storage(source, declaration)
    name = declared_name(source, declarator)
    if not name or declaration.type != "declaration" or not storage.isdisjoint(_OF_THREADS):
        return None
    around = declaration.parent
    is_static = b"static" in storage or around.type == "translation_unit" or around.type.startswith("preproc_")
    if not is_static and around.type != "compound_statement":
        return None
    return Unit(Place.TABLE if is_static else Place.LOCAL_TABLE, node, name)


def entries(node: Node) -> Iterator[Node]:
    """The values that an initialiser lists, those of lists within it, in order of the text."""
    for child in node.named_children:
        value = child.child_by_field_name("value") if child.type == "initializer_pair" else child
        if value is None or value.type == "comment":
            continue
        if value.type == "initializer_list":
            yield from entries(value)
        else:
            yield value


def declared_name(source: CSource, declarator: Node) -> str:
    """The name that a declarator declares; empty where there is none."""
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier", "type_identifier"):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "parenthesized_declarator":
            inner = next(iter(node.named_children), None)
        node = inner
    return source.name(node) if node is not None else ""
