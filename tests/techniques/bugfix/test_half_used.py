"""Names that are half used: what nothing reads, what nothing changes, and what is read before it has a value."""

from __future__ import annotations

import pytest

from whence.program.c_source import CSource
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.half_used import HalfUsed, reads, sets
from whence.techniques.bugfix.suspects import Suspects

# Reads a number with a sign, in a base, and counts its digits.
NUMBER = """\
struct number { long value; int digits; const char *rest; };
static void read_number(const char *text, int base, struct number *to)
{
    long value = 0, sign = 1;
    int digits = 0;
    const char *at;
    at = text;
    if (*at == '-') {
        sign = -1;
        at++;
    }
    for (; *at >= '0' && *at < '0' + base; at++) {
        value = value * base + (*at - '0');
        digits++;
    }
    to->value = sign * value;
    to->digits = digits;
    to->rest = at;
}
static int used(const struct number *n) { return n->digits + (n->value > 0) + (*n->rest == 0); }
"""


def half(text: str) -> tuple[set[str], set[str], set[str], set[str]]:
    """What the first function of a file half uses, and the members that nothing reads."""
    source = CSource(text.encode())
    found = HalfUsed(source)
    mine = found.of(source.functions[0])
    return set(mine.unread), set(mine.unchanged), set(mine.unset), set(found.members)


def changed(old: str, new: str) -> str:
    assert NUMBER.count(old) == 1
    return NUMBER.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "unread", "unchanged", "unset", "members"),
    [
        ("    at = text;\n", "    at = text;\n", set(), set(), set(), set()),
        ("    at = text;\n", "", set(), set(), {"at"}, set()),
        ("    to->digits = digits;\n", "", {"digits"}, set(), set(), set()),  # which is counted, and that is all
        ("        digits++;\n", "", set(), {"digits"}, set(), set()),
        ("sign * value", "value", {"sign"}, set(), set(), set()),
        ("        sign = -1;\n", "", set(), {"sign"}, set(), set()),
        ("n->digits + ", "", set(), set(), set(), {"digits"}),
        ("        value = value * base + (*at - '0');\n", "", set(), {"value"}, set(), set()),
        ("sign * value", "sign", {"value"}, set(), set(), set()),  # its next value is all that it is used for
    ],
)
def test_what_is_half_used(
    old: str, new: str, unread: set[str], unchanged: set[str], unset: set[str], members: set[str]
) -> None:
    assert half(changed(old, new)) == (unread, unchanged, unset, members)


@pytest.mark.parametrize(
    "body",
    [
        "int n = 3; scan(&n); use(n);",  # its address is given away
        "int n = 3; SET(n); use(n);",  # a macro may do both
        "const int n = 3; use(n);",  # it is meant to stay
        "static int n = 3; use(n);",
        "int n; if (x) n = 1; else n = 2; use(n);",
        "int n; for (n = 0; n < 3; n++) use(n);",
        "struct pair p; p.a = 1; use(p.a);",  # an aggregate
        "int p[4]; use(p[0]);",
        "struct item *next; for (; x; x = next) next = x->next;",  # behind the body
        "char *p; p = malloc(sizeof *p); use(p);",
        "int n = 0; while ((n = get()) > 0) use(n);",
        "va_list all; va_start(all, x); use(all);",
        "int n = f(); use(n);",
    ],
)
def test_what_is_used_as_a_whole(body: str) -> None:
    assert half(f"void f(struct item *x) {{ {body} }}") == (set(), set(), set(), set())


def test_what_one_statement_gives_a_literal_is_unchanged() -> None:
    assert half("void f(void) { int at; at = 4; while (more()) show(at); }")[1] == {"at"}
    for body in ("at = 4; at = 5;", "at = first();", "at = 4; at++;", "for (at = 4; more(); ) ;"):
        assert half(f"void f(void) {{ int at; {body} show(at); }}")[1] == set()


@pytest.mark.parametrize("step", ["n = next(n);", "n = up() ? next(n) : back(n);", "x = n = next(n);", "n += 2;"])
def test_what_steps_from_itself_is_read_first(step: str) -> None:
    text = "int f(int x) { int n; do { %s } while (n != x); return n; }"
    assert half(text % step)[2] == {"n"}
    assert half((text % step).replace("int n", "int n = x"))[2] == set()


def test_where_many_are_half_used_they_mean_nothing() -> None:
    names = "abcd"
    text = "".join(f"int {name}; use({name}); " for name in names)
    assert half(f"void f(void) {{ {text} }}")[2] == set()
    assert half(f"void f(void) {{ {text.replace('int d; use(d);', '')} }}")[2] == set("abc")


def test_a_text_reads_or_sets_a_name() -> None:
    name = frozenset(("n",))
    assert [reads(text, name) for text in (b"m + n", b"n = 3;", b"n == 3", b"at->n", b"nn")] == [1, 0, 1, 0, 0]
    assert [reads(text, name, are_members=True) for text in (b"n", b"at->n", b"at.n = 2", b"at . n")] == [0, 1, 0, 1]
    setting = (b"n = 3;", b"n += m;", b"n++;", b"--n;", b"f(&n)", b"n <<= 1")
    assert all(sets(text, name) for text in setting)
    assert not any(sets(text, name) for text in (b"n == 3", b"f(n)", b"m = n", b"n <= 2"))


def test_edits_that_use_the_other_half_come_first_and_are_asked_for() -> None:
    for old in ("    to->digits = digits;\n", "        digits++;\n", "        sign = -1;\n"):
        file = FileCandidates(CSource(changed(old, "").encode()), "n.c")
        lines = [("n.c", line) for line in range(3, 19)]
        texts = {edit.changes[0][1].decode(): edit for edit in Suspects({"n.c": file}, lines, {}).naming_unused()}
        if old.strip() != "sign = -1;":  # which is told from the sign beside it alone
            assert file.is_asked_for(texts[old.strip()])
        assert all(file.is_asked_for(edit) for edit in texts.values())
