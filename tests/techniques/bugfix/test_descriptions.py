"""What changes of C are called."""

from __future__ import annotations

import pytest

from whence.techniques.bugfix.descriptions import describe

CHANGES = {
    ("if (n > max)", "if (n >= max)"): ["change an operator", "change a comparison operator", "change > into >="],
    ("a = b + c;", "a = b - c;"): ["change an operator", "change an arithmetic operator", "change + into -"],
    ("n += 2;", "n -= 2;"): ["change an operator", "change an assignment operator", "change += into -="],
    ("a || b", "a && b"): ["change an operator", "change a logical operator", "change || into &&"],
    ("x = 9;", "x = 8;"): ["change a constant", "decrease a constant", "decrease a constant by 1"],
    ("x = 'a';", "x = 'b';"): ["change a constant"],
    ("x = RED;", "x = BLUE;"): ["change a constant", "use another named constant"],
    ("x = left;", "x = right;"): ["use another variable"],
    ("x = p->left;", "x = p->right;"): ["use another member"],
    ("x = first(l);", "x = last(l);"): ["call another function"],
    ("x = 3;", "x = limit;"): ["change a constant", "use a variable instead of a constant"],
    ("x = n;", "x = n + 1;"): ["add a term", "increase a value", "add + 1"],
    ("x = n - 1;", "x = n;"): ["drop a term", "increase a value", "drop - 1"],
    ("if (p)", "if (p && *p)"): ["add a condition", "narrow a condition"],
    ("if (p || q)", "if (p)"): ["drop a condition", "narrow a condition"],
    ("if (p)", "if (!p)"): ["negate a condition"],
    ("", "n++;"): ["add a statement", "add an assignment"],
    ("", "if (!p) return -1;"): ["add a statement", "add a check", "add a check that leaves early"],
    ("free(p);", ""): ["remove a statement", "remove a call"],
    ("\tn++;", "\tif (p) {\n\t\tn++;\n\t}"): ["add a condition", "guard a statement"],
    ("a();\nb();", "b();\na();"): ["change the order of statements", "move a statement"],
    ("short n;", "long n;"): ["change a type", "change short into long"],
    ("x = a / b;", "x = (double)a / b;"): ["add a cast"],
    ("x = f(a);", "y.z = *g;"): None,  # some description, whatever it is
    ("n++; /* old */", "n++;  // new"): [],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_called(change: tuple[str, str]) -> None:
    found = describe(*(text.encode() for text in change))
    assert found == CHANGES[change] if CHANGES[change] is not None else found
