"""The pass over a run's pointers: its steps find what going through every single event finds."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from trace_readers import record, subject_of

from bench.memory.programs import PROGRAMS, Program
from whence.subject import memory_check
from whence.subject.memory_check import Checked, Checker
from whence.trace import objects

POINTERS_AROUND = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; char name[6]; int count; };
static struct node *all, spare = {NULL, "spare", 1};
static const char *const words[] = {"one", "two", "three"};
static struct node *add(struct node *after, const char *name, int twice)
{
    struct node *made = twice ? &spare : malloc(sizeof *made);
    strcpy(made->name, name);
    made->count = (int)strlen(made->name);
    made->next = after;
    return made;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int sum(struct node by_value, int (*counted)(const struct node *)) { return counted(&by_value); }
static int count_of(const struct node *one) { return one->count; }
int main(void)
{
    int counts[8], total = 0;
    for (int i = 0; i < 3; i++)
        all = add(all, words[i], 0);
    all = add(all, "four", 1);
    int used = 0;
    for (struct node *at = all; at; at = at->next) {
        char copy[8];
        snprintf(copy, sizeof copy, "%s", at->name);
        counts[used++] = (int)strlen(copy) + sum(*at, count_of);
    }
    qsort(counts, used, sizeof *counts, order);
    for (int *p = counts; p < counts + used; p++)
        total += *p;
    if (counts[used])                           /* never given */
        total++;
    for (struct node *at = all->next, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    return total + all->next->count == 0;       /* given back */
}
"""


def checked(text: str, one_by_one: bool) -> Checked:
    """A checked run; ``one_by_one``: all frames are taken for tainted."""
    new_state = objects.new_state

    def tainted(*sizes: int) -> objects.State:
        state = new_state(*sizes)
        state.tainted[:] = 1
        return state

    subject = subject_of(text)
    with mock.patch.object(memory_check.objects, "new_state", tainted if one_by_one else new_state):
        return Checker(subject).check(record(subject).trace)


def assert_same(text: str) -> None:
    quick, full = (checked(text, one_by_one) for one_by_one in (False, True))
    assert quick.errors == full.errors
    assert np.array_equal(quick.table, full.table)
    assert np.array_equal(quick.occurrences, full.occurrences)


def test_pointers_that_go_around() -> None:
    assert_same(POINTERS_AROUND)
    assert [str(error.kind) for error in checked(POINTERS_AROUND, False).errors][:2] == [
        "uninitialised",
        "use-after-free",
    ]


@pytest.mark.parametrize("program", PROGRAMS[::4], ids=lambda program: program.name)
def test_each_kind_of_error(program: Program) -> None:
    assert_same(program.text)
