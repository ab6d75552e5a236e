"""The structure of a statement as situation descriptors.

Source: Jeffrey's dissertation (2009), section 8.2.1, figures 8.2 and 8.3. The tokens come from the syntax tree of the
line; the types of variables from debug information where that knows them, else from their declarations in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from whence.program.c_source import CSource, declared_name, lines_of, tokens, walk
from whence.techniques.bugfix.scope import Scope

if TYPE_CHECKING:
    from tree_sitter import Node

ASSIGNS, DECIDES, DECLARES = "ASSIGN_STMT", "COND_STMT", "DECL_STMT"
TypeOf = Callable[[str, str], str]  # the type of a variable in a function, empty where it is not known

_IGNORED = frozenset(["(", ")", "{", "}", "[", "]", ";", ",", ":", "..."])
_CONSTANTS = {"number_literal": "", "char_literal": "char", "string_literal": "char*", "null": "void*"}
_NAMED = frozenset(("true", "false"))
_TYPES = frozenset(("primitive_type", "sized_type_specifier", "type_identifier", "type_qualifier"))
_BASIC = frozenset(["char", "short", "int", "long", "signed", "unsigned", "float", "double", "void", "bool", "_Bool"])
_WORD = re.compile(r"[A-Za-z_]\w*")
_REAL = re.compile(r"(?!0[xX])[\d.]*(?:\.|[eE]).*")


def structure(source: CSource, line: int, type_of: TypeOf | None = None) -> frozenset[str]:
    """The descriptors of what stands on a line: the statements and conditions that begin there."""
    scope = Scope(source)
    roots = list(_parts_on(source, line))
    found = set(_general(roots))
    for root in roots:
        for token in tokens(root):
            if token.start_point[0] + 1 == line or len(lines_of(root)) <= 3:
                found.update(_descriptors(source, scope, token, type_of))
    return frozenset(found)


def _parts_on(source: CSource, line: int) -> Iterator[Node]:
    """The largest nodes that begin on a line and hold no further statement; of a compound statement its head."""
    for function in source.functions:
        if line in lines_of(function):
            yield from _heads(function, line)


def _heads(node: Node, line: int) -> Iterator[Node]:
    for child in node.children:
        if line not in lines_of(child):
            continue
        body = child.type == "compound_statement" or (child.type.endswith("_statement") and _has_statement(child))
        if body or child.type in ("case_statement", "else_clause", "labeled_statement"):
            yield from _heads(child, line)
        elif child.is_named or child.start_point[0] + 1 == line:
            yield child


def _has_statement(node: Node) -> bool:
    return any(child.type.endswith(("_statement", "else_clause")) for child in node.children)


def _general(roots: list[Node]) -> Iterator[str]:
    """What kind of statement it is."""
    nodes = [node for root in roots for node in walk(root)]
    kinds = {node.type for node in nodes}
    if kinds & {"assignment_expression", "init_declarator", "update_expression"}:
        yield ASSIGNS
    elif "declaration" in kinds:
        yield DECLARES
    heads = [root for root in roots if not root.type.endswith("_statement")]
    parents = {root.parent.type for root in heads if root.parent is not None}
    if parents & {"if_statement", "while_statement", "for_statement", "do_statement", "switch_statement"}:
        yield DECIDES
    if "call_expression" in kinds:
        yield "FUNC_CALL"
    if "subscript_expression" in kinds:
        yield "ARRAY_ACCESS"
    if "cast_expression" in kinds:
        yield "CAST"


def _descriptors(source: CSource, scope: Scope, token: Node, type_of: TypeOf | None) -> Iterator[str]:
    text, parent = source.name(token), token.parent
    if token.type in _CONSTANTS or token.type in _NAMED or text == "NULL":
        yield from ("CONST", f"{_constant_type(token, text)}-CONST")
    elif token.type == "identifier":
        yield from _name(source, scope, token, type_of)
    elif token.type == "field_identifier":
        yield "VAR"
    elif token.type in _TYPES:
        yield text if text in _BASIC or token.type != "type_identifier" else "user-defined"
    elif text in ("*", "&") and parent is not None and parent.type in ("pointer_expression", "pointer_declarator"):
        if parent.type == "pointer_expression":
            yield "REF" if text == "&" else "Deref"
    elif text not in _IGNORED:
        yield text


def _name(source: CSource, scope: Scope, token: Node, type_of: TypeOf | None) -> Iterator[str]:
    name, parent = source.name(token), token.parent
    called = parent is not None and parent.type == "call_expression" and parent.child_by_field_name("function") == token
    if called and name not in scope.variables(token):
        return
    if scope.is_constant(name) and name not in scope.variables(token):
        yield from ("CONST", "int-CONST")
        return
    yield "VAR"
    function = source.function_at(token.start_byte)
    inside = _function_name(source, function) if function is not None else ""
    known = type_of(inside, name) if type_of is not None else ""
    if type_ := known or scope.variables(token, _end_of_declaration(token)).get(name, ""):
        yield f"{general_type(type_)}-VAR"


def _end_of_declaration(token: Node) -> int:
    """The end of the declaration that a token is part of, which may declare it; else its own start."""
    at: Node | None = token
    while at is not None and at.type != "declaration":
        at = None if at.type.endswith("_statement") else at.parent
    return at.end_byte if at is not None else token.start_byte


def _function_name(source: CSource, function: Node) -> str:
    declarator = function.child_by_field_name("declarator")
    return declared_name(source, declarator) if declarator is not None else ""


def general_type(type_: str) -> str:
    """A type as descriptors name it: ``int``, ``char*``, ``user-defined``, ``user-defined*``."""
    stars = type_.count("*") + type_.count("[")
    words = [word for word in _WORD.findall(type_.partition("[")[0]) if word not in ("const", "volatile", "restrict")]
    base = " ".join(words) if words and all(word in _BASIC for word in words) else "user-defined"
    return base + "*" * stars


def _constant_type(token: Node, text: str) -> str:
    if text == "NULL":
        return "void*"
    if token.type == "number_literal":
        return "double" if _REAL.fullmatch(text) else "int"
    return _CONSTANTS.get(token.type, "") or "int"
