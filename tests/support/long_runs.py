"""A run that is read in windows of one chunk of its trace, so that a short one has several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snippets import Snippet

from whence.trace.long_trace import LongTrace

# Whatever decoding looks back at goes over the ends of windows: calls that are open for long, callbacks of the library,
# jumps out of calls, copies of memory, blocks of the heap, what was read at the beginning, and numbers kept in locals.
MIXED = r"""
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int key; struct node *next; char name[12]; };
struct pair { long first, second; };
static jmp_buf back;
static int table[512], seen[512];
static struct node *list;
static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}
static int depth_of(int n, int given) {
    int here = given + n % 3;
    return n <= 0 ? here : depth_of(n - 1, here) + (here & 1);
}
static struct pair paired(struct pair p, int k) {
    p.first += k;
    p.second ^= p.first;
    return p;
}
static void leave(int k) {
    if (k % 7 == 3)
        longjmp(back, 1 + k % 5);
    seen[k % 512] += k;
}
static int sum_of(int rounds, int start) {
    int kept = start * 3, total = 0;
    struct pair p = {start, 1};
    volatile int jumped = 0;
    for (int k = 0; k < rounds; k++) {
        struct node *node = malloc(sizeof *node);
        node->key = depth_of(k % 60, kept);
        node->next = list;
        snprintf(node->name, sizeof node->name, "n%d", k);
        list = node;
        for (int i = 0; i < 512; i++)
            table[i] = (table[i] * 31 + node->key + i) % 1009;
        if (k % 4 == 0)
            qsort(table, 512, sizeof *table, by_value);
        int back_with = setjmp(back);
        if (back_with)
            jumped += back_with;
        else
            leave(k);
        p = paired(p, table[k % 512]);
        memmove(seen + 1, seen, 300 * sizeof *seen);
        total = (total + kept + (int)p.second + (int)strlen(node->name) + seen[k % 512]) % 65521;
        if (k % 5 == 4) {
            struct node *old = list->next;
            list->next = old->next;
            free(old);
        }
    }
    return total + jumped;
}
int main(int argc, char **argv) {
    int rounds = atoi(argv[1]), start = argc > 3 ? atoi(argv[3]) : 5;
    int total = sum_of(rounds, start);
    printf("%d %d\n", total, table[3]);
    if (argv[2][0] == 'c') {
        int *nowhere = total ? (int *)8 : 0;
        return *nowhere;
    }
    return total == 3;
}
"""
ROUNDS = "60"


def in_windows(made: Snippet, path: Path, **told: Any) -> LongTrace:
    """A recorded run, read in windows; ``told``: what ``LongTrace`` takes."""
    subject = made.subject
    return LongTrace(path, subject.program, subject.plan, subject.fingerprint, **{"window": 1, **told})
