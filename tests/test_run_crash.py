"""Crashes whose address the kernel does not tell: which access it was, through which pointer, and what stood in it."""

from __future__ import annotations

import pytest
from stories import record, subject_of

from whence.findings import Symptom
from whence.run.point import is_odd, pointer_text
from whence.subject.symptoms import symptom_of

WILD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; char *name; };
struct holder { char text[8]; struct node *node; };
static int (*volatile handler)(int);
int main(int argc, char **argv)
{
    const char *mode = argv[1];
    struct node first = {1, NULL, NULL}, other = {2, NULL, NULL};
    struct holder h = {"", &first};
    int good = other.value;
    strcpy(h.text, argv[2]);
    if (!strcmp(mode, "load"))
        return other.value + h.node->value + good; /* load */
    if (!strcmp(mode, "member"))
        return h.node->next != other.next; /* member */
    if (!strcmp(mode, "store"))
        h.node->name = argv[1]; /* store */
    if (!strcmp(mode, "library"))
        return (int)strlen((char *)h.node); /* library */
    if (!strcmp(mode, "free"))
        free(h.node); /* free */
    if (!strcmp(mode, "call")) {
        memcpy((void *)&handler, &h.node, sizeof h.node);
        return handler(3); /* call */
    }
    if (!strcmp(mode, "copy"))
        other = *h.node; /* copy */
    if (!strcmp(mode, "pattern")) {
        memset(&h.node, 0xbe, sizeof h.node);
        return h.node->value; /* pattern */
    }
    if (!strcmp(mode, "null"))
        return (int)strlen(first.name); /* null */
    return other.value;
}
"""
TEXT = '0x4242424242424242, which is the text "BBBBBBBB"'
WILD_CASES = [
    ("load", "reading `h.node->value` at address 0x4242424242424242: `h.node` is " + TEXT),
    ("member", "reading `h.node->next` at address 0x424242424242424a: `h.node` is " + TEXT),
    ("store", "writing `h.node->name` at address 0x4242424242424252: `h.node` is " + TEXT),
    ("library", "in the call of strlen: `h.node` is " + TEXT),
    ("free", "in the call of free: `h.node` is " + TEXT),
    ("call", "calling `handler(3)`: the function pointer is " + TEXT),
    ("copy", "copying in `other = *h.node` at address 0x42424242424242"),
    (
        "pattern",
        "reading `h.node->value` at address 0xbebebebebebebebe: `h.node` is 0xbebebebebebebebe, "
        "which is the byte 0xbe eight times",
    ),
    ("null", "in the call of strlen: `first.name` is a null pointer"),
]


def symptom_in(text: str, *arguments: str) -> Symptom:
    """The symptom of a run of one C file that fails."""
    subject = subject_of(text)
    return symptom_of(record(subject, *arguments), subject.folder)


def line_of(text: str, mark: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if f"/* {mark} */" in line)


@pytest.mark.parametrize(("mode", "label"), WILD_CASES, ids=lambda v: str(v).split()[0])
def test_pointer_that_was_overwritten(mode: str, label: str) -> None:
    symptom = symptom_in(WILD, mode, "A" * 8 + "B" * 8)
    assert symptom.statement is not None and symptom.statement.line == line_of(WILD, mode)
    assert label in symptom.text
    assert symptom.details["criteria"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "a null pointer"),
        (0x4141414141414141, '0x4141414141414141, which is the text "AAAAAAAA"'),
        (0x64636261, '0x64636261, which is the text "abcd"'),
        (0x3FF8000000000000, "0x3ff8000000000000, which is the number 1.5"),
        (0x1234567890ABCDEF, "0x1234567890abcdef, which no address can be"),
        (0x555555556041, "0x555555556041"),  # these letters are where programs lie
        (0x7FFFFFFFE3A8, "0x7fffffffe3a8"),
    ],
)
def test_what_a_pointer_looks_like(value: int, text: str) -> None:
    assert pointer_text(value) == text
    assert is_odd(value) is ("which" in text)
