"""A long run is observed up to a limit; behind it the first instances of what comes late are, too."""

from __future__ import annotations

import numpy as np
import pytest
from altering import WAYS, session
from snippets import Snippet, snippet

from whence.alter.changes import EVENT, RESULT, Observed, Way
from whence.alter.duplicates import Duplicates
from whence.probe.sites import Role
from whence.run.cases import Case
from whence.run.outcome import Expected

LIMIT = 60
KEPT = ("clock", "value", "site")
LATE = r"""
#include <stdio.h>
#include <stdlib.h>
static int half(int n)
{
    if (n < 0)
        return 0;
    return n / 2;
}
int main(int argc, char **argv)
{
    int count = atoi(argv[1]), sum = 0;
    for (int i = 0; i < count; i++)
        sum += i & 3;
    int a = half(sum), b = half(-sum);
    for (int i = 0; i < 5; i++)
        if (i == 3)
            b += half(i);
    printf("%d %d\n", a, b);
    return 0;
}
"""
CASE = Case("case", ("40",), expected=Expected(b"30 1\n"))


@pytest.fixture(scope="module")
def late() -> Snippet:
    return snippet(LATE)


@pytest.mark.parametrize("way", WAYS)
def test_behind_the_limit_the_first_instances_of_other_blocks_are_observed(late: Snippet, way: Way) -> None:
    with session(late, CASE, way) as opened:
        whole, part = opened.observe(), opened.observe(LIMIT)
    assert not whole.cut and not whole.events["first"].any() and len(whole.events) > 3 * LIMIT
    assert part.cut and (part.events[:LIMIT] == whole.events[:LIMIT]).all() and part.length == whole.length
    others = part.events[LIMIT:]
    assert others["first"].all() and len(others) < len(whole.events) - LIMIT  # later turns of the loops are left out
    assert set(part.events["site"].tolist()) == set(whole.events["site"].tolist())
    sites = len(late.subject.alter_plan.sites)
    assert (part.first_clocks(sites) == whole.first_clocks(sites)).all()
    behind = iter(whole.events[list(KEPT)].tolist())
    assert all(event in behind for event in others[list(KEPT)].tolist()), "they are some of those, in their order"


def test_where_nothing_is_asked_for_nothing_is_kept(late: Snippet) -> None:
    with session(late, CASE) as opened:
        seen = opened.observe(0)
    assert seen.cut and not len(seen.events)


def test_of_a_site_without_an_instance_the_first_clock_is_the_end() -> None:
    record = np.zeros((), RESULT)
    record["length"] = 9
    events = np.array([(2, 7, 1, 0), (4, 7, 1, 0), (5, 7, 0, 1)], EVENT)
    assert Observed(events, record, True).first_clocks(3).tolist() == [5, 2, 9]


def test_a_return_is_not_taken_for_that_of_a_call_before_which_others_were_left_out(late: Snippet) -> None:
    with session(late, CASE) as opened:
        events = opened.observe().events
    sites, duplicates = late.subject.alter_plan.sites, Duplicates(late.subject)
    results = np.flatnonzero(sites["role"][events["site"]] == Role.RESULT)
    led = results[duplicates.leaders(events)[results] != results]
    assert len(led) == 3  # those of the calls of half()
    events["first"][led] = 1
    assert (duplicates.leaders(events)[led] == led).all()
