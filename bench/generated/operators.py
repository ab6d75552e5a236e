"""The changes of a source that plant a fault, each with its kind and how often such a fault is made.

The shares are those of Durães and Madeira, "Emulation of software faults: a field data study and a practical approach"
(2006), in percent of 668 faults of real C programs: their twelve most frequent types, which are half of all. Types that
the corpus has beside these share what is left of wrong constructs; what is in excess is as rare as there (2.7 %).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from tree_sitter import Node

from bench.generated.syntax import Edit, Source

Make = Callable[[Source], Iterator[Edit]]


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to plant faults: ``share`` of real faults in percent, ``kind`` as the corpus has it."""

    name: str
    kind: str
    share: float
    make: Make


OPERATORS: list[Operator] = []


def _operator(kind: str, share: float) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        OPERATORS.append(Operator(make.__name__.strip("_").replace("_", " "), kind, share, make))
        return make

    return register


def _replaced(node: Node, text: str, source: Source) -> Edit:
    return Edit(node.start_byte, node.end_byte, text.encode(), f"`{text}` instead of `{source.of(node)}`")


def _field(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None, f"{node.type} without {name}"
    return found


def _bare(node: Node) -> Node:
    """An expression without its parentheses."""
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return node


def _statements(source: Source) -> Iterator[Node]:
    yield from (node for node in source.nodes("expression_statement") if node.named_children)


# ---- What is missing -------------------------------------------------------------------------------------------------


@_operator("missing condition", 9.96)
def _missing_if_with_statements(source: Source) -> Iterator[Edit]:
    for node in source.nodes("if_statement"):
        if node.child_by_field_name("alternative") is None and _can_go(node):
            yield source.without(node, None, f"missing: `if {source.of(_field(node, 'condition'))}` and what it guards")


@_operator("missing statement", 8.64)
def _missing_call(source: Source) -> Iterator[Edit]:
    for node in _statements(source):
        if node.named_children[0].type == "call_expression":
            yield _dropped(source, node)


@_operator("missing condition", 7.89)
def _missing_conjunct(source: Source) -> Iterator[Edit]:
    yield from _clauses(source, "&&")


@_operator("missing condition", 4.32)
def _missing_if_around_statements(source: Source) -> Iterator[Edit]:
    for node in source.nodes("if_statement"):
        if node.child_by_field_name("alternative") is None:
            kept, about = _field(node, "consequence"), f"missing: `if {source.of(_field(node, 'condition'))}`"
            yield Edit(node.start_byte, kept.start_byte, b"", about)


@_operator("missing statement", 3.19)
def _missing_part(source: Source) -> Iterator[Edit]:
    for block in source.nodes("compound_statement"):
        for first, last in pairwise(block.named_children):
            if first.type == last.type == "expression_statement":
                yield source.without(first, last, f"missing: `{source.of(first)}` and `{source.of(last)}`")


@_operator("missing statement", 5.25)
def _missing_assignment(source: Source) -> Iterator[Edit]:
    for node in _statements(source):
        if node.named_children[0].type in ("assignment_expression", "update_expression"):
            yield _dropped(source, node)


@_operator("missing statement", 2.25)
def _missing_initialisation(source: Source) -> Iterator[Edit]:
    for node in source.nodes("init_declarator"):
        name, value = _field(node, "declarator"), _field(node, "value")
        if value.type != "initializer_list" and name.type in ("identifier", "pointer_declarator"):
            yield Edit(name.end_byte, value.end_byte, b"", f"missing: the first value of `{source.of(name)}`")


@_operator("missing condition", 1.5)
def _missing_disjunct(source: Source) -> Iterator[Edit]:
    yield from _clauses(source, "||")


@_operator("missing statement", 1.5)
def _missing_else(source: Source) -> Iterator[Edit]:
    for node in source.nodes("else_clause"):
        line = source.text.rfind(b"\n", 0, node.start_byte) + 1
        before = source.text[line : node.start_byte].rstrip()
        yield Edit(line + len(before), node.end_byte, b"", "missing: the `else`")


@_operator("missing statement", 1.5)
def _missing_jump(source: Source) -> Iterator[Edit]:
    for node in source.nodes("break_statement", "continue_statement", "return_statement"):
        if node.type != "return_statement" or not node.named_children:
            yield _dropped(source, node)


def _can_go(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("compound_statement", "case_statement")


def _dropped(source: Source, node: Node) -> Edit:
    """Without a statement; where one has to stand, an empty one does."""
    about = f"missing: `{source.of(node)}`"
    return source.without(node, None, about) if _can_go(node) else Edit(node.start_byte, node.end_byte, b";", about)


def _clauses(source: Source, operator: str) -> Iterator[Edit]:
    for node in source.nodes("binary_expression"):
        if source.of(_field(node, "operator")) == operator:
            for kept, gone in (("left", "right"), ("right", "left")):
                about = f"missing: `{operator}` with `{source.of(_field(node, gone))}`"
                text = source.of(_field(node, kept)).encode()
                yield Edit(node.start_byte, node.end_byte, text, about)


# ---- What is wrong ---------------------------------------------------------------------------------------------------

_OFF = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"}
_ASSIGNMENT = {"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "|=": "=", "&=": "=", "<<=": ">>="}
_ALLOCATION = ("malloc", "calloc", "realloc", "memcpy", "memmove", "memset", "strncpy")


@_operator("off by one", 1.5)
def _wrong_boundary(source: Source) -> Iterator[Edit]:
    yield from _other_operators(source, "binary_expression", _OFF)


@_operator("wrong operator", 1.5)
def _wrong_condition(source: Source) -> Iterator[Edit]:
    yield from _other_operators(source, "binary_expression", _OPPOSITE)
    for node in source.nodes("unary_expression"):
        if source.of(_field(node, "operator")) == "!":
            yield _replaced(node, source.of(_field(node, "argument")), source)


@_operator("wrong operator", 1.5)
def _wrong_arithmetic(source: Source) -> Iterator[Edit]:
    yield from _other_operators(source, "binary_expression", _ARITHMETIC)
    yield from _other_operators(source, "assignment_expression", _ASSIGNMENT)
    for node in source.nodes("update_expression"):
        operator = _field(node, "operator")
        yield _replaced(operator, "--" if source.of(operator) == "++" else "++", source)


@_operator("wrong constant", 2.44)
def _wrong_value_assigned(source: Source) -> Iterator[Edit]:
    for node, value in ("assignment_expression", "right"), ("init_declarator", "value"):
        for assignment in source.nodes(node):
            yield from _other_constants(source, _bare(_field(assignment, value)))
    for node in source.nodes("return_statement"):
        for value in node.named_children:
            yield from _other_constants(source, _bare(value))


@_operator("wrong constant", 1.5)
def _wrong_constant(source: Source) -> Iterator[Edit]:
    for node in source.nodes("binary_expression", "subscript_expression", "argument_list", "case_statement"):
        for child in node.named_children:
            yield from _other_constants(source, child)


@_operator("wrong constant", 1.5)
def _wrong_entry(source: Source) -> Iterator[Edit]:
    """An entry of a table with another number."""
    for node in source.anywhere("initializer_list"):
        for child in node.named_children:
            yield from _other_constants(source, child)


@_operator("off by one", 2.25)
def _wrong_expression_in_argument(source: Source) -> Iterator[Edit]:
    for arguments in source.nodes("argument_list"):
        for node in arguments.named_children:
            if node.type == "binary_expression" and source.of(_field(node, "operator")) in "+-*/%":
                yield _replaced(node, source.of(_field(node, "left")), source)
            elif node.type in ("identifier", "field_expression") and _is_number(source, node):
                yield from (_replaced(node, f"{source.of(node)} {sign} 1", source) for sign in "+-")


@_operator("off by one", 1.0)
def _off_by_one(source: Source) -> Iterator[Edit]:
    for subscript in source.nodes("subscript_expression"):
        index = _field(subscript, "index")
        yield from (_replaced(index, f"{source.of(index)} {sign} 1", source) for sign in "+-")
    for node in source.nodes("binary_expression"):
        right = _field(node, "right")
        if source.of(_field(node, "operator")) in "+-" and source.of(right) == "1":
            yield _replaced(node, source.of(_field(node, "left")), source)


@_operator("wrong variable", 1.5)
def _wrong_variable_in_argument(source: Source) -> Iterator[Edit]:
    for arguments in source.nodes("argument_list"):
        for node in arguments.named_children:
            yield from _other_variables(source, node)


@_operator("wrong variable", 1.5)
def _wrong_variable(source: Source) -> Iterator[Edit]:
    for node in source.nodes("identifier", "field_identifier"):
        if node.parent is not None and node.parent.type not in ("argument_list", "call_expression"):
            yield from _other_variables(source, node)


@_operator("wrong variable", 1.0)
def _wrong_function(source: Source) -> Iterator[Edit]:
    functions = source.functions
    for call in source.nodes("call_expression"):
        name = _field(call, "function")
        mine = functions.get(source.of(name))
        for other, types in functions.items():
            if types == mine and other != source.of(name):
                yield _replaced(name, other, source)


@_operator("wrong variable", 1.0)
def _swapped_arguments(source: Source) -> Iterator[Edit]:
    for arguments in source.nodes("argument_list"):
        for first, second in combinations(arguments.named_children, 2):
            if first.type == second.type != "string_literal":
                between = source.text[first.end_byte : second.start_byte].decode()
                text = f"{source.of(second)}{between}{source.of(first)}"
                about = f"`{source.of(first)}` and `{source.of(second)}` the wrong way round"
                yield Edit(first.start_byte, second.end_byte, text.encode(), about)


@_operator("wrong operator", 1.0)
def _wrong_order(source: Source) -> Iterator[Edit]:
    for block in source.nodes("compound_statement"):
        for first, second in pairwise(block.named_children):
            lines = (first.start_point.row, first.end_point.row, second.start_point.row - 1, second.end_point.row - 1)
            if "declaration" not in (first.type, second.type) and len(set(lines)) == 1:
                between = source.text[first.end_byte : second.start_byte].decode()
                text = f"{source.of(second)}{between}{source.of(first)}"
                yield Edit(first.start_byte, second.end_byte, text.encode(), "two statements in the wrong order")


_TYPES = {
    "int": ("unsigned", "short", "signed char", "long"),
    "long": ("int", "unsigned long"),
    "size_t": ("int", "unsigned char"),
    "unsigned": ("int", "unsigned short"),
    "double": ("float", "int"),
    "float": ("int",),
    "char": ("unsigned char", "signed char"),
    "unsigned char": ("char",),
    "long long": ("int",),
    "uint32_t": ("uint16_t", "int32_t"),
    "uint64_t": ("uint32_t",),
}


@_operator("wrong type", 2.0)
def _wrong_type(source: Source) -> Iterator[Edit]:
    for declaration in source.nodes("declaration"):
        type_ = _field(declaration, "type")
        yield from (_replaced(type_, other, source) for other in _TYPES.get(source.of(type_), ()))
    for cast in source.nodes("cast_expression"):
        yield _replaced(cast, source.of(_field(cast, "value")), source)


@_operator("memory error", 1.0)
def _wrong_size(source: Source) -> Iterator[Edit]:
    for call in source.nodes("call_expression"):
        if source.of(_field(call, "function")) in _ALLOCATION:
            size = _field(call, "arguments").named_children[-1]
            yield _replaced(size, f"({source.of(size)}) - 1", source)
            if size.type == "binary_expression":
                yield _replaced(size, source.of(_field(size, "left")), source)
    for node in source.nodes("sizeof_expression"):
        yield _replaced(node, "sizeof(char *)", source)


def _other_operators(source: Source, type_: str, others: dict[str, str]) -> Iterator[Edit]:
    for node in source.nodes(type_):
        operator = _field(node, "operator")
        if (text := others.get(source.of(operator))) is not None:
            yield _replaced(operator, text, source)


def _other_constants(source: Source, node: Node) -> Iterator[Edit]:
    text = source.of(node)
    if node.type == "number_literal" and text.isdigit():
        number = int(text)
        yield from (_replaced(node, str(n), source) for n in {number + 1, number - 1, 0} - {number} if n >= 0)
    if node.type in ("true", "false"):
        yield _replaced(node, "false" if text == "true" else "true", source)
    if node.type == "char_literal":
        others = {source.of(other) for other in source.nodes("char_literal")} - {text}
        yield from (_replaced(node, other, source) for other in sorted(others)[:3])


def _other_variables(source: Source, node: Node) -> Iterator[Edit]:
    text = source.of(node)
    if node.type == "identifier":
        seen = source.variables(node)
        yield from (
            _replaced(node, other, source) for other, type_ in seen.items() if other != text and type_ == seen.get(text)
        )
    if node.type in ("field_expression", "field_identifier"):
        name = _field(node, "field") if node.type == "field_expression" else node
        mine = source.members.get(source.of(name), [])
        type_of = dict(mine)
        yield from (
            _replaced(name, o, source) for o, t in mine if o != source.of(name) and t == type_of[source.of(name)]
        )


def _is_number(source: Source, node: Node) -> bool:
    if node.type == "field_expression":
        name = source.of(_field(node, "field"))
        type_ = dict(source.members.get(name, [])).get(name, "*")
    else:
        type_ = source.variables(node).get(source.of(node), "*")
    return not type_.startswith("struct") and type_[-1] not in "*]"


# ---- What is too much ------------------------------------------------------------------------------------------------


@_operator("extra statement", 2.7)
def _extra_statement(source: Source) -> Iterator[Edit]:
    for block in source.nodes("compound_statement"):
        for first, second in pairwise(block.named_children):
            if first.type == "expression_statement":
                indent = source.text[source.text.rfind(b"\n", 0, second.start_byte) : second.start_byte]
                if not indent.strip():
                    about = f"`{source.of(first)}` once more"
                    yield Edit(second.end_byte, second.end_byte, indent + source.of(first).encode(), about)
