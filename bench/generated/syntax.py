"""C source as a syntax tree: its nodes by type, the variables that a place sees, and texts with one part changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_c.language()))
_WRAPPERS = ("pointer_declarator", "array_declarator", "init_declarator", "parenthesized_declarator")


@dataclass(slots=True, frozen=True, order=True)
class Edit:
    """A change of a source: its bytes from ``start`` to ``end`` become ``text``; ``about`` says what is wrong then."""

    start: int
    end: int
    text: bytes
    about: str


@dataclass
class Source:
    """A C file and its tree. Positions are bytes."""

    text: bytes
    _by_type: dict[str, list[Node]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = _PARSER.parse(self.text).root_node
        found = defaultdict[str, list[Node]](list)
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node.is_named:
                found[node.type].append(node)
            stack += reversed(node.children)
        self._by_type = dict(found)

    def nodes(self, *types: str) -> Iterator[Node]:
        """The nodes of these types that stand in a function's body, in order of the types, then of the text."""
        yield from (node for node in self.anywhere(*types) if self.function(node) is not None)

    def anywhere(self, *types: str) -> Iterator[Node]:
        """The nodes of these types, also those outside of functions, in order of the types, then of the text."""
        for type_ in types:
            yield from self._by_type.get(type_, ())

    def function(self, node: Node) -> Node | None:
        """The function in whose body a node stands."""
        around = node.parent
        while around is not None and around.type != "function_definition":
            around, node = around.parent, around
        body = around.child_by_field_name("body") if around is not None else None
        return around if body is not None and node == body else None

    def of(self, node: Node) -> str:
        """A node's text."""
        return self.text[node.start_byte : node.end_byte].decode()

    def variables(self, node: Node) -> dict[str, str]:
        """The variables that a function sees at a node, with their types; those of blocks count everywhere in it."""
        function = self.function(node)
        return {**self._declared[None], **(self._declared.get(function.id, {}) if function else {})}

    @cached_property
    def _declared(self) -> dict[int | None, dict[str, str]]:
        """Variables with their types, by the function that they belong to (None: to none)."""
        found: dict[int | None, dict[str, str]] = defaultdict(dict)
        for type_ in ("declaration", "parameter_declaration"):
            for node in self._by_type.get(type_, ()):
                function = self._function_around(node)
                for name, shape in self._declarators(node):
                    found[function.id if function else None][name] = f"{self._type(node)} {shape}".strip()
        found[None] |= {}
        return found

    @cached_property
    def members(self) -> dict[str, list[tuple[str, str]]]:
        """For each member's name the members of its structure with their types; but for names of several structures."""
        found: dict[str, list[tuple[str, str]]] = {}
        several = set[str]()
        for body in self._by_type.get("field_declaration_list", ()):
            mine = [
                (name, f"{self._type(node)} {shape}".strip())
                for node in body.named_children
                if node.type == "field_declaration"
                for name, shape in self._declarators(node)
            ]
            for name, _ in mine:
                several |= {name} & found.keys()
                found[name] = mine
        return {name: mine for name, mine in found.items() if name not in several}

    @cached_property
    def functions(self) -> dict[str, tuple[str, ...]]:
        """The functions that the file defines: their result's type and those of their parameters."""
        found = {}
        for node in self._by_type.get("function_definition", ()):
            declarator, result = node.child_by_field_name("declarator"), self._type(node)
            while declarator is not None and declarator.type == "pointer_declarator":
                declarator, result = declarator.child_by_field_name("declarator"), f"{result} *"
            if declarator is None or declarator.type != "function_declarator":
                continue
            name, parameters = declarator.named_children[:2]
            types = tuple(
                f"{self._type(parameter)} {' '.join(shape for _, shape in self._declarators(parameter))}".strip()
                for parameter in parameters.named_children
            )
            found[self.of(name)] = (result, *types)
        return found

    def _function_around(self, node: Node) -> Node | None:
        around: Node | None = node
        while around is not None and around.type != "function_definition":
            around = around.parent
        return around

    def _type(self, node: Node) -> str:
        type_ = node.child_by_field_name("type")
        return self.of(type_) if type_ is not None else ""

    def _declarators(self, node: Node) -> Iterator[tuple[str, str]]:
        """The names that a declaration declares, each with its stars and brackets."""
        for declarator in node.children_by_field_name("declarator"):
            shape, inner = "", declarator
            while inner is not None and inner.type in _WRAPPERS:
                shape += {"pointer_declarator": "*", "array_declarator": "[]"}.get(inner.type, "")
                inner = inner.child_by_field_name("declarator")
            if inner is not None and inner.type in ("identifier", "field_identifier"):
                yield self.of(inner), shape

    # ---- Changed texts -----------------------------------------------------------------------------------------------

    def without(self, first: Node, last: Node | None, about: str) -> Edit:
        """The edit that removes the nodes from ``first`` to ``last``, and their lines where nothing else is there."""
        start, end = first.start_byte, (last or first).end_byte
        line = self.text.rfind(b"\n", 0, start) + 1
        behind = self.text.find(b"\n", end)
        if not self.text[line:start].strip() and not _code(self.text[end:behind]):
            return Edit(line, behind + 1, b"", about)
        return Edit(start, end, b"", about)

    def edited(self, edit: Edit) -> tuple[bytes, tuple[int, ...]]:
        """The text with the edit made, and the faulty lines in it, from 1.

        Of what was removed these are the line that it stood on, or, if that is gone, those before and behind the gap,
        and the one that a semicolon, a brace or an ``else`` in its place stands on.
        """
        text = self.text[: edit.start] + edit.text + self.text[edit.end :]
        lines = text.split(b"\n")
        first = text.count(b"\n", 0, edit.start) + edit.text[: -len(edit.text.lstrip()) or None].count(b"\n")
        if edit.text.strip(b" ;"):
            return text, tuple(range(first + 1, first + 2 + edit.text.strip().count(b"\n")))
        is_left = not self.text[: edit.end].endswith(b"\n")
        if is_left and _code(lines[first]):
            return text, (first + 1,)
        behind = next((n for n in range(first, len(lines)) if _code(lines[n])), None)
        before = next((n for n in range(first - 1, -1, -1) if _code(lines[n])), None)
        gap = first if is_left and lines[first].strip() else None
        return text, tuple(n + 1 for n in (before, gap, behind) if n is not None)


def _code(line: bytes) -> bytes:
    """What of a line is more than braces, an ``else`` and a comment; the end of a function counts."""
    code = line.split(b"/*")[0].split(b"//")[0].strip(b" \t{};")
    return b"}" if line.startswith(b"}") else b"" if code == b"else" else code
