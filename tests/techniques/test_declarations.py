"""Declarations behind values: entries of tables, and types that are too small."""

from __future__ import annotations

import pytest
from cause_trees import failing

from whence.techniques.cause_tree.declarations import element_lines

PORTS = """\
#include <stdio.h>
#include <stdlib.h>
static const struct { const char *name; int depth; } ports[] = {
    {"north; {", 12}, /* NORTH, } */
    {"east", 9}, {"south", 7}, /* SOUTH */
};
static int tide = 3; /* TIDE */
static int unused = 5;
struct gauge {
    int place;
    unsigned char level; /* LEVEL */
};
int main(int argc, char **argv)
{
    struct gauge *gauge = malloc(sizeof *gauge);
    short sum; /* SHORT */
    gauge->level = atoi(argv[1]) + 10;
    sum = atoi(argv[1]) * 1000;
    printf("%d %d %d\\n", ports[argc].depth + tide, gauge->level, sum); /* PRINT */
    return 0;
}
"""


@pytest.mark.parametrize(
    ("right", "mark", "deed"),
    [
        ("4 44 -31072\n", "SOUTH", "`ports[argc].depth` was 7 from the start"),
        ("4 44 -31072\n", "TIDE", "`tide` was 3 from the start"),
        ("10 300 -31072\n", "LEVEL", "`gauge->level` cannot hold 300: it became ',' (44)"),
        ("10 44 290000\n", "SHORT", "`sum` cannot hold 290,000: it became 27856"),
    ],
)
def test_values_of_declarations_lead_to_their_lines(right, mark, deed):
    program = failing(PORTS, "290", stdout=right)
    tree = program.built()
    lines = {
        line.statement.line: tree.explanation.action(line) for line in tree.explanation.lines(tree.root) if line.text
    }
    assert lines.get(program.line(mark)) == deed
    assert program.line("unused") not in lines


def test_values_that_fit_have_no_declaration():
    program = failing(PORTS, "3", stdout="10 99 3000\n")
    tree = program.built()
    assert program.line("LEVEL") not in tree.lines(tree.root)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("int a[] = {1, 2,\n 3};", [1, 1, 2]),
        ("int a[] =\n{ 1, /* 2, */ 3 };\nint b;", [2, 2]),
        ('char *a[] = {"x,", "{",\n\n "y"};', [1, 1, 3]),
        ("struct { int a, b; } a[] = {{1, 2}, {3, 4},\n{5, 6},};", [1, 1, 2]),
        ("int a[] = {(1, 2), MAX(3, 4),\n 5};", [1, 1, 2]),
        ("int a[3] = {[2] = 4,\n [0] = 1};", []),
        ("int a;\nint b[] = {1};", []),
    ],
)
def test_elements_of_initialisers_are_counted(text, lines):
    assert element_lines(text, 1) == lines


def test_declarations_further_down_are_read_from_their_line_on():
    assert element_lines("int a[] = {1,\n2};\nint b[] = {3,\n4};", 3) == [3, 4]


def test_where_braces_are_left_out_the_declaration_has_to_do():
    text = (
        "#include <stdio.h>\nstatic int table[2][2] = { /* TABLE */\n    1, 2, 3,\n    4};\n"
        'int main(int argc, char **argv)\n{\n    printf("%d\\n", table[argc][argc]);\n    return 0;\n}\n'
    )
    program = failing(text, stdout="5\n")
    tree = program.built()
    assert program.line("TABLE") in tree.lines(tree.root) and program.line("4}") not in tree.lines(tree.root)
