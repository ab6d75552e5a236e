"""A program whose continuations take several ways, for the tests of what is read in them."""

from __future__ import annotations

from compared import Change, Compared, compared

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int table[3], sum;
static int twice(int n)
{
    if (n > 1000) /* WAY */
        n = 1000;
    return 2 * n;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), kept = 5;
    int *block = malloc(sizeof *block);
    for (int i = 0; i < 3; i++)
        table[i] = twice(n + i); /* TABLE */
    sum = kept + table[1]; /* SUM */
    *block = sum; /* BLOCK */
    if (sum > 50) /* BRANCH */
        puts("much");
    if (table[2] == 77) /* CRASH */
        *(volatile int *)0 = 1;
    while (table[2] == 78) /* ENDLESS */
        ;
    printf("%d\\n", *block); /* END */
    return 0;
}
"""


def routes() -> Compared:
    """Its run with 4, which writes 15: ``table`` holds 8, 10, 12."""
    return compared(PROGRAM, "4", "right\n", Change("BRANCH"))
