"""Which expressions can be evaluated once more."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.techniques.bugfix.effects import Effects

SOURCE = CSource(
    b"""\
static int used;
struct list { int n; struct list *next; };
static int twice(int n) { int m = n; m += n; return m; }
static int fourth(int n) { return twice(twice(n)); }
static int counted(int n) { used++; return n; }
static int through(int n) { return counted(n) + 1; }
static int kept(int n) { static int last; last = n; return last; }
static int length(struct list *l) { int n = 0; for (; l; l = l->next) n++; return n; }
static void set(struct list *l) { l->n = 1; }
static int even(int n);
static int odd(int n) { return n ? even(n - 1) : 0; }
static int even(int n) { return n ? odd(n - 1) : 1; }
static int unknown(int n) { return other(n); }
"""
)


@pytest.mark.parametrize(
    ("expression", "has_none"),
    [
        ("a < b", True),
        ("a == b", True),
        ("p->n >= 3", True),
        ("twice(a) != fourth(b)", True),
        ("length(p) > 2", True),
        ("even(n)", True),
        ("strcmp(a, b) == 0", True),
        ("isdigit(*p)", True),
        ("counted(a) == 1", False),
        ("through(a) == 1", False),
        ("kept(a)", False),
        ("set(p)", False),
        ("unknown(a)", False),
        ("getchar() == 3", False),
        ("(c = next) != 0", False),
        ("n++ < 3", False),
        ("a += 1", False),
    ],
)
def test_an_expression_without_effects(expression: str, has_none: bool) -> None:
    assert Effects(SOURCE).are_none(expression) == has_none
