"""Small programs for the tests of made inputs, each with the failure that its text describes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from cli_tool import subject_folder

from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import Subject, subject_from_sources

# Adds the numbers of its input, words are refused with status 2. Numbers from 100 on lose their hundreds.
SUM = """\
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char word[64], *end;
    long sum = 0;
    while (scanf("%63s", word) == 1) {
        long n = strtol(word, &end, 10);
        if (*end) {
            fprintf(stderr, "not a number: %s\\n", word);
            return 2;
        }
        sum += n % 100; /* FAULT */
    }
    printf("sum %ld\\n", sum);
    return 0;
}
"""
RIGHT_SUM = SUM.replace("n % 100; /* FAULT */", "n;")

# Matches brackets in its argument, its arguments or the file that they name; a closing one too many trips the assertion
# of `]`, or kills by a signal for `)`.
BRACKETS = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int depth;

static void check(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '[' || text[i] == '(')
            depth++;
        if (text[i] == ']') {
            assert(depth > 0);
            depth--;
        }
        if (text[i] == ')' && depth-- == 0)
            abort();
        if (text[i] == '!')
            exit(3);
        while (text[i] == '@')
            ;
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file)
            check(text, fread(text, 1, sizeof text, file));
        else
            check(argv[i], strlen(argv[i]));
    }
    if (argc == 1)
        check(text, fread(text, 1, sizeof text, stdin));
    printf("depth %d\\n", depth);
    return 0;
}
"""


@cache
def program(name: str, text: str) -> Subject:
    """The subject of one C file, without cases."""
    folder = subject_folder(f"inputs-{name}", p_c=text)
    return subject_from_sources([folder / "p.c"], ["-w"], [], replace(DEFAULT_LIMITS, time=5.0))


def brackets() -> Subject:
    """The matcher of brackets."""
    return program("brackets", BRACKETS)


def sums() -> Subject:
    """The faulty sum, with the right one as its reference."""
    return replace(program("sum", SUM), reference=right_sum())


def right_sum() -> Path:
    """The executable of the right sum."""
    return program("right-sum", RIGHT_SUM).executable


def failing(stdin: bytes = b"", *arguments: str, files: tuple[tuple[str, Path], ...] = ()) -> Case:
    """A case that fails by what it does: nothing but status 0 is expected."""
    return Case("it", arguments, stdin, files, expected=Expected())
