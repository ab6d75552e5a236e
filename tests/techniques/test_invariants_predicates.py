"""Tolerant predicates against a twin that tries every bound, and the ranking that they are part of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariant_runs import Runs, line_of

from whence.techniques.likely_invariants.predicates import Form, best_predicates
from whence.techniques.likely_invariants.profile import PROFILE, Profile
from whence.techniques.likely_invariants.ranking import score

FIELDS = {Form.LOW: "low", Form.HIGH: "high", Form.DOWN: "step_low", Form.UP: "step_high"}
SITES = 3
BOUNDS = st.tuples(*[st.integers(-3, 3)] * 4)
RUN = st.dictionaries(st.integers(0, SITES - 1), BOUNDS)


def key(value: int, form: Form) -> int:
    """A small number as a key, or as a difference is kept."""
    return value + (1 << 63) if form in (Form.LOW, Form.HIGH) else value


def profile(run: dict[int, tuple[int, ...]]) -> Profile:
    rows = np.zeros(len(run), PROFILE)
    for row, site in zip(rows, sorted(run), strict=True):
        row["site"], row["count"], row["known"], row["steps"] = site, 2, 2, 1
        for form, value in zip(Form, run[site], strict=True):
            row[FIELDS[form]] = key(value, form)
    return Profile(rows, np.zeros(0, np.uint8))


def ochiai(failing: int, passing: int, total: int) -> float:
    return failing / math.sqrt(total * (failing + passing)) if failing else 0.0


@given(st.lists(st.tuples(RUN, st.booleans()), min_size=1, max_size=8), st.sampled_from(list(Form)))
def test_against_every_bound(runs, form):
    failed = np.array([bad for _, bad in runs])
    found = best_predicates([profile(run) for run, _ in runs], failed, [form])
    upper = form in (Form.HIGH, Form.UP)
    total = max(int(failed.sum()), 1)
    for row, site in enumerate(found.sites.tolist()):
        best = 0.0
        for bound in range(-3, 4):
            holds = [
                site in run and (run[site][form] >= bound if upper else run[site][form] <= bound) for run, _ in runs
            ]
            counts = [sum(h and bad == side for h, (_, bad) in zip(holds, runs, strict=True)) for side in (True, False)]
            best = max(best, ochiai(*counts, total))
            if int(found.bound[row]) == bound + (1 << 63) and found.score[row]:
                assert (found.failing[row], found.passing[row]) == tuple(counts)
        assert found.score[row] == pytest.approx(best)
    assert set(found.sites.tolist()) == {site for run, _ in runs for site in run}


@given(st.lists(st.tuples(RUN, st.booleans()), min_size=1, max_size=8))
def test_the_best_of_several_forms(runs):
    failed = np.array([bad for _, bad in runs])
    profiles = [profile(run) for run, _ in runs]
    both = best_predicates(profiles, failed)
    single = [best_predicates(profiles, failed, [form]) for form in (Form.LOW, Form.HIGH)]
    assert both.score.tolist() == np.maximum(single[0].score, single[1].score).tolist()
    for row, form in enumerate(both.form.tolist()):
        assert both.score[row] == single[form].score[row]


LEVELS = """\
#include <stdio.h>
#include <stdlib.h>
static int depth, level;
static int half(int n)
{
    return n / 2;
}
int main(int argc, char **argv)
{
    int seen = atoi(argv[1]);
    depth = seen * 3; /* WRONG */
    level = half(argc);
    printf("%d\\n", level);
    if (depth > 20)
        abort();
    return 0;
}
"""


def test_what_tells_failing_runs_from_passing_ones_ranks_high():
    """One passing run has a value beyond the others: a range would be widened by it, the predicate is not."""
    runs = Runs(LEVELS, ["1", "2", "3", "6", "5"], ["7", "9", "8"])
    found = score(runs.observer, runs.bad, runs.good)
    statements = [statement.line for statement in runs.subject.places.statements]
    total = dict(zip(statements, found.total.tolist(), strict=True))
    wrong, other = line_of(LEVELS, "WRONG"), line_of(LEVELS, "level = half")
    assert total[wrong] > total[other]
    assert found.predicate[statements.index(wrong)] == 1.0
    assert found.total.max() <= 1
    assert found.executed.a11[statements.index(other)] == 3 and found.executed.a10[statements.index(other)] == 5


def test_what_passing_runs_executed_that_were_not_recorded_tells_less():
    """Behind `depth > 20` only failing runs were recorded; others came there and passed."""
    runs = Runs(LEVELS, ["1", "2"], ["7", "9"])
    numbers = [statement.line for statement in runs.subject.places.statements]
    number = numbers.index(line_of(LEVELS, "abort()"))
    alone = score(runs.observer, runs.bad, runs.good)
    assert (alone.covered.a10[number], alone.covered.total_passed) == (0, 2)
    found = score(runs.observer, runs.bad, runs.good, [runs.bad[0].blocks, runs.good[0].blocks])
    assert (found.covered.a10[number], found.covered.total_passed) == (1, 4)
    assert (found.executed.a10[number], found.executed.total_passed) == (0, 2)
    assert found.total[number] < alone.total[number]
    assert alone.predicate.any() and not found.predicate.any()  # of two good runs, where there are more


def test_without_passing_runs_slices_decide():
    runs = Runs(LEVELS, [], ["7", "9"])
    found = score(runs.observer, runs.bad, [])
    statements = [statement.line for statement in runs.subject.places.statements]
    total = dict(zip(statements, found.total.tolist(), strict=True))
    assert total[line_of(LEVELS, "WRONG")] > total[line_of(LEVELS, "level = half")]
