"""Execution Suppression: which definitions a failure came of, in how many executions the first corruption is found."""

from __future__ import annotations

import pytest
from trace_readers import subject_of

from bench.memory.programs import Program
from bench.suppression.programs import PROGRAMS
from whence.alter.suppression import SuppressedRuns
from whence.run.cases import Case, Suite
from whence.run.outcome import Expected, Kind
from whence.techniques.execution_suppression.algorithm import NOT_COMPARED, Suppressed, Suppression
from whence.techniques.execution_suppression.explanation import Explanation

CASE = Case("case", (), expected=Expected())
COPY_AND_PASTE = """\
#include <stdlib.h>
struct s { int f; };
static int values[] = {2, 3, 4, 900000000};
static int at;
static int read_int(void) { return values[at++]; }
int main(void)
{
    int *x = malloc(2 * sizeof(int)), *y = malloc(2 * sizeof(int)), *numbers = malloc(10 * sizeof(int));
    static struct s some;
    struct s **things = calloc(1000, sizeof *things);
    things[3] = &some;
    int *p1 = &x[1];
    int *p2 = &x[0];
    int *q1 = &y[1];
    int *q2 = &x[0]; //! should be &y[0]
    *p1 = read_int();
    *p2 = read_int();
    *q1 = read_int();
    *q2 = read_int(); // clobbers
    int a = *p1 + *p2;
    int b = *q1 + *q2;
    int c = a + b + 1; // index
    numbers[c] = 0;
    things[*p2]->f = 0;
    free(p2);
    free(q2);
    return 0;
}
"""


def followed(text: str, reorder: bool = False, case: Case = CASE) -> tuple[Suppressed, list[list[int]]]:
    """The executions, and the lines that each one's failure came of."""
    subject = subject_of(text)
    with SuppressedRuns(subject, case) as runs:
        seconds = 60.0
        found = Suppression(runs, subject.folder, lambda: seconds, lambda _: None, lambda _: None).suppress(reorder)
    told = [Explanation(subject, step).json() for step in found.steps]
    return found, [[d["line"] for d in execution["suppressed"]] for execution in told]


def line(text: str, part: str) -> int:
    return next(n for n, one in enumerate(text.splitlines(), 1) if part in one)


def test_the_example_of_figure_5_1() -> None:
    found, lines = followed(COPY_AND_PASTE)
    assert not found.why
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.CRASH, Kind.CRASH, Kind.CRASH, Kind.PASS]
    assert lines[0][0] == line(COPY_AND_PASTE, "// index")
    assert lines[1][0] == line(COPY_AND_PASTE, "// clobbers")
    assert lines[2] == [line(COPY_AND_PASTE, "//!")]


STATUSES = """\
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
static struct { char name[8]; int limit; } job = {"", 100};
static int used;
static int is_used_up(void) { return used > job.limit; }
int main(int argc, char **argv)
{
    strcpy(job.name, argv[2]); // clobbers
    used = 2; // right
    int left = job.limit - used; // computes
    switch (*argv[1]) {
    case 'r': return used > job.limit;
    case 'c': return job.limit == 100 ? 0 : 4;
    case 'i': if (is_used_up()) return 3; break;
    case 'e': if (job.limit < 50) exit(3); break;
    case 'a': exit(job.limit != 100);
    case 'v': return left != 98;
    case 'p': if (!is_used_up()) puts("fine"); break;
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "parts"),
    [
        ("r", ["// right", "// clobbers"]),
        ("c", ["// clobbers"]),
        ("i", ["// right", "// clobbers"]),
        ("e", ["// clobbers"]),
        ("a", ["// clobbers"]),
        ("v", ["// computes"]),
    ],
)
def test_a_wrong_exit_status_is_followed_to_what_it_was_made_of(how: str, parts: list[str]) -> None:
    found, lines = followed(STATUSES, case=Case(how, (how, "eight..."), expected=Expected()))
    assert sorted(lines[0]) == sorted(line(STATUSES, part) for part in parts)
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.WRONG_STATUS, Kind.PASS]
    assert not found.why


JUMPED = """\
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }
static long read_at(long place)
{
    signal(SIGSEGV, jump);
    if (sigsetjmp(back, 1)) // gives what cannot be suppressed
        exit(51);
    return *(volatile long *)place;
}
int main(void)
{
    printf("%ld\\n", read_at(8));
    return 0;
}
"""


def test_what_cannot_be_suppressed_is_no_definition() -> None:
    case = Case("case", (), expected=Expected(b"5\n"))
    _, lines = followed(JUMPED, case=case)
    assert line(JUMPED, "cannot be suppressed") not in lines[0]


def test_where_a_later_run_cannot_be_compared_nothing_is_called_gone() -> None:
    found, lines = followed(STATUSES, case=Case("p", ("p", "eight..."), expected=Expected(b"fine\n")))
    assert {line(STATUSES, part) for part in ("// right", "// clobbers")} <= set(lines[0])
    assert found.why == NOT_COMPARED


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_first_corruption_of_each_program(program: Program) -> None:
    found, lines = followed(program.text)
    last = next(found for found in reversed(lines) if found)
    assert (last[0], found.why) == (program.line, "")
    assert len(found.steps) <= 4


def test_an_overflow_into_a_pointer_that_is_used_much_later() -> None:
    text = """\
#include <string.h>
static struct { char name[8]; int *value; } row;
static int number = 4;
int main(void)
{
    row.value = &number;
    strcpy(row.name, "far too long a name"); //!
    for (int i = 0; i < 100; i++)
        number++;
    return *row.value == 104;
}
"""
    found, lines = followed(text)
    assert (lines, found.why) == ([[line(text, "//!")], []], "")


def test_a_pointer_written_over_byte_by_byte_is_one_step() -> None:
    text = """\
static struct { char name[8]; int *value; } row;
static int number;
int main(void)
{
    const char *from = "abcdefghijklmnop";
    row.value = &number;
    for (int i = 0; i < 16; i++)
        row.name[i] = from[i]; //!
    return *row.value;
}
"""
    found, lines = followed(text)
    assert lines == [[line(text, "//!")], []]
    assert len(found.steps[0].definitions) == 8
    assert not found.why


MEMBER_GIVEN = """\
#include <stdio.h>
#include <string.h>
struct list { struct list *next; char name[8]; };
static struct list first = {NULL, "one"};
int main(int argc, char **argv)
{
    struct { char name[8]; struct list *own; } user = {"", &first};
    strcpy(user.name, "overflowingname"); //!
    printf("%s\\n", user.own->name);
    return 0;
}
"""


def test_a_member_that_a_library_call_was_given_is_followed_to_its_pointer() -> None:
    found, lines = followed(MEMBER_GIVEN)
    assert not found.why
    assert lines[0] == [line(MEMBER_GIVEN, "//!")]


def test_a_smashed_return_address() -> None:
    text = """\
#include <string.h>
static void fill(const char *from)
{
    char row[8];
    strcpy(row, from); //!
}
int main(void)
{
    fill("a text that goes over the end of the frame and of what lies behind it");
    return 0;
}
"""
    found, lines = followed(text)
    assert (lines, found.why) == ([[line(text, "//!")], []], "")


def test_what_the_allocator_keeps_behind_a_block() -> None:
    text = """\
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *a = malloc(24), *b = malloc(24);
    memset(a, 'x', 40); //!
    b[0] = 0;
    free(b);
    return 0;
}
"""
    found, lines = followed(text)
    assert (lines, found.why) == ([[line(text, "//!")], []], "")


def test_what_the_allocator_keeps_behind_a_block_is_also_found_out_within_printf() -> None:
    text = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *a = malloc(24);
    memset(a, 'x', 40); //!
    printf("%c\\n", a[0]);
    free(a);
    return 0;
}
"""
    found, lines = followed(text)
    assert (lines, found.why) == ([[line(text, "//!")], []], "")


def test_a_field_that_was_never_given() -> None:
    text = """\
#include <stdlib.h>
struct node { struct node *next; int n; };
int main(void)
{
    struct node *head = calloc(1, sizeof *head);
    struct node *second = head->next; //!
    return second->n;
}
"""
    found, lines = followed(text)
    assert lines[0] == [line(text, "calloc")]
    assert not found.why


HALF = """\
#include <string.h>
static struct { long id; int counts[2]; const char *word; } row = {1, {0, 0}, "word"};
static int *other;
int main(int argc, char **argv)
{
    int *counts = row.counts;
    counts[1 + argc] = 1; // half of the pointer behind
    int length = FIRST (int)strlen(row.word);
    return length != 4;
}
"""


def test_text_at_an_address_that_nothing_can_read_is_given_to_the_call() -> None:
    """So the pointer is recorded before the run ends: here, and where something is suppressed already."""
    half, used = line(HALF, "half"), line(HALF, "FIRST")
    found, lines = followed(HALF.replace("FIRST", ""))
    assert (found.why, lines) == ("", [[half], []])
    found, lines = followed(HALF.replace("FIRST", "*other +"))
    assert (found.why, lines) == ("", [[used], [half], []])


def test_a_crash_that_does_not_go_is_told() -> None:
    found, _ = followed("int main(void) { *(volatile int *)8 = 1; return 0; }\n")
    assert found.steps[-1].recording.outcome.kind is Kind.PASS
    found, _ = followed("#include <stdlib.h>\nint main(void) { abort(); }\n")
    assert found.why == "what it came of is not in the recording"


STATIC = """\
#include <stdio.h>
#include <string.h>
static char first[16] = "x";
static char name[8];
static long gap[8];
static int *slot;
static int number = 3;
int main(void)
{
    slot = &number;
    strcpy(name, "a longer name"); //!
    gap[0] = 1;
    printf("%d %c%c\\n", *slot, first[0], name[0]);
    return 0;
}
"""
LOCAL = """\
#include <stdio.h>
#include <string.h>
static void greet(const char *who)
{
    char row[12];
    long spare[6] = {0};
    strcpy(row, who); //!
    printf("%c %ld\\n", row[0], spare[0]);
}
int main(void)
{
    greet("thirteen ...");
    greet("a text of twenty four..");
    return 0;
}
"""
HEAP = """\
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *row = malloc(20);
    memset(row, 1, 22); //!
    free(row);
    return 0;
}
"""
STALE = """\
#include <stdlib.h>
int main(void)
{
    int *row = malloc(40), *other;
    free(row);
    other = malloc(40);
    row[3] = 7; //!
    return other[0] > 1000000000 && other[0] < 0;
}
"""


def exposed(text: str) -> list[str]:
    """The spaces whose order exposed the write at the marked line of a program that passes."""
    found, lines = followed(text, reorder=True)
    assert found.steps[0].recording.outcome.kind is Kind.PASS
    assert line(text, "//!") in lines[1]
    assert not found.why
    return [order.space for order in found.exposed]


def test_an_order_of_static_variables_exposes_an_overflow() -> None:
    assert exposed(STATIC) == ["global"]


ZEROS_FIRST = """\
#include <string.h>
static int counts[8];
static const char *word = "word";
int main(int argc, char **argv)
{
    counts[7 + argc] = 1; //!
    return strlen(word) != 4;
}
"""


def test_variables_that_can_be_moved_lie_as_in_the_plain_program_at_first() -> None:
    """There what is zero lies behind what is not, wherever it stands in the text."""
    assert exposed(ZEROS_FIRST) == ["global"]


def test_an_order_of_locals_exposes_an_overflow() -> None:
    assert exposed(LOCAL) == ["stack"]


def test_a_guard_exposes_an_overflow_of_a_block() -> None:
    assert exposed(HEAP) == ["heap"]


def test_what_was_given_back_is_not_written_to() -> None:
    assert exposed(STALE) == ["heap"]


def test_a_correct_program_crashes_in_no_order() -> None:
    text = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char name[8], other[4];
static char *slot = name;
static int at = 2;
static int sum(int *row, int count) { int total = 0; for (int i = 0; i < count; i++) total += row[i]; return total; }
int main(void)
{
    char text[10] = "short";
    int numbers[5] = {1, 2, 3, 4, 5}, *first = numbers;
    char *copy = malloc(6), *more = calloc(3, 4);
    memcpy(copy, text, 6);
    strcpy(slot, copy);
    other[at] = 'x';
    copy = realloc(copy, 100);
    free(more);
    printf("%s %d %s\\n", name, sum(first, 5), copy);
    free(copy);
    return 0;
}
"""
    found, _ = followed(text, reorder=True)
    assert (found.exposed, found.why) == ([], "")
    (remark,) = found.remarks
    assert "none of which makes the run crash" in remark


# ---- Commands, and processes that are forked -------------------------------------------------------------------------

NAMES = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static struct { char name[8]; int *value; } row;
static int number = 4;
static void take(const char *name) { strcpy(row.name, name); } // clobbers
static int told(void)
{
    printf("%s %d\\n", row.name, *row.value);
    return fflush(stdout);
}
static void forked(const char *before, const char *after, int deeper)
{
    if (!fork()) {
        take(before);
        if (deeper)
            forked(after, "in", deeper - 1);
        exit(told());
    }
    wait(NULL);
}
int main(int argc, char **argv)
{
    char line[100];
    row.value = &number;
    if (argc > 1) {
        forked("a", "b", 0);
        forked("c", "far too long a name", 1);
        forked("d", "e", 1);
    } else if (fgets(line, sizeof line, stdin))
        take(line);
    return told();
}
"""


def command(text: str, forked: bool = False) -> Case:
    return Case("command", expected=Expected(), command=text, suite=Suite(None, "program", forked=forked))


def outputs(found: Suppressed) -> list[bytes]:
    return [step.recording.result.stdout for step in found.steps]


def test_of_a_command_one_process_is_suppressed_in_all_runs_the_one_that_crashed() -> None:
    words = "one two 'far too long a name' four"
    found, lines = followed(NAMES, case=command(f'for w in {words}; do printf %s "$w" | ./program; done; ./program x'))
    assert lines == [[line(NAMES, "// clobbers")], []] and not found.why
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.CRASH, Kind.PASS]
    first, last = outputs(found)
    assert first.split(b"four 4")[0] == b"one 4\ntwo 4\n" and b"one 4\ntwo 4\n" in last and b"four 4" in last
    assert first.split(b"four 4")[1] == last.split(b"four 4")[1]


def test_a_process_is_found_again_by_the_forks_that_led_to_it() -> None:
    found, lines = followed(NAMES, case=command("./program x", forked=True))
    assert lines == [[line(NAMES, "// clobbers")], []] and not found.why
    assert [step.recording.outcome.kind for step in found.steps] == [Kind.CRASH, Kind.PASS]
    assert outputs(found) == [b"a 4\nc 4\ne 4\nd 4\n 4\n"] * 2  # the text that is suppressed is not printed


def test_a_process_that_does_not_run_again_is_told() -> None:
    found, _ = followed(NAMES, case=command("./program x$(date +%N)"))
    assert found.why == "the process that failed did not run this time"
