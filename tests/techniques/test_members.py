"""Rules that read another member of the same structure: which, by what name, and that they repair such a fault."""

from __future__ import annotations

import pytest
from rule_programs import Program
from trace_readers import subject_of

from whence.alter.work import Work
from whence.techniques.rules.members import Members
from whence.techniques.rules.rules import rules

TEXT = """\
struct inner { long far; int near; };
struct outer { int a; unsigned b; int c, bits : 3; char *name; struct inner in; char *title; double d; };
union either { int i; int j; };
static struct outer whole;
int read(struct outer *p, union either *e, struct outer *list, int i)
{
    int one = p->c;
    one += list[i].in.near;
    one += whole.c;
    one += e->i + p->b + p->bits;
    char *text = p->title;
    return text ? one : p->a;
}
int main(void) { return 0; }
"""


@pytest.mark.parametrize(
    ("line", "own", "beside"),
    [
        (7, "c", {("a", -8)}),
        (8, "near", set()),  # a long is no int
        (9, "c", {("a", -8)}),  # of a variable's own structure
        (11, "title", {("name", -24)}),
        (12, "a", {("c", 8)}),
    ],
)
def test_members_of_the_same_type_can_be_read(line, own, beside):
    subject = subject_of(TEXT)
    (ref,) = (ref for ref in subject.program.functions if ref.name == "read")
    members = Members(subject)
    loads = [i for i in ref.function.instructions() if i.opcode == "load" and i.location and i.location.line == line]
    (load,) = (load for load in loads if members.own(ref, load))
    assert members.own(ref, load) == own
    assert {(other.name, other.distance) for other in members.beside(ref, load)} == beside


def test_unions_and_bit_fields_have_none():
    subject = subject_of(TEXT)
    (ref,) = (ref for ref in subject.program.functions if ref.name == "read")
    members = Members(subject)
    loads = [i for i in ref.function.instructions() if i.opcode == "load" and i.location and i.location.line == 10]
    assert [other for load in loads for other in members.beside(ref, load)] == []


WRONG_MEMBER = Program(
    "variable",
    """\
#include <stdio.h>
#include <stdlib.h>
struct box { int width, depth, height; };
static int lean(const struct box *box)
{
    return box->width - box->depth; /* FAULT */
}
int main(int argc, char **argv)
{
    struct box box = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3])};
    printf("%d\\n", lean(&box));
    return 0;
}
""",
    {"2 3 5": "-3\n", "7 4 9": "-2\n", "3 8 2": "1\n"},
    ["1 1 1", "5 2 2", "4 3 3", "0 7 7"],
)


def test_another_member_repairs_its_fault():
    subject, runs = WRONG_MEMBER.run()
    with Work(subject, workers=1) as work:
        found = rules(subject, runs, work).parts["rules"]
    member = next(row for row in found if row["rule"] == "`box->height` instead of `box->depth`")
    assert member["after"].startswith("return box->width - box->height;")
    assert (member["line"], member["family"], member["score"]) == (WRONG_MEMBER.line, "variable", 1)
