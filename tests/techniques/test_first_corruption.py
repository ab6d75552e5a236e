"""How a failing run's memory errors stand to its failure: only what is checked is said to be its cause."""

from __future__ import annotations

import pytest
from cli_programs import line_of
from cli_tool import subject_folder, whence
from trace_readers import record, subject_of

from whence.subject.memory_check import Checker
from whence.subject.symptoms import symptom_of
from whence.techniques.memory.consequences import Consequences, Link

HEAP_POINTER = """\
#include <stdlib.h>
struct entry { char name[8]; long *count; };
int main(void)
{
    char *title = malloc(24);
    struct entry *entry = malloc(sizeof *entry);
    entry->count = malloc(8);
    for (int i = 0; i < 48; i++)
        title[i] = 'x';                         /* 9: over the pointer */
    return (int)*entry->count;                  /* 10 */
}
"""
UNRELATED = """\
#include <stdlib.h>
static int wide[4], other[4];
static void set(int *row, int at, int value) { row[at] = value; }  /* 3 */
int main(void)
{
    int *missing = NULL;
    set(wide, 5, 1);
    return *missing + other[1];                 /* 8 */
}
"""
FAR = """\
#include <stdlib.h>
static int row[4];
static void set(int at) { row[at] = 1; }        /* 3 */
int main(void) { set(1 << 28); return 0; }
"""
FREED_READ = """\
#include <stdlib.h>
struct node { struct node *next; long value; };
int main(void)
{
    struct node *first = malloc(sizeof *first), *taken;
    first->next = first;
    free(first);
    taken = first->next;                        /* 8 */
    return (int)taken->next->next->value;       /* 9 */
}
"""
NEVER_SET = """\
#include <stdlib.h>
struct box { long *held; };
int main(void)
{
    struct box *box = malloc(sizeof *box);
    long *held = box->held;
    if (box)
        return (int)*held;                      /* 8: crashes, as fresh memory holds 0 */
    return 0;
}
"""
HEAP_NUMBERS = """\
#include <stdlib.h>
int main(void)
{
    char *name = malloc(24), *next = malloc(24);
    for (int i = 0; i < 32; i++)
        name[i] = 'x';                          /* 6: over the size of the next block */
    free(next);
    free(name);
    return 0;
}
"""
RETURN_ADDRESS = """\
static void copy(char *to, int count) { for (int i = 0; i < count; i++) to[i] = 'x'; }  /* 1 */
static int fill(int count)
{
    char room[16];
    copy(room, count);
    return room[0];
}
int main(int count, char **words) { return fill(64 * count); }
"""
INSIDE = """\
#include <stdlib.h>
#include <string.h>
struct entry { char name[8]; long *count; };
static void put(char *to, const char *from, int length) { memcpy(to, from, length); }  /* 4 */
int main(void)
{
    static char line[8], behind[8];
    struct entry entry = {"name", NULL};
    put(line, "123456789012", 12);              /* over `behind`, which nobody reads */
    memcpy(&entry.count, line, 8);              /* from inside of `line` */
    return (int)*entry.count;                   /* 11 */
}
"""
PRINTED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    int *row = malloc(24);
    char *name = strcpy(malloc(24), "name");
    for (int i = 0; i < 9; i++)
        row[i] = 65 + i;                        /* 9: over the first letters of the name */
    puts(name);
    return 0;
}
"""
HEAP_IN_PRINTF = """\
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *name = malloc(12);
    for (int i = 0; i < 40; i++)
        name[i] = 'x';                          /* 7: over the size of what is left of the heap */
    printf("%c\\n", name[0]);
    return 0;
}
"""
CAUSES = {
    "a pointer on the heap is overwritten": (HEAP_POINTER, 9, Link.CAUSE),
    "an error elsewhere": (UNRELATED, 3, Link.BEFORE),
    "the access that crashes": (FAR, 3, Link.ITSELF),
    "a pointer read from a block that is gone": (FREED_READ, 8, Link.CAUSE),
    "a pointer that was never given": (NEVER_SET, 8, Link.ITSELF),
    "the heap's own numbers": (HEAP_NUMBERS, 6, Link.CAUSE),
    "the heap's own numbers, found out in another call": (HEAP_IN_PRINTF, 7, Link.CAUSE),
    "the return address": (RETURN_ADDRESS, 1, Link.CAUSE),
    "the part of a copy that was right": (INSIDE, 4, Link.BEFORE),
}


@pytest.mark.parametrize("text, line, link", CAUSES.values(), ids=CAUSES)
def test_the_first_error_stands_to_the_failure(text: str, line: int, link: Link) -> None:
    subject = subject_of(text)
    recording = record(subject)
    checked = Checker(subject).check(recording.trace)
    symptom = symptom_of(recording, subject.folder)
    error = checked.errors[0]
    assert checked.trace.location(error.event).line == line
    assert Consequences(checked, symptom, recording.result).link(error) is link


LATER = """\
#include <stdio.h>
static int wide[4], other[4];
static void set(int *row, int at, int value) { row[at] = value; }  /* 3 */
int main(int count, char **words)
{
    printf("%d\\n", count + 1);
    set(wide, 5, 1);
    printf("%d\\n", other[1]);
    return 0;
}
"""


def test_what_happens_behind_the_failure_is_not_its_cause() -> None:
    done = whence(subject_folder("later", p_c=LATER), "locate", "p.c", "--no-alter", "--no-generate", "--json",
                  "--fails", "", "--expect", "1\n1\n")  # fmt: skip
    first, *_ = done.json["ranking"]
    assert first["line"] != 3
    assert "memory" not in first["evidence"]
    assert done.json["memory"][0]["errors"][0]["line"] == 3
    assert "beyond" not in done.json["symptom"]["text"]


SILENT = """\
#include <stdio.h>
#include <stdlib.h>
static int marks[4], total[4];
static void mark(int at) { marks[at] = 7; }     /* 4 */
int main(int count, char **words)
{
    int at = atoi(words[1]);
    total[0] = 1;
    mark(at);
    printf("%d\\n", at == 3 ? 30 : 1);
    return 0;
}
"""


def located(name: str, text: str, *words: str) -> dict:
    folder = subject_folder(name, p_c=text)
    return whence(folder, "locate", "p.c", "--no-alter", "--no-generate", "--json", *words).json


def test_an_error_of_passing_runs_too_does_not_come_first() -> None:
    found = located("silent-too", SILENT.replace("marks[at]", "marks[at + 2]"), "--fails", "3", "--expect", "1\n",
                    "--passes", "4", "--passes", "5")  # fmt: skip
    first = found["ranking"][0]
    assert "memory" not in first["evidence"]
    (entry,) = [entry for entry in found["ranking"] if entry["line"] == 4]
    assert "2 of 2 passing runs that came here did the same" in entry["evidence"]["text"]


def test_one_of_the_failing_run_alone_comes_first_and_the_symptom_tells_it() -> None:
    text = SILENT.replace("marks[at]", "marks[at == 3 ? 5 : at]")
    found = located("failing-alone", text, "--fails", "3", "--expect", "1\n", "--passes", "1", "--passes", "2")
    first = found["ranking"][0]
    assert (first["line"], first["rank_worst"], first["evidence"]["memory"]) == (4, 1, 1.0)
    assert found["symptom"]["text"].endswith("; before it, a write beyond `marks` at p.c:4")


@pytest.mark.parametrize("last, words", [("9", "the wrong output came of a write"), ("7", "before it, a write")])
def test_a_text_that_was_printed_came_of_a_write_where_that_reached_the_wrong_byte(last: str, words: str) -> None:
    text = PRINTED.replace("i < 9", f"i < {last}")
    found = located(f"printed-{last}", text, "--fails", "", "--expect", "names\n" if last == "9" else "Name\n")
    assert f"; {words} at p.c:9 beyond the block of 24 bytes" in found["symptom"]["text"]


def test_without_a_passing_case_the_crash_is_said_to_have_come_of_the_write() -> None:
    found = located("alone", HEAP_POINTER, "--fails", "")
    assert found["ranking"][0]["line"] == 9
    assert "the crash came of a write at p.c:9 beyond the block of 24 bytes" in found["symptom"]["text"]
    assert found["memory"][0]["errors"][0]["hit"] is None


def test_an_error_is_called_behind_the_failure_only_where_no_other_of_its_line_is_before() -> None:
    folder = subject_folder(
        "both",
        both_c="""\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char *copy = malloc(4);
    strcpy(copy, argv[1]), puts(copy);
    puts(copy);
    return 0;
}
""",
        whence_toml='[program]\nsources = ["both.c"]\n[cases]\nfile = "cases.txt"\nreference = "/bin/echo"\n'
        "[compare]\nmemory = true\n",
        cases_txt="text\n",
    )
    words = (
        "--without",
        "invariants,causes,rules,switch,values,formula,confirmation,chain",
        "--budget",
        "5m",
        "--json",
    )
    found = whence(folder, "locate", *words).json
    texts = {entry["line"]: entry["evidence"]["text"] for entry in found["ranking"]}
    assert "happened behind the failure" not in texts[7]


COUNTED = """\
#include <stdio.h>
#include <stdlib.h>
struct item { int weight, count; };
static struct item *make(int weight)
{
    struct item *item = malloc(sizeof *item);  /* 6 */
    item->weight = weight;
    if (weight > 3)
        item->count = 1;
    return item;
}
int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        struct item *item = make(atoi(argv[i]));
        total += item->weight * item->count;   /* 17 */
    }
    printf("%d\\n", total);                    /* 19 */
    return 0;
}
"""


def test_an_undefined_value_is_blamed_where_it_was_read_first() -> None:
    found = located("counted", COUNTED, "--fails", "2 5", "--expect", "5\n", "--passes", "5 4", "--pattern", "7")
    entries = {entry["line"]: entry["evidence"] for entry in found["ranking"]}
    corrupts = {line: entry.get("memory", 0) for line, entry in entries.items()}
    assert corrupts[17] > corrupts[19] > corrupts.get(6, 0) > 0, corrupts
    assert "made from `item->count` at p.c:17, which was never given a value" in found["symptom"]["text"]


# The same, but what is not set is read by the branch that it decides.
ASKED = COUNTED.replace(
    "total += item->weight * item->count;   /* 17 */", "if (item->count != 2) total += item->weight; /* 17 */"
)


def test_what_made_the_block_of_an_undefined_value_follows_where_the_value_is_read_itself() -> None:
    found = located("asked", ASKED, "--fails", "2 5", "--expect", "5\n", "--passes", "5 4", "--pattern", "7")
    entries = {entry["line"]: entry["evidence"] for entry in found["ranking"]}
    assert entries[17]["memory"] == 1 > entries[6]["memory"] > 0
    assert "`item->count` lies in the block that was made here; nothing gave it a value before" in entries[6]["text"]
    assert "made from" not in found["symptom"]["text"]


SHARED = """\
#include <stdio.h>
#include <stdlib.h>
static int share(int whole, int parts)
{
    int each;                                   /* 5 */
    if (parts > 1)
        each = whole / parts;
    return each * 2;                            /* 8 */
}
int main(int argc, char **argv)
{
    printf("%d\\n", share(atoi(argv[1]), argc - 1));
    return 0;
}
"""


def test_where_a_local_variable_without_a_value_is_declared_follows_where_it_was_read() -> None:
    found = located("shared", SHARED, "--fails", "4", "--expect", "8\n", "--passes", "6 1", "--pattern", "7")
    entries = {entry["line"]: entry["evidence"] for entry in found["ranking"]}
    assert entries[8]["memory"] == 1 > entries[5]["memory"] > 0
    assert entries[5]["text"].startswith("`each` is declared here, and nothing gave it a value before p.c:8")


OWNED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { char owner[16]; struct account *next; int cents; };
static struct account *account(const char *owner, int cents)
{
    struct account *made = malloc(sizeof *made);
    memset(made->owner, 0, CLEARED);            /* 8 */
    made->cents = cents;
    strcpy(made->owner, owner);                 /* 10 */
    return made;
}
int main(int argc, char **argv)
{
    struct account *all = account(argv[1], 2);
    int sum = 0;
    for (struct account *one = all; one; one = one->next)
        sum += one->cents;
    printf("%d\\n", sum);
    return 0;
}
"""


def test_a_crash_that_came_of_a_write_beyond_a_member_is_told_by_it() -> None:
    cases = ("--fails", "abcdefghijklmnopqrstuvwxyz", "--passes", "short")
    found = located("inside", OWNED.replace("CLEARED", "16 + sizeof made->next"), *cases)
    assert found["ranking"][0]["line"] == 10
    assert "the failure came of this memory error" in found["ranking"][0]["evidence"]["text"]
    assert "; the crash came of a write beyond `owner` at p.c:10" in found["symptom"]["text"]
    # All runs clear two members at once, which is meant; that is not told beside the other one.
    assert [error["line"] for error in found["memory"][0]["errors"]] == [10]
    (made,) = (entry for entry in found["ranking"] if entry["line"] == 7)
    assert "goes beyond was made here" not in made["evidence"]["text"]


def test_what_stays_inside_of_a_structure_is_not_told_where_the_failure_did_not_come_of_it() -> None:
    text = OWNED.replace("CLEARED", "16 + sizeof made->next").replace("sum += one->cents", "sum += *(int *)0")
    found = located("inside-unrelated", text, "--fails", "short")
    assert found["memory"][0]["errors"] == []


FRESH = """\
#include <stdlib.h>
static int check(const char *text)
{
    int kept[4096], at = atoi(text);
    kept[at] = 0;
    return kept[at + 1];                        /* 6 */
}
int main(int argc, char **argv)
{
    return check(argv[1]) != -1431655766;       /* what a pattern of 0xAA makes of it */
}
"""


def test_where_the_failing_case_does_not_fail_when_it_is_recorded_its_first_error_comes_first() -> None:
    configuration = '[program]\nsources = ["p.c"]\n[limits]\npattern = 170\n'
    folder = subject_folder("fresh", p_c=FRESH, whence_toml=configuration)
    found = whence(folder, "locate", "--fails", "5", "--no-alter", "--no-generate", "--json").json
    first = found["ranking"][0]
    assert (first["line"], first["rank_worst"]) == (6, 1)
    assert "its recorded run shows the use of" in found["symptom"]["text"]


# The list is dropped by drop() on line 9; what it kept is given back once more at the end.
TWICE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *kept[4];
static int count;
static void drop(int at)
{
    printf("drop %d\\n", at);
    free(kept[at]); /* GIVEN */
    if (at != 2) /* FAULT */
        kept[at] = NULL;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 4; i++)
        kept[i] = strdup("text");
    for (int i = 1; i < argc; i++, count++)
        drop(atoi(argv[i])); /* CALL */
    for (int i = 0; i < 4; i++)
        free(kept[i]); /* AGAIN */
    printf("%d\\n", count);
    return 0;
}
"""


def test_where_a_block_was_given_back_first_is_blamed_before_where_that_is_done_again() -> None:
    words = ("--fails", "2", "--passes", "1", "--passes", "0 3", "--no-alter", "--json")
    found = whence(subject_folder("given-twice", twice_c=TWICE), "locate", "twice.c", *words).json
    assert found["symptom"]["kind"] == "crash"
    lines = [entry["line"] for entry in found["ranking"]]
    given, call, again = (line_of(TWICE, mark) for mark in ("GIVEN", "CALL", "AGAIN"))
    assert lines[:2] == [given, call] and again in lines
    evidence = {entry["line"]: entry["evidence"]["text"] for entry in found["ranking"]}
    assert f"before twice.c:{again} came to it" in evidence[given]
    assert "called `drop`, which gave back" in evidence[call]


RETURNED = """\
#include <stdio.h>
#include <stdlib.h>
static int **place(int at)
{
    int *rooms[2] = {NULL, NULL}, **chosen = rooms;
    return at == 2 ? chosen : malloc(sizeof *chosen); /* LEFT */
}
int main(int argc, char **argv)
{
    static int zero;
    int at = atoi(argv[1]), **chosen = place(at);
    if (at != 2)
        *chosen = &zero;
    printf("%d\\n", **chosen);
    return 0;
}
"""


def test_a_local_whose_function_returned_was_not_given_back() -> None:
    words = ("--fails", "2", "--passes", "1", "--no-alter", "--json")
    found = whence(subject_folder("returned-local", local_c=RETURNED), "locate", "local.c", *words).json
    assert found["memory"][0]["errors"][0]["kind"] == "use-after-return"
    assert not any("gave back" in entry["evidence"]["text"] for entry in found["ranking"])


MARKED = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char is_it[8];
    int which = atoi(argv[1]);
    int first = 1;                              /* 7 */
    for (int i = first; i < 8; i++)             /* 8 */
        is_it[i] = i == which;                  /* 9 */
    char said;
    if (is_it[0] == 1)                          /* 11 */
        said = 'y';
    else
        said = 'n';
    putchar(said);
    putchar(is_it[7] == 1 ? 'y' : 'n');
    return 0;
}
"""


def test_what_was_done_by_a_value_that_was_never_given_counts_though_passing_runs_were_lucky_with_it() -> None:
    found = located("marked", MARKED, "--fails", "0", "--expect", "yn", "--passes", "7", "--pattern", "7")
    entries = {entry["line"]: entry["evidence"] for entry in found["ranking"]}
    corrupts = {line: entry.get("memory", 0) for line, entry in entries.items()}
    assert corrupts[11] == 1 > corrupts[9] > corrupts[7] > 0, corrupts
    assert "1 of 1 passing run that came here did the same" in entries[11]["text"]
    assert "the failure depends on what was done by it" in entries[11]["text"]
    assert "another part of `is_it`" in entries[9]["text"] and "but not `is_it[0]`" in entries[9]["text"]
    assert "got a value on line 9 comes from here" in entries[7]["text"]
    assert (
        "the wrong output depends on the use of `is_it[0]`, which was never given a value" in found["symptom"]["text"]
    )


def test_a_value_that_was_never_given_counts_only_where_the_failure_depends_on_what_was_done_by_it() -> None:
    text = MARKED.replace("putchar(said);", "")
    found = located("not-marked", text, "--fails", "0", "--expect", "y", "--passes", "7", "--pattern", "7")
    assert not any("memory" in entry["evidence"] for entry in found["ranking"])
    assert found["memory"][0]["errors"][0]["kind"] == "uninitialised"
