"""Relevant slices: what a branch kept from happening is in them, as far as it is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from cause_trees import Failing

from whence.dependence.critical_conditions import Influence

SKIPPED = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int number = atoi(argv[1]), early = 0, late = 0, limit = 5;
    if (number > 9) /* EARLY */
        early = 1;
    for (int n = 0; n < 20; n++)
        late += n;
    if (number > limit) /* LATE */
        late = 2;
    printf("%d %d\\n", early, late);
    return 0;
}
"""


@pytest.fixture(scope="module")
def failing() -> Failing:
    return Failing(SKIPPED, "3", stdout="1 2\n")


def lines_of(failing: Failing, events: np.ndarray) -> set[int]:
    places = (failing.reader.statement(event) for event in events.tolist())
    return {place.line for place in places if place is not None}


def test_branches_that_skipped_what_is_read_are_in_the_slice_as_far_as_is_asked(
    failing: Failing,
) -> None:
    influence = Influence(failing.reader)
    references = list(failing.symptom.details["criteria"])
    outs = failing.reader.events_of(next(s for s in failing.reader.statements if s.line == failing.line("printf")))
    start = sorted({*references, *(event + 1 for event in outs.tolist())})
    plain, whole = influence.sliced(start), influence.relevant_slice(start)
    tests = {failing.line("EARLY"), failing.line("LATE")}
    assert not tests & lines_of(failing, plain.events) and tests <= lines_of(failing, whole.events)
    assert set(plain.events.tolist()) < set(whole.events.tolist())
    everything = influence.relevant_slice(start, last=len(whole.events))
    assert everything.events.tolist() == whole.events.tolist()
    nothing = influence.relevant_slice(start, last=1)
    assert set(plain.events.tolist()) <= set(nothing.events.tolist()) <= set(whole.events.tolist())
    assert len(nothing.events) < len(whole.events)
