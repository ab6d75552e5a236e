"""What gave a value too late, where one was read that had none."""

from __future__ import annotations

from trace_readers import record, subject_of

from whence.subject.memory_check import Checker
from whence.subject.memory_words import FoundErrors
from whence.techniques.memory.given_later import given_later

LATE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    int *codes = malloc(8 * sizeof *codes), kept = 0;
    for (int i = 0; i < 3; i++)
        codes[i] = i;                   /* 8 */
    int taken = codes[5];               /* 9 */
    if (taken > 2)                      /* 10 */
        kept = 1;
    codes[4] = 7;
    codes[5] = 3;                       /* 13 */
    codes[5] = 4;
    printf("%d %d\\n", kept, codes[5]);
    free(codes);
    return 0;
}
"""


def found(text: str) -> tuple[int, str] | None:
    """The line, and what is said of it."""
    subject = subject_of(text)
    checked = Checker(subject).check(record(subject).trace)
    origin = FoundErrors(subject, checked).origin(checked.errors[0])
    assert origin is not None
    later = given_later(subject, checked, origin)
    return None if later is None else (later[0].line, later[1])


def test_the_first_store_behind_the_read():
    assert found(LATE) == (13, "`codes[5]` was given a value here only behind p.c:9, which had read it")


def test_a_later_block_at_the_same_address_is_another_one():
    moved = "free(codes);\n    codes = calloc(8, sizeof *codes);\n    codes[5] = 3;"
    assert found(LATE.replace("codes[5] = 3;", moved)) is None


def test_nothing_is_given_later():
    assert found(LATE.replace("codes[5] = 3;", ";").replace("codes[5] = 4;", ";").replace(", codes[5]", ", 0")) is None
