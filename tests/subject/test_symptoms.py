"""What stands beside a symptom: the open calls and the standard error of the failing run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from cli_tool import subject_folder, whence
from trace_readers import record, subject_of

from whence.findings import Compared
from whence.run.cases import Case
from whence.run.compare import Difference
from whence.run.context import compared_of, errors_of
from whence.run.outcome import Expected, Kind, Outcome
from whence.run.result import RunResult
from whence.subject.symptoms import symptom_of, unrecorded_symptom

NESTED = r"""
#include <stdio.h>
#include <stdlib.h>
static int deep(int n, int *where)
{
    if (n == 0)
        return *where; /* crash */
    return deep(n - 1, where) + 1; /* again */
}
static int compare(const void *a, const void *b)
{
    return deep(*(const int *)a, NULL) - *(const int *)b; /* compared */
}
int main(int argc, char **argv)
{
    int numbers[2] = {atoi(argv[1]), 4};
    fprintf(stderr, "sorting\n");
    for (int i = 0; i < 20; i++)
        fprintf(stderr, "line %d\n", i);
    fprintf(stderr, "no end of line \x1b[31m");
    qsort(numbers, 2, sizeof *numbers, compare); /* sorted */
    return numbers[0];
}
"""


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(NESTED.splitlines(), 1) if f"/* {mark} */" in line)


def calls_of(depth: int) -> dict:
    subject = subject_of(NESTED)
    return symptom_of(record(subject, str(depth)), subject.folder).details["stack"]


def test_stack_at_a_crash() -> None:
    assert calls_of(1) == {
        "first": [
            {"function": "deep", "file": "p.c", "line": line_of("crash")},
            {"function": "deep", "file": "p.c", "line": line_of("again")},
            {"function": "compare", "file": "p.c", "line": line_of("compared")},
            {"function": "main", "file": "p.c", "line": line_of("sorted")},
        ],
        "left_out": 0,
        "last": [],
    }


def test_deep_stack_is_bounded() -> None:
    stack = calls_of(3000)
    assert len(stack["first"]) == 12 and stack["left_out"] == 3003 - 16
    assert [call["function"] for call in stack["last"]] == ["deep", "deep", "compare", "main"]


def test_standard_error_is_bounded() -> None:
    subject = subject_of(NESTED)
    recording = record(subject, "1")
    errors = symptom_of(recording, subject.folder).details["stderr"]
    assert errors["first"] == ["sorting", "line 0", "line 1", "line 2"] and errors["left_out"] == 10
    assert errors["last"][-1] == "no end of line \x1b[31m"
    outside = unrecorded_symptom(recording.result, recording.outcome)
    assert outside.kind == "crash" and outside.statement is None and outside.details["stderr"] == errors


def test_long_lines_and_other_bytes() -> None:
    assert errors_of(b"") == errors_of(b"\n\n") == {"first": [], "left_out": 0, "last": []}
    assert errors_of(b"\xff\xfe\n" + b"x" * 10_000)["first"] == ["\ufffd\ufffd", "x" * 200]


CHECKED = r"""
#include <stdio.h>
#include <string.h>
static int greet(const char *who)
{
    char name[8];
    strcpy(name, who);
    return puts(name);
}
int main(int argc, char **argv) { return greet(argv[1]) < 0; }
"""


def test_another_end_of_the_program_itself_is_told():
    folder = subject_folder("checked", p_c=CHECKED)
    words = ("p.c", "--cflags=-O2 -D_FORTIFY_SOURCE=2", "--fails", "a-very-long-name-indeed")
    symptom = whence(folder, "slice", *words, "--json").json["symptom"]
    assert symptom["text"].startswith("killed by SIGABRT (standard error ends: *** buffer overflow detected ***")
    assert "by itself; recorded it was killed by SIGSEGV" in symptom["text"]


def compared(
    printed: bytes, expected: bytes | None, actual_at: int, expected_at: int, stream: int = 1
) -> Compared | None:
    case = Case("prints", expected=Expected(expected, b"else\n"))
    result = RunResult(case, 0, 0, False, False, printed, printed, 0.0, 0)
    return compared_of(result, Outcome(Kind.WRONG_OUTPUT, "", stream, Difference(actual_at, expected_at)))


def test_outputs_are_told_around_the_first_difference() -> None:
    lines = [b"%d\n" % n for n in range(20)]
    right = b"".join(lines)
    wrong = right.replace(b"5\n", b"x\n", 1)
    assert compared(wrong, right, 10, 10) == Compared(
        3, ("2", "3", "4", "x", "6", "7", "8", "9", "10"), ("2", "3", "4", "5", "6", "7", "8", "9", "10"), (9, 9)
    )
    assert compared(b"", b"a\nb\n", 0, 0) == Compared(1, (), ("a", "b"))
    assert compared(b"some\n", b"", 0, 0, stream=2) == Compared(1, ("some",), ("else",))


def test_a_run_without_a_wrong_output_has_nothing_to_compare() -> None:
    result: Any = SimpleNamespace(case=SimpleNamespace(expected=None))
    assert compared_of(result, Outcome(Kind.CRASH)) is None
