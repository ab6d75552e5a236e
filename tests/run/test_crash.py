"""Crashes whose address the kernel does not tell: which access it was, through which pointer, and what stood in it."""

from __future__ import annotations

import re
import signal

import pytest
from trace_readers import record, source_of, subject_of

from whence.findings import Symptom
from whence.run.aborted import library_message
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.point import is_odd, pointer_text
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.recorder import Recorder, Recording
from whence.subject.subject import subject_from_sources
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


def test_null_pointer_that_is_meant_is_not_blamed() -> None:
    text = r"""
    #include <regex.h>
    #include <stddef.h>
    int main(void)
    {
        regex_t word;
        regcomp(&word, "[a-z]+", REG_EXTENDED);
        regfree(&word);
        return regexec(&word, "hello", 0, NULL, 0); /* here */
    }
    """
    symptom = symptom_in(text)
    assert symptom.statement is not None and symptom.statement.line == line_of(text, "here")
    assert "in the call of regexec" in symptom.text and "NULL" not in symptom.text


SMASHED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *letters; static void by_strcpy(const char *s) { char text[16]; strcpy(text, s); } /* strcpy */
static void by_sprintf(const char *s) { char text[16]; sprintf(text, "<%s>", s); } /* sprintf */
static void by_memcpy(const char *s, size_t n) { char text[16]; memcpy(text, s, n); } /* memcpy */
static void by_loop(void)
{
    char text[16]; /* what lies behind it is not needed in the loop */
    for (int i = 0; i < 400; i++)
        text[i] = letters[i % 8]; /* store */
} /* loop */
static void by_read(void) { char text[16]; read(0, text, 400); } /* read */
static void copy(char *to, const char *from)
{
    while (*from)
        *to++ = *from++; /* copied */
}
static void by_callee(const char *s) { char text[16]; copy(text, s); } /* callee */
int main(int argc, char **argv)
{
    char room[512] = "";
    const char *mode = argv[1];
    char s[401];
    memset(s, 'A', 400);
    s[400] = 0;
    if (!strcmp(mode, "strcpy"))
        by_strcpy(s);
    if (!strcmp(mode, "sprintf"))
        by_sprintf(s);
    if (!strcmp(mode, "memcpy"))
        by_memcpy(s, 400);
    if (!strcmp(mode, "loop"))
        letters = s, by_loop();
    if (!strcmp(mode, "read"))
        by_read();
    if (!strcmp(mode, "callee"))
        by_callee(s);
    return room[0];
}
"""
WRITTEN = {
    "strcpy": "`strcpy(text, s)` on line 6 had written over it, beyond `text` (16 bytes)",
    "sprintf": '`sprintf(text, "<%s>", s)` on line 7 had written over it, beyond `text` (16 bytes)',
    "memcpy": "`memcpy(text, s, n)` on line 8 had written over it, beyond `text` (16 bytes)",
    "loop": "`text[i] = letters[i % 8]` on line 13 had written over it, beyond `text` (16 bytes)",
    "read": "`read(0, text, 400)` on line 15 had written over it, beyond `text` (16 bytes)",
    "callee": "on line 19 had written over it; its arrays: `text` (16 bytes)",
}


def smashed(mode: str, *flags: str) -> tuple[Recording, Symptom]:
    """A run in which a function's frame is written over with 400 letters."""
    subject = subject_of(SMASHED)
    if flags:
        subject = subject_from_sources([source_of(subject)], ["-w", *flags], [], DEFAULT_LIMITS)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case(mode, (mode,), b"A" * 400, expected=Expected()))
    return recording, symptom_of(recording, subject.folder)


@pytest.mark.parametrize("mode", WRITTEN)
def test_return_address_that_was_overwritten(mode: str) -> None:
    recording, symptom = smashed(mode)
    assert f"returning from by_{mode}, whose return address had been overwritten" in symptom.text
    assert 'it was 0x4141414141414141, which is the text "AAAAAAAA"' in symptom.text
    assert WRITTEN[mode] in symptom.text
    assert symptom.statement is not None and symptom.statement.line == line_of(SMASHED, mode)
    found = {place.line for r in symptom.details["criteria"] if (place := recording.trace.location(r - 1))}
    assert found >= {line_of(SMASHED, {"loop": "store", "callee": "copied"}.get(mode, mode))}


def test_guarded_return() -> None:
    """A guard value is found changed before the return address is used."""
    _, symptom = smashed("strcpy", "-fstack-protector-all")
    assert re.search("returning from by_strcpy, whose (return address|guard value) had been overwritten", symptom.text)
    assert re.search(r"`strcpy\(text, s\)` on line 6 had written .*beyond `text` \(16 bytes\)", symptom.text)
    assert symptom.statement is not None and symptom.statement.line == line_of(SMASHED, "strcpy")


FRAME_LOST = r"""
#include <string.h>
static int length(const char *word)
{
    char text[16];
    int count = 0;
    strcpy(text, word); /* copied */
    for (char *at = text; *at; at++)
        count++;
    return count; /* returned */
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++)
        sum += length(argv[i]);
    return sum == 0;
}
"""


@pytest.mark.parametrize("letters", [37, 38])
def test_frame_pointer_that_was_overwritten(letters: int) -> None:
    """The return address is whole, but the function that had called looks for its variables elsewhere."""
    subject = subject_of(FRAME_LOST)
    with Recorder(subject) as recorder:
        recording = recorder.record(Case("long", ("B" * letters,), expected=Expected()))
    symptom = symptom_of(recording, subject.folder)
    assert recording.result.signal == signal.SIGSEGV
    assert "just after returning from length, whose frame seems to have been overwritten" in symptom.text
    assert "`strcpy(text, word)` on line 7 had written beyond `text` (16 bytes)" in symptom.text
    assert symptom.statement is not None and symptom.statement.line == line_of(FRAME_LOST, "returned")


HEAP = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *taken(int n) { return malloc(n); } /* taken */
int main(int argc, char **argv)
{
    const char *mode = argv[1];
    char *first = taken(16), *second = taken(16);
    fputs("starting\n", stderr);
    if (!strcmp(mode, "middle"))
        free(first + 4); /* middle */
    if (!strcmp(mode, "static"))
        free((char *)mode); /* static */
    if (!strcmp(mode, "twice")) {
        free(first); /* once */
        free(second);
        free(first); /* twice */
    }
    if (!strcmp(mode, "loop")) {
        for (int i = 0; i < 40; i++)
            first[i] = 'x'; /* store */
        free(second); /* loop */
    }
    if (!strcmp(mode, "sprintf")) {
        sprintf(first, "%s and much more than it holds", mode); /* printed */
        free(second); /* sprintf */
    }
    if (!strcmp(mode, "abort"))
        abort(); /* abort */
    puts(second);
    return 0;
}
"""
ABORTED = [
    ("middle", r"`free\(first \+ 4\)` was ended .*: free\(\): invalid .*; `first \+ 4` points 4 bytes into the "),
    ("static", r"`mode` is 0x[0-9a-f]+, where no block of the heap is"),
    ("twice", r"free\(\): double free .*; `first` is the block of 16 bytes .*, which line 16 gave back already"),
    ("loop", r"; `first\[i\] = 'x'` on line 22 had written 1 byte behind the block of 16 bytes that line 5 took"),
    ("sprintf", r"; `sprintf\(.*\)` on line 26 had written 36 bytes into the block of 16 bytes that line 5 took"),
    ("abort", r"the program called abort"),
]


@pytest.mark.parametrize(("mode", "words"), ABORTED, ids=lambda v: str(v).split()[0])
def test_run_that_the_library_ended(mode: str, words: str) -> None:
    subject = subject_of(HEAP)
    recording = record(subject, mode)
    symptom = symptom_of(recording, subject.folder)
    assert symptom.statement is not None and symptom.statement.line == line_of(HEAP, mode)
    assert re.search(words, symptom.text), symptom.text
    wrote = {"loop": "store", "sprintf": "printed"}.get(mode)
    found = {place.line for r in symptom.details["criteria"] if (place := recording.trace.location(r - 1))}
    assert wrote is None or line_of(HEAP, wrote) in found


@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        (b"x\nfree(): invalid pointer\n", "free(): invalid pointer"),
        (b"no end of line*** buffer overflow detected ***: terminated\n", "buffer overflow detected"),
        (b"double free or corruption (out)\n", "double free or corruption (out)"),
        (b"corrupted size vs. prev_size\n", "corrupted size vs. prev_size"),
        (b"malloc(): corrupted top size\n", "malloc(): corrupted top size"),
        (b"free(): invalid pointer\nsaid later\n", ""),
        (b"", ""),
    ],
)
def test_messages_of_the_library(stderr: bytes, message: str) -> None:
    assert library_message(stderr) == message


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
