"""The types of expressions as the source spells them, read from the syntax alone; "" is a type that is not known.

A type is the text of its declaration without qualifiers, with a star for each level of pointer or array: ``int``,
``struct item *``, ``enum colour``. A wrong guess costs an edit that the compiler refuses, or one that is tried in vain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from math import isfinite
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name, walk
from whence.techniques.bugfix.scope import Scope, declared

if TYPE_CHECKING:
    from tree_sitter import Node

BOOLS = frozenset(("bool", "_Bool"))
FLOATS = frozenset(("float", "double", "long double"))
CHARACTERS = frozenset(("char", "signed char", "unsigned char"))
TRUTHS = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_INTEGERS = frozenset(
    [
        *("short", "int", "long", "long long", "unsigned", "unsigned short", "unsigned long"),
        *("unsigned long long", "size_t", "ssize_t", "ptrdiff_t", "time_t", "off_t"),
    ]
)
_SPECIFIERS = frozenset(("signed", "unsigned", "short", "long", "int"))  # which stand in any order
_FIXED = re.compile(r"u?int(?:\d+|_fast\d+|_least\d+|max|ptr)_t")
_LIBRARY = {
    **dict.fromkeys(("strlen", "strspn", "strcspn"), "size_t"),
    **dict.fromkeys(("strchr", "strrchr", "strstr", "strdup", "getenv"), "char *"),
    **dict.fromkeys(("strcmp", "strncmp", "memcmp", "abs", "atoi", "getchar", "tolower", "toupper"), "int"),
    **dict.fromkeys(("isalpha", "isdigit", "isspace", "isalnum", "isupper", "islower", "ispunct", "isfinite"), "bool"),
    **dict.fromkeys(("strtol", "labs", "atol"), "long"),
    **dict.fromkeys(("fabs", "sqrt", "pow", "floor", "ceil", "strtod", "atof", "log", "exp"), "double"),
}


def is_integer(type_: str) -> bool:
    """Whether a type is one of whole numbers, characters among them."""
    return type_ in _INTEGERS or type_ in CHARACTERS or bool(_FIXED.fullmatch(type_))


def plainly(type_: str) -> str:
    """One name of a type of whole numbers for the many that C has: ``unsigned`` for ``int unsigned``; others stay."""
    words = type_.split()
    if not words or not _SPECIFIERS.issuperset(words):
        return type_
    sizes = sorted(word for word in words if word in ("short", "long"))
    return " ".join(["unsigned", *sizes] if "unsigned" in words else sizes or ["int"])


def is_number(type_: str) -> bool:
    """Whether one can reckon with values of a type."""
    return is_integer(type_) or type_ in FLOATS


def is_pointer(type_: str) -> bool:
    """Whether a type is a pointer's or an array's."""
    return type_.endswith("*")


def constant(type_: str, value: float) -> str | None:
    """How the source would write a value of a type; None where it would not write it as a number."""
    if type_ in BOOLS:
        return "true" if value else "false"
    if is_pointer(type_):
        return None if value else "NULL"
    if type_ in FLOATS:
        return repr(value) if isfinite(value) else None
    return str(int(value)) if is_integer(type_) and type_ not in CHARACTERS else None


def are_alike(one: str, other: str) -> bool:
    """Whether a value of one type may stand where one of the other does: they are the same, or both whole numbers."""
    return bool(one) and (one == other or (is_integer(one) and is_integer(other)))


class ExpressionTypes:
    """The types of the expressions of one file."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._texts = scope, scope.texts
        self._source = scope.source

    def of(self, node: Node) -> str:
        """The type of an expression."""
        return self._of(node, self._scope.variables(node))

    def within(self, node: Node, visible: dict[str, str]) -> str:
        """The type of an expression where these variables, with their types, are visible."""
        return self._of(node, visible)

    def members(self, type_: str, name: str = "") -> dict[str, str]:
        """The members of a structure, or of what a pointer leads to; ``name``: of a variable of a nameless type."""
        base = self.resolved(type_).rstrip("* ")
        return self._members.get(base) or (self._members.get(f"{base} {name}", {}) if name else {})

    def alike_members(self, name: str) -> list[str]:
        """The members beside those of a name, of the same type, those declared nearest to it first."""
        found: dict[str, None] = {}
        for members in (members for members in self._members.values() if name in members):
            order = list(members)
            near = sorted(order, key=lambda other: abs(order.index(other) - order.index(name)))
            found |= dict.fromkeys(one for one in near if one != name and members[one] == members[name])
        return list(found)

    def resolved(self, type_: str) -> str:
        """A type without the names that the program gives to others."""
        base, stars = type_.rstrip("* "), type_.count("*")
        for _ in range(8):
            known = self._named.get(base)
            if known is None or known == base:
                break
            base, stars = known.rstrip("* "), stars + known.count("*")
        return f"{plainly(base)} {'*' * stars}".strip()

    def enumerators(self, type_: str) -> list[str]:
        """The constants of an enumeration."""
        return self._enumerators.get(self.resolved(type_), [])

    # ---- Expressions -------------------------------------------------------------------------------------------------

    def _of(self, node: Node, visible: dict[str, str]) -> str:
        def part(name: str) -> str:
            child = node.child_by_field_name(name)
            return self._of(child, visible) if child is not None else ""

        kind = node.type
        if kind == "identifier":
            name = self._source.name(node)
            return self.resolved(visible.get(name, "")) or self._enumeration_of.get(name, "")
        if kind in _LITERALS:
            return _literal(kind, self._source.name(node))
        if kind == "field_expression":
            return self._member(node, visible)
        if kind in ("subscript_expression", "pointer_expression"):
            return self._pointed(node, part("argument"))
        if kind == "call_expression":
            function = node.child_by_field_name("function")
            name = self._source.name(function) if function is not None else ""
            return self._results.get(name) or _LIBRARY.get(name, "")
        if kind == "cast_expression":
            cast = node.child_by_field_name("type")
            return self.resolved(" ".join(self._source.name(cast).split())) if cast is not None else ""
        if kind == "binary_expression":
            operator = node.child_by_field_name("operator")
            sides = part("left"), part("right")
            return "bool" if operator is not None and operator.type in TRUTHS else _wider(*sides)
        if kind == "unary_expression":
            return "bool" if self._source.of(node).startswith(b"!") else part("argument")
        if kind == "parenthesized_expression":
            inner = next(iter(node.named_children), None)
            return self._of(inner, visible) if inner is not None else ""
        return part({"assignment_expression": "left", "conditional_expression": "consequence"}.get(kind, "argument"))

    def _member(self, node: Node, visible: dict[str, str]) -> str:
        argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if argument is None or field is None:
            return ""
        members = self.members(self._of(argument, visible), self._source.name(argument))
        return self.resolved(members.get(self._source.name(field), ""))

    def _pointed(self, node: Node, type_: str) -> str:
        if self._source.of(node).startswith(b"&"):
            return f"{type_} *" if type_ and not is_pointer(type_) else f"{type_}*" if type_ else ""
        return type_[:-1].strip() if is_pointer(type_) else ""

    # ---- What the file declares --------------------------------------------------------------------------------------

    @cached_property
    def _members(self) -> dict[str, dict[str, str]]:
        """By type (``struct item``, a name of it, or ``struct variable``) the members with their types."""
        found: dict[str, dict[str, str]] = {}
        for source, node in self._nodes(("struct_specifier", "union_specifier")):
            body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
            if body is None:
                continue
            fields = [child for child in body.named_children if child.type == "field_declaration"]
            members = {name: type_ for child in fields for name, type_ in declared(source, child)}
            word = node.type.partition("_")[0]
            names = [source.name(name)] if name is not None else list(_declared_with(source, node))
            found |= {f"{word} {name}": members for name in names}
        return found

    @cached_property
    def _named(self) -> dict[str, str]:
        """By name the types that are given one."""
        found: dict[str, str] = {}
        for source, node in self._nodes(("type_definition",)):
            kind = node.child_by_field_name("type")
            for declarator in node.children_by_field_name("declarator"):
                name = declared_name(source, declarator)
                if kind is None or not name or any(n.type == "function_declarator" for n in walk(declarator)):
                    continue
                stars = sum(n.type in ("pointer_declarator", "array_declarator") for n in walk(declarator))
                base = " ".join(source.name(kind).partition("{")[0].split())
                base = f"{base} {name}" if base in ("struct", "union", "enum") else base
                found[name] = f"{base} {'*' * stars}".strip()
        return found

    @cached_property
    def _enumerators(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for source, node in self._nodes(("enum_specifier",)):
            body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
            if body is not None:
                constants = [source.name(n) for c in body.named_children for n in c.children_by_field_name("name")]
                names = [source.name(name)] if name is not None else list(_declared_with(source, node))
                found |= {f"enum {name}": constants for name in names}
        return found

    @cached_property
    def _enumeration_of(self) -> dict[str, str]:
        return {constant: type_ for type_, constants in self._enumerators.items() for constant in constants}

    @cached_property
    def _results(self) -> dict[str, str]:
        """By function the type of its result."""
        found: dict[str, str] = {}
        for source, node in self._nodes(("function_definition", "declaration")):
            kind = node.child_by_field_name("type")
            for declarator in node.children_by_field_name("declarator"):
                stars, at = 0, declarator if declarator.is_named else None
                while at is not None and at.type == "pointer_declarator":
                    stars, at = stars + 1, at.child_by_field_name("declarator")
                if kind is not None and at is not None and at.type == "function_declarator":
                    base = " ".join(source.name(kind).split())
                    found[declared_name(source, at)] = self.resolved(f"{base} {'*' * stars}".strip())
        return found

    def result(self, function: str) -> str:
        """The type of what a function of the program returns."""
        return self._results.get(function, "")

    @cached_property
    def _by_kind(self) -> dict[str, list[tuple[CSource, Node]]]:
        found: dict[str, list[tuple[CSource, Node]]] = defaultdict(list)
        for source in self._texts:
            for node in _declaring_in(source):
                found[node.type].append((source, node))
        return found

    def _nodes(self, kinds: tuple[str, ...]) -> Iterator[tuple[CSource, Node]]:
        for kind in kinds:
            yield from self._by_kind[kind]


_LITERALS = frozenset(("number_literal", "char_literal", "string_literal", "true", "false", "null"))
_DECLARING = frozenset(
    [
        *("struct_specifier", "union_specifier", "enum_specifier", "type_definition"),
        *("function_definition", "declaration"),
    ]
)


@lru_cache(maxsize=1024)  # of a header, for all files that include it
def _declaring_in(source: CSource) -> list[Node]:
    """The nodes that declare something."""
    return [node for node in walk(source.root) if node.type in _DECLARING]


def _literal(kind: str, text: str) -> str:
    if kind == "number_literal":
        is_float = not text.lower().startswith("0x") and bool(re.search(r"[.eE]", text))
        return "double" if is_float else "int"
    return {"char_literal": "char", "string_literal": "char *", "null": "void *"}.get(kind, "bool")


def _wider(one: str, other: str) -> str:
    """The type of what is reckoned from values of two."""
    for type_ in (one, other):
        if is_pointer(type_) or type_ in FLOATS:
            return type_
    return (one if one not in CHARACTERS else "int") or other


def _declared_with(source: CSource, node: Node) -> Iterator[str]:
    """The names that the declaration around a specifier declares: of a type, or of variables."""
    parent = node.parent
    for declarator in parent.children_by_field_name("declarator") if parent is not None else ():
        name = declared_name(source, declarator)
        if not name and declarator.type == "init_declarator":
            inner = declarator.child_by_field_name("declarator")
            name = declared_name(source, inner) if inner is not None else ""
        if name:
            yield name
