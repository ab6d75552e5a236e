"""What many events recorded, asked for at once, against what each is asked for alone."""

from __future__ import annotations

import numpy as np
import pytest
from compared import Change, compared
from snippets import snippet

from whence.trace.trace import Trace

PROGRAM = """\
#include <stdio.h>
#include <string.h>
struct wide { long first; char name[24]; };
static double ratio = 0.5;
static long double long_ratio = 1.5L;
static long twice(long n) { return n * 2; }
int main(int argc, char **argv)
{
    struct wide one = { 1, "one" }, other = one;
    int private = argc, uninitialised;
    char *text = argv[0];
    long sum = twice(private) + other.first;
    memset(&one, 0, sizeof one);
    strcpy(one.name, "two");
    ratio = ratio * sum;
    long_ratio *= sum;
    __atomic_fetch_add(&sum, 5, __ATOMIC_SEQ_CST);
    if (argc > 100) /* BRANCH */
        uninitialised = 1;
    sum += uninitialised & 0;
    printf("%ld %f %Lf %s %d\\n", sum, ratio, long_ratio, one.name, text != NULL);
    return 0;
}
"""


@pytest.fixture(scope="module", params=["record", "replay"])
def trace(request) -> Trace:
    if request.param == "record":
        return snippet(PROGRAM).trace("1")
    return compared(PROGRAM, "1", "another\n", Change("BRANCH")).failing.trace


def test_addresses_at_once(trace):
    wanted = [trace.address(event) or 0 for event in range(trace.events)]
    assert trace.addresses(np.arange(trace.events)).tolist() == wanted and any(wanted) and not all(wanted)


def test_values_at_once(trace):
    found, known = trace.values(np.arange(trace.events))
    assert known.any() and not known.all()
    for event in np.flatnonzero(known).tolist():
        assert int(found[event]) == trace.value(event)
    assert not found[~known].any()
    loaded = [e for e in range(trace.events) if trace.kind(e).name in ("LOAD", "STORE", "RESULT")]
    missed = [e for e in loaded if not known[e] and trace.value(e) is not None]
    assert all((trace.value(e) or 0) >> 64 or trace.instruction(e).text.count("x86_fp80") for e in missed)


def test_pointers_passed_at_once(trace):
    """The site of each argument that is a pointer, and no constant one."""
    sites = trace.every_site()
    passed = {int(site) for site in np.unique(sites) if _passes_pointer(trace, int(np.flatnonzero(sites == site)[0]))}
    assert len(passed) >= 2
    for site in passed:
        events = np.flatnonzero(sites == site)
        assert trace.arguments(events, site).tolist() == [trace.value(event) or 0 for event in events.tolist()]
        assert trace.arguments(events, site).all()


def _passes_pointer(trace, event):
    if trace.kind(event).name != "ARG":
        return False
    number = int(trace.plan.sites[trace.site(event)]["aux"])
    operand = trace.instruction(event).operands[number]
    return operand.type == "ptr" and operand.is_register and trace.value(event) is not None
