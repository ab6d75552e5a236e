"""Statements that the text of a file asks for: what is kept and not given back, members beside others, empty blocks."""

from __future__ import annotations

from whence.program.c_source import CSource
from whence.program.source_edits import edited
from whence.techniques.bugfix.candidates import FILLINGS, FileCandidates
from whence.techniques.bugfix.unused_names import FEW

# A board whose squares are tried one after the other, and taken back; squares are made one member after the other.
BOARD = """\
struct square { int value, tries; struct square *next; bool done; char name[8]; };
static bool settle(struct square *at, int value)
{
    int before = at->value;
    at->value = value;
    if (at->next == NULL || settle(at->next, value + 1))
        return true;
    at->value = before;
    return false;
}
static struct square *make(struct square *list, int value)
{
    struct square *made = malloc(sizeof *made);
    made->value = value;
    made->next = list;
    made->done = false;
    made->tries = 0;
    return made;
}
static int tried(const struct square *one)
{
    return one->done ? one->tries : -one->tries;
}
"""


def asked_for(text: str) -> list[str]:
    file = FileCandidates(CSource(text.encode()), "board.c")
    return ["".join(edited(file.source, edit).decode().split()) for edit in file.asked_for]


def without(statement: str) -> str:
    assert BOARD.count(statement) == 1
    return BOARD.replace(statement, "")


def test_a_file_that_keeps_to_what_it_says_is_asked_for_nothing() -> None:
    assert asked_for(BOARD) == []


def test_what_was_kept_is_given_back() -> None:
    found = asked_for(without("    at->value = before;\n"))
    assert "".join(BOARD.split()) in found[:2]


# The size of its steps shrinks in both directions, as a picture's passes do.
PASSES = """\
static int visited(int width, int height, int pass)
{
    int x_step = 8, y_step = 8, seen = 0;
    while (pass-- > 0) {
        if (pass & 1)
            x_step >>= 1;
        else
            y_step >>= 1;
        seen += width / x_step * (height / y_step);
    }
    return seen;
}
"""
STEP = "        else\n            y_step >>= 1;\n"


def test_a_variable_changes_as_its_twin_does() -> None:
    assert asked_for(PASSES) == []
    found = asked_for(PASSES.replace(STEP, ""))
    assert any("x_step>>=1;y_step>>=1;" in text for text in found)
    assert any("seen+=width/x_step*(height/y_step);y_step>>=1;}" in text for text in found)


def test_a_variable_without_such_a_twin_stays_as_it_is() -> None:
    short = PASSES.replace("x_step", "x").replace("y_step", "y")  # such names are alike by chance
    other = PASSES.replace("int x_step = 8, y_step = 8", "int x_step = 8; long y_step = 8")
    given = PASSES.replace("int pass)", "int pass, int y_step)").replace(", y_step = 8", "")
    assert asked_for(PASSES.replace(STEP, "").replace("x_step >>=", "x_step\n>>=")) == []  # a line tells of it
    for text in (short.replace(STEP.replace("y_step", "y"), ""), other.replace(STEP, ""), given.replace(STEP, "")):
        assert "y >>=" not in text and "y_step >>=" not in text and asked_for(text) == []


# Lists in lists, down to some depth.
LISTS = """\
struct reader { const char *at; int depth, seen; };
static int element(struct reader *in);
static int list(struct reader *in)
{
    int found = 0;
    if (++in->depth > DEEPEST)
        return -1;
    while (*in->at != ')')
        found += element(in);
    in->depth--;
    return found;
}
static int element(struct reader *in)
{
    if (in->seen++ > MOST)
        return 0;
    in->seen--;
    return *in->at++ == '(' ? list(in) : 1;
}
"""


def test_a_depth_is_counted_down_where_its_function_is_left() -> None:
    down = "    in->depth--;\n"
    assert asked_for(LISTS) == []
    assert "".join(LISTS.split()) in asked_for(LISTS.replace(down, ""))
    outside = LISTS.replace(down, "").replace("list(in) : 1", "2 : 1")  # no function comes to itself
    unlimited = LISTS.replace(down, "").replace("if (++in->depth > DEEPEST)", "if (++in->depth == DEEPEST)")
    set_back = LISTS.replace(down, "    in->depth = found;\n")
    for text in (outside, unlimited, set_back):
        assert asked_for(text) == []
    elsewhere = "    for (struct reader *one = in; ++one->depth > DEEPEST;)\n"  # it has another name where that is left
    inner = LISTS.replace(down, "").replace("    if (++in->depth > DEEPEST)\n", elsewhere)
    assert asked_for(inner) and not any("one->depth--;returnfound" in text for text in asked_for(inner))


# What stands between two marks is left out.
MARKS = """\
static int kept(const char *text)
{
    int inside = 0, found = 0;
    for (; *text; text++) {
        if (*text == '<') {
            inside = 1;
        } else if (*text == '>') {
            inside = 0;
        } else if (!inside) {
            found++;
        }
    }
    return found;
}
"""


def test_a_flag_that_is_tested_gets_its_other_value() -> None:
    assert asked_for(MARKS) == []
    without_setting = MARKS.replace("inside = 1;", "found += 0;")
    assert any("found+=0;inside=1;}" in text for text in asked_for(without_setting))
    counted = without_setting.replace("inside = 0;\n", "inside = 0, inside++;\n")
    set_by_a_macro = without_setting.replace("found += 0;", "ENTER(inside);")
    given = without_setting.replace("int inside = 0, found", "int found").replace("text)", "text, int inside)")
    untested = without_setting.replace("(!inside)", "(found > inside)")
    for text in (counted, set_by_a_macro, given, untested):
        assert asked_for(text) == []


# Places are visited again and again: what an earlier search has left is taken away first.
PLACES = """\
static int cost[MOST], came_from[MOST], list[MOST], other[FEW];
static bool settled[MOST];
static int search(int start, int places)
{
    for (int i = 0; i < places; i++) {
        cost[i] = FAR;
        came_from[i] = NONE;
        settled[i] = false;
    }
    for (int at = start, next = 0; !settled[at]; at = list[next++]) {
        settled[at] = other[at] > cost[at];
        other[at] = cost[at];
    }
    return came_from[start];
}
"""


def test_an_element_is_set_beside_those_of_other_arrays() -> None:
    assert asked_for(PLACES) == []
    assert asked_for(PLACES.replace("        settled[i] = false;\n", "")) == ["".join(PLACES.split())]
    one_alone = PLACES.replace("        settled[i] = false;\n", "").replace("        came_from[i] = NONE;\n", "")
    assert asked_for(one_alone) == []


def test_a_member_is_set_beside_its_siblings() -> None:
    assert asked_for(without("    made->tries = 0;\n")) == ["".join(BOARD.split())]
    (found,) = asked_for(without("    made->done = false;\n"))
    assert "made->tries=0;made->done=false;returnmade;" in found


def test_a_member_that_is_set_or_used_elsewhere_in_the_function_is_not_asked_for() -> None:
    assert asked_for(BOARD.replace("    made->tries = 0;\n", "    if (value > 0)\n        made->tries++;\n")) == []


def test_a_member_that_nothing_reads_is_not_asked_for() -> None:
    assert asked_for(without("    made->tries = 0;\n").replace("one->tries", "one->value")) == []


def test_what_is_kept_and_used_is_not_given_back() -> None:
    text = without("    at->value = before;\n").replace("return false;", "return before < 0;")
    assert asked_for(text) == []


TILL = """\
struct till { int items, sold, refunds; };
static struct till till;
static void open_till(void)
{
    till.sold = till.items = 0;
}
static int to_pay(void) { return till.sold - till.refunds; }
"""


def test_members_that_one_statement_sets_to_nothing_are_siblings() -> None:
    (found,) = asked_for(TILL)
    assert "till.sold=till.items=0;till.refunds=0;}" in found


def test_two_of_many_members_or_two_that_are_set_to_something_ask_for_nothing() -> None:
    assert asked_for(TILL.replace("refunds;", "refunds, a, b;").replace("return ", "return till.a + till.b + ")) == []
    assert asked_for(TILL.replace("till.items = 0;", "till.items = 1;")) == []


DIGITS = """\
static void digits(unsigned number, int shift)
{
    while (shift >= 0) {
        if (number >> shift) {
            putchar('0' + (number >> shift & 7));
            shift -= 3;
        } else {
            shift -= 3;
        }
    }
}
"""
EMPTY = DIGITS.replace("{\n            shift -= 3;\n        }", "{\n        }")


def test_an_empty_block_is_asked_to_hold_something() -> None:
    assert EMPTY != DIGITS
    assert asked_for(DIGITS) == []
    found = asked_for(EMPTY)
    assert "".join(DIGITS.split()) in found[:5] and len(found) <= FILLINGS
    alone = EMPTY.replace("else {\n        }", "else\n            ;")
    right = alone.replace("            ;", "            shift -= 3;")
    assert alone != EMPTY and "".join(right.split()) in asked_for(alone)[:5]


def test_a_block_that_says_why_it_is_empty_is_asked_for_nothing_nor_are_many() -> None:
    assert asked_for(EMPTY.replace("else {", "else { /* a digit too far */")) == []
    many = "".join(f"static void wait{n}(int c) {{ while (c--) {{ }} }}\n" for n in range(FEW))
    assert not any("shift-=3;}else{shift-=3;" in text for text in asked_for(EMPTY + many))


# A search whose marks are cleared, and whose loop passes over some.
SEARCH = """\
#define MARKS 8
struct search { int marks[MARKS], steps; };
static int count(struct search *s, const int *all, int size, int *seen)
{
    for (int i = 0; i < MARKS; i++)
        s->marks[i] = -1;
    *seen = 0;
    for (int i = 0; i < size; i++) {
        if (all[i] < 0)
            continue;
        s->marks[all[i] % MARKS] = i;
        ++*seen;
    }
    return s->marks[0] + s->steps;
}
"""


def test_a_loop_that_does_nothing_is_asked_to_set_its_elements() -> None:
    assert asked_for(SEARCH) == []
    found = asked_for(SEARCH.replace("        s->marks[i] = -1;\n", "        ;\n"))
    assert "".join(SEARCH.split()) in found[:3]
    outside = "static int end(const char *s)\n{\n    int i;\n    for (i = 0; s[i]; i++)\n        ;\n    return i;\n}\n"
    assert asked_for(outside) == []


def test_a_jump_that_nothing_comes_behind_gets_a_condition_or_goes() -> None:
    always = SEARCH.replace("        if (all[i] < 0)\n            continue;\n", "        continue;\n")
    found = asked_for(always)
    assert "".join(SEARCH.split()) in found
    assert "".join(SEARCH.replace("        if (all[i] < 0)\n            continue;\n", "").split()) in found
    assert asked_for("static int f(int n) { switch (n) { case 1: return 2; break; default: return 3; } }") == []


# A node may be none.
RELEASE = """\
#include <stdlib.h>
struct node { struct node *next; char *text; };
static void release(struct node *n)
{
    if (n != NULL) {
        release(n->next);
        free(n->text);
        free(n);
    }
}
"""


def test_a_block_that_stands_alone_gets_a_condition() -> None:
    assert asked_for(RELEASE) == []
    alone = RELEASE.replace("if (n != NULL) {", "{")
    assert "".join(RELEASE.split()) == asked_for(alone)[0]
    assert asked_for(alone.replace("{\n        release", "{\n        int own = 1;\n        release")) == []
    assert (
        asked_for(alone + "".join(alone[alone.index("static") :].replace("release(", f"r{n}(") for n in range(3))) == []
    )


def test_what_a_pointer_leads_to_is_counted() -> None:
    branch = SEARCH.replace("            continue;\n", "            ;\n").replace("        ++*seen;\n", "")
    found = asked_for(branch)
    assert any("if(all[i]<0)++*seen;" in text for text in found) and not any("*seen++;" in text for text in found)
