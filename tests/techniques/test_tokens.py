"""Lines of C as tokens: columns, operands, and whether another operator would group them anew."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.techniques.rules.tokens import Line

SIGNS = ("*", "+", "-", "<<", ">>", "&", "^", "|")  # which group in Python as they do in C


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """Sums, products and the like of names, calls and bracketed expressions."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(("name", "call", "brackets", "index") if depth else ("name",)))
        inner = draw(expressions(depth - 1)) if kind != "name" else ""
        parts.append({"name": "a", "call": f"f({inner}, b)", "brackets": f"({inner})", "index": f"a[{inner}]"}[kind])
    text = parts[0]
    for part in parts[1:]:
        text += f" {draw(st.sampled_from(SIGNS))} {part}"
    return text


def shape(text: str, column: int) -> str:
    """How an expression is grouped, with the operator that stands at a column left open."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and _operator_column(text, node) == column:
            node.op = ast.MatMult()
    return ast.dump(tree)


def _operator_column(text: str, node: ast.BinOp) -> int:
    """The column of a binary operator: behind its left operand and the brackets around that."""
    column = node.left.end_col_offset or 0
    while text[column] in " )":
        column += 1
    return column


@given(expressions(), st.data())
def test_an_operator_keeps_the_shape_exactly_if_it_groups_as_before(text, data):
    line = Line(f"x = {text};")
    operators = [at for at in range(len(line.tokens)) if line.is_binary(at)]
    if not operators:
        return
    at, new = data.draw(st.sampled_from(operators)), data.draw(st.sampled_from(SIGNS))
    token = line.tokens[at]
    after = line.replaced(at, at, new)[4:-1]
    assert line.keeps_shape(at, new) == (shape(text, token.start - 4) == shape(after, token.start - 4))


@given(expressions(), st.data())
def test_operands_end_where_the_grouping_says(text, data):
    line = Line(f"x = {text};")
    operators = [at for at in range(len(line.tokens)) if line.is_binary(at)]
    if not operators:
        return
    at = data.draw(st.sampled_from(operators))
    column = line.tokens[at].start - 4
    nodes = [node for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.BinOp)]
    (node,) = (node for node in nodes if _operator_column(text, node) == column)
    left, right = line.source(line.left_operand(at), at - 1), line.source(at + 1, line.right_operand(at))
    assert ast.dump(ast.parse(left, mode="eval").body) == ast.dump(node.left)
    assert ast.dump(ast.parse(right, mode="eval").body) == ast.dump(node.right)


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("    if (i <= n)", 11, "<="),
        ("\tp->x++;", 6, "++"),
        ("a = 'x' + \"b*c\"[0]; /* i < n */", 9, "+"),
        ('x = "\\"<" ;', 11, ";"),
        ("i <<= 2;", 3, "<<="),
        ("a /* < */ < b", 11, "<"),
    ],
)
def test_tokens_at_columns(text, column, found):
    line = Line(text)
    assert line.token(line.at_column(column)).text == found


def test_no_token_begins_there():
    line = Line("abc = 1;")
    assert line.at_column(2) == -1 and line.at_column(99) == -1 and line.at_column(0) == -1


@pytest.mark.parametrize(
    ("text", "sign", "is_binary"),
    [("a - b", "-", True), ("-b", "-", False), ("(a) * b", "*", True), ("x = *p;", "*", False), ("f(&a)", "&", False)],
)
def test_binary_operators(text, sign, is_binary):
    line = Line(text)
    at = next(n for n, token in enumerate(line.tokens) if token.text == sign)
    assert line.is_binary(at) is is_binary


@pytest.mark.parametrize(
    ("text", "ends_with"),
    [
        ("p->items[i].next = 0", "next"),
        ("f(a, b)->c = 0", "c"),
        ("a[i] = 0", "]"),
        ("x = 0", "x"),
    ],
)
def test_where_an_operand_begins(text, ends_with):
    line = Line(text)
    at = next(n for n, token in enumerate(line.tokens) if token.text == "=")
    assert line.token(at - 1).text == ends_with
    assert line.primary_start(at - 1) == 0


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("x = 1;", True),
        ("if (a) x = 1;", True),
        ("for (x = 1; ;)", True),
        ("case 3: x = 1;", True),
        ("if ((x = 1))", False),
        ("f(x = 1);", False),
        ("y ? 0 : x = 1;", False),
        ("(void) x = 1;", False),
    ],
)
def test_where_a_statement_begins(text, begins):
    line = Line(text)
    at = next(n for n, token in enumerate(line.tokens) if token.text == "x")
    assert line.begins_statement(at) is begins


def test_expressions_end_at_a_comma_or_bracket():
    line = Line("f(a ? b : c, (d, e), g[1]);")
    ends = [line.source(2, line.expression_end(2)), line.source(8, line.expression_end(8))]
    assert ends == ["a ? b : c", "(d, e)"]
