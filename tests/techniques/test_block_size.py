"""What a block's size comes from: told where an access went beyond the block's end, and nowhere else."""

from __future__ import annotations

import pytest
from cli_tool import subject_folder, whence
from trace_readers import record, subject_of

from whence.subject.memory_check import Checker
from whence.techniques.memory.block_size import sizings

MADE = """\
#include <stdlib.h>
#include <string.h>
static void *make(size_t bytes)
{
    void *block = malloc(bytes);        /* 5 */
    return block;
}
static size_t room(int n)
{
    size_t each = sizeof(short);        /* 10 */
    return n * each;                    /* 11 */
}
int main(void)
{
    int *items = make(room(6));         /* 15 */
    char *other = make(8);
    for (int i = 0; i < 6; i++)
        items[i] = i;                   /* 18 */
    return other == NULL;
}
"""
GROWN = """\
#include <stdlib.h>
int main(void)
{
    int size = 4, more = 3;             /* 4 */
    char *text = calloc(1, size);
    text[0] = 'a';
    text = realloc(text, size + more);  /* 7 */
    text[8] = 'b';                      /* 8 */
    return 0;
}
"""
BEFORE = MADE.replace("items[i] = i", "items[i - 1] = i")
LOCAL = "int main(void)\n{\n    int row[4], at = 5;\n    row[at] = 1;\n    return 0;\n}\n"


def lines(text: str) -> list[int]:
    """The lines of the first error's sizings."""
    subject = subject_of(text)
    checked = Checker(subject).check(record(subject).trace)
    return [sizing.statement.line for sizing in sizings(subject, checked, checked.errors[0])]


@pytest.mark.parametrize(
    "text, call, others",
    [(MADE, 5, {10, 11, 15}), (GROWN, 7, {4})],
    ids=["through functions", "grown: not what the block held"],
)
def test_the_call_comes_first_then_what_its_size_comes_from(text: str, call: int, others: set[int]) -> None:
    first, *rest = lines(text)
    assert (first, set(rest)) == (call, others)


@pytest.mark.parametrize("text", [BEFORE, LOCAL], ids=["before a block", "beyond an array"])
def test_other_errors_have_none(text: str) -> None:
    assert lines(text) == []


def test_locate_ranks_them_behind_the_access_that_the_failure_came_of() -> None:
    text = MADE.replace("return other == NULL", 'return strcmp(other, "")').replace("i < 6", "i < 9")
    folder = subject_folder("sized", p_c=text)
    found = whence(folder, "locate", "p.c", "--no-alter", "--no-generate", "--json", "--fails", "").json
    place = {entry["line"]: entry["rank"] for entry in found["ranking"]}
    assert place[18] == 1
    assert {line for line, rank in place.items() if 2 <= rank <= 5} == {5, 11, 15, 17}
    (call,) = [entry for entry in found["ranking"] if entry["line"] == 5]
    assert "the block of 12 bytes that the write on p.c:18 goes beyond was made here" in call["evidence"]["text"]
