"""What a run touched in memory, and the sites of its events, against twins that look at one event after the other."""

from __future__ import annotations

import numpy as np
import pytest
from snippets import snippet

from whence.probe.layout import ACCESSES, Kind
from whence.trace.columns import CellKind
from whence.trace.touched import touched
from whence.trace.trace import Trace

PROGRAM = """\
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { long first; char name[24]; };
static struct pair pairs[4];
static int sum(int count, ...)
{
    va_list list;
    int total = 0;
    va_start(list, count);
    for (int k = 0; k < count; k++)
        total += va_arg(list, int);
    va_end(list);
    return total;
}
static long first_of(struct pair given) { return given.first; }
static int down(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
int main(int argc, char **argv)
{
    int numbers[5] = {3, 1, 4, 1, 5};
    char *text = malloc(32);
    qsort(numbers, 5, sizeof numbers[0], down);
    for (int k = 1; k < 4; k++) {
        pairs[k] = pairs[k - 1];
        pairs[k].first = numbers[k] + first_of(pairs[k]);
        snprintf(pairs[k].name, sizeof pairs[k].name, "%d", sum(2, k, 7));
    }
    memset(&pairs[0], 1, sizeof pairs[0]);
    strcpy(text, pairs[2].name);
    if (argc > 1)
        *(volatile int *)0 = 1;
    printf("%s %ld\\n", text, pairs[3].first);
    free(text);
    return 0;
}
"""


@pytest.fixture(scope="module", params=[(), ("crash",)])
def trace(request) -> Trace:
    return snippet(PROGRAM).trace(*request.param)


def twin(trace: Trace) -> list[tuple[int, int, int, bool]]:
    """Event, address, length, and whether it writes."""
    found = []
    for event in range(trace.events):
        kind = trace.kind(event)
        if kind in ACCESSES and kind is not Kind.VASTART:
            writes = (True, False) if kind is Kind.COPY else (kind not in {Kind.LOAD, Kind.BYVAL},)
            ranges = zip(trace.ranges(event), writes, strict=False)
            found += [(event, *place, is_write) for place, is_write in ranges if place[0]]
    for cell in trace.columns.cells[: trace.cells]:
        kind, event = CellKind(cell["kind"]), int(cell["parent"])
        touches = kind in {CellKind.COPY, CellKind.SET, CellKind.CALL, CellKind.READ}
        if touches and cell["length"] > 0 and cell["address"] and trace.kind(event) is Kind.CALL:
            found.append((event, int(cell["address"]), int(cell["length"]), kind is not CellKind.READ))
    return sorted(found, key=lambda access: access[0])


def test_touched(trace):
    found = touched(trace)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == twin(trace)
    assert {trace.kind(event) for event in found.event.tolist()} >= {Kind.LOAD, Kind.STORE, Kind.COPY, Kind.CALL}


def test_sites(trace):
    sites = [trace.site(event) for event in range(trace.events)]
    assert trace.every_site().tolist() == sites
    assert trace.sites(np.array([5, 0, trace.events - 1])).tolist() == [sites[5], sites[0], sites[-1]]
    assert trace.events_at(trace.plan.sites["kind"] == Kind.COPY).tolist() == [
        event for event in range(trace.events) if trace.kind(event) is Kind.COPY
    ]
