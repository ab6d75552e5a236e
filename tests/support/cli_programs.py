"""Small faulty programs for the tests of the command line; a comment ``FAULT`` stands on each faulty line."""

from __future__ import annotations

from pathlib import Path

from cli_tool import subject_folder

# Sums prices; large ones are reduced by a fifth instead of a tenth.
PRICES = """\
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int sum = 0, large = 0;
    for (int i = 1; i < argc; i++) {
        int price = atoi(argv[i]);
        if (price >= 100) {
            large++;
            price -= price / 5; /* FAULT */
        }
        sum += price;
    }
    printf("%d prices, %d large\\n", argc - 1, large);
    printf("sum %d\\n", sum);
    return 0;
}
"""

# One failure of each kind, chosen by the first argument.
KINDS = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item { int value; const char *name; };
enum mode { FAST, SLOW, BROKEN };

static struct item items[] = {{3, "three"}, {-4, "four"}};

static struct item *find(const char *name)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}

static int depth_of(enum mode mode)
{
    int depth = 3;
    if (mode == BROKEN)
        depth = -depth;
    assert(depth >= 0);
    return depth;
}

int main(int argc, char **argv)
{
    const char *what = argv[1], *word = argc > 2 ? argv[2] : "";
    if (strcmp(what, "crash") == 0) {
        struct item *found = find(word);
        printf("found %d\\n", found->value);
    } else if (strcmp(what, "assert") == 0) {
        printf("depth %d\\n", depth_of(atoi(word)));
    } else if (strcmp(what, "status") == 0) {
        int status = atoi(word) - 2;
        return status;
    } else if (strcmp(what, "loop") == 0) {
        int i = atoi(word);
        while (i != 10)
            i += 2;
        printf("done %d\\n", i);
    } else if (strcmp(what, "words") == 0) {
        for (int i = 2; i < argc; i++) {
            if (argv[i][0] == '-')
                break;
            puts(argv[i]);
        }
    } else if (strcmp(what, "divide") == 0) {
        printf("%d\\n", 100 / atoi(word));
    } else if (strcmp(what, "echo") == 0) {
        int c;
        while ((c = getchar()) != EOF)
            putchar(c == 'x' ? 'y' : c);
    }
    return 0;
}
"""

STACK_H = """\
struct stack { double items[16]; int depth; };
void push(struct stack *s, double value);
double pop(struct stack *s);
"""
STACK_C = """\
#include "stack.h"
#include <stdlib.h>

void push(struct stack *s, double value) { s->items[s->depth++] = value; }

double pop(struct stack *s)
{
    if (s->depth == 0)
        exit(2);
    return s->items[--s->depth];
}
"""
OPS_C = """\
#include "../lib/stack.h"

int apply(struct stack *s, char op)
{
    double b = pop(s), a = pop(s);
    switch (op) {
    case '+':
        push(s, a + b);
        break;
    case '-':
        push(s, b - a); /* FAULT */
        break;
    default:
        return 1;
    }
    return 0;
}
"""
CALC_C = """\
#include "../lib/stack.h"
#include <stdio.h>
#include <stdlib.h>
int apply(struct stack *s, char op);

int main(int argc, char **argv)
{
    struct stack s = {{0}, 0};
    for (int i = 1; i < argc; i++) {
        char *end;
        double v = strtod(argv[i], &end);
        if (*end == '\\0')
            push(&s, v);
        else if (apply(&s, argv[i][0]))
            return 1;
    }
    printf("%g\\n", pop(&s));
    return 0;
}
"""
MAKEFILE = """\
calc: src/calc.o src/ops.o lib/libstack.a
\t$(CC) -o $@ src/calc.o src/ops.o -Llib -lstack
lib/libstack.a: lib/stack.o
\t$(AR) rc $@ lib/stack.o
check: calc
\tcd tests && sh ./$(TESTS)
"""
TESTS = {"add": ("1 2 +", "3"), "sub": ("5 3 -", "2"), "mixed": ("1 2 + 4 +", "7"), "negative": ("1 4 -", "-3")}


def fault_line(text: str) -> int:
    """The line that bears the mark."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if "FAULT" in line)


def line_of(text: str, part: str) -> int:
    """The first line that holds some text."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def kinds() -> Path:
    """A folder with ``kinds.c``."""
    return subject_folder("kinds", kinds_c=KINDS)


def prices() -> Path:
    """A folder with ``prices.c``."""
    return subject_folder("prices", prices_c=PRICES)
