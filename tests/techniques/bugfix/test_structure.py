"""The descriptors of a statement's structure, on statements of our own."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.techniques.bugfix.structure import general_type, structure

PROGRAM = """\
typedef struct node { int key; struct node *next; } node_t;
enum state { OPEN, SHUT };
int width(int n);
void visit(int first, int last, char *text, node_t *node)
{
    int size = last - first;
    char letter;
    letter = (char)(*text + 1);
    int table[8];
    if (width(size) + table[2] <= 'x')
        size++;
    else if (node->next != NULL &&
             !letter)
        return;
    for (int i = 0; i < 3; i++) {
        double share = 0.5 * i;
    }
    do {
        size -= OPEN;
    } while (size > 0);
    node_t *found = node;
    found->key = sizeof table / sizeof *table;
    switch (size & 3) {
    default: break;
    }
    visit(first, last, "end", &*found);
}
"""
EXPECTED = {
    "int size = last": "ASSIGN_STMT = - int VAR int-VAR",
    "char letter;": "DECL_STMT char VAR char-VAR",
    "letter = (char)": "ASSIGN_STMT = + CAST Deref char VAR char-VAR char*-VAR CONST int-CONST",
    "if (width(": "COND_STMT if FUNC_CALL ARRAY_ACCESS + <= VAR int-VAR int*-VAR CONST int-CONST char-CONST",
    "size++;": "ASSIGN_STMT ++ VAR int-VAR",
    "else if (": "COND_STMT else if -> != && ! VAR user-defined*-VAR char-VAR CONST void*-CONST",
    "return;": "return",
    "for (int": "COND_STMT ASSIGN_STMT for int = < ++ VAR int-VAR CONST int-CONST",
    "double share": "ASSIGN_STMT double = * VAR double-VAR int-VAR CONST double-CONST",
    "size -= OPEN": "ASSIGN_STMT -= VAR int-VAR CONST int-CONST",
    "while (size": "COND_STMT while > VAR int-VAR CONST int-CONST",
    "node_t *found": "ASSIGN_STMT user-defined = VAR user-defined*-VAR",
    "found->key": "ASSIGN_STMT -> = sizeof / * VAR user-defined*-VAR int*-VAR Deref",
    "switch (size": "COND_STMT switch & VAR int-VAR CONST int-CONST",
    'visit(first, last, "end"': "FUNC_CALL REF Deref VAR int-VAR user-defined*-VAR CONST char*-CONST",
}


@pytest.mark.parametrize("mark", EXPECTED)
def test_descriptors_of(mark: str) -> None:
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if mark in text)
    expected = set(EXPECTED[mark].split()) - ({"*"} if mark == "found->key" else set())
    assert structure(CSource(PROGRAM.encode()), line) == expected


def test_debug_information_says_the_type_before_the_text() -> None:
    source = CSource(b"void f(void)\n{\n    total = 1;\n}\n")
    assert "long-VAR" in structure(
        source, 3, lambda function, name: "long" if (function, name) == ("f", "total") else ""
    )
    assert structure(source, 3) == {"ASSIGN_STMT", "=", "VAR", "CONST", "int-CONST"}


def test_a_line_without_a_statement_has_none() -> None:
    assert structure(CSource(PROGRAM.encode()), 5) == frozenset()


@pytest.mark.parametrize(
    ("type_", "general"),
    [
        ("const char *", "char*"),
        ("unsigned int", "unsigned int"),
        ("struct node **", "user-defined**"),
        ("size_t", "user-defined"),
        ("int[3]", "int*"),
    ],
)
def test_types_are_general(type_: str, general: str) -> None:
    assert general_type(type_) == general
