"""What let an access go beyond its object, and what a run came to behind that alone."""

from __future__ import annotations

from cli_tool import subject_folder, whence
from trace_readers import record, subject_of

from whence.subject.memory_check import Checked, Checker
from whence.subject.subject import Subject
from whence.subject.trace_reader import TraceReader
from whence.techniques.memory.overreach import reaching

CUT = """\
#include <stdio.h>
#include <stdlib.h>
struct part { int from, count; };
static int kept = 9;
static void cut(struct part *part, int from, int to)
{
    part->from = from;                  /* 7 */
    part->count = to - from;            /* 8 */
}
static void warn(int got)
{
    fprintf(stderr, "odd: %d\\n", got);  /* 12 */
}
int main(int argc, char **argv)
{
    int sum = 0, end = argc > 1 ? atoi(argv[1]) : kept + 1; /* 16 */
    int *items = calloc(6, sizeof *items);
    struct part part;
    cut(&part, 2, end);                 /* 19 */
    int *item = items + part.from;      /* 20 */
    for (int i = 0; i < part.count; i++, item++) /* 21 */
        sum += *item;                   /* 22 */
    if (sum)
        warn(sum);                      /* 24 */
    printf("%d\\n", sum);
    return 0;
}
"""


def checked(text: str) -> tuple[Subject, Checked]:
    subject = subject_of(text)
    return subject, Checker(subject).check(record(subject).trace)


def test_the_address_and_the_condition_lead_to_what_made_it_go_so_far():
    subject, found = checked(CUT)
    lines = [statement.line for statement, _ in reaching(subject, found, found.errors[0])]
    assert lines[0] == 21 and {8, 16, 20} <= set(lines)
    assert not {12, 22, 24} & set(lines)
    assert reaching(subject, found, found.errors[0])[0][1] == "how far the read on p.c:22 went comes from here"


def test_what_was_written_does_not_count():
    text = CUT.replace("sum += *item;", "*item = kept;").replace(": kept + 1;", ": 10;")
    subject, found = checked(text)
    lines = {statement.line for statement, _ in reaching(subject, found, found.errors[0])}
    assert {8, 16, 20, 21} <= lines and 4 not in lines


COPIED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *part_of(const char *text, int length)
{
    char *copy = malloc(length + 1);
    memcpy(copy, text, length + 1);     /* 7 */
    return copy;
}
static int counted(int first, int last)
{
    int count = last - first + 1;       /* 12 */
    if (count < 0)
        count = 0;
    return count;                       /* 15 */
}
int main(int argc, char **argv)
{
    char *text = calloc(8, 1);
    int first = argc, last = 40;        /* 20 */
    int count = counted(first, last);   /* 21 */
    char *copy = part_of(text + first, count); /* 22 */
    printf("%d\\n", copy[0] == 0);
    return 0;
}
"""


def test_of_many_bytes_that_begin_inside_it_is_how_many_they_are():
    subject, found = checked(COPIED)
    lines = [statement.line for statement, _ in reaching(subject, found, found.errors[0])]
    assert {12, 15, 21, 22} <= set(lines)
    assert not {6, 19} & set(lines)  # neither where the copy goes to, nor where the text lies


def test_a_guard_that_was_asked_once_says_nothing_of_how_far():
    text = (
        "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv)\n{\n"
        "    char *name = malloc(1);\n    if (argc < 9)\n        strcpy(name, argv[0]); /* 7 */\n"
        "    return *name == 7;\n}\n"
    )
    subject, found = checked(text)
    assert 6 not in {statement.line for statement, _ in reaching(subject, found, found.errors[0])}


def test_other_errors_have_none():
    text = CUT.replace("sum += *item;", "sum += *item;\n    free(items);\n    sum += items[0];").replace(
        "kept + 1", "5"
    )
    subject, found = checked(text)
    assert reaching(subject, found, found.errors[0]) == []


def test_what_begins_behind_an_event():
    subject, found = checked(CUT)
    reader = TraceReader(subject, found.trace)
    later = {statement.line for statement in reader.begun_behind(found.errors[0].event)}
    assert 24 in later and not later & {7, 8, 16, 19, 20, 21, 22}
    assert not reader.begun_behind(found.trace.events - 1)


def test_locate_has_them_right_behind_the_access_and_what_came_later_last():
    text = CUT.replace("sum += *item;", "sum += *item + (i > 3);")
    folder = subject_folder("overreach", p_c=text)
    options = ("--no-generate", "--json", "--budget", "10")
    cases = ("--fails", "10", "--expect", "0\n", "--passes", "6", "--passes", "4", "--passes", "2")
    found = whence(folder, "locate", "p.c", *cases, *options).json
    place = {entry["line"]: entry["rank"] for entry in found["ranking"]}
    assert place[8] < place[24] and place[21] < place[24]
