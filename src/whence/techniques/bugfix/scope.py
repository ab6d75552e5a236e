"""What a place of a C file can name: variables with their types, functions, members, constants; by its syntax alone.

Of variables that other files define, which macros of headers may hide from it, debug information tells.

A name that is offered where it means nothing costs an edit that the compiler refuses, which is left out and counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name, walk

if TYPE_CHECKING:
    from tree_sitter import Node

POINTER, NUMBER, OTHER = "pointer", "number", "other"
_IGNORED = frozenset(("storage_class_specifier", "type_qualifier", "attribute_specifier"))
_BLOCKS = ("compound_statement", "case_statement", "translation_unit")
_DECLARING = frozenset((*_BLOCKS, "for_statement", "function_definition"))
_AGGREGATE = re.compile(r"\b(?:struct|union)\b")
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9_]+")


def declared(source: CSource, declaration: Node) -> Iterator[tuple[str, str]]:
    """The names that a declaration or a parameter declares, each with its type such as ``struct item *``."""
    yield from ((name, type_) for name, type_, _ in _declarators(source, declaration))


def _declarators(source: CSource, declaration: Node) -> Iterator[tuple[str, str, int]]:
    """The names that are declared, with their types, and where their declarators with their first values end."""
    kind = declaration.child_by_field_name("type")
    if kind is None:
        return
    words = [source.name(c) for c in declaration.children if c.type not in _IGNORED and c.end_byte <= kind.end_byte]
    base = " ".join(" ".join(words).split())
    base = base.partition("{")[0].strip()
    for declarator in declaration.children_by_field_name("declarator"):
        inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
        name = declared_name(source, inner) if inner is not None else ""
        if inner is None or not name or any(n.type == "function_declarator" for n in walk(inner)):
            continue
        stars = sum(n.type in ("pointer_declarator", "array_declarator") for n in walk(inner))
        yield name, f"{base} {'*' * stars}".strip(), declarator.end_byte


def kind_of(type_: str) -> str:
    """Whether a type is a pointer, a number (or a name that may be one), or an aggregate."""
    if type_.endswith("*"):
        return POINTER
    return OTHER if _AGGREGATE.search(type_) else NUMBER


def _declaring(node: Node | None) -> Node | None:
    """The innermost node from one upward that declares variables for what is in it."""
    while node is not None and node.type not in _DECLARING:
        node = node.parent
    return node


class Scope:
    """The names of one file; members and constants are also those of ``headers``.

    ``shared`` are the variables of other files that it can use, each with its type. ``is_alone``: there are none.
    """

    def __init__(
        self,
        source: CSource,
        headers: Sequence[CSource] = (),
        shared: Mapping[str, str] | None = None,
        is_alone: bool = False,
    ) -> None:
        self.source, self.is_alone = source, is_alone
        self.texts = (source, *headers)
        self._shared = shared or {}
        self._declared: dict[int, list[tuple[str, str, int]]] = {}  # by where a declaration begins
        self._visible: dict[tuple[int, int], dict[str, str]] = {}  # by block, and declarators in front of a place
        self._pointers: dict[int, set[str]] = {}  # to functions, by where a function begins
        self._siblings: dict[str, list[str]] = {}

    def variables(self, node: Node, before: int | None = None) -> dict[str, str]:
        """The variables that a node can name, the innermost first, each with its type; not to be changed.

        Those are declared in front of it, or of the offset ``before``.
        """
        block, start = _declaring(node.parent), node.start_byte if before is None else before
        # Nothing is declared between two places of a block with the same number of declarators in front of them.
        key = (block.id if block is not None else 0, bisect_right(self._declared_before, start))
        if key not in self._visible:
            self._visible[key] = self._variables(block, start)
        return self._visible[key]

    def _variables(self, block: Node | None, before: int) -> dict[str, str]:
        found: dict[str, str] = {}
        while block is not None:
            for name, type_ in self._declared_in(block, before):
                found.setdefault(name, type_)
            block = _declaring(block.parent)
        for name, type_ in self._shared.items():
            found.setdefault(name, type_)
        return found

    @cached_property
    def _declared_before(self) -> list[int]:
        """Where the declarators of the file end, in order."""
        declarations = (
            node for node in walk(self.source.root) if node.type in ("declaration", "parameter_declaration")
        )
        return sorted(end for node in declarations for _, _, end in _declarators(self.source, node))

    def _declared_in(self, node: Node, before: int) -> Iterator[tuple[str, str]]:
        if node.type in _BLOCKS:
            for child in reversed(node.children):
                if child.type == "declaration" and child.start_byte < before:
                    yield from self._names_of(child, before)
        elif node.type == "for_statement":
            first = node.child_by_field_name("initializer")
            if first is not None and first.type == "declaration":
                yield from self._names_of(first, before)
        elif node.type == "function_definition":
            for parameter in _parameters(node):
                yield from self._names_of(parameter, node.end_byte)

    def _names_of(self, declaration: Node, before: int) -> Iterator[tuple[str, str]]:
        """The names that a declaration declares in front of an offset, each with its type."""
        start = declaration.start_byte
        if start not in self._declared:
            self._declared[start] = list(_declarators(self.source, declaration))
        yield from ((name, type_) for name, type_, end in self._declared[start] if end <= before)

    def function_pointers(self, node: Node) -> set[str]:
        """The pointers to functions that the function around a node declares."""
        function = self.source.function_at(node.start_byte)
        if function is None:
            return set()
        if function.start_byte not in self._pointers:
            declarators = (
                n.child_by_field_name("declarator") for n in walk(function) if n.type == "function_declarator"
            )
            bracketed = (n for n in declarators if n is not None and n.type == "parenthesized_declarator")
            self._pointers[function.start_byte] = {declared_name(self.source, n) for n in bracketed}
        return self._pointers[function.start_byte]

    @cached_property
    def compares_strings(self) -> bool:
        """Whether the file declares the C library's comparison of strings."""
        return any(b"<string.h>" in text.text for text in self.texts)

    @cached_property
    def globals(self) -> set[str]:
        """The variables that the file declares outside of functions, and those of other files that it can use."""
        outside = (node for node in self.source.root.children if node.type == "declaration")
        return {*self._shared, *(name for node in outside for name, _ in declared(self.source, node))}

    @cached_property
    def functions(self) -> dict[str, int]:
        """The functions that the file defines, each with the number of its parameters."""
        return {name: len(types) for name, types in self.parameters.items()}

    @cached_property
    def parameters(self) -> dict[str, list[str]]:
        """The functions that the file defines, each with the types of its parameters."""
        found = {}
        for function in self.source.functions:
            declarator = function.child_by_field_name("declarator")
            if declarator is not None:
                parameters = _parameters(function)
                types = [type_ for parameter in parameters for _, type_ in declared(self.source, parameter)]
                unnamed = [""] * (len(parameters) - len(types))
                found[declared_name(self.source, declarator)] = types + unnamed
        return found

    @cached_property
    def called(self) -> dict[str, int]:
        """What a call can name: functions and macros that the file and its headers declare, and what the file calls.

        Each has the number of its parameters, or of arguments that it gets.
        """
        calls = (n for n in walk(self.source.root) if n.type == "call_expression")
        found: dict[str, int] = {}
        for call in calls:
            name, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
            if name is not None and listed is not None and name.type == "identifier":
                found[self.source.name(name)] = sum(child.type != "comment" for child in listed.named_children)
        for text in self.texts:
            found |= _callable_in(text)
        return found

    def later(self, offset: int) -> set[str]:
        """The functions of the file that are not declared in front of an offset, so that no call there compiles."""
        return {name for name in self.functions if self._declared_at.get(name, offset) >= offset}

    @cached_property
    def _declared_at(self) -> dict[str, int]:
        """Where each function is declared first; those that a header declares at the start."""
        found: dict[str, int] = {}
        for text in self.texts:
            for node in text.root.children:
                if node.type in ("function_definition", "declaration"):
                    for declarator in node.children_by_field_name("declarator"):
                        name = declared_name(text, declarator)
                        found.setdefault(name, node.start_byte if text is self.source else 0)
                        if text is not self.source:
                            found[name] = 0
        return found

    @cached_property
    def sizes(self) -> dict[str, list[str]]:
        """For each array, variable or member, the sizes that it is declared with, one for each of its dimensions."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, size in (one for text in self.texts for one in _sizes_in(text)):
            found[name].append(size)
        return found

    def siblings(self, name: str) -> list[str]:
        """Of a member the others of structures that have it; of an enumerator those of its list."""
        if name not in self._siblings:
            lists = (names for text in self.texts for names in _lists_in(text).get(name, ()))
            self._siblings[name] = list(dict.fromkeys(other for names in lists for other in names if other != name))
        return self._siblings[name]

    @cached_property
    def constants(self) -> list[str]:
        """Names of constants: enumerators, and macros of one value."""
        found = [name for text in self.texts for name in _constants_in(text)]
        return list(dict.fromkeys(found))

    @cached_property
    def constant_names(self) -> frozenset[str]:
        """The same, in no order."""
        return frozenset(self.constants)

    def literals(self, node: Node) -> list[str]:
        """The texts of the file's literals of a node's type: its function's, nearest first, then the most frequent."""
        function = self.source.function_at(node.start_byte)
        own = self._literals[node.type, function.start_byte] if function is not None else []
        nearest = [text for _, text in sorted((abs(at - node.start_byte), text) for at, text in own)]
        return list(dict.fromkeys([*nearest, *self._frequent[node.type]]))

    @cached_property
    def _frequent(self) -> dict[str, list[str]]:
        """Of each node type the texts of all literals, the most frequent first."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for (kind, _), literals in self._literals.items():
            found[kind].update(text for _, text in literals)
        return defaultdict(list, {kind: [text for text, _ in counts.most_common()] for kind, counts in found.items()})

    @cached_property
    def _literals(self) -> dict[tuple[str, int], list[tuple[int, str]]]:
        """By node type and function (by where it begins): where literals stand, and their texts."""
        found: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
        for function in self.source.functions:
            for node in walk(function):
                if node.type in ("number_literal", "char_literal"):
                    found[node.type, function.start_byte].append((node.start_byte, self.source.name(node)))
        return found

    def is_constant(self, name: str) -> bool:
        """Whether a name is that of a constant, as far as can be seen."""
        return name in self.constant_names or bool(_CONSTANT_NAME.fullmatch(name))


def _names_in(source: CSource, members: Node) -> Iterator[str]:
    """The names of a list of members or enumerators."""
    for child in members.named_children:
        if child.type == "enumerator":
            name = child.child_by_field_name("name")
            yield source.name(name) if name is not None else ""
        elif child.type == "field_declaration":
            yield from (name for name, _ in declared(source, child))


@lru_cache(maxsize=1024)  # of a header, for all files that include it
def _constants_in(source: CSource) -> tuple[str, ...]:
    """The names of macros of one value, then those of enumerators."""
    found: dict[str, list[str]] = {"preproc_def": [], "enumerator": []}
    for node in walk(source.root):
        name = node.child_by_field_name("name") if node.type in found else None
        if name is not None and (node.type == "enumerator" or node.child_by_field_name("value") is not None):
            found[node.type].append(source.name(name))
    return (*found["preproc_def"], *found["enumerator"])


@lru_cache(maxsize=1024)
def _callable_in(source: CSource) -> dict[str, int]:
    """The functions that a file declares, and its macros with parameters, each with how many it has."""
    found: dict[str, int] = {}
    for node in walk(source.root):
        name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        if node.type == "function_declarator":
            name = node.child_by_field_name("declarator")
        elif node.type != "preproc_function_def":
            continue
        if name is not None and name.type == "identifier" and parameters is not None:
            known = [child for child in parameters.named_children if child.type != "comment"]
            if not any(child.type == "variadic_parameter" for child in known):
                found[source.name(name)] = 0 if source.of(parameters) == b"(void)" else len(known)
    return found


@lru_cache(maxsize=1024)
def _lists_in(source: CSource) -> dict[str, list[list[str]]]:
    """By the name of a member or enumerator the lists that it stands in."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for node in walk(source.root):
        if node.type in ("field_declaration_list", "enumerator_list"):
            names = list(_names_in(source, node))
            for name in dict.fromkeys(names):
                found[name].append(names)
    return found


@lru_cache(maxsize=1024)
def _sizes_in(source: CSource) -> list[tuple[str, str]]:
    """The names of arrays, each with a size that it is declared with."""
    declarators = (node for node in walk(source.root) if node.type == "array_declarator")
    sizes = ((node, node.child_by_field_name("size")) for node in declarators)
    known = ("identifier", "number_literal")
    return [
        (declared_name(source, n), source.name(size)) for n, size in sizes if size is not None and size.type in known
    ]


def _parameters(function: Node) -> list[Node]:
    """The parameters of a function's definition."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    listed = node.child_by_field_name("parameters") if node is not None else None
    return [n for n in listed.named_children if n.type == "parameter_declaration"] if listed is not None else []
