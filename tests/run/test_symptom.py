"""Symptoms, on one small program that fails in a different way for each first argument.

A comment ``/* name */`` marks the line at which the failure of that name must be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from snippets import Snippet

from whence.findings import Symptom
from whence.probe.layout import Kind
from whence.program.model import Module
from whence.run.cases import Case
from whence.run.compare import Comparison
from whence.run.formats import constant_string, pattern_of
from whence.run.outcome import Expected, Outcome
from whence.run.outcome import Kind as Verdict
from whence.run.runner import Limits
from whence.run.symptom import find_symptom, line_around, quoted
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import Subject

SOURCE = r"""
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node { int value; struct node *next; };

static int zero;
static char name[16];

static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

static void pass_on(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    vprintf(format, again); /* passed on */
    va_end(again);
}

static void tell(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pass_on(format, list);
    va_end(list);
}

static void check(int good)
{
    if (!good) /* ended */
        exit(3); /* exit */
}

static void close_streams(void)
{
    if (fclose(stdout)) /* closed */
        _exit(1);
}

static int deep(int n, int *p)
{
    int room[64];
    room[n & 63] = *p + n;
    return deep(n + 1, room) + room[1]; /* recursion */
}

static int total(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) /* loop */
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    const char *mode = argv[1];
    int n = argc > 2 ? atoi(argv[2]) : 0;
    setvbuf(stdout, NULL, _IOFBF, 4096);
    if (!strcmp(mode, "argument"))
        printf("total %d of %s\n", total(n), "n"); /* argument */
    if (!strcmp(mode, "literal"))
        printf("totals %d\n", n); /* literal */
    if (!strcmp(mode, "string")) {
        strcpy(name, "abc");
        name[1] = (char)('b' + n); /* byte */
        puts(name); /* string */
    }
    if (!strcmp(mode, "built")) {
        char text[32];
        sprintf(text, "%d+%d", n, n + 1);
        fputs(text, stdout); /* built */
    }
    if (!strcmp(mode, "chosen")) {
        if (n < 3) { /* choice */
            printf("small %d\n", n);
        } else {
            printf("%d is large\n", n); /* chosen */
        }
    }
    if (!strcmp(mode, "list"))
        say("n is %d\n", n); /* list */
    if (!strcmp(mode, "listed")) {
        int one = n + 1, two = n + 2, six = n * 3;
        double half = n / 2.0;
        long double third = n / 3.0L;
        strcpy(name, n > 3 ? "more" : "less"); /* named */
        const char *none = "", *form = "%d %s%d %*d %-5s|%d %d %.1f %.2Lf %d %c\n";
        tell(form, one, none, two, 4, n, name, n, n, half, third, six, '!'); /* told */
    }
    if (!strcmp(mode, "short"))
        printf("%d\n", n / 10); /* short */
    if (!strcmp(mode, "row")) {
        for (int i = 1; i < n; i++) /* row */
            printf("%d", i * zero + i); /* digit */
        printf("\n"); /* end of row */
    }
    if (!strcmp(mode, "closing")) {
        atexit(close_streams);
        for (int i = 0; i < n; i++) /* closing */
            printf("%d\n", i);
    }
    if (!strcmp(mode, "character"))
        putchar('a' + n); /* character */
    if (!strcmp(mode, "raw"))
        write(1, argv[2], 1); /* raw */
    if (!strcmp(mode, "missing")) {
        for (int i = 0; i < n; i++) /* missing */
            printf("%d\n", i);
        if (zero)
            printf("end\n");
    }
    if (!strcmp(mode, "ended")) {
        printf("start\n");
        check(n > 0);
        printf("end\n");
    }
    if (!strcmp(mode, "extra"))
        for (int i = 0; i < n; i++)
            printf("%d\n", i); /* extra */
    if (!strcmp(mode, "status")) {
        if (n > 1)
            return 1; /* status */
    }
    if (!strcmp(mode, "exit"))
        check(n);
    if (!strcmp(mode, "null")) {
        struct node first = {n, NULL};
        first.next->value = n; /* null */
    }
    if (!strcmp(mode, "inside"))
        n = (int)strlen(n ? "" : NULL); /* inside */
    if (!strcmp(mode, "divide")) {
        int many = 100 / (n + 1);
        n = many / zero; /* divide */
    }
    if (!strcmp(mode, "abort") && n == 0)
        abort(); /* abort */
    if (!strcmp(mode, "recursion"))
        n = deep(0, &n);
    if (!strcmp(mode, "assert"))
        assert(n * 2 > total(3)); /* assert */
    if (!strcmp(mode, "endless"))
        while (n < 10) /* endless */
            for (int i = 0; i < 5; i++)
                n = total(2);
    fflush(stdout);
    if (!strcmp(mode, "none"))
        if (n > 3) /* none */
            printf("large\n");
    return zero;
}
"""


@dataclass(slots=True)
class Bench:
    """The program, and a recorder of its runs."""

    subject: Subject
    recorder: Recorder

    def record(self, arguments: str, expected: Expected, how: Comparison | None = None) -> Recording:
        case = Case(arguments, tuple(arguments.split()), expected=expected, comparison=how or Comparison())
        recording = self.recorder.record(case)
        assert recording.outcome.failed
        return recording

    def symptom(self, arguments: str, stdout: str | None = None, how: Comparison | None = None) -> Symptom:
        recording = self.record(arguments, Expected(stdout.encode() if stdout is not None else None), how)
        return find_symptom(recording.trace, recording.result, recording.outcome, self.subject.folder)


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if f"/* {mark} */" in line)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    subject = Snippet({"subject.c": SOURCE}, (), Limits(time=60.0)).subject
    with Recorder(subject) as recorder:
        yield Bench(subject, recorder)


def places(symptom: Symptom) -> tuple[str, str, int]:
    assert symptom.statement is not None
    return symptom.kind, symptom.statement.file, symptom.statement.line


def lines_of_criteria(bench: Bench, recording: Recording, symptom: Symptom) -> set[int]:
    trace = recording.trace
    events = [c - 1 if c > 0 else int(trace.columns.cells[-c - 1]["parent"]) for c in symptom.details["criteria"]]
    return {location.line for e in events if (location := trace.location(e))}


OUTPUTS = [
    ("argument 5", "total 15 of n\n", "wrong-output", "argument"),
    ("literal 5", "total 5\n", "wrong-output", "literal"),
    ("string 4", "abc\n", "wrong-output", "string"),
    ("built 3", "3-4", "wrong-output", "built"),
    ("list 3", "n is 4\n", "wrong-output", "list"),
    ("short 100", "100\n", "wrong-output", "short"),
    ("character 2", "b", "wrong-output", "character"),
    ("raw x", "y", "wrong-output", "raw"),
    ("missing 3", "0\n1\n2\n3\n", "missing-output", "missing"),
    ("none 2", "large\n", "missing-output", "none"),
    ("ended 0", "start\nend\n", "missing-output", "ended"),
    ("extra 3", "0\n1\n", "extra-output", "extra"),
    ("row 3", "123\n", "wrong-output", "end of row"),
    ("closing 2", "0\n1\n2\n", "missing-output", "closing"),
]


@pytest.mark.parametrize(("arguments", "expected", "kind", "mark"), OUTPUTS, ids=lambda v: str(v).split()[0])
def test_output(bench: Bench, arguments: str, expected: str, kind: str, mark: str) -> None:
    symptom = bench.symptom(arguments, expected)
    assert places(symptom) == (kind, "subject.c", line_of(mark))
    assert symptom.event >= 0 and symptom.clock >= 0 and symptom.details["criteria"]


# Of "4 5    3 less |3 3 1.5 1.00 9 !": what is expected instead, the argument that is wrong then, and what it gave.
LISTED = [
    ("4 6    3 less |3 3 1.5 1.00 9 !", "two", "5"),
    ("4 5    3 lost |3 3 1.5 1.00 9 !", "name", "less "),
    ("4 5    3 less |3 3 2.5 1.00 9 !", "half", "1.5"),
    ("4 5    3 less |3 3 1.5 2.00 9 !", "third", "1.00"),
    ("4 5    3 less |3 3 1.5 1.00 8 !", "six", "9"),  # on the stack
]


@pytest.mark.parametrize(("expected", "argument", "gave"), LISTED, ids=[row[1] for row in LISTED])
def test_what_a_list_of_arguments_holds_is_what_the_variadic_function_was_given(
    bench: Bench, expected: str, argument: str, gave: str
) -> None:
    recording = bench.record("listed 3", Expected(f"{expected}\n".encode()))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert places(symptom) == ("wrong-output", "subject.c", line_of("told"))
    assert symptom.details["label"] == f'`{argument}` gave "{gave}"'
    written = {line_of("named")} if argument == "name" else set()
    assert lines_of_criteria(bench, recording, symptom) == {line_of("told")} | written


def test_text_of_a_list_that_is_constant_is_written_by_the_call_that_has_the_list(bench: Bench) -> None:
    symptom = bench.symptom("listed 3", "4 5    3 less |3 3 1.5 1.00 9 ?\n")
    assert places(symptom) == ("wrong-output", "subject.c", line_of("passed on"))


ENDS = [
    ("status 2", "wrong-status", "status"),
    ("exit 0", "wrong-status", "exit"),
    ("null", "crash", "null"),
    ("inside", "crash", "inside"),
    ("divide", "crash", "divide"),
    ("abort", "crash", "abort"),
    ("recursion", "crash", "recursion"),
    ("assert 1", "assertion", "assert"),
]


@pytest.mark.parametrize(("arguments", "kind", "mark"), ENDS, ids=lambda v: str(v).split()[0])
def test_end(bench: Bench, arguments: str, kind: str, mark: str) -> None:
    symptom = bench.symptom(arguments)
    assert places(symptom) == (kind, "subject.c", line_of(mark))
    assert symptom.event >= 0 and symptom.details["criteria"]


def test_timeout_leads_to_the_outer_loop(bench: Bench) -> None:
    """Only the end of the run is kept: an endless run fills any trace."""
    with Recorder(replace(bench.subject, limits=Limits(time=0.5)), window=16 << 20) as recorder:
        recording = Bench(bench.subject, recorder).record("endless", Expected())
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert places(symptom) == ("timeout", "subject.c", line_of("endless"))
    assert symptom.details["label"] == "`n < 10` was still going round when the run was ended"


def test_argument_and_its_text_are_named(bench: Bench) -> None:
    symptom = bench.symptom("argument 5", "total 15 of n\n")
    assert symptom.details["argument"] == 1
    assert symptom.details["label"] == '`total(n)` gave "10"'
    assert symptom.text == 'line 1 of standard output is "total 10 of n", expected "total 15 of n"'


def test_wrong_byte_of_a_string_leads_to_what_wrote_that_byte(bench: Bench) -> None:
    recording = bench.record("string 4", Expected(b"abc\n"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert lines_of_criteria(bench, recording, symptom) == {line_of("string"), line_of("byte")}


def test_literal_text_is_traced_to_the_branches_before(bench: Bench) -> None:
    recording = bench.record("literal 5", Expected(b"total 5\n"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert "argument" not in symptom.details
    assert line_of("literal") - 1 in lines_of_criteria(bench, recording, symptom)


def test_number_before_the_last_newline_may_be_whole(bench: Bench) -> None:
    """A number that ends where a digit was expected may be right, and one behind it be missing: both are asked about.

    The symptom is where the newline is written, so nothing that decided over a further number lies behind it.
    """
    recording = bench.record("row 3", Expected(b"123\n"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert lines_of_criteria(bench, recording, symptom) == {line_of("row"), line_of("digit"), line_of("end of row")}
    loops = [e for e in range(recording.trace.events) if is_branch_at(recording, e, line_of("row"))]
    assert recording.trace.clock(loops[-1]) < symptom.clock


def is_branch_at(recording: Recording, event: int, line: int) -> bool:
    location = recording.trace.location(event)
    return recording.trace.kind(event) is Kind.BRANCH and location is not None and location.line == line


def test_what_ran_after_the_end_printed_nothing_on_purpose(bench: Bench) -> None:
    recording = bench.record("closing 2", Expected(b"0\n1\n2\n"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert line_of("closed") not in lines_of_criteria(bench, recording, symptom)


def test_what_crashed_is_said(bench: Bench) -> None:
    assert "writing `first.next->value` at address 0x0" in bench.symptom("null").text
    assert "dividing by zero in `many / zero`" in bench.symptom("divide").text
    assert "in the call of strlen" in bench.symptom("inside").text
    assert "the stack overflowed" in bench.symptom("recursion").text


def test_comparison_that_ignores_white_space(bench: Bench) -> None:
    symptom = bench.symptom("argument 5", "  total  15 of n", Comparison(white_space=False))
    assert places(symptom) == ("wrong-output", "subject.c", line_of("argument"))


@pytest.mark.parametrize(("offset", "line"), [(0, "ab"), (2, "ab"), (3, "cd"), (5, "cd"), (6, "")])
def test_line_around(offset: int, line: str) -> None:
    assert line_around(b"ab\ncd\n", offset) == line


def test_quoted_is_short_and_printable() -> None:
    assert quoted('a"\t') == r'"a\"\t"'
    assert len(quoted("x" * 500)) < 80


@pytest.mark.parametrize(
    ("text", "output", "fits", "literal"),
    [
        (b"%d edges, weight %lld\n", b"12 edges, weight -3\n", True, 13),
        (b"%d edges, weight %lld\n", b"a b 12\n", False, 13),
        (b"%-8s|%6.2f%%\n", b"ab      |  3.50%\n", True, 2),
        (b"%s", b"anything", True, 0),
        (b"100%%: %c", b"100%: \n", True, 4),
        (b"[%*d]", b"[   7]", True, 2),
    ],
)
def test_pattern_of_a_format(text: bytes, output: bytes, fits: bool, literal: int) -> None:
    pattern, length = pattern_of(text)
    assert (pattern.match(output) is not None) is fits
    assert length == literal


def test_constant_strings_are_read_from_the_module() -> None:
    module = Module("m", "m.c", globals={
        ".str": 'private unnamed_addr constant [8 x i8] c"a\\0A\\22\\\\%d\\00", align 1',
        "data": "global [8 x i8] zeroinitializer, align 1",
    })  # fmt: skip
    assert constant_string(module, "@.str") == b'a\n"\\%d'
    assert constant_string(module, "@data") is None
    assert constant_string(module, "@none") is None


def test_wrong_call_leads_to_the_branch_that_chose_it(bench: Bench) -> None:
    """What was expected fits another call: the branch between the two is part of the criterion."""
    recording = bench.record("chosen 3", Expected(b"small 3\n"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, bench.subject.folder)
    assert places(symptom) == ("wrong-output", "subject.c", line_of("chosen"))
    assert line_of("choice") in lines_of_criteria(bench, recording, symptom)
    assert len(symptom.details["criteria"]) <= 3


WAYS_OUT = r"""
#include <stdio.h>
#include <string.h>
static int groups(char **words)
{
    char **at = words;
    int count = 0;
    while (*at) { /* outer */
        while (*at) {
            if (strcmp(*words, *at)) /* left */
                break;
            count++;
            at++;
        }
        if (count % 2) { /* way out */
            if (**words != 'x')
                return -1;
        } else {
            for (count /= 2; count > 0; count--)
                printf("%s\n", *words);
        }
        count = 0; /* and never goes on with the next word */
    }
    return 0;
}
int main(int argc, char **argv) { return groups(argv + 1); }
"""


def test_a_loop_with_ways_out_amid_its_rounds_is_the_one_that_goes_on() -> None:
    case = Case("ways", ("b", "b", "c", "c"), expected=Expected())
    subject = Snippet({"ways.c": WAYS_OUT}, (), Limits(time=0.5)).subject
    with Recorder(subject) as recorder:
        recording = recorder.record(case, Outcome(Verdict.TIMEOUT, "still running"))
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, subject.folder)
    line = next(n for n, text in enumerate(WAYS_OUT.splitlines(), 1) if "/* outer */" in text)
    assert symptom.statement is not None and symptom.statement.line == line
    assert recording.trace.bytes_used <= 17 << 20


def test_what_is_no_text_is_told_by_its_bytes(bench: Bench) -> None:
    found = bench.symptom("character -97", "\x10")
    assert places(found) == ("wrong-output", "subject.c", line_of("character"))
    assert found.text == "byte 1 of standard output is 0x00, expected 0x10"
    assert found.details["label"] == "`97 + n` gave 0x00"
